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

/// Places rectangles one after another inside an area.
#[derive(Clone, Debug)]
pub(super) struct Placer {
    area: Rectangle,
    taken: Vec<Rectangle>,
}

impl Placer {
    pub(super) fn new(area: Rectangle) -> Self {
        Placer { area, taken: Vec::new() }
    }

    /// Keeps labels away from a point of a line.
    pub(super) fn avoid(&mut self, (x, y): (f64, f64)) {
        self.taken.push(Rectangle { x: x - 2.0, y: y - 2.0, width: 4.0, height: 4.0 });
    }

    /// The place nearest to `wanted`, moved up or down by half heights until nothing is in the way. If the area is
    /// full, the wanted place itself, moved into the area.
    pub(super) fn place(&mut self, wanted: Rectangle) -> Rectangle {
        let most_x = (self.area.x + self.area.width - wanted.width).max(self.area.x);
        let most_y = (self.area.y + self.area.height - wanted.height).max(self.area.y);
        let inside = Rectangle {
            x: wanted.x.clamp(self.area.x, most_x),
            y: wanted.y.clamp(self.area.y, most_y),
            ..wanted
        };
        let rows = (2.0 * self.area.height / wanted.height).ceil() as i32;
        let shifts = (0..=rows).flat_map(|row| [-row, row]);
        let moved = |shift: i32| Rectangle { y: inside.y + f64::from(shift) * wanted.height / 2.0, ..inside };
        let free = |candidate: &Rectangle| {
            (self.area.y..=most_y).contains(&candidate.y)
                && !self.taken.iter().any(|other| candidate.overlaps(other))
        };
        let found = shifts.map(moved).find(free).unwrap_or(inside);
        self.taken.push(found);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn labels_do_not_overlap_while_there_is_room(wanted in proptest::collection::vec((0.0f64..500.0, 0.0f64..300.0), 1..10)) {
            let mut placer = Placer::new(Rectangle { x: 0.0, y: 0.0, width: 500.0, height: 300.0 });
            let placed: Vec<Rectangle> = wanted
                .iter()
                .map(|&(x, y)| placer.place(Rectangle { x, y, width: 120.0, height: 14.0 }))
                .collect();
            for (index, one) in placed.iter().enumerate() {
                prop_assert!(one.x >= 0.0 && one.x + one.width <= 500.0 && one.y >= 0.0 && one.y + one.height <= 300.0);
                prop_assert!(placed[..index].iter().all(|other| !one.overlaps(other)), "{placed:?}");
            }
        }
    }
}
