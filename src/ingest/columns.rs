//! Which column means what: by name where it was given, by what is known of the table, by its header.

use super::column_names::{
    COUNT_NAMES, COUNT_NAMES_BESIDE_A_VALUE, DURATION_NAMES, ERROR_NAMES, NGINX_TIMES, NGINX_VARIABLES,
    NO_COUNT, STATISTICS, STATUS_NAMES, SUCCESS_NAMES, TIMESTAMP_NAMES, normalised,
};
use super::dialect::Dialect;
use super::duration::{self, Decimal, Unit};
use super::error::{IngestError, IngestErrorKind};
use super::known::{self, Known, Outcome};
use super::options::Options;
use super::phases::{LABEL_NAMES, LabelledRows, PHASE_NAMES, PhaseColumn, PhaseLabels, phase_of};
use super::timestamp;

/// Where everything is in a record.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) format: String,
    pub(super) duration: usize,
    /// The name of the duration's column, or its number.
    pub(super) duration_name: String,
    /// The unit of bare numbers; `None` where each value carries its own.
    pub(super) unit: Option<Unit>,
    pub(super) decimal: Decimal,
    /// How many attempts a row stands for, and the name of that column.
    pub(super) count: Option<usize>,
    pub(super) count_name: Option<String>,
    /// Whether that column was found and not named.
    pub(super) count_found: bool,
    pub(super) timestamp: Option<usize>,
    /// Whether the time stamp's column was named, so that a row without one is a bad row.
    pub(super) timestamp_required: bool,
    pub(super) outcomes: Vec<(usize, Outcome)>,
    /// The names of the columns that tell failures.
    pub(super) outcome_names: Option<String>,
    pub(super) groups: Vec<usize>,
    /// Columns with the durations of phases.
    pub(super) phases: Vec<PhaseColumn>,
    /// The column that says of which phase a row is.
    pub(super) labels: Option<PhaseLabels>,
    /// Its name.
    pub(super) label_name: Option<String>,
    /// Columns that are left out, as their cells are not what their names say.
    pub(super) unread: Vec<Unread>,
    pub(super) filters: Vec<Filter>,
    /// How many fields a record has.
    pub(super) width: usize,
    pub(super) known: Option<&'static Known>,
    /// Of which format each line was before it became a record: then places within records say nothing.
    pub(super) lines: Option<&'static str>,
}

/// What a column is by its name that cannot be read for arrivals.
const A_TIME_STAMP: &str = "a time stamp";

/// A column whose cells are not what its name says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unread {
    /// Its name, or its number.
    pub(super) name: String,
    /// What it is by its name.
    pub(super) meaning: &'static str,
    /// One of its cells.
    pub(super) example: String,
}

/// A filter on one column.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) column: usize,
    pub(super) value: String,
    pub(super) negated: bool,
    /// Whether a cell that only begins with the value has it: so rows are told that sum up others.
    pub(super) beginning: bool,
}

impl Filter {
    /// Whether a row with this cell passes.
    pub(super) fn passes(&self, cell: &[u8]) -> bool {
        let (cell, value) = (cell.trim_ascii(), self.value.as_bytes());
        let has = if self.beginning { cell.starts_with(value) } else { cell == value };
        has != self.negated
    }
}

/// The header, the options, and the name of the file for messages.
struct Finder<'a> {
    file: &'a str,
    header: Option<&'a [String]>,
    sample: &'a [Vec<String>],
    width: usize,
}

