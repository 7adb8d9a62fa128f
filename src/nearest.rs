//! Did you mean: the known word that is nearest to a slip.

use crate::units::words::shortened;

/// Two words at least this similar (1 is equal) are taken as a slip of one another …
const SIMILAR: f64 = 0.6;

/// … and this similar, if a single letter makes the difference.
const SIMILAR_BUT_ONE: f64 = 0.5;

/// No word that is known is longer than this many bytes: what is longer is no slip of it.
const LONGEST: usize = 100;

/// The known word that is most like the one typed, if one is like it at all.
pub(crate) fn nearest<'k>(typed: &str, known: &[&'k str]) -> Option<&'k str> {
    if typed.len() > LONGEST {
        return None;
    }
    let similarity = |key: &str| strsim::normalized_damerau_levenshtein(typed, key);
    let is_slip = |similarity: f64, key: &str| {
        similarity >= SIMILAR || similarity >= SIMILAR_BUT_ONE && strsim::damerau_levenshtein(typed, key) == 1
    };
    known
        .iter()
        .map(|key| (similarity(key), *key))
        .filter(|(similarity, key)| is_slip(*similarity, key))
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, key)| key)
}

/// What to say of a word that is not known: the nearest, or all of them.
pub(crate) fn suggestion(typed: &str, known: &[&str]) -> String {
    match nearest(typed, known) {
        Some(near) => format!("did you mean \"{}\"?", shortened(near)),
        None if known.is_empty() => "it takes none".to_owned(),
        None => {
            let mut sorted: Vec<&str> = known.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            format!("it takes {}", sorted.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_finds_its_word_and_another_word_finds_none() {
        for (typed, known) in [
            ("raet", "rate"),
            ("wrokers", "workers"),
            ("aa", "a"),
            ("kafkaa", "kafka"),
            ("utilization", "utilisation"),
        ] {
            assert_eq!(nearest(typed, &["depth", known, "limit"]), Some(known));
        }
        for (typed, known) in [("foo", "pool"), ("b", "a"), ("zzz", "rate"), ("", "a")] {
            assert_eq!(nearest(typed, &[known]), None, "{typed}");
        }
        assert_eq!(nearest(&"rate".repeat(1_000_000), &["rate"]), None);
    }
}
