//! Stopped runs.

use ccm_model::{ResourceId, StopCause};

use crate::fake::{Options, catalog, run, run_with};

#[test]
fn run_continues_without_fail_on_error() {
    assert_eq!(run(&["a fails=read", "b needs"]).lines[1], "b changed");
}

#[test]
fn fail_on_error_skips_the_rest_with_its_cause() {
    let lines = ["a needs", "b fails=read", "c", "d require=b", "e require=d"];
    let from_option = run_with(&catalog(&lines), &Options { fail_on_error: true, ..Options::default() });
    let mut asking = catalog(&lines);
    asking.fail_on_error = true;
    for ran in [from_option, run_with(&asking, &Options::default())] {
        assert_eq!(
            ran.lines,
            [
                "a changed",
                "b failed: read failed",
                "c skipped: stopped by b",
                "d dependency failed because of b",
                "e dependency failed because of b",
            ]
        );
        assert_eq!(ran.summary.stopped, Some(StopCause::Failed { culprit: ResourceId::new("fake", "b") }));
    }
}

#[test]
fn stopped_run_reports_the_rest_as_skipped() {
    let ran = run(&["a needs stops", "b needs", "c require=b"]);
    assert_eq!(ran.lines, ["a changed", "b skipped: stopped by SIGINT", "c skipped: stopped by SIGINT"]);
    assert_eq!(ran.calls, ["read a", "execute a"]);
    assert!(matches!(ran.summary.stopped, Some(StopCause::Signal { number: 2, .. })));
}

#[test]
fn run_stopped_before_its_beginning_starts_nothing() {
    let ran = run_with(&catalog(&["a needs", "b"]), &Options { stopped_before: true, ..Options::default() });
    assert!(ran.calls.is_empty());
    assert_eq!(ran.summary.counts.skipped, 2);
}

#[test]
fn failure_during_a_stop_does_not_hide_the_stop() {
    let catalog = catalog(&["a needs stops fails=verify", "b", "c require=a"]);
    let ran = run_with(&catalog, &Options { fail_on_error: true, ..Options::default() });
    assert_eq!(ran.lines[1..], ["b skipped: stopped by SIGINT", "c dependency failed because of a"]);
    assert!(matches!(ran.summary.stopped, Some(StopCause::Signal { .. })));
}

#[test]
fn stop_during_the_last_resource_is_reported() {
    assert!(run(&["a needs stops"]).summary.stopped.is_some());
}
