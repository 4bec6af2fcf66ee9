//! Verbosity, summaries, colours and terminals.

use super::changes::example;
use super::*;

fn failed(message: &str) -> Outcome {
    Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, message)))
}

#[test]
fn quiet_shows_only_failures_and_warnings() {
    let output = OutputLine { id: id("exec#job"), stream: Stream::Stdout, line: "hello".to_owned() };
    let counts = Counts { total: 3, unchanged: 2, changed: 1, ..Counts::default() };
    let end = RunSummary { message: Some("bye".to_owned()), ..summary(counts) };
    let calm = [
        started(false, Some("hi")),
        Event::ResourceStarted(ResourceStarted { id: id("exec#job") }),
        Event::OutputReceived(output),
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
        "  s exec     job                        skipped: exec#a failed\n\
         1 resource in 2.5s: 1 dependency failed\n"
    );

    let by = StopCause::Signal { name: "SIGTERM".to_owned(), number: 15 };
    let not_reached = finished(skipped(SkipCause::Stopped { by: by.clone() }));
    let stopped = RunSummary { stopped: Some(by), ..end };
    assert_eq!(
        text(Verbosity::Quiet, &[not_reached, Event::SessionFinished(Box::new(stopped))]),
        "  the run was stopped by SIGTERM\n  not reached: exec#job\n\
         3 resources in 2.5s: 2 unchanged; changed 1\n"
    );
}

#[test]
fn the_summary_names_failed_resources_but_not_their_manifests() {
    let mut child = transaction(Outcome::Failed(Box::new(Failure::new(
        FailureKind::Child,
        "1 of its 2 resources failed: exec#job",
    ))));
    child.id = id("apply#web.yaml");
    let counts = Counts { total: 3, unchanged: 1, failed: 2, ..Counts::default() };
    let events = [
        started(false, None),
        finished(transaction(failed("boom"))),
        finished(child),
        Event::SessionFinished(Box::new(summary(counts))),
    ];
    let expected = "\
web1: /etc/ccm/site.yaml
  x exec     job                        failed: boom
      nothing was changed
  x apply    web.yaml                   failed: 1 of its 2 resources failed: exec#job
      nothing was changed
  failed: exec#job
3 resources in 2.5s: 1 unchanged; 2 failed (run 01a200cb-277e)
";
    assert_eq!(text(Verbosity::Normal, &events), expected);
}

#[test]
fn the_summary_counts_what_no_event_shows() {
    let run = |noop, counts| Event::SessionFinished(Box::new(RunSummary { noop, ..summary(counts) }));
    for (noop, counts, expected) in [
        (true, Counts { total: 2, changed: 1, refreshed: 1, ..Counts::default() }, "would change 2"),
        (
            false,
            Counts { total: 4, changed: 1, pending_changes: 2, pending_refreshes: 1, ..Counts::default() },
            "changed 1; would change 3",
        ),
        (
            false,
            Counts { total: 3, failed: 1, unmet: 1, skipped: 1, ..Counts::default() },
            "1 failed, 1 dependency failed, 1 skipped",
        ),
    ] {
        let total = counts.total;
        let shown = text(Verbosity::Normal, &[run(noop, counts)]);
        assert_eq!(shown, format!("{total} resources in 2.5s: {expected}\n"));
    }
    assert_eq!(text(Verbosity::Normal, &[run(false, Counts::default())]), "0 resources in 2.5s\n");
}

#[test]
fn changes_are_green_failures_red_and_the_rest_dim() {
    let shown = |transaction| raw(of(Verbosity::Verbose), &[finished(transaction)]);
    assert_eq!(
        shown(transaction(Outcome::Changed)),
        "  \x1b[32m~\x1b[0m \x1b[2mexec\x1b[0m     job                        \x1b[32mchanged\x1b[0m\n"
    );
    assert!(shown(transaction(failed("boom"))).starts_with("  \x1b[1m\x1b[31mx\x1b[0m "));
    assert_eq!(
        shown(transaction(Outcome::Unchanged)),
        "  \x1b[2m \x1b[0m \x1b[2mexec\x1b[0m     job                        \x1b[2munchanged\x1b[0m\n"
    );
    let counts =
        |failed| Event::SessionFinished(Box::new(summary(Counts { total: 1, failed, ..Counts::default() })));
    assert_eq!(
        raw(of(Verbosity::Normal), &[counts(1)]),
        "\x1b[1m\x1b[31m1 resource in 2.5s: 1 failed\x1b[0m\n"
    );
    assert!(!raw(of(Verbosity::Normal), &[counts(0)]).contains('\x1b'));
}

