//! Reading many resources at once, and for how long that holds.

use ccm_engine::{LateValues, Progress, Resolved};
use ccm_model::{Catalog, Control, Failure, Group, GroupIndex, Resource, ResourceIndex};

use crate::fake::{Options, Ran, catalog, noop, run, run_with};

/// The same lines, read by a provider that reads four at once.
fn four(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| format!("{line} provider=four")).collect()
}

fn run_four(lines: &[&str]) -> Ran {
    run(&four(lines).iter().map(String::as_str).collect::<Vec<_>>())
}

fn four_catalog(lines: &[&str]) -> Catalog {
    catalog(&four(lines).iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_steady_run_reads_each_once() {
    let ran = run_four(&["a", "b", "c", "d", "e", "f"]);
    assert_eq!(ran.lines, ["a stable", "b stable", "c stable", "d stable", "e stable", "f stable"]);
    assert_eq!(ran.calls, ["read many a,b,c,d", "read many e,f"]);
}

#[test]
fn not_more_are_held_than_a_bounded_number() {
    let lines: Vec<String> = (0..600).map(|number| format!("r{number} provider=all")).collect();
    let ran = run(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let counts: Vec<usize> = ran.calls.iter().map(|call| call.split(',').count()).collect();
    assert_eq!(counts, [256, 256, 88]);
}

#[test]
fn those_of_one_provider_are_read_together_whatever_stands_between() {
    let ran = run(&["a provider=four", "x", "b provider=four", "y", "c provider=all", "d provider=all"]);
    assert_eq!(ran.calls, ["read many a,b", "read x", "read y", "read many c,d"]);
}

#[test]
fn the_order_is_that_of_the_walk() {
    assert_eq!(run_four(&["a require=c", "b", "c", "d", "e"]).calls, ["read many b,c,a,d", "read e"]);
}

#[test]
fn one_that_can_not_be_read_fails_alone() {
    let ran = run_four(&["a", "b fails=read", "c"]);
    assert_eq!(ran.lines, ["a stable", "b failed: read failed", "c stable"]);
    assert_eq!(ran.calls, ["read many a,b,c"]);
}

#[test]
fn after_a_change_all_is_read_again_and_singly() {
    for change in ["needs", "needs idle", "needs fails=execute", "needs fails=verify", "needs panics=execute"]
    {
        let ran = run(&["a provider=four", &format!("x {change}"), "b provider=four", "c provider=four"]);
        assert_eq!(ran.calls, ["read many a,b,c", "read x", "execute x", "read b", "read c"], "{change}");
    }
}

#[test]
fn in_noop_nothing_is_changed_and_nothing_forgotten() {
    let ran = noop(&["a provider=four", "x needs", "b provider=four needs", "c provider=four"]);
    assert_eq!(ran.calls, ["read many a,b,c", "read x"]);
    assert_eq!(ran.lines[2], "b would change: Would have moved");
}

#[test]
fn in_noop_a_directory_that_would_be_made_can_change_what_a_read_means() {
    let mut catalog = catalog(&["a provider=four", "/d needs", "b provider=four", "c provider=four"]);
    let value = "directory".to_owned();
    catalog.resources[1].ensure = Some(ccm_model::Spanned { value, span: ccm_model::Span::default() });
    let ran = run_with(&catalog, &Options { noop: true, ..Options::default() });
    assert_eq!(ran.calls, ["read many a,b,c", "read /d", "read b", "read c"]);
}

#[test]
fn after_a_command_all_is_read_again_and_singly() {
    let ran = run(&["a provider=four", "x by=ask", "b provider=four", "c provider=four"]);
    assert_eq!(ran.calls, ["read many a,b,c", "read x", "read b", "read c"]);
    // Also when the command is run while many are read: then nobody knows which of them were read before it.
    assert_eq!(run_four(&["a", "b by=ask", "c"]).calls, ["read many a,b,c", "read b", "read c"]);
}

#[test]
fn a_query_changes_nothing() {
    let ran = run(&["a provider=four", "x by=query", "b provider=four by=query", "c provider=four"]);
    assert_eq!(ran.calls, ["read many a,b,c", "read x"]);
}

#[test]
fn what_is_shared_is_read_once_until_something_changes() {
    let singly =
        |between: &str| run(&["a by=share", "b by=share", between, "c by=share", "d by=share"]).calls;
    assert_eq!(singly("x"), ["read a", "open", "read b", "read x", "read c", "read d"]);
    assert_eq!(singly("x by=query"), ["read a", "open", "read b", "read x", "read c", "read d"]);
    assert_eq!(singly("x by=ask"), ["read a", "open", "read b", "read x", "read c", "open", "read d"]);
    let changed = ["read a", "open", "read b", "read x", "execute x", "read c", "open", "read d"];
    assert_eq!(singly("x needs"), changed);
    assert_eq!(singly("x needs panics=execute"), changed);
    let ran = noop(&["a by=share", "x needs", "b by=share"]);
    assert_eq!(ran.calls, ["read a", "open", "read x", "read b"]);
    let ran = run(&["a by=share provider=four needs", "b by=share"]);
    assert_eq!(ran.calls, ["read a", "open", "execute a", "verify a", "open", "read b"]);
}

#[test]
fn who_has_no_turn_is_not_read() {
    let lines = ["a", "b", "c", "d", "e", "f"];
    let catalog = four_catalog(&lines);
    let only: Vec<ResourceIndex> = [0, 3, 5].map(ResourceIndex).into();
    let ran = run_with(&catalog, &Options { only: Some(&only), ..Options::default() });
    assert_eq!(ran.calls, ["read many a,d,f"]);
    let mut catalog = four_catalog(&lines);
    catalog.resources[1].control = Control::NotManaged { reason: "no".to_owned() };
    assert_eq!(run_with(&catalog, &Options::default()).calls, ["read many a,c,d,e", "read f"]);
    let ran = run_four(&["a fails=read", "b require=a", "c", "d require=b", "e"]);
    // That `b` and `d` have no turn shows only later.
    assert_eq!(ran.calls, ["read many a,b,c,d", "read e"]);
    assert_eq!(ran.lines[1..3], ["b unmet because of a", "c stable"]);
}

#[test]
fn who_is_triggered_is_read_at_its_turn() {
    let ran = run_four(&["a needs", "b", "c subscribe=a", "d"]);
    assert_eq!(ran.calls[0], "read many a,b,c,d");
    assert_eq!(
        ran.calls[1..],
        ["execute a", "verify a", "read b", "read c", "execute c", "verify c", "read d"]
    );
    // In noop nothing is forgotten, and what was read of `c` was read for another decision.
    let lines = four(&["a needs", "b", "c subscribe=a", "d"]);
    let ran = noop(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.calls, ["read many a,b,c,d", "read c"]);
    assert_eq!(ran.lines[2], "c would refresh by a: Would have moved");
}

/// The resource `b` waits for its values.
struct OfB;

impl LateValues for OfB {
    fn is_late(&self, index: ResourceIndex) -> bool {
        index == ResourceIndex(1)
    }

    fn resolve(
        &self,
        index: ResourceIndex,
        resource: &Resource,
        _: &dyn Progress,
    ) -> Result<Resolved, Failure> {
        if self.is_late(index) {
            Ok(Resolved::Completed(Box::new(resource.clone())))
        } else {
            Ok(Resolved::AsWritten)
        }
    }
}

#[test]
fn who_waits_for_values_is_read_at_its_turn() {
    let ran = run_with(&four_catalog(&["a", "b", "c"]), &Options { late: Some(&OfB), ..Options::default() });
    assert_eq!(ran.calls, ["read many a,c", "read b"]);
}

#[test]
fn those_of_another_manifest_are_read_by_themselves() {
    let mut catalog = four_catalog(&["a", "b", "c", "d", "e"]);
    catalog.groups = vec![Group::default(); 2];
    for (index, group) in [(1, 0), (2, 0), (3, 1)] {
        catalog.resources[index].group = Some(GroupIndex(group));
    }
    let ran = run_with(&catalog, &Options::default());
    assert_eq!(ran.calls, ["read many a,e", "read many b,c", "read d"]);
}

#[test]
fn a_bug_in_reading_many_leaves_single_reads() {
    for bug in ["read-panics", "read-miscounts"] {
        let ran = run_four(&["a", &format!("b breaks={bug}"), "c"]);
        assert_eq!(ran.lines, ["a stable", "b stable", "c stable"], "{bug}");
        assert_eq!(ran.calls, ["read many a,b,c", "read a", "read b", "read c"], "{bug}");
    }
}
