//! Fake resource type. Its properties define the behaviour of each step.

mod calls;
mod catalog;
mod late_values;
mod lines;
mod provider;
mod resource_type;
mod run;

use std::fmt;

use ccm_engine::{Decision, Described, ResourceKind, Rule, Trigger, Verified};
use ccm_model::{Action, Failure, FailureKind, Verb};
use serde_json::json;

pub(crate) use calls::{called, calls, seen, watch};
pub(crate) use catalog::catalog;
pub(crate) use late_values::Off;
pub(crate) use run::{Options, Ran, noop, run, run_until, run_with};

/// Behaviour of a fake. By default it is in the desired state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Behaviour {
    name: String,
    /// Not in the desired state.
    needs: bool,
    /// Step that fails: read, missing, decide, execute, verify.
    fails: String,
    /// Step that panics.
    panics: String,
    /// Executes without an effect.
    idle: bool,
    /// Declines a trigger.
    declines: bool,
    /// Its execution stops the run.
    stops: bool,
    /// Its execution never ends.
    hangs: bool,
    /// Its execution runs a command.
    runs: bool,
    /// Values of its execution for other resources and for the record.
    yields: String,
    /// Further step of its read: ask (run a command), query (run a command that changes nothing), share, list (what
    /// others manage below its path).
    by: String,
    /// Only resources of one sort are changed together.
    sort: String,
    /// Error of a batch: read panics, read miscounts, execute panics, execute miscounts.
    breaks: String,
}

struct FakeKind;

fn failed(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Change, message)
}

/// Rules of the fake type.
enum FakeRule {
    Undecided,
    InState,
    NotInState,
    WasThereAlready,
}

impl Rule for FakeRule {
    fn name(&self) -> &'static str {
        match self {
            Self::Undecided => "undecided",
            Self::InState => "in_state",
            Self::NotInState => "not_in_state",
            Self::WasThereAlready => "was_there_already",
        }
    }
}

impl fmt::Display for FakeRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name().replace('_', " "))
    }
}

impl ResourceKind for FakeKind {
    type Properties = Behaviour;
    type State = bool;
    type Effect = bool;
    type Rule = FakeRule;

    fn decide(fake: &Behaviour, state: &bool, trigger: Option<&Trigger>) -> Decision<FakeRule> {
        if fake.fails == "decide" {
            return Decision::Fail { reason: FakeRule::Undecided, failure: failed("decide failed") };
        }
        if !*state && (trigger.is_none() || fake.declines) {
            return Decision::Keep { reason: FakeRule::InState };
        }
        Decision::Change {
            reason: FakeRule::NotInState,
            action: Action::new(Verb::Change).of(format!("mv\n{}", fake.yields)).changing(
                "place",
                Some("here".to_owned()),
                None,
            ),
            diff: Some("+moved\n".to_owned()),
        }
    }

    fn verify(fake: &Behaviour, _: &bool, effect: &bool) -> Result<Verified<FakeRule>, Failure> {
        if fake.fails == "verify" {
            return Err(failed("verify failed"));
        }
        Ok(if *effect { Verified::Changed } else { Verified::Unchanged(FakeRule::WasThereAlready) })
    }

    fn action_taken(_: &Behaviour, _: &bool, _: &bool, planned: Action) -> Action {
        Action { changes: Vec::new(), ..planned }.changing(
            "place",
            Some("here".to_owned()),
            Some("there".to_owned()),
        )
    }

    fn captured(fake: &Behaviour, effect: &bool) -> Option<serde_json::Value> {
        (!fake.yields.is_empty()).then(|| json!({ "it": fake.yields, "changed": effect }))
    }

    fn describe(_: &Behaviour, state: &bool, decision: &str) -> Described {
        Described::new(if *state { "absent" } else { "present" }).with("decision", decision)
    }
}
