//! Listeners of a run: the report, the events file, the terminal.

use std::io::{self, ErrorKind, Write, stdout};
use std::path::PathBuf;
use std::time::Duration;

use anstream::AutoStream;
use ccm_runtime::model::{Event, Outcome, OutputLine, Transaction};
use ccm_runtime::process::{
    Clock as _, LastLine, NonBlockingWriter, SystemClock, Terminal, is_utf8_locale, output_is_journal,
    output_width, variable,
};
use ccm_runtime::report::{
    JsonDocument, JsonLine, JsonLines, LogOptions, LogReport, ManifestResult, ProgressLine, ReportError,
    Screen, TextOptions, TextReport, Verbosity,
};
use ccm_runtime::{EventsFile, ExitCode, LoadedManifest, StopCause};

use crate::arguments::{self, ApplyArguments, ReportFormat};
use crate::colour::coloured;
use crate::console::Console;
use crate::debug_log;
use crate::error::{CommandError, CommandResult};
use crate::interruption::{self, Interrupted};
use crate::write_hints::{file_system_hint, named_file_hint};

/// Opens the file that `--events-file` or `CCM_EVENTS_FILE` names.
pub(crate) fn events_file(arguments: &ApplyArguments) -> CommandResult<Option<EventsFile>> {
    let path = match &arguments.run.events_file {
        Some(path) => Some(path.clone()),
        None => events_file_of_environment()?,
    };
    let Some(path) = path else { return Ok(None) };
    EventsFile::open(&path).map(Some).map_err(|error| {
        let message = format!("events file {} can't be opened; nothing was run", path.display());
        CommandError::new(message).caused_by(&error).hints(named_file_hint(&error))
    })
}

/// Variable with the path of the events file where the command line names none.
pub(crate) const EVENTS_FILE_VARIABLE: &str = "CCM_EVENTS_FILE";

/// Returns the path of the events file that the environment names.
pub(crate) fn events_file_of_environment() -> CommandResult<Option<PathBuf>> {
    let Some(path) = variable(EVENTS_FILE_VARIABLE) else { return Ok(None) };
    if let Some(Err(reason)) = path.to_str().map(arguments::events_file) {
        return Err(CommandError::variable(EVENTS_FILE_VARIABLE, &reason));
    }
    Ok(Some(PathBuf::from(path)))
}

/// Writer of standard output.
enum ReportWriter {
    Text(Box<TextReport<Box<dyn Write + Send>>>),
    Log(LogReport<NonBlockingWriter>),
    Lines(JsonLines<NonBlockingWriter>),
    Document(JsonDocument<NonBlockingWriter>),
}

/// Listeners of a run.
pub(crate) struct Listeners {
    clock: SystemClock,
    report: ReportWriter,
    events_file: Option<EventsFile>,
    terminal: Option<Terminal>,
    screen: NonBlockingWriter,
    progress: ProgressLine,
    /// Requests that wait for an approval.
    waiting: Vec<String>,
    /// Number of bytes of output that lines of JSON may still have of the resource that runs; `None` if they have none.
    output_left: Option<usize>,
}

/// Maximum number of bytes of output in lines of JSON, of one resource.
const MAX_EMITTED: usize = 64 << 10;

