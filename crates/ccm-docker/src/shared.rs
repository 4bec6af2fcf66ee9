//! A container that the commands of a run share.

use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use ccm_host::{
    Cancellation, CancellationLevel, ClosedPlan, Command, ContainerError, ContainerSettings, Exit, Finished,
    Process, StartError, after,
};

use crate::engine::{AttachedStream, Engine};
use crate::engine_use::{EngineUse, patiently};
use crate::error::{EngineError, Step, program_error};
use crate::exit::{action, probable_signal, report_end_of_memory, set_explanation};
use crate::plan::{ContainerPlan, ended, removed_from_outside};
use crate::single::{GRACE, KILLED};
use crate::specification::{self, KEEPER};
use crate::streams::{ContainerOutput, ContainerStreams, LineSink};

/// First pause before the Engine is asked again whether a command has ended.
const FIRST_PAUSE: Duration = Duration::from_millis(5);
/// Longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Time in which an Engine returns the events of a container.
const EVENTS: Duration = Duration::from_millis(500);

/// Running container. It ends with the connection that this value holds.
pub(crate) struct SharedContainer {
    settings: ContainerSettings,
    name: String,
    /// Standard input of the shell that keeps the container alive.
    keeper: AttachedStream,
}

/// End of a command, or the reason to end it.
enum Followed {
    CommandEnd { exit_code: Option<i64>, pid: i64 },
    By(Exit),
}

/// Runs a command in the container of the run, which the first command starts.
pub(crate) async fn run(
    plan: &ContainerPlan<'_>,
    command: &Command,
    cancellation: &Cancellation,
    on_line: LineSink<'_>,
) -> Result<Finished, StartError> {
    let Some((container, exec)) = prepare(plan, command, cancellation).await? else {
        return Ok(ended(Exit::Cancelled));
    };
    let engine = &plan.used.engine;
    let started = plan.executor.clock.monotonic();
    let attached = match patiently(cancellation, engine.start_exec(&exec)).await {
        None => {
            discard(plan, &container).await;
            return Ok(plan.finished(&container.name, Exit::Cancelled, ContainerOutput::default()));
        }
        Some(attached) => attached.map_err(|error| plan.not_started(error))?,
    };
    let redactor = plan.executor.secrets.redactor();
    let (stdin, last_line) = (command.stdin.as_deref(), command.last_line.as_ref());
    let mut streams = ContainerStreams::new(attached, stdin, engine.address(), &redactor, last_line, on_line);
    let followed = match follow(engine, &exec, command.timeout, cancellation, &mut streams).await {
        Ok(followed) => followed,
        Err(error) => {
            discard(plan, &container).await;
            let is_removed = error.status() == Some(404);
            return Err(if is_removed { removed_from_outside(&container.name) } else { plan.lost(error) });
        }
    };
    if let Followed::By(_) = &followed {
        let user = plan.user.as_deref();
        streams.transfer_until(terminate(engine, &container.name, &exec, user, cancellation)).await;
        discard(plan, &container).await;
    }
    let was_open = !streams.has_ended();
    streams.drain().await;
    let duration = plan.executor.clock.monotonic().saturating_sub(started);
    let error = streams.take_error();
    let collected = streams.finish();
    let (exit, code) = match followed {
        Followed::By(exit) => (exit, 0),
        Followed::CommandEnd { exit_code, pid } => {
            let may_be_refused = pid == 0 && exit_code.is_none_or(|code| matches!(code, 126 | 127));
            if may_be_refused && let Some(error) = never_started(plan, command, &collected) {
                return Err(error);
            }
            let code = i32::try_from(exit_code.unwrap_or(255)).unwrap_or(255);
            (Exit::Code(code), code)
        }
    };
    if let (Some(error), Exit::Code(_)) = (error, &exit) {
        plan.warn(&format!("the output of the command may not be complete: {error}"));
    }
    let has_ended_by_itself = matches!(exit, Exit::Code(_));
    let mut finished = plan.finished(&container.name, exit, collected);
    finished.duration = duration;
    if was_open && has_ended_by_itself {
        finished.left_running = left_running(engine, &container.name).await;
    }
    if code > 128 {
        explain(plan, &container, &exec, code, &mut finished).await?;
    }
    Ok(finished)
}

/// Returns the container and the prepared command; `None` if the run was cancelled.
async fn prepare(
    plan: &ContainerPlan<'_>,
    command: &Command,
    cancellation: &Cancellation,
) -> Result<Option<(Rc<SharedContainer>, String)>, StartError> {
    let body = specification::of_exec(plan.user.as_deref(), command);
    loop {
        let known = plan.used.shared.borrow().iter().find(|known| known.settings == *plan.settings).cloned();
        let is_known = known.is_some();
        let container = match known {
            Some(known) => known,
            None => match start(plan, cancellation).await? {
                Some(started) => started,
                None => return Ok(None),
            },
        };
        match plan.used.engine.create_exec(&container.name, body.clone()).await {
            Ok(created) => return Ok(Some((container, created.id))),
            // 404 and 409: the container was removed or stopped from outside.
            Err(error) if is_known && matches!(error.status(), Some(404 | 409 | 500)) => {
                let name = container.name.clone();
                discard(plan, &container).await;
                plan.warn(&format!(
                    "the container {name} of this run was stopped from outside; ccm started another one"
                ));
            }
            Err(error) => return Err(plan.not_started(error)),
        }
    }
}

