//! Errors of git: the lines that matter among those that git, ssh and the server print, and what can be done.

use std::path::Path;

use ccm_fetch::{git_advice, git_error, git_following_error, is_git_detail};
use ccm_host::Finished;
use ccm_model::{Failure, FailureKind, Stream};

use crate::support::output_tail::{tail, text};
use crate::support::program::ErrorLines;

/// Maximum number of files that an error names.
const MAX_FILES: usize = 3;

/// Errors of git, each of which is printed with its cause.
pub(super) const ERRORS: ErrorLines = ErrorLines { of_line: git_error, max: 4, is_last: false };

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
        let found = printed.lines().map(str::trim).find_map(git_following_error);
        failure.chain.extend(found.map(|error| error.trim_end_matches('.').to_owned()));
    }
    for error in failure.chain.iter_mut().skip(1).filter(|error| error.ends_with(':')) {
        *error = with_files(error, &printed);
    }
    if printed.lines().map(str::trim).any(|line| is_git_detail(line, &failure.chain)) {
        failure.output.extend(tail(Stream::Stderr, &finished.stderr));
    }
    match git_advice(&printed, directory) {
        Some((message, hint)) => failure.because_of(message).with_hint(hint),
        None => failure,
    }
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
