//! A page that needs nothing else: no network, no script, light and dark by the reader's scheme, fit to be printed. Each
//! figure is drawn as SVG and has its numbers beside it as a table.

use super::bars::{self, Bars};
use super::figure::{self, Figure, Panel};
use super::{Answer, Explanation, Report, Section, Table};
use crate::notice::{Note, Severity};
use std::fmt::{self, Write as _};

/// Nothing may be loaded, whatever a name in the report says.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const STYLE: &str = "\
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif}\
main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}\
header{border-left:.4rem solid var(--s2);padding:.1rem 0 .1rem 1rem;margin-bottom:2rem}header.no{border-color:var(--s1)}\
header p,footer,caption,figcaption{color:var(--faint)}header p{margin:0}\
h1{font-size:1.5rem;line-height:1.3;margin:.2rem 0}\
h2{font-size:1.3rem;margin:2.5rem 0 1rem;padding-bottom:.3rem;border-bottom:1px solid var(--grid)}\
h3{font-size:1rem;margin:1.8rem 0 .5rem}nav ul{padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1rem;list-style:none}\
a{color:var(--s0)}.scroll{overflow-x:auto}\
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums}\
th,td{padding:.3rem .9rem .3rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--grid);font-weight:400}\
thead th{color:var(--faint);vertical-align:bottom}.number{text-align:right;white-space:nowrap}tbody th{color:var(--faint);white-space:nowrap}\
tr.first td{font-weight:600}.pass{color:var(--s2)}.fail{color:var(--s1);font-weight:600}.warn{color:var(--s4);font-weight:600}\
figure{margin:1.5rem 0;break-inside:avoid}figure svg{width:100%;min-width:40rem;height:auto;display:block}\
figcaption{font-size:.92rem}summary{cursor:pointer;color:var(--s0);font-size:.92rem}\
details table{margin:.6rem 0}.notes{padding:0;list-style:none}.notes li{margin:.6rem 0;padding-left:.8rem;border-left:.2rem solid var(--grid)}\
.notes .warning{border-color:var(--s4)}.notes .problem{border-color:var(--s1)}code{font-size:.95em}\
footer{margin-top:3rem;font-size:.85rem}\
@media print{:root{--paper:#fff;--ink:#000;--faint:#444;--grid:#bbb}main{max-width:none;padding:0}nav,summary{display:none}\
h2,h3{break-after:avoid}tr{break-inside:avoid}figure svg{min-width:0}.scroll{overflow:visible}\
table{font-size:.75rem}th,td,.number,tbody th{white-space:normal;overflow-wrap:anywhere;padding-right:.5rem}\
figure{break-inside:auto}figure svg{break-inside:avoid}\
details::details-content{content-visibility:visible;display:block;height:auto}details>.scroll{display:block}\
details{columns:4;column-gap:1.2rem}details table{font-size:.6rem;line-height:1.25;width:100%;margin:0}\
details th,details td,details .number{padding:.05rem .3rem .05rem 0}figcaption{font-size:.8rem}}";

/// Renders a report as an HTML document.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = page(&mut out, report);
    out
}

fn page(out: &mut String, report: &Report) -> fmt::Result {
    let headline = escape(&report.headline);
    let verdict = if report.answer == Answer::Yes { "yes" } else { "no" };
    write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{headline}</title>\n<style>{}{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <header class=\"{verdict}\">\n<p>whsize {}</p>\n<h1>{headline}</h1>\n</header>\n",
        figure::STYLE,
        escape(report.command)
    )?;
    contents(out, report)?;
    let (mut headings, mut figures) = (0, 0);
    for section in &report.sections {
        match section {
            Section::Heading(heading) => {
                headings += 1;
                writeln!(out, "<h2 id=\"part{headings}\">{}</h2>", escape(heading))?;
            }
            Section::Facts { title, rows } => facts(out, title, rows)?,
            Section::Table(table) => rows_and_columns(out, table)?,
            Section::Figure(drawn) => {
                figures += 1;
                plotted(out, drawn, figures)?;
            }
            Section::Bars(drawn) => {
                figures += 1;
                parts(out, drawn, figures)?;
            }
        }
    }
    explanations(out, &report.explanations)?;
    notes(out, &report.notes)?;
    let version = env!("CARGO_PKG_VERSION");
    write!(
        out,
        "<footer>whsize {version}. The same numbers, unrounded: --format json.</footer>\n</main>\n</body>\n</html>\n"
    )
}

/// Links to the headings, where there are several.
fn contents(out: &mut String, report: &Report) -> fmt::Result {
    let headings = report.sections.iter().filter_map(|section| match section {
        Section::Heading(heading) => Some(heading),
        _ => None,
    });
    let headings: Vec<&String> = headings.collect();
    if headings.len() < 2 {
        return Ok(());
    }
    out.write_str("<nav aria-label=\"Contents\">\n<ul>\n")?;
    for (index, heading) in headings.into_iter().enumerate() {
        writeln!(out, "<li><a href=\"#part{}\">{}</a></li>", index + 1, escape(heading))?;
    }
    out.write_str("</ul>\n</nav>\n")
}

