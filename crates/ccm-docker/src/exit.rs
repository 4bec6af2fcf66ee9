//! What an exit code does not show: the end of memory, and signals from outside.

use std::time::Duration;

use ccm_host::{Exit, Finished, ReachedLimit, StartError, signal_name};
use serde_json::Value;

use crate::error::EngineError;
use crate::plan::{ContainerPlan, removed_from_outside};

/// Exit code of a command that a signal ended, without the number of the signal.
const SIGNALLED: i32 = 128;
/// Largest number of a signal.
const MAX_SIGNAL: i32 = 64;
/// Time in which an Engine returns the events of a container.
const EVENTS: Duration = Duration::from_millis(300);

/// End of a command.
pub(crate) enum CommandEnd {
    /// By itself, or by somebody else.
    Itself(Result<i64, EngineError>),
    /// By ccm.
    By(Exit),
}

/// Explains the end of a command with an exit code other than 0, which may not be its own.
pub(crate) async fn explain(
    plan: &ContainerPlan<'_>,
    name: &str,
    code: i32,
    finished: &mut Finished,
) -> Result<(), StartError> {
    let state = match plan.used.engine.state(name).await {
        Ok(state) => state,
        Err(error) if error.status() == Some(404) => return Err(removed_from_outside(name)),
        Err(error) => return Err(plan.lost(error)),
    };
    let signal = (SIGNALLED + 1..=SIGNALLED + MAX_SIGNAL).contains(&code).then(|| code - SIGNALLED);
    if state.oom_killed {
        report_end_of_memory(plan, signal, finished);
        return Ok(());
    }
    let Some(number) = signal else {
        if !state.error.is_empty() {
            let error = plan.executor.secrets.redact(&crate::error::one_line(&state.error)).into_owned();
            set_explanation(finished, format!("the Engine reported: {error}"));
        }
        return Ok(());
    };
    let events = plan.used.engine.find_event(name, state.started_at(), EVENTS, |event| {
        (action(event) == "kill").then(|| signal_of(event)).flatten()
    });
    // Without events the exit code is all that is known.
    match events.await.ok().flatten() {
        Some(sent) => {
            finished.exit = Exit::Signal { number, name: signal_name(number) };
            let sent = signal_name(sent);
            set_explanation(
                finished,
                format!("somebody stopped the container {name} from outside with {sent}"),
            );
        }
        None => {
            set_explanation(finished, probable_signal(plan, code));
        }
    }
    Ok(())
}

/// Returns the probable meaning of an exit code above 128. Not every Engine tells of the end of memory.
pub(crate) fn probable_signal(plan: &ContainerPlan<'_>, code: i32) -> String {
    let signal = signal_name(code - SIGNALLED);
    let memory = if signal == "SIGKILL" && plan.settings.memory.is_some() {
        ", perhaps because it needed more than `memory_limit`"
    } else {
        ""
    };
    format!("exit code {code} usually means that {signal} ended the command{memory}")
}

/// Reports that the kernel killed a process of a container for its memory.
pub(crate) fn report_end_of_memory(plan: &ContainerPlan<'_>, signal: Option<i32>, finished: &mut Finished) {
    if let Some(number) = signal {
        finished.exit = Exit::Signal { number, name: signal_name(number) };
    }
    if plan.settings.memory.is_some() {
        finished.reached.push(ReachedLimit::ContainerMemory);
    } else {
        set_explanation(
            finished,
            "the kernel killed a process in the container because memory ran out".to_owned(),
        );
    }
}

pub(crate) fn set_explanation(finished: &mut Finished, explanation: String) {
    if let Some(container) = &mut finished.container {
        container.explanation = Some(explanation);
    }
}

/// Returns the name of an event, as Docker and Podman write it.
pub(crate) fn action(event: &Value) -> &str {
    let name = event.get("Action").or_else(|| event.get("status")).and_then(Value::as_str);
    name.unwrap_or_default()
}

fn signal_of(event: &Value) -> Option<i32> {
    event.pointer("/Actor/Attributes/signal")?.as_str()?.parse().ok()
}