/// Starts the container of the run; `None` if the run was cancelled.
async fn start(
    plan: &ContainerPlan<'_>,
    cancellation: &Cancellation,
) -> Result<Option<Rc<SharedContainer>>, StartError> {
    let engine = &plan.used.engine;
    let name = plan.executor.next_name();
    plan.used.live.borrow_mut().insert(name.clone());
    let body = specification::of_run(plan.settings, &plan.labels());
    let started = async {
        engine.create(&name, plan.settings.platform.as_deref(), body).await?;
        let keeper = engine.attach(&name, true, false).await?;
        engine.start(&name).await?;
        Ok::<_, EngineError>(keeper)
    };
    let keeper = match patiently(cancellation, started).await {
        Some(Ok(keeper)) => keeper,
        failed => {
            if plan.used.engine.remove(&name).await.is_ok() {
                plan.used.live.borrow_mut().remove(&name);
            }
            return match failed {
                Some(Err(error)) => Err(no_keeper(plan, error)),
                _ => Ok(None),
            };
        }
    };
    let settings = plan.settings.clone();
    if !settings.auto_remove {
        plan.note(format!("the container {name} is kept after this run"));
    }
    let container = Rc::new(SharedContainer { settings, name, keeper });
    plan.used.shared.borrow_mut().push(Rc::clone(&container));
    Ok(Some(container))
}

/// Returns the error of a container that could not be started: most often its image has no shell.
fn no_keeper(plan: &ContainerPlan<'_>, error: EngineError) -> StartError {
    match program_error(error.message(), KEEPER, "") {
        Some(StartError::NotFound { .. }) => StartError::Container(Box::new(ContainerError {
            message: format!(
                "`container: per_run` needs {KEEPER}, which the image `{}` does not have",
                plan.settings.image
            ),
            source: None,
            hints: vec![format!("use `container: per_command` in the executor `{}`", plan.settings.executor)],
            property: Some("executor"),
            missing: None,
            has_run: false,
        })),
        Some(other) => other,
        None => plan.not_started(error),
    }
}

/// Follows a command until it has ended, or has to be ended. The Engine ends the stream when every process has closed
/// it, which may be long before or after the end of the command.
async fn follow(
    engine: &Engine,
    exec: &str,
    timeout: Option<Duration>,
    cancellation: &Cancellation,
    streams: &mut ContainerStreams<'_>,
) -> Result<Followed, EngineError> {
    let mut deadline = pin!(after(timeout));
    let mut pause = FIRST_PAUSE;
    loop {
        let wait = if streams.has_ended() { pause } else { LONGEST_PAUSE };
        tokio::select! {
            biased;
            () = cancellation.reached(CancellationLevel::Stop) => return Ok(Followed::By(Exit::Cancelled)),
            after = &mut deadline => return Ok(Followed::By(Exit::TimedOut { after })),
            () = streams.transfer_to_end(), if !streams.has_ended() => {}
            _ = after(Some(wait)) => pause = (pause * 2).min(LONGEST_PAUSE),
        }
        let state = engine.exec_state(exec).await?;
        if !state.running {
            return Ok(Followed::CommandEnd { exit_code: state.exit_code, pid: state.pid });
        }
    }
}

/// Returns the error of a command that the Engine accepted and then did not start. The reason is in the output: for
/// Docker in that of the command, for Podman in its errors. `None` if the output is that of a command.
fn never_started(
    plan: &ContainerPlan<'_>,
    command: &Command,
    collected: &ContainerOutput,
) -> Option<StartError> {
    const SIGNS: [&str; 4] = ["OCI runtime ", "OCI permission denied", "exec failed: ", "unable to find "];
    let printed = collected.unredacted.as_deref();
    let stdout = printed.map_or(&collected.stdout, |printed| &printed.stdout);
    let stderr = printed.map_or(&collected.stderr, |printed| &printed.stderr);
    let message = String::from_utf8_lossy(if stdout.head.is_empty() { &stderr.head } else { &stdout.head });
    if !SIGNS.iter().any(|sign| message.contains(sign)) {
        return None;
    }
    let program = command.program.to_string_lossy();
    let error = program_error(&message, &program, &plan.search_path).unwrap_or_else(|| {
        let message = crate::error::one_line(&message);
        plan.not_started(EngineError::Refused { step: Step::Start, status: 0, message })
    });
    Some(error)
}

