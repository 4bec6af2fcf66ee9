//! A command in a container of its own.

use std::pin::{Pin, pin};
use std::time::Duration;

use ccm_host::{Cancellation, CancellationLevel, Command, Exit, Finished, StartError, after};

use crate::engine::Engine;
use crate::engine_use::patiently;
use crate::error::{EngineError, program_error};
use crate::exit::{self, CommandEnd};
use crate::plan::{ContainerPlan, ended, removed_from_outside};
use crate::specification;
use crate::streams::{ContainerStreams, LineSink};

/// Time between TERM and KILL.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
/// Time after KILL in which a container ends, even if the machine is busy.
pub(crate) const KILLED: Duration = Duration::from_secs(10);

/// Runs a command in a container, and removes the container, or keeps it as the settings ask.
pub(crate) async fn run(
    plan: &ContainerPlan<'_>,
    command: &Command,
    cancellation: &Cancellation,
    on_line: LineSink<'_>,
) -> Result<Finished, StartError> {
    let name = plan.executor.next_name();
    plan.used.live.borrow_mut().insert(name.clone());
    let result = start_and_follow(plan, &name, command, cancellation, on_line).await;
    let has_run = match &result {
        Ok(finished) => finished.container.is_some(),
        Err(StartError::Container(error)) => error.has_run,
        Err(_) => false,
    };
    if has_run && !plan.settings.auto_remove {
        keep(plan, &name).await;
    } else {
        remove(plan, &name, result.is_ok()).await;
    }
    result
}

/// Leaves a container to the user, stopped.
async fn keep(plan: &ContainerPlan<'_>, name: &str) {
    match plan.used.engine.state(name).await {
        Ok(state) if state.running => {
            // The result of the command is not known; the container must not run on.
            if let Err(error) = plan.used.engine.signal(name, "SIGKILL").await {
                plan.warn(&format!("the container {name} could not be stopped: {error}"));
            }
        }
        // It was removed from outside.
        Err(error) if error.status() == Some(404) => {
            plan.used.live.borrow_mut().remove(name);
            return;
        }
        _ => {}
    }
    plan.used.live.borrow_mut().remove(name);
    plan.note(format!("kept the container {name}"));
}

/// Removes a container. If that fails, the end of the run tries again, and reports the error.
async fn remove(plan: &ContainerPlan<'_>, name: &str, is_reported: bool) {
    match plan.used.engine.remove(name).await {
        Ok(()) => drop(plan.used.live.borrow_mut().remove(name)),
        // An Engine that is gone is the error of the command already.
        Err(error) if is_reported || !error.is_gone() => {
            plan.warn(&format!("the container {name} could not be removed: {error}"));
        }
        Err(_) => {}
    }
}

async fn start_and_follow(
    plan: &ContainerPlan<'_>,
    name: &str,
    command: &Command,
    cancellation: &Cancellation,
    on_line: LineSink<'_>,
) -> Result<Finished, StartError> {
    let engine = &plan.used.engine;
    let program = command.program.to_string_lossy();
    let not_started = |error: EngineError| {
        program_error(error.message(), &program, &plan.search_path).unwrap_or_else(|| plan.not_started(error))
    };
    let body = specification::of_command(plan.settings, &plan.labels(), plan.user.as_deref(), command);
    let prepare = async {
        engine.create(name, plan.settings.platform.as_deref(), body).await?;
        engine.attach(name, command.stdin.is_some(), true).await
    };
    let Some(attached) = patiently(cancellation, prepare).await else { return Ok(ended(Exit::Cancelled)) };
    let attached = attached.map_err(not_started)?;
    if cancellation.level() > CancellationLevel::Go {
        return Ok(ended(Exit::Cancelled));
    }
    let redactor = plan.executor.secrets.redactor();
    let (stdin, last_line) = (command.stdin.as_deref(), command.last_line.as_ref());
    let mut streams = ContainerStreams::new(attached, stdin, engine.address(), &redactor, last_line, on_line);
    let started = plan.executor.clock.monotonic();
    match patiently(cancellation, engine.start(name)).await {
        None => return Ok(plan.finished(name, Exit::Cancelled, streams.finish())),
        Some(result) => result.map_err(not_started)?,
    }

    let mut end = pin!(engine.wait(name));
    let ended = streams.transfer_until(async {
        tokio::select! {
            biased;
            code = &mut end => CommandEnd::Itself(code),
            () = cancellation.reached(CancellationLevel::Stop) => CommandEnd::By(Exit::Cancelled),
            after = after(command.timeout) => CommandEnd::By(Exit::TimedOut { after }),
        }
    });
    let ended = ended.await;
    if let CommandEnd::By(_) = &ended {
        streams.transfer_until(terminate(engine, name, end, cancellation)).await;
    }
    streams.drain().await;
    let duration = plan.executor.clock.monotonic().saturating_sub(started);
    let error = streams.take_error();
    let message = streams.message();
    let collected = streams.finish();
    let (code, exit) = match ended {
        CommandEnd::By(exit) => (0, exit),
        CommandEnd::Itself(Ok(code)) => {
            let code = i32::try_from(code).unwrap_or(255);
            (code, Exit::Code(code))
        }
        CommandEnd::Itself(Err(error)) if error.status() == Some(404) => {
            return Err(removed_from_outside(name));
        }
        CommandEnd::Itself(Err(error)) => return Err(plan.lost(error)),
    };
    if let (Some(error), Exit::Code(_)) = (error, &exit) {
        // The exit code is known, but not all of the output.
        plan.warn(&format!("the output of the command may not be complete: {error}"));
    }
    if let Some(message) = message {
        plan.warn(&format!("the Engine reported: {message}"));
    }
    let mut finished = plan.finished(name, exit, collected);
    finished.duration = duration;
    if code != 0 {
        exit::explain(plan, name, code, &mut finished).await?;
    }
    Ok(finished)
}

/// Ends a container: TERM, and KILL two seconds later.
async fn terminate(
    engine: &Engine,
    name: &str,
    mut end: Pin<&mut impl Future<Output = Result<i64, EngineError>>>,
    cancellation: &Cancellation,
) {
    // A container that has just ended refuses signals, and one that is not there has ended.
    if cancellation.level() < CancellationLevel::Kill {
        let _ended = engine.signal(name, "SIGTERM").await;
        tokio::select! {
            biased;
            _ = &mut end => return,
            () = cancellation.reached(CancellationLevel::Kill) => {}
            _ = after(Some(GRACE)) => {}
        }
    }
    let _ended = engine.signal(name, "SIGKILL").await;
    tokio::select! {
        biased;
        _ = &mut end => {}
        _ = after(Some(KILLED)) => {}
    }
}
