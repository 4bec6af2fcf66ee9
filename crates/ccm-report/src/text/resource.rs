//! What the text report says of one resource.

use std::fmt::{self, Write as _};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use ccm_model::{Failure, FailureKind, Outcome, SkipCause, Transaction, display_duration, escape_control};

use super::Verbosity;
use super::layout::{below, continued, diff, first_line, name, names, output};
use super::summary::{owed_before, stopped};

/// How much attention a line asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warn,
    Error,
}

impl Level {
    pub(crate) fn of(outcome: &Outcome) -> Self {
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
            | Outcome::Skipped { cause: SkipCause::Unmet { .. } | SkipCause::Undone { .. } } => Self::Error,
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

/// The line of a resource.
pub(crate) struct Line<'a> {
    pub(crate) level: Level,
    pub(crate) name: String,
    pub(crate) word: &'a str,
    pub(crate) requested_ensure: &'a str,
    pub(crate) final_ensure: Option<&'a str>,
    /// What had no turn took no time.
    pub(crate) runtime: Option<Duration>,
    pub(crate) provider: Option<&'a str>,
    /// Why it is not where it should be, in one layer.
    pub(crate) cause: &'a str,
}

impl Line<'_> {
    pub(crate) fn write(&self, out: &mut String) -> fmt::Result {
        let Self { level, name, word, requested_ensure, .. } = self;
        let style = level.style();
        write!(out, "{style}{:<5}{style:#} {name} {style}{word}{style:#}", level.word())?;
        write!(out, " ensure={}", escape_control(requested_ensure))?;
        if let Some(found) = self.final_ensure.filter(|found| found != requested_ensure) {
            write!(out, " final={}", escape_control(found))?;
        }
        if let Some(runtime) = self.runtime {
            write!(out, " runtime={}", display_duration(runtime))?;
        }
        if let Some(provider) = self.provider {
            write!(out, " provider={}", escape_control(provider))?;
        }
        // Whoever looks for ERROR in a long log finds the cause on the same line.
        let (first, rest) = first_line(self.cause);
        if !first.is_empty() {
            write!(out, ": {}", escape_control(first))?;
        }
        writeln!(out)?;
        continued(out, rest)
    }
}

/// Writes the line of a resource, and below it what else there is to know.
pub(super) fn write(out: &mut String, transaction: &Transaction, verbosity: Verbosity) -> fmt::Result {
    let outcome = &transaction.outcome;
    let line = Line {
        level: Level::of(outcome),
        name: name(&transaction.id),
        word: outcome.word(),
        requested_ensure: &transaction.requested_ensure,
        final_ensure: transaction.final_ensure.as_deref(),
        runtime: Some(transaction.duration).filter(|_| !matches!(outcome, Outcome::Skipped { .. })),
        provider: transaction.provider.as_deref(),
        cause: &cause(outcome).unwrap_or_default(),
    };
    line.write(out)?;
    details(out, transaction, verbosity)
}

/// Why a resource is not where it should be, in one layer.
fn cause(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Failed(failure) => failure.chain.first().cloned(),
        Outcome::Skipped { cause } => Some(skipped(cause)),
        _ => None,
    }
}

/// Why a resource had no turn.
pub(crate) fn skipped(cause: &SkipCause) -> String {
    match cause {
        SkipCause::Unmet { culprits } => format!("{} failed", names(culprits)),
        SkipCause::Undone { noop } => undone(&names(noop), noop.len()),
        SkipCause::NotManaged { reason } => format!("not managed: {reason}"),
        SkipCause::NotSelected => "not selected".to_owned(),
        SkipCause::ManifestEnded { culprit } => {
            format!("its manifest ended because {} failed (fail_on_error)", name(culprit))
        }
        SkipCause::Stopped { by } => stopped(by),
        SkipCause::Unknown => String::new(),
    }
}

/// Why what depends on resources in noop is not known.
pub(crate) fn undone(names: &str, count: usize) -> String {
    format!("not known, because {names} {} in noop", if count == 1 { "is" } else { "are" })
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
    transaction.owed.iter().try_for_each(|owed| owed_before(out, owed))?;
    let explains = verbosity >= Verbosity::Verbose || matches!(outcome, Outcome::Skipped { .. });
    if let Some(reason) = transaction
        .reason
        .as_ref()
        .map(|reason| &*reason.text)
        .filter(|text| explains && Some(*text) != noop_message)
    {
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
    // The state of what is stable is what the manifest says.
    if let Some(state) = transaction.state.as_ref().filter(|_| verbosity == Verbosity::Everything)
        && *outcome != Outcome::Unchanged
    {
        below(out, "state: ", &state.to_string())?;
    }
    Ok(())
}

/// Writes what a failure left behind, and what to do about it.
fn aftermath(out: &mut String, failure: &Failure) -> fmt::Result {
    for tail in &failure.output {
        let stream = tail.stream.name();
        if tail.bytes_before > 0 {
            below(out, "", &format!("{stream}: {} bytes before these lines", tail.bytes_before))?;
        }
        tail.lines.iter().try_for_each(|line| output(out, stream, line))?;
    }
    below(out, "", if failure.changed { "something may have been changed" } else { "nothing was changed" })?;
    failure.hints.iter().try_for_each(|hint| below(out, "hint: ", hint))?;
    match &failure.location {
        // Each layer of such a failure names its own place.
        Some(location) if failure.kind != FailureKind::Value => {
            below(out, "hint: ", &format!("it is written at {location}"))
        }
        _ => Ok(()),
    }
}
