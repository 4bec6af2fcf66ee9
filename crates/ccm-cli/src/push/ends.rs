//! Texts about the end of a host.

use ccm_push::{EndCause, TranscriptError};
use ccm_runtime::model::{Outcome, Transaction, escape_control};

use ccm_runtime::process::Exit;

use super::{HostResult, PushedHost};

/// Maximum number of characters of a line of a host in messages.
const MAX_LINE: usize = 300;

/// Line about the end of a host without a run.
pub(super) enum EndDetail {
    /// Words of the host.
    Line(String),
    /// Advice.
    Hint(String),
}

/// Returns the codes of requests for an approval.
pub(super) fn codes(transactions: &[Transaction]) -> Vec<String> {
    let mut codes = Vec::new();
    for transaction in transactions {
        if let Outcome::Failed(failure) = &transaction.outcome
            && let Some(intent) = &failure.intent
        {
            // The name of a request begins with its code.
            let code = intent.0.split('-').next().unwrap_or_default();
            let is_code =
                (1..=40).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if is_code && !codes.iter().any(|known| known == code) {
                codes.push(code.to_owned());
            }
        }
    }
    codes
}

/// Returns the result in a few words, such as `3 changed, 1 failed`.
pub(super) fn in_short(result: &HostResult, is_noop: bool) -> String {
    match (&result.cause, result.counts()) {
        (EndCause::Ran(_), Some(counts)) => {
            let failed = counts.failed.saturating_add(counts.unmet);
            let changed = counts.changed.saturating_add(counts.refreshed);
            let changed_word = if is_noop { "would change" } else { "changed" };
            let parts = [(changed, changed_word), (failed, "failed")];
            let parts: Vec<_> = parts.iter().filter(|(count, _)| *count > 0).collect();
            match &parts[..] {
                [] if result.has_failed() => "ended early".to_owned(),
                [] => "unchanged".to_owned(),
                parts => {
                    parts.iter().map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
                }
            }
        }
        (EndCause::Unreachable, _) => "not reached".to_owned(),
        (cause, _) => format!("failed: {}", message(cause)),
    }
}

/// Returns a name of the reason for programs.
pub(super) fn kind(cause: &EndCause) -> &'static str {
    match cause {
        EndCause::Ran(_) => "ran",
        EndCause::Refused => "refused",
        EndCause::Unreachable => "unreachable",
        EndCause::NoProgram => "no_program",
        EndCause::NoSudo => "no_sudo",
        EndCause::SudoRefused => "sudo_refused",
        EndCause::WrongPassword => "wrong_password",
        EndCause::OtherArchitecture(_) => "other_architecture",
        EndCause::NotInstalled => "not_installed",
        EndCause::NotReady(_) => "not_ready",
        EndCause::Transcript(TranscriptError::OtherProtocol(_)) => "other_protocol",
        EndCause::Transcript(TranscriptError::Rubbish(_)) => "rubbish",
        EndCause::Transcript(_) => "too_much",
        EndCause::Died(_) => "died",
        EndCause::Left => "left",
        EndCause::NoStart(_) => "no_start",
    }
}

/// Returns the reason as a clause.
pub(super) fn message(cause: &EndCause) -> String {
    match cause {
        EndCause::Ran(code) => format!("the run ended with exit code {code}"),
        EndCause::Refused => "nothing was run".to_owned(),
        EndCause::Unreachable => "ssh did not connect".to_owned(),
        EndCause::NoProgram => "ccm is not there".to_owned(),
        EndCause::NoSudo => "sudo is not there".to_owned(),
        EndCause::SudoRefused => "sudo did not run ccm".to_owned(),
        EndCause::WrongPassword => "sudo did not take the password".to_owned(),
        EndCause::OtherArchitecture(machine) => {
            format!("ccm is not there, and this program does not run on {}", escape_control(machine))
        }
        EndCause::NotInstalled => "ccm was not installed".to_owned(),
        EndCause::NotReady(exit) => format!("ccm there took no push, and ended with {}", ended(exit)),
        EndCause::Transcript(error) => cut(&error.to_string()),
        EndCause::Died(exit) => format!("the connection ended during the run, with {}", ended(exit)),
        EndCause::Left => "the connection was closed; the run there goes on".to_owned(),
        EndCause::NoStart(reason) => format!("ssh can't be started: {}", cut(reason)),
    }
}

/// Returns the end of a host on which no run ended, in a line.
pub(super) fn without_run(cause: &EndCause) -> String {
    let what = if *cause == EndCause::Unreachable { "not reached" } else { "failed" };
    format!("{what}: {}", message(cause))
}

/// Returns what a host has said about its end.
pub(super) fn details(end: &HostResult) -> Vec<EndDetail> {
    let line = |line: &str| EndDetail::Line(cut(line));
    let hint = |hint: &String| EndDetail::Hint(cut(hint));
    let Some(refused) = &end.refused else { return end.last_line.iter().map(|last| line(last)).collect() };
    let mut details = Vec::new();
    if !refused.error.is_empty() {
        details.push(line(&refused.error));
    }
    for diagnostic in refused.diagnostics.iter().filter(|found| found.severity == "error").take(20) {
        let place = diagnostic.location.as_ref().map(|location| format!("{location}: ")).unwrap_or_default();
        let lines = diagnostic.message.lines().filter(|text| !refused.error.contains(text));
        details.extend(lines.map(|text| line(&format!("{place}{text}"))));
        details.extend(diagnostic.hints.iter().map(hint));
    }
    details.extend(refused.hints.iter().map(hint));
    details
}

fn ended(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => format!("exit code {code}"),
        Exit::Signal { name, .. } => escape_control(name).into_owned(),
        _ => "a time limit".to_owned(),
    }
}

/// Returns advice on a host.
pub(super) fn hint(cause: &EndCause, host: &PushedHost) -> Option<String> {
    let PushedHost { name, attempt, .. } = host;
    Some(match cause {
        EndCause::Unreachable => format!(
            "`{attempt}` shows why; a push asks nothing, so the key has to be in the agent and the host key known"
        ),
        EndCause::NoProgram | EndCause::NotInstalled => {
            "install the package of ccm there, or copy this program with `--install`".to_owned()
        }
        EndCause::NoSudo => {
            "log in as root, with `user: root` in the inventory, or install sudo there".to_owned()
        }
        EndCause::SudoRefused => {
            "let sudo run ccm without a password (NOPASSWD), or use `--ask-sudo`; if ccm is missing \
                                  there, use `--install`"
                .to_owned()
        }
        EndCause::WrongPassword => "repeat the push with the right password".to_owned(),
        EndCause::OtherArchitecture(_) => "install the package of ccm there".to_owned(),
        EndCause::NotReady(_) | EndCause::Transcript(TranscriptError::OtherProtocol(_)) => {
            "use the same version of ccm on both sides".to_owned()
        }
        EndCause::Died(_) | EndCause::Left => {
            format!("`ccm status` on {name} shows what the run did; the next push goes on from there")
        }
        _ => return None,
    })
}

/// Returns a line of a host, without what a terminal would obey.
pub(super) fn cut(line: &str) -> String {
    let cut: String = line.chars().take(MAX_LINE).collect();
    escape_control(&cut).into_owned()
}
