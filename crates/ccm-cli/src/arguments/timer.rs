//! Arguments of `ccm timer`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_runtime::process::absolute;
use ccm_runtime::timer::{FailureAction, Schedule, SummaryFormat, TimerName, TimerNameError};
use clap::builder::ValueHint;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, CommandFactory as _, Subcommand};

#[cfg(feature = "archive")]
use super::NO_SIGNERS;
use super::parsers::wait;
use super::{ApplyArguments, Arguments, OutputArguments};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum TimerCommand {
    /// Install a systemd timer that applies a manifest regularly
    Install(Box<TimerInstallArguments>),
    /// List the timers, each with its state, its next and its last run
    List(TimerListArguments),
    /// Turn a timer of the package's unit ccm-apply@NAME.timer into one of ccm
    Migrate(TimerMigrateArguments),
    /// Stop and remove a timer
    Remove(TimerRemoveArguments),
    /// Hand a summary of a service that failed to a command; systemd calls this for `on_failure`
    Notify(TimerNotifyArguments),
}

const INSTALL_EXAMPLES: &str = "\
Examples:
  ccm timer install /etc/ccm/site.yaml             apply it every half hour
  ccm timer install site.yaml --noop               show the units
  ccm timer install site.yaml --every 1d --jitter 1h --data role=web
  ccm timer install site.yaml --credential db=/etc/ccm/secrets/db --on-failure notify@%n.service
  ccm timer install ~/desktop.yaml --user          with your own user's systemd
  ccm timer install --from https://example.com/base.release --signers /etc/ccm/signers

All options of `ccm apply` that suit a timer are passed on to it. Relative paths become absolute.

Documentation: /usr/share/doc/ccm/use/timer.md, or docs/use/timer.md";

const LIST_EXAMPLES: &str = "\
Examples:
  ccm timer list
  ccm timer list --user --output json

Documentation: /usr/share/doc/ccm/use/timer.md, or docs/use/timer.md";

const MIGRATE_EXAMPLES: &str = "\
Examples:
  ccm timer migrate site --noop     show what would be written and run for ccm-apply@site.timer
  ccm timer migrate site

The new timer has the drop-ins and options of the old one. A migration that fails leaves both as they were.

Documentation: /usr/share/doc/ccm/use/timer.md, or docs/use/timer.md";

const NOTIFY_EXAMPLES: &str = "\
The summary has how the service ended, and the last 40 lines that it printed. If systemd says that the
service succeeded, nothing happens; called by hand, the summary is a test.

Examples:
  ccm timer notify backup.service mail -s \"backup failed\" root
  ccm timer notify --format json backup.service curl --config /etc/ccm/chat

Documentation: /usr/share/doc/ccm/use/timer.md, or docs/use/timer.md in the source";

const REMOVE_EXAMPLES: &str = "\
Examples:
  ccm timer remove site

A run that is going on ends by itself.

Documentation: /usr/share/doc/ccm/use/timer.md, or docs/use/timer.md";

const MANIFEST: &str = "Manifest, a YAML file";
const EVENTS_FILE: &str = "Also append the events to this file, a line of JSON each";
const KEEP_RUNS: &str =
    "Number of recorded runs to keep, and of older runs that changed something or failed [default: 50]";
const NOOP: &str = "Show the units that would be written, and change nothing";
const TIMEOUT: &str =
    "End a run after this time, such as 10m [default: two thirds of the time between two runs]";
const LOCK_WAIT: &str =
    "Time to wait for another run to end [default: a sixth of the time between two runs, at most 5m]";

/// Options of `ccm apply` for a person at a terminal.
pub(crate) const NOT_FOR_TIMERS: [&str; 9] =
    ["quiet", "render", "verify_idempotent", "json", "output", "confirm", "plan_out", "plan", "require_plan"];

#[derive(Debug, Args)]
#[command(
    after_help = INSTALL_EXAMPLES,
    mut_arg("noop", |noop| noop.help(NOOP)),
    mut_arg("timeout", |timeout| timeout.help(TIMEOUT)),
    mut_arg("lock_wait", |lock_wait| lock_wait.help(LOCK_WAIT)),
    mut_arg("manifests", |manifest| manifest.help(MANIFEST).num_args(1).action(ArgAction::Set)),
    mut_arg("events_file", |file| file.help(EVENTS_FILE)),
    mut_arg("keep_runs", |runs| runs.help(KEEP_RUNS)),
    mut_arg("quiet", |argument| argument.hide(true)),
    mut_arg("honour_pause", |argument| argument.hide(true)),
    mut_arg("confirm", |argument| argument.hide(true)),
    mut_arg("render", |argument| argument.hide(true)),
    mut_arg("plan_out", |argument| argument.hide(true)),
    mut_arg("plan", |argument| argument.hide(true)),
    mut_arg("require_plan", |argument| argument.hide(true)),
    mut_arg("verify_idempotent", |argument| argument.hide(true)),
    mut_arg("output", |argument| argument.hide(true)),
    mut_arg("json", |argument| argument.hide(true)),
)]
pub(crate) struct TimerInstallArguments {
    /// Time between two runs, such as 15m, 2h or 1d; it divides a day, or is 7d
    #[arg(long, value_name = "DURATION", default_value = "30m", value_parser = schedule)]
    pub every: Schedule,

