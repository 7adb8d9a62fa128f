//! `--plot`: in the table, or as SVG into a file.

use crate::support::{run, run_all};
use std::path::PathBuf;

const SIZE: &str = "size --rate 900 --mean 1.4 --wait 0.5";

fn scratch(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn the_table_shows_the_figure_within_100_columns() {
    let output = run(&format!("{SIZE} --plot --quiet"));
    assert_eq!(output.code, 0);
    for shown in ["mean wait, logarithmic", "Erlang C, the answer  1263 workers, 419 ms", "⠑⠢⢄"] {
        assert!(output.stdout.contains(shown), "{shown}: {}", output.stdout);
    }
    assert!(output.stdout.lines().all(|line| line.chars().count() <= 100), "{}", output.stdout);
}

#[test]
fn the_file_is_one_document_with_its_numbers_as_text() {
    let path = scratch("wait.svg");
    let output = run_all(SIZE.split(' ').chain(["--format", "json", "--plot", path.to_str().unwrap()]));
    assert_eq!(output.code, 0);
    assert!(output.stderr.contains("figure written to") && !output.stdout.contains("figure"), "{output:?}");
    let text = std::fs::read_to_string(&path).unwrap();
    let document = roxmltree::Document::parse(&text).unwrap();
    let texts: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .filter_map(|node| node.text())
        .map(str::trim)
        .collect();
    assert!(texts.contains(&"Erlang C, the answer: 1263 workers, 419 ms"), "{texts:?}");
    let description = document.descendants().find(|node| node.has_tag_name("desc")).unwrap();
    assert!(description.text().unwrap().contains("the answer: 1263 workers, mean wait 419 ms"));
    assert!(text.contains("prefers-color-scheme:dark"));
    let elsewhere = |text: &str| text.replace("http://www.w3.org/2000/svg", "").contains("http");
    assert!(!elsewhere(&text), "the document needs nothing from elsewhere");
}

#[test]
fn a_plot_that_could_not_be_shown_is_refused() {
    let json = run(&format!("{SIZE} --format json --plot"));
    assert!(json.code == 2 && json.stderr.contains("--plot FILE.svg"), "{json:?}");
    let data = run(&format!("{SIZE} --plot samples.csv"));
    assert!(data.code == 2 && data.stderr.contains(".svg"), "{data:?}");
    let nowhere = run(&format!("{SIZE} --plot /nonexistent/wait.svg"));
    assert!(nowhere.code == 2 && nowhere.stderr.contains("/nonexistent/wait.svg"), "{nowhere:?}");
    assert_eq!(run(&format!("{SIZE} --plot --quiet")).code, 0, "what follows --plot is a flag, not a file");
}

#[test]
fn markdown_carries_the_figure_as_text_without_colour() {
    let output = run(&format!("{SIZE} --plot --format markdown"));
    let (_, figure) = output.stdout.split_once("```text\nMean wait against workers").unwrap();
    let (figure, _) = figure.split_once("```\n").unwrap();
    assert!(figure.contains("419 ms") && !figure.contains('\u{1b}'), "{figure}");
    assert!(figure.lines().all(|line| line.chars().count() <= 80), "{figure}");
}