impl Listeners {
    /// Creates the listeners that the command line asks for.
    pub(crate) fn new(
        arguments: &ApplyArguments,
        events_file: Option<EventsFile>,
        (output, screen): (NonBlockingWriter, NonBlockingWriter),
        other_runs: Vec<String>,
        manifests: &[&LoadedManifest<'_>],
        progress: ProgressLine,
    ) -> Self {
        let verbosity = verbosity(arguments);
        let report = match arguments.run.output.format {
            ReportFormat::Text => {
                let out = coloured(output, AutoStream::choice(&stdout()));
                let screen = report_screen();
                let state = &arguments.run.state;
                let state_dir = state.state_dir.as_ref().filter(|_| !state.is_of_environment);
                let state_directory = state_dir.map(|directory| directory.display().to_string());
                let options = TextOptions { verbosity, screen, other_runs, state_directory };
                let resources = manifests.iter().flat_map(|manifest| &manifest.catalog().resources);
                let report = TextReport::new(out, options).with_resources(resources.map(|found| &found.id));
                ReportWriter::Text(Box::new(report))
            }
            ReportFormat::Log => {
                let options = LogOptions { verbosity, has_priorities: output_is_journal(), other_runs };
                ReportWriter::Log(LogReport::new(output, options))
            }
            ReportFormat::Jsonl => ReportWriter::Lines(JsonLines::new(output)),
            ReportFormat::Json if manifests.len() > 1 => {
                ReportWriter::Document(JsonDocument::of_several(output))
            }
            ReportFormat::Json => ReportWriter::Document(JsonDocument::new(output)),
        };
        Self {
            clock: SystemClock::new(),
            report,
            events_file,
            terminal: progress_terminal(arguments),
            screen,
            progress,
            waiting: Vec::new(),
            output_left: arguments.emits_output.then_some(MAX_EMITTED),
        }
    }

    /// Writes a line of output as JSON, if that is wanted.
    fn emit_output(&mut self, output: &OutputLine) {
        if let (Some(left), ReportWriter::Lines(lines)) = (&mut self.output_left, &mut self.report) {
            // The first line counts in any case: it may say why a command failed.
            if *left > 0 {
                *left = left.saturating_sub(output.line.len() + 1);
                lines.accept_output(output);
            }
        }
    }

    /// Passes an event to all listeners, with its line of JSON if lines are written.
    pub(crate) fn accept(&mut self, event: &Event, line: Option<&JsonLine<'_>>) {
        if let Some(erase) = self.progress.accept(event, self.clock.monotonic()) {
            self.show(erase);
        }
        if let Event::ResourceFinished(transaction) = event {
            self.emit_quoted(transaction);
        }
        if let Event::ResourceFinished(transaction) = event
            && let Outcome::Failed(failure) = &transaction.outcome
            && let Some(intent) = &failure.intent
        {
            // The name of a request begins with its code.
            let code = intent.0.split('-').next().unwrap_or_default().to_owned();
            if !self.waiting.contains(&code) {
                self.waiting.push(code);
            }
        }
        match &mut self.report {
            ReportWriter::Text(report) => report.accept(event),
            ReportWriter::Log(report) => report.accept(event),
            ReportWriter::Lines(_) | ReportWriter::Document(_) => {}
        }
        if let Event::OutputReceived(output) = event {
            self.emit_output(output);
        }
        let Some(line) = line else { return };
        match &mut self.report {
            ReportWriter::Text(_) | ReportWriter::Log(_) => {}
            ReportWriter::Lines(lines) => lines.accept(line),
            ReportWriter::Document(document) => document.accept(line),
        }
        if let Some(file) = &mut self.events_file {
            file.accept(line);
        }
    }

    /// Writes the output that a failure quotes, unless it was written line by line.
    fn emit_quoted(&mut self, transaction: &Transaction) {
        let is_new = self.output_left == Some(MAX_EMITTED);
        if is_new && let Outcome::Failed(failure) = &transaction.outcome {
            for tail in &failure.output {
                for line in &tail.lines {
                    let (id, line) = (transaction.id.clone(), line.clone());
                    self.emit_output(&OutputLine { id, stream: tail.stream, line });
                }
            }
        }
        self.output_left = self.output_left.map(|_| MAX_EMITTED);
    }

    /// Begins the report of a run that verifies the previous one.
    pub(crate) fn begin_verification(&mut self) {
        match &mut self.report {
            ReportWriter::Text(report) => report.begin_verification(),
            ReportWriter::Log(report) => report.begin_verification(),
            ReportWriter::Document(document) => document.begin_verification(),
            ReportWriter::Lines(_) => {}
        }
    }

    /// Begins the report of one of several manifests.
    pub(crate) fn begin_manifest(&mut self, manifest: &str, is_first: bool) {
        match &mut self.report {
            ReportWriter::Text(report) => report.begin_manifest(is_first),
            ReportWriter::Log(report) => report.begin_manifest(manifest),
            ReportWriter::Lines(_) | ReportWriter::Document(_) => {}
        }
    }

    /// Reports the results of several manifests.
    pub(crate) fn end_manifests(&mut self, results: &[ManifestResult], noop: bool) {
        match &mut self.report {
            ReportWriter::Text(report) => report.end_manifests(results, noop),
            ReportWriter::Log(report) => report.end_manifests(results, noop),
            ReportWriter::Document(document) => document.end_manifests(results),
            ReportWriter::Lines(_) => {}
        }
    }

    /// Reports that the second run changed nothing.
    pub(crate) fn verified(&mut self) {
        if let ReportWriter::Text(report) = &mut self.report {
            report.verified();
        }
    }

    /// Passes on the rest of the report and of the events.
    pub(crate) fn end_report(mut self) -> EndedReport {
        if let Some(file) = &mut self.events_file {
            file.write_out();
        }
        let report = match self.report {
            ReportWriter::Text(report) => report.finish(),
            ReportWriter::Log(report) => report.finish(),
            ReportWriter::Lines(lines) => lines.finish().map(|_| ()),
            ReportWriter::Document(document) => document.finish(),
        };
        EndedReport { report, events_file: self.events_file, waiting: self.waiting }
    }

    /// Writes the buffered lines.
    pub(crate) fn write_out(&mut self) {
        match &mut self.report {
            ReportWriter::Text(report) => report.write_out(),
            ReportWriter::Log(report) => report.write_out(),
            ReportWriter::Lines(lines) => lines.write_out(),
            ReportWriter::Document(_) => {}
        }
        if let Some(file) = &mut self.events_file {
            file.write_out();
        }
    }

    /// Updates the progress line.
    pub(crate) fn tick(&mut self) {
        if let Some(terminal) = self.terminal
            && let Some(text) = self.progress.tick(self.clock.monotonic(), progress_screen(terminal))
        {
            self.show(&text);
        }
    }

    /// Reports on standard error that the run is being ended. `patience` is the time that is left to a tool that
    /// must not be interrupted.
    pub(crate) fn interrupted(&mut self, cause: &StopCause, patience: Option<Duration>, is_urgent: bool) {
        let running = self.progress.running();
        let running = running.as_deref();
        let message = interruption::message(cause, Interrupted { running, patience, is_urgent });
        let erase = self.progress.erase().unwrap_or_default();
        self.show(&format!("{erase}{message}\n"));
    }

    /// Writes to standard error. Errors are ignored, because the terminal may be gone.
    fn show(&mut self, text: &str) {
        let _ = self.screen.write_all(text.as_bytes());
    }
}

/// Listeners after the end of the report.
pub(crate) struct EndedReport {
    report: Result<(), ReportError>,
    events_file: Option<EventsFile>,
    waiting: Vec<String>,
}

impl EndedReport {
    /// Waits until the reader of the events file has read all lines.
    pub(crate) async fn events_drained(&self) {
        if let Some(file) = &self.events_file {
            file.drained().await;
        }
    }

