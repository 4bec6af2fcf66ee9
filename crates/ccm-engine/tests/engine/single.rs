//! The steps of one resource.

use std::cell::RefCell;

use ccm_engine::{LateValues, Resolved, RunProgress};
use ccm_model::{Event, Failure, FailureKind, Location, Outcome, Resource, ResourceIndex, SourceId, Span};

use serde_json::json;

use crate::fake::{Options, catalog, run, run_with};

#[test]
fn resource_in_its_desired_state_is_unchanged() {
    let ran = run(&["a"]);
    assert_eq!(ran.lines, ["a unchanged"]);
    assert_eq!(ran.calls, ["read a"]);
}

#[test]
fn resource_out_of_state_is_executed_and_verified() {
    let ran = run(&["a needs"]);
    assert_eq!(ran.lines, ["a changed"]);
    assert_eq!(ran.calls, ["read a", "execute a"]);
}

#[test]
fn execution_without_effect_is_unchanged() {
    assert_eq!(run(&["a needs idle", "b subscribe=a"]).lines, ["a unchanged", "b unchanged"]);
}

#[test]
fn failure_has_a_location_and_reports_a_change() {
    for (step, line) in [
        ("read", "a failed: read failed"),
        ("decide", "a failed: decide failed"),
        ("execute", "a failed: execute failed"),
        ("verify", "a failed: verify failed (changed)"),
    ] {
        assert_eq!(run(&[&format!("a needs fails={step}")]).lines, [line]);
    }
}

/// Late values that locate each span at the line of its start.
struct Places;

impl LateValues for Places {
    fn is_late(&self, _: ResourceIndex) -> bool {
        false
    }

    fn resolve(&self, _: ResourceIndex, _: &Resource, _: &dyn RunProgress) -> Result<Resolved, Failure> {
        Ok(Resolved::AsWritten)
    }

    fn location(&self, span: Span) -> Option<Location> {
        Some(Location { file: "site.yaml".to_owned(), line: span.start as usize, column: 1 })
    }
}

#[test]
fn failure_is_located_at_its_property_or_the_resource() {
    for (line, expected) in [
        ("a needs fails=execute", Some(7)),
        ("a needs fails=decide", Some(3)),
        ("a needs fails=verify", Some(3)),
        ("a needs fails=halfway", Some(3)),
    ] {
        let mut catalog = catalog(&[line]);
        let at = |start| Span::new(SourceId::default(), start, start + 1);
        let resource = &mut catalog.resources[0];
        resource.span = at(3);
        let mut entry = resource.properties.entry("fails").expect("the property").clone();
        entry.key.span = at(7);
        resource.properties.replace(entry);
        let ran = run_with(&catalog, &Options { late: Some(&Places), ..Options::default() });
        let failures = ran.events.iter().filter_map(|event| match event {
            Event::ResourceFinished(transaction) => match &transaction.outcome {
                Outcome::Failed(failure) => Some(failure.location.as_ref().map(|location| location.line)),
                _ => None,
            },
            _ => None,
        });
        assert_eq!(failures.collect::<Vec<_>>(), [expected], "{line}");
    }
}

#[test]
fn panic_fails_its_resource_alone() {
    let ran = run(&["a needs panics=execute", "b needs"]);
    assert!(ran.lines[0].starts_with("a failed: internal error, this is a bug in ccm < "), "{:?}", ran.lines);
    assert!(ran.lines[0].contains("a panic in execute"), "{:?}", ran.lines);
    assert_eq!(ran.lines[1], "b changed");
}

#[test]
fn unknown_provider_fails_its_resource() {
    let mut catalog = catalog(&["a needs", "b"]);
    let span = catalog.resources[0].span;
    catalog.resources[0].provider = Some(ccm_model::Spanned { value: "other".to_owned(), span });
    let ran = run_with(&catalog, &Options::default());
    assert_eq!(ran.lines, ["a failed: unknown provider `other`", "b unchanged"]);
}

#[test]
fn events_come_in_order_with_their_outcomes() {
    let ran = run(&["a needs"]);
    let names: Vec<&str> = ran
        .events
        .iter()
        .map(|event| match event {
            Event::SessionStarted(_) => "session started",
            Event::ResourceStarted(_) => "resource started",
            Event::OutputReceived(_) => "output",
            Event::ArtifactsLeft(_) => "artifacts left",
            Event::ResourceFinished(_) => "resource finished",
            Event::SessionFinished(_) => "session finished",
        })
        .collect();
    let expected = ["session started", "resource started", "output", "resource finished", "session finished"];
    assert_eq!(names, expected);
    let Some(Event::ResourceFinished(transaction)) = ran.events.get(3) else { panic!("no transaction") };
    assert_eq!(transaction.provider.as_deref(), Some("fake"));
    assert_eq!(transaction.requested_ensure, "present");
    assert_eq!(transaction.final_ensure.as_deref(), Some("present"));
    assert_eq!(transaction.reason_text(), Some("not in state"));
    assert_eq!(transaction.warnings, ["a was verified"]);
    assert_eq!(transaction.outcome, Outcome::Changed);
}

