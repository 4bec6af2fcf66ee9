//! `ccm apply`: the wiring of a run.

use std::cell::RefCell;
use std::future::poll_fn;
use std::path::Path;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ccm_engine::{Ledger, ResourceType, Run, Stop};
use ccm_host::signals::Signals;
use ccm_host::state::{Directory, LockHolder};
use ccm_host::{
    Cancellation, CancellationSource, Clock as _, Host, Level, Outlet, SystemClock, SystemFiles, SystemRunner,
};
use ccm_manifest::{Loaded, render};
use ccm_model::{Catalog, Event, ResourceIndex, RunSummary, closest};
use ccm_report::RunIdentity;
use tracing::Instrument as _;

use crate::arguments::{Apply, Output};
use crate::exit::Code;
use crate::late::CatalogLate;
use crate::listeners::{self, EventsFile, Listeners};
use crate::secrets::secrets;
use crate::sources::MachineSources;
use crate::{debug_log, diagnostics, idempotence, manifest, messages, owed, show, state, watch};

/// Applies a manifest, from the command line to the exit code.
pub(crate) fn run(arguments: &Apply) -> Code {
    let types = ccm_resources::types();
    let directory = match manifest::directory(&arguments.manifest) {
        Ok(directory) => directory,
        Err(error) => return cannot_start(&error),
    };
    let sources = match MachineSources::of_manifest(&arguments.manifest, &arguments.values) {
        Ok(sources) => sources,
        Err(code) => return code,
    };
    let (text, (catalog, loaded)) = match read(arguments, &sources, &types) {
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
    let setting = Setting {
        arguments,
        types: &types,
        host: Host { runner: &runner, files: &files, clock: &clock },
        stop: Stop { cancellation: &cancellation, cause: &cause },
        directory: &directory,
        place: place.as_deref(),
        state: state.as_ref(),
        describe_unchanged: arguments.output != Output::Text || events_file.is_some(),
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
        let ledger = match setting.ledger(&catalog, encoder.identity()) {
            Ok(ledger) => ledger,
            Err(code) => return code,
        };
        let (output, screen) = match Outlet::open() {
            Ok(outlets) => outlets,
            Err(error) => return cannot_start(&error),
        };
        debug_log::write_through(&screen);
        let outlets = (output.clone(), screen);
        let listeners = Listeners::new(arguments, encoder, state.as_ref(), events_file, &clock, outlets);
        let listeners = RefCell::new(listeners);
        if let Err(error) = watch::begin(signals, arguments.timeout, source, Arc::clone(&cause)) {
            return cannot_start(&error);
        }
        let mut on_event = |event| listeners.borrow_mut().accept(&event);
        let run = setting.apply(&catalog, &loaded, only.as_deref(), ledger.as_ref(), &mut on_event);
        let mut summary = shown(run, &listeners).await;
        let mut code = Code::of(&summary, arguments.detailed_exitcodes);
        if arguments.verify_idempotent {
            (summary, code) = idempotence::verify(&setting, text, &listeners, summary, code).await;
        }
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
        () = output.emptied() => debug_log::write_at_once(),
        () = given_up(cancellation) => {}
    }
    ended.finish(output.result(), summary, code)
}

/// Reads the manifest, and keeps its text.
fn read<'s>(
    arguments: &Apply,
    sources: &'s MachineSources,
    types: &[&'static dyn ResourceType],
) -> Result<(Arc<str>, manifest::Kept<'s>), Code> {
    let request = manifest::request(&arguments.manifest, &arguments.values.data, sources)?;
    let text = Arc::clone(&request.text);
    Ok((text, manifest::read_request(request, sources, !arguments.quiet, types)?))
}

/// What a run is done with, whatever its manifest says.
pub(crate) struct Setting<'a> {
    pub(crate) arguments: &'a Apply,
    pub(crate) types: &'a [&'static dyn ResourceType],
    host: Host<'a>,
    stop: Stop<'a>,
    directory: &'a Path,
    place: Option<&'a Path>,
    pub(crate) state: Option<&'a Directory>,
    describe_unchanged: bool,
}

impl Setting<'_> {
    /// Opens what is remembered of refreshes from one run of a manifest to the next.
    pub(crate) fn ledger(&self, catalog: &Catalog, run: &RunIdentity) -> Result<Option<Ledger>, Code> {
        owed::ledger(self.arguments, catalog, run, self.state, self.place)
    }

    /// Goes through the resources of a manifest.
    pub(crate) async fn apply(
        &self,
        catalog: &Catalog,
        loaded: &Loaded<'_>,
        only: Option<&[ResourceIndex]>,
        ledger: Option<&Ledger>,
        on_event: &mut dyn FnMut(Event),
    ) -> RunSummary {
        let run = Run {
            catalog,
            types: &self.types.iter().map(|found| *found as _).collect::<Vec<_>>(),
            host: self.host,
            late: &CatalogLate { late: &loaded.late },
            secrets: secrets(),
            stop: self.stop,
            noop: self.arguments.noop,
            fail_on_error: self.arguments.fail_on_error,
            diff: self.arguments.diff,
            directory: self.directory,
            state_directory: self.place,
            describe_unchanged: self.describe_unchanged,
            only,
            ledger,
        };
        run.apply(on_event).await
    }
}

/// Waits for the end of a run, and shows what takes long.
pub(crate) async fn shown(
    run: impl Future<Output = RunSummary>,
    listeners: &RefCell<Listeners<'_>>,
) -> RunSummary {
    let span = debug_log::run_span(listeners.borrow().identity());
    let mut run = pin!(run.instrument(span));
    let mut run = pin!(poll_fn(|context| {
        let polled = run.as_mut().poll(context);
        // While the run waits, for a command as a rule, no more lines come that could be written together.
        if polled.is_pending() {
            listeners.borrow_mut().write_out();
        }
        polled
    }));
    let mut progress = pin!(listeners::show_progress(listeners));
    tokio::select! {
        biased;
        summary = &mut run => summary,
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
pub(crate) fn selection(arguments: &Apply, catalog: &Catalog) -> Result<Option<Vec<ResourceIndex>>, Code> {
    if arguments.only.is_empty() {
        return Ok(None);
    }
    let known = catalog.names();
    let mut selected = Vec::new();
    let mut unknown = false;
    for id in &arguments.only {
        if let Some(index) = known.find(id) {
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
