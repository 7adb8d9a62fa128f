//! The fields of one line on their way into a record.

use super::DELIMITER;

/// Fields as they will stand in a record.
#[derive(Default)]
pub(crate) struct Fields {
    text: Vec<u8>,
    any: bool,
}

impl Fields {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.any = false;
    }

    /// Adds a field. Line breaks in it become spaces, so that a line stays a line.
    pub(super) fn push(&mut self, value: &[u8]) {
        if self.any {
            self.text.push(DELIMITER);
        }
        self.any = true;
        let quoted = value.iter().any(|byte| matches!(*byte, b'"' | DELIMITER));
        if quoted {
            self.text.push(b'"');
        }
        for byte in value {
            match byte {
                b'\r' | b'\n' => self.text.push(b' '),
                b'"' => self.text.extend_from_slice(b"\"\""),
                byte => self.text.push(*byte),
            }
        }
        if quoted {
            self.text.push(b'"');
        }
    }

    /// Adds a value that the line may leave open with a dash.
    pub(super) fn push_optional(&mut self, value: &[u8]) {
        self.push(if value == b"-" { b"" } else { value });
    }

    /// Adds nanoseconds as seconds, or nothing.
    pub(super) fn push_seconds(&mut self, ns: Option<i128>) {
        match ns {
            None => self.push(b""),
            Some(ns) => {
                let (sign, ns) = (if ns < 0 { "-" } else { "" }, ns.unsigned_abs());
                let text = format!("{sign}{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
                self.push(text.as_bytes());
            }
        }
    }

    /// Ends the record.
    pub(super) fn end_into(&mut self, out: &mut Vec<u8>) {
        if self.any && self.text.is_empty() {
            // A single field without a value is a record, and no blank line.
            out.extend_from_slice(b"\"\"");
        }
        out.append(&mut self.text);
        out.push(b'\n');
        self.any = false;
    }
}

/// The tokens of a line: separated by spaces, those in quotes or brackets as one, without them.
pub(super) fn tokens(line: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut tokens, mut rest) = (Vec::new(), line.trim_ascii_start());
    while let Some(first) = rest.first() {
        let (token, after) = match first {
            b'"' => {
                let end = unescaped_quote(&rest[1..])?;
                (&rest[1..=end], &rest[end + 2..])
            }
            b'[' => {
                let end = memchr::memchr(b']', rest)?;
                (&rest[1..end], &rest[end + 1..])
            }
            _ => rest.split_at(memchr::memchr(b' ', rest).unwrap_or(rest.len())),
        };
        if !after.is_empty() && !after.starts_with(b" ") {
            return None;
        }
        tokens.push(token);
        rest = after.trim_ascii_start();
    }
    Some(tokens)
}

/// Where a quote stands that no backslash escapes.
fn unescaped_quote(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// Whether a token is a whole number.
pub(super) fn is_whole(token: &[u8]) -> bool {
    !token.is_empty() && token.iter().all(u8::is_ascii_digit)
}

/// The time at which something began that took so long and ended then, all in nanoseconds.
pub(super) fn began_ns(ended_ns: i64, took_ns: Option<u64>) -> i128 {
    i128::from(ended_ns) - i128::from(took_ns.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_keep_what_quotes_and_brackets_hold_together() {
        let found = tokens(br#"a [b c] "d \"e\" f" - "" g"#).unwrap();
        assert_eq!(found, [&b"a"[..], b"b c", br#"d \"e\" f"#, b"-", b"", b"g"]);
        for broken in [&br#"a "b"#[..], b"[a", br#""a"b"#, br#""\"#] {
            assert!(tokens(broken).is_none(), "{}", String::from_utf8_lossy(broken));
        }
    }
}
