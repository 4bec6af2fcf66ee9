//! Lines of the text report about a resource.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Style};
use ccm_model::{
    Failure, FailureKind, Outcome, Reason, SkipCause, Transaction, display_duration, escape_control,
};

use super::Verbosity;
use super::layout::{below, continued, diff, first_line, name, names, output};
use super::summary::pending_detail;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LogLevel {
    Info,
    Warn,
    Error,
}

impl LogLevel {
    pub(super) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Info,
            Outcome::Changed
            | Outcome::Refreshed
            | Outcome::WouldChange { .. }
            | Outcome::WouldRefresh { .. }
            | Outcome::Skipped {
                cause:
                    SkipCause::NotSelected
                    | SkipCause::NotManaged { .. }
                    | SkipCause::ManifestEnded { .. }
                    | SkipCause::Stopped { .. }
                    | SkipCause::Unknown,
            } => Self::Warn,
            Outcome::Failed(_)
            | Outcome::Skipped {
                cause: SkipCause::DependencyFailed { .. } | SkipCause::DependsOnNoop { .. },
            } => Self::Error,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Info => "INFO",
            Self::Warn => "WARN",
            Self::Error => "ERROR",
        }
    }

    fn style(self) -> Style {
        match self {
            Self::Info => AnsiColor::Green.on_default(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Error => AnsiColor::Red.on_default().bold(),
        }
    }
}

pub(super) fn write(out: &mut String, transaction: &Transaction, verbosity: Verbosity) -> fmt::Result {
    let Transaction { outcome, requested_ensure, .. } = transaction;
    let level = LogLevel::of(outcome);
    let style = level.style();
    write!(out, "{style}{:<5}{style:#} {} ", level.word(), name(&transaction.id))?;
    write!(out, "{style}{}{style:#} ensure={}", outcome.word(), escape_control(requested_ensure))?;
    if let Some(found) = transaction.final_ensure.as_ref().filter(|found| *found != requested_ensure) {
        write!(out, " final={}", escape_control(found))?;
    }
    // A skipped resource has no duration.
    if !matches!(outcome, Outcome::Skipped { .. }) {
        write!(out, " runtime={}", display_duration(transaction.duration))?;
    }
    if let Some(provider) = &transaction.provider {
        write!(out, " provider={}", escape_control(provider))?;
    }
    // The cause is on the line of the level, so that a search for ERROR in a long log finds it.
    let cause = cause(transaction).unwrap_or_default();
    let (first, rest) = first_line(&cause);
    if !first.is_empty() {
        write!(out, ": {}", escape_control(first))?;
    }
    writeln!(out)?;
    continued(out, rest)?;
    details(out, transaction, verbosity)
}

/// Returns the cause of a failed or skipped resource, without deeper causes.
fn cause(transaction: &Transaction) -> Option<Cow<'_, str>> {
    match &transaction.outcome {
        Outcome::Failed(failure) => failure.chain.first().map(Cow::from),
        Outcome::Skipped { cause } => Some(match recorded_cause(transaction) {
            Some(text) => text.into(),
            None => format!("{cause:#}").into(),
        }),
        _ => None,
    }
}

/// Returns the cause of a skipped resource in the record of an earlier version, which holds only its text.
fn recorded_cause(transaction: &Transaction) -> Option<&str> {
    let is_skipped = matches!(transaction.outcome, Outcome::Skipped { .. });
    let recorded =
        transaction.reason.as_ref().filter(|reason| is_skipped && reason.rule == Reason::UNKNOWN_RULE);
    recorded.map(|reason| &*reason.text)
}

fn details(out: &mut String, transaction: &Transaction, verbosity: Verbosity) -> fmt::Result {
    let outcome = &transaction.outcome;
    if let Outcome::Failed(failure) = outcome {
        failure.chain.iter().skip(1).try_for_each(|layer| below(out, "caused by: ", layer))?;
    }
    let noop_message = match outcome {
        Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => Some(&**message),
        _ => None,
    };
    if let Some(message) = noop_message {
        below(out, "", message)?;
    }
    if !transaction.triggered_by.is_empty() {
        below(out, "triggered by: ", &names(&transaction.triggered_by))?;
    }
    transaction.pending_refreshes.iter().try_for_each(|pending| pending_detail(out, pending))?;
    let explains = verbosity >= Verbosity::Verbose || matches!(outcome, Outcome::Skipped { .. });
    let is_news =
        |text: &&str| explains && ![noop_message, recorded_cause(transaction)].contains(&Some(*text));
    if let Some(reason) = transaction.reason_text().filter(is_news) {
        below(out, "reason: ", reason)?;
    }
    transaction.warnings.iter().try_for_each(|warning| below(out, "warning: ", warning))?;
    transaction.notes.iter().try_for_each(|note| below(out, "", note))?;
    if let Outcome::Failed(failure) = outcome {
        aftermath(out, failure)?;
    }
    if let Some(text) = &transaction.diff {
        diff(out, text)?;
    }
    // The state of an unchanged resource is the desired one.
    if let Some(state) = transaction.state.as_ref().filter(|_| verbosity == Verbosity::Everything)
        && *outcome != Outcome::Unchanged
    {
        below(out, "state: ", &state.to_string())?;
    }
    Ok(())
}

fn aftermath(out: &mut String, failure: &Failure) -> fmt::Result {
    for tail in &failure.output {
        let stream = tail.stream.name();
        if tail.bytes_before > 0 {
            below(
                out,
                "",
                &format!("{stream}: {} bytes before these lines are not shown", tail.bytes_before),
            )?;
        }
        tail.lines.iter().try_for_each(|line| output(out, stream, line))?;
    }
    below(out, "", if failure.changed { "something may have been changed" } else { "nothing was changed" })?;
    failure.hints.iter().try_for_each(|hint| below(out, "hint: ", hint))?;
    match &failure.location {
        // Each layer of a value's failure names its own location, and output describes a failed command.
        Some(location) if failure.kind != FailureKind::Value && !failure.changed => {
            below(out, "", &format!("at {location}"))
        }
        _ => Ok(()),
    }
}
