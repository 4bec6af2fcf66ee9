use std::time::SystemTime;

use ccm_model::{
    Action, Counts, FailureKind, HealthCheckResult, Location, Properties, Reason, RefreshSummary, ResourceId,
    SessionStarted, SkipCause, Stream, StreamTail, Verb,
};

use super::*;

fn transaction(name: &str, outcome: Outcome) -> Transaction {
    Transaction {
        id: ResourceId::parse(name).expect("a reference"),
        alias: None,
        at: SystemTime::UNIX_EPOCH,
        duration: Duration::from_millis(1_200),
        provider: None,
        requested_ensure: "present".to_owned(),
        final_ensure: None,
        outcome,
        action: None,
        noop: false,
        would_fail: false,
        properties: Properties::default(),
        presentation: Vec::new(),
        reason: Some(Reason::new("rule", "because of it")),
        guards: Vec::new(),
        health_checks: Vec::new(),
        triggered_by: Vec::new(),
        pending_refreshes: Vec::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        state: None,
        diff: None,
    }
}

fn log(options: LogOptions, events: &[Event]) -> String {
    let mut out = Vec::new();
    let mut report = LogReport::new(&mut out, options);
    for event in events {
        report.accept(event);
    }
    report.finish().expect("a vector takes everything");
    String::from_utf8(out).expect("text")
}

fn events() -> Vec<Event> {
    let started = SessionStarted {
        at: SystemTime::UNIX_EPOCH,
        noop: false,
        monitor_only: false,
        resources: 6,
        host: "web1".to_owned(),
        manifest: "/etc/ccm/site.yaml".to_owned(),
        run_id: "01a200cb-277e-7000-99d1-4c221e08d6d6".to_owned(),
        message: Some("hello\nyou".to_owned()),
    };
    let mode = Action::new(Verb::Change).changing("mode", Some("0600".to_owned()), Some("0640".to_owned()));
    let mut warned = transaction("exec#a job", Outcome::Changed);
    warned.action = Some(Action::new(Verb::Run).of("say \"hi\" \\"));
    warned.warnings = vec!["left running: 42 x\u{1b}[2J\ny".to_owned()];
    warned.triggered_by = vec![ResourceId::new("file", "/etc/a")];
    let mut failure = Failure::new(FailureKind::Exit, "exit code 7 not in allowed returns [0]");
    failure.location = Some(Box::new(Location { file: "site.yaml".to_owned(), line: 12, column: 9 }));
    failure.hints = vec!["raise `timeout`".to_owned()];
    failure.changed = true;
    failure.output = vec![StreamTail {
        stream: Stream::Stderr,
        lines: vec!["no such database".to_owned()],
        bytes_before: 0,
    }];
    let mut failed = transaction("exec#migrate", Outcome::Failed(Box::new(failure)));
    failed.action = Some(Action::new(Verb::Run).of("migrate"));
    let culprits = vec![ResourceId::new("exec", "migrate")];
    let skipped =
        transaction("exec#start", Outcome::Skipped { cause: SkipCause::DependencyFailed { culprits } });
    let would = Outcome::WouldChange { message: "Would have executed".to_owned() };
    let counts = Counts {
        total: 6,
        unchanged: 1,
        changed: 2,
        failed: 1,
        unmet: 1,
        pending_changes: 1,
        ..Counts::default()
    };
    let summary = RunSummary {
        noop: false,
        duration: Duration::from_millis(2_500),
        counts,
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: None,
        message: None,
        refreshes: RefreshSummary::default(),
    };
    let output = OutputLine { id: ResourceId::new("exec", "b"), stream: Stream::Stdout, line: String::new() };
    let resources = [
        transaction("file#/etc/same", Outcome::Unchanged),
        Transaction { action: Some(mode), ..transaction("file#/etc/a", Outcome::Changed) },
        warned,
        transaction("exec#child", would),
        failed,
        skipped,
    ];
    [Event::SessionStarted(started), Event::OutputReceived(output)]
        .into_iter()
        .chain(resources.map(|resource| Event::ResourceFinished(Box::new(resource))))
        .chain([Event::SessionFinished(Box::new(summary))])
        .collect()
}

const FAILURES: &str = r#"ERROR exec#migrate failed error="exit code 7 not in allowed returns [0]" command=migrate changed=maybe at=site.yaml:12:9 hint="raise `timeout`" runtime=1.2s
ERROR exec#migrate output stderr="no such database"
ERROR exec#start skipped cause="exec#migrate failed"
ERROR run finished runtime=2.5s resources=6 unchanged=1 changed=2 would_change=1 failed=1 dependency_failed=1 id=01a200cb-277e
"#;

#[test]
fn a_log_has_a_line_for_each_health_check_that_needs_attention() {
    let check = |name: &str, status| HealthCheckResult {
        name: name.to_owned(),
        status,
        output: "so it is".to_owned(),
        tries: 2,
        duration: Duration::from_secs(3),
        values: Vec::new(),
    };
    let checks = [("web", CheckStatus::Ok), ("disk", CheckStatus::Warning), ("db", CheckStatus::Unknown)];
    let health_checks = checks.map(|(name, status)| check(name, status)).into();
    let of_checks = Transaction { health_checks, ..transaction("file#/etc/a", Outcome::Unchanged) };
    let written = log(LogOptions::default(), &[Event::ResourceFinished(Box::new(of_checks))]);
    let expected = "\
INFO file#/etc/a unchanged runtime=1.2s
WARNING file#/etc/a health_check name=disk status=warning output=\"so it is\" tries=2 runtime=3s
ERROR file#/etc/a health_check name=db status=unknown output=\"so it is\" tries=2 runtime=3s
";
    assert_eq!(written, expected);
}

#[test]
fn a_log_has_a_line_for_each_change_warning_and_failure() {
    let changes = r#"INFO run message text=hello
INFO run message text=you
INFO exec#b output stdout=""
NOTICE file#/etc/a changed mode="0600 -> 0640" runtime=1.2s
NOTICE "exec#a job" ran command="say \"hi\" \\" triggered_by=file#/etc/a runtime=1.2s
WARNING "exec#a job" warning text="left running: 42 x\\u{1b}[2J\\ny"
NOTICE exec#child would_change message="Would have executed" runtime=1.2s
"#;
    assert_eq!(log(LogOptions::default(), &events()), format!("{changes}{FAILURES}"));
}

#[test]
fn verbosity_adds_what_is_unchanged_or_leaves_out_changes() {
    let of = |verbosity| log(LogOptions { verbosity, ..LogOptions::default() }, &events());
    let verbose = of(Verbosity::Verbose);
    assert!(
        verbose.contains("INFO file#/etc/same unchanged reason=\"because of it\" runtime=1.2s\n"),
        "{verbose}"
    );
    let quiet = of(Verbosity::Quiet);
    assert!(quiet.ends_with(FAILURES) && quiet.lines().count() == 6, "{quiet}");
    assert!(quiet.contains("WARNING \"exec#a job\""), "{quiet}");
}

#[test]
fn the_journal_gets_priorities() {
    let text = log(LogOptions { has_priorities: true, ..LogOptions::default() }, &events());
    let starts: String = text.lines().filter_map(|line| line.get(..3)).collect();
    assert_eq!(starts, "<6><6><6><5><5><4><5><3><3><3><3>");
}
