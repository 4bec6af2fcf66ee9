use std::time::{Duration, UNIX_EPOCH};

use ccm_model::{SourceVersion, VersionId};

use super::*;
use crate::plan::document::{PLAN_FORMAT, PlannedOptions};

fn machine() -> PlannedMachine {
    PlannedMachine { id: "m-1".to_owned(), name: "web1".to_owned(), key: "k1".to_owned() }
}

fn resource(id: &str, outcome: PlannedOutcome) -> PlannedResource {
    let change = matches!(outcome, PlannedOutcome::Change | PlannedOutcome::Refresh);
    PlannedResource {
        id: id.to_owned(),
        outcome,
        action: None,
        message: None,
        reason: None,
        error: None,
        open: None,
        needs_approval: false,
        diff: None,
        state: Some("s1".to_owned()),
        change: change.then(|| "c1".to_owned()),
    }
}

fn plan() -> PlanDocument {
    let resources =
        vec![resource("file#/a", PlannedOutcome::Change), resource("file#/b", PlannedOutcome::Unchanged)];
    PlanDocument {
        format: PLAN_FORMAT.to_owned(),
        id: "0".repeat(32),
        ccm: "1.0".to_owned(),
        machine: machine(),
        issued: "2026-11-30T10:00:00Z".to_owned(),
        expires: "2026-12-01T10:00:00Z".to_owned(),
        policy: None,
        options: PlannedOptions::default(),
        manifests: vec![PlannedManifest {
            name: "/m.yaml".to_owned(),
            source: None,
            files: [("/m.yaml".to_owned(), "f1".to_owned())].into(),
            hiera: Vec::new(),
            data: "d1".to_owned(),
            facts: [("os.name".to_owned(), "x1".to_owned())].into(),
            resources,
        }],
        seal: String::new(),
    }
}

/// Change of a plan.
type Edit = fn(&mut PlanDocument);

fn first(plan: &mut PlanDocument) -> &mut PlannedResource {
    &mut plan.manifests[0].resources[0]
}

fn of_resource(resource: &str, difference: ResourceDifference) -> PlanDifference {
    PlanDifference::Resource { manifest: "/m.yaml".to_owned(), resource: resource.to_owned(), difference }
}

