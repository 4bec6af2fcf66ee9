//! Subscriptions and triggers.

use crate::fake::run;

#[test]
fn change_triggers_its_subscribers() {
    let ran = run(&["a needs", "b subscribe=a"]);
    assert_eq!(ran.lines, ["a changed", "b refreshed by a"]);
    assert_eq!(ran.calls, ["read a", "execute a", "read b", "execute b"]);
}

#[test]
fn unchanged_resource_triggers_nothing() {
    assert_eq!(run(&["a", "b subscribe=a"]).lines, ["a unchanged", "b unchanged"]);
}

#[test]
fn require_orders_and_does_not_trigger() {
    assert_eq!(run(&["a needs", "b require=a"]).lines, ["a changed", "b unchanged"]);
}

#[test]
fn many_triggers_make_one_refresh_and_all_are_named() {
    let ran = run(&["b subscribe=a,c,d", "a needs", "c", "d needs"]);
    assert_eq!(ran.lines, ["a changed", "c unchanged", "d changed", "b refreshed by a,d"]);
    assert_eq!(ran.calls.iter().filter(|call| *call == "execute b").count(), 1);
}

#[test]
fn refresh_triggers_further_subscribers() {
    let ran = run(&["a needs", "b subscribe=a", "c subscribe=b"]);
    assert_eq!(ran.lines, ["a changed", "b refreshed by a", "c refreshed by b"]);
}

#[test]
fn declined_trigger_changes_nothing() {
    let ran = run(&["a needs", "b declines subscribe=a", "c subscribe=b"]);
    assert_eq!(ran.lines, ["a changed", "b unchanged by a", "c unchanged"]);
}

#[test]
fn failed_source_triggers_nothing() {
    let ran = run(&["a needs fails=verify", "b subscribe=a"]);
    assert_eq!(ran.lines, ["a failed: verify failed (changed)", "b dependency failed because of a"]);
}

#[test]
fn requiring_and_subscribing_to_one_resource_is_one_edge_that_triggers() {
    assert_eq!(run(&["a needs", "b require=a subscribe=a"]).lines, ["a changed", "b refreshed by a"]);
}
