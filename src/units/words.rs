//! Names and texts of others inside a sentence, never longer than a reader would read.

/// The most letters of a text that are quoted.
const QUOTED: usize = 40;

/// Names that a sentence lists before it only counts the rest.
const LISTED: usize = 4;

/// A text as it is quoted: its beginning, where it is long.
#[must_use]
pub fn shortened(text: &str) -> String {
    within(text, QUOTED)
}

/// The first `most` letters of a text, with a mark where there are more.
#[must_use]
pub fn within(text: &str, most: usize) -> String {
    let mut letters = text.chars();
    let mut shown: String = letters.by_ref().take(most).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Names as a list: `a, b`, or the first few and how many more there are.
#[must_use]
pub fn listed(names: &[&str]) -> String {
    let named: Vec<String> = names.iter().take(LISTED).map(|name| shortened(name)).collect();
    let more = names.len().saturating_sub(LISTED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    named.join(", ") + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_and_long_lists_are_cut_with_a_mark() {
        assert_eq!(shortened("deliveries"), "deliveries");
        assert_eq!(shortened(&"ä".repeat(40)), "ä".repeat(40));
        assert_eq!(shortened(&"ä".repeat(10_000)), format!("{}…", "ä".repeat(40)));
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&["a", "b"]), "a, b");
        assert_eq!(listed(&["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 more");
    }
}