impl Finder<'_> {
    fn error(&self, kind: IngestErrorKind, reason: String) -> IngestError {
        IngestError::new(kind, self.file, reason)
    }

    /// A column by its name, or by its number from 1.
    fn named(&self, name: &str) -> Result<usize, IngestError> {
        let places = self.header.into_iter().flatten().enumerate().filter(|(_, column)| *column == name);
        match places.map(|(place, _)| place).collect::<Vec<_>>().as_slice() {
            [] => {}
            [place] => return Ok(*place),
            [first, second, ..] => {
                let (first, second) = (first + 1, second + 1);
                let reason = format!("columns {first} and {second} are both called \"{name}\"");
                return Err(self
                    .error(IngestErrorKind::Column, reason)
                    .remedy(format!("name one by its number: {first} or {second}")));
            }
        }
        match name.parse::<usize>() {
            Ok(number) if (1..=self.width).contains(&number) => Ok(number - 1),
            Ok(number) => Err(self
                .error(IngestErrorKind::Column, format!("there is no column {number}"))
                .remedy(format!("its columns are {}", self.columns()))),
            Err(_) => Err(self
                .error(IngestErrorKind::Column, format!("there is no column \"{name}\""))
                .remedy(format!("its columns are {}", self.columns()))),
        }
    }

    /// The columns for a message: their names, or their numbers.
    fn columns(&self) -> String {
        const MOST: usize = 20;
        match self.header {
            None => format!("1 to {} (there is no header)", self.width),
            Some(header) => {
                let shown: Vec<String> = header
                    .iter()
                    .take(MOST)
                    .map(|name| format!("\"{}\"", name.chars().take(40).collect::<String>()))
                    .collect();
                let more = if header.len() > MOST { ", …" } else { "" };
                format!("{}{more}", shown.join(", "))
            }
        }
    }

    fn show(&self, column: usize) -> String {
        self.header
            .and_then(|header| header.get(column))
            .map_or_else(|| (column + 1).to_string(), ToOwned::to_owned)
    }

    /// The one column whose name is in the list; the first of the list wins.
    fn by_names(&self, names: &[&str]) -> Option<usize> {
        let normal: Vec<String> = self.header?.iter().map(|name| normalised(name).0).collect();
        names.iter().find_map(|name| normal.iter().position(|column| column == name))
    }

    /// The duration's column, chosen by its name.
    fn duration(&self) -> Result<usize, IngestError> {
        if self.width == 0 {
            let reason = "its records hold no field, so none is a duration".to_owned();
            return Err(self
                .error(IngestErrorKind::Column, reason)
                .remedy("write one object a line, with a field such as \"duration_ms\""));
        }
        if self.width == 1 {
            return Ok(0);
        }
        let remedy = format!("name it with --column; its columns are {}", self.columns());
        let Some(header) = self.header else {
            let reason = format!("it has {} columns and no header to tell which is the duration", self.width);
            return Err(self.error(IngestErrorKind::Column, reason).remedy(remedy));
        };
        let normal: Vec<String> = header.iter().map(|name| normalised(name).0).collect();
        for rank in DURATION_NAMES {
            let mut found = normal.iter().enumerate().filter(|(_, name)| rank.contains(&name.as_str()));
            match (found.next(), found.next()) {
                (None, _) => {}
                (Some((column, _)), None) => return Ok(column),
                (Some((one, _)), Some((other, _))) => {
                    let reason =
                        format!("both \"{}\" and \"{}\" may be the duration", header[one], header[other]);
                    return Err(self.error(IngestErrorKind::Column, reason).remedy(remedy));
                }
            }
        }
        if let Some(counts) = self.count_beside_a_value()? {
            return Ok(1 - counts);
        }
        let is_statistic = |name: &str| {
            let first = name.split('_').next().unwrap_or_default();
            let quantile =
                first.strip_prefix('p').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            STATISTICS.contains(&first) || quantile
        };
        let ends = |name: &String| {
            !is_statistic(name) && ["duration", "latency", "elapsed"].iter().any(|end| name.ends_with(end))
        };
        if let Some(statistic) = normal.iter().position(|name| {
            is_statistic(name)
                && ["duration", "latency", "elapsed", "time"].iter().any(|end| name.ends_with(end))
        }) && !normal.iter().any(ends)
        {
            let reason = format!(
                "its \"{}\" is a statistic of several attempts, which says nothing of how they vary",
                header[statistic]
            );
            return Err(self.error(IngestErrorKind::Column, reason).remedy(
                "export single attempts, or one row for each distinct duration with its count; \
                 --column reads the column all the same",
            ));
        }
        let mut found = normal.iter().enumerate().filter(|(_, name)| ends(name));
        match (found.next(), found.next()) {
            (Some((column, _)), None) => Ok(column),
            _ => {
                let reason = "no column can be told to be the duration".to_owned();
                Err(self.error(IngestErrorKind::Column, reason).remedy(remedy))
            }
        }
    }

    /// The cells of a column that hold something, as far as was looked.
    fn cells(&self, column: usize) -> impl Iterator<Item = &[u8]> {
        let all = self.sample.iter().filter_map(move |record| record.get(column));
        all.map(|cell| duration::trim(cell.as_bytes())).filter(|cell| !duration::is_missing(cell))
    }

    /// Whether most cells of a column are what it is by its name; else one that is not, if there is any.
    fn mostly(&self, column: usize, reads: impl Fn(&[u8]) -> bool) -> Result<(), Option<String>> {
        let (mut good, mut bad, mut example) = (0usize, 0usize, None);
        for cell in self.cells(column) {
            if reads(cell) {
                good += 1;
            } else {
                bad += 1;
                example.get_or_insert_with(|| super::skipped::shown(cell));
            }
        }
        if good > 0 && good >= bad { Ok(()) } else { Err(example) }
    }

    /// Whether a column named as a count holds whole numbers; where it holds other numbers as well, somebody has to
    /// say what it is.
    fn is_whole(&self, column: usize) -> Result<bool, IngestError> {
        let cells = || self.sample.iter().filter_map(|record| record.get(column));
        let bad = cells().find(|cell| super::rows::whole(cell.as_bytes()).is_none());
        let Some(bad) = bad else { return Ok(cells().next().is_some()) };
        let whole = |cell: &String| super::rows::whole(cell.as_bytes()).is_some();
        // "1,000", 1e3, -1, 1.5: numbers that nobody may take for one attempt unasked.
        let number = |cell: &String| {
            let digits = cell.trim().trim_start_matches(['-', '+']);
            digits.starts_with(|letter: char| letter.is_ascii_digit())
                && digits.chars().all(|letter| letter.is_ascii_digit() || " ,.'_eE+-".contains(letter))
        };
        if !cells().any(whole) && !number(bad) {
            return Ok(false);
        }
        let (name, bad) = (self.show(column), super::skipped::shown(bad.as_bytes()));
        let reason = format!(
            "column \"{name}\" may say how many attempts a row stands for, and its \"{bad}\" is no whole number"
        );
        Err(self.error(IngestErrorKind::Column, reason).remedy(format!(
            "write it as one; --count-column \"{name}\" skips such rows, and --count-column {NO_COUNT} takes each \
             row as one attempt"
        )))
    }

    /// Whether a column numbers its rows: each number is one more than that before.
    fn is_numbering(&self, column: usize) -> bool {
        let cells = self.sample.iter().filter_map(|record| record.get(column));
        let numbers: Vec<u64> = cells.filter_map(|cell| super::rows::whole(cell.as_bytes())).collect();
        numbers.len() > 2 && numbers.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1]))
    }

    /// The column that counts in a table of two, of which the other is the value.
    fn count_beside_a_value(&self) -> Result<Option<usize>, IngestError> {
        let named = || self.by_names(COUNT_NAMES).or_else(|| self.by_names(COUNT_NAMES_BESIDE_A_VALUE));
        match (self.width == 2).then(named).flatten() {
            Some(column) if self.is_whole(column)? && !self.is_numbering(column) => Ok(Some(column)),
            _ => Ok(None),
        }
    }

    /// The column that says how many attempts a row stands for, if one is there to be found. Where a row may as well be
    /// one attempt, somebody has to say which it is.
    fn count(&self, duration: usize, stamped: bool) -> Result<Option<usize>, IngestError> {
        let beside = self.count_beside_a_value()?.filter(|column| *column != duration);
        if beside.is_some() {
            return Ok(beside);
        }
        let named = self.by_names(COUNT_NAMES).filter(|column| *column != duration);
        let Some(column) = named else { return Ok(None) };
        if !self.is_whole(column)? || self.is_numbering(column) {
            return Ok(None);
        }
        // In a table of distinct durations, none comes twice within its groups; in a log, most rows count one.
        let mut rows: Vec<Vec<&String>> = self
            .sample
            .iter()
            .map(|record| {
                record.iter().enumerate().filter(|(at, _)| *at != column).map(|(_, cell)| cell).collect()
            })
            .collect();
        rows.sort_unstable();
        let distinct = rows.windows(2).all(|pair| pair[0] != pair[1]);
        if distinct && !stamped {
            return Ok(Some(column));
        }
        let name = self.show(column);
        let reason = format!("column \"{name}\" may say how many attempts a row stands for");
        Err(self.error(IngestErrorKind::Column, reason).remedy(format!(
            "say so with --count-column \"{name}\", or --count-column {NO_COUNT} if each row is one attempt"
        )))
    }

    /// The unit of a column: from its name, or `None` where its values carry their own.
    fn unit(&self, column: usize, decimal: Decimal) -> Result<Option<Unit>, IngestError> {
        let name = self.header.and_then(|header| header.get(column));
        if let Some(unit) = name.and_then(|name| normalised(name).1) {
            return Ok(Some(unit));
        }
        let values = || self.sample.iter().filter_map(|record| record.get(column)).map(|cell| cell.trim());
        if values().any(|cell| duration::parse(cell.as_bytes(), None, decimal).is_ok()) {
            return Ok(None);
        }
        if name.is_some_and(|name| NGINX_TIMES.contains(&name.as_str())) && self.is_of_nginx() {
            return Ok(Some(Unit::Seconds));
        }
        let example = values().find(|cell| !duration::is_missing(cell.as_bytes())).unwrap_or("1.4");
        let example: String = example.chars().take(20).collect();
        let reason =
            format!("column \"{}\" names no unit: its {example} may be s, ms, us or ns", self.show(column));
        Err(self.error(IngestErrorKind::Unit, reason).remedy("say which with --unit"))
    }

    /// Whether the columns are called as nginx calls what it logs, in a format of its user.
    fn is_of_nginx(&self) -> bool {
        self.header.into_iter().flatten().any(|name| NGINX_VARIABLES.contains(&name.as_str()))
    }

    /// Columns with the durations of phases: named so, and holding durations. One alone is only believed with a unit.
    fn phases(
        &self,
        unit: Option<Unit>,
        decimal: Decimal,
        taken: &[usize],
        unread: &mut Vec<Unread>,
    ) -> Vec<PhaseColumn> {
        let mut found: Vec<PhaseColumn> = Vec::new();
        let mut sure = false;
        for (column, name) in
            self.header.into_iter().flatten().enumerate().filter(|(at, _)| !taken.contains(at))
        {
            let Some(phase) = phase_of(name) else { continue };
            let named = normalised(name).1;
            let unit = named.or(unit);
            match self.mostly(column, |cell| duration::parse(cell, unit, decimal).is_ok()) {
                Ok(()) if found.iter().all(|other| other.phase != phase) => {
                    sure |= named.is_some();
                    found.push(PhaseColumn { column, phase, unit });
                }
                Err(Some(example)) if named.is_some() => {
                    unread.push(Unread { name: name.clone(), meaning: "the duration of a phase", example });
                }
                _ => {}
            }
        }
        if sure || found.len() > 1 { found } else { Vec::new() }
    }

    /// The column that says of which phase a row is, if there is one.
    fn labels(&self, known: Option<&Known>) -> Option<PhaseLabels> {
        let column = match known {
            Some(known) => self.named(known.labels?).ok()?,
            None => self.by_names(LABEL_NAMES)?,
        };
        let labels = self.sample.iter().filter_map(|record| record.get(column)).map(String::as_str);
        let found = PhaseLabels::of(column, labels);
        match (found.rows, known) {
            // Of a known table it is known what the labels are, even if the first rows are of something else.
            (LabelledRows::Unknown, Some(_)) => Some(PhaseLabels { rows: LabelledRows::Beside, ..found }),
            // A stage or a step may be of anything.
            (LabelledRows::Unknown, None) => {
                let name = self.header.and_then(|header| header.get(column));
                name.is_some_and(|name| PHASE_NAMES.contains(&normalised(name).0.as_str())).then_some(found)
            }
            _ => Some(found),
        }
    }

    /// A time stamp's column by its name, if what it holds are times of day.
    fn timestamp(&self, unread: &mut Vec<Unread>) -> Option<usize> {
        /// Earlier numbers are times since some start, or no times at all.
        const YEAR_1980_NS: i64 = 315_532_800_000_000_000;
        let column = self.by_names(TIMESTAMP_NAMES)?;
        let read = |cell: &[u8]| timestamp::parse(cell).is_ok_and(|at| at.ns > YEAR_1980_NS);
        match self.mostly(column, read) {
            Ok(()) => Some(column),
            Err(example) => {
                // Times since a start and durations may go by such a name; a date that cannot be read is worth a word.
                let dated = |cell: &String| cell.contains(['/', ':']) || cell.matches('-').count() > 1;
                let example = example.filter(|cell| dated(cell));
                let name = self.show(column);
                unread.extend(example.map(|example| Unread { name, meaning: A_TIME_STAMP, example }));
                None
            }
        }
    }
}

