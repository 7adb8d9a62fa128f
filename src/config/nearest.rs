//! Did you mean: the known word that is nearest to a slip.

/// Two words at least this similar (1 is equal) are taken as a slip of one another.
const SIMILAR: f64 = 0.5;

/// The known word that is most like the one typed, if one is like it at all.
pub(super) fn nearest<'k>(typed: &str, known: &[&'k str]) -> Option<&'k str> {
    let similarity = |key: &str| strsim::normalized_damerau_levenshtein(typed, key);
    known
        .iter()
        .map(|key| (similarity(key), *key))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, key)| key)
}

/// What to say of a word that is not known: the nearest, or all of them.
pub(super) fn suggestion(typed: &str, known: &[&str]) -> String {
    match nearest(typed, known) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if known.is_empty() => "it takes none".to_owned(),
        None => {
            let mut sorted: Vec<&str> = known.to_vec();
            sorted.sort_unstable();
            sorted.dedup();
            format!("it takes {}", sorted.join(", "))
        }
    }
}
