use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::SystemTime;

use ccm_model::{
    Counts, Failure, FailureKind, Fields, Properties, Reason, ResourceStarted, RunSummary, SessionStarted,
    SkipCause, StopCause, Stream, StreamTail, Transaction,
};
use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn id(text: &str) -> ResourceId {
    ResourceId::parse(text).expect("a reference")
}

fn transaction(outcome: Outcome) -> Transaction {
    Transaction {
        id: id("exec#job"),
        alias: None,
        at: SystemTime::UNIX_EPOCH,
        duration: Duration::from_millis(1),
        provider: Some("posix".into()),
        requested_ensure: "present".to_owned(),
        action: None,
        noop: false,
        final_ensure: Some("present".to_owned()),
        outcome,
        properties: Properties::default(),
        presentation: Vec::new(),
        reason: None,
        triggered_by: Vec::new(),
        pending_refreshes: Vec::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        state: None,
        diff: None,
    }
}

fn skipped(cause: SkipCause) -> Transaction {
    Transaction {
        duration: Duration::ZERO,
        provider: None,
        final_ensure: None,
        ..transaction(Outcome::Skipped { cause })
    }
}

fn finished(transaction: Transaction) -> Event {
    Event::ResourceFinished(Box::new(transaction))
}

fn summary(counts: Counts) -> RunSummary {
    RunSummary {
        noop: false,
        duration: Duration::from_millis(2_500),
        counts,
        stopped: None,
        message: None,
        refreshes: RefreshSummary::default(),
    }
}

/// Returns the report as bytes, with colour codes.
fn raw(verbosity: Verbosity, events: &[Event]) -> String {
    let mut out = Vec::new();
    let mut report = TextReport::new(&mut out, verbosity);
    for event in events {
        report.accept(event);
    }
    report.finish().expect("a vector takes everything");
    String::from_utf8(out).expect("text")
}

/// Returns the report without the colour codes of ccm.
fn text(verbosity: Verbosity, events: &[Event]) -> String {
    let mut text = raw(verbosity, events);
    for code in ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[0m"] {
        text = text.replace(code, "");
    }
    text
}

fn line(transaction: Transaction) -> String {
    text(Verbosity::Normal, &[finished(transaction)])
}

#[test]
fn every_outcome_has_its_line() {
    let message = || "Would have executed".to_owned();
    let skipped = |cause| skipped(cause);
    for (transaction, expected) in [
        (
            transaction(Outcome::Unchanged),
            "INFO  exec#job stable ensure=present runtime=1ms provider=posix\n",
        ),
        (transaction(Outcome::Changed), "WARN  exec#job changed ensure=present runtime=1ms provider=posix\n"),
        (
            transaction(Outcome::Refreshed),
            "WARN  exec#job refreshed ensure=present runtime=1ms provider=posix\n",
        ),
        (
            transaction(Outcome::WouldChange { message: message() }),
            "WARN  exec#job would change ensure=present runtime=1ms provider=posix\n      Would have executed\n",
        ),
        (
            transaction(Outcome::WouldRefresh { message: message() }),
            "WARN  exec#job would refresh ensure=present runtime=1ms provider=posix\n      Would have executed\n",
        ),
        (
            transaction(Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, "no command specified")))),
            "ERROR exec#job failed ensure=present runtime=1ms provider=posix: no command specified\n      \
             nothing was changed\n",
        ),
        (
            transaction(Outcome::Failed(Box::new(Failure {
                chain: Vec::new(),
                ..Failure::new(FailureKind::Exit, "")
            }))),
            "ERROR exec#job failed ensure=present runtime=1ms provider=posix\n      nothing was changed\n",
        ),
        (
            skipped(SkipCause::DependencyFailed { culprits: vec![id("exec#a"), id("file#/etc/b")] }),
            "ERROR exec#job unmet ensure=present: exec#a, file#/etc/b failed\n",
        ),
        (
            skipped(SkipCause::DependsOnNoop { noop: vec![id("file#/etc/b")] }),
            "ERROR exec#job unmet ensure=present: not known, because file#/etc/b is in noop\n",
        ),
        (
            skipped(SkipCause::NotManaged { reason: "`if` is false".to_owned() }),
            "WARN  exec#job skipped ensure=present: not managed: `if` is false\n",
        ),
        (skipped(SkipCause::NotSelected), ""),
        (
            skipped(SkipCause::ManifestEnded { culprit: id("exec#a") }),
            "WARN  exec#job skipped ensure=present: its manifest ended because exec#a failed (fail_on_error)\n",
        ),
        (
            skipped(SkipCause::Stopped { by: StopCause::Signal { name: "SIGINT".to_owned(), number: 2 } }),
            "WARN  exec#job skipped ensure=present: the run was stopped by SIGINT\n",
        ),
        (
            skipped(SkipCause::Stopped { by: StopCause::Failed { culprit: id("exec#a") } }),
            "WARN  exec#job skipped ensure=present: the run was stopped because exec#a failed (fail_on_error)\n",
        ),
        (
            skipped(SkipCause::Stopped { by: StopCause::Timeout { after: Duration::from_secs(90) } }),
            "WARN  exec#job skipped ensure=present: the run was stopped after 1m30s by --timeout\n",
        ),
    ] {
        assert_eq!(line(transaction), expected);
    }
}

