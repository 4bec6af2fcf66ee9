//! Runs of health checks alone.

use ccm_engine::{LateValues, Resolved, RunProgress};
use ccm_model::{CheckCounts, Control, Failure, Resource, ResourceIndex};

use crate::fake::{Options, catalog, run_with};
use crate::health::Script;

#[test]
fn only_checks_run_and_all_of_them() {
    let script = Script::new(&[("web", &["critical"]), ("db", &["ok"]), ("disk", &["warning"])]);
    let options = Options { monitor_only: true, health: Some(&script), ..Options::default() };
    let lines =
        ["a needs checks=web", "b needs require=a checks=db", "c needs", "d subscribe=a checks=disk;tries=2"];
    let ran = run_with(&catalog(&lines), &options);
    assert_eq!(
        ran.lines,
        [
            "a failed: health check `web` is critical: it is critical",
            "b skipped: only health checks run",
            "c skipped: only health checks run",
            "d skipped: only health checks run",
        ]
    );
    assert_eq!(ran.calls, ["check web", "check db", "check disk", "check disk"]);
    assert_eq!(ran.summary.checks, CheckCounts { ok: 1, warning: 1, critical: 1, ..CheckCounts::default() });
}

#[test]
fn a_resource_that_is_not_managed_may_be_monitored() {
    for (is_monitored, calls, line) in [
        (true, &["check web"][..], "a failed: health check `web` is critical: it is critical"),
        (false, &[], "a skipped: off"),
    ] {
        let mut catalog = catalog(&["a needs checks=web", "b require=a"]);
        catalog.resources[0].control = Control::NotManaged { reason: "off".to_owned() };
        catalog.resources[0].is_monitored = is_monitored;
        let script = Script::new(&[("web", &["critical"])]);
        let ran = run_with(&catalog, &Options { health: Some(&script), ..Options::default() });
        let checks: Vec<&String> = ran.calls.iter().filter(|call| call.starts_with("check")).collect();
        assert_eq!(checks, calls);
        assert_eq!(ran.lines[0], line);
        assert_eq!(ran.lines[1] == "b unchanged", !is_monitored, "{:?}", ran.lines);
    }
}

/// Late values that nothing gives.
struct Missing;

impl LateValues for Missing {
    fn is_late(&self, _: ResourceIndex) -> bool {
        true
    }

    fn resolve(&self, _: ResourceIndex, _: &Resource, _: &dyn RunProgress) -> Result<Resolved, Failure> {
        Ok(Resolved::NoValue { reason: "nothing gave it".to_owned() })
    }
}

#[test]
fn values_of_a_whole_run_are_missing_for_checks_and_for_nothing_else() {
    let script = Script::new(&[("web", &["ok"])]);
    let options =
        Options { monitor_only: true, health: Some(&script), late: Some(&Missing), ..Options::default() };
    let ran = run_with(&catalog(&["a needs late checks=web", "b needs late"]), &options);
    assert_eq!(
        ran.lines,
        [
            "a failed: its health checks can't run without the values of a whole run < nothing gave it",
            "b skipped: only health checks run",
        ]
    );
    assert_eq!(ran.calls, [""; 0]);
}

#[test]
fn checks_of_the_manifest_run_after_all_resources() {
    for (lines, noop, expected, calls) in [
        (
            &["a needs", "b require=a"][..],
            false,
            &["a changed", "b unchanged", "site failed: health check `web` is critical: it is critical"][..],
            1,
        ),
        (
            &["a needs fails=execute", "b require=a"],
            false,
            &[
                "a failed: execute failed",
                "b dependency failed because of a",
                "site failed: health check `web` is critical: it is critical",
            ],
            1,
        ),
        (&["a needs"], true, &["a would change", "site unchanged"], 0),
        (&["a needs stops"], false, &["a changed", "site skipped: stopped by SIGINT"], 0),
    ] {
        let mut catalog = catalog(lines);
        let checks = crate::fake::catalog(&["site checks=web"]).resources.remove(0);
        catalog.checks = Some(Box::new(checks));
        let script = Script::new(&[("web", &["critical"])]);
        let options = Options { noop, health: Some(&script), ..Options::default() };
        let ran = run_with(&catalog, &options);
        assert_eq!(ran.lines, expected);
        assert_eq!(ran.calls.iter().filter(|call| call.starts_with("check")).count(), calls);
        assert_eq!(ran.summary.counts.total, lines.len());
        assert_eq!(ran.summary.checks.not_run, usize::from(noop));
    }
}