    /// Delay runs by up to this time; each machine has its own fixed delay
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = wait,
        help = "Delay runs by up to this time; each machine has its own fixed delay [default: a sixth of --every, at \
                most 5m]"
    )]
    pub jitter: Option<Duration>,

    /// Use the systemd of the user who runs ccm instead of that of the system
    #[arg(long)]
    pub user: bool,

    /// Name of the timer; without it, the name of the manifest
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub name: Option<TimerName>,

    /// Hand this file to the runs as the value of credential('NAME'); repeatable
    #[arg(long, value_name = "NAME=PATH", value_parser = credential)]
    pub credential: Vec<(String, PathBuf)>,

    /// Start this unit of systemd after a run that failed, such as notify@%n.service, or hand a summary to this command;
    /// repeatable
    #[arg(long, value_name = "UNIT|COMMAND", value_parser = failure_action)]
    pub on_failure: Vec<FailureAction>,

    /// Form of the summary for commands
    #[arg(long, value_name = "FORMAT", value_parser = summary_format, default_value = "text", requires = "on_failure")]
    pub on_failure_format: SummaryFormat,

    /// Replace units that were edited, and a timer of this name for another manifest
    #[arg(long)]
    pub force: bool,

    #[command(flatten)]
    pub apply: ApplyArguments,
}

#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct TimerListArguments {
    /// List the timers of the user who runs ccm
    #[arg(long)]
    pub user: bool,

    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
#[command(after_help = MIGRATE_EXAMPLES)]
pub(crate) struct TimerMigrateArguments {
    /// Name of the timer: `site` for ccm-apply@site.timer
    #[arg(value_name = "TEMPLATE_TIMER", value_parser = name)]
    pub name: TimerName,

    /// Show what would be written and run, and change nothing
    #[arg(short = 'n', long, aliases = ["dry-run", "check"])]
    pub noop: bool,

    /// Replace a timer of ccm with this name that has other settings
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = REMOVE_EXAMPLES)]
pub(crate) struct TimerRemoveArguments {
    /// Timer to remove
    #[arg(value_name = "TIMER", value_parser = name)]
    pub name: TimerName,

    /// Remove a timer of the user who runs ccm
    #[arg(long)]
    pub user: bool,

    /// Remove units also if they were edited
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
#[command(after_help = NOTIFY_EXAMPLES)]
pub(crate) struct TimerNotifyArguments {
    /// Form of the summary: text, or json for an object whose `text` has the lines
    #[arg(long, value_name = "FORMAT", value_parser = summary_format, default_value = "text")]
    pub format: SummaryFormat,

    /// The service is one of the user who runs ccm
    #[arg(long)]
    pub user: bool,

    /// Service that failed
    #[arg(value_name = "UNIT")]
    pub unit: String,

