//! Delimiter and header of a table, told from its beginning.

use super::error::{IngestError, IngestErrorKind};
use super::open::Input;
use super::records::Records;
use std::cmp::Reverse;
use std::io::Cursor;

/// Delimiters that are tried, the likeliest to be meant first where two fit equally well: a comma may also be a decimal sign.
const CANDIDATES: [u8; 4] = [b'\t', b';', b'|', b','];

/// Records that are looked at.
const LOOKED_AT: usize = 100;

/// How the beginning of a table is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// The names of the columns, if the first record holds them.
    pub(super) header: Option<Vec<String>>,
    /// The first records below the header.
    pub(super) sample: Vec<Vec<String>>,
    /// Of which format each line was before it became a record.
    pub(super) lines: Option<&'static str>,
}

impl Dialect {
    /// How records that were made of lines are to be read.
    pub(super) fn of_lines(input: &Input, format: &'static str) -> Self {
        let (mut records, _) = sample(input, super::logs::DELIMITER);
        let header = (!records.is_empty()).then(|| records.remove(0));
        Dialect { delimiter: super::logs::DELIMITER, header, sample: records, lines: Some(format) }
    }

    /// Finds out what was not given. `named` are the columns that the user named: a first record that holds one of them
    /// is a header whatever else it holds.
    pub(super) fn of(
        input: &Input,
        delimiter: Option<u8>,
        no_header: bool,
        named: &[&str],
    ) -> Result<Self, IngestError> {
        let delimiter = delimiter.unwrap_or_else(|| find_delimiter(input));
        let (mut records, broken) = sample(input, delimiter);
        if let Some(error) = broken.filter(|_| input.whole) {
            return Err(error);
        }
        if !input.whole && records.len() < 2 {
            let reason = "its first line, or its second, is longer than 64 kB: this is no table of attempts";
            return Err(IngestError::new(IngestErrorKind::Malformed, &input.name, reason).at(1, None));
        }
        let is_header = !no_header
            && records.first().is_some_and(|first| {
                let names_a_column = first.iter().any(|cell| named.contains(&cell.trim()));
                names_a_column || !first.iter().any(|cell| looks_like_a_value(cell))
            });
        let header = is_header.then(|| records.remove(0).iter().map(|cell| cell.trim().to_owned()).collect());
        Ok(Dialect { delimiter, header, sample: records, lines: None })
    }
}

/// The delimiter that splits most records into the same number of fields, and into more than one. A quote that is left
/// within a field tells that the delimiter is wrong: it stood beside the right one.
fn find_delimiter(input: &Input) -> u8 {
    let score = |delimiter: u8| {
        let (records, _) = sample(input, delimiter);
        let width = records.first()?.len();
        let same = records.iter().filter(|record| record.len() == width).count();
        let quotes = records.iter().flatten().filter(|cell| cell.contains('"')).count();
        (width > 1).then(|| (Reverse(quotes), same * 1000 / records.len(), width))
    };
    // The last of equals wins with max_by_key, so the likeliest is put last.
    let best = CANDIDATES.into_iter().rev().filter_map(|delimiter| Some((score(delimiter)?, delimiter)));
    best.max_by_key(|(score, _)| *score).map_or(b',', |(_, delimiter)| delimiter)
}

/// The first records of the head, and why there are no more if one cannot be split; in a head that is not the whole
/// input the last record may be cut, so it is left out.
fn sample(input: &Input, delimiter: u8) -> (Vec<Vec<String>>, Option<IngestError>) {
    let mut records = Records::new(&input.name, Cursor::new(&input.head), delimiter);
    let (mut all, mut broken) = (Vec::new(), None);
    while all.len() < LOOKED_AT {
        match records.advance() {
            Ok(true) => all.push(records.texts()),
            Ok(false) => break,
            Err(error) => {
                broken = Some(error);
                break;
            }
        }
    }
    if !input.whole && all.len() < LOOKED_AT && all.len() > 1 {
        all.pop();
    }
    (all, broken)
}

/// Whether a cell is a number, a duration or a time, as no column's name is.
fn looks_like_a_value(cell: &str) -> bool {
    let cell = cell.trim();
    let unsigned = cell.strip_prefix(['-', '+']).unwrap_or(cell);
    unsigned.strip_prefix('.').unwrap_or(unsigned).starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, named: &[&str]) -> Dialect {
        let input = Input::from_reader("x", Box::new(Cursor::new(text.as_bytes().to_vec()))).unwrap();
        Dialect::of(&input, None, false, named).unwrap()
    }

    #[test]
    fn the_delimiter_is_the_one_that_splits_evenly() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,4;2\n1,5;3\n", b';'),
            ("1,4;200\n1,5;200\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("A|B|C|\"D|1\"\na1|b1|\"c1\"|d1\n", b'|'),
            ("t,\"message; with, all\"\n1,\"x;y\"\n", b','),
            ("12\n13\n", b','),
        ] {
            assert_eq!(of(text, &[]).delimiter, delimiter, "{text}");
        }
    }

    #[test]
    fn a_header_holds_no_value_or_a_name_that_was_given() {
        assert_eq!(of("a,b\n1,2\n", &[]).header, Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(of("1,2\n3,4\n", &[]).header, None);
        assert_eq!(of("-.5,x\n", &[]).header, None);
        assert!(of("duration,95\n1,2\n", &["duration"]).header.is_some());
        assert_eq!(of("\u{feff}a,b\n1,2\n", &[]).header.unwrap()[0], "a");
    }
}
