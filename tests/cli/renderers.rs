//! Every renderer on one report: what each makes of it is checked in, and was looked at.
//!
//! `WHSIZE_UPDATE=1` rewrites the files in tests/cli/rendered; look at the difference before it is committed.

use std::fs;
use std::path::PathBuf;
use whsize::check::{Checked, Finding, Verdict};
use whsize::notice::Note;
use whsize::plan::{Figures, Place as PlanPlace};
use whsize::report::{
    self, Answer, Axis, Bar, Bars, Column, Explanation, Figure, Judged, Mark, Panel, Path, Place, Report,
    Scale, Section, Series, Style, Table, Unit,
};

fn finding(requirement: &str, verdict: Verdict, actual: f64, message: &str, hint: Option<&str>) -> Finding {
    Finding {
        pool: "deliveries".to_owned(),
        requirement: requirement.to_owned(),
        verdict,
        actual: Some(actual),
        limit: 0.95,
        unit: "share",
        message: message.to_owned(),
        hint: hint.map(str::to_owned),
        at: Some(PlanPlace { line: 7, column: 11 }),
    }
}

/// One of everything that a report can hold.
fn specimen() -> Report {
    #[derive(serde::Serialize)]
    struct Result {
        workers: u64,
        utilisation: f64,
        tiny: f64,
    }
    let result = Result { workers: 1263, utilisation: 1260.0 / 1263.0, tiny: 1e-12 };
    let headline = "No: 1263 workers are not enough for \"orders & <returns>\" | a 2nd line's worth of words \
                    that a terminal of eighty columns has to break somewhere.";
    let mut report = Report::new("check", Answer::No, headline, &["whsize.toml"], &result).unwrap();
    report.sections.push(Section::Heading("deliveries".to_owned()));
    report.sections.push(Section::Facts {
        title: "Basis",
        rows: vec![
            ("offered load".to_owned(), "1260 erlangs".to_owned()),
            (
                "binding".to_owned(),
                "a fact that is so long that it takes more than one line in a terminal of eighty columns"
                    .to_owned(),
            ),
        ],
    });
    let mut table =
        Table::new("Rules", &[Column::words("rule"), Column::number("workers"), Column::number("mean wait")]);
    table.row(["smallest stable".to_owned(), "1261".to_owned(), "1.352 s".to_owned()]);
    table.row(["the answer".to_owned(), "1263".to_owned(), "419 ms".to_owned()]);
    table.highlighted = vec![1];
    report.sections.push(Section::Table(table));
    report.sections.push(Section::Figure(Figure {
        title: "Backlog".to_owned(),
        description: "The backlog falls from 100 to nothing in a minute.".to_owned(),
        x: Axis { label: "time", unit: Unit::Seconds, scale: Scale::FromZero },
        panels: vec![Panel {
            y: Axis { label: "messages", unit: Unit::Count, scale: Scale::FromZero },
            series: vec![Series {
                name: "backlog".to_owned(),
                points: vec![(0.0, 100.0), (60.0, 0.0)],
                path: Path::Straight,
            }],
            marks: vec![Mark { name: "deadline".to_owned(), place: Place::X(45.0) }],
        }],
    }));
    let bar = |name: &str, value: &str, share| Bar { name: name.to_owned(), value: value.to_owned(), share };
    report.sections.push(Section::Bars(Bars {
        title: "Phases of an attempt".to_owned(),
        description: "Where the mean service time goes: http takes 1 s, 80% of it.".to_owned(),
        rows: vec![bar("connect", "240 ms", 0.19), bar("http", "1 s", 0.8), bar("ack", "12 ms", 0.01)],
    }));
    report.explanations.push(Explanation {
        quantity: "offered load",
        formula: "a = \u{3bb}S".to_owned(),
        numbers: "900/s \u{d7} 1.4 s = 1260 erlangs".to_owned(),
        source: "J. D. C. Little 1961",
    });
    report
        .notes
        .push(Note::info("assumed", "service times are taken as exponential").with_hint("measure them"));
    report
        .notes
        .push(Note::warning("fragile", "a rise of 0.24% never settles").with_hint("ask for --headroom 10%"));
    report.notes.push(Note::error("missed", "utilisation <= 95%: 99.8%"));
    let findings = vec![
        finding("layout fits", Verdict::Pass, 0.5, "3 pods", None),
        finding(
            "rate_headroom >= 10%",
            Verdict::Warn,
            0.0024,
            "0.24%, of \"a | b\"",
            Some("1386 workers will do"),
        ),
        finding(
            "utilisation <= 95%",
            Verdict::Fail,
            0.998,
            "99.8% <of the time>\nalways",
            Some("1327 workers will do"),
        ),
    ];
    let figures = Figures {
        name: "deliveries".to_owned(),
        rate_per_s: 900.0,
        service_mean_s: 1.4,
        service_scv: 1.0,
        arrival_scv: 1.0,
        attempts_measured: None,
        workers: 1327,
        workers_interval: None,
        workers_deployed: Some(1263),
    };
    report.judged =
        Some(Judged { file: "whsize.toml".to_owned(), checked: Checked::new(findings, vec![figures]) });
    report
}

/// Compares with what is checked in, or writes it.
fn assert_rendered(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/rendered").join(name);
    if std::env::var_os("WHSIZE_UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(text, expected, "{name} is not what is checked in; WHSIZE_UPDATE=1 rewrites it");
}

/// Styles are told apart by a visible mark, so that the file can be read.
fn visible(text: &str) -> String {
    text.replace('\u{1b}', "\u{241b}")
}

#[test]
fn every_renderer_shows_the_same_report() {
    let report = specimen();
    let judged = report.judged.as_ref().unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let table = |width, quiet| report::render_table(&report, Style { width, quiet });
    for (name, text) in [
        ("table-100.txt", visible(&table(100, false))),
        ("table-80-quiet.txt", visible(&table(80, true))),
        ("report.md", report::render_markdown(&report)),
        ("report.html", report::render_html(&report).replace(version, "VERSION")),
        ("report.json", report::render_json(&report).unwrap().replace(version, "VERSION")),
        ("report.junit.xml", report::render_junit(judged, &report.notes).unwrap()),
        ("report.github.txt", report::render_github(&report, judged)),
    ] {
        assert_rendered(name, &text);
    }
}

/// What a reader must find in each, whatever the files above say.
#[test]
fn no_renderer_leaves_out_a_number_or_a_problem() {
    let report = specimen();
    let texts = [
        report::render_table(&report, Style { width: 80, quiet: true }),
        report::render_markdown(&report),
        report::render_html(&report),
    ];
    for text in texts {
        for needed in ["1260 erlangs", "1.352 s", "419 ms", "a rise of 0.24%", "240 ms", "80%", "99.8%"] {
            assert!(text.contains(needed), "{needed}: {text}");
        }
    }
    let narrow = report::render_table(&report, Style { width: 80, quiet: false });
    let plain: String =
        narrow.split('\u{1b}').map(|part| part.split_once('m').map_or(part, |(_, rest)| rest)).collect();
    assert!(plain.lines().all(|line| line.chars().count() <= 80), "{plain}");
}
