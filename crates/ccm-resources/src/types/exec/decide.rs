//! The decision whether a command runs. Pure.

use std::path::Path;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Verified};
use ccm_host::Launch;
use ccm_model::{Action, Failure, GuardResult, REDACTED, Verb, quote_words};

use super::command::{CommandSyntax, Exec};
use super::result::ExecResult;
use super::rules::ExecRule;
use super::state::{ExecState, GuardVerdict, describe};

pub(crate) struct ExecKind;

impl ResourceKind for ExecKind {
    type Properties = Exec;
    type State = ExecState;
    type Effect = ExecResult;
    type Rule = ExecRule;

    fn decide(exec: &Exec, state: &ExecState, trigger: Option<&Trigger>) -> Decision<ExecRule> {
        decide(exec, state, trigger)
    }

    fn verify(_: &Exec, _: &ExecState, result: &ExecResult) -> Result<Verified<ExecRule>, Failure> {
        result.outcome.clone().map(|success| success.verified)
    }

    fn guards(state: &ExecState) -> Vec<GuardResult> {
        state.guards.results.clone()
    }

    fn captured(_: &Exec, result: &ExecResult) -> Option<serde_json::Value> {
        result.outcome.as_ref().ok().and_then(|success| success.captured.clone())
    }

    fn check_launch(exec: &Exec, directory: &Path) -> Launch {
        let mut launch = Launch { manifest_directory: directory.to_owned(), ..Launch::default() };
        if let Some(settings) = &exec.executor {
            settings.complete(&mut launch, format!("exec#{}", exec.name));
        }
        launch
    }

    fn describe(exec: &Exec, state: &ExecState, decision: &str) -> Described {
        describe(exec, state, decision)
    }
}

/// Returns `true` if the guards have to be run. They are not if an earlier rule decides.
pub(crate) fn needs_guards(exec: &Exec, creates_satisfied: bool, triggered: bool) -> bool {
    let overridden = triggered && !exec.refresh_respects_guards;
    let waits_for_trigger = exec.refresh_only && !triggered;
    let decided_before = overridden || creates_satisfied || waits_for_trigger;
    !decided_before && (!exec.onlyif.is_empty() || !exec.unless.is_empty())
}

/// Decides by the decision table, whose first row that applies wins.
pub(crate) fn decide(exec: &Exec, state: &ExecState, trigger: Option<&Trigger>) -> Decision<ExecRule> {
    let keep = |reason| Decision::Keep { reason };
    let change = |reason| Decision::Change { reason, action: action(exec), diff: None };
    let triggered = |guards_allow| {
        trigger.map(|trigger| change(ExecRule::Triggered { trigger: trigger.clone(), guards_allow }))
    };
    if let Some(decision) = triggered(false).filter(|_| !exec.refresh_respects_guards) {
        return decision;
    }
    if state.creates_satisfied {
        return keep(ExecRule::CreatesExist);
    }
    if exec.refresh_only && trigger.is_none() {
        return keep(ExecRule::NotTriggered);
    }
    match &state.guards.verdict {
        GuardVerdict::Broken(failure) => {
            Decision::Fail { reason: ExecRule::GuardFailed, failure: failure.clone() }
        }
        GuardVerdict::Unknown { property, command, because } => triggered(false).unwrap_or_else(|| {
            change(ExecRule::GuardUnknown { property, command: command.clone(), because: *because })
        }),
        GuardVerdict::Prevented(prevention) => keep(ExecRule::Prevented(prevention.clone())),
        verdict => triggered(true).unwrap_or_else(|| {
            change(match verdict {
                GuardVerdict::Allowed(exit) => ExecRule::GuardsAllow(exit.clone()),
                _ if !exec.creates.is_empty() => ExecRule::CreatesMissing,
                _ => ExecRule::NothingPrevents,
            })
        }),
    }
}

