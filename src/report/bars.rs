//! Parts of a whole as bars: in the terminal by blocks, on a page as SVG.

use super::figure::{printable, words};
use super::{Column, Table};
use crate::units::human;
use svg::Document;
use svg::node::element::{Description, Rectangle, Title};

/// Parts of a whole, each with its share.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What is shown, as a heading.
    pub title: String,
    /// What a reader who cannot see it should know, in a sentence with the numbers.
    pub description: String,
    /// The parts, in reading order.
    pub rows: Vec<Bar>,
}

/// One part.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its size with the unit.
    pub value: String,
    /// Its share of the whole, from 0 to 1.
    pub share: f64,
}

/// Widths on a page, in its own units.
const WIDTH: f64 = 860.0;
const NAMES: f64 = 150.0;
const VALUES: f64 = 170.0;
const HEAD: f64 = 44.0;
const ROW: f64 = 26.0;

/// The longest bar in a terminal, in columns.
const LONGEST: usize = 40;

/// Parts of a block, from an eighth to seven of them.
const EIGHTHS: [char; 7] =
    ['\u{258f}', '\u{258e}', '\u{258d}', '\u{258c}', '\u{258b}', '\u{258a}', '\u{2589}'];

impl Bars {
    /// The parts as a table: name, size, share, and a bar where there is room for one.
    pub(super) fn table(&self, drawn: bool) -> Table {
        let mut columns = vec![Column::words("part"), Column::number("mean"), Column::number("share")];
        columns.extend(drawn.then(|| Column::words("")));
        let mut table = Table::new(self.title.clone(), &columns);
        for row in &self.rows {
            let mut cells = vec![row.name.clone(), row.value.clone(), human::percent(row.share)];
            cells.extend(drawn.then(|| blocks(row.share)));
            table.row(cells);
        }
        table
    }
}

/// A bar whose whole is [`LONGEST`] columns; what is there at all is seen.
fn blocks(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * (LONGEST * 8) as f64).round() as usize;
    let eighths = if share > 0.0 { eighths.max(1) } else { 0 };
    let mut bar = "\u{2588}".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|part| EIGHTHS[part]));
    bar
}

/// Renders the bars as an element of a page that has the style of figures; the number tells it from the others.
pub(super) fn render_inline(bars: &Bars, number: usize) -> String {
    let (title, description) = (format!("title{number}"), format!("desc{number}"));
    let height = HEAD + ROW * bars.rows.len() as f64 + 6.0;
    let mut document = Document::new()
        .set("viewBox", (0.0, 0.0, WIDTH, height))
        .set("role", "img")
        .set("aria-labelledby", format!("{title} {description}"))
        .add(Title::new(printable(&bars.title)).set("id", title))
        .add(
            Description::new().set("id", description).add(svg::node::Text::new(printable(&bars.description))),
        )
        .add(words(16.0, 28.0, &bars.title, "title"));
    let longest = WIDTH - NAMES - VALUES;
    for (index, row) in bars.rows.iter().enumerate() {
        let top = HEAD + ROW * index as f64;
        let width = (row.share.clamp(0.0, 1.0) * longest).max(if row.share > 0.0 { 1.0 } else { 0.0 });
        document = document
            .add(words(NAMES - 10.0, top + 15.0, &row.name, "name").set("text-anchor", "end"))
            .add(
                Rectangle::new()
                    .set("x", NAMES)
                    .set("y", top)
                    .set("width", (width * 10.0).round() / 10.0)
                    .set("height", ROW - 6.0)
                    .set("class", "bar"),
            )
            .add(words(
                NAMES + width + 8.0,
                top + 15.0,
                &format!("{}, {}", row.value, human::percent(row.share)),
                "faint",
            ));
    }
    format!("{document}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share_and_never_vanishes() {
        assert_eq!(blocks(1.0), "\u{2588}".repeat(40));
        assert_eq!(blocks(0.5), "\u{2588}".repeat(20));
        assert_eq!((blocks(0.0), blocks(1e-9)), (String::new(), "\u{258f}".to_owned()));
        assert_eq!(blocks(0.0125), "\u{258c}");
        assert_eq!(blocks(7.0).chars().count(), 40);
    }

    #[test]
    fn a_page_gets_one_rectangle_a_part_as_wide_as_its_share() {
        let bar = |name: &str, share| Bar { name: name.to_owned(), value: "1 s".to_owned(), share };
        let bars = Bars {
            title: "a <b>".to_owned(),
            description: "x & \u{7}y".to_owned(),
            rows: vec![bar("connect", 0.25), bar("http", 0.75)],
        };
        let drawn = render_inline(&bars, 3);
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let widths: Vec<f64> = document
            .descendants()
            .filter(|node| node.has_tag_name("rect"))
            .map(|node| node.attribute("width").unwrap().parse().unwrap())
            .collect();
        assert_eq!(widths, [135.0, 405.0]);
        assert!(drawn.contains("title3") && drawn.contains("desc3"));
    }
}
