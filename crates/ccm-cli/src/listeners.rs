//! Everybody who listens to a run: the report, the events file, the record, the terminal.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io::{self, ErrorKind, Write, stdout};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use anstream::AutoStream;
use ccm_host::state::{AppendFile, Directory};
use ccm_host::{Clock, Outlet, Terminal, after, random, variable};
use ccm_model::{Event, RunSummary};
use ccm_report::{
    Encoder, Ids, JsonDocument, JsonLines, Progress, ReportError, RunIdentity, RunStore, StoredSummary,
    TextReport, Verbosity,
};

use crate::arguments::{Apply, Output, events_file};
use crate::colour::coloured;
use crate::exit::Code;
use crate::{debug_log, messages};

/// How often those who watch a run are brought up to date.
const TICK: Duration = Duration::from_millis(500);

/// The file that `--events-file` or `CCM_EVENTS_FILE` names.
pub(crate) struct EventsFile {
    path: PathBuf,
    file: AppendFile,
}

impl EventsFile {
    /// Opens it, if one is named.
    pub(crate) fn open(arguments: &Apply) -> Result<Option<Self>, Code> {
        let path = match (&arguments.events_file, variable("CCM_EVENTS_FILE")) {
            (Some(path), _) => path.clone(),
            (None, Some(path)) => match path.to_str().map(events_file) {
                Some(Err(reason)) => {
                    messages::error("CCM_EVENTS_FILE can't be used", &[reason], &[]);
                    return Err(Code::Usage);
                }
                _ => PathBuf::from(path),
            },
            (None, None) => return Ok(None),
        };
        match AppendFile::open(&path) {
            Ok(file) => Ok(Some(Self { path, file })),
            Err(error) => {
                let message = format!("events file {} can't be opened; nothing was run", path.display());
                messages::error(&message, &[error.to_string()], &[]);
                Err(Code::NothingRun)
            }
        }
    }
}

/// Names a run, and what happens in it. A later run has a greater name, also if the clock was set back.
pub(crate) fn encoder(manifest: String, state: Option<&Directory>, clock: &dyn Clock) -> Encoder {
    let ids = Ids::new(random());
    let ids = match state.and_then(RunStore::newest) {
        Some(newest) => ids.after(&newest),
        None => ids,
    };
    Encoder::new(ids, clock.now(), manifest, env!("CARGO_PKG_VERSION"))
}

/// What goes to standard output.
enum Report {
    Text(TextReport<Box<dyn Write>>),
    Lines(JsonLines<Outlet>),
    Document(JsonDocument<Outlet>),
}

/// Everybody who listens to a run.
pub(crate) struct Listeners<'a> {
    clock: &'a dyn Clock,
    began: SystemTime,
    encoder: Encoder,
    report: Report,
    events_file: Option<(PathBuf, JsonLines<AppendFile>)>,
    store: Option<RunStore>,
    terminal: Option<Terminal>,
    screen: Outlet,
    progress: Progress,
}

impl<'a> Listeners<'a> {
    /// Gets them ready; a run without a state directory is not recorded.
    pub(crate) fn new(
        arguments: &Apply,
        encoder: Encoder,
        state: Option<&Directory>,
        events_file: Option<EventsFile>,
        clock: &'a dyn Clock,
        (output, screen): (Outlet, Outlet),
    ) -> Self {
        let began = clock.now();
        let report = match arguments.output {
            Output::Text => {
                let out = coloured(output, AutoStream::choice(&stdout()));
                Report::Text(TextReport::new(out, verbosity(arguments)))
            }
            Output::Jsonl => Report::Lines(JsonLines::new(output)),
            Output::Json => Report::Document(JsonDocument::new(output)),
        };
        Self {
            clock,
            began,
            store: state.map(|state| RunStore::begin(state, encoder.identity(), arguments.keep_runs)),
            encoder,
            report,
            events_file: events_file.map(|events| (events.path, JsonLines::new(events.file))),
            // Messages would be written into the line that shows the progress.
            terminal: if arguments.quiet || debug_log::is_on() {
                None
            } else {
                Terminal::on_standard_error()
            },
            screen,
            progress: Progress::default(),
        }
    }

    /// Tells them all of an event.
    pub(crate) fn accept(&mut self, event: &Event) {
        if let Event::ArtifactsLeft(artifacts) = event {
            if let Some(store) = &mut self.store {
                store.keep(artifacts);
            }
            return;
        }
        if self.terminal.is_some()
            && let Some(erase) = self.progress.accept(event, self.clock.monotonic())
        {
            self.show(erase);
        }
        if let Event::SessionStarted(session) = event {
            self.began = session.at;
        }
        if let Report::Text(report) = &mut self.report {
            report.accept(event);
        }
        // Most events of a steady run are of no use to the store, and then nobody pays for the JSON.
        let stored = self.store.as_ref().is_some_and(|store| store.wants(event));
        if !stored && self.events_file.is_none() && matches!(self.report, Report::Text(_)) {
            return;
        }
        let Some(line) = self.encoder.encode(event) else { return };
        match &mut self.report {
            Report::Text(_) => {}
            Report::Lines(lines) => lines.accept(&line),
            Report::Document(document) => document.accept(&line),
        }
        if let Some((_, lines)) = &mut self.events_file {
            lines.accept(&line);
        }
        if let Some(store) = self.store.as_mut().filter(|_| stored) {
            store.accept(&line);
        }
    }

