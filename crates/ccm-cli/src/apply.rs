//! `ccm apply`: the wiring of a run.

use std::cell::OnceCell;
use std::convert::Infallible;
use std::io::{BufWriter, stdout};
use std::pin::pin;
use std::time::Duration;

use anstream::AutoStream;
use ccm_engine::{NoLateValues, Run, Stop};
use ccm_host::signals::Signals;
use ccm_host::{
    CancellationSource, Host, Level, SystemClock, SystemFiles, SystemRunner, default_state_directory,
};
use ccm_model::{Catalog, ResourceIndex, RunSummary, StopCause, closest};
use ccm_report::{TextReport, Verbosity};

use crate::arguments::Apply;
use crate::exit::Code;
use crate::{manifest, messages};

/// Applies a manifest, from the command line to the exit code.
pub(crate) fn run(arguments: &Apply) -> Code {
    if arguments.verbose > 1 {
        debug_to_stderr();
    }
    let types = ccm_resources::types();
    let catalog = match manifest::read(&arguments.manifest, &types) {
        Ok(catalog) => catalog,
        Err(code) => return code,
    };
    let only = match selection(arguments, &catalog) {
        Ok(only) => only,
        Err(code) => return code,
    };
    let directory = match manifest::directory(&arguments.manifest) {
        Ok(directory) => directory,
        Err(error) => return cannot_start(&error),
    };
    let state_directory = default_state_directory();
    let runner = match SystemRunner::new() {
        Ok(runner) => runner,
        Err(error) => return cannot_start(&error),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return cannot_start(&error),
    };
    let mut report = TextReport::new(BufWriter::new(AutoStream::auto(stdout())), verbosity(arguments));
    let clock = SystemClock::new();
    let (source, cancellation) = CancellationSource::new();
    let cause = OnceCell::new();
    let run = Run {
        catalog: &catalog,
        types: &types.iter().map(|found| *found as _).collect::<Vec<_>>(),
        host: Host { runner: &runner, files: &SystemFiles, clock: &clock },
        late: &NoLateValues,
        stop: Stop { cancellation: &cancellation, cause: &cause },
        noop: arguments.noop,
        fail_on_error: arguments.fail_on_error,
        diff: arguments.diff,
        directory: &directory,
        state_directory: state_directory.as_deref(),
        only: only.as_deref(),
    };
    let summary: std::io::Result<RunSummary> = runtime.block_on(async {
        let signals = Signals::listen()?;
        let mut on_event = |event| report.accept(&event);
        let mut apply = pin!(run.apply(&mut on_event));
        let mut watch = pin!(watch(signals, arguments.timeout, &source, &cause));
        // The end of the run comes first: a signal that arrives with it finds nothing to end.
        tokio::select! {
            biased;
            summary = &mut apply => Ok(summary),
            never = &mut watch => match never {},
        }
    });
    let summary = match summary {
        Ok(summary) => summary,
        Err(error) => return cannot_start(&error),
    };
    if let Err(error) = report.finish() {
        let causes: Vec<String> = std::error::Error::source(&error).iter().map(ToString::to_string).collect();
        messages::error(&error.to_string(), &causes, &[]);
    }
    Code::of(&summary, arguments.detailed_exitcodes)
}

fn verbosity(arguments: &Apply) -> Verbosity {
    match (arguments.quiet, arguments.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, 0) => Verbosity::Normal,
        (false, _) => Verbosity::Verbose,
    }
}

/// Finds what `--only` names.
fn selection(arguments: &Apply, catalog: &Catalog) -> Result<Option<Vec<ResourceIndex>>, Code> {
    if arguments.only.is_empty() {
        return Ok(None);
    }
    let mut selected = Vec::new();
    let mut unknown = false;
    for id in &arguments.only {
        if let Some(index) = catalog.find(id) {
            selected.push(index);
            continue;
        }
        unknown = true;
        let names: Vec<String> = catalog.resources.iter().map(|resource| resource.id.to_string()).collect();
        let near = closest(&id.to_string(), names.iter().map(String::as_str));
        let hints: Vec<String> = near.map(|near| format!("did you mean `{near}`?")).into_iter().collect();
        messages::error(
            &format!("--only names `{id}`, which is not in the manifest; nothing was run"),
            &[],
            &hints,
        );
    }
    if unknown { Err(Code::Usage) } else { Ok(Some(selected)) }
}

/// Turns signals and the end of the run's time into a cancellation, as long as the run lasts.
async fn watch(
    mut signals: Signals,
    timeout: Option<Duration>,
    source: &CancellationSource,
    cause: &OnceCell<StopCause>,
) -> Infallible {
    let mut deadline = pin!(ccm_host::after(timeout));
    let mut level = Level::Go;
    loop {
        let stop = tokio::select! {
            signal = signals.next() => StopCause::Signal { name: signal.name.to_owned(), number: signal.number },
            after = &mut deadline, if level == Level::Go => StopCause::Timeout { after },
        };
        // The first cause is the one that is told; a second one only makes it more urgent.
        level = if level == Level::Go { Level::Stop } else { Level::Kill };
        let _ = cause.set(stop);
        source.raise(level);
    }
}

/// Says that ccm itself could not be set up.
pub(crate) fn cannot_start(error: &dyn std::error::Error) -> Code {
    let causes: Vec<String> =
        std::iter::successors(Some(error), |error| error.source()).map(ToString::to_string).collect();
    messages::error("ccm can't start a run", &causes, &[]);
    Code::NothingRun
}

fn debug_to_stderr() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(anstream::stderr)
        .with_target(false)
        .without_time()
        .finish();
    // It is the first and only one, so it can't fail to be set.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
