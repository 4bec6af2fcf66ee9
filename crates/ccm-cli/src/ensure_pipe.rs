//! `ccm ensure api pipe`: requests on standard input, answers on standard output.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ccm_runtime::ensure::{
    DocumentStream, EnsureRequests, MAX_REQUEST, PAUSE_BETWEEN_RUNS, StreamDocument, request_failure,
};
use ccm_runtime::process::run_thread;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::{
    CancellationLevel, Canceller, Config, ExitCode, RunMode, RunOptions, Session, StopCause, printed, spawn,
};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::apply::report_record_errors;
use crate::arguments::{ApplyArguments, EnsurePipeArguments, ReportFormat};
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::session;

/// Number of pieces of standard input that are read before their requests are answered.
const QUEUE: usize = 2;

const CHUNK: usize = 64 << 10;

/// State of the pipe that its threads share.
#[derive(Default)]
struct PipeState {
    canceller: Canceller,
    /// A request is being answered.
    is_busy: AtomicBool,
}

/// Answers requests until standard input ends.
pub(crate) fn run(
    arguments: ApplyArguments,
    pipe: EnsurePipeArguments,
    store: Option<PathBuf>,
    console: &Console,
) -> CommandResult {
    refuse_without_effect(&arguments)?;
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let state = Arc::new(PipeState::default());
    let (sender, pieces) = mpsc::channel(QUEUE);
    run_thread("ccm-requests", move || read(&sender))?;
    let config = Config {
        identity: arguments.values.identity.identity.clone(),
        ..session::config(console, arguments.run.state.state_dir.clone())
    };
    let answering = Answering { arguments, pipe, store, console: console.clone(), state: Arc::clone(&state) };
    runtime.block_on(async {
        let job = spawn(config, async move |session| Box::pin(answering.run(session, pieces)).await)?;
        let mut job = pin!(job);
        loop {
            tokio::select! {
                biased;
                ended = &mut job => {
                    return ended.unwrap_or_else(|error| {
                        Err(CommandError::of(&error).with_code(ExitCode::Failures))
                    });
                }
                Ok(signal) = signals.next() => {
                    let stop = StopCause::Signal { name: signal.name.to_owned(), number: signal.number };
                    let is_again = state.canceller.cause().is_some();
                    if !state.is_busy.load(Ordering::SeqCst) {
                        return Err(CommandError::stopped(&stop, "ccm").with_message(format!("{} ended ccm", signal.name)));
                    }
                    let level = if is_again { CancellationLevel::Kill } else { CancellationLevel::Stop };
                    state.canceller.raise(level, stop);
                }
            }
        }
    })
}

/// Refuses options that answers have no use for.
fn refuse_without_effect(arguments: &ApplyArguments) -> CommandResult<()> {
    let given = [
        ("output", arguments.run.output.format != ReportFormat::Text),
        ("quiet", arguments.quiet),
        ("timeout", arguments.run.timeout.is_some()),
        ("events-file", arguments.run.events_file.is_some()),
        ("detailed-exitcodes", arguments.run.detailed_exitcodes),
    ];
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => {
            let message = format!("`--{option}` has no effect on `ccm ensure api pipe`");
            Err(CommandError::usage(message)
                .therefore("nothing was run")
                .hint("remove it: each answer is JSON, or YAML with `--yaml`"))
        }
        None => Ok(()),
    }
}

/// Reads standard input, and passes on its documents. Whoever sends more than is answered waits.
fn read(sender: &mpsc::Sender<Vec<StreamDocument>>) {
    let mut input = io::stdin().lock();
    let mut chunk = vec![0; CHUNK];
    let mut stream = DocumentStream::default();
    loop {
        let mut found = Vec::new();
        let is_end = match input.read(&mut chunk) {
            Ok(0) => true,
            Ok(length) => {
                stream.accept(&chunk[..length], |document| found.push(document));
                false
            }
            Err(error) => error.kind() != ErrorKind::Interrupted,
        };
        if is_end {
            stream.end(|document| found.push(document));
        }
        // Nobody waits for answers any more once the receiver is gone.
        let is_closed = !found.is_empty() && sender.blocking_send(found).is_err();
        if is_end || is_closed {
            return;
        }
    }
}

/// What answers requests.
struct Answering {
    arguments: ApplyArguments,
    pipe: EnsurePipeArguments,
    store: Option<PathBuf>,
    console: Console,
    state: Arc<PipeState>,
}

impl Answering {
    async fn run(self, session: Session, mut pieces: mpsc::Receiver<Vec<StreamDocument>>) -> CommandResult {
        let Self { arguments, pipe, store, console, state } = self;
        let session = session::with_notices(session, &console);
        let mode = if arguments.noop || pipe.noop { RunMode::Plan } else { RunMode::Apply };
        let defaults = RunOptions::default();
        let options = RunOptions {
            diff: arguments.diff,
            lock_wait: arguments.run.lock_wait.unwrap_or(defaults.lock_wait),
            keep_runs: arguments.run.keep_runs.unwrap_or(defaults.keep_runs),
            canceller: state.canceller.clone(),
            ..defaults
        };
        let values = session::values(&arguments.values);
        let mut requests = EnsureRequests::new(&session, values, mode, options, store);
        let mut code = ExitCode::Success;
        let mut answered = 0;
        let mut end_run = |requests: &mut EnsureRequests<'_>| {
            if let Some(ended) = requests.pause() {
                report_record_errors(&console, &ended);
                if ended.error.is_some() {
                    code = code.and_failed();
                }
            }
        };
        let mut documents = Vec::new().into_iter();
        loop {
            let Some(document) = documents.next() else {
                let next = if let Ok(next) = timeout(PAUSE_BETWEEN_RUNS, pieces.recv()).await {
                    next
                } else {
                    end_run(&mut requests);
                    state.is_busy.store(false, Ordering::SeqCst);
                    pieces.recv().await
                };
                let Some(next) = next else { break };
                documents = next.into_iter();
                continue;
            };
            state.is_busy.store(true, Ordering::SeqCst);
            let answer = match document {
                StreamDocument::TooLong => {
                    request_failure(&format!("the request is longer than {MAX_REQUEST} bytes"))
                }
                StreamDocument::Text(bytes) => match String::from_utf8(bytes) {
                    Ok(text) => requests.answer(&text).await,
                    Err(_) => request_failure("the request is not UTF-8 text"),
                },
            };
            answered += 1;
            let written = write(&answer, pipe.yaml);
            if !written.as_ref().is_ok_and(|is_read| *is_read) {
                end_run(&mut requests);
                // Nobody reads answers any more, which is no error of ccm.
                return written.map(|_| code);
            }
            if let Some(cause) = state.canceller.cause() {
                end_run(&mut requests);
                return Err(CommandError::stopped(cause, "ccm")
                    .with_message("ccm was ended; later requests have no answer"));
            }
        }
        end_run(&mut requests);
        if answered == 0 {
            write(&request_failure("there is no request"), pipe.yaml)?;
        }
        Ok(code)
    }
}

/// Writes an answer. Returns `false` if nobody reads it.
fn write(answer: &str, is_yaml: bool) -> CommandResult<bool> {
    let text = if is_yaml {
        let value = serde_json::from_str(answer).unwrap_or_default();
        format!("---\n{}", printed::yaml_document(&value))
    } else {
        format!("{answer}\n")
    };
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(CommandError::new("an answer can't be written")
            .caused_by(&error)
            .with_code(ExitCode::Failures)),
    }
}
