//! Words of a status that are known neither as a failure nor as a success, and how many attempts have each.

use super::notice::IngestNotice;
use super::skipped::shown;
use std::collections::BTreeMap;

/// How many words are told apart.
const MOST_WORDS: usize = 64;

/// How many words are named.
const NAMED: usize = 3;

/// Attempts by such words.
#[derive(Clone, Debug, Default)]
pub(super) struct UnknownOutcomes {
    column: String,
    attempts: u64,
    words: BTreeMap<String, u64>,
}

impl UnknownOutcomes {
    /// Counts attempts with such a word in one of the columns.
    pub(super) fn add(&mut self, columns: &str, word: &[u8], attempts: u64) {
        if self.column.is_empty() {
            columns.clone_into(&mut self.column);
        }
        self.attempts = self.attempts.saturating_add(attempts);
        let word = shown(word.trim_ascii());
        if self.words.len() < MOST_WORDS || self.words.contains_key(&word) {
            let count = self.words.entry(word).or_default();
            *count = count.saturating_add(attempts);
        }
    }

    /// What to say of them: the commonest words by name.
    pub(super) fn notice(self) -> Option<IngestNotice> {
        let UnknownOutcomes { column, attempts, words } = self;
        let mut words: Vec<(String, u64)> = words.into_iter().collect();
        words.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        words.truncate(NAMED);
        (attempts > 0).then_some(IngestNotice::UnknownOutcome { column, attempts, words })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commonest_words_are_named_with_their_counts() {
        let mut unknown = UnknownOutcomes::default();
        for (word, attempts) in [("a", 1), (" b ", 5), ("c", 2), ("d", 3), ("b", 1)] {
            unknown.add("status", word.as_bytes(), attempts);
        }
        (0..1000).for_each(|n| unknown.add("status", format!("x{n}").as_bytes(), 1));
        assert_eq!(unknown.words.len(), MOST_WORDS);
        let named = [("b", 6), ("d", 3), ("c", 2)].map(|(word, count)| (word.to_owned(), count)).into();
        let notice =
            IngestNotice::UnknownOutcome { column: "status".to_owned(), attempts: 1012, words: named };
        assert_eq!(unknown.notice(), Some(notice));
        assert_eq!(UnknownOutcomes::default().notice(), None);
    }
}
