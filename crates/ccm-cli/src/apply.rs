//! `ccm apply`: the wiring of a run.

use std::cell::RefCell;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ccm_engine::{Run, Stop};
use ccm_host::signals::Signals;
use ccm_host::state::LockHolder;
use ccm_host::{
    Cancellation, CancellationSource, Clock as _, Host, Level, Outlet, SystemClock, SystemFiles, SystemRunner,
};
use ccm_manifest::{Loaded, render};
use ccm_model::{Catalog, ResourceIndex, RunSummary, closest};

use crate::arguments::{Apply, Output};
use crate::exit::Code;
use crate::late::CatalogLate;
use crate::listeners::{self, EventsFile, Listeners};
use crate::secrets::{Hiding, secrets};
use crate::sources::MachineSources;
use crate::{diagnostics, manifest, messages, owed, show, state, watch};

/// Applies a manifest, from the command line to the exit code.
pub(crate) fn run(arguments: &Apply) -> Code {
    if arguments.verbose > 1 {
        debug_to_stderr();
    }
    let types = ccm_resources::types();
    let directory = match manifest::directory(&arguments.manifest) {
        Ok(directory) => directory,
        Err(error) => return cannot_start(&error),
    };
    let sources = match MachineSources::of_manifest(&arguments.manifest, &arguments.values) {
        Ok(sources) => sources,
        Err(code) => return code,
    };
    let read =
        manifest::read(&arguments.manifest, &arguments.values.data, &sources, !arguments.quiet, &types);
    let (catalog, loaded) = match read {
        Ok(read) => read,
        Err(code) => return code,
    };
    if arguments.render {
        return show_rendered(&catalog, &loaded);
    }
    let only = match selection(arguments, &catalog) {
        Ok(only) => only,
        Err(code) => return code,
    };
    let runner = match SystemRunner::new() {
        // Every process has its own program under this path, also after an update has replaced the file.
        Ok(runner) => runner.with_launcher("/proc/self/exe").hiding(secrets().clone()),
        Err(error) => return cannot_start(&error),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return cannot_start(&error),
    };
    let events_file = match EventsFile::open(arguments) {
        Ok(events_file) => events_file,
        Err(code) => return code,
    };
    // Noop writes nothing, so it needs no lock and makes no place; it only knows where that would be.
    let place = state::path(&arguments.state).ok();
    let state = match (!arguments.noop).then(|| state::directory(&arguments.state)).transpose() {
        Ok(state) => state,
        Err(code) => return code,
    };
    if !arguments.noop {
        ccm_host::remove_private_leftovers();
    }
    let clock = SystemClock::new();
    let (source, cancellation) = CancellationSource::new();
    let cause = Arc::new(OnceLock::new());
    let files = SystemFiles::new(cancellation.clone());
    let run = Run {
        catalog: &catalog,
        types: &types.iter().map(|found| *found as _).collect::<Vec<_>>(),
        host: Host { runner: &runner, files: &files, clock: &clock },
        late: &CatalogLate { late: &loaded.late },
        secrets: secrets(),
        stop: Stop { cancellation: &cancellation, cause: &cause },
        noop: arguments.noop,
        fail_on_error: arguments.fail_on_error,
        diff: arguments.diff,
        directory: &directory,
        state_directory: place.as_deref(),
        describe_unchanged: arguments.output != Output::Text || events_file.is_some(),
        only: only.as_deref(),
        // It is opened under the lock.
        ledger: None,
    };
    runtime.block_on(async {
        let signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => return cannot_start(&error),
        };
        let name = manifest::full_name(&arguments.manifest);
        // It is held until everything is written.
        let holder = LockHolder { manifest: name.clone(), since: clock.now() };
        let _lock = match state::lock(state.as_ref(), &holder, arguments.lock_wait, &signals).await {
            Ok(lock) => lock,
            Err(code) => return code,
        };
        let encoder = listeners::encoder(name, state.as_ref(), &clock);
        let place = place.as_deref();
        let ledger = match owed::ledger(arguments, &catalog, encoder.identity(), state.as_ref(), place) {
            Ok(ledger) => ledger,
            Err(code) => return code,
        };
        let run = Run { ledger: ledger.as_ref(), ..run };
        let (output, screen) = match Outlet::open() {
            Ok(outlets) => outlets,
            Err(error) => return cannot_start(&error),
        };
        let outlets = (output.clone(), screen);
        let listeners = Listeners::new(arguments, encoder, state.as_ref(), events_file, &clock, outlets);
        let listeners = RefCell::new(listeners);
        if let Err(error) = watch::begin(signals, arguments.timeout, source, Arc::clone(&cause)) {
            return cannot_start(&error);
        }
        let summary = to_its_end(&run, &listeners).await;
        let code = Code::of(&summary, arguments.detailed_exitcodes);
        told(listeners.into_inner(), &output, &cancellation, &summary, code).await
    })
}

/// Ends the report and the record of a run, and returns how ccm ends for all that.
async fn told(
    listeners: Listeners<'_>,
    output: &Outlet,
    cancellation: &Cancellation,
    summary: &RunSummary,
    code: Code,
) -> Code {
    let ended = listeners.end_report();
    tokio::select! {
        biased;
        () = output.emptied() => {}
        () = given_up(cancellation) => {}
    }
    ended.finish(output.result(), summary, code)
}

/// Goes through the resources, and shows what takes long.
async fn to_its_end(run: &Run<'_>, listeners: &RefCell<Listeners<'_>>) -> RunSummary {
    let mut on_event = |event| listeners.borrow_mut().accept(&event);
    let mut apply = pin!(run.apply(&mut on_event));
    let mut progress = pin!(listeners::show_progress(listeners));
    tokio::select! {
        biased;
        summary = &mut apply => summary,
        never = &mut progress => match never {},
    }
}

/// Prints the manifest with all values put in.
fn show_rendered(catalog: &Catalog, loaded: &Loaded<'_>) -> Code {
    match render(catalog, loaded) {
        Ok(text) => show::print(&text),
        Err(mistakes) => {
            diagnostics::print(&mistakes, &loaded.texts());
            messages::error("the manifest can't be rendered; nothing was run", &[], &[]);
            Code::NothingRun
        }
    }
}

/// Waits until a reader who stands still need not be waited for any more, because the run is to end.
async fn given_up(cancellation: &Cancellation) {
    const AFTER_STOP: Duration = Duration::from_secs(2);
    // One who reads is given the time to do so.
    const AFTER_KILL: Duration = Duration::from_millis(500);
    cancellation.reached(Level::Stop).await;
    tokio::select! {
        () = cancellation.reached(Level::Kill) => {
            ccm_host::after(Some(AFTER_KILL)).await;
        }
        _ = ccm_host::after(Some(AFTER_STOP)) => {}
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

/// Says that ccm itself could not be set up.
pub(crate) fn cannot_start(error: &dyn std::error::Error) -> Code {
    let causes: Vec<String> =
        std::iter::successors(Some(error), |error| (*error).source()).map(ToString::to_string).collect();
    messages::error("ccm can't start a run", &causes, &[]);
    Code::NothingRun
}

fn debug_to_stderr() {
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_writer(|| Hiding(anstream::stderr()))
        .with_target(false)
        .without_time()
        .finish();
    // It is the first and only one, so it can't fail to be set.
    let _ = tracing::subscriber::set_global_default(subscriber);
}
