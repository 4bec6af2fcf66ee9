//! The report for people: a line for each change and failure, its details below, and a summary.

mod action_words;
mod failure;
mod layout;
mod manifests;
mod options;
mod refreshes;
mod resource;
pub(crate) mod summary;
mod tally;

use std::fmt;
use std::io::Write;
use std::time::Duration;

use ccm_model::{
    Event, FailureKind, Outcome, OutputLine, PendingCause, RefreshSummary, ResourceId, RunSummary,
    SessionStarted, SkipCause, StopCause, Transaction, escape_control,
};

use self::layout::{DIM, Page};
use self::options::RunReference;
pub(crate) use self::options::{SHORT_ID, short_id};
pub use self::options::{TextOptions, Verbosity};
pub use self::refreshes::pending_line;
use self::resource::ColumnWidths;
pub(crate) use self::resource::Importance;
use self::summary::Remembered;
use crate::ReportError;
use crate::manifests::ManifestResult;
use crate::output_buffer::OutputBuffer;

/// Report of a run as text. It has ANSI codes for colours, which the writer has to remove if they are not
/// wanted. All other control characters in names, messages and output are escaped, except line ends and the
/// tabs of output lines.
pub struct TextReport<W: Write> {
    out: OutputBuffer<W>,
    options: TextOptions,
    is_record: bool,
    /// `true` if the report is quiet only because this is a second run.
    verifying: bool,
    widths: ColumnWidths,
    remembered: Remembered,
    /// Short id of the run, if it is recorded.
    run: Option<String>,
}

impl<W: Write> TextReport<W> {
    /// Builds a report.
    pub fn new(out: W, options: TextOptions) -> Self {
        Self {
            out: OutputBuffer::new(out),
            options,
            is_record: false,
            verifying: false,
            widths: ColumnWidths::default(),
            remembered: Remembered::default(),
            run: None,
        }
    }

    /// Builds a report of a recorded run.
    pub(crate) fn of_record(out: W, options: TextOptions) -> Self {
        Self { is_record: true, ..Self::new(out, options) }
    }

