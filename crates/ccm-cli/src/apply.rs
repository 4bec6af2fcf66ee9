//! `ccm apply`: the wiring of a run.

mod confirmation;
mod loading;
mod planned;
mod runs;

use std::mem::ManuallyDrop;
use std::sync::Arc;

use ccm_runtime::plan::ReadPlan;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::process::{LastLine, NonBlockingWriter};
use ccm_runtime::{Config, ExitCode, Input, LoadedManifest, RunMode, Session, spawn};

use crate::arguments::{ApplyArguments, JsonForm, ReportFormat};
use crate::console::Console;
use crate::ensure::DeclaredCall;
use crate::ensure_session::store_error;
use crate::error::{CommandError, CommandResult};
use crate::reactor::{SharedRun, supervise};
use crate::source::FromRequest;
use crate::{listeners, pause, session, source};

pub(crate) use runs::report_record_errors;

/// Applies manifests, from the command line to the exit code.
pub(crate) fn run(arguments: ApplyArguments, console: &Console) -> CommandResult {
    run_with(arguments, None, console)
}

/// Ensures a resource without a manifest.
pub(crate) fn run_declared(
    arguments: ApplyArguments,
    call: DeclaredCall,
    console: &Console,
) -> CommandResult {
    run_with(arguments, Some(call), console)
}

fn run_with(arguments: ApplyArguments, declared: Option<DeclaredCall>, console: &Console) -> CommandResult {
    if arguments.confirm {
        confirmation::refuse_without_person(&arguments)?;
    }
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(SharedRun::default());
    let timeout = arguments.run.timeout;
    let config = Config {
        requires_signed: arguments.require_signed,
        requires_plan: arguments.require_plan,
        handles_plans: arguments.plan.is_some() || arguments.plan_out.is_some(),
        identity: arguments.values.identity.identity.clone(),
        ..session::config(console, arguments.run.state.state_dir.clone())
    };
    let context = ApplyContext {
        last_line: listeners::last_line(&arguments),
        arguments,
        plan: None,
        declared,
        console: console.clone(),
        shared: Arc::clone(&shared),
    };
    runtime.block_on(async {
        let job = spawn(config, async move |session| Box::pin(context.run(session)).await)?;
        supervise(job, &signals, timeout, &shared).await
    })
}

/// Context of the thread that applies manifests.
struct ApplyContext {
    arguments: ApplyArguments,
    /// Plan to follow.
    plan: Option<Arc<ReadPlan>>,
    /// Resource in place of manifests.
    declared: Option<DeclaredCall>,
    console: Console,
    shared: Arc<SharedRun>,
    /// Last line of the running command, if a terminal shows the progress.
    last_line: Option<LastLine>,
}

impl ApplyContext {
    async fn run(mut self, session: Session) -> CommandResult {
        let session = session::with_notices(session, &self.console);
        self.take_plan(&session)?;
        Box::pin(self.run_in(&session)).await
    }