#[test]
fn a_final_state_other_than_the_desired_one_is_shown() {
    let mut found = transaction(Outcome::Unchanged);
    found.requested_ensure = "latest".to_owned();
    found.final_ensure = Some("5.10-1".to_owned());
    assert_eq!(line(found), "INFO  exec#job stable ensure=latest final=5.10-1 runtime=1ms provider=posix\n");
}

fn rich_failure() -> Transaction {
    let failure = Failure {
        chain: ["command `/opt/migrate` failed", "exit code 7 not in allowed returns [0]", "last\nof all"]
            .map(str::to_owned)
            .to_vec(),
        hints: vec!["raise `timeout`".to_owned()],
        changed: true,
        output: vec![
            StreamTail {
                stream: Stream::Stdout,
                lines: vec!["INFO  exec#job stable".to_owned(), String::new()],
                bytes_before: 512,
            },
            StreamTail { stream: Stream::Stderr, lines: vec!["a\tb\x1b[2J".to_owned()], bytes_before: 0 },
        ],
        missing: None,
        ..Failure::new(FailureKind::Exit, "")
    };
    Transaction {
        triggered_by: vec![id("file#/etc/x"), id("exec#y")],
        warnings: vec!["left running: 42 daemon".to_owned()],
        reason: Some(Reason::new("rule", "triggered")),
        state: Some(Fields::from([("exitcode", 7.into())])),
        ..transaction(Outcome::Failed(Box::new(failure)))
    }
}

