//! `--sweep rate=500:1500:100`: a command line for each value of one option.

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use whsize::units::{Exact, Ratio};

/// The most values: more rows than anybody reads are a slip in the step.
const MOST_VALUES: u64 = 1_000;

const FLAG: &str = "--sweep";

const ACCEPTED: &str = "a sweep is an option with its values, such as rate=500:1500:100 (from, to, step), \
                        wait=100ms,500ms,2s";

/// The commands that answer a sweep.
const COMMANDS: [&str; 4] = ["size", "drain", "layout", "simulate"];

/// Adds the option to the commands that have it. It is taken out of a command line before that is read, so it stands
/// there for the help and for completions.
pub(crate) fn with_option(command: clap::Command) -> clap::Command {
    let option = clap::Arg::new("sweep")
        .long("sweep")
        .value_name("OPTION=FROM:TO:STEP")
        .help("One answer for each value of an option, such as rate=500:1500:100 or rate=500,900")
        .help_heading("Output");
    COMMANDS.iter().fold(command, |command, name| {
        command.mut_subcommand(name, |subcommand| subcommand.arg(option.clone()))
    })
}

/// Refuses a sweep of a command that does not answer one.
pub(crate) fn check(command: &str) -> Result<()> {
    if !COMMANDS.contains(&command) {
        bail!("{FLAG} is of {}, not of {command}", COMMANDS.join(", "));
    }
    Ok(())
}

/// One option and the values that it takes in turn, as they would be typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sweep {
    /// The option without its dashes.
    pub(crate) option: String,
    /// Its values.
    pub(crate) values: Vec<String>,
    /// The rest of the command line.
    rest: Vec<OsString>,
}

impl Sweep {
    /// Takes the sweep out of a command line; `None` where there is none.
    pub(crate) fn of(arguments: &[OsString]) -> Result<Option<Self>> {
        let text = |argument: &OsString| argument.to_str().map(str::to_owned);
        let place = arguments.iter().position(|argument| {
            text(argument).is_some_and(|text| {
                text == FLAG || text.starts_with(FLAG) && text[FLAG.len()..].starts_with('=')
            })
        });
        let Some(place) = place else { return Ok(None) };
        let mut rest = arguments.to_vec();
        let flag = text(&rest.remove(place)).unwrap_or_default();
        let typed = match flag.split_once('=') {
            Some((_, typed)) => typed.to_owned(),
            None if place < rest.len() => text(&rest.remove(place)).unwrap_or_default(),
            None => bail!("{FLAG} has no value: {ACCEPTED}"),
        };
        let (option, range) = typed.split_once('=').with_context(|| format!("{FLAG} {typed}: {ACCEPTED}"))?;
        let option = option.trim_start_matches('-').to_owned();
        if option.is_empty() {
            bail!("{FLAG} {typed}: {ACCEPTED}");
        }
        let given = rest.iter().filter_map(text).any(|argument| {
            argument.strip_prefix("--").is_some_and(|name| name.split('=').next() == Some(option.as_str()))
        });
        if given {
            bail!("--{option} is given and swept as well; leave one of them out");
        }
        if rest.iter().filter_map(text).any(|argument| argument.split('=').next() == Some(FLAG)) {
            bail!("{FLAG} is given twice; one option can be swept at a time");
        }
        if reads_standard_input(&rest) {
            bail!(
                "standard input can be read once, and a sweep reads it for every value; save it to a file first"
            );
        }
        let values = values(range).with_context(|| format!("{FLAG} {typed}"))?;
        Ok(Some(Sweep { option, values, rest }))
    }

    /// The command line beside the sweep and the name of the program, as it was typed.
    pub(crate) fn arguments(&self) -> Vec<String> {
        self.rest.iter().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
    }

    /// The command line for one of the values.
    pub(crate) fn line(&self, value: &str) -> Vec<OsString> {
        let mut line = self.rest.clone();
        line.push(format!("--{}={value}", self.option).into());
        line
    }
}

/// Whether an argument stands for standard input.
fn reads_standard_input(arguments: &[OsString]) -> bool {
    arguments
        .iter()
        .any(|argument| argument == "-" || argument.to_str().is_some_and(|text| text.ends_with("=-")))
}

