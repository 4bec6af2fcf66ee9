//! Health checks: when they run, how often, and what they mean for a resource and for those around it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

use ccm_engine::{Context, HealthProbe, ProbeRequest, Probed};
use ccm_host::Local;
use ccm_model::{
    CheckCounts, CheckStatus, Event, Failure, FailureKind, Group, GroupIndex, HealthCheckResult, Intent,
    Outcome, Transaction,
};

use crate::fake::{Options, Ran, called, catalog, run_with};

/// Probe whose answers are scripted: the statuses of the tries of each check, the last of which stays.
#[derive(Default)]
pub(crate) struct Script {
    answers: RefCell<HashMap<&'static str, Vec<&'static str>>>,
    limits: RefCell<Vec<Duration>>,
}

impl Script {
    pub(crate) fn new(answers: &[(&'static str, &[&'static str])]) -> Self {
        let answers = answers.iter().map(|(check, answers)| (*check, answers.to_vec())).collect();
        Self { answers: RefCell::new(answers), limits: RefCell::default() }
    }

    fn answer(&self, check: &str) -> &'static str {
        let mut answers = self.answers.borrow_mut();
        let answers = answers.get_mut(check).expect("a scripted check");
        if answers.len() > 1 { answers.remove(0) } else { answers[0] }
    }
}

impl HealthProbe for Script {
    fn probe<'a>(&'a self, request: &'a ProbeRequest<'a>, _: &'a mut Context<'_>) -> Local<'a, Probed> {
        let name = &request.check.name;
        called(format!("check {name}"));
        self.limits.borrow_mut().push(request.timeout);
        assert_eq!(request.launch.timeout, Some(request.timeout));
        let answer = self.answer(name);
        Box::pin(async move {
            assert_ne!(answer, "panic", "a panic in a check");
            let status = match answer {
                "ok" => CheckStatus::Ok,
                "warning" => CheckStatus::Warning,
                "critical" => CheckStatus::Critical,
                _ => CheckStatus::Unknown,
            };
            let refusal = (answer == "refused").then(|| {
                let intent = Some(Box::new(Intent("01a2".to_owned())));
                Box::new(Failure { intent, ..Failure::new(FailureKind::ApprovalRequired, "ask") })
            });
            Probed { refusal, ..Probed::new(status, format!("it is {answer}")) }
        })
    }
}

fn checked(lines: &[&str], script: &Script) -> Ran {
    run_with(&catalog(lines), &Options { health: Some(script), ..Options::default() })
}

fn finished(ran: &Ran) -> Vec<&Transaction> {
    let finished = ran.events.iter().filter_map(|event| match event {
        Event::ResourceFinished(transaction) => Some(&**transaction),
        _ => None,
    });
    finished.collect()
}

#[test]
fn every_check_of_a_resource_runs_whether_it_changed_or_not() {
    let script = Script::new(&[("web", &["ok"]), ("db", &["ok"]), ("disk", &["ok"])]);
    let ran = checked(&["a checks=web,db", "b needs checks=disk require=a"], &script);
    assert_eq!(ran.lines, ["a unchanged", "b changed"]);
    assert_eq!(ran.calls, ["read a", "check web", "check db", "read b", "execute b", "check disk"]);
    assert_eq!(ran.summary.checks, CheckCounts { ok: 3, ..CheckCounts::default() });
}

#[test]
fn the_worst_results_fail_the_resource_and_those_that_need_it() {
    for (answer, lines) in [
        ("ok", ["a unchanged", "b unchanged", "c unchanged"]),
        ("warning", ["a unchanged", "b unchanged", "c unchanged"]),
        (
            "critical",
            [
                "a failed: health check `web` is critical: it is critical",
                "b dependency failed because of a",
                "c unchanged",
            ],
        ),
        (
            "unknown",
            [
                "a failed: health check `web` is unknown: it is unknown",
                "b dependency failed because of a",
                "c unchanged",
            ],
        ),
    ] {
        let script = Script::new(&[("web", &[answer])]);
        let ran = checked(&["a checks=web", "b require=a", "c"], &script);
        assert_eq!(ran.lines, lines, "{answer}");
        let results: Vec<&HealthCheckResult> =
            finished(&ran).iter().flat_map(|transaction| &transaction.health_checks).collect();
        assert_eq!(results.len(), 1, "{answer}");
        assert_eq!(
            (results[0].status.as_str(), &*results[0].output, results[0].tries),
            (answer, &*format!("it is {answer}"), 1)
        );
    }
}

