//! Batches of ready resources that are changed at once.

use ccm_model::Event;

use crate::fake::{Options, Ran, catalog, noop, run, run_with};

/// Returns lines for a provider that reads and changes four resources at once.
fn four(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| format!("{line} provider=four")).collect()
}

fn run_four(lines: &[&str]) -> Ran {
    run(&four(lines).iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns the executed resources.
fn executed(ran: &Ran) -> Vec<&str> {
    ran.calls.iter().filter_map(|call| call.strip_prefix("execute ")).collect()
}

#[test]
fn batch_is_executed_at_once_and_each_member_verified() {
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
fn events_of_a_batch_come_in_the_order_of_the_walk() {
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
    assert_eq!(events, ["a started", "a changed", "b started", "b unchanged", "c started", "c changed"]);
}

#[test]
fn unchanged_resource_is_left_out_of_a_batch_and_read_again() {
    let ran = run_four(&["a needs", "b", "c needs"]);
    assert_eq!(ran.calls[1..], ["execute many a,c", "verify a", "read b", "verify c"]);
    assert_eq!(ran.lines, ["a changed", "b unchanged", "c changed"]);
}

#[test]
fn batches_are_found_after_a_change_as_well() {
    let ran = run(&["x needs", "a needs provider=four", "b provider=four", "c needs provider=four", "y"]);
    let expected =
        ["read a", "read b", "read c", "execute many a,c", "verify a", "read b", "verify c", "read y"];
    assert_eq!(ran.calls[2..], expected);
}

#[test]
fn only_ready_resources_join_a_batch() {
    for (lines, expected) in [
        // A resource that depends on a member, directly or not.
        (&["a needs", "b needs require=a", "c needs"][..], &["a", "many b,c"][..]),
        (&["a needs", "b require=a", "c needs require=b"], &["a", "c"]),
        (&["a needs", "b subscribe=a", "c needs"], &["a", "many b,c"]),
        // A resource that can't join ends the batch, so that the manifest order is kept.
        (&["a needs sort=x", "b needs sort=y", "c needs sort=x"], &["a", "b", "c"]),
        (&["a needs sort=x", "b needs sort=x", "c needs sort=y"], &["many a,b", "c"]),
        // A resource that can't be read or decided.
        (&["a needs", "b fails=read", "c needs"], &["a", "c"]),
        (&["a needs", "b needs fails=decide", "c needs"], &["a", "c"]),
        // A resource whose read runs a command, which may have changed the states that were read before.
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
fn triggered_resources_are_changed_together() {
    let ran =
        run(&["x needs", "a provider=four subscribe=x", "b provider=four needs", "c provider=four needs"]);
    assert_eq!(executed(&ran), ["x", "many a,b,c"]);
    assert_eq!(ran.lines[1..], ["a refreshed by x", "b changed", "c changed"]);
    let ran =
        run(&["x needs", "a provider=four needs", "b provider=four subscribe=x", "c provider=four needs"]);
    assert_eq!(executed(&ran), ["x", "many a,b,c"]);
    assert_eq!(ran.lines[1..], ["a changed", "b refreshed by x", "c changed"]);
    // One that is triggered by a resource of the same batch has to wait.
    let ran = run(&[
        "x needs",
        "a provider=four subscribe=x",
        "b provider=four subscribe=x",
        "c provider=four subscribe=a",
        "d provider=four subscribe=x",
    ]);
    assert_eq!(executed(&ran), ["x", "many a,b", "many c,d"]);
    assert_eq!(
        ran.lines[1..],
        ["a refreshed by x", "b refreshed by x", "c refreshed by a", "d refreshed by x"]
    );
}

#[test]
fn subscriber_of_a_batch_member_is_triggered_by_that_member_only() {
    let ran = run_four(&["a needs", "b needs idle", "c subscribe=b", "d subscribe=a"]);
    assert_eq!(ran.lines, ["a changed", "b unchanged", "c unchanged", "d refreshed by a"]);
}

#[test]
fn batch_members_fail_separately() {
    let ran = run_four(&["a needs fails=execute", "b needs", "c needs fails=execute", "d require=c"]);
    assert_eq!(executed(&ran), ["many a,b,c"]);
    let expected = [
        "a failed: execute failed",
        "b changed",
        "c failed: execute failed",
        "d dependency failed because of c",
    ];
    assert_eq!(ran.lines, expected);
    let ran = run_four(&["a needs", "b needs fails=verify", "c needs"]);
    assert_eq!(ran.lines, ["a changed", "b failed: verify failed (changed)", "c changed"]);
}

/// Runs lines for a provider that changes four resources at once, in a run that ends with the first failure.
fn run_until_failure(provider: &str, lines: &[&str]) -> Ran {
    let lines: Vec<String> = lines.iter().map(|line| format!("{line} provider={provider}")).collect();
    let catalog = catalog(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    run_with(&catalog, &Options { fail_on_error: true, ..Options::default() })
}

#[test]
fn fail_on_error_prevents_batches_of_a_provider_that_does_not_stop() {
    let ran = run_until_failure("four", &["a needs fails=execute", "b needs"]);
    assert_eq!(executed(&ran), ["a"]);
    assert_eq!(ran.lines[1], "b skipped: stopped by a");
}

#[test]
fn nothing_of_a_batch_is_changed_after_a_failure_that_ends_the_run() {
    let ran = run_until_failure("stopping", &["a needs", "b needs", "c needs"]);
    assert_eq!(executed(&ran), ["many a,b,c"]);
    assert_eq!(ran.lines, ["a changed", "b changed", "c changed"]);
    let ran =
        run_until_failure("stopping", &["a needs", "b needs fails=execute", "c needs", "d subscribe=c"]);
    assert_eq!(executed(&ran), ["many a,b,c"]);
    let expected =
        ["a changed", "b failed: execute failed", "c skipped: stopped by b", "d skipped: stopped by b"];
    assert_eq!(ran.lines, expected);
    let ran = run_until_failure("stopping", &["a needs fails=execute", "b needs"]);
    assert_eq!(ran.lines, ["a failed: execute failed", "b skipped: stopped by a"]);
}

#[test]
fn noop_executes_no_batch() {
    let lines = four(&["a needs", "b needs"]);
    let ran = noop(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(ran.calls, ["read many a,b"]);
    assert_eq!(ran.lines, ["a would change", "b would change"]);
}

#[test]
fn changes_of_a_batch_are_reported_after_a_stop() {
    let ran = run_four(&["a needs stops", "b needs", "c needs sort=x"]);
    assert_eq!(ran.lines, ["a changed", "b changed", "c skipped: stopped by SIGINT"]);
}

#[test]
fn panic_in_a_batch_fails_each_member() {
    let ran = run_four(&["a needs", "b needs breaks=execute-panics", "c needs", "d"]);
    let ends = ["a panic in changing many (changed)", "changed together with fake#a (changed)"];
    for (line, end) in ran.lines.iter().zip([ends[0], ends[1], ends[1]]) {
        assert!(line.contains("failed: internal error, this is a bug in ccm < "), "{line}");
        assert!(line.ends_with(end), "{line}");
    }
    assert_eq!(ran.lines[3], "d unchanged");
    let ran = run_four(&["a needs", "b needs breaks=execute-miscounts"]);
    assert_eq!(ran.lines[0], "a changed");
    assert!(ran.lines[1].ends_with("no result was recorded (changed)"), "{:?}", ran.lines);
}