fn facts(out: &mut String, title: &str, rows: &[(String, String)]) -> fmt::Result {
    write!(out, "<h3>{}</h3>\n<div class=\"scroll\">\n<table>\n<tbody>\n", escape(title))?;
    for (name, value) in rows {
        writeln!(out, "<tr><th scope=\"row\">{}</th><td>{}</td></tr>", escape(name), escape(value))?;
    }
    out.write_str("</tbody>\n</table>\n</div>\n")
}

fn rows_and_columns(out: &mut String, table: &Table) -> fmt::Result {
    write!(out, "<h3>{}</h3>\n<div class=\"scroll\">\n<table>\n<thead><tr>", escape(&table.title))?;
    for column in &table.columns {
        let class = if column.numeric { " class=\"number\"" } else { "" };
        write!(out, "<th scope=\"col\"{class}>{}</th>", escape(&column.heading))?;
    }
    out.write_str("</tr></thead>\n<tbody>\n")?;
    for (index, row) in table.rows.iter().enumerate() {
        out.write_str(if table.highlighted.contains(&index) { "<tr class=\"first\">" } else { "<tr>" })?;
        for (column, cell) in table.columns.iter().zip(row) {
            let class = match cell.as_str() {
                // The words of a verdict are told apart by colour as well.
                word @ ("pass" | "warn" | "fail") => format!(" class=\"{word}\""),
                _ if column.numeric => " class=\"number\"".to_owned(),
                _ => String::new(),
            };
            write!(out, "<td{class}>{}</td>", escape(cell))?;
        }
        out.write_str("</tr>\n")?;
    }
    out.write_str("</tbody>\n</table>\n</div>\n")
}

/// Parts of a whole with their description, and their numbers as a table.
fn parts(out: &mut String, drawn: &Bars, number: usize) -> fmt::Result {
    begin_figure(out, &bars::render_inline(drawn, number), &drawn.description)?;
    write!(out, "<div class=\"scroll\">\n<table>\n<caption>{}</caption>\n<tbody>\n", escape(&drawn.title))?;
    for row in drawn.table(false).rows {
        out.write_str("<tr>")?;
        for cell in row {
            write!(out, "<td>{}</td>", escape(&cell))?;
        }
        out.write_str("</tr>\n")?;
    }
    out.write_str("</tbody>\n</table>\n</div>\n</details>\n</figure>\n")
}

fn begin_figure(out: &mut String, drawn: &str, description: &str) -> fmt::Result {
    write!(
        out,
        "<figure>\n<div class=\"scroll\">\n{drawn}</div>\n<figcaption>{}</figcaption>\n\
         <details>\n<summary>The numbers of this figure</summary>\n",
        escape(description)
    )
}

/// A figure with its description, and its numbers as a table.
fn plotted(out: &mut String, drawn: &Figure, number: usize) -> fmt::Result {
    begin_figure(out, &figure::render_inline(drawn, number), &drawn.description)?;
    for panel in &drawn.panels {
        numbers(out, drawn, panel)?;
    }
    out.write_str("</details>\n</figure>\n")
}

fn numbers(out: &mut String, drawn: &Figure, panel: &Panel) -> fmt::Result {
    let caption = format!("{}, {}", drawn.title, panel.y.label);
    write!(
        out,
        "<div class=\"scroll\">\n<table>\n<caption>{}</caption>\n<thead><tr><th scope=\"col\" class=\"number\">{}</th>",
        escape(&caption),
        escape(drawn.x.label)
    )?;
    for series in &panel.series {
        write!(out, "<th scope=\"col\" class=\"number\">{}</th>", escape(&series.name))?;
    }
    out.write_str("</tr></thead>\n<tbody>\n")?;
    let mut across: Vec<f64> =
        panel.series.iter().flat_map(|series| series.points.iter().map(|point| point.0)).collect();
    across.sort_by(f64::total_cmp);
    across.dedup();
    for x in across {
        write!(out, "<tr><th scope=\"row\" class=\"number\">{}</th>", escape(&drawn.x.unit.show(x)))?;
        for series in &panel.series {
            let there = series.points.iter().find(|point| point.0 == x);
            let shown = there.map(|point| panel.y.unit.show(point.1)).unwrap_or_default();
            write!(out, "<td class=\"number\">{}</td>", escape(&shown))?;
        }
        out.write_str("</tr>\n")?;
    }
    for mark in &panel.marks {
        let name = escape(&mark.name);
        let value = escape(&panel.value_of(mark, &drawn.x));
        let columns = panel.series.len().max(1);
        writeln!(out, "<tr><th scope=\"row\">{name}</th><td colspan=\"{columns}\">{value}</td></tr>")?;
    }
    out.write_str("</tbody>\n</table>\n</div>\n")
}

