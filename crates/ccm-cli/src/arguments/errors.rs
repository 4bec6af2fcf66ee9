//! Errors of the command line.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Error};

use super::Arguments;

/// Removes a possible value from the error about an unknown argument: `password=…` may have lost its
/// `--data`, and a word behind `--data password=a` may be the rest of a value without quotes.
pub(crate) fn without_value(mut error: Error) -> Error {
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
