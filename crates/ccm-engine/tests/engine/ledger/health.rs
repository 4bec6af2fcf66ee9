//! Pending refreshes of resources that are not healthy.

use crate::fake::{Options, catalog};
use crate::health::Script;

use super::Machine;

/// Runs a catalog whose check `web` has this result.
fn run(machine: &Machine, lines: &[&str], web: &'static str) -> Vec<String> {
    let script = Script::new(&[("web", &[web])]);
    machine.run_catalog(&catalog(lines), Options { health: Some(&script), ..Options::default() }).lines
}

#[test]
fn a_refresh_that_was_done_is_not_repeated_unless_its_check_asks_for_that() {
    for (check, pending, next) in [
        ("web", "", "b unchanged"),
        ("web;on_failure=keep", "", "b unchanged"),
        ("web;on_failure=retry_refresh", "b<a", "b refreshed by a (owed: a since run1)"),
    ] {
        let machine = Machine::new();
        let b = format!("b subscribe=a checks={check}");
        let lines = run(&machine, &["a needs", &b], "critical");
        assert!(lines[1].starts_with("b failed by a: health check `web` is critical"), "{lines:?}");
        assert_eq!(machine.pending(), pending, "{check}");
        assert_eq!(run(&machine, &["a", &b], "ok")[1], next, "{check}");
        assert_eq!(machine.pending(), "", "{check}");
    }
}

#[test]
fn refreshes_of_subscribers_stay_pending_until_the_source_is_healthy() {
    let machine = Machine::new();
    assert_eq!(
        run(&machine, &["a needs checks=web", "b subscribe=a"], "unknown")[1],
        "b dependency failed because of a"
    );
    assert_eq!(machine.pending(), "b<a");
    let next = ["a checks=web", "b subscribe=a"];
    assert_eq!(run(&machine, &next, "critical")[1], "b dependency failed because of a");
    assert_eq!(machine.pending(), "b<a");
    assert_eq!(run(&machine, &next, "warning")[1], "b refreshed by a (owed: a since run1)");
    assert_eq!(machine.pending(), "");
}

#[test]
fn a_check_that_fails_after_an_execution_without_effect_demands_no_refresh() {
    let machine = Machine::new();
    run(&machine, &["a needs idle checks=web", "b subscribe=a"], "critical");
    assert_eq!(machine.pending(), "");
}

#[test]
fn a_pending_refresh_outlives_everything_that_keeps_a_source_from_being_healthy() {
    let options = Options::default;
    for (what, source, answer, options) in [
        ("its check is critical", "a checks=web", "critical", options()),
        ("it was tried several times", "a checks=web;tries=3", "unknown", options()),
        ("its check is refused", "a checks=web", "refused", options()),
        ("its check ends in a panic", "a checks=web", "panic", options()),
        ("the run is in noop", "a checks=web", "critical", Options { noop: true, ..options() }),
        (
            "the first failure ends the run",
            "a checks=web",
            "critical",
            Options { fail_on_error: true, ..options() },
        ),
        ("the run was stopped before", "a checks=web", "ok", Options { stopped_before: true, ..options() }),
        ("it fails itself", "a needs fails=execute checks=web", "ok", options()),
    ] {
        let machine = Machine::new();
        run(&machine, &["a needs checks=web", "b subscribe=a"], "critical");
        assert_eq!(machine.pending(), "b<a", "{what}");
        let script = Script::new(&[("web", &[answer])]);
        let lines = [source, "b subscribe=a"];
        let ran = machine.run_catalog(&catalog(&lines), Options { health: Some(&script), ..options });
        assert_eq!(machine.pending(), "b<a", "{what}: {:?}", ran.lines);
        let next = run(&machine, &["a checks=web", "b subscribe=a"], "ok");
        assert_eq!(next[1], "b refreshed by a (owed: a since run1)", "{what}");
        assert_eq!(machine.pending(), "", "{what}");
    }
}
