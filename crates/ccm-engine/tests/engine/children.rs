//! Child manifests, and resources that are not managed.

use ccm_engine::{LateValues, Resolved, RunProgress};
use ccm_model::{
    Catalog, Control, Event, Failure, FailureKind, Group, GroupIndex, Outcome, Resource, ResourceIndex,
};

use crate::fake::{Off, Options, catalog, run_with};

/// Builds a catalog with a child manifest: resources named `c.x` are its members, and the one named `c` is
/// its node.
pub(crate) fn with_child(lines: &[&str], group: Group) -> Catalog {
    let mut catalog = catalog(lines);
    catalog.groups.push(group);
    for resource in &mut catalog.resources {
        if resource.id.name.starts_with("c.") {
            resource.group = Some(GroupIndex(0));
        } else if &*resource.id.name == "c" {
            resource.node_of = Some(GroupIndex(0));
        }
    }
    catalog
}

fn lines(catalog: &Catalog, noop: bool) -> Vec<String> {
    run_with(catalog, &Options { noop, ..Options::default() }).lines
}

#[test]
fn group_node_changes_with_its_members() {
    let catalog = with_child(&["c.a needs", "c.b", "c", "after subscribe=c"], Group::default());
    let stable = ["c.a changed", "c.b unchanged", "c changed", "after refreshed by c"];
    assert_eq!(lines(&catalog, false), stable);
    let would = ["c.a would change", "c.b unchanged", "c would change", "after would refresh by c"];
    assert_eq!(lines(&catalog, true), would);
    let catalog = with_child(&["c.a", "c", "after subscribe=c"], Group::default());
    assert_eq!(lines(&catalog, false), ["c.a unchanged", "c unchanged", "after unchanged"]);
}

#[test]
fn child_in_noop_changes_and_triggers_nothing() {
    let group = Group { noop: true, ..Group::default() };
    let catalog = with_child(
        &["c.a needs", "c.b subscribe=c.a", "c", "after subscribe=c", "other subscribe=c.a"],
        group,
    );
    let ran = run_with(&catalog, &Options::default());
    let expected = [
        "c.a would change",
        "c.b would refresh by c.a",
        "c would change",
        "after unchanged",
        "other unchanged",
    ];
    assert_eq!(ran.lines, expected);
    assert!(!ran.calls.iter().any(|call| call.starts_with("execute")), "{:?}", ran.calls);
}

#[test]
fn noop_change_in_a_nested_child_is_no_change_of_the_outer_child() {
    let mut catalog = with_child(&["c.a needs", "c", "outer"], Group { noop: true, ..Group::default() });
    // The child becomes part of another child, which is not in noop.
    catalog.groups.insert(0, Group::default());
    catalog.groups[1].parent = Some(GroupIndex(0));
    catalog.resources[0].group = Some(GroupIndex(1));
    catalog.resources[1].node_of = Some(GroupIndex(1));
    catalog.resources[1].group = Some(GroupIndex(0));
    catalog.resources[2].node_of = Some(GroupIndex(0));
    let expected = ["c.a would change", "c would change", "outer unchanged"];
    assert_eq!(lines(&catalog, false), expected);
}

#[test]
fn child_with_fail_on_error_stops_alone() {
    let resources = ["c.a fails=read", "c.b needs", "c", "next needs", "after require=c", "on-b require=c.b"];
    let stopping = with_child(&resources, Group { fail_on_error: true, ..Group::default() });
    let expected = [
        "c.a failed: read failed",
        "c.b skipped: ended by c.a",
        "c failed: 1 of its 2 resources failed: fake#c.a",
        "next changed",
        "after dependency failed because of c.a",
        "on-b dependency failed because of c.a",
    ];
    assert_eq!(lines(&stopping, false), expected);
    let going_on = with_child(&resources, Group::default());
    assert_eq!(lines(&going_on, false)[1], "c.b changed");
}

/// Adds a nested child to the catalog of [`with_child`]: resources named `d.x` are its members, and `d` is
/// its node.
fn with_inner(lines: &[&str], outer: Group, inner: Group) -> Catalog {
    let mut catalog = with_child(lines, outer);
    catalog.groups.push(Group { parent: Some(GroupIndex(0)), ..inner });
    for resource in &mut catalog.resources {
        if resource.id.name.starts_with("d.") {
            resource.group = Some(GroupIndex(1));
        } else if &*resource.id.name == "d" {
            (resource.group, resource.node_of) = (Some(GroupIndex(0)), Some(GroupIndex(1)));
        }
    }
    catalog
}

