//! Errors of the command line.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Error};

use super::Arguments;

/// Commands of other tools, each with what to write instead.
const FOREIGN_COMMANDS: [(&str, &str); 7] = [
    ("plan", SHOW),
    ("check", SHOW),
    ("diff", "ccm apply --noop --diff MANIFEST"),
    ("run", APPLY),
    ("converge", APPLY),
    ("agent", APPLY),
    ("playbook", APPLY),
];
const SHOW: &str = "ccm apply --noop MANIFEST";
const APPLY: &str = "ccm apply MANIFEST";

/// Returns an error of clap as ccm shows it.
pub(crate) fn adapt(error: Error) -> Error {
    with_own_command(without_value(error))
}

/// Adds the command of ccm to the error about a command of another tool, instead of one with a similar name.
fn with_own_command(mut error: Error) -> Error {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    let Some((_, instead)) = FOREIGN_COMMANDS.iter().find(|(foreign, _)| foreign == name) else {
        return error;
    };
    // `ccm backup diff` is an error about the commands of `ccm backup`.
    if is_below_a_command() {
        return error;
    }
    let hint = match *instead {
        APPLY => format!("write `{APPLY}`, or `{SHOW}` to change nothing"),
        instead => format!("write `{instead}` to show what would change"),
    };
    error.remove(ContextKind::SuggestedSubcommand);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

/// Returns `true` if the command line has a command of ccm.
fn is_below_a_command() -> bool {
    let matches = Arguments::command().ignore_errors(true).try_get_matches();
    matches.is_ok_and(|matches| matches.subcommand().is_some())
}

/// Removes a possible value from the error about an unknown argument: `password=…` may have lost its
/// `--data`, and a word behind `--data password=a` may be the rest of a value without quotes.
fn without_value(mut error: Error) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    // The suggestion of clap, to put `--` before the argument, does not help here.
    error.remove(ContextKind::Suggested);
    let shown = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(argument)) => match argument.split_once('=') {
            Some((key, _)) => Some(format!("{key}=…")),
            None => (!argument.starts_with('-') && takes_values()).then(|| "…".to_owned()),
        },
        _ => None,
    };
    if let Some(shown) = shown {
        let why = "the argument may be part of a value, so it is not shown; quote a value with blanks: --data 'motd=a b'";
        error.insert(ContextKind::InvalidArg, ContextValue::String(shown));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![why.into()]));
    }
    error
}

/// Returns `true` if the command line sets values, as far as it can be read.
fn takes_values() -> bool {
    let Ok(matches) = Arguments::command().ignore_errors(true).try_get_matches() else { return true };
    let mut matches = &matches;
    while let Some((_, inner)) = matches.subcommand() {
        matches = inner;
    }
    ["data", "fact", "given"].into_iter().any(|id| matches!(matches.try_contains_id(id), Ok(true)))
}
