//! The parts of a report, independent of any format.

use super::{Bars, Figure};
use std::borrow::Cow;

/// One part of a report below its headline.
#[derive(Clone, Debug)]
pub enum Section {
    /// A heading over the sections that follow, such as the name of a pool.
    Heading(String),
    /// Named facts, one a line.
    Facts {
        /// What the facts are about.
        title: &'static str,
        /// Name and value, the value with its unit.
        rows: Vec<(String, String)>,
    },
    /// Rows and columns.
    Table(Table),
    /// A plot.
    Figure(Figure),
    /// Parts of a whole.
    Bars(Bars),
}

/// A table of texts that already carry their units.
#[derive(Clone, Debug)]
pub struct Table {
    /// What the table shows.
    pub title: String,
    /// The columns, left to right.
    pub columns: Vec<Column>,
    /// The rows; each has one cell a column.
    pub rows: Vec<Vec<String>>,
    /// The rows that the reader should see first, if any stand out.
    pub highlighted: Vec<usize>,
}

/// A column's heading and the side to which its cells are aligned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The heading.
    pub heading: Cow<'static, str>,
    /// Whether the cells are numbers, aligned to the right.
    pub numeric: bool,
}

impl Column {
    /// A column of words.
    #[must_use]
    pub fn words(heading: impl Into<Cow<'static, str>>) -> Self {
        Column { heading: heading.into(), numeric: false }
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(heading: impl Into<Cow<'static, str>>) -> Self {
        Column { heading: heading.into(), numeric: true }
    }
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: &[Column]) -> Self {
        Table { title: title.into(), columns: columns.to_vec(), rows: Vec::new(), highlighted: Vec::new() }
    }

    /// Adds a row of as many cells as there are columns.
    pub fn row(&mut self, cells: impl Into<Vec<String>>) {
        let cells = cells.into();
        debug_assert_eq!(cells.len(), self.columns.len(), "a row has one cell a column");
        self.rows.push(cells);
    }
}