#[test]
fn child_with_a_failed_member_fails_and_names_the_member() {
    let resources = [
        "c.a fails=read",
        "c.b require=c.a",
        "c.d fails=read",
        "c.e",
        "c",
        "after require=c",
        "on subscribe=after",
    ];
    let catalog = with_child(&resources, Group::default());
    let expected = [
        "c.a failed: read failed",
        "c.b dependency failed because of c.a",
        "c.d failed: read failed",
        "c.e unchanged",
        "c failed: 2 of its 4 resources failed: fake#c.a, fake#c.d",
        "after dependency failed because of c.a,c.d",
        "on dependency failed because of c.a,c.d",
    ];
    assert_eq!(lines(&catalog, false), expected);
    assert_eq!(lines(&catalog, true), expected);
    let ran = run_with(&catalog, &Options::default());
    assert_eq!((ran.summary.counts.failed, ran.summary.counts.unmet), (3, 3));
    let failure = ran.events.iter().find_map(|event| match event {
        Event::ResourceFinished(ended) if &*ended.id.name == "c" => match &ended.outcome {
            Outcome::Failed(failure) => Some(failure.kind),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(failure, Some(FailureKind::Child));
    let one = with_child(&["c.a fails=read", "c"], Group::default());
    assert_eq!(lines(&one, false)[1], "c failed: its only resource failed: fake#c.a");
}

#[test]
fn long_list_of_failed_members_is_cut() {
    let mut resources: Vec<String> = (0..8).map(|number| format!("c.{number} fails=read")).collect();
    resources.push("c".to_owned());
    let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
    assert_eq!(
        lines(&with_child(&resources, Group::default()), false)[8],
        "c failed: 8 of its 8 resources failed: fake#c.0, fake#c.1, fake#c.2, fake#c.3, fake#c.4 and 3 more"
    );
}

#[test]
fn failure_of_a_child_reports_changed_members() {
    for (member, changed) in [
        ("c.b", false),
        ("c.b needs", true),
        ("c.b needs idle", false),
        ("c.b needs fails=halfway", true),
        ("c.b needs fails=execute", false),
    ] {
        let catalog = with_child(&["c.a fails=read", member, "c"], Group::default());
        assert_eq!(lines(&catalog, false)[2].ends_with(" (changed)"), changed, "{member}");
        assert!(!lines(&catalog, true)[2].ends_with(" (changed)"), "{member} in noop");
        let catalog = with_child(&["c.a fails=read", member, "c"], Group { noop: true, ..Group::default() });
        assert!(!lines(&catalog, false)[2].ends_with(" (changed)"), "{member} in a child in noop");
    }
}

#[test]
fn failure_in_a_nested_child_fails_both_and_counts_once() {
    let resources = ["d.a fails=read", "d.b needs", "d", "c.a", "c", "after require=c"];
    let catalog = with_inner(&resources, Group::default(), Group::default());
    let expected = [
        "d.a failed: read failed",
        "d.b changed",
        "d failed: 1 of its 2 resources failed: fake#d.a (changed)",
        "c.a unchanged",
        "c failed: 1 of its 4 resources failed: fake#d.a (changed)",
        "after dependency failed because of d.a",
    ];
    assert_eq!(lines(&catalog, false), expected);
    let stopping = Group { fail_on_error: true, ..Group::default() };
    let expected = [
        "d.a failed: read failed",
        "d.b skipped: ended by d.a",
        "d failed: 1 of its 2 resources failed: fake#d.a",
        "c.a skipped: ended by d.a",
        "c failed: 1 of its 4 resources failed: fake#d.a",
        "after dependency failed because of d.a",
    ];
    assert_eq!(lines(&with_inner(&resources, stopping, Group::default()), false), expected);
}

#[test]
fn child_after_a_stop_is_skipped() {
    let resources = ["x fails=read", "c.a needs", "c require=x", "after require=c"];
    let expected = [
        "x failed: read failed",
        "c.a dependency failed because of x",
        "c dependency failed because of x",
        "after dependency failed because of x",
    ];
    assert_eq!(lines(&with_child(&resources, Group::default()), false), expected);
    // A member with a failed dependency outside did not fail itself.
    let resources = ["x fails=read", "c.a require=x", "c"];
    assert_eq!(
        lines(&with_child(&resources, Group::default()), false)[2],
        "c dependency failed because of x"
    );
    let mut off = with_child(&["c.a fails=read", "c", "after needs require=c"], Group::default());
    off.resources[1].control = Control::NotManaged { reason: "off".to_owned() };
    assert_eq!(lines(&off, false)[1..], ["c skipped: off", "after changed"]);
    let catalog = with_child(&["c.a fails=read", "c"], Group::default());
    let only = [ResourceIndex(0)];
    let ran = run_with(&catalog, &Options { only: Some(&only), ..Options::default() });
    assert_eq!(ran.lines[1], "c skipped: not selected");
    let ran = run_with(&catalog, &Options { stopped_before: true, ..Options::default() });
    assert_eq!(ran.lines[1], "c skipped: stopped by SIGINT");
}

#[test]
fn excluded_child_is_skipped_with_all_its_members() {
    let catalog =
        with_child(&["c.a fails=read", "c.b needs", "c", "after needs require=c"], Group::default());
    let excluded = |skip: &[u32]| {
        let skip: Vec<ResourceIndex> = skip.iter().copied().map(ResourceIndex).collect();
        run_with(&catalog, &Options { skip: &skip, ..Options::default() }).lines
    };
    let expected = ["c.a skipped: excluded", "c.b skipped: excluded", "c skipped: excluded", "after changed"];
    assert_eq!(excluded(&[2]), expected);
    assert_eq!(excluded(&[0]), ["c.a skipped: excluded", "c.b changed", "c changed", "after changed"]);
}

#[test]
fn child_fails_also_if_its_failure_ends_the_run() {
    let catalog = with_child(&["c.a fails=read", "c.b", "c", "after"], Group::default());
    let ran = run_with(&catalog, &Options { fail_on_error: true, ..Options::default() });
    let expected = [
        "c.a failed: read failed",
        "c.b skipped: stopped by c.a",
        "c failed: 1 of its 2 resources failed: fake#c.a",
        "after skipped: stopped by c.a",
    ];
    assert_eq!(ran.lines, expected);
    let stops = with_child(&["c.a needs stops fails=verify", "c.b", "c", "after"], Group::default());
    assert_eq!(
        lines(&stops, false)[1..],
        [
            "c.b skipped: stopped by SIGINT",
            "c failed: 1 of its 2 resources failed: fake#c.a (changed)",
            "after skipped: stopped by SIGINT",
        ]
    );
}

#[test]
fn unmanaged_resource_is_skipped_and_satisfies_requirements() {
    let mut catalog = catalog(&["a needs", "b needs require=a subscribe=a"]);
    catalog.resources[0].control = Control::NotManaged { reason: "`if` is false".to_owned() };
    assert_eq!(lines(&catalog, false), ["a skipped: `if` is false", "b changed"]);
    assert_eq!(lines(&catalog, true), ["a skipped: `if` is false", "b would change"]);
}

#[test]
fn late_control_can_skip_a_child() {
    let mut catalog = with_child(&["c.a needs", "c", "after require=c subscribe=c"], Group::default());
    catalog.resources[0].control = Control::Late;
    catalog.resources[1].control = Control::Late;
    let ran = run_with(&catalog, &Options { late: Some(&Off), ..Options::default() });
    assert_eq!(ran.lines, ["c.a skipped: `if` is false", "c skipped: `if` is false", "after unchanged"]);
}

/// Late values in which `x` needs the result of `c.a`.
struct OfA;

impl LateValues for OfA {
    fn is_late(&self, _: ResourceIndex) -> bool {
        true
    }

    fn resolve(
        &self,
        _: ResourceIndex,
        resource: &Resource,
        progress: &dyn RunProgress,
    ) -> Result<Resolved, Failure> {
        let waits = resource.id.name.ends_with('x') && progress.would_change(ResourceIndex(0));
        Ok(if waits { Resolved::NotBefore(ResourceIndex(0)) } else { Resolved::AsWritten })
    }
}

#[test]
fn resource_that_needs_a_value_from_noop_is_skipped() {
    let resources =
        ["c.a needs", "c.x require=c.a", "c", "x require=c.a", "after require=x subscribe=x", "other"];
    let run = |noop, child_noop| {
        let catalog = with_child(&resources, Group { noop: child_noop, ..Group::default() });
        run_with(&catalog, &Options { noop, late: Some(&OfA), ..Options::default() }).lines
    };
    for noop in [false, true] {
        let expected = [
            "c.a would change",
            "c.x would change: not known before fake#c.a",
            "c would change",
            "x skipped because c.a is in noop",
            "after skipped because c.a is in noop",
            "other unchanged",
        ];
        assert_eq!(run(noop, true), expected);
    }
    let all = run(true, false);
    assert_eq!(all[3..5], ["x would change: not known before fake#c.a", "after would refresh by x"]);
}

#[test]
fn member_that_needs_a_value_from_noop_does_not_fail_its_child() {
    let inner = Group { noop: true, ..Group::default() };
    let run = |other: &str| {
        let resources = ["d.a needs", "d", "c.x require=d.a", other, "c", "after require=c"];
        let catalog = with_inner(&resources, Group::default(), inner.clone());
        run_with(&catalog, &Options { late: Some(&OfA), ..Options::default() }).lines
    };
    let undone = ["c skipped because d.a is in noop", "after skipped because d.a is in noop"];
    assert_eq!(run("c.b")[2], "c.x skipped because d.a is in noop");
    assert_eq!(run("c.b")[4..], undone);
    let failed =
        ["c failed: 1 of its 4 resources failed: fake#c.b", "after dependency failed because of c.b"];
    assert_eq!(run("c.b fails=read")[4..], failed);
}

#[test]
fn noop_shows_triggered_refreshes() {
    let resources = ["c.a needs", "c.b subscribe=c.a", "c", "after subscribe=c", "other subscribe=c.a"];
    let catalog = with_child(&resources, Group { noop: true, ..Group::default() });
    assert_eq!(lines(&catalog, true), lines(&catalog, false));
    let missing = ["/d needs", "c.a needs", "c.b fails=missing", "c", "after fails=missing"];
    let mut catalog = with_child(&missing, Group { noop: true, ..Group::default() });
    catalog.resources[0].group = Some(GroupIndex(0));
    assert_eq!(
        lines(&catalog, true)[2..],
        ["c.b would change: may fail", "c would change", "after failed: a directory is missing"]
    );
    assert_eq!(lines(&catalog, true), lines(&catalog, false));
}
