use ccm_model::{CheckCounts, CheckStatus, HealthCheckResult};

use super::*;

fn check(name: &str, status: CheckStatus, output: &str, tries: u32) -> HealthCheckResult {
    let duration = Duration::from_millis(2_500);
    HealthCheckResult {
        name: name.to_owned(),
        status,
        output: output.to_owned(),
        tries,
        duration,
        values: Vec::new(),
    }
}

fn checked(outcome: Outcome, health_checks: Vec<HealthCheckResult>) -> Event {
    finished(Transaction { health_checks, ..transaction(outcome) })
}

#[test]
fn a_check_has_a_line_if_it_needs_attention_and_the_summary_counts_all() {
    let web = check("web", CheckStatus::Ok, "HTTP OK", 1);
    let disk = check("disk", CheckStatus::Warning, "93% full", 3);
    let ran =
        |checks| RunSummary { checks, ..summary(Counts { total: 1, unchanged: 1, ..Counts::default() }) };
    let counts = CheckCounts { ok: 1, warning: 1, ..CheckCounts::default() };
    let events =
        [checked(Outcome::Unchanged, vec![web.clone(), disk]), Event::SessionFinished(Box::new(ran(counts)))];
    let of_disk = "health check `disk` is warning: 93% full (3 tries in 2.5s)\n";
    let normal = text(Verbosity::Normal, &events);
    assert!(normal.contains("unchanged\n") && normal.contains(of_disk), "{normal}");
    assert!(!normal.contains("web") && normal.contains("  health checks: 1 ok, 1 warning\n"), "{normal}");
    let verbose = text(Verbosity::Verbose, &events);
    assert!(verbose.contains("health check `web` is ok: HTTP OK\n"), "{verbose}");
    let quiet = text(Verbosity::Quiet, &events);
    assert!(quiet.contains(of_disk) && !quiet.contains("web"), "{quiet}");
    let healthy = text(Verbosity::Normal, &[checked(Outcome::Unchanged, vec![web])]);
    assert_eq!(healthy, "");
    for (not_run, expected) in
        [(1, "1 health check is not run in noop"), (2, "2 health checks are not run in noop")]
    {
        let counts = CheckCounts { not_run, ..CheckCounts::default() };
        let shown = text(Verbosity::Normal, &[Event::SessionFinished(Box::new(ran(counts)))]);
        assert!(shown.contains(expected), "{shown}");
    }
    let without = text(Verbosity::Normal, &[Event::SessionFinished(Box::new(ran(CheckCounts::default())))]);
    assert!(!without.contains("health"), "{without}");
}

#[test]
fn a_failure_of_checks_names_them_and_what_was_changed() {
    for (changed, expected) in
        [(true, "      changed before its health checks\n"), (false, "nothing was changed")]
    {
        let mut failure = Failure::new(FailureKind::HealthCheck, "2 of 2 health checks failed");
        failure.chain.extend([
            "health check `a` is critical: down".to_owned(),
            "health check `b` is unknown".to_owned(),
        ]);
        (failure.changed, failure.verified) = (changed, changed);
        let checks =
            vec![check("a", CheckStatus::Critical, "down", 1), check("b", CheckStatus::Unknown, "", 1)];
        let shown = text(Verbosity::Normal, &[checked(Outcome::Failed(Box::new(failure)), checks)]);
        assert!(shown.contains("failed: 2 of 2 health checks failed\n"), "{shown}");
        assert!(shown.contains("`a` is critical: down\n") && shown.contains(expected), "{shown}");
        assert!(!shown.contains("caused by") && shown.matches("`b`").count() == 1, "{shown}");
    }
}

/// Returns a resource that was changed, and whose health checks failed after that.
fn changed_but_unhealthy(action: Action, diff: Option<&str>) -> Event {
    let mut failure = Failure::new(FailureKind::HealthCheck, "health check `web` is critical: down");
    (failure.changed, failure.verified) = (true, true);
    finished(Transaction {
        health_checks: vec![check("web", CheckStatus::Critical, "down", 9)],
        action: Some(action),
        diff: diff.map(str::to_owned),
        duration: Duration::from_millis(2_600),
        ..transaction(Outcome::Failed(Box::new(failure)))
    })
}

#[test]
fn what_was_done_before_the_checks_failed_is_shown_and_counted() {
    let created = || Action::new(Verb::Create).of("0644, 5 bytes");
    let shown = text(Verbosity::Normal, &[changed_but_unhealthy(created(), Some("+hello\n"))]);
    let expected = "\x20 x exec     job                        failed: health check `web` is critical: down
      created before its health checks: 0644, 5 bytes
      +hello
";
    assert_eq!(shown, expected);
    let ran = text(Verbosity::Normal, &[changed_but_unhealthy(Action::new(Verb::Run).of("make"), None)]);
    assert!(ran.contains("command: make\n      ran before its health checks (100ms)\n"), "{ran}");
    for (failed, after, expected) in [
        (1, 1, "3 resources in 2.5s: created 2; 1 failed after its change\n"),
        (2, 1, "3 resources in 2.5s: created 2; 2 failed, 1 of them after its change\n"),
        (1, 0, "3 resources in 2.5s: created 1; 1 failed\n"),
    ] {
        let mut events =
            vec![finished(Transaction { action: Some(created()), ..transaction(Outcome::Changed) })];
        if after > 0 {
            events.push(changed_but_unhealthy(created(), None));
        }
        let counts = Counts { total: 3, changed: 1, failed, failed_after_change: after, ..Counts::default() };
        events.push(Event::SessionFinished(Box::new(summary(counts))));
        let shown = text(Verbosity::Normal, &events);
        assert!(shown.ends_with(expected), "{shown}");
    }
}

#[test]
fn the_time_of_a_change_is_without_that_of_its_checks() {
    let slow = |work| Transaction {
        health_checks: vec![check("web", CheckStatus::Warning, "slow", 3)],
        action: Some(Action::new(Verb::Create)),
        duration: Duration::from_millis(2_500_u64 + work),
        ..transaction(Outcome::Changed)
    };
    for (work, expected) in [(10, "created\n"), (1_500, "created (1.5s)\n")] {
        let shown = line(slow(work));
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn a_run_of_health_checks_alone_says_so() {
    let Event::SessionStarted(session) = started(false, None) else { return };
    let counts = Counts { total: 3, skipped: 2, failed: 1, ..Counts::default() };
    let events = [
        Event::SessionStarted(SessionStarted { monitor_only: true, ..session }),
        Event::SessionFinished(Box::new(RunSummary { monitor_only: true, ..summary(counts) })),
    ];
    let shown = text(Verbosity::Normal, &events);
    assert!(shown.contains(" (only health checks)\n"), "{shown}");
    assert!(shown.contains("3 resources in 2.5s, only health checks: 1 failed"), "{shown}");
}
