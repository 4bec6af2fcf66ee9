//! The report for people: a line for each resource, its details below, and a summary.

mod layout;
mod resource;
pub(crate) mod summary;

use std::fmt;
use std::io::Write;
use std::time::Duration;

use ccm_model::{
    Event, FailureKind, Outcome, OutputLine, PendingCause, RefreshSummary, ResourceId, SkipCause,
};

use self::resource::LogLevel;
pub use self::summary::pending_line;
use crate::ReportError;
use crate::output_buffer::OutputBuffer;

/// Amount of detail of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verbosity {
    /// Failures and warnings, and a summary if something failed or the run was stopped.
    Quiet,
    /// Every resource, live output, messages of the manifest and a summary.
    #[default]
    Normal,
    /// Also the reason for each outcome.
    Verbose,
    /// Also the state of changed resources, as JSON.
    Everything,
}

/// Report of a run as text. Level and outcome are coloured by ANSI codes, which the writer has to remove if
/// they are not wanted. All other control characters in names, messages and output are escaped, except line
/// ends and the tabs of output lines.
pub struct TextReport<W: Write> {
    out: OutputBuffer<W>,
    verbosity: Verbosity,
    is_record: bool,
    /// `true` if the report is quiet only because this is a second run.
    verifying: bool,
    /// Failed resources, which the summary repeats.
    failed: Vec<ResourceId>,
}

impl<W: Write> TextReport<W> {
    /// Builds a report.
    pub fn new(out: W, verbosity: Verbosity) -> Self {
        Self {
            out: OutputBuffer::new(out),
            verbosity,
            is_record: false,
            verifying: false,
            failed: Vec::new(),
        }
    }

    pub(crate) fn of_record(out: W) -> Self {
        Self { is_record: true, ..Self::new(out, Verbosity::Verbose) }
    }

    /// Writes the lines of an event. [`TextReport::finish`] returns the first error, after which nothing is
    /// written.
    pub fn accept(&mut self, event: &Event) {
        if self.out.failed() {
            return;
        }
        let mut text = String::new();
        let urgent = self.compose(&mut text, event);
        // Writing to a `String` can't fail.
        debug_assert!(urgent.is_ok());
        let runtime = match event {
            Event::ResourceFinished(transaction) if !text.is_empty() => transaction.duration,
            _ => Duration::ZERO,
        };
        self.out.push(&text, runtime, urgent.unwrap_or(true));
    }

    /// Continues with a second run, of which only failures and warnings are reported, unless verbose.
    pub fn begin_verification(&mut self) {
        if self.verbosity > Verbosity::Quiet {
            self.out.push("Verifying: a second run, which should change nothing\n", Duration::ZERO, true);
        }
        if self.verbosity == Verbosity::Normal {
            self.verbosity = Verbosity::Quiet;
            self.verifying = true;
        }
    }

    /// Reports that the second run changed nothing.
    pub fn verified(&mut self) {
        if self.verbosity > Verbosity::Quiet || self.verifying {
            self.out.push("Verified: a second run changes nothing\n", Duration::ZERO, true);
        }
    }

    /// Writes the buffered text.
    pub fn write_out(&mut self) {
        self.out.write_out();
    }

    /// Ends the report. Returns an error if not all of it was written.
    pub fn finish(self) -> Result<(), ReportError> {
        self.into_inner().map(|_| ())
    }

    /// Ends the report. Returns the writer if everything was written.
    pub(crate) fn into_inner(self) -> Result<W, ReportError> {
        self.out.finish().map_err(ReportError::Write)
    }

    /// Appends the lines of an event. Returns `true` if they must be written at once.
    fn compose(&mut self, text: &mut String, event: &Event) -> Result<bool, fmt::Error> {
        let quiet = self.verbosity == Verbosity::Quiet;
        match event {
            Event::SessionStarted(session) => {
                let message = session.message.as_deref().filter(|_| !quiet);
                message.map_or(Ok(()), |message| layout::message(text, message))?;
                Ok(message.is_some())
            }
            // The progress line shows a running resource. A line for each would double the report.
            Event::ResourceStarted(_) | Event::ArtifactsLeft(_) => Ok(false),
            Event::OutputReceived(_) if quiet => Ok(false),
            Event::OutputReceived(OutputLine { id, stream, line }) => {
                let prefix = format!("{} {}", layout::name(id), stream.name());
                layout::output(text, &prefix, line)?;
                Ok(true)
            }
            Event::ResourceFinished(transaction) => {
                let level = LogLevel::of(&transaction.outcome);
                // The list already names the failed resources of a child manifest.
                if matches!(&transaction.outcome, Outcome::Failed(failure) if failure.kind != FailureKind::Child)
                {
                    self.failed.push(transaction.id.clone());
                }
                // After `--only`, a thousand unselected resources are of no interest.
                let not_selected = Outcome::Skipped { cause: SkipCause::NotSelected };
                let passed_over = self.verbosity < Verbosity::Verbose && transaction.outcome == not_selected;
                if passed_over || quiet && level != LogLevel::Error && transaction.warnings.is_empty() {
                    return Ok(false);
                }
                resource::write(text, transaction, self.verbosity)?;
                Ok(level != LogLevel::Info || !transaction.warnings.is_empty())
            }
            Event::SessionFinished(run) => {
                let message = run.message.as_deref().filter(|_| !quiet);
                message.map_or(Ok(()), |message| layout::message(text, message))?;
                let RefreshSummary { pending, cancelled, damage, unwritten } = &run.refreshes;
                let is_shared = pending
                    .iter()
                    .any(|unfinished| matches!(unfinished.cause, PendingCause::OtherManifest { .. }));
                let trouble = run.counts.failed + run.counts.unmet > 0
                    || run.stopped.is_some()
                    || is_shared
                    || !cancelled.is_empty()
                    || damage.is_some()
                    || !unwritten.is_empty();
                if !quiet || trouble {
                    summary::write(text, run, &self.failed, self.is_record)?;
                }
                Ok(true)
            }
        }
    }
}

#[cfg(test)]
mod tests;
