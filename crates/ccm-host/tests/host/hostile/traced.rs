//! Commands that another process traces.

use std::io::Read as _;
use std::process::{Child, Command as Other, Stdio};
use std::time::Duration;

use ccm_host::{Cancellation, Exit, Finished, Runner as _, StartError, SystemRunner};
use ccm_testkit::{Scratch, needs_root};
use nix::libc::{PTRACE_SEIZE, SYS_ptrace};
use tokio::task::yield_now;

use crate::hostile::paused::{alone_paused, pass};
use crate::hostile::{has_ended, run, shell};

const STEP: Duration = Duration::from_millis(10);

/// Starts a tracer of a process, which never asks for its end.
fn trace(pid: &str) -> Child {
    let text = format!(
        "$| = 1; syscall({SYS_ptrace}, {PTRACE_SEIZE}, {pid}, 0, 0) == 0 or die $!; print 1; sleep 999"
    );
    let mut tracer =
        Other::new("/usr/bin/perl").args(["-e", &text]).stdout(Stdio::piped()).spawn().expect("perl");
    let begun = tracer.stdout.as_mut().expect("its output").read_exact(&mut [0]);
    begun.expect("a tracer");
    tracer
}

/// Runs a command that ends while it is traced. `released` tells whether its tracer ends then.
async fn run_traced(runner: &SystemRunner, released: bool) -> Result<Finished, StartError> {
    let scratch = Scratch::new();
    let (go, pid) = (scratch.at("go"), scratch.at("pid"));
    // A child's end would be a signal, which stops a traced process.
    let command = shell(&format!("echo $$ > {pid}; echo begun; until test -e {go}; do :; done; exit 3"));
    let (begun, never) = (tokio::sync::Notify::new(), Cancellation::never());
    let mut on_line = |_, _: &str| begun.notify_one();
    let mut tracer = None;
    let beside = async {
        begun.notified().await;
        let pid = scratch.read("pid").expect("its number");
        let tracer = tracer.insert(trace(pid.trim()));
        scratch.write("go", "");
        while !has_ended(pid.trim()) {
            yield_now().await;
        }
        // The runner sees the end, but gets no exit code yet.
        for _ in 0..20 {
            pass(STEP).await;
        }
        if released {
            tracer.kill().expect("to end it");
            tracer.wait().expect("its end");
        }
        loop {
            pass(STEP).await;
        }
    };
    let finished = tokio::select! {
        biased;
        finished = runner.run(&command, &never, &mut on_line) => finished,
        () = beside => unreachable!("time goes on"),
    };
    if let Some(mut tracer) = tracer {
        tracer.kill().expect("to end it");
        tracer.wait().expect("its end");
    }
    finished
}

#[test]
fn exit_code_is_waited_for_until_the_tracer_ends() {
    alone_paused(async |runner| {
        if needs_root() {
            assert_eq!(run_traced(runner, true).await.expect("a result").exit, Exit::Code(3));
        }
    });
}

#[test]
fn command_without_an_exit_code_may_have_changed_something() {
    alone_paused(async |runner| {
        if needs_root() {
            let error = run_traced(runner, false).await.expect_err("no exit code");
            assert!(matches!(error, StartError::StatusLost { .. }), "{error}");
            assert!(error.failure().changed);
            // The next command reaps what the tracer kept.
            run(runner, &shell("true")).await;
        }
    });
}