/// The values of `500:1500:100` or `500,900,1500`.
fn values(range: &str) -> Result<Vec<String>> {
    if !range.contains(':') {
        let listed: Vec<String> = range.split(',').map(str::trim).map(str::to_owned).collect();
        if listed.iter().any(String::is_empty) {
            bail!("there is an empty value; {ACCEPTED}");
        }
        if listed.len() as u64 > MOST_VALUES {
            bail!("it has {} values; {MOST_VALUES} are the most", listed.len());
        }
        return Ok(listed);
    }
    let parts: Vec<(Exact, &str)> = range.split(':').map(number).collect::<Result<_>>()?;
    let [(from, unit), (to, to_unit), (step, step_unit)] = parts.as_slice() else {
        bail!("it has {} parts where from, to and step are three; {ACCEPTED}", parts.len());
    };
    if unit != to_unit || unit != step_unit {
        bail!("from, to and step must have one unit; write 100ms:2000ms:100ms");
    }
    if step.is_zero() {
        bail!("the step is zero, so it never ends; give one above zero");
    }
    let Some(span) = to.minus(from) else {
        bail!("it ends below its beginning; write the smaller value first");
    };
    let steps = span.over(step).and_then(|steps| steps.floor()).unwrap_or(u64::MAX);
    if steps >= MOST_VALUES {
        bail!("it has more than {MOST_VALUES} values; give a larger step");
    }
    let at = |index: u64| from + &(step * &Exact::whole(index.into()));
    Ok((0..=steps).map(|index| format!("{}{unit}", at(index).to_f64())).collect())
}

/// A plain decimal and the unit behind it.
fn number(typed: &str) -> Result<(Exact, &str)> {
    let typed = typed.trim();
    let length = typed.find(|sign: char| !sign.is_ascii_digit() && sign != '.').unwrap_or(typed.len());
    let (number, unit) = typed.split_at(length);
    let exponent = unit.strip_prefix(['e', 'E']).is_some_and(|rest| {
        rest.trim_start_matches(['+', '-']).starts_with(|sign: char| sign.is_ascii_digit())
    });
    if number.is_empty() || exponent {
        bail!(
            "\"{typed}\": a range is of plain decimals from zero on, without a sign or an exponent, such as 1.5 or 100ms"
        );
    }
    let number: Ratio = number.parse().with_context(|| format!("\"{typed}\" begins with no number"))?;
    Ok((number.exact().clone(), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(line: &str) -> Result<Option<Sweep>> {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        Sweep::of(&arguments)
    }

    #[test]
    fn a_range_is_walked_in_exact_steps_to_its_end() {
        assert_eq!(values("500:1500:250").unwrap(), ["500", "750", "1000", "1250", "1500"]);
        assert_eq!(values("0.1:0.5:0.1").unwrap(), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(values("100ms:450ms:200ms").unwrap(), ["100ms", "300ms"]);
        assert_eq!(values("5%:15%:5%").unwrap(), ["5%", "10%", "15%"]);
        assert_eq!(values("7:7:1").unwrap(), ["7"]);
        assert_eq!(values("500, 54000/min").unwrap(), ["500", "54000/min"]);
    }

    #[test]
    fn what_is_no_range_is_refused_with_the_reason() {
        for (range, reason) in [
            ("5:1:1", "ends below its beginning"),
            ("1:5:0", "the step is zero"),
            ("1:5", "2 parts"),
            ("1ms:5s:1ms", "one unit"),
            ("x:5:1", "plain decimals"),
            ("1:1e9:1", "without a sign or an exponent"),
            ("-5:5:1", "without a sign"),
            ("0:1000:1", "more than 1000 values"),
            ("1,,2", "empty value"),
        ] {
            let error = format!("{:#}", values(range).unwrap_err());
            assert!(error.contains(reason), "{range}: {error}");
        }
    }

    #[test]
    fn the_sweep_leaves_the_rest_of_the_line_alone() {
        let found = sweep("whsize size --sweep rate=1:3:1 --mean 2").unwrap().unwrap();
        assert_eq!(found.values, ["1", "2", "3"]);
        assert_eq!(found.line("2"), ["whsize", "size", "--mean", "2", "--rate=2"]);
        assert_eq!(sweep("whsize size --mean 2 --sweep=rate=1:3:1").unwrap().unwrap(), found);
        assert_eq!(sweep("whsize size --rate 3").unwrap(), None);
        for line in [
            "whsize size --rate 3 --sweep rate=1:3:1",
            "whsize size --rate=3 --sweep rate=1:3:1",
            "whsize size --sweep rate=1:3:1 --sweep mean=1:2:1",
            "whsize size --profile - --sweep rate=1:3:1",
            "whsize size --profile=- --sweep rate=1:3:1",
            "whsize size --sweep",
            "whsize size --sweep rate",
            "whsize size --sweep =1:2:1",
        ] {
            assert!(sweep(line).is_err(), "{line}");
        }
    }
}
