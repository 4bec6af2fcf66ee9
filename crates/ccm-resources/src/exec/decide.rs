//! When a command runs. Pure.

use ccm_engine::{Decision, Described, ResourceKind, SUBSCRIBED_CHANGED, Verified};
use ccm_model::Failure;

use super::command::Exec;
use super::judge::Ended;
use super::state::{ExecState, Verdict, describe};

/// The typed side of exec.
pub(crate) struct ExecKind;

impl ResourceKind for ExecKind {
    type Properties = Exec;
    type State = ExecState;
    type Effect = Ended;

    fn decide(exec: &Exec, state: &ExecState, triggered: bool) -> Decision {
        decide(exec, state, triggered)
    }

    fn verify(_: &Exec, _: &ExecState, ended: &Ended) -> Result<Verified, Failure> {
        ended.judged.clone().map(|success| success.verified)
    }

    fn captured(_: &Exec, ended: &Ended) -> Option<serde_json::Value> {
        ended.judged.as_ref().ok().and_then(|success| success.captured.clone())
    }

    fn describe(exec: &Exec, state: &ExecState, decision: &str) -> Described {
        describe(exec, state, decision)
    }
}

/// Tells whether the guards have a say: if a rule above theirs decides, they are not run.
pub(crate) fn guards_matter(exec: &Exec, creates_satisfied: bool, triggered: bool) -> bool {
    let overridden = triggered && !exec.refresh_respects_guards;
    let waits_for_trigger = exec.refresh_only && !triggered;
    let decided_before = overridden || creates_satisfied || waits_for_trigger;
    !decided_before && (!exec.onlyif.is_empty() || !exec.unless.is_empty())
}

/// The decision table; the first row that applies wins.
pub(crate) fn decide(exec: &Exec, state: &ExecState, triggered: bool) -> Decision {
    let keep = |reason: &str| Decision::Keep { reason: reason.to_owned() };
    if triggered && !exec.refresh_respects_guards {
        return change(triggered, SUBSCRIBED_CHANGED);
    }
    if state.creates_satisfied {
        return keep("everything in `creates` exists");
    }
    if exec.refresh_only && !triggered {
        return keep("`refresh_only`, and nothing it subscribes to changed");
    }
    match &state.guards.verdict {
        Verdict::Broken(failure) => {
            Decision::Fail { reason: "a guard could not be asked".to_owned(), failure: failure.clone() }
        }
        Verdict::Prevented(reason) => keep(reason),
        _ if triggered => change(triggered, &format!("{SUBSCRIBED_CHANGED}, and the guards allow it")),
        Verdict::Allowed => change(triggered, "the guards allow it"),
        Verdict::NotRun if !exec.creates.is_empty() => {
            change(triggered, "not everything in `creates` exists")
        }
        Verdict::NotRun => change(triggered, "nothing says that it need not run"),
    }
}

fn change(triggered: bool, reason: &str) -> Decision {
    let noop_message = if triggered { "Would have executed via subscribe" } else { "Would have executed" };
    Decision::Change { reason: reason.to_owned(), noop_message: noop_message.to_owned(), diff: None }
}

#[cfg(test)]
mod tests {
    use ccm_model::Map;

    use super::*;
    use crate::exec::command::Interpreter;
    use crate::exec::properties::ExecProperties;
    use crate::exec::state::Guards;

    const TABLE: &str = include_str!("decide_table.txt");

    fn exec(creates: bool, guards: bool) -> Exec {
        let mut exec =
            Exec::build("true", Interpreter::None, ExecProperties::default(), &Map::default()).unwrap();
        if creates {
            exec.creates.push("/x".into());
        }
        if guards {
            let line = exec.line.clone();
            exec.onlyif.push(crate::exec::command::Guard { text: "true".to_owned(), line });
        }
        exec
    }

    #[test]
    fn every_row_of_the_table_holds() {
        let mut rows = 0;
        for row in TABLE.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let [conditions, asked, action, reason] =
                row.split('|').map(str::trim).collect::<Vec<_>>().try_into().unwrap();
            let [triggered, creates, only, respects, guards] =
                conditions.split_whitespace().collect::<Vec<_>>().try_into().unwrap();
            let mut exec = exec(creates != "-", guards != "-");
            exec.refresh_only = only == "yes";
            exec.refresh_respects_guards = respects == "yes";
            let triggered = triggered == "yes";
            let creates_satisfied = creates == "yes";
            assert_eq!(guards_matter(&exec, creates_satisfied, triggered), asked == "yes", "asked: {row}");
            let verdict = match guards {
                // Guards that are not asked have said nothing.
                _ if asked == "no" => Verdict::NotRun,
                "allow" => Verdict::Allowed,
                "prevent" => Verdict::Prevented("the guard said so".to_owned()),
                "broken" => Verdict::Broken(Failure::new("broken")),
                _ => Verdict::NotRun,
            };
            let guards = Guards { verdict, ..Guards::default() };
            let state = ExecState { creates_satisfied, guards, ..ExecState::default() };
            let (decided, why) = match decide(&exec, &state, triggered) {
                Decision::Keep { reason } => ("keep".to_owned(), reason),
                Decision::Fail { reason, .. } => ("fail".to_owned(), reason),
                Decision::Change { reason, noop_message, .. } => {
                    (noop_message.replace("Would have executed", "execute"), reason)
                }
            };
            assert_eq!((&*decided, &*why), (action, reason), "{row}");
            rows += 1;
        }
        assert_eq!(rows, 27);
    }
}