/// Ends a command: TERM to every process that its user may signal, and two seconds later KILL with the container.
async fn terminate(engine: &Engine, name: &str, exec: &str, user: Option<&str>, cancellation: &Cancellation) {
    if cancellation.level() == CancellationLevel::Kill {
        return;
    }
    let ended = async {
        // Without a signal the end of the grace kills the container.
        if let Ok(created) = engine.create_exec(name, specification::of_termination(user)).await {
            let _stream = engine.start_exec(&created.id).await;
            let mut pause = FIRST_PAUSE;
            while engine.exec_state(exec).await.is_ok_and(|state| state.running) {
                after(Some(pause)).await;
                pause = (pause * 2).min(LONGEST_PAUSE / 10);
            }
        } else {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        biased;
        () = ended => {}
        () = cancellation.reached(CancellationLevel::Kill) => {}
        _ = after(Some(GRACE)) => {}
    }
}

/// Kills a container that is not to be used any more, and removes it unless it is kept.
async fn discard(plan: &ContainerPlan<'_>, container: &Rc<SharedContainer>) {
    plan.used.shared.borrow_mut().retain(|known| !Rc::ptr_eq(known, container));
    let SharedContainer { settings, name, .. } = &**container;
    let engine = &plan.used.engine;
    let result = if settings.auto_remove {
        engine.remove(name).await
    } else {
        match engine.signal(name, "SIGKILL").await {
            Err(error) if matches!(error.status(), Some(404 | 409 | 500)) => Ok(()),
            result => result,
        }
    };
    match result {
        Ok(()) => drop(plan.used.live.borrow_mut().remove(name)),
        Err(error) if error.is_gone() => {}
        Err(error) => plan.warn(&format!("the container {name} could not be removed: {error}")),
    }
}

/// Returns the processes in a container besides the shell that keeps it alive.
async fn left_running(engine: &Engine, name: &str) -> Vec<Process> {
    let Ok(mut processes) = engine.processes(name).await else { return Vec::new() };
    // The shell is the first process of the container, and the oldest one.
    processes.sort_unstable();
    processes.into_iter().skip(1).map(|(pid, name)| Process::new(pid, name)).collect()
}

/// Explains an exit code of a command that a signal may have ended.
async fn explain(
    plan: &ContainerPlan<'_>,
    container: &Rc<SharedContainer>,
    exec: &str,
    code: i32,
    finished: &mut Finished,
) -> Result<(), StartError> {
    let name = &container.name;
    let state = match plan.used.engine.state(name).await {
        Ok(state) => state,
        Err(error) if error.status() == Some(404) => {
            discard(plan, container).await;
            return Err(removed_from_outside(name));
        }
        Err(error) => return Err(plan.lost(error)),
    };
    // Earlier events are those of earlier commands.
    let mut has_begun = false;
    let events = plan.used.engine.find_event(name, state.started_at(), EVENTS, |event| {
        has_begun |= event.pointer("/Actor/Attributes/execID").is_some_and(|id| id == exec);
        match action(event) {
            found @ ("oom" | "kill") if has_begun => Some(found == "oom"),
            _ => None,
        }
    });
    match events.await.ok().flatten() {
        Some(true) => report_end_of_memory(plan, Some(code - 128), finished),
        _ if state.oom_killed => report_end_of_memory(plan, Some(code - 128), finished),
        Some(false) => {
            discard(plan, container).await;
            let number = code - 128;
            finished.exit = Exit::Signal { number, name: ccm_host::signal_name(number) };
            set_explanation(finished, format!("somebody stopped the container {name} from outside"));
        }
        None => set_explanation(finished, probable_signal(plan, code)),
    }
    Ok(())
}

impl SharedContainer {
    /// Ends the container at the end of the run, and removes it unless it is kept.
    pub(crate) async fn close(
        self: Rc<Self>,
        used: &EngineUse,
        cancellation: &Cancellation,
        closed: &mut ClosedPlan,
    ) {
        let Ok(Self { settings, name, keeper, .. }) = Rc::try_unwrap(self) else { return };
        let engine = &used.engine;
        // The shell ends with its input.
        drop(keeper);
        let mut end = pin!(engine.wait(&name));
        let ended = tokio::select! {
            biased;
            result = &mut end => result.is_ok(),
            () = cancellation.reached(CancellationLevel::Kill) => false,
            _ = after(Some(GRACE)) => false,
        };
        if !ended && engine.signal(&name, "SIGKILL").await.is_ok() {
            tokio::select! {
                biased;
                _ = &mut end => {}
                _ = after(Some(KILLED)) => {}
            }
        }
        if settings.auto_remove {
            // The end of the run removes what is left.
            return;
        }
        used.live.borrow_mut().remove(&name);
        closed.notes.push(format!("kept the container {name}"));
    }
}
