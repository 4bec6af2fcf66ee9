//! The report for people: a line per resource, what belongs to it below, and a summary.

mod layout;
mod resource;
pub(crate) mod summary;

use std::fmt;
use std::io::Write;
use std::time::Duration;

use ccm_model::{Event, FailureKind, Outcome, OutputLine, OwedCause, Refreshes, ResourceId, SkipCause};

use self::resource::Level;
pub(crate) use self::resource::undone;
pub use self::summary::owed_line;
pub(crate) use self::summary::{owed_cause, settled_cause, stopped};
use crate::ReportError;
use crate::batch::Batch;

/// How much a report says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verbosity {
    /// What failed or deserves a warning, and a summary if something failed or the run was stopped.
    Quiet,
    /// Every resource, live output, messages of the manifest and a summary.
    #[default]
    Normal,
    /// Also why each resource was treated as it was.
    Verbose,
    /// Also the state of those that are not stable, as JSON.
    Everything,
}

/// Writes a run as text.
///
/// Level and outcome are coloured by ANSI codes; whoever makes the writer takes them out where they are not
/// wanted. They are the only control characters in it beside line ends and the tabs of output lines: names,
/// messages and output are escaped.
pub struct TextReport<W: Write> {
    out: Batch<W>,
    verbosity: Verbosity,
    /// The run is one of a record.
    is_record: bool,
    /// It is quiet only because this is a second run.
    verifying: bool,
    /// Named again at the end.
    failed: Vec<ResourceId>,
}

impl<W: Write> TextReport<W> {
    /// Begins a report.
    pub fn new(out: W, verbosity: Verbosity) -> Self {
        Self { out: Batch::new(out), verbosity, is_record: false, verifying: false, failed: Vec::new() }
    }

    /// Begins a report on a run of a record.
    pub(crate) fn of_record(out: W) -> Self {
        Self { is_record: true, ..Self::new(out, Verbosity::Verbose) }
    }

    /// Writes what there is to say of an event.
    ///
    /// The first error is kept for [`TextReport::finish`]; after it nothing is written.
    pub fn accept(&mut self, event: &Event) {
        if self.out.failed() {
            return;
        }
        let mut text = String::new();
        let urgent = self.compose(&mut text, event);
        // A `String` takes everything, so composing can't fail.
        debug_assert!(urgent.is_ok());
        let runtime = match event {
            Event::ResourceFinished(transaction) if !text.is_empty() => transaction.duration,
            _ => Duration::ZERO,
        };
        self.out.push(&text, runtime, urgent.unwrap_or(true));
    }

    /// Goes on with a second run, of which only what matters is said unless more is asked for.
    pub fn begin_verification(&mut self) {
        if self.verbosity > Verbosity::Quiet {
            self.out.push("Verifying: once more, which should change nothing\n", Duration::ZERO, true);
        }
        if self.verbosity == Verbosity::Normal {
            self.verbosity = Verbosity::Quiet;
            self.verifying = true;
        }
    }

    /// Says that the second run changed nothing.
    pub fn verified(&mut self) {
        if self.verbosity > Verbosity::Quiet || self.verifying {
            self.out.push("Verified: a second run changes nothing\n", Duration::ZERO, true);
        }
    }

    /// Writes out what waits for more.
    pub fn write_out(&mut self) {
        self.out.write_out();
    }

    /// Ends the report and says whether all of it was written.
    pub fn finish(self) -> Result<(), ReportError> {
        self.into_inner().map(|_| ())
    }

    /// Ends the report and returns where it went if all of it was written.
    pub(crate) fn into_inner(self) -> Result<W, ReportError> {
        self.out.finish().map_err(ReportError::Write)
    }

    /// Appends the lines of an event and tells whether they must not wait.
    fn compose(&mut self, text: &mut String, event: &Event) -> Result<bool, fmt::Error> {
        let quiet = self.verbosity == Verbosity::Quiet;
        match event {
            Event::SessionStarted(session) => {
                let message = session.message.as_deref().filter(|_| !quiet);
                message.map_or(Ok(()), |message| layout::message(text, message))?;
                Ok(message.is_some())
            }
            // What is running shows itself elsewhere; a line for each would double the report.
            Event::ResourceStarted(_) | Event::ArtifactsLeft(_) => Ok(false),
            Event::OutputReceived(_) if quiet => Ok(false),
            Event::OutputReceived(OutputLine { id, stream, line }) => {
                let prefix = format!("{} {}", layout::name(id), stream.name());
                layout::output(text, &prefix, line)?;
                Ok(true)
            }
            Event::ResourceFinished(transaction) => {
                let level = Level::of(&transaction.outcome);
                // The failure of a child manifest names its resources, which are in the list already.
                if matches!(&transaction.outcome, Outcome::Failed(failure) if failure.kind != FailureKind::Child)
                {
                    self.failed.push(transaction.id.clone());
                }
                // Whoever asks for one resource of a thousand does not want to read of the others.
                let not_selected = Outcome::Skipped { cause: SkipCause::NotSelected };
                let passed_over = self.verbosity < Verbosity::Verbose && transaction.outcome == not_selected;
                if passed_over || quiet && level != Level::Error && transaction.warnings.is_empty() {
                    return Ok(false);
                }
                resource::write(text, transaction, self.verbosity)?;
                Ok(level != Level::Info || !transaction.warnings.is_empty())
            }
            Event::SessionFinished(run) => {
                let message = run.message.as_deref().filter(|_| !quiet);
                message.map_or(Ok(()), |message| layout::message(text, message))?;
                let Refreshes { owed, settled, damage, unwritten } = &run.refreshes;
                let is_shared =
                    owed.iter().any(|still| matches!(still.cause, OwedCause::OtherManifest { .. }));
                let trouble = run.counts.failed + run.counts.unmet > 0
                    || run.stopped.is_some()
                    || is_shared
                    || !settled.is_empty()
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
