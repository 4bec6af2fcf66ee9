//! Commands and guards behind a gate.

use ccm_engine::{ChangeRequest, CommandRequest, Gate, Verdict};
use ccm_host::{Host, LocalExecutor, Role};
use ccm_model::{FailureKind, Intent, Outcome, Resource};

use crate::exec::exec;
use crate::exec::machine::Machine;
use crate::gate::{RoleGate, run_behind};
use crate::run::failure;

fn apply(machine: &Machine, gate: &RoleGate, resource: Resource, noop: bool) -> ccm_model::Transaction {
    let executor = LocalExecutor::new(&machine.runner, &machine.runner, &machine.files);
    let host =
        Host { executor: &executor, system: &machine.runner, files: &machine.files, clock: &machine.clock };
    gate.run(vec![resource], noop, host).pop().expect("a transaction")
}

fn waiting() -> Verdict {
    Verdict::Wait { reason: "rule 2".to_owned(), hints: Vec::new(), intent: Some(Intent("7K3F".to_owned())) }
}

#[test]
fn a_gate_sees_what_the_manifest_wrote_and_for_what() {
    for (provider, expected) in [
        (
            "posix",
            ["Guard: argv test", "Guard: argv made", "change: `unless` exited with 1", "Command: argv make"],
        ),
        (
            "shell",
            [
                "Guard: shell `test -e x`",
                "Guard: shell `made`",
                "change: `unless` exited with 1",
                "Command: shell `make all`",
            ],
        ),
    ] {
        let machine = Machine::new();
        let guard = if provider == "shell" { "/bin/sh -c made" } else { "made" };
        machine.runner.answer(guard, 1);
        let gate = RoleGate::denying(Role::Check);
        let properties =
            [("command", "make all"), ("onlyif", "test -e x"), ("unless", "made"), ("provider", provider)];
        let done = apply(&machine, &gate, exec("x", &properties), false);
        assert_eq!(done.outcome, Outcome::Changed);
        assert_eq!(gate.questions(), expected);
    }
}

#[test]
fn a_guard_that_is_denied_stays_denied() {
    let machine = Machine::new();
    let gate = RoleGate::denying(Role::Guard);
    for noop in [false, true] {
        let done = apply(&machine, &gate, exec("make", &[("onlyif", "test -e x")]), noop);
        let failure = failure(&done);
        assert_eq!(failure.kind, FailureKind::Denied);
        assert_eq!(failure.chain, ["`onlyif` `test -e x` failed to run", "not allowed: rule 1"]);
        assert_eq!((failure.property.as_deref(), failure.changed), (Some("onlyif"), false));
    }
    assert_eq!(machine.runner.lines(), [] as [&str; 0]);
}

#[test]
fn a_guard_that_needs_an_approval_fails_a_run_and_is_unknown_in_noop() {
    let machine = Machine::new();
    let gate = RoleGate::new(Role::Guard, waiting());
    let done = apply(&machine, &gate, exec("make", &[("unless", "test -e x")]), false);
    let failure = failure(&done);
    assert_eq!(
        (failure.kind, failure.intent.as_deref()),
        (FailureKind::ApprovalRequired, Some(&Intent("7K3F".to_owned())))
    );
    let done = apply(&machine, &gate, exec("make", &[("unless", "test -e x")]), true);
    assert!(matches!(done.outcome, Outcome::WouldChange { .. }), "{:?}", done.outcome);
    assert_eq!(done.reason_text(), Some("`unless` `test -e x` needs an approval, and noop did not run it"));
    assert_eq!((done.guards.len(), done.guards[0].exit_code, done.guards[0].allows), (1, None, None));
    assert_eq!(machine.runner.lines(), [] as [&str; 0], "a guard that is not approved is not run");
}

/// Only the program `first` needs an approval.
struct FirstWaits;

impl Gate for FirstWaits {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        let is_first = request.command.program.ends_with("first");
        if is_first { waiting() } else { Verdict::Allow }
    }

    async fn before_change(&self, _: &ChangeRequest<'_>) -> Verdict {
        Verdict::Allow
    }
}

#[test]
fn a_guard_that_prevents_decides_beside_one_that_is_unknown() {
    let machine = Machine::new();
    machine.runner.answer("second", 1);
    let executor = LocalExecutor::new(&machine.runner, &machine.runner, &machine.files);
    let host =
        Host { executor: &executor, system: &machine.runner, files: &machine.files, clock: &machine.clock };
    let run = |onlyif: &str| {
        let resource = exec("make", &[("onlyif", onlyif)]);
        run_behind(&FirstWaits, vec![resource], true, host).pop().expect("a transaction")
    };
    assert_eq!(run("[first|second]").outcome, Outcome::Unchanged);
    let reason = run("[first|third]").reason_text().map(str::to_owned);
    assert_eq!(reason.as_deref(), Some("`onlyif` `first` needs an approval, and noop did not run it"));
}

#[test]
fn a_command_that_is_denied_is_not_run_and_noop_says_so() {
    for noop in [false, true] {
        let machine = Machine::new();
        let gate = RoleGate::denying(Role::Command);
        let done = apply(&machine, &gate, exec("make", &[("tries", "3")]), noop);
        let failure = failure(&done);
        assert_eq!((failure.kind, failure.changed), (FailureKind::Denied, false));
        assert_eq!(failure.chain, ["not allowed: rule 1"]);
        assert_eq!(gate.questions(), ["change: it has no `creates` and no guards", "Command: argv make"]);
        assert_eq!(machine.runner.lines(), [] as [&str; 0]);
    }
}

#[test]
fn a_refusal_shows_nothing_of_a_sensitive_exec() {
    let machine = Machine::new();
    let verdict = Verdict::Deny { reason: "`make-it` is not in the list".to_owned(), hints: Vec::new() };
    let gate = RoleGate::new(Role::Command, verdict);
    let properties = [("command", "make-it"), ("sensitive", "true")];
    let done = apply(&machine, &gate, exec("x", &properties), false);
    assert!(!failure(&done).one_line().contains("make-it"), "{:?}", failure(&done));
}