#[test]
fn all_checks_run_and_a_failure_names_those_that_failed() {
    let script = Script::new(&[("web", &["critical"]), ("db", &["ok"]), ("disk", &["unknown"])]);
    let ran = checked(&["a needs checks=web;timeout=1s,db,disk;timeout=1s"], &script);
    assert_eq!(
        ran.lines,
        ["a failed: 2 of 3 health checks failed < health check `web` is critical: it is critical < health \
             check `disk` is unknown: it is unknown (changed)"]
    );
    let Outcome::Failed(failure) = &finished(&ran)[0].outcome else { panic!("{:?}", ran.lines) };
    assert_eq!(
        (failure.kind, failure.property.as_deref()),
        (FailureKind::HealthCheck, Some("health_checks"))
    );
    assert_eq!(ran.summary.checks, CheckCounts { ok: 1, critical: 1, unknown: 1, ..CheckCounts::default() });
}

#[test]
fn a_failed_check_keeps_the_change_before_it() {
    let script = Script::new(&[("web", &["critical"])]);
    for (line, changed, is_verified) in [
        ("a needs checks=web;timeout=1s", 1, true),
        ("a checks=web", 0, false),
        ("a needs fails=execute checks=web", 0, false),
    ] {
        let options = Options { health: Some(&script), ..Options::default() };
        let ran = run_with(&catalog(&[line, "b needs"]), &options);
        let transaction = finished(&ran)[0];
        let Outcome::Failed(failure) = &transaction.outcome else { panic!("{:?}", ran.lines) };
        assert_eq!(failure.verified, is_verified, "{line}");
        assert_eq!(transaction.diff.is_some(), is_verified, "{line}");
        assert_eq!(transaction.action.is_some(), line.contains("needs"), "{line}");
        let counts = &ran.summary.counts;
        assert_eq!((counts.total, counts.changed, counts.failed), (2, 1, 1), "{line}");
        assert_eq!(counts.failed_after_change, changed, "{line}");
    }
}

#[test]
fn an_unchanged_resource_is_tried_as_often_as_its_check_says() {
    for (check, answers, tries, status) in [
        ("web", &["critical", "ok"][..], 1, "critical"),
        ("web;tries=3", &["critical", "ok"], 2, "ok"),
        ("web;tries=3", &["critical", "warning", "unknown", "ok"], 3, "unknown"),
        ("web;tries=3", &["refused"], 1, "unknown"),
    ] {
        let script = Script::new(&[("web", answers)]);
        let ran = checked(&[&format!("a checks={check}")], &script);
        let result = &finished(&ran)[0].health_checks[0];
        assert_eq!((result.tries, result.status.as_str()), (tries, status), "{check} {answers:?}");
        assert!(script.limits.borrow().iter().all(|limit| *limit == Duration::from_secs(10)), "{check}");
    }
}

#[test]
fn after_a_change_a_check_has_time_to_become_ok() {
    let critical = ["critical"; 40];
    for (check, becomes_ok_after, tries, limits) in [
        ("web", 5, 6, (30, 25)),
        // The number of tries does not count.
        ("web;tries=1", 5, 6, (30, 25)),
        ("web", 40, 30, (30, 1)),
        ("web;timeout=5s;try_sleep=2s", 40, 3, (5, 1)),
        ("web;timeout=1s;try_sleep=2s", 40, 1, (1, 1)),
    ] {
        let mut answers: Vec<&'static str> = critical[..becomes_ok_after].to_vec();
        answers.push("ok");
        let script = Script::new(&[("web", &answers)]);
        let ran = checked(&[&format!("a needs checks={check}")], &script);
        let result = &finished(&ran)[0].health_checks[0];
        assert_eq!(result.tries, tries, "{check}");
        let found = script.limits.borrow();
        let found = (found[0].as_secs(), found[found.len() - 1].as_secs());
        assert_eq!(found, limits, "{check}");
    }
}

