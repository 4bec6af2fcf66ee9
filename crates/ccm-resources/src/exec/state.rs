//! What is known of an exec.

use ccm_engine::Described;
use ccm_host::Enforced;
use ccm_model::Failure;
use serde_json::json;

use super::command::Exec;
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
    /// The command need not run, for this reason.
    Prevented(String),
    /// One of them could not be asked: it did not start, was killed or took too long.
    Broken(Failure),
}

/// Shapes the state for events.
pub(crate) fn describe(exec: &Exec, state: &ExecState, decision: &str) -> Described {
    let ensure = "present";
    let mut described = Described {
        ensure: ensure.to_owned(),
        state: json!({
            "protocol": "io.choria.ccm.v1.resource.exec.state",
            "resource_type": "exec",
            "name": exec.name,
            "ensure": ensure,
            "exitcode": state.exit_code,
            "creates_satisfied": state.creates_satisfied,
            "onlyif_satisfied": state.guards.onlyif_satisfied,
            "unless_satisfied": state.guards.unless_satisfied,
            "decision": decision,
        }),
    };
    if exec.tries > 1 {
        described.state["attempts"] = tries::describe(&state.attempts);
    }
    if exec.sandbox.is_some() {
        described.state["sandbox"] = state.enforced.as_ref().map(sandbox::describe).into();
    }
    if !exec.capture.0.is_empty() {
        // Their values may be secret.
        let names = exec.capture.names().filter(|_| state.captured);
        described.state["captured"] = names.collect();
    }
    described
}
