//! Lines of changes, failures and skipped resources.

use ccm_model::{ChangedLines, Location, Node, NodeEntry, NodeKey, PendingRefresh, Span};

use super::*;

fn would(verb: Verb) -> Transaction {
    let outcome = Outcome::WouldChange { message: "Would have done it".to_owned() };
    Transaction { action: Some(Action::new(verb)), ..transaction(outcome) }
}

fn of_resource(name: &str, mut transaction: Transaction) -> Transaction {
    transaction.id = id(name);
    transaction
}

fn with_action(action: Action, transaction: Transaction) -> Transaction {
    Transaction { action: Some(action), ..transaction }
}

/// The resources of the example in the documentation.
pub(super) fn example() -> Vec<Transaction> {
    let create = Action::new(Verb::Create).of("0644 root:root, 214 bytes");
    let mut change =
        Action::new(Verb::Change).changing("mode", Some("0600".to_owned()), Some("0640".to_owned()));
    change.changes.push(ccm_model::Change {
        aspect: "content".into(),
        from: None,
        to: None,
        lines: Some(ChangedLines { added: 2, removed: 1 }),
    });
    let run = Action::new(Verb::Run).of("git checkout --force v1.1");
    let upgrade = Action::new(Verb::Upgrade).changing(
        "version",
        Some("1.22.1-9".to_owned()),
        Some("1.24.0-2".to_owned()),
    );
    let mut checkout = of_resource("exec#checkout", with_action(run, would(Verb::Run)));
    checkout.reason = Some(Reason::new("rule", "`unless` exited with 1"));
    let message = String::new();
    let mut restart = of_resource(
        "service#hello",
        with_action(Action::new(Verb::Restart), transaction(Outcome::WouldRefresh { message })),
    );
    restart.triggered_by = vec![id("exec#checkout")];
    vec![
        of_resource("file#/etc/systemd/system/hello.service", with_action(create, would(Verb::Create))),
        of_resource("file#/etc/hello/hello.ini", with_action(change, would(Verb::Change))),
        checkout,
        of_resource("package#nginx", with_action(upgrade, would(Verb::Upgrade))),
        restart,
    ]
}

#[test]
fn a_noop_run_shows_what_would_be_done() {
    let mut events = vec![started(true, None)];
    events.extend(example().into_iter().map(finished));
    let counts = Counts { total: 12, unchanged: 7, changed: 4, refreshed: 1, ..Counts::default() };
    let run = RunSummary { noop: true, duration: Duration::from_millis(12), ..summary(counts) };
    events.push(Event::SessionFinished(Box::new(run)));
    let expected = "\
web1: /etc/ccm/site.yaml (dry run)
  + file     /etc/systemd/system/hello.service   would create: 0644 root:root, 214 bytes
  ~ file     /etc/hello/hello.ini                would change: mode 0600 → 0640, content (+2 −1)
  ! exec     checkout                            would run: git checkout --force v1.1 (`unless` exited with 1)
  ~ package  nginx                               would upgrade: 1.22.1-9 → 1.24.0-2
  > service  hello                               would restart: exec#checkout would change
12 resources in 12ms: 7 unchanged; would create 1, change 1, run 1, upgrade 1, restart 1
";
    assert_eq!(text(Verbosity::Normal, &events), expected);
    let ascii = TextOptions { screen: Screen { width: None, is_unicode: false }, ..TextOptions::default() };
    let shown = without_colours(&raw(ascii, &events));
    assert_eq!(shown, expected.replace('→', "->").replace('−', "-"));
}

#[test]
fn a_change_that_would_fail_is_counted_as_one() {
    let failing = Transaction { would_fail: true, ..would(Verb::Create) };
    let events = [
        started(true, None),
        finished(failing),
        finished(of_resource("exec#other", would(Verb::Create))),
        Event::SessionFinished(Box::new(RunSummary {
            noop: true,
            ..summary(Counts { total: 2, changed: 2, ..Counts::default() })
        })),
    ];
    let shown = text(Verbosity::Normal, &events);
    assert!(shown.ends_with("\n2 resources in 2.5s: would create 2 (1 would fail now)\n"), "{shown}");
}

