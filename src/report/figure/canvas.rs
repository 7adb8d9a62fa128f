//! A grid of terminal cells, each of two by four dots (the braille patterns of Unicode), with letters on top.

use super::Path;

/// The bit of each dot in a braille pattern, by row and column (Unicode 15, chapter 21.1).
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// What stands in one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    dots: u8,
    /// The index of the last series that drew here.
    pub(super) series: Option<usize>,
    over: Option<char>,
}

impl Cell {
    /// The character of the cell.
    pub(super) fn character(self) -> char {
        match (self.over, self.dots) {
            (Some(letter), _) => letter,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' '),
        }
    }

    /// Whether a letter stands here.
    pub(super) fn is_lettered(self) -> bool {
        self.over.is_some()
    }
}

/// The grid; places are from 0 to 1, to the right and upwards.
#[derive(Clone, Debug)]
pub(super) struct Canvas {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
}

impl Canvas {
    pub(super) fn new(columns: usize, rows: usize) -> Self {
        Canvas { columns, rows, cells: vec![Cell::default(); columns * rows] }
    }

    pub(super) fn row(&self, row: usize) -> &[Cell] {
        &self.cells[row * self.columns..(row + 1) * self.columns]
    }

    /// Column and row of the cell at a place.
    pub(super) fn cell_at(&self, across: f64, up: f64) -> (usize, usize) {
        let (column, row) = self.dot_at(across, up);
        (column as usize / 2, row as usize / 4)
    }

    fn dot_at(&self, across: f64, up: f64) -> (i64, i64) {
        let scaled = |place: f64, dots: usize| (place.clamp(0.0, 1.0) * (dots - 1) as f64).round() as i64;
        (scaled(across, 2 * self.columns), scaled(1.0 - up, 4 * self.rows))
    }

    fn set(&mut self, (column, row): (i64, i64), series: usize) {
        let (x, y) = (column as usize, row as usize);
        if let Some(cell) = self.cells.get_mut(y / 4 * self.columns + x / 2) {
            cell.dots |= DOTS[y % 4][x % 2];
            cell.series = Some(series);
        }
    }

    /// Draws a line through places; `None` interrupts it.
    pub(super) fn line(
        &mut self,
        places: impl Iterator<Item = Option<(f64, f64)>>,
        path: Path,
        series: usize,
    ) {
        let mut last: Option<(i64, i64)> = None;
        for place in places {
            let next = place.map(|(across, up)| self.dot_at(across, up));
            match (last, next) {
                (Some(from), Some(to)) if path == Path::Steps => {
                    let corner = (to.0, from.1);
                    self.segment(from, corner, series);
                    self.segment(corner, to, series);
                }
                (Some(from), Some(to)) => self.segment(from, to, series),
                (None, Some(dot)) => self.set(dot, series),
                (_, None) => {}
            }
            last = next;
        }
    }

    /// Every dot on the way, by even steps along the longer side.
    fn segment(&mut self, from: (i64, i64), to: (i64, i64), series: usize) {
        let (across, down) = (to.0 - from.0, to.1 - from.1);
        let steps = across.abs().max(down.abs()).max(1);
        for step in 0..=steps {
            let part = |length: i64| (length as f64 * step as f64 / steps as f64).round() as i64;
            self.set((from.0 + part(across), from.1 + part(down)), series);
        }
    }

    /// Draws a character over every cell of a row that is still empty.
    pub(super) fn rule_across(&mut self, row: usize, dash: char) {
        for cell in &mut self.cells[row * self.columns..(row + 1) * self.columns] {
            if cell.character() == ' ' {
                cell.over = Some(dash);
            }
        }
    }

    /// Draws a character over every cell of a column that is still empty.
    pub(super) fn rule_up(&mut self, column: usize, dash: char) {
        for row in 0..self.rows {
            let cell = &mut self.cells[row * self.columns + column];
            if cell.character() == ' ' {
                cell.over = Some(dash);
            }
        }
    }

    /// Puts a letter on a cell, or on the nearest one of its row that has none yet.
    pub(super) fn letter(&mut self, (column, row): (usize, usize), letter: char) {
        let taken = |cell: &Cell| cell.over.is_some_and(char::is_alphanumeric);
        let near = (0..self.columns).min_by_key(|&candidate| {
            let cell = &self.cells[row * self.columns + candidate];
            (taken(cell), candidate.abs_diff(column))
        });
        if let Some(near) = near {
            self.cells[row * self.columns + near].over = Some(letter);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(canvas: &Canvas) -> Vec<String> {
        (0..canvas.rows).map(|row| canvas.row(row).iter().map(|cell| cell.character()).collect()).collect()
    }

    #[test]
    fn a_diagonal_and_a_step_are_drawn_dot_by_dot() {
        let mut canvas = Canvas::new(2, 1);
        canvas.line([Some((0.0, 0.0)), Some((1.0, 1.0))].into_iter(), Path::Straight, 0);
        assert_eq!(text(&canvas), ["⡠⠊"]);
        let mut canvas = Canvas::new(2, 1);
        canvas.line([Some((0.0, 0.0)), Some((1.0, 1.0))].into_iter(), Path::Steps, 0);
        assert_eq!(text(&canvas), ["⣀⣸"]);
    }

    #[test]
    fn a_gap_interrupts_and_places_outside_stay_at_the_edge() {
        let mut canvas = Canvas::new(3, 1);
        let gap = [Some((0.0, 0.0)), None, Some((7.0, -3.0))];
        canvas.line(gap.into_iter(), Path::Straight, 0);
        assert_eq!(text(&canvas), ["⡀ ⢀"]);
    }

    #[test]
    fn two_letters_at_one_place_stand_side_by_side() {
        let mut canvas = Canvas::new(4, 1);
        canvas.letter((0, 0), '1');
        canvas.letter((0, 0), '2');
        assert_eq!(text(&canvas), ["12  "]);
    }
}
