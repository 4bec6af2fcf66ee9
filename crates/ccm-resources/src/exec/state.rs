//! What is known of an exec.

use ccm_engine::Described;
use ccm_host::Enforced;
use ccm_model::{Failure, Fields};
use serde_json::Value;

use super::command::Exec;
use super::rules::Prevention;
use super::sandbox;
use super::tries::{self, Attempt};

/// What was read before or after a command ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExecState {
    /// Every file in `creates` exists, and there is one.
    pub creates_satisfied: bool,
    /// What the guards said.
    pub guards: Guards,
    /// The exit code of the command, once it has run.
    pub exit_code: Option<i32>,
    /// How each try ended, once it has run.
    pub attempts: Vec<Attempt>,
    /// It captured all that it was asked to.
    pub captured: bool,
    /// What of its sandbox was enforced, once it has run.
    pub enforced: Option<Enforced>,
}

/// What the guards said.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Guards {
    /// Every `onlyif` exited with 0; none if that is not known.
    pub onlyif_satisfied: Option<bool>,
    /// No `unless` exited with 0; none if that is not known.
    pub unless_satisfied: Option<bool>,
    /// What follows from it.
    pub verdict: Verdict,
}

/// What follows from the guards.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Verdict {
    /// Nothing, for they were not run: there are none, or they do not matter.
    #[default]
    NotRun,
    /// The command may run.
    Allowed,
    /// This guard keeps the command from running.
    Prevented(Prevention),
    /// One of them could not be asked: it did not start, was killed or took too long.
    Broken(Failure),
}

/// Shapes the state for events.
pub(crate) fn describe(exec: &Exec, state: &ExecState, decision: &str) -> Described {
    let ensure = "present";
    let mut described = Described {
        ensure: ensure.to_owned(),
        state: Fields::from([
            ("protocol", Value::from("io.choria.ccm.v1.resource.exec.state")),
            ("resource_type", Value::from("exec")),
            ("name", Value::from(exec.name.as_str())),
            ("ensure", Value::from(ensure)),
            ("exitcode", Value::from(state.exit_code)),
            ("creates_satisfied", Value::from(state.creates_satisfied)),
            ("onlyif_satisfied", Value::from(state.guards.onlyif_satisfied)),
            ("unless_satisfied", Value::from(state.guards.unless_satisfied)),
            ("decision", Value::from(decision)),
        ]),
    };
    if exec.tries > 1 {
        described.state.push("attempts", tries::describe(&state.attempts));
    }
    if exec.sandbox.is_some() {
        described.state.push("sandbox", state.enforced.as_ref().map(sandbox::describe));
    }
    if !exec.capture.0.is_empty() {
        // Their values may be secret.
        let names = exec.capture.names().filter(|_| state.captured);
        described.state.push("captured", names.collect::<Value>());
    }
    described
}
