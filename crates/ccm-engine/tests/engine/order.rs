//! Order, failed dependencies and selections.

use ccm_model::{Control, ResourceIndex};

use crate::fake::{Options, catalog, run, run_with};

#[test]
fn manifest_order_holds_without_dependencies() {
    let ran = run(&["a", "b", "c"]);
    assert_eq!(ran.calls, ["read a", "read b", "read c"]);
}

#[test]
fn reference_may_point_forward() {
    let ran = run(&["a require=c", "b", "c"]);
    assert_eq!(ran.calls, ["read b", "read c", "read a"]);
}

#[test]
fn dependent_of_a_failure_is_skipped_and_names_the_failure() {
    let ran = run(&["a needs fails=execute", "b require=a", "c subscribe=b", "d", "e require=c,d"]);
    assert_eq!(
        ran.lines,
        [
            "a failed: execute failed",
            "b dependency failed because of a",
            "c dependency failed because of a",
            "d unchanged",
            "e dependency failed because of a",
        ]
    );
    assert_eq!(ran.calls, ["read a", "execute a", "read d"]);
}

#[test]
fn every_failed_dependency_is_named() {
    let ran = run(&["a fails=read", "b fails=read", "c require=b,a", "d require=c,b"]);
    assert_eq!(ran.lines[2..], ["c dependency failed because of a,b", "d dependency failed because of a,b"]);
}

#[test]
fn control_is_evaluated_before_requirements() {
    let mut catalog = catalog(&["bad fails=read", "a needs require=bad", "c needs require=a"]);
    catalog.resources[1].control = Control::NotManaged { reason: "off".to_owned() };
    let ran = run_with(&catalog, &Options::default());
    assert_eq!(ran.lines, ["bad failed: read failed", "a skipped: off", "c changed"]);
    assert_eq!((ran.summary.counts.failed, ran.summary.counts.unmet), (1, 0));
    // A run that has ended early reports the same.
    let ran = run_with(&catalog, &Options { fail_on_error: true, ..Options::default() });
    assert_eq!(ran.lines[1..], ["a skipped: off", "c skipped: stopped by bad"]);
}

#[test]
fn only_selected_resources_and_their_requirements_are_processed() {
    let catalog = catalog(&["a", "b require=a", "c", "d subscribe=b"]);
    let options = Options { only: Some(&[ResourceIndex(1)]), ..Options::default() };
    let ran = run_with(&catalog, &options);
    assert_eq!(
        ran.lines,
        ["a unchanged", "b unchanged", "c skipped: not selected", "d skipped: not selected"]
    );
    assert_eq!(ran.summary.counts.skipped, 2);
}

#[test]
fn dependants_of_an_excluded_resource_run_as_if_it_were_unchanged() {
    let catalog = catalog(&["a needs", "b needs require=a", "c subscribe=a", "d fails=read", "e require=d"]);
    let skip = [0, 3].map(ResourceIndex);
    let ran = run_with(&catalog, &Options { skip: &skip, ..Options::default() });
    let expected = ["a skipped: excluded", "b changed", "c unchanged", "d skipped: excluded", "e unchanged"];
    assert_eq!(ran.lines, expected);
    assert_eq!((ran.summary.counts.skipped, ran.summary.counts.failed), (2, 0));
    // What is neither selected nor required is not selected; what is required may be excluded.
    let only = [1].map(ResourceIndex);
    let ran = run_with(&catalog, &Options { only: Some(&only), skip: &skip, ..Options::default() });
    assert_eq!(ran.lines[..3], ["a skipped: excluded", "b changed", "c skipped: not selected"]);
    // Nothing else is asked of an excluded resource.
    assert!(ran.calls.iter().all(|call| call.ends_with(" b")), "{:?}", ran.calls);
}

#[test]
fn counts_add_up() {
    let ran = run(&["a needs", "b", "c subscribe=a", "d fails=read", "e require=d"]);
    let counts = ran.summary.counts;
    assert_eq!(
        (counts.total, counts.changed, counts.unchanged, counts.refreshed, counts.failed, counts.unmet),
        (5, 1, 1, 1, 1, 1)
    );
    assert!(counts.any_change());
    assert_eq!(ran.summary.stopped, None);
}
