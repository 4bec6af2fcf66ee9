//! Prefetched states, and their invalidation.

use ccm_engine::{LateValues, Resolved, RunProgress};
use ccm_model::{Catalog, Control, Failure, Group, GroupIndex, Resource, ResourceIndex};

use crate::fake::{Options, Ran, catalog, noop, run, run_with};

/// Returns lines for a provider that reads four states at once.
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
fn unchanged_run_reads_each_state_once() {
    let ran = run_four(&["a", "b", "c", "d", "e", "f"]);
    assert_eq!(
        ran.lines,
        ["a unchanged", "b unchanged", "c unchanged", "d unchanged", "e unchanged", "f unchanged"]
    );
    assert_eq!(ran.calls, ["read many a,b,c,d", "read many e,f"]);
}

#[test]
fn number_of_prefetched_states_is_bounded() {
    let lines: Vec<String> = (0..600).map(|number| format!("r{number} provider=all")).collect();
    let ran = run(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let counts: Vec<usize> = ran.calls.iter().map(|call| call.split(',').count()).collect();
    assert_eq!(counts, [256, 256, 88]);
}

#[test]
fn states_of_one_provider_are_read_together() {
    let ran = run(&["a provider=four", "x", "b provider=four", "y", "c provider=all", "d provider=all"]);
    assert_eq!(ran.calls, ["read many a,b", "read x", "read y", "read many c,d"]);
}

#[test]
fn prefetch_order_is_that_of_the_walk() {
    assert_eq!(run_four(&["a require=c", "b", "c", "d", "e"]).calls, ["read many b,c,a,d", "read e"]);
}

#[test]
fn unreadable_state_fails_alone() {
    let ran = run_four(&["a", "b fails=read", "c"]);
    assert_eq!(ran.lines, ["a unchanged", "b failed: read failed", "c unchanged"]);
    assert_eq!(ran.calls, ["read many a,b,c"]);
}

#[test]
fn change_invalidates_all_prefetched_states() {
    for change in ["needs", "needs idle", "needs fails=execute", "needs fails=verify", "needs panics=execute"]
    {
        let ran = run(&["a provider=four", &format!("x {change}"), "b provider=four", "c provider=four"]);
        assert_eq!(ran.calls, ["read many a,b,c", "read x", "execute x", "read b", "read c"], "{change}");
    }
}

#[test]
fn noop_invalidates_no_prefetched_state() {
    let ran = noop(&["a provider=four", "x needs", "b provider=four needs", "c provider=four"]);
    assert_eq!(ran.calls, ["read many a,b,c", "read x"]);
    assert_eq!(ran.lines[2], "b would change");
}

#[test]
fn directory_that_noop_would_make_invalidates_states() {
    let mut catalog = catalog(&["a provider=four", "/d needs", "b provider=four", "c provider=four"]);
    let value = "directory".to_owned();
    catalog.resources[1].ensure = Some(ccm_model::Spanned { value, span: ccm_model::Span::default() });
    let ran = run_with(&catalog, &Options { noop: true, ..Options::default() });
    assert_eq!(ran.calls, ["read many a,b,c", "read /d", "read b", "read c"]);
}

#[test]
fn command_invalidates_all_prefetched_states() {
    let ran = run(&["a provider=four", "x by=ask", "b provider=four", "c provider=four"]);
    assert_eq!(ran.calls, ["read many a,b,c", "read x", "read b", "read c"]);
    // A command during a read of many states invalidates them, because the order of the reads is not known.
    assert_eq!(run_four(&["a", "b by=ask", "c"]).calls, ["read many a,b,c", "read b", "read c"]);
}

#[test]
fn query_invalidates_nothing() {
    let ran = run(&["a provider=four", "x by=query", "b provider=four by=query", "c provider=four"]);
    assert_eq!(ran.calls, ["read many a,b,c", "read x"]);
}

#[test]
fn shared_state_is_read_once_until_a_change() {
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
fn skipped_resource_is_not_read() {
    let lines = ["a", "b", "c", "d", "e", "f"];
    let catalog = four_catalog(&lines);
    let only: Vec<ResourceIndex> = [0, 3, 5].map(ResourceIndex).into();
    let ran = run_with(&catalog, &Options { only: Some(&only), ..Options::default() });
    assert_eq!(ran.calls, ["read many a,d,f"]);
    let mut catalog = four_catalog(&lines);
    catalog.resources[1].control = Control::NotManaged { reason: "no".to_owned() };
    assert_eq!(run_with(&catalog, &Options::default()).calls, ["read many a,c,d,e", "read f"]);
    let ran = run_four(&["a fails=read", "b require=a", "c", "d require=b", "e"]);
    // `b` and `d` are skipped only later.
    assert_eq!(ran.calls, ["read many a,b,c,d", "read e"]);
    assert_eq!(ran.lines[1..3], ["b dependency failed because of a", "c unchanged"]);
}

#[test]
fn triggered_resource_is_read_at_its_turn() {
    let ran = run_four(&["a needs", "b", "c subscribe=a", "d"]);
    assert_eq!(ran.calls[0], "read many a,b,c,d");
    assert_eq!(
        ran.calls[1..],
        ["execute a", "verify a", "read b", "read c", "read d", "execute c", "verify c", "read d"]
    );
    // Noop invalidates nothing, but the state of `c` was read for another decision.
    let lines = four(&["a needs", "b", "c subscribe=a", "d"]);
    let ran = noop(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.calls, ["read many a,b,c,d", "read c"]);
    assert_eq!(ran.lines[2], "c would refresh by a");
}

/// Late values of the resource `b`.
struct OfB;

impl LateValues for OfB {
    fn is_late(&self, index: ResourceIndex) -> bool {
        index == ResourceIndex(1)
    }

    fn resolve(
        &self,
        index: ResourceIndex,
        resource: &Resource,
        _: &dyn RunProgress,
    ) -> Result<Resolved, Failure> {
        if self.is_late(index) {
            Ok(Resolved::Completed(Box::new(resource.clone())))
        } else {
            Ok(Resolved::AsWritten)
        }
    }
}

#[test]
fn resource_with_late_values_is_read_at_its_turn() {
    let ran = run_with(&four_catalog(&["a", "b", "c"]), &Options { late: Some(&OfB), ..Options::default() });
    assert_eq!(ran.calls, ["read many a,c", "read b"]);
}

#[test]
fn states_of_another_manifest_are_read_separately() {
    let mut catalog = four_catalog(&["a", "b", "c", "d", "e"]);
    catalog.groups = vec![Group::default(); 2];
    for (index, group) in [(1, 0), (2, 0), (3, 1)] {
        catalog.resources[index].group = Some(GroupIndex(group));
    }
    let ran = run_with(&catalog, &Options::default());
    assert_eq!(ran.calls, ["read many a,e", "read many b,c", "read d"]);
}

#[test]
fn panic_while_prefetching_leaves_single_reads() {
    for bug in ["read-panics", "read-miscounts"] {
        let ran = run_four(&["a", &format!("b breaks={bug}"), "c"]);
        assert_eq!(ran.lines, ["a unchanged", "b unchanged", "c unchanged"], "{bug}");
        assert_eq!(ran.calls, ["read many a,b,c", "read a", "read b", "read c"], "{bug}");
    }
}
