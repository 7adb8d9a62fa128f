//! `--plot [FILE.svg]`: a figure in the report, or written to a file.

use super::output::Output;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use whsize::report::{self, Figure, Report, Section};

#[derive(clap::Args, Debug)]
pub(crate) struct Plot {
    /// Plot the answer: in the report, or as SVG into this file
    #[arg(long = "plot", value_name = "FILE.svg", num_args = 0..=1, value_parser = svg_file, help_heading = "Output")]
    file: Option<Option<PathBuf>>,
}

/// A name that says what is written there, so that an input that stands behind `--plot` is never overwritten.
fn svg_file(typed: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(typed);
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("svg") => Ok(path),
        _ => Err(format!("\"{typed}\": a figure is written to a file whose name ends in .svg")),
    }
}

impl Plot {
    /// Adds the figure if one is asked for.
    pub(crate) fn add(&self, report: &mut Report, figure: impl FnOnce() -> Figure) {
        if self.file.is_some() {
            report.sections.push(Section::Figure(figure()));
        }
    }

    /// Whether a figure is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the figure to its file, if it goes there, and says so.
    pub(crate) fn write(&self, report: &mut Report, output: &Output) -> Result<()> {
        match &self.file {
            None => Ok(()),
            Some(None) if output.is_for_people() => Ok(()),
            Some(None) => bail!(
                "--plot draws in the report; beside --format json or --only give it a file: --plot FILE.svg"
            ),
            Some(Some(path)) => {
                for figure in report.take_figures() {
                    std::fs::write(path, report::render_svg(&figure))
                        .with_context(|| format!("writing the figure to {}", path.display()))?;
                    output.remark(&format!("figure written to {}", path.display()));
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_name_of_a_figure_is_taken() {
        assert!(svg_file("out/plot.SVG").is_ok());
        for typed in ["samples.csv", "svg", "", ".svg"] {
            assert!(svg_file(typed).is_err(), "{typed}");
        }
    }
}