#[test]
fn every_difference_between_two_plans_is_named() {
    use PlanDifference as D;
    use PlannedOutcome::{Change, Unchanged};
    let m = || "/m.yaml".to_owned();
    let version =
        |version| SourceVersion { name: "base".to_owned(), version, digest: "0123456789abcdef".to_owned() };
    let table: Vec<(Edit, D)> = vec![
        (
            |plan| plan.machine.id = "m-2".to_owned(),
            D::Machine { planned: "web1 (m-1)".to_owned(), found: "web1 (m-2)".to_owned() },
        ),
        (|plan| plan.machine.key = "k2".to_owned(), D::Key),
        (
            |plan| plan.ccm = "1.1".to_owned(),
            D::Version { planned: "1.0".to_owned(), found: "1.1".to_owned() },
        ),
        (|plan| plan.policy = Some("p".to_owned()), D::Policy),
        (|plan| plan.options.only.push("file#/a".to_owned()), D::Options { option: "only" }),
        (|plan| plan.options.skip.push("file#/a".to_owned()), D::Options { option: "skip" }),
        (|plan| plan.options.fail_on_error = true, D::Options { option: "fail-on-error" }),
        (|plan| _ = plan.manifests.pop(), D::Manifest { manifest: m(), presence: Presence::Missing }),
        (
            |plan| {
                let other = PlannedManifest { name: "/n.yaml".to_owned(), ..plan.manifests[0].clone() };
                plan.manifests.push(other);
            },
            D::Manifest { manifest: "/n.yaml".to_owned(), presence: Presence::New },
        ),
        (
            |plan| {
                let (name, digest) = ("base".to_owned(), "0123456789abcdef".to_owned());
                plan.manifests[0].source =
                    Some(SourceVersion { name, version: VersionId::Number(2), digest });
            },
            D::Source {
                manifest: m(),
                planned: None,
                found: Some(shown_source(&version(VersionId::Number(2)))),
            },
        ),
        (
            |plan| _ = plan.manifests[0].files.insert("/m.yaml".to_owned(), "f2".to_owned()),
            D::File { manifest: m(), file: m(), presence: Presence::Changed },
        ),
        (
            |plan| _ = plan.manifests[0].files.insert("/n".to_owned(), "f2".to_owned()),
            D::File { manifest: m(), file: "/n".to_owned(), presence: Presence::New },
        ),
        (
            |plan| plan.manifests[0].files.clear(),
            D::File { manifest: m(), file: m(), presence: Presence::Missing },
        ),
        (|plan| plan.manifests[0].data = "d2".to_owned(), D::Data { manifest: m() }),
        (
            |plan| _ = plan.manifests[0].facts.insert("os.name".to_owned(), "x2".to_owned()),
            D::Fact { manifest: m(), fact: "os.name".to_owned(), presence: Presence::Changed },
        ),
        (
            |plan| plan.manifests[0].resources.push(resource("file#/c", Unchanged)),
            of_resource("file#/c", ResourceDifference::New),
        ),
        (|plan| _ = plan.manifests[0].resources.pop(), of_resource("file#/b", ResourceDifference::Missing)),
        (
            |plan| first(plan).state = Some("s2".to_owned()),
            of_resource("file#/a", ResourceDifference::State { planned: Change, found: Change }),
        ),
        (
            |plan| {
                first(plan).state = Some("s2".to_owned());
                first(plan).outcome = Unchanged;
            },
            of_resource("file#/a", ResourceDifference::State { planned: Change, found: Unchanged }),
        ),
        (
            |plan| first(plan).outcome = Unchanged,
            of_resource("file#/a", ResourceDifference::Outcome { planned: Change, found: Unchanged }),
        ),
        (
            |plan| first(plan).change = Some("c2".to_owned()),
            of_resource("file#/a", ResourceDifference::Change),
        ),
        (|plan| first(plan).needs_approval = true, of_resource("file#/a", ResourceDifference::Change)),
        (|plan| first(plan).open = Some("late".to_owned()), of_resource("file#/a", ResourceDifference::Open)),
    ];
    assert_eq!(compare(&plan(), &plan()), []);
    for (edit, expected) in table {
        let mut found = plan();
        edit(&mut found);
        assert_eq!(compare(&plan(), &found), [expected]);
    }
}

#[test]
fn all_differences_are_listed_and_times_are_none() {
    let mut found = plan();
    found.id = "1".repeat(32);
    found.issued = "2026-11-30T11:00:00Z".to_owned();
    found.expires = "2026-12-01T11:00:00Z".to_owned();
    assert_eq!(compare(&plan(), &found), []);
    found.policy = Some("p".to_owned());
    found.manifests[0].data = "d2".to_owned();
    first(&mut found).state = Some("s2".to_owned());
    let names: Vec<_> = compare(&plan(), &found).iter().map(PlanDifference::name).collect();
    assert_eq!(names, ["policy", "data", "resource"]);
}

#[test]
fn resources_of_one_name_are_compared_in_their_order() {
    let mut planned = plan();
    planned.manifests[0].resources[1].id = "file#/a".to_owned();
    assert_eq!(compare(&planned, &planned.clone()), []);
    let mut found = planned.clone();
    found.manifests[0].resources.pop();
    assert_eq!(compare(&planned, &found), [of_resource("file#/a", ResourceDifference::Missing)]);
    assert_eq!(compare(&found, &planned), [of_resource("file#/a", ResourceDifference::New)]);
}