#[test]
fn a_refused_check_fails_as_what_it_waits_for() {
    let script = Script::new(&[("web", &["refused"])]);
    let ran = checked(&["a needs checks=web"], &script);
    let Outcome::Failed(failure) = &finished(&ran)[0].outcome else { panic!("{:?}", ran.lines) };
    assert_eq!(failure.kind, FailureKind::ApprovalRequired);
    assert_eq!(failure.intent.as_deref(), Some(&Intent("01a2".to_owned())));
    assert!(failure.changed);
}

#[test]
fn noop_runs_no_check_and_counts_them() {
    let script = Script::new(&[]);
    let options = Options { noop: true, health: Some(&script), ..Options::default() };
    let ran = run_with(&catalog(&["a checks=web,db", "b needs checks=disk"]), &options);
    assert_eq!(ran.lines, ["a unchanged", "b would change"]);
    assert_eq!(ran.summary.checks, CheckCounts { not_run: 3, ..CheckCounts::default() });
}

#[test]
fn skipped_and_failed_resources_are_not_checked() {
    let script = Script::new(&[]);
    let ran = checked(&["a needs fails=execute checks=web", "b require=a checks=web"], &script);
    assert_eq!(ran.lines, ["a failed: execute failed", "b dependency failed because of a"]);
    assert!(ran.summary.checks.is_empty());
}

#[test]
fn a_failed_check_ends_a_run_that_ends_at_failures() {
    let script = Script::new(&[("web", &["critical"])]);
    let options = Options { fail_on_error: true, health: Some(&script), ..Options::default() };
    let ran = run_with(&catalog(&["a checks=web", "b"]), &options);
    assert_eq!(ran.lines[1], "b skipped: stopped by a");
}

#[test]
fn a_panic_in_a_check_is_the_failure_of_its_resource() {
    let script = Script::new(&[("web", &["panic"])]);
    let ran = checked(&["a checks=web", "b"], &script);
    assert!(ran.lines[0].starts_with("a failed: internal error"), "{:?}", ran.lines);
    assert_eq!(ran.lines[1], "b unchanged");
}

#[test]
fn a_stopped_run_starts_no_further_check() {
    let script = Script::new(&[]);
    let ran = checked(&["a needs stops checks=web"], &script);
    let Outcome::Failed(failure) = &finished(&ran)[0].outcome else { panic!("{:?}", ran.lines) };
    assert_eq!(failure.kind, FailureKind::Stopped);
    let result = &finished(&ran)[0].health_checks[0];
    assert_eq!((result.status, result.tries), (CheckStatus::Unknown, 0));
}

#[test]
fn the_node_of_a_group_is_checked_after_its_members() {
    for (answer, node) in [
        ("ok", "child changed".to_owned()),
        ("critical", "child failed: health check `web` is critical: it is critical (changed)".to_owned()),
    ] {
        let mut catalog = catalog(&["a needs", "child checks=web", "b require=child"]);
        catalog.groups = vec![Group { directory: "/".into(), ..Group::default() }];
        catalog.resources[0].group = Some(GroupIndex(0));
        catalog.resources[1].node_of = Some(GroupIndex(0));
        let script = Script::new(&[("web", &[answer])]);
        let ran = run_with(&catalog, &Options { health: Some(&script), ..Options::default() });
        assert_eq!(ran.lines[..2], ["a changed".to_owned(), node], "{answer}");
        let is_skipped = ran.lines[2] == "b dependency failed because of child";
        assert_eq!(is_skipped, answer == "critical", "{:?}", ran.lines);
    }
}

#[test]
fn a_sensitive_resource_hides_the_output_of_its_checks() {
    let script = Script::new(&[("web", &["critical"])]);
    let ran = checked(&["a sensitive checks=web"], &script);
    let transaction = finished(&ran)[0];
    assert_eq!(transaction.health_checks[0].output, "[redacted]");
    assert!(!format!("{transaction:?}").contains("it is critical"), "{transaction:?}");
}
