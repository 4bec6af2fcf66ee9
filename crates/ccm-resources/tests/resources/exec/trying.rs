//! Commands that are tried again.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::{CancellationLevel, CancellationSource, Clock, Exit, Finished, Local};
use ccm_model::Outcome;
use ccm_testkit::FakeRunner;
use serde_json::json;

use crate::exec::exec;
use crate::exec::machine::Machine;
use crate::run::{failure, printed};

#[test]
fn a_command_is_tried_until_it_succeeds() {
    let machine = Machine::new();
    machine.runner.answer("fetch", 7);
    machine.runner.answer("fetch", 7);
    machine.runner.answer("fetch", 0);
    let transaction = machine.apply(exec("fetch", &[("tries", "5"), ("try_sleep", "2s")]));
    assert_eq!(transaction.outcome, Outcome::Changed);
    assert_eq!(transaction.notes, ["succeeded on the 3rd of 5 tries"]);
    assert_eq!(machine.runner.lines(), ["fetch"; 3]);
    let waited = machine.clock.monotonic();
    assert!((Duration::from_secs(6)..=Duration::from_millis(7500)).contains(&waited), "{waited:?}");
    let state = transaction.state.unwrap_or_default();
    let missed = "exit code 7 not in allowed returns [0]";
    assert_eq!(
        state["attempts"],
        json!([
            { "attempt": 1, "exitcode": 7, "duration": 0, "error": missed },
            { "attempt": 2, "exitcode": 7, "duration": 0, "error": missed },
            { "attempt": 3, "exitcode": 0, "duration": 0, "error": null },
        ])
    );
    assert_eq!(state["exitcode"], 0);
}

#[test]
fn the_last_try_is_reported() {
    let machine = Machine::new();
    machine.runner.answer_with("fetch", printed(Exit::Code(1), "", "first\n"));
    machine.runner.answer_with("fetch", printed(Exit::Code(2), "", "second\n"));
    let transaction = machine.apply(exec("fetch", &[("tries", "2")]));
    assert_eq!(failure(&transaction).chain, ["exit code 2 not in allowed returns [0]"]);
    assert_eq!(failure(&transaction).output[0].lines, ["second"]);
    assert_eq!(transaction.notes, ["failed on each of 2 tries"]);
}

#[test]
fn every_try_says_what_was_not_as_expected() {
    let machine = Machine::new();
    for stdout in ["one", "two", "three"] {
        machine.runner.answer_with("fetch", printed(Exit::Code(0), stdout, ""));
    }
    let transaction = machine.apply(exec("fetch", &[("tries", "3"), ("expect", "{stdout=three}")]));
    let state = transaction.state.unwrap_or_default();
    let errors: Vec<&str> = (0..2).filter_map(|at| state["attempts"][at]["error"].as_str()).collect();
    let error = "the result of the command differs from `expect`: stdout: expected \"three\", found";
    assert_eq!(errors, [format!("{error} \"one\""), format!("{error} \"two\"")]);
}

#[test]
fn whatever_may_get_better_is_tried_again() {
    let killed = Exit::Signal { number: 9, name: "SIGKILL".to_owned() };
    for (first, tried) in [
        (FakeRunner::finished(Exit::TimedOut { after: Duration::from_secs(1) }), 2),
        (FakeRunner::finished(killed), 2),
        (printed(Exit::Code(0), "no", ""), 2),
        (printed(Exit::Code(3), "ok", ""), 1),
    ] {
        let machine = Machine::new();
        let shown = format!("{first:?}");
        machine.runner.answer_with("x", first);
        machine.runner.answer_with("x", printed(Exit::Code(0), "ok", ""));
        let properties = [("tries", "9"), ("unchanged_returns", "[3]"), ("expect", "{stdout=ok}")];
        let transaction = machine.apply(exec("x", &properties));
        assert!(!matches!(transaction.outcome, Outcome::Failed(_)), "{shown}");
        assert_eq!(machine.runner.ran().len(), tried, "{shown}");
    }
}

#[test]
fn what_is_not_there_is_not_waited_for() {
    let machine = Machine::new();
    machine.runner.without("nosuch");
    let transaction = machine.apply(exec("nosuch", &[("tries", "9")]));
    assert_eq!(failure(&transaction).chain, ["\"nosuch\" not found in PATH"]);
    assert!(!failure(&transaction).changed);
    let answer = printed(Exit::Code(127), "", "/bin/sh: 1: nosuch: not found\n");
    machine.runner.answer_with("/bin/sh -c nosuch", answer);
    let transaction = machine.apply(exec("nosuch", &[("tries", "9"), ("provider", "shell")]));
    assert_eq!(failure(&transaction).chain, ["\"nosuch\" not found in PATH"]);
    assert_eq!(machine.clock.monotonic(), Duration::ZERO);
    assert_eq!(machine.runner.ran().len(), 1);
}

/// Clock that never advances, and that stops the run at a wait.
struct EndingClock {
    source: CancellationSource,
    asked: Cell<u32>,
}

impl Clock for EndingClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH
    }

    fn monotonic(&self) -> Duration {
        Duration::ZERO
    }

    fn wait(&self, _: Duration) -> Local<'_, ()> {
        self.asked.set(self.asked.get() + 1);
        self.source.raise(CancellationLevel::Stop);
        Box::pin(std::future::pending())
    }
}

#[test]
fn the_end_of_the_run_ends_the_pause() {
    let machine = Machine::new();
    machine.runner.answer("x", 1);
    let (source, cancellation) = CancellationSource::new();
    let clock = EndingClock { source, asked: Cell::new(0) };
    let transaction = machine.apply_until(&cancellation, &clock, exec("x", &[("tries", "9")]));
    assert_eq!(clock.asked.get(), 1);
    assert_eq!(machine.runner.ran().len(), 1);
    assert_eq!(failure(&transaction).chain, ["exit code 1 not in allowed returns [0]"]);
}

#[test]
fn a_command_that_was_ended_with_the_run_is_not_tried_again() {
    let machine = Machine::new();
    let cancelled = Finished { duration: Duration::from_secs(3), ..FakeRunner::finished(Exit::Cancelled) };
    machine.runner.answer_with("x", cancelled);
    let transaction = machine.apply(exec("x", &[("tries", "9")]));
    assert_eq!(machine.runner.ran().len(), 1);
    let state = transaction.state.unwrap_or_default();
    assert_eq!(state["attempts"][0]["duration"], 3_000_000_000_u64);
    assert_eq!(state["attempts"][0]["exitcode"], json!(null));
}
