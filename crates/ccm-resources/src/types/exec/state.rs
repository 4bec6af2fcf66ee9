//! State of an exec.

use ccm_engine::Described;
use ccm_host::Enforced;
use ccm_model::{Failure, GuardResult};
use serde_json::Value;

use super::command::Exec;
use super::rules::{GuardExit, NotRunBecause};
use super::sandbox;
use super::tries::{self, Attempt};

/// State that was read before or after a command ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExecState {
    /// `creates` is not empty and every file in it exists.
    pub creates_satisfied: bool,
    pub guards: Guards,
    /// Exit code of the command, once it has run.
    pub exit_code: Option<i32>,
    pub attempts: Vec<Attempt>,
    /// All values of `capture` were captured.
    pub captured: bool,
    /// Enforced parts of its sandbox, once it has run.
    pub enforced: Option<Enforced>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Guards {
    /// `true` if every `onlyif` exited with 0; `None` if that is not known.
    pub onlyif_satisfied: Option<bool>,
    /// `true` if no `unless` exited with 0; `None` if that is not known.
    pub unless_satisfied: Option<bool>,
    pub verdict: GuardVerdict,
    /// Results of the guards so far.
    pub results: Vec<GuardResult>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum GuardVerdict {
    /// The guards were not run: there are none, or they do not matter.
    #[default]
    NotRun,
    /// The guards allow the command. Holds an unusual exit, or else the last.
    Allowed(GuardExit),
    Prevented(GuardExit),
    /// No guard prevents the command, but noop did not run this guard.
    Unknown {
        property: &'static str,
        command: String,
        because: NotRunBecause,
    },
    /// A guard failed to run: it did not start, was killed or took too long.
    Broken(Failure),
}

pub(crate) fn describe(exec: &Exec, state: &ExecState, decision: &str) -> Described {
    let mut described = Described::new("present")
        .with("exitcode", state.exit_code)
        .with("creates_satisfied", state.creates_satisfied)
        .with("onlyif_satisfied", state.guards.onlyif_satisfied)
        .with("unless_satisfied", state.guards.unless_satisfied)
        .with("decision", decision);
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