#[test]
fn a_failure_shows_causes_output_and_hints() {
    let expected =
        r"ERROR exec#job failed ensure=present runtime=1ms provider=posix: command `/opt/migrate` failed
      caused by: exit code 7 not in allowed returns [0]
      caused by: last
      | of all
      triggered by: file#/etc/x, exec#y
      warning: left running: 42 daemon
      stdout: 512 bytes before these lines are not shown
      stdout | INFO  exec#job stable
      stdout |
      stderr | a<TAB>b\u{1b}[2J
      something may have been changed
      hint: raise `timeout`
"
        .replace("<TAB>", "\t");
    assert_eq!(line(rich_failure()), expected);
    assert_eq!(text(Verbosity::Quiet, &[finished(rich_failure())]), expected);

    let verbose = expected.replace("      warning:", "      reason: triggered\n      warning:");
    assert_eq!(text(Verbosity::Verbose, &[finished(rich_failure())]), verbose);
    let everything = verbose.replace("`timeout`\n", "`timeout`\n      state: {\"exitcode\":7}\n");
    assert_eq!(text(Verbosity::Everything, &[finished(rich_failure())]), everything);
}

#[test]
fn triggers_and_warnings_are_details() {
    let mut refreshed =
        transaction(Outcome::WouldRefresh { message: "Would have executed via subscribe".to_owned() });
    refreshed.triggered_by = vec![id("file#/etc/x"), id("exec#y")];
    refreshed.warnings = vec!["`creates` not produced\nit runs again next time".to_owned()];
    let expected = "\
WARN  exec#job would refresh ensure=present runtime=1ms provider=posix
      Would have executed via subscribe
      triggered by: file#/etc/x, exec#y
      warning: `creates` not produced
      | it runs again next time
";
    assert_eq!(line(refreshed), expected);
}

#[test]
fn reasons_are_shown_if_verbose_or_skipped() {
    let reason = |mut transaction: Transaction| {
        transaction.reason = Some(Reason::new("rule", "every `creates` exists"));
        transaction.state = Some(Fields::from([("exitcode", Value::Null)]));
        finished(transaction)
    };
    let unchanged = reason(transaction(Outcome::Unchanged));
    assert!(!text(Verbosity::Normal, std::slice::from_ref(&unchanged)).contains("reason"));
    assert_eq!(
        text(Verbosity::Verbose, &[unchanged]),
        "INFO  exec#job stable ensure=present runtime=1ms provider=posix\n      reason: every `creates` exists\n"
    );

    let changed = reason(transaction(Outcome::Changed));
    assert!(!text(Verbosity::Normal, std::slice::from_ref(&changed)).contains("reason"));
    assert!(
        text(Verbosity::Verbose, std::slice::from_ref(&changed))
            .ends_with("\n      reason: every `creates` exists\n")
    );
    assert!(
        text(Verbosity::Everything, &[changed])
            .ends_with("\n      reason: every `creates` exists\n      state: {\"exitcode\":null}\n")
    );

    let skipped = reason(skipped(SkipCause::NotSelected));
    assert_eq!(text(Verbosity::Normal, std::slice::from_ref(&skipped)), "");
    assert!(
        text(Verbosity::Verbose, &[skipped])
            .contains(": not selected\n      reason: every `creates` exists\n")
    );

    // A reason that equals the message is written once.
    let mut noop =
        transaction(Outcome::WouldChange { message: "would change (not known before exec#a)".to_owned() });
    noop.reason = Some(Reason::new("rule", "would change (not known before exec#a)"));
    assert_eq!(text(Verbosity::Verbose, &[finished(noop)]).matches("not known before").count(), 1);
}

#[test]
fn quiet_shows_only_errors() {
    let started = |message: &str| {
        Event::SessionStarted(SessionStarted {
            at: SystemTime::UNIX_EPOCH,
            noop: false,
            resources: 1,
            message: Some(message.to_owned()),
        })
    };
    let output = Event::OutputReceived(OutputLine {
        id: id("exec#job"),
        stream: Stream::Stdout,
        line: "hello".to_owned(),
    });
    let counts = Counts { total: 3, unchanged: 2, changed: 1, ..Counts::default() };
    let end = RunSummary { message: Some("bye".to_owned()), ..summary(counts) };
    let calm = [
        started("hi"),
        Event::ResourceStarted(ResourceStarted { id: id("exec#job") }),
        output,
        finished(transaction(Outcome::Unchanged)),
        finished(transaction(Outcome::Changed)),
        finished(skipped(SkipCause::NotSelected)),
        Event::SessionFinished(Box::new(end.clone())),
    ];
    assert_eq!(text(Verbosity::Quiet, &calm), "");

    let unmet = finished(skipped(SkipCause::DependencyFailed { culprits: vec![id("exec#a")] }));
    let counts = Counts { total: 1, unmet: 1, ..Counts::default() };
    assert_eq!(
        text(Verbosity::Quiet, &[unmet, Event::SessionFinished(Box::new(summary(counts)))]),
        "ERROR exec#job unmet ensure=present: exec#a failed\nSummary: 1 resource in 2.5s: 1 unmet\n"
    );

    let by = StopCause::Signal { name: "SIGTERM".to_owned(), number: 15 };
    let stopped = RunSummary { stopped: Some(by), ..end };
    assert_eq!(
        text(Verbosity::Quiet, &[Event::SessionFinished(Box::new(stopped))]),
        "Summary: 3 resources in 2.5s: 2 stable, 1 changed\n  the run was stopped by SIGTERM\n"
    );
}

#[test]
fn a_report_goes_from_message_to_summary() {
    let mut other = transaction(Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, "boom"))));
    other.id = id("file#/etc/x");
    let counts = Counts {
        total: 6,
        unchanged: 1,
        changed: 1,
        refreshed: 1,
        failed: 2,
        skipped: 1,
        ..Counts::default()
    };
    let events = [
        Event::SessionStarted(SessionStarted {
            at: SystemTime::UNIX_EPOCH,
            noop: false,
            resources: 5,
            message: Some("Welcome\n\x07\tto this\n".to_owned()),
        }),
        Event::ResourceStarted(ResourceStarted { id: id("exec#job") }),
        Event::OutputReceived(OutputLine {
            id: id("exec#job"),
            stream: Stream::Stderr,
            line: "a\tb  ".to_owned(),
        }),
        finished(transaction(Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, "boom"))))),
        finished(other),
        Event::SessionFinished(Box::new(RunSummary {
            message: Some("Goodbye".to_owned()),
            ..summary(counts)
        })),
    ];
    let expected = "\
Welcome
\\u{7}\tto this
      exec#job stderr | a\tb  
