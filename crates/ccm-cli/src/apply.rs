//! `ccm apply`: the wiring of a run.

mod confirmation;
mod loading;
mod runs;

use std::mem::ManuallyDrop;
use std::sync::Arc;

use ccm_runtime::process::signals::Signals;
use ccm_runtime::process::{LastLine, NonBlockingWriter};
use ccm_runtime::{Config, ExitCode, Input, LoadedManifest, RunMode, Session, spawn};

use crate::arguments::ApplyArguments;
use crate::console::Console;
use crate::reactor::{SharedRun, supervise};
use crate::state::report_setup_error;
use crate::{diagnostics, listeners, pause, session};

pub(crate) use runs::report_record_errors;

/// Applies manifests, from the command line to the exit code.
pub(crate) fn run(arguments: ApplyArguments, console: &Console) -> ExitCode {
    match run_on_own_thread(arguments, console) {
        Ok(code) => code,
        Err(error) => report_setup_error(console, &error),
    }
}

/// Applies the manifests on their own thread, and waits for the end.
fn run_on_own_thread(arguments: ApplyArguments, console: &Console) -> std::io::Result<ExitCode> {
    if arguments.confirm
        && let Err(code) = confirmation::refuse_without_person(&arguments, console)
    {
        return Ok(code);
    }
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(SharedRun::default());
    let timeout = arguments.timeout;
    let config = Config {
        requires_signed: arguments.require_signed,
        ..session::config(console, arguments.state.state_dir.clone())
    };
    let context = ApplyContext {
        last_line: listeners::last_line(&arguments),
        arguments,
        console: console.clone(),
        shared: Arc::clone(&shared),
    };
    runtime.block_on(async {
        let job = spawn(config, async move |session| Box::pin(context.run(session)).await)?;
        Ok(supervise(job, &signals, timeout, &shared, console).await)
    })
}

/// Context of the thread that applies manifests.
struct ApplyContext {
    arguments: ApplyArguments,
    console: Console,
    shared: Arc<SharedRun>,
    /// Last line of the running command, if a terminal shows the progress.
    last_line: Option<LastLine>,
}

impl ApplyContext {
    async fn run(self, session: Session) -> ExitCode {
        let session = session::with_notices(session, &self.console);
        match Box::pin(self.run_in(&session)).await {
            Ok(code) | Err(code) => code,
        }
    }

    async fn run_in(&self, session: &Session) -> Result<ExitCode, ExitCode> {
        let Self { arguments, console, shared, .. } = self;
        self.check_pause(session)?;
        self.refuse_duplicates(session)?;
        let inputs = self.read(session).await?;
        // The process ends with this run. Freeing 10000 resources would be 8 percent of its work.
        let manifests = ManuallyDrop::new(self.load(session, &inputs).await?);
        let manifests: Vec<&LoadedManifest<'_>> = manifests.iter().collect();
        if arguments.render {
            return Ok(show_rendered(console, &manifests));
        }
        let events_file = listeners::events_file(arguments, console)?;
        shared.mark_loaded();
        let writers = NonBlockingWriter::open().map_err(|error| report_setup_error(console, &error))?;
        if arguments.confirm {
            let runs = self.begin(session, &inputs, &manifests, RunMode::Plan, false).await?;
            let plan = self.apply(session, &manifests, runs, (RunMode::Plan, None), writers.clone());
            let plan = Box::pin(plan).await;
            if !plan.any_change || shared.canceller.cause().is_some() {
                return Ok(plan.code);
            }
            confirmation::confirmed(console, &shared.canceller).await?;
        }
        let mode = if arguments.noop { RunMode::Plan } else { RunMode::Apply };
        let runs = self.begin(session, &inputs, &manifests, mode, events_file.is_some()).await?;
        let applied = Box::pin(self.apply(session, &manifests, runs, (mode, events_file), writers));
        Ok(applied.await.code)
    }

    /// Ends a run that honours a pause, and warns a person of the pause.
    fn check_pause(&self, session: &Session) -> Result<(), ExitCode> {
        let Self { arguments, console, .. } = self;
        if arguments.honour_pause {
            return match session.honoured_pause() {
                Ok(None) => Ok(()),
                Ok(Some(pause)) => {
                    console.note(&format!("{}; nothing was run", pause::described(&pause)));
                    Err(ExitCode::Success)
                }
                Err(error) => Err(pause::report_error(console, session, &error)),
            };
        }
        // A pause that can't be read does not concern this run.
        if !arguments.noop
            && !arguments.render
            && let Ok(Some(pause)) = session.pause()
        {
            console.warning(&format!("runs of the timer are {}", pause::described(&pause)));
        }
        Ok(())
    }

    /// Begins the runs of all manifests. They hold the lock until their records are complete.
    async fn begin<'m>(
        &self,
        session: &'m Session,
        inputs: &[Input],
        manifests: &[&'m LoadedManifest<'m>],
        mode: RunMode,
        has_events_file: bool,
    ) -> Result<Vec<ccm_runtime::ActiveRun<'m>>, ExitCode> {
        match session.begin_all(manifests, mode, &self.options(has_events_file)).await {
            Ok(runs) => Ok(runs),
            Err(failures) => Err(self.report_begin_failures(session, inputs, &failures).await),
        }
    }
}

/// Prints the manifests with all values filled in, several as documents of one text.
fn show_rendered(console: &Console, manifests: &[&LoadedManifest<'_>]) -> ExitCode {
    let mut text = String::new();
    let mut is_complete = true;
    for manifest in manifests {
        match manifest.render() {
            Ok(rendered) if manifests.len() == 1 => text = rendered,
            Ok(rendered) => text += &format!("---\n{rendered}"),
            Err(errors) => {
                diagnostics::print(console, &errors);
                is_complete = false;
            }
        }
    }
    if is_complete {
        return console.print(&text);
    }
    console.error("the manifest can't be rendered; nothing was run", &[], &[]);
    ExitCode::NothingRun
}
