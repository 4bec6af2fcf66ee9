//! What is said of an exec that is sensitive, or that has to do with secrets.

use ccm_host::Exit;
use ccm_model::{Action, Outcome, Verb};

use crate::exec::exec;
use crate::exec::machine::Machine;
use crate::run::{failure, printed};

#[test]
fn nothing_that_a_sensitive_exec_prints_is_shown() {
    for (sensitive, exit) in [
        ("true", Exit::Code(3)),
        ("true", Exit::Code(127)),
        ("true", Exit::Signal { number: 9, name: "SIGKILL".to_owned() }),
        ("true", Exit::Cancelled),
        ("false", Exit::Code(3)),
    ] {
        let machine = Machine::new();
        let output = printed(exit.clone(), "out\n", "/bin/sh: 1: printed: not found\n");
        machine.runner.answer_with("/bin/sh -c run", output);
        let properties =
            [("command", "run"), ("provider", "shell"), ("logoutput", "true"), ("sensitive", sensitive)];
        let transaction = machine.apply(exec("x", &properties));
        let shown = format!("{:?}", transaction.outcome);
        assert_eq!(shown.contains("printed"), sensitive == "false", "{exit:?}: {shown}");
        assert_eq!(failure(&transaction).output.is_empty(), sensitive == "true");
    }
}

#[test]
fn the_action_of_a_sensitive_exec_hides_its_command() {
    for (sensitive, shown) in [("true", "[redacted]"), ("false", "false hushhush")] {
        let machine = Machine::new();
        machine.runner.answer("false hushhush", 1);
        let properties = [("command", "false hushhush"), ("sensitive", sensitive)];
        // A failure shows the command that was tried.
        let transaction = machine.apply(exec("x", &properties));
        assert!(failure(&transaction).changed);
        let expected = Action::new(Verb::Run).of(shown);
        assert_eq!(transaction.action, Some(expected));
    }
}

#[test]
fn what_a_guard_of_a_sensitive_exec_prints_is_not_shown_either() {
    let machine = Machine::new();
    let killed = Exit::Signal { number: 9, name: "SIGKILL".to_owned() };
    machine.runner.answer_with("ask", printed(killed, "printed\n", ""));
    let transaction = machine.apply(exec("x", &[("onlyif", "ask"), ("sensitive", "true")]));
    assert!(failure(&transaction).output.is_empty());
}

#[test]
fn a_guard_of_a_sensitive_exec_is_not_shown() {
    let machine = Machine::new();
    machine.runner.answer("ask hushhush", 1);
    machine.runner.without("hushhush");
    for (property, guard, expected) in [
        ("onlyif", "ask hushhush", "`onlyif` `[redacted]` exited with 1"),
        ("unless", "true hushhush", "`unless` `[redacted]` exited with 0"),
        ("unless", "hushhush", "a program of exec#x was not found in PATH"),
    ] {
        let transaction = machine.apply(exec("x", &[(property, guard), ("sensitive", "true")]));
        let mut shown = format!("{:?} {:?}", transaction.reason, transaction.properties);
        if let Outcome::Failed(failure) = &transaction.outcome {
            shown += &format!("{:?} {:?}", failure.chain, failure.hints);
        }
        assert!(shown.contains(expected) && !shown.contains("hushhush"), "{shown}");
    }
}

#[test]
fn captured_value_that_is_too_short_is_a_warning() {
    for (sensitive, printed_text, warnings) in [
        ("true", "ab\n", &["`pin` of `capture` is sensitive, but too short to be redacted everywhere"][..]),
        ("true", "abcd\n", &[]),
        ("true", "\n", &[]),
        ("false", "ab\n", &[]),
    ] {
        let machine = Machine::new();
        machine.runner.answer_with("run", printed(Exit::Code(0), printed_text, ""));
        let properties = [("command", "run"), ("sensitive", sensitive), ("capture", "{pin=stdout.raw}")];
        assert_eq!(machine.apply(exec("x", &properties)).warnings, warnings, "{sensitive} {printed_text:?}");
    }
}

#[test]
fn a_sensitive_exec_that_does_not_start_keeps_its_words() {
    let machine = Machine::new();
    machine.runner.without("word=value");
    let properties = [("command", "'word=value' run"), ("sensitive", "true")];
    let applied = machine.apply(exec("x", &properties));
    assert_eq!(
        failure(&applied).chain,
        ["a program of exec#x was not found in PATH; its name is not shown, because the exec is `sensitive`"]
    );
    let noop = machine.noop(exec("x", &properties));
    assert!(matches!(noop.outcome, Outcome::WouldChange { .. }));
    assert!(!format!("{:?}", noop.warnings).contains("word=value"), "{:?}", noop.warnings);
}

#[test]
fn what_is_secret_is_in_no_event() {
    let machine = Machine::new();
    machine.secrets.add(["s3cret-word"]);
    machine.runner.answer("false s3cret-word", 1);
    let transaction = machine.apply(exec(
        "x s3cret-word",
        &[("command", "run s3cret-word"), ("onlyif", "false s3cret-word"), ("stdin", "s3cret-word")],
    ));
    assert_eq!(transaction.reason_text(), Some("`onlyif` `false [redacted]` exited with 1"));
    assert_eq!(&*transaction.id.name, "x [redacted]");
    assert!(!format!("{transaction:?}").contains("s3cret"), "{transaction:?}");
}
