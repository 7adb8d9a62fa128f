//! Figures: what is drawn, as data. Two renderers read it, one for the terminal and one that writes SVG; neither
//! computes a figure of capacity, they only place what stands here.

mod canvas;
mod labels;
mod scale;
mod svg;
mod terminal;

pub use svg::render as render_svg;
pub(super) use svg::{STYLE, printable, render_inline, words};
pub(super) use terminal::{render as render_terminal, render_plain};

use crate::units::human;

/// One or more panels over a common horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What is shown, as a heading.
    pub title: String,
    /// What a reader who cannot see it should know, in a sentence or two with the numbers.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The panels, top to bottom.
    pub panels: Vec<Panel>,
}

/// One plot of a figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// Single places that the reader should find.
    pub marks: Vec<Mark>,
}

/// What an axis measures and how its values are placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// What it measures: `mean wait`.
    pub label: &'static str,
    /// How its values are written.
    pub unit: Unit,
    /// How its values are placed.
    pub scale: Scale,
}

/// How the values of an axis are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whole things.
    Count,
    /// Seconds.
    Seconds,
    /// A number a second.
    PerSecond,
    /// A part of a whole.
    Share,
}

/// How the values of an axis are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly, over the values that there are.
    Linear,
    /// Evenly from zero on, so that heights compare.
    FromZero,
    /// By their logarithm; values of zero or less have no place on it.
    Log,
}

/// A named line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points, left to right. A value that is not finite, or has no place on its axis, interrupts the line.
    pub points: Vec<(f64, f64)>,
    /// How the points are joined.
    pub path: Path,
}

/// How points are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// By straight lines.
    Straight,
    /// By steps: a value holds until the next one.
    Steps,
}

/// A named place in a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// What is there.
    pub name: String,
    /// Where.
    pub place: Place,
}

/// Where a mark stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// A point.
    At(f64, f64),
    /// A vertical line.
    X(f64),
    /// A horizontal line.
    Y(f64),
}

impl Unit {
    /// A value in words, as beside a mark.
    #[must_use]
    pub fn show(self, value: f64) -> String {
        match self {
            Unit::Count => human::significant(value, 6),
            Unit::Seconds => human::duration(value),
            Unit::PerSecond => human::rate(value),
            Unit::Share => human::percent(value),
        }
    }
}

impl Axis {
    /// A value in words: `1261 workers`, or `12 h`, whose unit says enough.
    fn in_words(&self, value: f64) -> String {
        match self.unit {
            Unit::Count => format!("{} {}", self.unit.show(value), self.label),
            Unit::Seconds | Unit::PerSecond | Unit::Share => self.unit.show(value),
        }
    }

    /// What it measures, and how where that is not even.
    fn heading(&self) -> String {
        match self.scale {
            Scale::Log => format!("{}, logarithmic", self.label),
            Scale::Linear | Scale::FromZero => self.label.to_owned(),
        }
    }
}

impl Figure {
    /// Whether a panel needs a legend of its lines below it: there are several, and the next panel does not name the
    /// same ones again.
    fn has_legend(&self, panel: usize) -> bool {
        let names = |panel: &Panel| panel.series.iter().map(|series| series.name.clone()).collect::<Vec<_>>();
        let own = self.panels.get(panel).map(names).unwrap_or_default();
        own.len() > 1 && self.panels.get(panel + 1).map(names) != Some(own)
    }

    /// Every horizontal value, so that the panels share one range.
    fn across(&self) -> impl Iterator<Item = f64> {
        self.panels.iter().flat_map(|panel| {
            let points = panel.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
            points.chain(panel.marks.iter().filter_map(|mark| match mark.place {
                Place::At(across, _) | Place::X(across) => Some(across),
                Place::Y(_) => None,
            }))
        })
    }
}

impl Panel {
    /// Every vertical value.
    fn up(&self) -> impl Iterator<Item = f64> {
        let points = self.series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
        points.chain(self.marks.iter().filter_map(|mark| match mark.place {
            Place::At(_, up) | Place::Y(up) => Some(up),
            Place::X(_) => None,
        }))
    }

    /// The value of a mark in words: `1261 workers, 1.352 s`.
    pub(super) fn value_of(&self, mark: &Mark, x: &Axis) -> String {
        match mark.place {
            Place::At(across, up) => format!("{}, {}", x.in_words(across), self.y.unit.show(up)),
            Place::X(across) => x.in_words(across),
            Place::Y(up) => self.y.unit.show(up),
        }
    }
}