#[test]
fn lines_are_cut_to_the_width_of_the_terminal() {
    let lines = on_screen(80, example());
    let expected = "\x20 + file     /etc/syst…/hello.service   would create: 0644 root:root, 214 bytes
  ~ file     /etc/hello/hello.ini       would change
      mode 0600 → 0640, content (+2 −1)
  ! exec     checkout                   would run: git checkout --force v1.1
      because: `unless` exited with 1
  ~ package  nginx                      would upgrade: 1.22.1-9 → 1.24.0-2
  > service  hello                      would restart
      exec#checkout would change
";
    assert_eq!(lines, expected);
}

#[test]
fn verbs_stand_in_one_column() {
    let long = id("file#/etc/systemd/system/multi-user.target.wants/hello.service");
    let named = |id: &ResourceId| Transaction { id: id.clone(), ..transaction(Outcome::Changed) };
    let ids = [id("exec#a"), long, id("package_repository#b"), id("exec#c")];
    for width in [None, Some(60), Some(80), Some(200)] {
        let screen = Screen { width, is_unicode: true };
        let options = TextOptions { screen, ..TextOptions::default() };
        let mut report = TextReport::new(Vec::new(), options).with_resources(&ids);
        for id in &ids {
            report.accept(&finished(named(id)));
        }
        let text = String::from_utf8(report.into_inner().expect("a report")).expect("text");
        let text = without_colours(&text);
        let lines = text.lines().filter(|line| width.is_some() || !line.contains("hello.service"));
        let verbs: Vec<usize> =
            lines.map(|line| line[..line.find("changed").expect("a verb")].chars().count()).collect();
        assert!(verbs.windows(2).all(|pair| pair[0] == pair[1]), "{verbs:?}\n{text}");
    }
}

#[test]
fn a_narrow_terminal_has_the_action_below_the_name() {
    let lines = on_screen(20, example());
    let expected = "\x20 + file /etc/…rvice
    would create:
      0644
      root:root, 214
      bytes
  ~ file /etc/…o.ini
    would change:
      mode 0600 →
      0640, content
      (+2 −1)
  ! exec checkout
    would run: git
      checkout
      --force v1.1
      (`unless`
      exited with 1)
  ~ package nginx
    would upgrade:
      1.22.1-9 →
      1.24.0-2
  > service hello
    would restart:
      exec#checkout
      would change
";
    assert_eq!(lines, expected);
}

#[test]
fn a_summary_breaks_between_words() {
    let counts = Counts { total: 4, failed: 1, unmet: 1, skipped: 2, ..Counts::default() };
    let screen = Screen { width: Some(60), is_unicode: true };
    let events = [started(false, None), Event::SessionFinished(Box::new(summary(counts)))];
    let shown = without_colours(&raw(TextOptions { screen, ..TextOptions::default() }, &events));
    assert!(shown.ends_with("1 failed, 1 dependency failed, 2\n  skipped (run 01a200cb-277e)\n"), "{shown}");
}

#[test]
fn long_names_and_commands_stay_readable() {
    for width in [20, 59, 60, 80, 200] {
        let mut long = transaction(Outcome::Changed);
        long.id = ResourceId::new("exec", "日本 é".repeat(500).as_str());
        long.action = Some(Action::new(Verb::Run).of("make x ".repeat(14_000)));
        long.reason = Some(Reason::new("rule", "because"));
        long.triggered_by = vec![id("file#/etc/x")];
        let shown = on_screen(width, vec![long]);
        assert!(shown.contains("ran: make"), "{shown}");
        assert!(shown.contains("changed)") || shown.contains("because: file#/etc/x changed\n"), "{shown}");
        assert!(shown.lines().count() <= 13, "{width}: {shown}");
        for line in shown.lines() {
            assert!(crate::screen::columns(line) <= width, "{width}: {line}");
        }
    }
}
