//! A figure as one SVG document that needs nothing else: it follows the reader's light or dark scheme, carries its
//! title and description for readers who cannot see it, and writes its numbers as text.

use super::labels::{Placer, Rectangle};
use super::scale::Range;
use super::{Figure, Mark, Panel, Path, Place, Series};
use svg::node::element::path::Data;
use svg::node::element::{self, Circle, Description, Group, Line, Style, Text, Title};
use svg::{Document, Node as _};

const WIDTH: f64 = 860.0;
const TITLE_HEIGHT: f64 = 44.0;
const PANEL_ALONE: f64 = 380.0;
const PANEL_SHARED: f64 = 170.0;
/// Above a panel for the name of its axis, and below it for the ticks.
const HEAD: f64 = 34.0;
const FOOT: f64 = 24.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 24.0;
const LINE: f64 = 17.0;
/// Radius of a mark.
const MARK: f64 = 4.0;
/// Mean width of a character at the size of the labels.
const CHARACTER: f64 = 7.0;
const TICKS_ACROSS: usize = 8;

/// Colours of Okabe and Ito, told apart by most readers with a colour vision deficiency, lighter on dark; dashes tell
/// the lines apart without any colour.
pub(in crate::report) const STYLE: &str = "\
:root{--paper:#fff;--ink:#1b1f24;--faint:#59636e;--grid:#dfe3e8;--s0:#0072b2;--s1:#d55e00;--s2:#007a59;--s3:#9b4f7d;--s4:#7a5c00;--s5:#3b3b98}\
@media (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e8ecf0;--faint:#9aa5b1;--grid:#2c333b;--s0:#56b4e9;--s1:#f0a35c;--s2:#3ecf9f;--s3:#e19ac0;--s4:#e6cf53;--s5:#a3a3f5}}\
text{font:13px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:var(--ink)}\
.paper{fill:var(--paper)}.title{font-size:16px;font-weight:600}.faint{fill:var(--faint)}.grid{stroke:var(--grid)}\
.axis{stroke:var(--faint)}.line{fill:none;stroke-width:2;stroke-linejoin:round}\
.mark{fill:var(--paper);stroke:var(--ink);stroke-width:2}.rule{stroke:var(--faint);stroke-dasharray:4 4}\
.lead{stroke:var(--faint)}.bar{fill:var(--s0)}.label{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}\
.s0{stroke:var(--s0)}.s1{stroke:var(--s1);stroke-dasharray:7 3}.s2{stroke:var(--s2);stroke-dasharray:2 3}\
.s3{stroke:var(--s3);stroke-dasharray:9 3 2 3}.s4{stroke:var(--s4);stroke-dasharray:12 4}.s5{stroke:var(--s5);stroke-dasharray:4 2}";

/// Renders a figure as an SVG document with a final newline.
#[must_use]
pub fn render(figure: &Figure) -> String {
    let (body, height) = drawn(figure);
    let document = labelled(figure, height, "")
        .set("width", WIDTH)
        .set("height", height)
        .add(Style::new(STYLE))
        .add(element::Rectangle::new().set("class", "paper").set("width", "100%").set("height", "100%"))
        .add(body);
    format!("{document}\n")
}

/// Renders a figure as an element of a page that has [`STYLE`] and fits it to its width; the number tells it from the
/// other figures of the page.
#[must_use]
pub(in crate::report) fn render_inline(figure: &Figure, number: usize) -> String {
    let (body, height) = drawn(figure);
    format!("{}\n", labelled(figure, height, &number.to_string()).add(body))
}

/// An empty picture with title and description for readers who cannot see it.
fn labelled(figure: &Figure, height: f64, suffix: &str) -> Document {
    let (title, description) = (format!("title{suffix}"), format!("desc{suffix}"));
    Document::new()
        .set("viewBox", (0.0, 0.0, WIDTH, height))
        .set("role", "img")
        .set("aria-labelledby", format!("{title} {description}"))
        .add(Title::new(printable(&figure.title)).set("id", title))
        .add(
            Description::new()
                .set("id", description)
                .add(svg::node::Text::new(printable(&figure.description))),
        )
}