fn explanations(out: &mut String, explanations: &[Explanation]) -> fmt::Result {
    if explanations.is_empty() {
        return Ok(());
    }
    out.write_str("<h2>Formulas</h2>\n")?;
    for step in explanations {
        writeln!(
            out,
            "<h3>{}</h3>\n<p><code>{}</code></p>\n<p>{}</p>\n<p>Source: {}</p>",
            escape(step.quantity),
            escape(&step.formula),
            escape(&step.numbers),
            escape(step.source)
        )?;
    }
    Ok(())
}

fn notes(out: &mut String, notes: &[Note]) -> fmt::Result {
    if notes.is_empty() {
        return Ok(());
    }
    out.write_str("<h2>Notes</h2>\n<ul class=\"notes\">\n")?;
    for note in notes {
        let label = match note.severity {
            Severity::Info => "note",
            Severity::Warning => "warning",
            Severity::Error => "problem",
        };
        let hint = note.hint.as_ref().map(|hint| format!(" ({})", escape(hint))).unwrap_or_default();
        writeln!(
            out,
            "<li class=\"{label}\"><strong>{label}:</strong> {}{hint}</li>",
            escape(&note.message)
        )?;
    }
    out.write_str("</ul>\n")
}

/// Text that HTML would read as markup stands for itself; what it cannot carry is left out.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Axis, Column, Mark, Path, Place, Scale, Series, Unit};

    fn named(name: &str) -> Report {
        let mut report = Report::new("plan", Answer::No, name, &[1], &[1]).unwrap();
        let mut table = Table::new(name, &[Column::words("pool"), Column::number("workers")]);
        table.row([name.to_owned(), "7".to_owned()]);
        table.row(["fail".to_owned(), "8".to_owned()]);
        let figure = Figure {
            title: name.to_owned(),
            description: name.to_owned(),
            x: Axis { label: "time", unit: Unit::Seconds, scale: Scale::FromZero },
            panels: vec![Panel {
                y: Axis { label: "backlog", unit: Unit::Count, scale: Scale::FromZero },
                series: vec![Series {
                    name: name.to_owned(),
                    points: vec![(0.0, 5.0), (60.0, 0.0)],
                    path: Path::Straight,
                }],
                marks: vec![Mark { name: name.to_owned(), place: Place::X(30.0) }],
            }],
        };
        for part in ["one", "two"] {
            report.sections.push(Section::Heading(format!("{part} {name}")));
            report
                .sections
                .push(Section::Facts { title: "Answers", rows: vec![(name.to_owned(), name.to_owned())] });
            report.sections.push(Section::Table(table.clone()));
            report.sections.push(Section::Figure(figure.clone()));
        }
        report.notes.push(Note::error("x", name).with_hint(name));
        report.explanations.push(Explanation {
            quantity: "load",
            formula: name.to_owned(),
            numbers: name.to_owned(),
            source: "a < b",
        });
        report
    }

    /// The page as XML: elements without an end tag get one.
    fn parsed(page: &str) -> String {
        let body = page.strip_prefix("<!doctype html>\n").unwrap();
        let mut xml = String::new();
        for line in body.lines() {
            xml.push_str(line);
            if line.starts_with("<meta") || line.starts_with("<link") {
                xml.insert(xml.len() - 1, '/');
            }
            xml.push('\n');
        }
        xml
    }

    #[test]
    fn any_name_gives_a_page_that_is_well_formed_and_runs_nothing() {
        for name in ["plain", "<script>alert(1)</script>", "\" onload=\"x", "]]> & \u{7}\u{202e}", "'"] {
            let page = render(&named(name));
            let xml = parsed(&page);
            let document =
                roxmltree::Document::parse(&xml).unwrap_or_else(|error| panic!("{name}: {error}\n{xml}"));
            assert!(document.descendants().all(|node| !node.has_tag_name("script")));
            assert!(
                document.descendants().all(|node| node.attributes().all(|a| !a.name().starts_with("on")))
            );
        }
    }

    #[test]
    fn every_figure_has_its_numbers_and_every_id_is_there_once() {
        let page = parsed(&render(&named("x")));
        let document = roxmltree::Document::parse(&page).unwrap();
        let figures: Vec<_> = document.descendants().filter(|node| node.has_tag_name("figure")).collect();
        assert_eq!(figures.len(), 2);
        for figure in figures {
            let cells: Vec<_> = figure.descendants().filter(|node| node.has_tag_name("td")).collect();
            assert_eq!(cells.len(), 3, "two points and a mark");
            assert!(figure.descendants().any(|node| node.tag_name().name() == "svg"));
        }
        let mut ids: Vec<_> = document.descendants().filter_map(|node| node.attribute("id")).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((ids.len(), all), (6, 6));
        let links = document.descendants().filter_map(|node| node.attribute("href"));
        assert!(links.filter_map(|link| link.strip_prefix('#')).all(|id| ids.contains(&id)));
    }

    #[test]
    fn nothing_is_loaded_from_anywhere() {
        let page = render(&named("x"));
        for loads in ["src=", "url(", "@import", "http:", "https:"] {
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(loads);
            assert!(!found, "{loads}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}
