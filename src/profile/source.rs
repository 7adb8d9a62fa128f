//! Where a profile comes from.

use serde::{Deserialize, Serialize};

/// The most file names that are kept; further ones are counted.
const MOST_FILES: usize = 8;

/// The longest text that is kept of a name, in characters.
const LONGEST: usize = 100;

/// What was read, and how it was understood.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The format that was recognised, such as `csv` or `hey csv`.
    pub format: String,
    /// The column or field that was taken as the duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// The unit in which it was read; absent where each value carries its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The column that says how many attempts a row stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_column: Option<String>,
    /// The columns that tell which attempts failed; absent where nothing tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures_from: Option<String>,
    /// The files, in the order in which they were read.
    pub files: Vec<String>,
    /// How endpoint latency was turned into service time, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correction: Option<String>,
    /// Whether the figures are endpoint latency, as a load tool or a proxy sees it, and not corrected.
    #[serde(default)]
    pub endpoint_latency: bool,
}

impl Source {
    /// Adds the files of `other`, each name once; what the two do not share is said to be mixed.
    pub fn merge(&mut self, other: &Source) {
        if self.format != other.format {
            self.format = "mixed".to_owned();
        }
        for (mine, theirs) in [
            (&mut self.column, &other.column),
            (&mut self.unit, &other.unit),
            (&mut self.correction, &other.correction),
            (&mut self.count_column, &other.count_column),
            (&mut self.failures_from, &other.failures_from),
        ] {
            if mine != theirs {
                *mine = Some("mixed".to_owned());
            }
        }
        self.endpoint_latency |= other.endpoint_latency;
        // Parts of a stream all come from standard input, which is one source.
        let new: Vec<String> =
            other.files.iter().filter(|file| !self.files.contains(file)).cloned().collect();
        self.files.extend(new);
    }

    /// The same with long names and long lists cut, so that its size is bounded.
    pub(super) fn bounded(&self) -> Source {
        // A control character would take six characters in JSON, and says nothing to a reader.
        let shown = |letter: char| if letter.is_control() { '?' } else { letter };
        let cut = |text: &String| text.chars().take(LONGEST).map(shown).collect::<String>();
        let mut files: Vec<String> = self.files.iter().take(MOST_FILES).map(cut).collect();
        if self.files.len() > MOST_FILES {
            files.push(format!("and {} more", self.files.len() - MOST_FILES));
        }
        Source {
            format: cut(&self.format),
            column: self.column.as_ref().map(cut),
            unit: self.unit.as_ref().map(cut),
            count_column: self.count_column.as_ref().map(cut),
            failures_from: self.failures_from.as_ref().map(cut),
            files,
            correction: self.correction.as_ref().map(cut),
            endpoint_latency: self.endpoint_latency,
        }
    }
}