    async fn run_in(&self, session: &Session) -> CommandResult {
        let Self { arguments, console, shared, .. } = self;
        if self.is_paused(session)? {
            return Ok(ExitCode::Success);
        }
        let accepts = !(arguments.noop || arguments.render);
        let mode = if accepts { RunMode::Apply } else { RunMode::Plan };
        let mut outcomes = None;
        let mut from = None;
        let inputs = if let Some(call) = &self.declared {
            let (input, opened) = call.input(session, arguments).await?;
            outcomes = opened;
            vec![input]
        } else {
            let followed = source::follow(FromRequest::of_apply(arguments), session, mode, console).await?;
            let sources = match followed.manifest() {
                Some(manifest) => vec![manifest],
                None => self.sources(session)?,
            };
            from = Some(followed);
            self.read(session, sources).await?
        };
        // The process ends with this run. Freeing 10000 resources would be 8 percent of its work.
        let manifests = ManuallyDrop::new(self.load(session, &inputs).await?);
        let manifests: Vec<&LoadedManifest<'_>> = manifests.iter().collect();
        if arguments.render {
            return show_rendered(console, &manifests);
        }
        let events_file = listeners::events_file(arguments)?;
        shared.mark_loaded();
        let writers = NonBlockingWriter::open();
        if arguments.confirm {
            let runs = self.begin(session, &inputs, &manifests, RunMode::Plan, false).await?;
            let plan = self.apply(session, &manifests, runs, (RunMode::Plan, None), writers.clone());
            let plan = Box::pin(plan).await;
            if !plan.any_change || shared.canceller.cause().is_some() {
                return Ok(plan.code);
            }
            if !confirmation::is_confirmed(console, &shared.canceller).await? {
                return Ok(ExitCode::NothingRun);
            }
        }
        let mut runs = self.begin(session, &inputs, &manifests, mode, events_file.is_some()).await?;
        self.check_plan(session, &inputs, &manifests, &mut runs).await?;
        let maker = self.begin_plan(session, &mut runs)?;
        let applied = Box::pin(self.apply(session, &manifests, runs, (mode, events_file), writers)).await;
        if let Some(maker) = maker {
            return self.end_plan(session, &maker, &manifests, applied.code);
        }
        if let Some(from) = from.filter(|_| mode == RunMode::Apply)
            && matches!(applied.code, ExitCode::Success | ExitCode::Changes)
        {
            from.mark_applied(session, console);
        }
        if let Some(error) = outcomes.and_then(|outcomes| outcomes.error()) {
            console.error(&store_error(&error).therefore("the run itself was completed"));
            return Ok(applied.code.and_failed());
        }
        Ok(applied.code)
    }

    /// Returns `true` for a run that honours a pause, and warns a person of the pause.
    fn is_paused(&self, session: &Session) -> CommandResult<bool> {
        let Self { arguments, console, .. } = self;
        if arguments.honour_pause {
            let pause = session.honoured_pause().map_err(|error| pause::pause_error(session, &error))?;
            if let Some(pause) = &pause {
                console.note(&format!("{}; nothing was run", pause::described(pause)));
                let form = match arguments.run.output.format {
                    ReportFormat::Json => JsonForm::Document,
                    ReportFormat::Jsonl => JsonForm::Lines,
                    ReportFormat::Text | ReportFormat::Log => return Ok(true),
                };
                console.print(&form.text(&pause::run_document(pause)))?;
            }
            return Ok(pause.is_some());
        }
        // A pause that can't be read does not concern this run.
        if !arguments.noop
            && !arguments.render
            && let Ok(Some(pause)) = session.pause()
        {
            console.warning(&format!("runs of the timer are {}", pause::described(&pause)));
        }
        Ok(false)
    }

    /// Begins the runs of all manifests. They hold the lock until their records are complete.
    async fn begin<'m>(
        &self,
        session: &'m Session,
        inputs: &[Input],
        manifests: &[&'m LoadedManifest<'m>],
        mode: RunMode,
        has_events_file: bool,
    ) -> CommandResult<Vec<ccm_runtime::ActiveRun<'m>>> {
        match session.begin_all(manifests, mode, &self.options(has_events_file)).await {
            Ok(runs) => Ok(runs),
            Err(failures) => Err(self.begin_error(session, inputs, &failures).await),
        }
    }
}

/// Prints the manifests with all values filled in, several as documents of one text.
fn show_rendered(console: &Console, manifests: &[&LoadedManifest<'_>]) -> CommandResult {
    let mut text = String::new();
    let mut errors = Vec::new();
    for manifest in manifests {
        match manifest.render() {
            Ok(rendered) if manifests.len() == 1 => text = rendered,
            Ok(rendered) => text += &format!("---\n{rendered}"),
            Err(found) => errors.push(found.into()),
        }
    }
    if errors.is_empty() {
        return console.print(&text);
    }
    Err(CommandError::new("the manifest can't be rendered; nothing was run").after(&errors))
}
