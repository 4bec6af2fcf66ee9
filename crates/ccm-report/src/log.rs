//! The report for journals and log files: a line of fields for each change, warning and failure.

mod fields;

use std::io::Write;
use std::time::Duration;

use ccm_model::{
    CheckCounts, CheckStatus, Event, Failure, Outcome, OutputLine, RunSummary, StopCause, Transaction,
    display_duration,
};

use self::fields::{LogLevel, LogLine};
use crate::ReportError;
use crate::counts;
use crate::manifests::{ManifestResult, counted};
use crate::output_buffer::OutputBuffer;
use crate::store::RunOutcome;
use crate::text::{Importance, Verbosity, needs_attention, short_id};

/// Options of a log.
#[derive(Clone, Debug, Default)]
pub struct LogOptions {
    /// Amount of detail.
    pub verbosity: Verbosity,
    /// `true` if each line begins with its priority in angle brackets, as the journal of systemd reads it.
    pub has_priorities: bool,
    /// Ids of the newest run that was recorded before, and of the runs of the same call. The short id of a run differs
    /// from all others.
    pub other_runs: Vec<String>,
}

/// Report of a run as lines `LEVEL type#name word key=value…`. Values with blanks are quoted, and control
/// characters are escaped.
pub struct LogReport<W: Write> {
    out: OutputBuffer<W>,
    options: LogOptions,
    /// Short id of the run, if it is recorded.
    run: Option<String>,
    /// Level of detail without that of a verification.
    verbosity: Verbosity,
    /// Manifest of the run, if there are several.
    manifest: Option<String>,
}

impl<W: Write> LogReport<W> {
    /// Builds a report.
    pub fn new(out: W, options: LogOptions) -> Self {
        let verbosity = options.verbosity;
        Self { out: OutputBuffer::new(out), options, run: None, verbosity, manifest: None }
    }

    /// Writes the lines of an event. [`LogReport::finish`] returns the first error, after which nothing is
    /// written.
    pub fn accept(&mut self, event: &Event) {
        if self.out.failed() {
            return;
        }
        let mut text = String::new();
        match event {
            Event::SessionStarted(session) => {
                // Noop leaves no record.
                let id = short_id(&session.run_id, &self.options.other_runs);
                self.run = Some(id.to_owned()).filter(|id| !session.noop && !id.is_empty());
                self.options.other_runs.push(session.run_id.clone());
                self.message(&mut text, session.message.as_deref());
            }
            Event::ResourceStarted(_) | Event::ArtifactsLeft(_) => {}
            Event::OutputReceived(OutputLine { id, stream, line }) => {
                if self.options.verbosity > Verbosity::Quiet {
                    let line = LogLine::of(LogLevel::Info, id, "output").field(stream.name(), line);
                    self.write(&mut text, &line);
                }
            }
            Event::ResourceFinished(transaction) => self.resource(&mut text, transaction),
            Event::SessionFinished(run) => self.end(&mut text, run),
        }
        let runtime = match event {
            Event::ResourceFinished(transaction) => transaction.duration,
            _ => Duration::ZERO,
        };
        self.out.push(&text, runtime, !text.is_empty());
    }

    /// Begins the report of one of several manifests.
    pub fn begin_manifest(&mut self, manifest: &str) {
        self.options.verbosity = self.verbosity;
        self.manifest = Some(manifest.to_owned());
        if self.verbosity > Verbosity::Quiet {
            let mut text = String::new();
            self.write(&mut text, &LogLine::run(LogLevel::Info, "started").field("manifest", manifest));
            self.out.push(&text, Duration::ZERO, false);
        }
    }

    /// Ends the report of several manifests with their results.
    pub fn end_manifests(&mut self, results: &[ManifestResult], noop: bool) {
        self.options.verbosity = self.verbosity;
        if self.verbosity == Verbosity::Quiet && results.iter().all(ManifestResult::is_success) {
            return;
        }
        let is = |outcome| results.iter().any(|result| result.outcome == outcome);
        let level = if is(Some(RunOutcome::Failed)) {
            LogLevel::Error
        } else if results.iter().any(|result| !result.is_success()) {
            LogLevel::Warning
        } else if is(Some(RunOutcome::Changed)) {
            LogLevel::Notice
        } else {
            LogLevel::Info
        };
        let mut line = LogLine::manifests(level, "finished").field("total", &results.len().to_string());
        for (word, count) in counted(results, noop) {
            line = line.field(word, &count.to_string());
        }
        for result in results.iter().filter(|result| result.outcome.is_none()) {
            line = line.field("skipped", &result.manifest);
        }
        let mut text = String::new();
        self.write(&mut text, &line);
        self.out.push(&text, Duration::ZERO, true);
    }

    /// Continues with a second run, of which only failures and warnings are reported, unless verbose.
    pub fn begin_verification(&mut self) {
        if self.options.verbosity == Verbosity::Normal {
            self.options.verbosity = Verbosity::Quiet;
        }
    }

