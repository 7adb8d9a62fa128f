//! Shell completions and man pages, for packagers and for whoever wants them in a shell's start-up file.

use anyhow::{Context, Result, bail};
use clap_complete::Shell;
use clap_mangen::roff::{Roff, roman};
use whsize::units::words;

/// Print completions for a shell
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  source <(whsize completions bash)
  whsize completions zsh > ~/.zfunc/_whsize
  whsize completions fish > ~/.config/fish/completions/whsize.fish")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn text(&self, mut program: clap::Command) -> Result<String> {
        let mut out = Vec::new();
        clap_complete::generate(self.shell, &mut program, "whsize", &mut out);
        String::from_utf8(out).context("completions are text")
    }
}

/// Print the manual page, of the program or of one command
#[derive(clap::Args, Debug)]
#[command(after_help = "Examples:
  whsize man > whsize.1
  whsize man size | man -l -
  whsize man autoscale replay > whsize-autoscale-replay.1")]
pub(crate) struct Man {
    /// The command, such as size or autoscale replay; without one, the program
    command: Vec<String>,
}

impl Man {
    pub(crate) fn text(&self, mut program: clap::Command) -> Result<String> {
        program.build();
        let mut page = &program;
        // Also as the page is called: autoscale-replay.
        let steps: Vec<&str> = self.command.iter().flat_map(|name| name.split('-')).collect();
        for step in &steps {
            let Some(command) = page.find_subcommand(step) else {
                let asked = self.command.join(" ");
                bail!("there is no command \"{}\"; whsize --help lists them", words::shortened(&asked));
            };
            page = command;
        }
        let title = std::iter::once("whsize").chain(steps).collect::<Vec<_>>().join("-");
        let source = format!("whsize {}", env!("CARGO_PKG_VERSION"));
        let help = page.get_after_help().map(ToString::to_string).unwrap_or_default();
        let page = clap_mangen::Man::new(page.clone().display_name(&title)).title(title).source(source);
        let mut out = Vec::new();
        page.render(&mut out).context("writing the page")?;
        let text = String::from_utf8(out).context("a manual page is text")?;
        Ok(with_lines_kept(&text, &help))
    }
}

/// The page with the text below the options as it stands, where it would be filled to one paragraph.
fn with_lines_kept(page: &str, help: &str) -> String {
    const EXTRA: &str = ".SH EXTRA\n";
    let Some((before, rest)) = page.split_once(EXTRA) else { return page.to_owned() };
    let after = rest.find("\n.SH ").map_or("", |end| &rest[end + 1..]);
    let (said, examples) = help.split_once("Examples:\n").unwrap_or((help, ""));
    let mut own = Roff::new();
    for (heading, text) in [("NOTES", said), ("EXAMPLES", examples)] {
        if !text.trim().is_empty() {
            own.control("SH", [heading]).control("nf", []);
            own.text(text.trim_end().lines().flat_map(|line| [roman(line), roman("\n")]).collect::<Vec<_>>());
            own.control("fi", []);
        }
    }
    format!("{before}{}{after}", own.to_roff())
}