    /// Command that gets the summary on its standard input
    #[arg(value_name = "COMMAND", num_args = 1.., required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<String>,
}

fn schedule(text: &str) -> Result<Schedule, String> {
    let meant = |error| match Schedule::meant_by(text) {
        Some(hint) => format!("`{text}` is not a duration; {hint}"),
        None => error,
    };
    Schedule::every(wait(text).map_err(meant)?).map_err(|error| format!("{error}; {}", error.hint()))
}

fn name(text: &str) -> Result<TimerName, String> {
    text.parse().map_err(|error: TimerNameError| {
        let of_manifest = TimerName::of_manifest(Path::new(text)).ok().filter(|_| text.contains('/'));
        of_manifest.map_or_else(|| error.to_string(), |name| format!("{error}; its timer may be `{name}`"))
    })
}

fn credential(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("write NAME=PATH, such as db=/etc/ccm/secrets/db")?;
    Ok((name.to_owned(), PathBuf::from(path)))
}

fn failure_action(text: &str) -> Result<FailureAction, String> {
    FailureAction::parse(text).map_err(|error| error.to_string())
}

fn summary_format(text: &str) -> Result<SummaryFormat, String> {
    SummaryFormat::parse(text).ok_or_else(|| format!("expected {}", SummaryFormat::NAMES.join(" or ")))
}

/// Returns the options of `ccm apply` on the command line of this process, with absolute paths. A value that is not
/// UTF-8 can't be written into a unit, and is the error.
pub(crate) fn options_of_apply() -> Result<Vec<String>, String> {
    let command = Arguments::command();
    // The command line was parsed before.
    let Ok(matches) = command.clone().try_get_matches() else { return Ok(Vec::new()) };
    let install = ["timer", "install"];
    let matches = install.iter().try_fold(&matches, |matches, name| matches.subcommand_matches(name));
    let Some(matches) = matches else { return Ok(Vec::new()) };
    options(&ApplyArguments::augment_args(Command::new("apply")), matches)
}

/// Returns the options of a command that were given for it.
fn options(command: &Command, matches: &ArgMatches) -> Result<Vec<String>, String> {
    let mut options = Vec::new();
    for option in command.get_arguments() {
        let id = option.get_id().as_str();
        let is_passed_on = !["noop", "honour_pause"].contains(&id) && !NOT_FOR_TIMERS.contains(&id);
        let is_given = matches.value_source(id) == Some(ValueSource::CommandLine);
        let Some(long) = option.get_long().filter(|_| is_passed_on && is_given) else { continue };
        if !option.get_action().takes_values() {
            options.push(format!("--{long}"));
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let text = value.to_str().ok_or_else(|| format!("a value of --{long} is not UTF-8 text"))?;
            let value = match id {
                "from" if !text.contains("://") => absolute_path(text),
                #[cfg(feature = "archive")]
                "signers" if text == NO_SIGNERS => text.to_owned(),
                _ => absolute_value(option, text),
            };
            options.extend([format!("--{long}"), value]);
        }
    }
    Ok(options)
}

/// Returns a value of an option. The service has another working directory, so a path becomes absolute.
fn absolute_value(option: &Arg, text: &str) -> String {
    let is_path = !matches!(option.get_value_hint(), ValueHint::Unknown | ValueHint::Other);
    if is_path { absolute_path(text) } else { text.to_owned() }
}

fn absolute_path(text: &str) -> String {
    let path = absolute(Path::new(text)).ok();
    path.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_apply_are_passed_on_with_absolute_paths() {
        let root = Arguments::command();
        let here = absolute(Path::new(".")).expect("a directory");
        let here = here.to_str().expect("a path in UTF-8");
        for (line, expected) in [
            ("site.yaml", Vec::new()),
            ("site.yaml --every 1h --jitter 1m --user --name x --force -n", Vec::new()),
            ("--data a=1 site.yaml --data b=2", vec!["--data", "a=1", "--data", "b=2"]),
            (
                "site.yaml --facts f.yaml --hiera=/d.yaml",
                vec!["--facts", "[here]/f.yaml", "--hiera", "/d.yaml"],
            ),
            ("site.yaml --hiera d.yaml", vec!["--hiera", "[here]/d.yaml"]),
            (
                "site.yaml --state-dir s --events-file e",
                vec!["--state-dir", "[here]/s", "--events-file", "[here]/e"],
            ),
            ("site.yaml --skip file#/a", vec!["--skip", "file#/a"]),
            #[cfg(feature = "archive")]
            (
                "--from base.release --signers people",
                vec!["--from", "[here]/base.release", "--signers", "[here]/people"],
            ),
            #[cfg(feature = "archive")]
            (
                "--from git+https://example.com/site.git#main --signers none --allow-rewind --root 0123",
                vec![
                    "--from",
                    "git+https://example.com/site.git#main",
                    "--signers",
                    "none",
                    "--allow-rewind",
                    "--root",
                    "0123",
                ],
            ),
            #[cfg(feature = "archive")]
            (
                "--from https://example.com/base.release --signers /people web.yaml",
                vec!["--from", "https://example.com/base.release", "--signers", "/people"],
            ),
            ("site.yaml --only file#/a --fail-on-error", vec!["--only", "file#/a", "--fail-on-error"]),
            (
                "site.yaml --timeout 10m --keep-runs 3 --diff",
                vec!["--diff", "--timeout", "10m", "--keep-runs", "3"],
            ),
            ("site.yaml --max-manifest-size 1M --no-env", vec!["--no-env", "--max-manifest-size", "1M"]),
        ] {
            let words = ["ccm", "timer", "install"].into_iter().chain(line.split(' '));
            let matches = root.clone().try_get_matches_from(words).expect("a valid command line");
            let matches =
                matches.subcommand_matches("timer").and_then(|timer| timer.subcommand_matches("install"));
            let command = ApplyArguments::augment_args(Command::new("apply"));
            let mut found = options(&command, matches.expect("the command")).expect("options");
            for option in &mut found {
                *option = option.replace(here, "[here]");
            }
            found.sort();
            let mut expected: Vec<String> = expected.into_iter().map(str::to_owned).collect();
            expected.sort();
            assert_eq!(found, expected, "{line}");
        }
    }
}
