//! `process_list`, `process_inspect` and `process_kill`.

use ccm_host::SignalError;
use ccm_model::error_layers;
use serde_json::{Value, json};

use crate::answer::{AnswerKind, ToolAnswer, UNTRUSTED};
use crate::caller::ToolCaller;
use crate::output::without_controls;
use crate::process_registry::{CallProcess, ProcessRegistry, RegistryError};

fn unreadable(error: &RegistryError) -> ToolAnswer {
    let hint = "let an operator look at the state directory".to_owned();
    ToolAnswer::error(AnswerKind::NotTried, &error_layers(error).join(": "), None, &[hint])
}

fn object(found: &CallProcess) -> Value {
    let CallProcess { intent, tool, process } = found;
    json!({
        "pid": process.pid,
        "started": process.started,
        "parent": process.parent,
        "name": without_controls(&process.name),
        "tool": tool,
        "intent": intent,
    })
}

/// Lists the processes of a caller.
pub(crate) fn list(registry: &ProcessRegistry, caller: &ToolCaller) -> ToolAnswer {
    match registry.processes(caller) {
        Ok(found) => ToolAnswer::document(json!({
            "status": AnswerKind::Done.name(),
            "processes": found.iter().map(object).collect::<Vec<_>>(),
            "trust": UNTRUSTED,
        })),
        Err(error) => unreadable(&error),
    }
}

/// Finds a process of a caller. A process of somebody else is refused, whatever it is.
pub(crate) fn find(
    registry: &ProcessRegistry,
    caller: &ToolCaller,
    pid: i32,
) -> Result<CallProcess, Box<ToolAnswer>> {
    let refused = |message: &str| {
        let hint = "use a process that `process_list` shows".to_owned();
        Err(Box::new(ToolAnswer::error(AnswerKind::Denied, message, None, &[hint])))
    };
    if pid == 1 {
        return refused("process 1 is the init of this machine, and no call has started it");
    }
    match registry.processes(caller) {
        Ok(found) => match found.into_iter().find(|found| found.process.pid == pid) {
            Some(found) => Ok(found),
            None => refused(&format!("process {pid} was not started by a call of this caller, or has ended")),
        },
        Err(error) => Err(Box::new(unreadable(&error))),
    }
}

/// Shows a process of a caller.
pub(crate) fn inspect(found: &CallProcess) -> ToolAnswer {
    ToolAnswer::document(object(found)).with("status", AnswerKind::Done.name()).with("trust", UNTRUSTED)
}

/// Sends a signal to a process.
pub(crate) fn kill(found: &CallProcess, signal: &str, intent: &str) -> ToolAnswer {
    match found.process.signal(signal) {
        Ok(()) => ToolAnswer::document(json!({
            "status": AnswerKind::Done.name(),
            "pid": found.process.pid,
            "signal": signal,
            "intent": intent,
        })),
        Err(error) => {
            let hint = match error {
                SignalError::Ended { .. } => {
                    "look at `process_list`: the number may belong to another process now"
                }
                _ => "let an operator end the process",
            };
            let message = error_layers(&error).join(": ");
            ToolAnswer::error(AnswerKind::CommandFailed, &message, None, &[hint.to_owned()])
        }
    }
}