ERROR exec#job failed ensure=present runtime=1ms provider=posix: boom
      nothing was changed
ERROR file#/etc/x failed ensure=present runtime=1ms provider=posix: boom
      nothing was changed
Goodbye
Summary: 6 resources in 2.5s: 1 stable, 1 changed, 1 refreshed, 2 failed, 1 skipped
  failed: exec#job
  failed: file#/etc/x
";
    assert_eq!(text(Verbosity::Normal, &events), expected);
}

#[test]
fn the_summary_names_failed_resources_but_not_their_manifests() {
    let failed = |kind, message: &str| Outcome::Failed(Box::new(Failure::new(kind, message)));
    let mut child = transaction(failed(FailureKind::Child, "1 of its 2 resources failed: exec#job"));
    child.id = id("apply#web.yaml");
    let counts = Counts { total: 3, unchanged: 1, failed: 2, ..Counts::default() };
    let events = [
        finished(transaction(failed(FailureKind::Exit, "boom"))),
        finished(child),
        Event::SessionFinished(Box::new(summary(counts))),
    ];
    let expected = "\
ERROR exec#job failed ensure=present runtime=1ms provider=posix: boom
      nothing was changed
ERROR apply#web.yaml failed ensure=present runtime=1ms provider=posix: 1 of its 2 resources failed: exec#job
      nothing was changed
Summary: 3 resources in 2.5s: 1 stable, 2 failed
  failed: exec#job
";
    assert_eq!(text(Verbosity::Normal, &events), expected);
}

