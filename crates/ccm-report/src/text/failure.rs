//! Lines of the text report about a failure.

use std::fmt;

use ccm_model::{Failure, FailureKind, Node, Transaction, Verb, quote_words};

use super::action_words::Words;
use super::layout::{DIM, FAILURE, Page};
use super::options::RunReference;
use crate::screen::columns;

/// Longest name of an exec in the hint to its output.
const MAX_NAME: usize = 60;

/// Writes command, causes, output, effect, hints and location of a failure, and how to see all of it if the run is
/// recorded.
pub(super) fn write(
    page: &mut Page<'_>,
    transaction: &Transaction,
    failure: &Failure,
    run: Option<RunReference<'_>>,
) -> fmt::Result {
    let action = transaction.action.as_ref().filter(|action| action.verb == Verb::Run);
    if let Some(command) = action.and_then(|action| action.detail.as_deref()) {
        let limit = page.screen.width.map_or(usize::MAX, |width| width.saturating_mul(4));
        let command = ccm_model::escape_control(command);
        let command = page.screen.cut(&command, limit).into_owned();
        page.below("command: ", &command)?;
    }
    let is_unhealthy = failure.kind == FailureKind::HealthCheck;
    let label = if is_unhealthy { "" } else { "caused by: " };
    failure.chain.iter().skip(1).try_for_each(|layer| page.below(label, layer))?;
    for tail in &failure.output {
        let stream = tail.stream.name();
        if tail.bytes_before > 0 {
            let before = format!("{stream}: {} bytes before these lines are not shown", tail.bytes_before);
            page.styled_below(DIM, "", &before)?;
        }
        tail.lines.iter().try_for_each(|line| page.output(stream, line))?;
    }
    if !failure.changed {
        page.below("", "nothing was changed")?;
    } else if failure.verified {
        change_before(page, transaction)?;
    } else if !has_own_result(transaction, failure) {
        page.styled_below(FAILURE, "", "something may have been changed")?;
    }
    failure.hints.iter().try_for_each(|hint| page.below("hint: ", hint))?;
    match &failure.location {
        // Each layer of such a failure names its own location.
        Some(location) if failure.kind != FailureKind::Value => page.below("at ", &location.to_string())?,
        _ => {}
    }
    match run {
        Some(run) if has_record(transaction, failure) => {
            let name = &*transaction.id.name;
            let name = if columns(name) > MAX_NAME || name.contains(char::is_control) {
                String::new()
            } else {
                format!(" {}", quote_words([name]))
            };
            let RunReference { id, state_directory } = run;
            let state = state_directory
                .map_or_else(String::new, |directory| format!(" --state-dir {}", quote_words([directory])));
            page.styled_below(DIM, "", &format!("all output: ccm history {id}{name}{state}"))
        }
        _ => Ok(()),
    }
}

/// Writes what was done to a resource before its health checks failed.
fn change_before(page: &mut Page<'_>, transaction: &Transaction) -> fmt::Result {
    let words = Words::of_change(transaction, page.screen);
    let mut text = format!("{} before its health checks", words.verb);
    // The command and the triggers have lines of their own.
    if !words.what.is_empty() && !words.is_command && !words.is_why {
        text += &format!(": {}", words.what);
    }
    if !words.time.is_empty() {
        text += &format!(" ({})", words.time);
    }
    page.styled_below(FAILURE, "", &text)
}

/// Returns `true` for a command of an exec that ended by itself. Only its author knows what it changed before.
fn has_own_result(transaction: &Transaction, failure: &Failure) -> bool {
    let is_result =
        matches!(failure.kind, FailureKind::Exit | FailureKind::Expectation | FailureKind::Capture);
    &*transaction.id.type_name == "exec" && is_result
}

/// Returns `true` if the record of the run holds more about the failure. Of a sensitive exec, it holds no output.
fn has_record(transaction: &Transaction, failure: &Failure) -> bool {
    let is_of_command = failure.kind != FailureKind::HealthCheck;
    let has_run = is_of_command && (failure.changed || !failure.output.is_empty());
    let is_sensitive = transaction.properties.get("sensitive").and_then(Node::as_text) == Some("true");
    &*transaction.id.type_name == "exec" && has_run && !is_sensitive
}