    /// Writes the buffered text.
    pub fn write_out(&mut self) {
        self.out.write_out();
    }

    /// Ends the report. Returns an error if not all of it was written.
    pub fn finish(self) -> Result<(), ReportError> {
        self.out.finish().map(|_| ()).map_err(ReportError::Write)
    }

    fn write(&self, text: &mut String, line: &LogLine) {
        line.write(text, self.options.has_priorities);
    }

    fn message(&self, text: &mut String, message: Option<&str>) {
        for line in
            message.filter(|_| self.options.verbosity > Verbosity::Quiet).into_iter().flat_map(str::lines)
        {
            self.write(text, &LogLine::run(LogLevel::Info, "message").field("text", line));
        }
    }

    fn resource(&self, text: &mut String, transaction: &Transaction) {
        let least = match self.options.verbosity {
            Verbosity::Quiet => Importance::Warning,
            Verbosity::Normal => Importance::Change,
            Verbosity::Verbose | Verbosity::Everything => Importance::Nothing,
        };
        if Importance::of(transaction) < least {
            return;
        }
        self.write(text, &fields::resource_line(transaction, self.options.verbosity));
        fields::entry_lines(transaction).for_each(|line| self.write(text, &line));
        for warning in &transaction.warnings {
            let line = LogLine::of(LogLevel::Warning, &transaction.id, "warning").field("text", warning);
            self.write(text, &line);
        }
        let checks = transaction
            .health_checks
            .iter()
            .filter(|check| check.status != CheckStatus::Ok || self.options.verbosity >= Verbosity::Verbose);
        checks.for_each(|check| self.write(text, &fields::check_line(&transaction.id, check)));
        for note in &transaction.notes {
            self.write(text, &LogLine::of(LogLevel::Info, &transaction.id, "note").field("text", note));
        }
        if let Outcome::Failed(failure) = &transaction.outcome {
            self.output(text, transaction, failure);
        }
    }

    /// Writes the last lines that a failed command printed.
    fn output(&self, text: &mut String, transaction: &Transaction, failure: &Failure) {
        for tail in &failure.output {
            for line in &tail.lines {
                let line =
                    LogLine::of(LogLevel::Error, &transaction.id, "output").field(tail.stream.name(), line);
                self.write(text, &line);
            }
        }
    }

    fn end(&self, text: &mut String, run: &RunSummary) {
        self.message(text, run.message.as_deref());
        if self.options.verbosity == Verbosity::Quiet && !needs_attention(run) {
            return;
        }
        for unfinished in &run.refreshes.pending {
            let source = unfinished.refresh.source.to_string();
            let line =
                LogLine::of(LogLevel::Warning, &unfinished.subscriber, "pending").field("source", &source);
            self.write(text, &line.field("cause", &unfinished.cause.to_string()));
        }
        for cancelled in &run.refreshes.cancelled {
            let source = cancelled.refresh.source.to_string();
            let line = LogLine::of(LogLevel::Notice, &cancelled.subscriber, "no_longer_pending");
            self.write(text, &line.field("source", &source).field("cause", &cancelled.explanation()));
        }
        let ledger = run.refreshes.damage.iter().chain(&run.refreshes.unwritten);
        for problem in ledger {
            self.write(text, &LogLine::run(LogLevel::Warning, "ledger").field("error", problem));
        }
        let level = match run {
            _ if run.counts.failed + run.counts.unmet > 0 => LogLevel::Error,
            RunSummary { stopped: Some(StopCause::Signal { .. } | StopCause::Timeout { .. }), .. } => {
                LogLevel::Warning
            }
            _ if run.counts.any_change() => LogLevel::Notice,
            _ => LogLevel::Info,
        };
        let mut line = LogLine::run(level, "finished")
            .field("runtime", &display_duration(run.duration))
            .field("resources", &run.counts.total.to_string());
        for (group, count) in counts::counted(run) {
            line = line.field(group.key(), &count.to_string());
        }
        let CheckCounts { ok, warning, critical, unknown, not_run } = run.checks;
        let checks = [
            ("checks_ok", ok),
            ("checks_warning", warning),
            ("checks_critical", critical),
            ("checks_unknown", unknown),
            ("checks_not_run", not_run),
        ];
        for (key, count) in checks.into_iter().filter(|(_, count)| *count > 0) {
            line = line.field(key, &count.to_string());
        }
        if run.noop {
            line = line.field("noop", "true");
        }
        if run.monitor_only {
            line = line.field("monitor_only", "true");
        }
        if let Some(cause) = &run.stopped {
            line = line.field("stopped", &cause.to_string());
        }
        if let Some(id) = &self.run {
            line = line.field("id", id);
        }
        if let Some(manifest) = &self.manifest {
            line = line.field("manifest", manifest);
        }
        self.write(text, &line);
    }
}

#[cfg(test)]
mod tests;