#[test]
fn the_summary_of_a_noop_run_reports_no_change() {
    let counts = Counts { total: 4, unchanged: 1, changed: 2, refreshed: 1, ..Counts::default() };
    let run = RunSummary { noop: true, ..summary(counts) };
    assert_eq!(
        text(Verbosity::Normal, &[Event::SessionFinished(Box::new(run))]),
        "Summary: 4 resources in 2.5s: 1 stable, 2 would change, 1 would refresh\n  noop: nothing was changed\n"
    );
    let counts =
        Counts { total: 4, changed: 1, pending_changes: 2, pending_refreshes: 1, ..Counts::default() };
    assert_eq!(
        text(Verbosity::Normal, &[Event::SessionFinished(Box::new(summary(counts)))]),
        "Summary: 4 resources in 2.5s: 1 changed, 2 would change, 1 would refresh\n"
    );
    let empty = RunSummary { message: Some(String::new()), ..summary(Counts::default()) };
    assert_eq!(
        text(Verbosity::Normal, &[Event::SessionFinished(Box::new(empty))]),
        "Summary: 0 resources in 2.5s\n"
    );
}

#[test]
fn only_level_and_outcome_are_coloured() {
    let expected =
        "\x1b[33mWARN \x1b[0m exec#job \x1b[33mchanged\x1b[0m ensure=present runtime=1ms provider=posix\n";
    assert_eq!(raw(Verbosity::Normal, &[finished(transaction(Outcome::Changed))]), expected);
    let unmet = raw(
        Verbosity::Normal,
        &[finished(skipped(SkipCause::DependencyFailed { culprits: vec![id("a#b")] }))],
    );
    assert!(
        unmet.starts_with("\x1b[1m\x1b[31mERROR\x1b[0m exec#job \x1b[1m\x1b[31munmet\x1b[0m "),
        "{unmet:?}"
    );
}

/// Writer that fails from a given write on, and records the calls.
struct Failing {
    writes_left: usize,
    log: Rc<RefCell<Vec<String>>>,
}

impl Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.log.borrow_mut().push(String::from_utf8_lossy(bytes).into_owned());
        if self.writes_left == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.writes_left -= 1;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.log.borrow_mut().push("flush".to_owned());
        Ok(())
    }
}

#[test]
fn a_failed_writer_is_not_used_again_and_is_reported_at_the_end() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut report = TextReport::new(Failing { writes_left: 1, log: Rc::clone(&log) }, Verbosity::Normal);
    for _ in 0..5 {
        report.accept(&finished(transaction(Outcome::Changed)));
    }
    let ReportError::Write(error) = report.finish().expect_err("a broken pipe");
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    let log = log.borrow();
    assert_eq!(log.len(), 3, "a write, its flush, and the write that failed: {log:?}");
}

#[test]
fn an_error_of_the_last_write_is_reported() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut report = TextReport::new(Failing { writes_left: 0, log }, Verbosity::Normal);
    report.accept(&finished(transaction(Outcome::Unchanged)));
    assert!(report.finish().is_err());
}

#[test]
fn only_lines_about_unchanged_resources_wait() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut report =
        TextReport::new(Failing { writes_left: usize::MAX, log: Rc::clone(&log) }, Verbosity::Normal);
    let flushes = || log.borrow().iter().filter(|entry| *entry == "flush").count();

    let unchanged = finished(transaction(Outcome::Unchanged));
    for _ in 0..20 {
        report.accept(&Event::ResourceStarted(ResourceStarted { id: id("exec#job") }));
        report.accept(&unchanged);
    }
    assert_eq!(flushes(), 0);
    report.accept(&finished(transaction(Outcome::Changed)));
    assert_eq!(flushes(), 1);
    let mut warned = transaction(Outcome::Unchanged);
    warned.warnings = vec!["look here".to_owned()];
    report.accept(&finished(warned));
    assert_eq!(flushes(), 2);
    let output = OutputLine { id: id("exec#job"), stream: Stream::Stdout, line: "hello".to_owned() };
    report.accept(&Event::OutputReceived(output));
    assert_eq!(flushes(), 3);
    // Each runs for one millisecond, so fifty reach the limit.
    for _ in 0..49 {
        report.accept(&unchanged);
    }
    assert_eq!(flushes(), 3);
    report.accept(&unchanged);
    assert_eq!(flushes(), 4);

    let mut quick = transaction(Outcome::Unchanged);
    quick.duration = Duration::ZERO;
    for _ in 0..1_000 {
        report.accept(&finished(quick.clone()));
    }
    let written = flushes() - 4;
    assert!((1..20).contains(&written), "{written}");
    report.finish().expect("no error");
}

