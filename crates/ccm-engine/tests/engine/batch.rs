//! Changing ready neighbours at once.

use ccm_model::Event;

use crate::fake::{Options, Ran, catalog, noop, run, run_with};

/// The same lines, for a provider that reads and changes four at once.
fn four(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| format!("{line} provider=four")).collect()
}

fn run_four(lines: &[&str]) -> Ran {
    run(&four(lines).iter().map(String::as_str).collect::<Vec<_>>())
}

/// What was executed.
fn executed(ran: &Ran) -> Vec<&str> {
    ran.calls.iter().filter_map(|call| call.strip_prefix("execute ")).collect()
}

#[test]
fn neighbours_are_changed_at_once_and_verified_each() {
    let ran = run_four(&["a needs", "b needs", "c needs", "d needs", "e needs"]);
    assert_eq!(ran.lines, ["a changed", "b changed", "c changed", "d changed", "e changed"]);
    let expected = [
        "read many a,b,c,d",
        "execute many a,b,c,d",
        "verify a",
        "verify b",
        "verify c",
        "verify d",
        "read e",
        "execute e",
        "verify e",
    ];
    assert_eq!(ran.calls, expected);
}

#[test]
fn each_has_its_events_in_the_order_of_the_walk() {
    let ran = run_four(&["a needs", "b needs idle", "c needs"]);
    let events: Vec<String> = ran
        .events
        .iter()
        .filter_map(|event| match event {
            Event::ResourceStarted(started) => Some(format!("{} started", started.id.name)),
            Event::ResourceFinished(ended) => {
                assert_eq!(ended.reason_text() == Some("was there already"), &*ended.id.name == "b");
                assert_eq!(ended.warnings, [format!("{} was verified", ended.id.name)]);
                assert_eq!(ended.provider.as_deref(), Some("four"));
                assert!(ended.state.is_some());
                assert_eq!(ended.diff.is_some(), &*ended.id.name != "b");
                Some(format!("{} {}", ended.id.name, ended.outcome.word()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(events, ["a started", "a changed", "b started", "b stable", "c started", "c changed"]);
}

#[test]
fn what_is_in_its_state_already_is_passed_over_and_read_again() {
    let ran = run_four(&["a needs", "b", "c needs"]);
    assert_eq!(ran.calls[1..], ["execute many a,c", "verify a", "read b", "verify c"]);
    assert_eq!(ran.lines, ["a changed", "b stable", "c changed"]);
}

#[test]
fn neighbours_are_found_after_a_change_as_well() {
    let ran = run(&["x needs", "a needs provider=four", "b provider=four", "c needs provider=four", "y"]);
    let expected =
        ["read a", "read b", "read c", "execute many a,c", "verify a", "read b", "verify c", "read y"];
    assert_eq!(ran.calls[2..], expected);
}

#[test]
fn only_what_can_be_changed_now_is() {
    for (lines, expected) in [
        // What depends on one of them, directly or not.
        (&["a needs", "b needs require=a", "c needs"][..], &["a", "many b,c"][..]),
        (&["a needs", "b require=a", "c needs require=b"], &["a", "c"]),
        (&["a needs", "b subscribe=a", "c needs"], &["a", "b", "c"]),
        // What goes not with the others, so that none is changed before one that is written before it.
        (&["a needs sort=x", "b needs sort=y", "c needs sort=x"], &["a", "b", "c"]),
        (&["a needs sort=x", "b needs sort=x", "c needs sort=y"], &["many a,b", "c"]),
        // What can't be read, or not be decided on.
        (&["a needs", "b fails=read", "c needs"], &["a", "c"]),
        (&["a needs", "b needs fails=decide", "c needs"], &["a", "c"]),
        // What asks a command: nobody knows what that did to what was read before.
        (&["a needs", "b needs by=ask", "c needs"], &["a", "many b,c"]),
    ] {
        assert_eq!(executed(&run_four(lines)), expected, "{lines:?}");
    }
    let ran = run(&["a needs provider=four", "x needs", "b needs provider=four"]);
    assert_eq!(executed(&ran), ["a", "x", "b"]);
    let ran = run(&["a needs provider=four", "b needs provider=all", "c needs provider=four"]);
    assert_eq!(executed(&ran), ["a", "b", "c"]);
}

#[test]
fn who_is_triggered_is_changed_alone() {
    let ran =
        run(&["x needs", "a provider=four subscribe=x", "b provider=four needs", "c provider=four needs"]);
    assert_eq!(executed(&ran), ["x", "a", "many b,c"]);
    assert_eq!(ran.lines[1], "a refreshed by x");
    let ran =
        run(&["x needs", "a provider=four needs", "b provider=four subscribe=x", "c provider=four needs"]);
    assert_eq!(executed(&ran), ["x", "a", "b", "c"]);
    assert_eq!(ran.lines[2], "b refreshed by x");
}

#[test]
fn who_subscribes_to_one_of_them_is_triggered_by_it_alone() {
    let ran = run_four(&["a needs", "b needs idle", "c subscribe=b", "d subscribe=a"]);
    assert_eq!(ran.lines, ["a changed", "b stable", "c stable", "d refreshed by a"]);
}

#[test]
fn each_fails_alone() {
    let ran = run_four(&["a needs fails=execute", "b needs", "c needs fails=execute", "d require=c"]);
    assert_eq!(executed(&ran), ["many a,b,c"]);
    let expected =
        ["a failed: execute failed", "b changed", "c failed: execute failed", "d unmet because of c"];
    assert_eq!(ran.lines, expected);
    let ran = run_four(&["a needs", "b needs fails=verify", "c needs"]);
    assert_eq!(ran.lines, ["a changed", "b failed: verify failed (changed)", "c changed"]);
}

#[test]
fn where_a_failure_ends_the_run_each_is_changed_alone() {
    let lines = four(&["a needs fails=execute", "b needs"]);
    let catalog = catalog(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = run_with(&catalog, &Options { fail_on_error: true, ..Options::default() });
    assert_eq!(executed(&ran), ["a"]);
    assert_eq!(ran.lines[1], "b skipped: stopped by a");
}

#[test]
fn noop_changes_none_of_them() {
    let lines = four(&["a needs", "b needs"]);
    let ran = noop(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.calls, ["read many a,b"]);
    assert_eq!(ran.lines, ["a would change: Would have moved", "b would change: Would have moved"]);
}

#[test]
fn what_was_changed_is_told_although_the_run_was_ended_meanwhile() {
    let ran = run_four(&["a needs stops", "b needs", "c needs sort=x"]);
    assert_eq!(ran.lines, ["a changed", "b changed", "c skipped: stopped by SIGINT"]);
}

#[test]
fn a_bug_in_changing_many_is_a_failure_of_each() {
    let ran = run_four(&["a needs", "b needs breaks=execute-panics", "c needs", "d"]);
    let ends = ["a panic in changing many (changed)", "changed together with fake#a (changed)"];
    for (line, end) in ran.lines.iter().zip([ends[0], ends[1], ends[1]]) {
        assert!(line.contains("failed: internal error, this is a bug in ccm < "), "{line}");
        assert!(line.ends_with(end), "{line}");
    }
    assert_eq!(ran.lines[3], "d stable");
    let ran = run_four(&["a needs", "b needs breaks=execute-miscounts"]);
    assert_eq!(ran.lines[0], "a changed");
    assert!(ran.lines[1].ends_with("nothing is known of that (changed)"), "{:?}", ran.lines);
}
