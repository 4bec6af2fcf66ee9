//! Requests to the gate of a run, and the results of refusals.

use std::cell::RefCell;

use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, GatedResource, PlannedChange, Verdict};
use ccm_host::Role;
use ccm_model::{Event, Failure, FailureKind, Intent, Node, Outcome};
use ccm_redaction::Secrets;

use crate::fake::{Options, Ran, called, catalog, run_with};

/// Decides on a request, given as text: `guard of a`, `change of a`.
type Answer = Box<dyn Fn(&str) -> Verdict>;

/// Gate that records every request among the calls of providers, with the verdicts of a test.
struct FakeGate {
    answer: Answer,
    changes: RefCell<Vec<PlannedChange>>,
    resources: RefCell<Vec<String>>,
}

impl FakeGate {
    fn new(answer: impl Fn(&str) -> Verdict + 'static) -> Self {
        Self { answer: Box::new(answer), changes: RefCell::default(), resources: RefCell::default() }
    }

    /// Denies one request.
    fn denying(question: &'static str) -> Self {
        Self::new(move |asked| if asked == question { denied() } else { Verdict::Allow })
    }

    fn ask(&self, question: &str, noop: bool) -> Verdict {
        let noop = if noop { " in noop" } else { "" };
        called(format!("gate: {question}{noop}"));
        (self.answer)(question)
    }

    fn see(&self, resource: GatedResource<'_>) {
        let property =
            |name: &str| resource.properties().get(name).and_then(Node::as_text).map(str::to_owned);
        let claims: Vec<String> = resource.claims().iter().map(|claim| claim.key.to_string()).collect();
        let seen = format!("{} token={:?} claims={claims:?}", resource.id(), property("token"));
        self.resources.borrow_mut().push(seen);
    }
}

fn denied() -> Verdict {
    Verdict::Deny { reason: "rule 1".to_owned(), hints: vec!["change it elsewhere".to_owned()] }
}

impl Gate for FakeGate {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        let role = match request.command.role {
            Role::Guard => "guard",
            Role::Query => "query",
            Role::Command => "command",
            Role::Check | Role::Tool => "tool",
        };
        self.see(request.resource);
        self.changes.borrow_mut().extend(request.change.cloned());
        self.ask(&format!("{role} of {}", request.resource.id().name), request.noop)
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        self.see(request.resource);
        self.changes.borrow_mut().push(request.change.clone());
        self.ask(&format!("change of {}", request.resource.id().name), request.noop)
    }
}

fn run(lines: &[&str], noop: bool, gate: &dyn DynGate) -> Ran {
    run_with(&catalog(lines), &Options { noop, gate: Some(gate), ..Options::default() })
}

/// Returns the failure of a resource.
fn failure(ran: &Ran, name: &str) -> Failure {
    let found = ran.events.iter().find_map(|event| match event {
        Event::ResourceFinished(ended) if &*ended.id.name == name => match &ended.outcome {
            Outcome::Failed(failure) => Some((**failure).clone()),
            _ => None,
        },
        _ => None,
    });
    found.expect("a failure")
}

#[test]
fn gate_sees_guards_change_and_command_of_a_resource() {
    let gate = FakeGate::new(|_| Verdict::Allow);
    let ran = run(&["a needs by=ask runs", "b by=query", "c"], false, &gate);
    assert_eq!(ran.lines, ["a changed", "b unchanged", "c unchanged"]);
    let expected = [
        "read a",
        "gate: guard of a",
        "gate: change of a",
        "execute a",
        "gate: command of a",
        "read b",
        "gate: query of b",
        "read c",
    ];
    assert_eq!(ran.calls, expected);
    let change = PlannedChange {
        provider: "fake",
        reason: ccm_model::Reason::new("not_in_state", "not in state"),
        message: "Would have changed: mv\n, place here to none".to_owned(),
        diff: Some("+moved\n".to_owned()),
        is_triggered: false,
    };
    assert_eq!(*gate.changes.borrow(), [change.clone(), change], "the command is one of the change");
}

#[test]
fn trigger_is_part_of_the_change() {
    let gate = FakeGate::new(|_| Verdict::Allow);
    run(&["a needs", "b subscribe=a"], false, &gate);
    assert_eq!(
        gate.changes.borrow().iter().map(|change| change.is_triggered).collect::<Vec<_>>(),
        [false, true]
    );
}

#[test]
fn denied_guard_fails_its_resource_and_invalidates_nothing() {
    let gate = FakeGate::denying("guard of a");
    let ran = run(&["x provider=four", "a needs by=ask", "y provider=four", "z require=a"], false, &gate);
    assert_eq!(
        ran.lines[1..],
        ["a failed: not allowed: rule 1", "y unchanged", "z dependency failed because of a"]
    );
    assert_eq!(ran.calls, ["read many x,y", "read a", "gate: guard of a"]);
    let failure = failure(&ran, "a");
    assert_eq!((failure.kind, failure.changed), (FailureKind::Denied, false));
    assert_eq!(failure.hints, ["change it elsewhere"]);
}

#[test]
fn denied_query_fails_its_resource() {
    let ran = run(&["a needs by=query"], false, &FakeGate::denying("query of a"));
    assert_eq!(ran.lines, ["a failed: not allowed: rule 1"]);
    assert_eq!(failure(&ran, "a").kind, FailureKind::Denied);
}