/// Everything that is to be seen, and its height.
fn drawn(figure: &Figure) -> (Group, f64) {
    let plot_height = if figure.panels.len() == 1 { PANEL_ALONE } else { PANEL_SHARED };
    let x = Range::over(&figure.x, figure.across(), TICKS_ACROSS, true);
    let mut body = Group::new().add(words(16.0, 28.0, &figure.title, "title"));
    let mut top = TITLE_HEIGHT;
    for (index, panel) in figure.panels.iter().enumerate() {
        let frame = Frame { top: top + HEAD, height: plot_height, x: &x };
        body.append(frame.panel(panel, figure));
        top += HEAD + plot_height + FOOT;
        if figure.has_legend(index) {
            body.append(frame.legend(panel));
            top += LINE * panel.series.len() as f64 + 6.0;
        }
    }
    body.append(words(WIDTH - RIGHT, top + 10.0, &figure.x.heading(), "faint").set("text-anchor", "end"));
    (body, top + 22.0)
}

/// What XML cannot carry is left out.
pub(in crate::report) fn printable(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// A text on the page.
pub(in crate::report) fn words(x: f64, y: f64, text: &str, class: &str) -> Text {
    Text::new(printable(text)).set("x", round(x)).set("y", round(y)).set("class", class)
}

fn round(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

fn line(from: (f64, f64), to: (f64, f64), class: &str) -> Line {
    Line::new()
        .set("x1", round(from.0))
        .set("y1", round(from.1))
        .set("x2", round(to.0))
        .set("y2", round(to.1))
        .set("class", class)
}

/// Where a panel lies on the page.
struct Frame<'a> {
    top: f64,
    height: f64,
    x: &'a Range,
}

impl Frame<'_> {
    fn right(&self) -> f64 {
        WIDTH - RIGHT
    }

    fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The place on the page of a place from 0 to 1; what lies beyond an edge is drawn at the edge.
    fn on_page(&self, across: f64, up: f64) -> (f64, f64) {
        let width = self.right() - LEFT;
        (LEFT + across.clamp(0.0, 1.0) * width, self.bottom() - up.clamp(0.0, 1.0) * self.height)
    }

    fn panel(&self, panel: &Panel, figure: &Figure) -> Group {
        let most = (self.height / 40.0) as usize;
        let y = Range::over(&panel.y, panel.up(), most, false);
        let mut group = Group::new().add(words(16.0, self.top - 16.0, &panel.y.heading(), "faint"));
        for tick in y.ticks(most) {
            let (_, height) = self.on_page(0.0, tick.place);
            group.append(line((LEFT, height), (self.right(), height), "grid"));
            group.append(words(LEFT - 8.0, height + 4.5, &tick.label, "faint").set("text-anchor", "end"));
        }
        for tick in self.x.ticks(TICKS_ACROSS) {
            let (across, _) = self.on_page(tick.place, 0.0);
            group.append(line((across, self.bottom()), (across, self.bottom() + 5.0), "axis"));
            group.append(
                words(across, self.bottom() + 19.0, &tick.label, "faint").set("text-anchor", "middle"),
            );
        }
        group.append(line((LEFT, self.bottom()), (self.right(), self.bottom()), "axis"));
        for (index, series) in panel.series.iter().enumerate() {
            group.append(self.series(series, &y, index));
        }
        self.marks(&mut group, panel, figure, &y);
        group
    }

    fn series(&self, series: &Series, y: &Range, index: usize) -> svg::node::element::Path {
        let mut data = Data::new();
        let mut last = None;
        for &(across, up) in &series.points {
            let next = self.x.place(across).zip(y.place(up)).map(|(across, up)| self.on_page(across, up));
            data = match (last, next) {
                (_, None) => data,
                (None, Some((x, y))) => data.move_to((round(x), round(y))),
                (Some(_), Some((x, y))) if series.path == Path::Steps => {
                    data.horizontal_line_to(round(x)).vertical_line_to(round(y))
                }
                (Some(_), Some((x, y))) => data.line_to((round(x), round(y))),
            };
            last = next;
        }
        svg::node::element::Path::new().set("class", format!("line s{}", index % 6)).set("d", data)
    }

    /// The pieces of a line, for labels to keep away from.
    fn pieces(&self, series: &Series, y: &Range) -> Vec<((f64, f64), (f64, f64))> {
        let on_page = |&(across, up): &(f64, f64)| {
            self.x.place(across).zip(y.place(up)).map(|(across, up)| self.on_page(across, up))
        };
        let points: Vec<(f64, f64)> = series.points.iter().filter_map(on_page).collect();
        points.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// Where on the page a mark stands; a line by its end.
    fn anchor(&self, mark: &Mark, y: &Range) -> Option<(f64, f64)> {
        let (across, up) = match mark.place {
            Place::At(across, up) => self.x.place(across).zip(y.place(up)),
            Place::X(across) => self.x.place(across).map(|across| (across, 1.0)),
            Place::Y(up) => y.place(up).map(|up| (1.0, up)),
        }?;
        Some(self.on_page(across, up))
    }

    fn marks(&self, group: &mut Group, panel: &Panel, figure: &Figure, y: &Range) {
        let area =
            Rectangle { x: LEFT + 4.0, y: self.top, width: self.right() - LEFT - 4.0, height: self.height };
        let mut placer = Placer::new(area);
        for series in &panel.series {
            self.pieces(series, y).into_iter().for_each(|(from, to)| placer.avoid(from, to));
        }
        let anchored: Vec<(&Mark, (f64, f64))> =
            panel.marks.iter().filter_map(|mark| Some((mark, self.anchor(mark, y)?))).collect();
        for (mark, (left, height)) in &anchored {
            let (from, to) = match mark.place {
                Place::X(_) => ((*left, self.top), (*left, self.bottom())),
                Place::Y(_) => ((LEFT, *height), (self.right(), *height)),
                Place::At(..) => ((*left - MARK, *height), (*left + MARK, *height)),
            };
            placer.avoid(from, to);
            if !matches!(mark.place, Place::At(..)) {
                group.append(line(from, to, "rule"));
            }
        }
        let mut labels = Group::new();
        for (mark, anchor) in anchored {
            let text = format!("{}: {}", mark.name, panel.value_of(mark, &figure.x));
            let width = CHARACTER * text.chars().count() as f64;
            let leads = matches!(mark.place, Place::At(..));
            let found = placer.place(anchor, width, LINE, leads);
            if leads {
                labels.append(line(anchor, found.nearest_to(anchor), "lead"));
                labels.append(
                    Circle::new()
                        .set("cx", round(anchor.0))
                        .set("cy", round(anchor.1))
                        .set("r", MARK)
                        .set("class", "mark"),
                );
            }
            labels.append(words(found.x, found.y + 13.0, &text, "label"));
        }
        group.append(labels);
    }

    fn legend(&self, panel: &Panel) -> Group {
        let mut group = Group::new();
        for (index, series) in panel.series.iter().enumerate() {
            let height = self.bottom() + FOOT + LINE * (index as f64 + 0.7);
            let class = format!("line s{}", index % 6);
            group.append(line((LEFT, height - 4.5), (LEFT + 36.0, height - 4.5), &class));
            group.append(words(LEFT + 44.0, height, &series.name, "name"));
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Axis, Scale, Unit};
    use super::*;

    fn figure(name: &str) -> Figure {
        let axis = |label, unit| Axis { label, unit, scale: Scale::FromZero };
        let series = |points| Series { name: name.to_owned(), points, path: Path::Steps };
        let panel = |unit| Panel {
            y: axis("rate", unit),
            series: vec![series(vec![(0.0, 1.0), (60.0, f64::NAN), (120.0, 4.0)]), series(Vec::new())],
            marks: vec![Mark { name: name.to_owned(), place: Place::At(60.0, 1e300) }],
        };
        Figure {
            title: name.to_owned(),
            description: name.to_owned(),
            x: axis("time", Unit::Seconds),
            panels: vec![panel(Unit::PerSecond), panel(Unit::Count)],
        }
    }

    #[test]
    fn any_name_and_any_number_give_well_formed_xml() {
        for name in ["a <b> & \"c\"", "bell \u{7} and null \0", "", "\u{1f980}"] {
            let drawn = render(&figure(name));
            let document = roxmltree::Document::parse(&drawn).unwrap();
            let title = document.descendants().find(|node| node.has_tag_name("title")).unwrap();
            let shown = title.text().unwrap_or("").trim();
            assert_eq!(shown, name.replace(['\u{7}', '\0'], "").trim(), "{drawn}");
            assert!(!drawn.contains("NaN") && !drawn.contains("inf"), "{drawn}");
        }
    }

    #[test]
    fn the_same_figure_gives_the_same_bytes() {
        assert_eq!(render(&figure("x")), render(&figure("x")));
    }
}