/// Returns the action: the command as shell words, or as the text that the shell reads.
fn action(exec: &Exec) -> Action {
    let words = || std::iter::once(&exec.line.program).chain(&exec.line.args).map(String::as_str);
    let command = match (exec.sensitive, exec.syntax) {
        (true, _) => REDACTED.to_owned(),
        (false, CommandSyntax::Words) => quote_words(words()),
        (false, CommandSyntax::Shell) => exec.line.args.last().cloned().unwrap_or_default(),
    };
    Action::new(Verb::Run).of(command)
}

#[cfg(test)]
mod tests {
    use ccm_model::{FailureKind, NodeMap};

    use super::*;
    use crate::types::exec::command::CommandSyntax;
    use crate::types::exec::properties::ExecProperties;
    use crate::types::exec::rules::{GuardExit, NotRunBecause};
    use crate::types::exec::state::Guards;

    const TABLE: &str = include_str!("decide_table.txt");

    fn exec(creates: bool, guards: bool) -> Exec {
        let mut exec =
            Exec::build("true", CommandSyntax::Words, ExecProperties::default(), &NodeMap::default())
                .unwrap();
        if creates {
            exec.creates.push("/x".into());
        }
        if guards {
            let line = exec.line.clone();
            exec.onlyif.push(crate::types::exec::command::Guard { text: "true".to_owned(), line });
        }
        exec
    }

    fn guard_exit(exit_code: i32) -> GuardExit {
        GuardExit { property: "onlyif", command: "test".to_owned(), exit_code, stderr: None }
    }

    #[test]
    fn the_action_is_the_command_as_it_will_be_run() {
        let detail = |text: &str, syntax, sensitive: bool| {
            let properties = ExecProperties { sensitive: Some(sensitive), ..ExecProperties::default() };
            let exec = Exec::build(text, syntax, properties, &NodeMap::default()).unwrap();
            match decide(&exec, &ExecState::default(), None) {
                Decision::Change { action, .. } => (action.verb, action.detail.unwrap_or_default()),
                other => panic!("{other:?}"),
            }
        };
        for (text, syntax, shown) in [
            ("git checkout  --force v1.1", CommandSyntax::Words, "git checkout --force v1.1"),
            (r#"printf "it's $x" """#, CommandSyntax::Words, r"printf 'it'\''s $x' ''"),
            ("cd /a &&\n  make\n", CommandSyntax::Shell, "cd /a &&\n  make\n"),
        ] {
            assert_eq!(detail(text, syntax, false), (Verb::Run, shown.to_owned()));
            assert_eq!(detail(text, syntax, true), (Verb::Run, REDACTED.to_owned()));
        }
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
            assert_eq!(needs_guards(&exec, creates_satisfied, triggered), asked == "yes", "asked: {row}");
            let verdict = match guards {
                _ if asked == "no" => GuardVerdict::NotRun,
                "allow" => GuardVerdict::Allowed(guard_exit(0)),
                "prevent" => GuardVerdict::Prevented(guard_exit(1)),
                "unknown" | "in-container" => GuardVerdict::Unknown {
                    property: "onlyif",
                    command: "test".to_owned(),
                    because: if guards == "unknown" {
                        NotRunBecause::Approval
                    } else {
                        NotRunBecause::Container
                    },
                },
                "broken" => GuardVerdict::Broken(Failure::new(FailureKind::Guard, "broken")),
                _ => GuardVerdict::NotRun,
            };
            let guards = Guards { verdict, ..Guards::default() };
            let state = ExecState { creates_satisfied, guards, ..ExecState::default() };
            let trigger = triggered.then_some(Trigger::Changed);
            let (decided, why) = match decide(&exec, &state, trigger.as_ref()) {
                Decision::Keep { reason } => ("keep".to_owned(), reason),
                Decision::Fail { reason, .. } => ("fail".to_owned(), reason),
                Decision::Change { reason, .. } => ("execute".to_owned(), reason),
            };
            assert_eq!((&*decided, &*why.to_string()), (action, reason), "{row}");
            rows += 1;
        }
        assert_eq!(rows, 30);
    }
}
