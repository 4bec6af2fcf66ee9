//! The runner with real, uncooperative processes.
//!
//! Every test runs alone in its own process, because adopted children, signals and inherited files are state
//! of the whole process.

mod cancellation;
mod deadline;
mod inheritance;
mod input;
mod launched;
mod old_c_library;
mod output;
mod paused;
mod preparation;
mod renewal;
mod sandboxed;
mod secrets;
mod signals;
mod start;
mod survivors;
mod traced;
mod unprivileged;

use ccm_host::{Cancellation, CapturedOutput, Command, Finished, Runner as _, SystemRunner};
use ccm_testkit::{isolated_with_setup, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::Pid;

/// Runs the body of the test of that name alone in a process, with a runner.
fn alone(body: impl AsyncFnOnce(&SystemRunner)) {
    alone_with_setup("", body);
}

/// Runs the body as [`alone`] does, after shell commands that prepare the inherited state.
fn alone_with_setup(setup: &str, body: impl AsyncFnOnce(&SystemRunner)) {
    isolated_with_setup(setup, || {
        let runner = SystemRunner::new().expect("a runner");
        block_on(body(&runner));
    });
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

/// Returns a shell command without a deadline.
fn shell(text: &str) -> Command {
    Command {
        args: vec!["-c".into(), text.into()],
        environment: vec![("PATH".to_owned(), "/usr/sbin:/usr/bin:/sbin:/bin".to_owned())],
        ..Command::new("/bin/sh")
    }
}

/// Returns shell text that waits until the last job executes this program.
fn until_executed(program: &str) -> String {
    format!("until grep -qsx {program} /proc/$!/comm; do sleep 0.01; done")
}

/// Returns shell text that waits until a file exists.
fn until_present(path: &str) -> String {
    format!("until test -e {path}; do sleep 0.01; done")
}

async fn run(runner: &SystemRunner, command: &Command) -> Finished {
    let started = runner.run(command, &Cancellation::never(), &mut |_, _| {}).await;
    started.expect("a command that starts")
}

/// Runs a command, and returns its lines as well.
async fn run_with_lines(runner: &SystemRunner, command: &Command) -> (Finished, Vec<String>) {
    let mut lines = Vec::new();
    let never = Cancellation::never();
    let mut keep = |_, line: &str| lines.push(line.to_owned());
    let finished = runner.run(command, &never, &mut keep).await.expect("a command that starts");
    (finished, lines)
}

fn text(captured: &CapturedOutput) -> String {
    assert!(!captured.truncated());
    String::from_utf8_lossy(&captured.head).into_owned()
}

fn names(finished: &Finished) -> Vec<&str> {
    finished.left_running.iter().map(|process| process.name.as_str()).collect()
}

/// Returns `true` if the process has ended, whether or not it has been reaped.
fn has_ended(pid: impl std::fmt::Display) -> bool {
    let row = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    row.map_or(true, |row| row.contains(") Z "))
}

/// Ends processes that a command left on purpose, and reaps them.
fn end(processes: &[ccm_host::Process]) {
    for process in processes {
        let pid = Pid::from_raw(process.pid);
        kill(pid, Signal::SIGKILL).expect("a process that is left");
        // It becomes a child of this process after the end of its parent.
        wait_until("what was left has ended", || waitpid(pid, None).is_ok());
    }
}