#[test]
fn a_run_shows_what_was_done() {
    let events: Vec<Event> = std::iter::once(started(false, Some("Welcome\n\x07\tto this\n")))
        .chain(example().into_iter().map(|transaction| {
            let outcome = match transaction.outcome {
                Outcome::WouldRefresh { .. } => Outcome::Refreshed,
                _ => Outcome::Changed,
            };
            finished(Transaction { outcome, duration: Duration::from_millis(1_200), ..transaction })
        }))
        .chain([Event::SessionFinished(Box::new(RunSummary {
            message: Some("Goodbye".to_owned()),
            ..summary(Counts { total: 5, changed: 4, refreshed: 1, ..Counts::default() })
        }))])
        .collect();
    let expected = "\
web1: /etc/ccm/site.yaml
Welcome
\\u{7}\tto this
  + file     /etc/systemd/system/hello.service   created: 0644 root:root, 214 bytes (1.2s)
  ~ file     /etc/hello/hello.ini                changed: mode 0600 → 0640, content (+2 −1) (1.2s)
  ! exec     checkout                            ran: git checkout --force v1.1 (1.2s)
  ~ package  nginx                               upgraded: 1.22.1-9 → 1.24.0-2 (1.2s)
  > service  hello                               restarted: exec#checkout changed (1.2s)
Goodbye
5 resources in 2.5s: created 1, changed 1, ran 1, upgraded 1, restarted 1 (run 01a200cb-277e)
";
    assert_eq!(text(Verbosity::Normal, &events), expected);
    let verbose = text(Verbosity::Verbose, &events);
    assert!(verbose.contains("(1.2s)\n      because: `unless` exited with 1\n"), "{verbose}");
}

#[test]
fn every_outcome_has_its_line() {
    let not_known = "would change (not known before exec#a)";
    let long = Transaction { duration: Duration::from_millis(1_500), ..transaction(Outcome::Changed) };
    let mut pending = transaction(Outcome::Refreshed);
    pending.triggered_by = vec![id("file#/etc/a")];
    pending.pending_refreshes = vec![PendingRefresh {
        source: id("file#/etc/a"),
        run_id: "x".to_owned(),
        since: SystemTime::UNIX_EPOCH,
        is_assumed: true,
    }];
    for (transaction, expected) in [
        (transaction(Outcome::Unchanged), ""),
        (transaction(Outcome::Changed), "~ exec     job                        changed"),
        (transaction(Outcome::Refreshed), "> exec     job                        refreshed"),
        (
            transaction(Outcome::WouldChange { message: "Would have executed".to_owned() }),
            "~ exec     job                        Would have executed",
        ),
        (
            transaction(Outcome::WouldChange { message: not_known.to_owned() }),
            "~ exec     job                        would change (not known before exec#a)",
        ),
        (
            with_action(Action::new(Verb::Remove), transaction(Outcome::Changed)),
            "- exec     job                        removed",
        ),
        (
            with_action(Action::new(Verb::Run).of("a\n\x1b[2J"), transaction(Outcome::Changed)),
            "! exec     job                        ran: a\\n\\u{1b}[2J (1ms)",
        ),
        (
            with_action(Action::new(Verb::Change).changing("owner", None, Some("ada".to_owned())), long),
            "~ exec     job                        changed: owner ada (1.5s)",
        ),
        (
            with_action(
                Action::new(Verb::Change)
                    .changing("user", Some("ada".to_owned()), None)
                    .changing("content", None, None),
                transaction(Outcome::Changed),
            ),
            "~ exec     job                        changed: user ada → none, content",
        ),
        (
            with_action(Action::new(Verb::Run).of("reload"), pending),
            "> exec     job                        ran: reload (1ms, pending refresh)\n      \
             file#/etc/a may have changed (counted as pending, because the ledger was damaged)",
        ),
        (
            transaction(Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, "no command specified")))),
            "x exec     job                        failed: no command specified\n      nothing was changed",
        ),
        (
            skipped(SkipCause::DependencyFailed { culprits: vec![id("exec#a"), id("file#/etc/b")] }),
            "s exec     job                        skipped: exec#a, file#/etc/b failed",
        ),
        (
            skipped(SkipCause::DependsOnNoop { noop: vec![id("file#/etc/b")] }),
            "s exec     job                        skipped: not known, because file#/etc/b is in noop",
        ),
        (
            skipped(SkipCause::ManifestEnded { culprit: id("exec#a") }),
            "s exec     job                        skipped: its manifest ended because exec#a failed (fail_on_error)",
        ),
        (skipped(SkipCause::NotManaged { reason: "`if` is false".to_owned() }), ""),
        (skipped(SkipCause::NotSelected), ""),
        (skipped(SkipCause::Excluded), ""),
    ] {
        let expected = if expected.is_empty() { String::new() } else { format!("  {expected}\n") };
        assert_eq!(line(transaction), expected);
    }
}

