//! A figure in the characters of a terminal.

use super::canvas::{Canvas, Cell};
use super::scale::{Range, Tick};
use super::{Axis, Figure, Panel, Place};
use anstyle::{AnsiColor, Style as Ansi};
use std::fmt::Write as _;
use textwrap::core::display_width;

/// Rows of the plot where it stands alone, and where it shares the figure.
const ROWS_ALONE: usize = 16;
const ROWS_SHARED: usize = 8;

/// About how many columns a tick of the horizontal axis needs, and rows one of the vertical axis.
const COLUMNS_A_TICK: usize = 14;
const ROWS_A_TICK: usize = 3;

/// Columns between two letters on a line.
const COLUMNS_A_LETTER: usize = 14;

const BOLD: Ansi = Ansi::new().bold();
const DIM: Ansi = Ansi::new().dimmed();
const COLOURS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Yellow,
    AnsiColor::Magenta,
    AnsiColor::Green,
    AnsiColor::Blue,
    AnsiColor::Red,
];

fn colour(series: usize) -> Ansi {
    COLOURS[series % COLOURS.len()].on_default()
}

/// Appends the figure, at most `width` columns wide.
pub(in crate::report) fn render(out: &mut String, figure: &Figure, width: usize) {
    let _ = writeln!(out, "{BOLD}{}{BOLD:#}", figure.title);
    let rows = if figure.panels.len() == 1 { ROWS_ALONE } else { ROWS_SHARED };
    let drawn: Vec<Drawn<'_>> = figure.panels.iter().map(|panel| Drawn::new(panel, figure, rows)).collect();
    let margin = drawn.iter().map(Drawn::label_width).max().unwrap_or(0) + 1;
    let columns = width.saturating_sub(margin + 2).max(10);
    for (index, panel) in drawn.iter().enumerate() {
        panel.render(out, &figure.x, margin, columns);
        panel.legend(out, &figure.x, figure.has_legend(index));
    }
}

/// The figure without colour.
pub(in crate::report) fn render_plain(figure: &Figure, width: usize) -> String {
    let mut out = String::new();
    render(&mut out, figure, width);
    anstream::adapter::strip_str(&out).to_string()
}

struct Drawn<'a> {
    panel: &'a Panel,
    figure: &'a Figure,
    rows: usize,
    y: Range,
    ticks: Vec<Tick>,
}

impl<'a> Drawn<'a> {
    fn new(panel: &'a Panel, figure: &'a Figure, rows: usize) -> Self {
        let most = rows / ROWS_A_TICK;
        let y = Range::over(&panel.y, panel.up(), most, false);
        let ticks = y.ticks(most);
        Drawn { panel, figure, rows, y, ticks }
    }

    fn label_width(&self) -> usize {
        self.ticks.iter().map(|tick| display_width(&tick.label)).max().unwrap_or(0)
    }

    fn render(&self, out: &mut String, x_axis: &Axis, margin: usize, columns: usize) {
        let x = Range::over(x_axis, self.figure.across(), columns / COLUMNS_A_TICK, true);
        let mut canvas = Canvas::new(columns, self.rows);
        self.draw(&mut canvas, &x);
        let _ = writeln!(out, "{DIM}  {}{DIM:#}", self.panel.y.heading());
        self.rows_with_labels(out, &canvas, margin);
        horizontal_axis(out, &x.ticks(columns / COLUMNS_A_TICK), &x_axis.heading(), margin, columns);
    }

    fn draw(&self, canvas: &mut Canvas, x: &Range) {
        let many = self.panel.series.len() > 1;
        for (index, series) in self.panel.series.iter().enumerate() {
            let place = |&(across, up): &(f64, f64)| x.place(across).zip(self.y.place(up));
            canvas.line(series.points.iter().map(place), series.path, index);
        }
        for mark in &self.panel.marks {
            match mark.place {
                Place::X(across) => {
                    if let Some(place) = x.place(across) {
                        canvas.rule_up(canvas.cell_at(place, 0.0).0, '\u{2506}');
                    }
                }
                Place::Y(up) => {
                    if let Some(place) = self.y.place(up) {
                        canvas.rule_across(canvas.cell_at(0.0, place).1, '\u{2504}');
                    }
                }
                Place::At(..) => {}
            }
        }
        if many {
            self.letter_lines(canvas, x);
        }
        for (index, mark) in self.panel.marks.iter().enumerate() {
            let place = match mark.place {
                Place::At(across, up) => x.place(across).zip(self.y.place(up)),
                Place::X(across) => x.place(across).map(|place| (place, 1.0)),
                Place::Y(up) => self.y.place(up).map(|place| (1.0, place)),
            };
            if let Some((across, up)) = place {
                canvas.letter(canvas.cell_at(across, up), digit(index));
            }
        }
    }

    /// Without colour, lines are told apart by the letters on them; each starts at another column.
    fn letter_lines(&self, canvas: &mut Canvas, x: &Range) {
        let count = self.panel.series.len();
        for (index, series) in self.panel.series.iter().enumerate() {
            let mut due = 2 + index * COLUMNS_A_LETTER / count;
            for &(across, up) in &series.points {
                let Some((across, up)) = x.place(across).zip(self.y.place(up)) else { continue };
                let (column, row) = canvas.cell_at(across, up);
                if column >= due {
                    if !canvas.row(row)[column].is_lettered() {
                        canvas.letter((column, row), letter(index));
                    }
                    due = column + COLUMNS_A_LETTER;
                }
            }
        }
    }