    /// Ends the record of the run so far, says what could not be written, and begins with a run that verifies it.
    /// Returns how ccm ends for all that.
    pub(crate) fn begin_verification(
        &mut self,
        state: Option<&Directory>,
        keep_runs: usize,
        summary: &RunSummary,
        code: Code,
    ) -> Code {
        let code = end_record(self.store.take(), self.encoder.identity(), self.began, summary, code);
        self.began = self.clock.now();
        self.encoder.begin_verification(self.began);
        self.store = state.map(|state| RunStore::begin(state, self.encoder.identity(), keep_runs));
        if let Report::Text(report) = &mut self.report {
            report.begin_verification();
        }
        code
    }

    /// Which run it is that is reported on.
    pub(crate) fn identity(&self) -> &RunIdentity {
        self.encoder.identity()
    }

    /// Says that the second run changed nothing.
    pub(crate) fn verified(&mut self) {
        if let Report::Text(report) = &mut self.report {
            report.verified();
        }
    }

    /// Hands the rest of the report on.
    pub(crate) fn end_report(self) -> Ended {
        let report = match self.report {
            Report::Text(report) => report.finish(),
            Report::Lines(lines) => lines.finish().map(|_| ()),
            Report::Document(document) => document.finish(),
        };
        Ended {
            report,
            began: self.began,
            encoder: self.encoder,
            events_file: self.events_file,
            store: self.store,
        }
    }

    /// Writes out the lines that wait for more of them.
    pub(crate) fn write_out(&mut self) {
        match &mut self.report {
            Report::Text(report) => report.write_out(),
            Report::Lines(lines) => lines.write_out(),
            Report::Document(_) => {}
        }
        if let Some((_, lines)) = &mut self.events_file {
            lines.write_out();
        }
    }

    fn tick(&mut self) {
        if let Some(terminal) = self.terminal
            && let Some(text) = self.progress.tick(self.clock.monotonic(), terminal.width())
        {
            self.show(&text);
        }
    }

    /// Writes to the terminal; if that fails, nobody is looking.
    fn show(&mut self, text: &str) {
        let _ = self.screen.write_all(text.as_bytes());
    }
}

/// Everybody whose report is on its way.
pub(crate) struct Ended {
    report: Result<(), ReportError>,
    began: SystemTime,
    encoder: Encoder,
    events_file: Option<(PathBuf, JsonLines<AppendFile>)>,
    store: Option<RunStore>,
}

impl Ended {
    /// Lets the others finish, says what could not be written, and returns how ccm ends for all that.
    /// `output` is what became of the report on its way.
    pub(crate) fn finish(self, output: io::Result<()>, summary: &RunSummary, code: Code) -> Code {
        let mut code = code;
        match self.report.and(output.map_err(ReportError::Write)) {
            // Whoever reads standard output may go away when they have seen enough.
            Err(ReportError::Write(error)) if error.kind() == ErrorKind::BrokenPipe => {}
            Err(error) => {
                messages::from_error(&error, "", &[]);
                code = code.and_failed();
            }
            Ok(()) => {}
        }
        if let Some((path, lines)) = self.events_file
            && let Err(ReportError::Write(error)) =
                lines.finish().and_then(|file| file.sync().map_err(ReportError::Write))
        {
            let message = format!("events file {} is not complete", path.display());
            messages::error(&message, &[error.to_string()], &[]);
            code = code.and_failed();
        }
        end_record(self.store, self.encoder.identity(), self.began, summary, code)
    }
}

/// Ends the record of a run, says what could not be written, and returns how ccm ends for all that.
fn end_record(
    store: Option<RunStore>,
    identity: &RunIdentity,
    began: SystemTime,
    summary: &RunSummary,
    code: Code,
) -> Code {
    let Some(store) = store else { return code };
    let mut code = if store.failed() { code.and_failed() } else { code };
    let recorded = store.finish(&StoredSummary::of(identity, began, summary, code.number()));
    if let Err(error) = recorded.record {
        messages::from_error(&error, "the run itself went on to its end", &[]);
        code = code.and_failed();
    }
    for error in recorded.kept {
        messages::from_error(&error, "the run itself is not affected", &["remove it by hand".to_owned()]);
    }
    code
}

/// Keeps everybody who watches up to date, for as long as it is polled.
pub(crate) async fn show_progress(listeners: &RefCell<Listeners<'_>>) -> Infallible {
    loop {
        after(Some(TICK)).await;
        listeners.borrow_mut().tick();
    }
}

fn verbosity(arguments: &Apply) -> Verbosity {
    match (arguments.quiet, arguments.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, 0) => Verbosity::Normal,
        (false, 1) => Verbosity::Verbose,
        (false, _) => Verbosity::Everything,
    }
}
