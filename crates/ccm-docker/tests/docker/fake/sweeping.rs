//! Containers of runs that were killed.

use ccm_testkit::{FakeAnswer, FakeCommand};
use serde_json::json;

use crate::fake::Bench;

fn labels(run: &str, keep: &str) -> serde_json::Value {
    json!({
        "ccm.run": run, "ccm.resource": "exec#old", "ccm.manifest": "/m", "ccm.keep": keep, "ccm.owner": "0ddba11",
    })
}

#[test]
fn containers_of_dead_runs_are_removed() {
    let bench = Bench::new(FakeCommand::default());
    bench.engine.add("ccm-dead", labels("0dead", "false"));
    bench.engine.add("ccm-kept", labels("0dead", "true"));
    bench.engine.end("ccm-kept", 0);
    bench.engine.add("ccm-own", labels("01a200cb-7d00", "false"));
    let ran = bench.run(bench.settings());
    ran.finished();
    assert_eq!(
        ran.plan.warnings,
        ["removed the container ccm-dead, which exec#old of the run 0dead left behind"]
    );
    assert_eq!(bench.engine.containers(), ["ccm-kept", "ccm-own"]);
}

#[test]
fn a_kept_container_that_still_runs_is_stopped() {
    let bench = Bench::new(FakeCommand::default());
    bench.engine.add("ccm-kept", labels("0dead", "true"));
    let ran = bench.run(bench.settings());
    assert_eq!(
        ran.plan.warnings,
        ["stopped and kept the container ccm-kept, which exec#old of the run 0dead left running"]
    );
    assert_eq!(bench.engine.containers(), ["ccm-kept"]);
    assert!(bench.engine.requests().contains(&"POST /containers/ccm-kept/kill?signal=SIGKILL".to_owned()));
}

#[test]
fn a_container_that_can_not_be_removed_is_reported_and_stops_nothing() {
    let bench = Bench::new(FakeCommand::default());
    bench.engine.add("ccm-dead", labels("0dead", "false"));
    bench.engine.answer("DELETE /containers/ccm-dead", FakeAnswer::Json(500, json!({"message": "busy"})));
    let ran = bench.run(bench.settings());
    ran.finished();
    assert_eq!(
        ran.plan.warnings,
        [
            "the container ccm-dead of an earlier run could not be removed: the Engine could not remove the container: busy"
        ]
    );
}

#[test]
fn a_container_that_is_left_behind_is_reported_at_the_end() {
    let bench = Bench::new(FakeCommand::default());
    bench
        .engine
        .answer("DELETE /containers/ccm-01a200cb", FakeAnswer::Json(500, json!({"message": "device busy"})));
    let ran = bench.run(bench.settings());
    ran.finished();
    let end = ran.end.warnings.join("\n");
    assert!(
        end.contains("is left behind") && end.contains("device busy") && end.contains("a later run"),
        "{end}"
    );
}