    /// Makes room for the resources of all manifests, so that the words behind their names stand in one column.
    #[must_use]
    pub fn with_resources<'i>(mut self, ids: impl IntoIterator<Item = &'i ResourceId>) -> Self {
        for id in ids {
            self.widths.widen(&escape_control(&id.type_name), &escape_control(&id.name));
        }
        self
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
            Event::ResourceFinished(transaction) => transaction.duration,
            _ => Duration::ZERO,
        };
        self.out.push(&text, runtime, urgent.unwrap_or(true));
    }

    /// Begins the report of the first or another one of several manifests.
    pub fn begin_manifest(&mut self, is_first: bool) {
        if std::mem::take(&mut self.verifying) {
            self.options.verbosity = Verbosity::Normal;
        }
        self.remembered = Remembered::default();
        if !is_first && self.options.verbosity > Verbosity::Quiet {
            self.out.push("\n", Duration::ZERO, false);
        }
    }

    /// Ends the report of several manifests with their results.
    pub fn end_manifests(&mut self, results: &[ManifestResult], noop: bool) {
        if std::mem::take(&mut self.verifying) {
            self.options.verbosity = Verbosity::Normal;
        }
        let quiet = self.options.verbosity == Verbosity::Quiet;
        if quiet && results.iter().all(ManifestResult::is_success) {
            return;
        }
        let mut text = if quiet { String::new() } else { "\n".to_owned() };
        let page = &mut Page { out: &mut text, screen: self.options.screen };
        let written = manifests::write(page, results, noop);
        debug_assert!(written.is_ok());
        self.out.push(&text, Duration::ZERO, true);
    }

    /// Continues with a second run, of which only failures and warnings are reported, unless verbose.
    pub fn begin_verification(&mut self) {
        if self.options.verbosity > Verbosity::Quiet {
            self.out.push("Verifying: a second run, which should change nothing\n", Duration::ZERO, true);
        }
        if self.options.verbosity == Verbosity::Normal {
            self.options.verbosity = Verbosity::Quiet;
            self.verifying = true;
        }
        self.remembered = Remembered::default();
    }

    /// Reports that the second run changed nothing.
    pub fn verified(&mut self) {
        if self.options.verbosity > Verbosity::Quiet || self.verifying {
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
        let page = &mut Page { out: text, screen: self.options.screen };
        let quiet = self.options.verbosity == Verbosity::Quiet;
        match event {
            Event::SessionStarted(session) => self.begin(page, session),
            // The progress line shows a running resource. A line for each would double the report.
            Event::ResourceStarted(_) | Event::ArtifactsLeft(_) => Ok(false),
            Event::OutputReceived(_) if quiet => Ok(false),
            Event::OutputReceived(OutputLine { id, stream, line }) => {
                let prefix = format!("{} {}", layout::name(id), stream.name());
                page.output(&prefix, line)?;
                Ok(true)
            }
            Event::ResourceFinished(transaction) => self.resource(page, transaction),
            Event::SessionFinished(run) => self.end(page, run),
        }
    }

    fn begin(&mut self, page: &mut Page<'_>, session: &SessionStarted) -> Result<bool, fmt::Error> {
        self.remembered.run_id.clone_from(&session.run_id);
        if !self.is_record && !session.run_id.is_empty() {
            // Noop leaves no record.
            self.run =
                (!session.noop).then(|| short_id(&session.run_id, &self.options.other_runs).to_owned());
            self.options.other_runs.push(session.run_id.clone());
        }
        if self.options.verbosity == Verbosity::Quiet {
            return Ok(false);
        }
        if !self.is_record && !session.manifest.is_empty() {
            let kind = match session {
                SessionStarted { monitor_only: true, .. } => " (only health checks)",
                SessionStarted { noop: true, .. } => " (dry run)",
                _ => "",
            };
            let (host, manifest) = (escape_control(&session.host), escape_control(&session.manifest));
            page.text(DIM, 0, &format!("{host}: {manifest}{kind}"))?;
        }
        session.message.as_deref().map_or(Ok(()), |message| page.message(message))?;
        Ok(session.message.is_some())
    }

    fn resource(&mut self, page: &mut Page<'_>, transaction: &Transaction) -> Result<bool, fmt::Error> {
        let verbosity = self.options.verbosity;
        let importance = Importance::of(transaction);
        self.remember(transaction, importance);
        let least = match verbosity {
            Verbosity::Quiet => Importance::Warning,
            Verbosity::Normal => Importance::Change,
            Verbosity::Verbose | Verbosity::Everything => Importance::Nothing,
        };
        // A record has no unchanged resources, and few others of no importance.
        if importance < least {
            return Ok(false);
        }
        let state_directory = self.options.state_directory.as_deref();
        let run = self.run.as_deref().map(|id| RunReference { id, state_directory });
        resource::write(page, &mut self.widths, transaction, verbosity, run)?;
        Ok(importance > Importance::Nothing)
    }

    /// Remembers a resource for the summary.
    fn remember(&mut self, transaction: &Transaction, importance: Importance) {
        let remembered = &mut self.remembered;
        let is_changed = match &transaction.outcome {
            Outcome::Failed(failure) => failure.verified,
            outcome => matches!(outcome, Outcome::Changed | Outcome::Refreshed),
        };
        if is_changed {
            remembered.changed.insert(transaction.id.clone());
        }
        match &transaction.outcome {
            // The list already names the failed resources of a child manifest.
            Outcome::Failed(failure) if failure.kind != FailureKind::Child => {
                remembered.failed.push(transaction.id.clone());
                if !failure.changed {
                    remembered.failed_unchanged.push(transaction.id.clone());
                }
                remembered.tally.add(transaction);
            }
            Outcome::Skipped {
                cause: SkipCause::Stopped { by: StopCause::Signal { .. } | StopCause::Timeout { .. } },
            } => remembered.not_reached.push(transaction.id.clone()),
            _ if importance > Importance::Nothing => remembered.tally.add(transaction),
            _ => {}
        }
    }

    fn end(&mut self, page: &mut Page<'_>, run: &RunSummary) -> Result<bool, fmt::Error> {
        let quiet = self.options.verbosity == Verbosity::Quiet;
        let message = run.message.as_deref().filter(|_| !quiet);
        message.map_or(Ok(()), |message| page.message(message))?;
        if !quiet || needs_attention(run) {
            summary::write(page, run, &self.remembered, self.is_record, self.run.as_deref())?;
        }
        Ok(true)
    }
}

/// Returns `true` if a quiet report has a summary as well.
pub(crate) fn needs_attention(run: &RunSummary) -> bool {
    let RefreshSummary { pending, cancelled, damage, unwritten } = &run.refreshes;
    let is_shared =
        pending.iter().any(|unfinished| matches!(unfinished.cause, PendingCause::OtherManifest { .. }));
    run.counts.failed + run.counts.unmet > 0
        || run.stopped.is_some()
        || is_shared
        || !cancelled.is_empty()
        || damage.is_some()
        || !unwritten.is_empty()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::without_colours;
