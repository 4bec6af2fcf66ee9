//! Errors of git: the lines that matter among those that git, ssh and the server print, and what can be done.

mod advice;

use std::path::Path;

use ccm_host::Finished;
use ccm_model::{Failure, FailureKind, Stream};

use crate::support::output_tail::{tail, text};
use crate::support::program::ErrorLines;
use advice::advice;

/// Maximum number of files that an error names.
const MAX_FILES: usize = 3;

/// Errors of git, each of which is printed with its cause.
pub(super) const ERRORS: ErrorLines = ErrorLines { of_line: error, max: 4, is_last: false };

/// What comes before an error.
const MARKS: [&str; 6] =
    ["fatal: ", "error: ", "remote: error: ", "remote: fatal: ", "remote: ERROR: ", "ERROR: "];

/// Errors that only follow from another one, which is printed beside them.
const FOLLOWING: [&str; 6] = [
    "Could not read from remote repository",
    "git upload-pack: not our ref",
    "the remote end hung up unexpectedly",
    "unpack-objects failed",
    "fetch-pack: invalid index-pack output",
    "/bin/false",
];

/// Errors of ssh, which have no mark.
const OF_SSH: [&str; 6] = [
    ": Permission denied (",
    "Host key verification failed",
    "host key is known for",
    "has changed and you have requested strict checking",
    "kex_exchange_identification: ",
    "ssh: ",
];

/// Lines that git adds to many errors, and that say nothing about this one.
const BOILERPLATE: [&str; 20] = [
    "Please make sure you have the correct access rights",
    "and the repository exists.",
    "Please commit your changes or stash them",
    "Please move or remove them",
    "Aborting",
    "Cloning into ",
    "To add an exception for this directory",
    "git config --global --add safe.directory ",
    "'git remote prune origin' to remove any old",
    "Another git process seems to be running",
    "an editor opened by 'git commit'",
    "are terminated then try again",
    "may have crashed in this repository earlier",
    "remove the file manually to continue",
    "hint: ",
    "remote: Enumerating objects",
    "remote: Counting objects",
    "remote: Compressing objects",
    "remote: Total ",
    "warning: ",
];

/// Returns the error in a line.
fn error(line: &str) -> Option<&str> {
    if FOLLOWING.into_iter().any(|following| line.contains(following)) {
        return None;
    }
    if let Some((_, cause)) = line.split_once(": errno=") {
        return Some(cause);
    }
    let error = MARKS.into_iter().find_map(|mark| line.strip_prefix(mark));
    let error = error.map(|error| error.strip_suffix("; try running").unwrap_or(error));
    error.or_else(|| OF_SSH.into_iter().any(|sign| line.contains(sign)).then_some(line))
}

/// Returns an error that only follows from another one.
fn following(line: &str) -> Option<&str> {
    MARKS.into_iter().find_map(|mark| line.strip_prefix(mark)).filter(|error| !error.contains("/bin/false"))
}

/// Adds advice to the failure of git, and what it printed besides the error.
pub(super) fn explained(mut failure: Failure, directory: &Path, finished: &Finished) -> Failure {
    if failure.kind == FailureKind::Timeout {
        return failure.with_hint("check the network and the server, or raise `timeout`");
    }
    if failure.kind != FailureKind::Exit {
        return failure;
    }
    let printed = text(&finished.stderr);
    if failure.chain.len() == 1 {
        let found = printed.lines().map(str::trim).find_map(following);
        failure.chain.extend(found.map(|error| error.trim_end_matches('.').to_owned()));
    }
    for error in failure.chain.iter_mut().skip(1).filter(|error| error.ends_with(':')) {
        *error = with_files(error, &printed);
    }
    if printed.lines().map(str::trim).any(|line| is_detail(line, &failure.chain)) {
        failure.output.extend(tail(Stream::Stderr, &finished.stderr));
    }
    match advice(&printed, directory) {
        Some((message, hint)) => failure.because_of(message).with_hint(hint),
        None => failure,
    }
}

/// Returns `true` for a line that says more than the errors that are quoted.
fn is_detail(line: &str, chain: &[String]) -> bool {
    let said = MARKS.into_iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
    let is_said = |error: &String| said.contains(&**error) || error.contains(said);
    let is_known = |known: &[&str]| known.iter().any(|known| line.contains(known));
    !line.is_empty() && !is_known(&FOLLOWING) && !is_known(&BOILERPLATE) && !chain.iter().any(is_said)
}

/// Returns an error before a list of files, with the first of them.
fn with_files(error: &str, printed: &str) -> String {
    let after = printed.lines().skip_while(|line| !line.trim().ends_with(error)).skip(1);
    let files: Vec<&str> =
        after.take_while(|line| line.starts_with('\t')).take(MAX_FILES + 1).map(str::trim).collect();
    match files.get(..MAX_FILES) {
        _ if files.is_empty() => error.trim_end_matches(':').to_owned(),
        Some(first) if files.len() > MAX_FILES => format!("{error} {}, …", first.join(", ")),
        _ => format!("{error} {}", files.join(", ")),
    }
}

#[cfg(test)]
mod tests;