#[test]
fn verbose_adds_what_is_unchanged_and_every_reason() {
    let reason = |transaction: Transaction| {
        let reason = Some(Reason::new("rule", "everything in `creates` exists"));
        let state = Some(Fields::from([("exitcode", serde_json::Value::Null)]));
        finished(Transaction { reason, state, ..transaction })
    };
    let not_managed = SkipCause::NotManaged { reason: "`if` is false".to_owned() };
    let events = [
        reason(transaction(Outcome::Unchanged)),
        reason(transaction(Outcome::Changed)),
        finished(skipped(not_managed)),
        finished(skipped(SkipCause::NotSelected)),
    ];
    assert_eq!(
        text(Verbosity::Everything, &events),
        "    exec     job                        unchanged: everything in `creates` exists
  ~ exec     job                        changed
      because: everything in `creates` exists
      state: {\"exitcode\":null}
    exec     job                        skipped: not managed: `if` is false
    exec     job                        skipped: not selected
"
    );
    // A reason that equals the message is written once.
    let message = "would change (not known before exec#a)";
    let mut noop = transaction(Outcome::WouldChange { message: message.to_owned() });
    noop.reason = Some(Reason::new("rule", message));
    assert_eq!(text(Verbosity::Verbose, &[finished(noop)]).matches("not known before").count(), 1);
}

#[test]
fn a_failure_shows_command_causes_output_effect_hints_and_location() {
    let mut failed = rich_failure();
    if let Outcome::Failed(failure) = &mut failed.outcome {
        failure.location = Some(Box::new(Location { file: "site.yaml".into(), line: 12, column: 9 }));
    }
    let expected = "  x exec     job                        failed: command `/opt/migrate` failed
      triggered by: file#/etc/x, exec#y
      warning: left running: 42 daemon
      command: /opt/migrate --all
      caused by: exit code 7 not in allowed returns [0]
      caused by: last
      | of all
      stdout: 512 bytes before these lines are not shown
      stdout | INFO  exec#job stable
      stdout |
      stderr | a<TAB>b\\u{1b}[2J
      hint: raise `timeout`
      at site.yaml:12:9
"
    .replace("<TAB>", "\t");
    assert_eq!(line(failed.clone()), expected);
    // A command that ccm ended has not said how far it came.
    for (kind, is_said) in [
        (FailureKind::Exit, false),
        (FailureKind::Expectation, false),
        (FailureKind::Timeout, true),
        (FailureKind::Stopped, true),
        (FailureKind::Signal, true),
    ] {
        let mut ended = failed.clone();
        if let Outcome::Failed(failure) = &mut ended.outcome {
            failure.kind = kind;
        }
        assert_eq!(line(ended).contains("something may have been changed"), is_said, "{kind:?}");
    }
    assert_eq!(text(Verbosity::Quiet, &[finished(failed.clone())]), expected);
    let recorded = text(Verbosity::Quiet, &[started(false, None), finished(failed.clone())]);
    assert_eq!(recorded, format!("{expected}      all output: ccm history 01a200cb-277e job\n"));
    let state_directory = Some("/srv/a state".to_owned());
    let options = TextOptions { state_directory, ..of(Verbosity::Quiet) };
    let elsewhere = without_colours(&raw(options, &[started(false, None), finished(failed.clone())]));
    assert!(
        elsewhere.ends_with("all output: ccm history 01a200cb-277e job --state-dir '/srv/a state'\n"),
        "{elsewhere}"
    );
    // The record of a sensitive exec has no output.
    let mut sensitive = failed.clone();
    let span = Span::default();
    sensitive.properties.replace(NodeEntry {
        key: NodeKey { text: "sensitive".into(), span },
        value: Node::text("true", span),
    });
    assert!(!text(Verbosity::Quiet, &[started(false, None), finished(sensitive)]).contains("all output"));
    let verbose = text(Verbosity::Everything, &[started(true, None), finished(failed)]);
    assert!(verbose.contains("      tried because: triggered\n      warning:"), "{verbose}");
    assert!(verbose.ends_with("      at site.yaml:12:9\n      state: {\"exitcode\":7}\n"), "{verbose}");
}

#[test]
fn warnings_are_details_of_changed_and_unchanged_resources() {
    let warnings = vec!["`creates` not produced\nit runs again next time".to_owned()];
    let warned = |outcome| Transaction { warnings: warnings.clone(), ..transaction(outcome) };
    let expected = "    exec     job                        unchanged
      warning: `creates` not produced
      | it runs again next time
";
    assert_eq!(line(warned(Outcome::Unchanged)), expected);
    assert_eq!(text(Verbosity::Quiet, &[finished(warned(Outcome::Unchanged))]), expected);
    let changed = expected.replace("    exec", "  ~ exec").replace("unchanged", "changed");
    assert_eq!(line(warned(Outcome::Changed)), changed);
}

#[test]
fn a_diff_is_coloured_and_escaped() {
    let diff = "--- /f\n+++ /f\n@@ -1 +1,2 @@\n-old\n+new\x1b[2J\n+\ttabbed\n".to_owned();
    let told = Transaction { diff: Some(diff), ..would(Verb::Change) };
    assert_eq!(
        line(told.clone()),
        "  ~ exec     job                        would change\n\
         \x20     --- /f\n      +++ /f\n      @@ -1 +1,2 @@\n\
         \x20     -old\n      +new\\u{1b}[2J\n      +\ttabbed\n"
    );
    let coloured = raw(of(Verbosity::Normal), &[finished(told)]);
    assert!(coloured.contains("\x1b[31m-old\x1b[0m\n"), "{coloured:?}");
    assert!(coloured.contains("\x1b[32m+\ttabbed\x1b[0m\n"), "{coloured:?}");
}
