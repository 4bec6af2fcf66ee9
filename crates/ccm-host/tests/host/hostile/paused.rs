//! Commands under a paused clock, so that a deadline comes when the command is ready for it.

use std::cell::RefCell;
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::mpsc;
use std::time::Duration;

use ccm_host::{Cancellation, Command, Finished, Runner as _, SystemRunner};
use ccm_testkit::isolated;
use tokio::sync::Notify;
use tokio::task::yield_now;

use crate::hostile::shell;

/// Time that a command has to obey TERM.
pub(crate) const GRACE: Duration = Duration::from_secs(2);
pub(crate) const DEADLINE: Duration = Duration::from_millis(200);

/// Runs the body of the test of that name alone in a process, under a clock that only [`pass`] moves.
pub(crate) fn alone_paused(body: impl AsyncFnOnce(&SystemRunner)) {
    isolated(|| {
        let runner = SystemRunner::new().expect("a runner");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        runtime.expect("a runtime").block_on(async {
            let (_until_the_end, end) = mpsc::channel::<()>();
            // Without a blocking task, an idle runtime moves the clock on to its next timer.
            tokio::task::spawn_blocking(move || end.recv());
            body(&runner).await;
        });
    });
}

/// Advances the clock, and lets the tasks that waited for it go on.
pub(crate) async fn pass(time: Duration) {
    tokio::time::advance(time).await;
    for _ in 0..10 {
        yield_now().await;
    }
}

/// Returns a shell command with a deadline.
pub(crate) fn with_deadline(text: &str) -> Command {
    Command { timeout: Some(DEADLINE), ..shell(text) }
}

/// Lines that a running command has printed.
#[derive(Default)]
pub(crate) struct Printed {
    lines: RefCell<HashSet<String>>,
    news: Notify,
}

impl Printed {
    fn add(&self, line: &str) {
        self.lines.borrow_mut().insert(line.to_owned());
        self.news.notify_one();
    }

    /// Waits for a line.
    pub(crate) async fn line(&self, line: &str) {
        while !self.lines.borrow().contains(line) {
            self.news.notified().await;
        }
    }
}

/// Runs a command to its end, and beside it a future that advances the clock.
pub(crate) async fn run_beside(
    runner: &SystemRunner,
    command: &Command,
    beside: impl AsyncFnOnce(&Printed),
) -> Finished {
    let printed = Printed::default();
    let never = Cancellation::never();
    let mut on_line = |_, line: &str| printed.add(line);
    let beside = async {
        beside(&printed).await;
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        biased;
        finished = runner.run(command, &never, &mut on_line) => finished.expect("a command that starts"),
        never = beside => match never {},
    }
}

/// Runs a command to its end. Time passes step by step, each as soon as the command has printed a line; an
/// empty line is not waited for.
pub(crate) async fn run_stepwise(
    runner: &SystemRunner,
    command: &Command,
    steps: &[(&str, Duration)],
) -> Finished {
    let beside = async |printed: &Printed| {
        for (line, time) in steps {
            if !line.is_empty() {
                printed.line(line).await;
            }
            pass(*time).await;
        }
    };
    run_beside(runner, command, beside).await
}

/// Runs a command, whose deadline comes when it prints `begun`.
pub(crate) async fn run_to_deadline(runner: &SystemRunner, text: &str) -> Finished {
    run_stepwise(runner, &with_deadline(text), &[("begun", DEADLINE)]).await
}

/// Runs a command, whose deadline comes when it prints `begun` and the KILL when it prints `asked`.
pub(crate) async fn run_to_kill(runner: &SystemRunner, text: &str) -> Finished {
    run_stepwise(runner, &with_deadline(text), &[("begun", DEADLINE), ("asked", GRACE)]).await
}