    fn rows_with_labels(&self, out: &mut String, canvas: &Canvas, margin: usize) {
        let row_of = |place: f64| canvas.cell_at(0.0, place).1;
        for row in 0..self.rows {
            let tick = self.ticks.iter().find(|tick| row_of(tick.place) == row);
            let (label, edge) = tick.map_or(("", '\u{2502}'), |tick| (tick.label.as_str(), '\u{2524}'));
            let padding = " ".repeat(margin - display_width(label));
            let _ = write!(out, "{padding}{label} {DIM}{edge}{DIM:#}");
            let _ = writeln!(out, "{}", styled(canvas.row(row)));
        }
    }

    fn legend(&self, out: &mut String, x: &Axis, names_lines: bool) {
        if names_lines {
            for (index, series) in self.panel.series.iter().enumerate() {
                let style = colour(index);
                let _ = writeln!(out, "  {style}{}{style:#}  {}", letter(index), series.name);
            }
        }
        let longest = self.panel.marks.iter().map(|mark| display_width(&mark.name)).max().unwrap_or(0);
        for (index, mark) in self.panel.marks.iter().enumerate() {
            let padding = " ".repeat(longest - display_width(&mark.name));
            let value = self.panel.value_of(mark, x);
            let _ = writeln!(out, "  {BOLD}{}{BOLD:#}  {}{padding}  {value}", digit(index), mark.name);
        }
    }
}

/// Marks are numbered from 1, and lettered on after 9.
fn digit(index: usize) -> char {
    char::from_digit(1 + index as u32, 36).unwrap_or('*').to_ascii_uppercase()
}

/// Lines are lettered from a.
fn letter(index: usize) -> char {
    char::from(b'a' + (index % 26) as u8)
}

/// The cells of a row with as few changes of colour as it takes; blanks at its end are left out.
fn styled(cells: &[Cell]) -> String {
    let filled = cells.iter().rposition(|cell| cell.character() != ' ').map_or(0, |last| last + 1);
    let mut text = String::new();
    let runs = cells[..filled].chunk_by(|one, next| style_of(*one) == style_of(*next));
    for run in runs {
        let style = style_of(run[0]);
        let letters: String = run.iter().map(|cell| cell.character()).collect();
        let _ = write!(text, "{style}{letters}{style:#}");
    }
    text
}

fn style_of(cell: Cell) -> Ansi {
    let character = cell.character();
    if character == ' ' {
        Ansi::new()
    } else if character.is_alphanumeric() {
        BOLD
    } else {
        cell.series.map_or(DIM, colour)
    }
}

/// The line with its ticks, and under it their labels, of which those are left out that would touch the one before.
fn horizontal_axis(out: &mut String, ticks: &[Tick], label: &str, margin: usize, columns: usize) {
    let mut line = vec!['\u{2500}'; columns];
    let mut labels = String::new();
    let mut used = 0;
    for tick in ticks {
        let column = (tick.place * (columns - 1) as f64).round() as usize;
        let width = display_width(&tick.label);
        // A label at the right end stays within the figure.
        let start = (margin + 2 + column).saturating_sub(width / 2).min(margin + 2 + columns - width);
        if start < used + 2 && used > 0 {
            continue;
        }
        line[column] = '\u{252c}';
        labels.push_str(&" ".repeat(start - used));
        labels.push_str(&tick.label);
        used = start + width;
    }
    let line: String = line.into_iter().collect();
    let _ = writeln!(out, "{}{DIM}\u{2514}{line}{DIM:#}", " ".repeat(margin + 1));
    let _ = writeln!(out, "{labels}");
    let end = margin + 2 + columns;
    let _ = writeln!(out, "{DIM}{}{label}{DIM:#}", " ".repeat(end.saturating_sub(display_width(label))));
}

#[cfg(test)]
mod tests {
    use super::super::{Mark, Path, Scale, Series, Unit};
    use super::*;

    fn figure(points: Vec<(f64, f64)>, scale: Scale, lines: usize) -> Figure {
        let series =
            |index| Series { name: format!("line {index}"), points: points.clone(), path: Path::Straight };
        Figure {
            title: "Queue".to_owned(),
            description: String::new(),
            x: Axis { label: "time", unit: Unit::Seconds, scale: Scale::Linear },
            panels: vec![Panel {
                y: Axis { label: "age", unit: Unit::Seconds, scale },
                series: (0..lines).map(series).collect(),
                marks: vec![Mark { name: "limit".to_owned(), place: Place::Y(30.0) }],
            }],
        }
    }

    #[test]
    fn a_figure_stays_within_its_width() {
        let rising: Vec<(f64, f64)> =
            (0..50).map(|step| (f64::from(step) * 97.0, f64::from(step).exp())).collect();
        for points in [rising, vec![(0.0, 0.0)], Vec::new(), vec![(1e15, f64::NAN), (2e15, 1e-300)]] {
            for scale in [Scale::Log, Scale::FromZero] {
                for width in [40, 80, 100] {
                    let text = render_plain(&figure(points.clone(), scale, 3), width);
                    assert!(text.lines().all(|line| display_width(line) <= width), "{width}\n{text}");
                }
            }
        }
    }

    #[test]
    fn lines_are_told_apart_without_colour_and_marks_are_in_the_legend() {
        let text = render_plain(&figure(vec![(0.0, 1.0), (10.0, 100.0)], Scale::FromZero, 2), 60);
        assert!(
            text.contains("a  line 0") && text.contains("b  line 1") && text.contains("1  limit  30 s"),
            "{text}"
        );
        let one = render_plain(&figure(vec![(0.0, 1.0), (10.0, 100.0)], Scale::FromZero, 1), 60);
        assert!(!one.contains("line 0"), "one line needs no legend: {one}");
    }
}
