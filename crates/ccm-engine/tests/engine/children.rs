//! Manifests that are applied as resources, and resources that are not managed.

use ccm_engine::{LateValues, Progress, Resolved};
use ccm_model::{Catalog, Child, ChildIndex, Control, Failure, Resource, ResourceIndex};

use crate::fake::{Options, catalog, run_with};

/// Builds a catalog in which resources named `c.x` belong to a child, and one named `c` stands for it.
fn with_child(lines: &[&str], child: Child) -> Catalog {
    let mut catalog = catalog(lines);
    catalog.children.push(child);
    let members = |index: &ResourceIndex| catalog.resource(*index).id.name.starts_with("c.");
    let members: Vec<ResourceIndex> = catalog.indices().filter(members).collect();
    for resource in &mut catalog.resources {
        if resource.id.name.starts_with("c.") {
            resource.child = Some(ChildIndex(0));
        } else if &*resource.id.name == "c" {
            resource.stands_for = Some(ChildIndex(0));
            resource.require.extend(
                members.iter().map(|on| ccm_model::Dependency { on: *on, span: ccm_model::Span::default() }),
            );
        }
    }
    catalog
}

fn lines(catalog: &Catalog, noop: bool) -> Vec<String> {
    run_with(catalog, &Options { noop, ..Options::default() }).lines
}

#[test]
fn what_stands_for_a_child_changes_with_it() {
    let catalog = with_child(&["c.a needs", "c.b", "c", "after subscribe=c"], Child::default());
    let stable = ["c.a changed", "c.b stable", "c changed", "after refreshed by c"];
    assert_eq!(lines(&catalog, false), stable);
    let would = [
        "c.a would change: Would have moved",
        "c.b stable",
        "c would change: Would have applied the manifest",
        "after would refresh by c: Would have moved",
    ];
    assert_eq!(lines(&catalog, true), would);
    let catalog = with_child(&["c.a", "c", "after subscribe=c"], Child::default());
    assert_eq!(lines(&catalog, false), ["c.a stable", "c stable", "after stable"]);
}

#[test]
fn a_child_in_noop_changes_nothing_and_sets_nothing_in_motion() {
    let child = Child { noop: true, ..Child::default() };
    let catalog = with_child(
        &["c.a needs", "c.b subscribe=c.a", "c", "after subscribe=c", "other subscribe=c.a"],
        child,
    );
    let ran = run_with(&catalog, &Options::default());
    let expected = [
        "c.a would change: Would have moved",
        "c.b would refresh by c.a: Would have moved",
        "c would change: Would have applied the manifest",
        "after stable",
        "other stable",
    ];
    assert_eq!(ran.lines, expected);
    assert!(!ran.calls.iter().any(|call| call.starts_with("execute")), "{:?}", ran.calls);
}

#[test]
fn what_would_change_in_a_child_of_a_child_is_no_change_of_the_outer_one() {
    let mut catalog = with_child(&["c.a needs", "c", "outer"], Child { noop: true, ..Child::default() });
    // The child becomes one of another, which is not in noop.
    catalog.children.insert(0, Child::default());
    catalog.children[1].parent = Some(ChildIndex(0));
    catalog.resources[0].child = Some(ChildIndex(1));
    catalog.resources[1].stands_for = Some(ChildIndex(1));
    catalog.resources[1].child = Some(ChildIndex(0));
    catalog.resources[2].stands_for = Some(ChildIndex(0));
    let expected = [
        "c.a would change: Would have moved",
        "c would change: Would have applied the manifest",
        "outer stable",
    ];
    assert_eq!(lines(&catalog, false), expected);
}

#[test]
fn a_child_that_stops_at_a_failure_stops_alone() {
    let resources = ["c.a fails=read", "c.b needs", "c", "next needs", "after require=c", "on-b require=c.b"];
    let stopping = with_child(&resources, Child { fail_on_error: true, ..Child::default() });
    let expected = [
        "c.a failed: read failed",
        "c.b skipped: ended by c.a",
        "c unmet because of c.a",
        "next changed",
        "after unmet because of c.a",
        "on-b unmet because of c.a",
    ];
    assert_eq!(lines(&stopping, false), expected);
    let going_on = with_child(&resources, Child::default());
    assert_eq!(lines(&going_on, false)[1], "c.b changed");
}

