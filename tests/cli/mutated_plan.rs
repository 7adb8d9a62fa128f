//! A plan file of any kind is an error with its place or an answer: never a panic, and never a yes to a requirement that
//! is not met.

use proptest::prelude::*;
use std::num::NonZeroUsize;
use whsize::check::{Verdict, check};
use whsize::config::{Document, plan};
use whsize::report::plan::{Detail, Inputs};
use whsize::report::{self, Answer, Style};

/// Values that a reader may stumble over.
const VALUES: [&str; 22] = [
    "0",
    "-1",
    "1e-300",
    "1e300",
    "99999999999999999999",
    "nan",
    "inf",
    "true",
    "[]",
    "[1, \"2m\"]",
    "{}",
    "\"\"",
    "\"1ns\"",
    "\"100 years\"",
    "\"99.9999999%\"",
    "\"0.0000001%\"",
    "\"1T\"",
    "2026-03-01",
    "\"p99.99=1us\"",
    "\"\\u0007\"",
    "'''x'''",
    "\"layout fits\"",
];

/// One way to damage a text.
#[derive(Clone, Debug)]
enum Damage {
    /// Another value for the key of a line.
    Value(usize, usize),
    /// A line less.
    Remove(usize),
    /// A line twice.
    Repeat(usize, usize),
    /// A byte of a line that is another one.
    Byte(usize, usize, u8),
    /// The text ends early.
    Cut(usize),
}

fn damage() -> impl Strategy<Value = Damage> {
    let line = 0usize..80;
    prop_oneof![
        4 => (line.clone(), 0..VALUES.len()).prop_map(|(line, value)| Damage::Value(line, value)),
        1 => line.clone().prop_map(Damage::Remove),
        1 => (line.clone(), line.clone()).prop_map(|(from, to)| Damage::Repeat(from, to)),
        2 => (line, 0usize..60, any::<u8>()).prop_map(|(line, at, byte)| Damage::Byte(line, at, byte)),
        1 => (0usize..3_000).prop_map(Damage::Cut),
    ]
}

fn damaged(damages: &[Damage]) -> String {
    let mut lines: Vec<String> = plan::STARTER.lines().map(str::to_owned).collect();
    for damage in damages {
        match *damage {
            Damage::Value(line, value) => {
                let keyed: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].contains(" = ")).collect();
                if let Some(at) = keyed.get(line % keyed.len().max(1)) {
                    let key = lines[*at].split(" = ").next().unwrap_or_default().to_owned();
                    lines[*at] = format!("{key} = {}", VALUES[value]);
                }
            }
            Damage::Remove(line) if line < lines.len() => drop(lines.remove(line)),
            Damage::Repeat(from, to) if from < lines.len() && to < lines.len() => {
                let line = lines[from].clone();
                lines.insert(to, line);
            }
            Damage::Byte(line, at, byte) if line < lines.len() && at < lines[line].len() => {
                let mut bytes = lines[line].clone().into_bytes();
                bytes[at] = byte;
                lines[line] = String::from_utf8_lossy(&bytes).into_owned();
            }
            Damage::Cut(at) => {
                let text: String = lines.join("\n").chars().take(at).collect();
                lines = text.lines().map(str::to_owned).collect();
            }
            _ => {}
        }
    }
    lines.join("\n")
}

/// Reads, answers, checks and renders: whether there was an answer.
fn answered(text: &str) -> bool {
    let read = match plan::read(&Document::new("whsize.toml", text)) {
        Ok(read) => read,
        Err(error) => {
            assert!(error.at.is_some() && !error.message.is_empty(), "{error}");
            return false;
        }
    };
    let planned = match read.plan.solve(NonZeroUsize::MIN) {
        Ok(planned) => planned,
        Err(error) => {
            assert!(error.at.line > 0 && error.at.column > 0, "{error:?}");
            assert!(read.plan.pools.iter().any(|pool| pool.name == error.pool), "{error:?}");
            return false;
        }
    };
    let inputs = Inputs { file: "whsize.toml".to_owned(), set: Vec::new(), baseline: None };
    let (checked, notes) = check(&planned, &read.expected, 1.77e9, None);
    let failed = checked.findings.iter().any(|finding| finding.verdict == Verdict::Fail);
    let judged = report::check::report(&inputs, &checked, notes).unwrap();
    assert_eq!(judged.answer == Answer::No, failed);
    let full = report::plan::report(&inputs, &planned, Detail::Full, Vec::new()).unwrap();
    for report in [&judged, &full] {
        let texts = [
            report::render_table(report, Style { width: 100, quiet: false }),
            report::render_markdown(report),
            report::render_html(report),
            report::render_json(report).unwrap(),
        ];
        assert!(texts.iter().all(|text| !text.contains("NaN")));
    }
    let shown = judged.judged.as_ref().unwrap();
    roxmltree::Document::parse(&report::render_junit(shown, &full.notes).unwrap()).unwrap();
    assert_eq!(report::render_github(&judged, shown).contains("\n::error "), failed);
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_damage_to_a_plan_is_an_error_at_its_place_or_an_answer(damages in proptest::collection::vec(damage(), 0..6)) {
        answered(&damaged(&damages));
    }
}

#[test]
fn the_plan_that_is_damaged_is_answered_as_it_stands() {
    assert!(answered(plan::STARTER));
}