impl Columns {
    pub(super) fn find(file: &str, dialect: &mut Dialect, options: &Options) -> Result<Self, IngestError> {
        if dialect.header.is_none() && options.column.is_none() {
            dialect.header = dialect.sample.first().and_then(|record| known::header_by_shape(record));
        }
        let header = dialect.header.as_deref();
        let width = header.map_or_else(|| dialect.sample.first().map_or(0, Vec::len), <[String]>::len);
        let finder = Finder { file, header, sample: &dialect.sample, width };
        let recognised = header.and_then(known::by_header);
        let known = recognised.filter(|_| options.column.is_none());
        let own = |name: &str| finder.named(name);
        let duration = match (&options.column, known) {
            (Some(name), _) => own(name)?,
            (None, Some(known)) => own(known.duration)?,
            (None, None) => finder.duration()?,
        };
        let decimal = options.decimal.unwrap_or(match dialect.delimiter {
            b',' | super::logs::DELIMITER => Decimal::Point,
            _ => Decimal::Either,
        });
        let unit = match (options.unit, known) {
            (Some(unit), _) => Some(unit),
            (None, Some(known)) => Some(known.unit),
            (None, None) => match recognised {
                // Another column of durations of a known table has its unit.
                Some(recognised) => Some(recognised.unit),
                None => finder.unit(duration, decimal)?,
            },
        };
        let mut unread = Vec::new();
        let timestamp = match (&options.timestamp_column, known) {
            (Some(name), _) => Some(own(name)?),
            (None, Some(known)) => known.timestamp.map(own).transpose()?,
            (None, None) => finder.timestamp(&mut unread),
        };
        let outcomes: Vec<(usize, Outcome)> = match known {
            Some(known) => {
                let present = known.outcomes.iter().filter_map(|(name, how)| Some((own(name).ok()?, *how)));
                present.collect()
            }
            None => {
                let lists = [
                    (STATUS_NAMES, Outcome::Status),
                    (SUCCESS_NAMES, Outcome::Success),
                    (ERROR_NAMES, Outcome::Error),
                ];
                lists.iter().filter_map(|(names, how)| Some((finder.by_names(names)?, *how))).collect()
            }
        };
        let count = match (options.count_column.as_deref(), known) {
            (Some(NO_COUNT), _)
                if !header.is_some_and(|header| header.iter().any(|name| name == NO_COUNT)) =>
            {
                None
            }
            (Some(name), _) => Some(own(name)?),
            (None, Some(_)) => None,
            (None, None) => finder.count(duration, timestamp.is_some())?,
        };
        let groups: Vec<usize> = options.group_by.iter().map(|name| own(name)).collect::<Result<_, _>>()?;
        let labels = finder.labels(known).filter(|labels| {
            // Grouped by phase, or with one selected, each row is what was asked for.
            let chosen = |filter: &super::options::Where| own(&filter.column).ok() == Some(labels.column);
            labels.rows == LabelledRows::Beside
                || !groups.contains(&labels.column) && !options.filters.iter().any(chosen)
        });
        let taken: Vec<usize> =
            [Some(duration), timestamp, count].into_iter().flatten().chain(groups.clone()).collect();
        let phases = match known {
            Some(known) => {
                let unit = options.unit.unwrap_or(known.unit);
                let of = |(name, phase): &(&str, _)| {
                    Some(PhaseColumn { column: own(name).ok()?, phase: *phase, unit: Some(unit) })
                };
                known.phases.iter().filter_map(of).collect()
            }
            None => finder.phases(unit, decimal, &taken, &mut unread),
        };
        let mut filters = Vec::new();
        for filter in &options.filters {
            let column = own(&filter.column)?;
            let (value, negated) = (filter.value.clone(), filter.negated);
            filters.push(Filter { column, value, negated, beginning: false });
        }
        if let Some((name, value)) = known.and_then(|known| known.sums)
            && let Ok(column) = own(name)
        {
            filters.push(Filter { column, value: value.to_owned(), negated: true, beginning: true });
        }
        if (options.since_ns.is_some() || options.until_ns.is_some()) && timestamp.is_none() {
            let mut reason = "it has no column of time stamps, which --since and --until need".to_owned();
            if let Some(Unread { name, example, .. }) = unread.iter().find(|it| it.meaning == A_TIME_STAMP) {
                reason =
                    format!("most of its column \"{name}\" cannot be read as time stamps: \"{example}\"");
            }
            return Err(finder
                .error(IngestErrorKind::Column, reason)
                .remedy("name it with --timestamp-column"));
        }
        let delimited = if dialect.delimiter == b'\t' { "tsv" } else { "csv" };
        Ok(Columns {
            format: dialect.lines.or(known.map(|known| known.format)).unwrap_or(delimited).to_owned(),
            duration,
            duration_name: finder.show(duration),
            unit,
            decimal,
            count,
            count_name: count.map(|column| finder.show(column)),
            count_found: options.count_column.is_none(),
            timestamp,
            timestamp_required: options.timestamp_column.is_some(),
            outcome_names: (!outcomes.is_empty()).then(|| {
                outcomes.iter().map(|(column, _)| finder.show(*column)).collect::<Vec<_>>().join(", ")
            }),
            outcomes,
            groups,
            phases,
            label_name: labels.as_ref().map(|labels| finder.show(labels.column)),
            labels,
            unread,
            filters,
            width,
            known,
            lines: dialect.lines,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, options: &Options) -> Result<Columns, IngestError> {
        let rows: Vec<Vec<String>> =
            text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
        let (header, sample) = (rows[0].clone(), rows[1..].to_vec());
        Columns::find(
            "x.csv",
            &mut Dialect { delimiter: b',', header: Some(header), sample, lines: None },
            options,
        )
    }

    #[test]
    fn columns_are_chosen_by_name_and_never_by_guess() {
        let found =
            find("timestamp,endpoint,status,duration_ms\n1700000000,a,200,5\n", &Options::default()).unwrap();
        assert_eq!((found.duration, found.unit, found.timestamp), (3, Some(Unit::Milliseconds), Some(0)));
        assert_eq!(found.outcomes, [(2, Outcome::Status)]);
        for (text, part) in [
            ("a,b\n1,2\n", "no column can be told"),
            ("duration_ms,elapsed_ms\n1,2\n", "both \"duration_ms\" and \"elapsed_ms\""),
            ("t,duration\n1,95\n", "its 95 may be s, ms"),
        ] {
            let error = find(text, &Options::default()).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
        let options =
            Options { column: Some("b".to_owned()), unit: Some(Unit::Seconds), ..Options::default() };
        assert_eq!(find("a,b\n1,2\n", &options).unwrap().duration, 1);
        let options = Options { group_by: vec!["host".to_owned()], ..options };
        let error = find("a,b\n1,2\n", &options).unwrap_err().to_string();
        assert!(error.contains("\"host\"") && error.contains("\"a\", \"b\""), "{error}");
    }

    #[test]
    fn a_column_called_time_that_holds_durations_is_no_time_stamp() {
        let found = find("time,duration_ms\n0.12,5\n", &Options::default()).unwrap();
        assert_eq!(found.timestamp, None);
    }
}
