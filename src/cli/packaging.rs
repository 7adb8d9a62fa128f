//! Shell completions and man pages, for packagers and for whoever wants them in a shell's start-up file.

use anyhow::{Context, Result, bail};
use clap_complete::Shell;

/// Print completions for a shell
#[derive(clap::Args, Debug)]
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
pub(crate) struct Man {
    /// The command; without one, the program
    command: Option<String>,
}

impl Man {
    pub(crate) fn text(&self, mut program: clap::Command) -> Result<String> {
        program.build();
        let page = match &self.command {
            None => program,
            Some(name) => match program.find_subcommand(name) {
                Some(command) => command.clone().display_name(format!("whsize-{name}")),
                None => bail!("there is no command \"{name}\"; whsize --help lists them"),
            },
        };
        let mut out = Vec::new();
        clap_mangen::Man::new(page).render(&mut out).context("writing the page")?;
        String::from_utf8(out).context("a manual page is text")
    }
}