#[test]
fn a_plan_holds_here_now_and_once() {
    use PlanDifference as D;
    let other = PlannedMachine { id: "m-2".to_owned(), ..machine() };
    let other_key = PlannedMachine { key: "k2".to_owned(), ..machine() };
    let at = |seconds: u64| UNIX_EPOCH + Duration::from_secs(1_796_032_800 + seconds);
    let here = machine();
    let now = PlanCircumstances {
        machine: &here,
        version: "1.0",
        now: at(0),
        is_sealed: Some(true),
        is_used: false,
    };
    let end = "2026-12-01T10:00:00Z".to_owned();
    for (circumstances, expected) in [
        (now, vec![]),
        (PlanCircumstances { machine: &other, ..now }, vec!["machine"]),
        (PlanCircumstances { machine: &other_key, is_sealed: None, ..now }, vec!["key"]),
        (PlanCircumstances { version: "2.0", ..now }, vec!["version"]),
        (PlanCircumstances { is_sealed: Some(false), ..now }, vec!["edited"]),
        (PlanCircumstances { now: at(86_399), ..now }, vec![]),
        (PlanCircumstances { now: at(86_400), ..now }, vec!["expired"]),
        (PlanCircumstances { now: UNIX_EPOCH, ..now }, vec!["not_yet"]),
        (PlanCircumstances { is_used: true, ..now }, vec!["used"]),
        (
            PlanCircumstances {
                version: "2.0",
                now: at(90_000),
                is_sealed: Some(false),
                is_used: true,
                machine: &other,
            },
            vec!["machine", "version", "edited", "expired", "used"],
        ),
    ] {
        let found = faults(&plan(), circumstances);
        assert_eq!(found.iter().map(D::name).collect::<Vec<_>>(), expected, "{circumstances:?}");
    }
    assert!(faults(&plan(), PlanCircumstances { now: at(90_000), ..now }).contains(&D::Expired { at: end }));
}

#[test]
fn a_step_makes_the_change_of_the_plan_from_the_state_of_the_plan() {
    use StepDifference as S;
    let change = resource("a", PlannedOutcome::Change);
    let refresh = resource("a", PlannedOutcome::Refresh);
    let open = PlannedResource { open: Some("late".to_owned()), state: None, change: None, ..change.clone() };
    let unchanged = resource("a", PlannedOutcome::Unchanged);
    let failed = resource("a", PlannedOutcome::Failed);
    for (planned, state, digest, is_affected, expected) in [
        (None, "s1", "c1", false, Err(S::NotInPlan)),
        (None, "s1", "c1", true, Err(S::NotInPlan)),
        (Some(&change), "s1", "c1", false, Ok(())),
        (Some(&refresh), "s1", "c1", false, Ok(())),
        (Some(&change), "s2", "c1", false, Err(S::State)),
        (Some(&change), "s1", "c2", false, Err(S::Change)),
        (Some(&change), "s2", "c2", true, Ok(())),
        (Some(&unchanged), "s1", "c1", false, Err(S::NotPlanned)),
        (Some(&unchanged), "s1", "c1", true, Err(S::NotPlanned)),
        (Some(&failed), "s1", "c1", false, Err(S::NotPlanned)),
        (Some(&open), "s2", "c2", false, Ok(())),
    ] {
        let found = check_step(planned, StepDigests { state, change: digest }, is_affected);
        assert_eq!(found, expected, "{planned:?} {state} {digest} {is_affected}");
    }
}

#[test]
fn a_plan_is_read_as_it_was_written() {
    use crate::plan::document::PlanTextError;
    let text = plan().text();
    assert_eq!(PlanDocument::parse(&text), Ok(plan()));
    assert_eq!(plan().sealed_bytes(), text.as_bytes());
    let other = text.replace("ccm-plan/1", "ccm-plan/2");
    assert_eq!(
        PlanDocument::parse(&other),
        Err(PlanTextError::OtherFormat { found: "ccm-plan/2".to_owned() })
    );
    for damaged in [
        text.replace("\"policy\"", "\"polizei\""),
        text.replace("2026-12-01T10:00:00Z", "tomorrow"),
        text.replace(&"0".repeat(32), "../../etc/passwd"),
        text.replace("ccm-plan/1", "ccm-intent/1"),
        text[..text.len() / 2].to_owned(),
        String::new(),
    ] {
        assert_eq!(PlanDocument::parse(&damaged), Err(PlanTextError::Form), "{damaged}");
    }
}