proptest! {
    /// The number of lines does not depend on the content of names, messages and output. Of their control
    /// characters only the tabs of output remain.
    #[test]
    fn control_characters_are_escaped(hostile in "([a-z \u{0}-\u{1f}\u{7f}-\u{9f}\u{2028}\u{202e}]{1,20}|.{1,20})") {
        let hostile = format!("x{hostile}");
        let one_line = hostile.replace('\n', "?");
        let mut failed = rich_failure();
        failed.id = ResourceId::new("exec", hostile.as_str());
        failed.requested_ensure.clone_from(&hostile);
        failed.final_ensure = Some(format!("{hostile}!"));
        failed.triggered_by = vec![failed.id.clone(); 2];
        failed.reason = Some(Reason::new("rule", one_line.clone()));
        failed.warnings = vec![one_line.clone()];
        failed.state = Some(Fields::from([("name", hostile.into())]));
        if let Outcome::Failed(failure) = &mut failed.outcome {
            failure.chain = vec![one_line.clone(); 2];
            failure.hints = vec![one_line.clone()];
            failure.output = vec![StreamTail { stream: Stream::Stdout, lines: vec![one_line.clone()], bytes_before: 1 }];
        }
        let stopped = Some(StopCause::Failed { culprit: failed.id.clone() });
        let line = OutputLine { id: failed.id.clone(), stream: Stream::Stdout, line: one_line.clone() };
        let unmet = skipped(SkipCause::DependencyFailed { culprits: vec![failed.id.clone()] });
        let message = Some(one_line);
        let events = [
            Event::SessionStarted(SessionStarted {
                at: SystemTime::UNIX_EPOCH, noop: false, resources: 2, message: message.clone(),
            }),
            Event::OutputReceived(line),
            finished(failed),
            finished(unmet),
            Event::SessionFinished(Box::new(RunSummary { stopped, message, ..summary(Counts::default()) })),
        ];
        let text = text(Verbosity::Everything, &events);
        // Failed: one line each for cause, triggers, reason and warning, two of output, changed, hint, state.
        prop_assert_eq!(text.matches('\n').count(), 1 + 1 + 10 + 1 + 1 + 3, "{}", text);
        let control = |character: char| character.is_control() && character != '\n' && character != '\t';
        prop_assert!(!text.contains(control), "{:?}", text);
        prop_assert!(!text.contains(['\u{2028}', '\u{202e}']), "{:?}", text);
        prop_assert!(text.lines().filter(|line| line.contains('\t')).all(|line| line.contains(" | ") || line.starts_with('x')));
    }
}

#[test]
fn a_diff_is_coloured_and_escaped() {
    let diff = "--- /f\n+++ /f\n@@ -1 +1,2 @@\n-old\n+new\x1b[2J\n+\ttabbed\n".to_owned();
    let message = "Would have updated content".to_owned();
    let told = Transaction { diff: Some(diff), ..transaction(Outcome::WouldChange { message }) };
    assert_eq!(
        line(told.clone()),
        "WARN  exec#job would change ensure=present runtime=1ms provider=posix\n\
         \x20     Would have updated content\n\
         \x20     --- /f\n      +++ /f\n      @@ -1 +1,2 @@\n\
         \x20     -old\n      +new\\u{1b}[2J\n      +\ttabbed\n"
    );
    let coloured = raw(Verbosity::Normal, &[finished(told)]);
    assert!(coloured.contains("\x1b[31m-old\x1b[0m\n"), "{coloured:?}");
    assert!(coloured.contains("\x1b[32m+\ttabbed\x1b[0m\n"), "{coloured:?}");
}