#[test]
fn denied_change_is_not_made() {
    let ran = run(&["a needs", "b subscribe=a", "c needs"], false, &FakeGate::denying("change of a"));
    assert_eq!(ran.lines, ["a failed: not allowed: rule 1", "b dependency failed because of a", "c changed"]);
    assert_eq!(ran.calls, ["read a", "gate: change of a", "read c", "gate: change of c", "execute c"]);
    assert!(!failure(&ran, "a").changed);
}

#[test]
fn command_of_a_denied_change_is_not_run() {
    let ran = run(&["a needs runs"], false, &FakeGate::denying("command of a"));
    assert_eq!(ran.lines, ["a failed: not allowed: rule 1"]);
    assert_eq!(failure(&ran, "a").kind, FailureKind::Denied);
}

#[test]
fn change_without_approval_fails_and_names_the_intent() {
    for question in ["change of a", "guard of a", "command of a"] {
        let gate = FakeGate::new(move |asked| {
            if asked != question {
                return Verdict::Allow;
            }
            Verdict::Wait {
                reason: "rule 2".to_owned(),
                hints: vec!["`ccm approve 7K3F`".to_owned()],
                intent: Some(Intent("7K3F".to_owned())),
            }
        });
        let ran = run(&["a needs by=ask runs"], false, &gate);
        assert_eq!(ran.lines, ["a failed: needs an approval: rule 2"], "{question}");
        let failure = failure(&ran, "a");
        assert_eq!((failure.kind, failure.changed), (FailureKind::ApprovalRequired, false), "{question}");
        assert_eq!(failure.intent.as_deref(), Some(&Intent("7K3F".to_owned())));
        assert_eq!(failure.hints, ["`ccm approve 7K3F`"]);
    }
}

#[test]
fn denied_batch_member_is_left_out_and_fails_at_its_turn() {
    let lines = ["a needs provider=four", "b needs provider=four", "c needs provider=four"];
    let ran = run(&lines, false, &FakeGate::denying("change of b"));
    assert_eq!(ran.lines, ["a changed", "b failed: not allowed: rule 1", "c changed"]);
    let expected = [
        "read many a,b,c",
        "gate: change of a",
        "gate: change of b",
        "gate: change of c",
        "execute many a,c",
        "verify a",
        "read b",
        "gate: change of b",
        "verify c",
    ];
    assert_eq!(ran.calls, expected);
    // The first change is allowed before any other is checked.
    let ran = run(&lines, false, &FakeGate::denying("change of a"));
    assert_eq!(ran.calls[..3], ["read many a,b,c", "gate: change of a", "gate: change of b"]);
    assert_eq!(ran.lines, ["a failed: not allowed: rule 1", "b changed", "c changed"]);
}

#[test]
fn noop_shows_the_refusal_of_a_run() {
    for question in ["change of a", "command of a", "guard of a"] {
        let ran = run(&["a needs by=ask runs", "b needs"], true, &FakeGate::denying(question));
        let expected = ["a failed: not allowed: rule 1", "b would change"];
        assert_eq!(ran.lines, expected, "{question}");
        let failure = failure(&ran, "a");
        assert_eq!((failure.kind, failure.changed), (FailureKind::Denied, false), "{question}");
        assert!(!ran.calls.iter().any(|call| call.starts_with("execute")), "{:?}", ran.calls);
    }
    let ran = run(&["a needs by=ask runs"], true, &FakeGate::new(|_| Verdict::Allow));
    let expected =
        ["read a", "gate: guard of a in noop", "gate: change of a in noop", "gate: command of a in noop"];
    assert_eq!(ran.calls, expected);
    assert_eq!(ran.lines, ["a would change"]);
}

#[test]
fn gate_sees_a_resource_without_secrets() {
    let secrets = Secrets::new();
    secrets.add(["swordfish"]);
    let gate = FakeGate::new(|_| Verdict::Allow);
    let catalog = catalog(&["/etc/x needs token=swordfish"]);
    run_with(&catalog, &Options { gate: Some(&gate), secrets, ..Options::default() });
    let expected = ["fake#/etc/x token=Some(\"[redacted]\") claims=[\"/etc/x\"]"];
    assert_eq!(*gate.resources.borrow(), expected);
}

#[test]
fn diff_that_only_the_gate_needs_is_not_reported() {
    let ran = run(
        &["a needs", "b needs provider=four", "c needs provider=four"],
        false,
        &FakeGate::new(|_| Verdict::Allow),
    );
    for event in &ran.events {
        if let Event::ResourceFinished(ended) = event {
            assert_eq!((ended.outcome.word(), &ended.diff), ("changed", &None));
        }
    }
}

/// Gate that is open, but would deny every request.
struct Open;

impl Gate for Open {
    async fn before_command(&self, _: &CommandRequest<'_>) -> Verdict {
        denied()
    }

    async fn before_change(&self, _: &ChangeRequest<'_>) -> Verdict {
        denied()
    }

    fn is_open(&self) -> bool {
        true
    }
}

#[test]
fn open_gate_is_not_called() {
    let lines = ["a needs by=ask runs", "b needs provider=four", "c needs provider=four by=query"];
    assert_eq!(run(&lines, false, &Open).lines, ["a changed", "b changed", "c changed"]);
    assert_eq!(run(&lines, true, &Open).summary.counts.changed, 3);
}