/// Late values of the resource `a`.
struct Late(fn() -> Result<Resolved, Failure>);

impl LateValues for Late {
    fn is_late(&self, _: ResourceIndex) -> bool {
        true
    }

    fn resolve(
        &self,
        _: ResourceIndex,
        resource: &Resource,
        _: &dyn RunProgress,
    ) -> Result<Resolved, Failure> {
        if &*resource.id.name == "a" { (self.0)() } else { Ok(Resolved::AsWritten) }
    }
}

#[test]
fn late_values_are_resolved_first() {
    let run_late = |answer, noop| {
        let late = Late(answer);
        let options = Options { noop, late: Some(&late), ..Options::default() };
        run_with(&catalog(&["a needs", "b require=a"]), &options)
    };
    let failed = run_late(|| Err(Failure::new(FailureKind::Value, "no such key")), false);
    assert_eq!(failed.lines, ["a failed: no such key", "b dependency failed because of a"]);
    assert!(failed.calls.is_empty());
    let without = run_late(|| Ok(Resolved::NoValue { reason: "nothing was captured".to_owned() }), false);
    assert_eq!(without.lines, ["a unchanged", "b unchanged"]);
    let off = run_late(|| Ok(Resolved::NotManaged { reason: "`if` is false".to_owned() }), false);
    assert_eq!(off.lines, ["a skipped: `if` is false", "b unchanged"]);
    let unknown = run_late(|| Ok(Resolved::NotBefore(ResourceIndex(1))), true);
    assert_eq!(unknown.lines, ["a would change: not known before fake#b", "b unchanged"]);
}

/// Late values that record captured values.
#[derive(Default)]
struct Remembering(RefCell<Vec<(ResourceIndex, serde_json::Value)>>);

impl LateValues for Remembering {
    fn is_late(&self, _: ResourceIndex) -> bool {
        true
    }

    fn resolve(&self, _: ResourceIndex, _: &Resource, _: &dyn RunProgress) -> Result<Resolved, Failure> {
        Ok(Resolved::AsWritten)
    }

    fn remember(&self, index: ResourceIndex, values: serde_json::Value) {
        self.0.borrow_mut().push((index, values));
    }
}

#[test]
fn values_of_an_execution_are_kept_after_verification() {
    for (line, noop, remembered, left) in [
        ("b needs yields=x", false, Some(json!({"it": "x", "changed": true})), true),
        ("b needs idle yields=x", false, Some(json!({"it": "x", "changed": false})), true),
        ("b needs fails=verify yields=x", false, None, true),
        ("b needs fails=execute yields=x", false, None, false),
        ("b needs yields=x", true, None, false),
        ("b yields=x", false, None, false),
        ("b needs", false, None, false),
    ] {
        let late = Remembering::default();
        let options = Options { noop, late: Some(&late), ..Options::default() };
        let ran = run_with(&catalog(&["a", line]), &options);
        let expected: Vec<_> = remembered.into_iter().map(|values| (ResourceIndex(1), values)).collect();
        assert_eq!(late.0.take(), expected, "{line}");
        let artifacts = ran.events.iter().find_map(|event| match event {
            Event::ArtifactsLeft(artifacts) => Some((artifacts.position, &*artifacts.files[0].name)),
            _ => None,
        });
        assert_eq!(artifacts, left.then_some((2, "it")), "{line}");
    }
}

#[test]
fn state_before_a_failed_change_is_not_reported() {
    for (line, described) in [
        ("a needs fails=halfway", false),
        ("a needs fails=execute", true),
        ("a needs fails=verify", true),
        ("a fails=decide", true),
        ("a needs", true),
    ] {
        let ran = run(&[line]);
        let finished = ran.events.iter().find_map(|event| match event {
            Event::ResourceFinished(transaction) => Some(transaction),
            _ => None,
        });
        let finished = finished.expect("a transaction");
        assert_eq!(finished.final_ensure.is_some(), described, "{line}");
    }
}

#[test]
fn unchanged_resources_are_described_if_that_is_asked_for() {
    let catalog = catalog(&["a size=1", "b needs", "c fails=decide"]);
    for (leaves_unchanged, expected) in [(false, [true, true, true]), (true, [false, true, true])] {
        let ran = run_with(&catalog, &Options { leaves_unchanged, ..Options::default() });
        let described = ran.events.iter().filter_map(|event| match event {
            Event::ResourceFinished(transaction) => {
                let has_properties = transaction.properties.given().next().is_some();
                assert_eq!(has_properties, transaction.state.is_some(), "{}", transaction.id);
                Some(has_properties)
            }
            _ => None,
        });
        assert_eq!(described.collect::<Vec<_>>(), expected);
    }
}
