//! The report for journals and log files: a line of fields for each change, warning and failure.

mod fields;

use std::io::Write;
use std::time::Duration;

use ccm_model::{Event, Failure, Outcome, OutputLine, RunSummary, StopCause, Transaction, display_duration};

use self::fields::{LogLevel, LogLine};
use crate::ReportError;
use crate::output_buffer::OutputBuffer;
use crate::text::{Importance, Verbosity, needs_attention, short_id};

/// Options of a log.
#[derive(Clone, Debug, Default)]
pub struct LogOptions {
    /// Amount of detail.
    pub verbosity: Verbosity,
    /// `true` if each line begins with its priority in angle brackets, as the journal of systemd reads it.
    pub has_priorities: bool,
    /// Id of the newest run that was recorded before. The short id of this run differs from it.
    pub earlier_run: Option<String>,
}

/// Report of a run as lines `LEVEL type#name word key=value…`. Values with blanks are quoted, and control
/// characters are escaped.
pub struct LogReport<W: Write> {
    out: OutputBuffer<W>,
    options: LogOptions,
    /// Short id of the run, if it is recorded.
    run: Option<String>,
}

impl<W: Write> LogReport<W> {
    /// Builds a report.
    pub fn new(out: W, options: LogOptions) -> Self {
        Self { out: OutputBuffer::new(out), options, run: None }
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
                let earlier = self.options.earlier_run.replace(session.run_id.clone());
                // Noop leaves no record.
                let id = short_id(&session.run_id, earlier.as_deref());
                self.run = Some(id.to_owned()).filter(|id| !session.noop && !id.is_empty());
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
        for warning in &transaction.warnings {
            let line = LogLine::of(LogLevel::Warning, &transaction.id, "warning").field("text", warning);
            self.write(text, &line);
        }
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
        for (count, name) in fields::counts(run) {
            line = line.field(name, &count.to_string());
        }
        if run.noop {
            line = line.field("noop", "true");
        }
        if let Some(cause) = &run.stopped {
            line = line.field("stopped", &cause.to_string());
        }
        if let Some(id) = &self.run {
            line = line.field("id", id);
        }
        self.write(text, &line);
    }
}

#[cfg(test)]
mod tests;