#[test]
fn what_is_not_managed_is_skipped_and_satisfies() {
    let mut catalog = catalog(&["a needs", "b needs require=a subscribe=a"]);
    catalog.resources[0].control = Control::NotManaged { reason: "`if` is false".to_owned() };
    assert_eq!(lines(&catalog, false), ["a skipped: `if` is false", "b changed"]);
    assert_eq!(lines(&catalog, true), ["a skipped: `if` is false", "b would change: Would have moved"]);
}

/// Conditions that are known late turn out not to hold.
struct Off;

impl LateValues for Off {
    fn is_late(&self, _: ResourceIndex) -> bool {
        true
    }

    fn resolve(&self, _: ResourceIndex, resource: &Resource, _: &dyn Progress) -> Result<Resolved, Failure> {
        Ok(match resource.control {
            Control::Late => Resolved::NotManaged { reason: "`if` is false".to_owned() },
            _ => Resolved::AsWritten,
        })
    }
}

#[test]
fn a_child_may_turn_out_not_to_be_managed() {
    let mut catalog = with_child(&["c.a needs", "c", "after require=c subscribe=c"], Child::default());
    catalog.resources[0].control = Control::Late;
    catalog.resources[1].control = Control::Late;
    let ran = run_with(&catalog, &Options { late: Some(&Off), ..Options::default() });
    assert_eq!(ran.lines, ["c.a skipped: `if` is false", "c skipped: `if` is false", "after stable"]);
}

/// What `x` is waits for what `c.a` does, and is never there before.
struct OfA;

impl LateValues for OfA {
    fn is_late(&self, _: ResourceIndex) -> bool {
        true
    }

    fn resolve(
        &self,
        _: ResourceIndex,
        resource: &Resource,
        progress: &dyn Progress,
    ) -> Result<Resolved, Failure> {
        let waits = resource.id.name.ends_with('x') && progress.would_change(ResourceIndex(0));
        Ok(if waits { Resolved::NotBefore(ResourceIndex(0)) } else { Resolved::AsWritten })
    }
}

#[test]
fn what_waits_for_something_that_noop_does_not_do_has_no_turn() {
    let resources =
        ["c.a needs", "c.x require=c.a", "c", "x require=c.a", "after require=x subscribe=x", "other"];
    let run = |noop, child_noop| {
        let catalog = with_child(&resources, Child { noop: child_noop, ..Child::default() });
        run_with(&catalog, &Options { noop, late: Some(&OfA), ..Options::default() }).lines
    };
    for noop in [false, true] {
        let expected = [
            "c.a would change: Would have moved",
            "c.x would change: not known before fake#c.a",
            "c would change: Would have applied the manifest",
            "x unmet because c.a is in noop",
            "after unmet because c.a is in noop",
            "other stable",
        ];
        assert_eq!(run(noop, true), expected);
    }
    let all = run(true, false);
    assert_eq!(
        all[3..5],
        ["x would change: not known before fake#c.a", "after would refresh by x: Would have moved"]
    );
}

#[test]
fn noop_shows_what_a_run_sets_in_motion() {
    let resources = ["c.a needs", "c.b subscribe=c.a", "c", "after subscribe=c", "other subscribe=c.a"];
    let catalog = with_child(&resources, Child { noop: true, ..Child::default() });
    assert_eq!(lines(&catalog, true), lines(&catalog, false));
    let missing = ["/d needs", "c.a needs", "c.b fails=missing", "c", "after fails=missing"];
    let mut catalog = with_child(&missing, Child { noop: true, ..Child::default() });
    catalog.resources[0].child = Some(ChildIndex(0));
    assert_eq!(
        lines(&catalog, true)[2..],
        [
            "c.b would change: not known before fake#c.a",
            "c would change: Would have applied the manifest",
            "after failed: a directory is missing"
        ]
    );
    assert_eq!(lines(&catalog, true), lines(&catalog, false));
}
