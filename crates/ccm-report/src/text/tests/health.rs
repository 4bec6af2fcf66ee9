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
        [(true, "it was changed before its health checks"), (false, "nothing was changed")]
    {
        let mut failure = Failure::new(FailureKind::HealthCheck, "2 of 2 health checks failed");
        failure.chain.extend([
            "health check `a` is critical: down".to_owned(),
            "health check `b` is unknown".to_owned(),
        ]);
        failure.changed = changed;
        let checks =
            vec![check("a", CheckStatus::Critical, "down", 1), check("b", CheckStatus::Unknown, "", 1)];
        let shown = text(Verbosity::Normal, &[checked(Outcome::Failed(Box::new(failure)), checks)]);
        assert!(shown.contains("failed: 2 of 2 health checks failed\n"), "{shown}");
        assert!(shown.contains("`a` is critical: down\n") && shown.contains(expected), "{shown}");
        assert!(!shown.contains("caused by") && shown.matches("`b`").count() == 1, "{shown}");
    }
}
