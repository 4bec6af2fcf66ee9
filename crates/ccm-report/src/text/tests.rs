mod changes;
mod health;
mod screens;

use std::cell::RefCell;
use std::io;
use std::rc::Rc;
use std::time::SystemTime;

use ccm_model::{
    Action, CheckCounts, Counts, Failure, FailureKind, Fields, Properties, Reason, ResourceId,
    ResourceStarted, RunSummary, SessionStarted, SkipCause, StopCause, Stream, StreamTail, Transaction, Verb,
};
use proptest::prelude::*;

use super::*;
use crate::Screen;

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
        would_fail: false,
        final_ensure: Some("present".to_owned()),
        outcome,
        properties: Properties::default(),
        presentation: Vec::new(),
        reason: None,
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
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: None,
        message: None,
        refreshes: RefreshSummary::default(),
    }
}

fn started(noop: bool, message: Option<&str>) -> Event {
    Event::SessionStarted(SessionStarted {
        at: SystemTime::UNIX_EPOCH,
        noop,
        monitor_only: false,
        resources: 5,
        host: "web1".to_owned(),
        manifest: "/etc/ccm/site.yaml".to_owned(),
        run_id: "01a200cb-277e-7000-99d1-4c221e08d6d6".to_owned(),
        message: message.map(str::to_owned),
    })
}

fn of(verbosity: Verbosity) -> TextOptions {
    TextOptions { verbosity, ..TextOptions::default() }
}

/// Returns the report with colour codes.
fn raw(options: TextOptions, events: &[Event]) -> String {
    let mut out = Vec::new();
    let mut report = TextReport::new(&mut out, options);
    for event in events {
        report.accept(event);
    }
    report.finish().expect("a vector takes everything");
    String::from_utf8(out).expect("text")
}

/// Removes the colour codes of ccm.
pub(crate) fn without_colours(text: &str) -> String {
    let codes = ["\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[1m", "\x1b[2m", "\x1b[0m"];
    codes.iter().fold(text.to_owned(), |text, code| text.replace(code, ""))
}

/// Returns the report without the colour codes of ccm.
fn text(verbosity: Verbosity, events: &[Event]) -> String {
    without_colours(&raw(of(verbosity), events))
}

/// Returns the report on a terminal.
fn on_screen(width: usize, transactions: Vec<Transaction>) -> String {
    let screen = Screen { width: Some(width), is_unicode: true };
    let options = TextOptions { screen, ..TextOptions::default() };
    without_colours(&raw(options, &transactions.into_iter().map(finished).collect::<Vec<_>>()))
}

fn line(transaction: Transaction) -> String {
    text(Verbosity::Normal, &[finished(transaction)])
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
        action: Some(Action::new(Verb::Run).of("/opt/migrate --all")),
        reason: Some(Reason::new("rule", "triggered")),
        state: Some(Fields::from([("exitcode", 7.into())])),
        ..transaction(Outcome::Failed(Box::new(failure)))
    }
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
    let mut report = TextReport::new(Failing { writes_left: 1, log: Rc::clone(&log) }, of(Verbosity::Normal));
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
    let mut report = TextReport::new(Failing { writes_left: 0, log }, of(Verbosity::Verbose));
    report.accept(&finished(transaction(Outcome::Unchanged)));
    assert!(report.finish().is_err());
}

#[test]
fn only_lines_about_unchanged_resources_wait() {
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut report =
        TextReport::new(Failing { writes_left: usize::MAX, log: Rc::clone(&log) }, of(Verbosity::Verbose));
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
        failed.action = Some(Action::new(Verb::Run).of(hostile.clone()));
        failed.triggered_by = vec![failed.id.clone(); 2];
        failed.reason = Some(Reason::new("rule", one_line.clone()));
        failed.warnings = vec![one_line.clone()];
        failed.state = Some(Fields::from([("name", hostile.clone().into())]));
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
                at: SystemTime::UNIX_EPOCH, noop: false,
                monitor_only: false, resources: 2, message: message.clone(),
                host: hostile.clone(), manifest: hostile.clone(), run_id: String::new(),
            }),
            Event::OutputReceived(line),
            finished(failed),
            finished(unmet),
            Event::SessionFinished(Box::new(RunSummary { stopped, message, ..summary(Counts::default()) })),
        ];
        let text = text(Verbosity::Everything, &events);
        // Failed: one line each for command, cause, triggers, reason and warning, two of output, hint, state.
        prop_assert_eq!(text.matches('\n').count(), 1 + 1 + 1 + 10 + 1 + 1 + 3, "{}", text);
        let control = |character: char| character.is_control() && character != '\n' && character != '\t';
        prop_assert!(!text.contains(control), "{:?}", text);
        prop_assert!(!text.contains(['\u{2028}', '\u{202e}']), "{:?}", text);
        prop_assert!(text.lines().filter(|line| line.contains('\t')).all(|line| line.contains(" | ") || line.starts_with('x')));
        for width in [1, 20, 80] {
            let screen = Screen { width: Some(width), is_unicode: false };
            let shown = raw(TextOptions { screen, verbosity: Verbosity::Everything, ..TextOptions::default() }, &events);
            prop_assert!(!without_colours(&shown).contains(control), "{:?}", shown);
        }
    }
}