    /// Ends the other listeners, reports failures, and returns the exit code. `output` is the result of
    /// writing the report.
    pub(crate) fn finish(self, console: &Console, output: io::Result<()>, code: ExitCode) -> ExitCode {
        let mut code = code;
        match self.report.and(output.map_err(ReportError::Write)) {
            // The reader of standard output may have closed it, as `head` does.
            Err(ReportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) => {
                console.error(&CommandError::of(&error));
                code = code.and_failed();
            }
            Ok(()) => {}
        }
        if !self.waiting.is_empty() {
            let commands: Vec<String> =
                self.waiting.iter().map(|code| format!("`ccm approve {code}`")).collect();
            console.note(&format!("approve what waits with {}, and run ccm again", commands.join(", ")));
        }
        let path = self.events_file.as_ref().map(|file| file.path().to_owned()).unwrap_or_default();
        if let Some(Err(ReportError::Write(error))) = self.events_file.map(EventsFile::finish) {
            let message = format!("events file {} is not complete", path.display());
            console.error(&CommandError::new(message).caused_by(&error).hints(file_system_hint(&error)));
            code = code.and_failed();
        }
        code
    }
}

/// Returns the abilities of the receiver of the report.
pub(crate) fn report_screen() -> Screen {
    Screen { width: output_width(), is_unicode: is_utf8_locale() }
}

/// Returns the last line of commands, which they have to share only if a terminal shows the progress.
pub(crate) fn last_line(arguments: &ApplyArguments) -> Option<LastLine> {
    progress_terminal(arguments).map(|_| LastLine::default())
}

/// Returns the terminal that shows the progress.
fn progress_terminal(arguments: &ApplyArguments) -> Option<Terminal> {
    // Messages would be written into the progress line.
    if arguments.quiet || debug_log::is_on() { None } else { Terminal::on_standard_error() }
}

fn progress_screen(terminal: Terminal) -> Screen {
    Screen { width: Some(terminal.width()), is_unicode: is_utf8_locale() }
}

fn verbosity(arguments: &ApplyArguments) -> Verbosity {
    match (arguments.quiet, arguments.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, 0) => Verbosity::Normal,
        (false, 1) => Verbosity::Verbose,
        (false, _) => Verbosity::Everything,
    }
}
