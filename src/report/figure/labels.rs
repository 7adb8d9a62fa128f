//! Places for labels so that they neither overlap one another nor leave the figure.

/// A rectangle, in the units of the drawing; `y` grows downwards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rectangle {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Rectangle {
    /// The point of the rectangle that is nearest to a point.
    pub(super) fn nearest_to(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (x.clamp(self.x, self.x + self.width), y.clamp(self.y, self.y + self.height))
    }

    fn overlaps(&self, other: &Rectangle) -> bool {
        self.x < other.x + other.width
            && other.x < self.x + self.width
            && self.y < other.y + other.height
            && other.y < self.y + self.height
    }
}

/// Room between a label and the place that it belongs to, across and up.
const ACROSS: f64 = 14.0;
const UP: f64 = 3.0;

/// Points of a line this far apart stand for all of it.
const APART: f64 = 4.0;

/// Places labels one after another inside an area.
#[derive(Clone, Debug)]
pub(super) struct Placer {
    area: Rectangle,
    labels: Vec<Rectangle>,
    /// Small pieces of whatever else is drawn.
    lines: Vec<Rectangle>,
}

/// Points close together from one place to another.
pub(super) fn along(from: (f64, f64), to: (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    let steps = ((to.0 - from.0).hypot(to.1 - from.1) / APART).ceil() as u32;
    let part = move |step: u32| f64::from(step) / f64::from(steps.max(1));
    (0..=steps)
        .map(move |step| (from.0 + (to.0 - from.0) * part(step), from.1 + (to.1 - from.1) * part(step)))
}

fn piece((x, y): (f64, f64)) -> Rectangle {
    Rectangle { x: x - 2.0, y: y - 2.0, width: 4.0, height: 4.0 }
}

impl Placer {
    pub(super) fn new(area: Rectangle) -> Self {
        Placer { area, labels: Vec::new(), lines: Vec::new() }
    }

    /// Keeps labels away from a line.
    pub(super) fn avoid(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.lines.extend(along(from, to).map(piece));
    }

    /// The free place for a label that is nearest to `anchor`: to its right or its left, as far up or down as it takes.
    /// Where a line leads to it, that crosses no other label. If the area is full, the place beside the anchor, moved
    /// into the area.
    pub(super) fn place(&mut self, anchor: (f64, f64), width: f64, height: f64, leads: bool) -> Rectangle {
        let most_x = (self.area.x + self.area.width - width).max(self.area.x);
        let most_y = (self.area.y + self.area.height - height).max(self.area.y);
        let (right, left) = (anchor.0 + ACROSS, anchor.0 - ACROSS - width);
        let columns = [right, left, right.clamp(self.area.x, most_x)];
        let beside = (anchor.1 - height - UP).clamp(self.area.y, most_y);
        let rows = (2.0 * self.area.height / height).ceil() as i32;
        let rows = (0..=rows).flat_map(|row| [-row, row]);
        let candidates = rows.flat_map(|row| {
            let y = beside + f64::from(row) * height / 2.0;
            columns.map(|x| Rectangle { x, y, width, height })
        });
        let inside = |label: &Rectangle| {
            (self.area.x..=most_x).contains(&label.x) && (self.area.y..=most_y).contains(&label.y)
        };
        let free = |label: &Rectangle| {
            !self.labels.iter().chain(&self.lines).any(|other| label.overlaps(other))
                && (!leads || !self.crosses(anchor, label))
        };
        let found = candidates.clone().find(|label| inside(label) && free(label));
        // Two lines that cross are better than two labels that do.
        let apart = |label: &Rectangle| !self.labels.iter().any(|other| label.overlaps(other));
        let found = found.or_else(|| candidates.clone().find(|label| inside(label) && apart(label)));
        let fallback = Rectangle { x: right.clamp(self.area.x, most_x), y: beside, width, height };
        let found = found.unwrap_or(fallback);
        if leads {
            self.avoid(anchor, found.nearest_to(anchor));
        }
        self.labels.push(found);
        found
    }

    /// Whether the line from a place to its label crosses another label.
    fn crosses(&self, anchor: (f64, f64), label: &Rectangle) -> bool {
        along(anchor, label.nearest_to(anchor))
            .map(piece)
            .any(|piece| self.labels.iter().any(|other| other.overlaps(&piece)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area() -> Rectangle {
        Rectangle { x: 0.0, y: 0.0, width: 500.0, height: 300.0 }
    }

    proptest! {
        #[test]
        fn labels_do_not_overlap_and_no_line_leads_through_another(
            anchors in proptest::collection::vec((0.0f64..500.0, 0.0f64..300.0), 1..7),
            leads: bool,
        ) {
            let mut placer = Placer::new(area());
            let placed: Vec<Rectangle> =
                anchors.iter().map(|&anchor| placer.place(anchor, 120.0, 14.0, leads)).collect();
            for (index, one) in placed.iter().enumerate() {
                prop_assert!(one.x >= 0.0 && one.x + one.width <= 500.0 && one.y >= 0.0 && one.y + one.height <= 300.0);
                prop_assert!(placed[..index].iter().all(|other| !one.overlaps(other)), "{placed:?}");
            }
        }
    }

    #[test]
    fn labels_of_places_one_above_another_are_led_to_without_crossing() {
        let mut placer = Placer::new(area());
        let anchors: Vec<(f64, f64)> = (0..6).map(|step| (200.0 + f64::from(step), 250.0)).collect();
        let placed: Vec<Rectangle> =
            anchors.iter().map(|&anchor| placer.place(anchor, 150.0, 17.0, true)).collect();
        for (index, (anchor, label)) in anchors.iter().zip(&placed).enumerate() {
            for (other, rectangle) in placed.iter().enumerate().filter(|(other, _)| *other != index) {
                let crossed =
                    along(*anchor, label.nearest_to(*anchor)).map(piece).any(|p| rectangle.overlaps(&p));
                assert!(!crossed, "{index} through {other}: {placed:?}");
            }
        }
    }

    #[test]
    fn a_label_stands_beside_its_own_line_also_at_the_edge() {
        let mut placer = Placer::new(area());
        placer.avoid((480.0, 0.0), (480.0, 300.0));
        let label = placer.place((480.0, 20.0), 120.0, 14.0, false);
        assert!(label.x + label.width < 480.0, "{label:?}");
    }
}
