//! Runs that are ended from outside.

use std::time::Duration;

use ccm_host::CancellationLevel;
use ccm_model::{Outcome, SkipCause, StopCause};
use ccm_runtime::{BeginError, Canceller, RunMode, RunOptions};
use ccm_testkit::Scratch;

use crate::{block_on, manifest, manifest_of, outcomes, read, session};

fn timeout() -> StopCause {
    StopCause::Timeout { after: Duration::from_secs(1) }
}

#[test]
fn a_session_runs_again_after_a_run_was_cancelled() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    let input = read(&session, &manifest(&scratch, "x"));
    let manifest = session.load(&input).expect("a manifest without errors");
    block_on(async {
        let options = RunOptions::default();
        options.canceller.raise(CancellationLevel::Kill, timeout());
        let (cancelled, report) = outcomes(&manifest, RunMode::Apply, options).await.expect("a run");
        assert_eq!(cancelled, [Outcome::Skipped { cause: SkipCause::Stopped { by: timeout() } }]);
        assert_eq!(report.summary.stopped, Some(timeout()));
        let (applied, report) =
            outcomes(&manifest, RunMode::Apply, RunOptions::default()).await.expect("a second run");
        assert_eq!((applied, report.summary.stopped), (vec![Outcome::Changed], None));
    });
    assert_eq!(session.history().expect("a history").runs().len(), 2);
}

#[test]
fn a_run_is_cancelled_from_another_thread_while_its_command_runs() {
    let scratch = Scratch::new();
    let session = session(&scratch);
    // The command ends when the run does: nothing ever writes into the pipe.
    let manifest = manifest_of(
        &scratch,
        "    - exec: [{wait: {provider: shell, command: 'mkfifo p && echo ready && read line < p', cwd: DIR}}]\n"
            .replace("DIR", &scratch.at(""))
            .as_str(),
    );
    let input = read(&session, &manifest);
    let manifest = session.load(&input).expect("a manifest without errors");
    let canceller = Canceller::new();
    let options = RunOptions { canceller: canceller.clone(), ..RunOptions::default() };
    let watched = scratch.path().join("p");
    let other = std::thread::spawn(move || {
        ccm_testkit::wait_until("the command runs", || watched.exists());
        canceller.raise(CancellationLevel::Stop, timeout());
    });
    let (_, report) = block_on(outcomes(&manifest, RunMode::Apply, options)).expect("a run");
    assert_eq!(report.summary.stopped, Some(timeout()));
    other.join().expect("the other thread");
}

#[test]
fn the_wait_for_another_run_can_be_cancelled() {
    let scratch = Scratch::new();
    let (first, second) = (session(&scratch), session(&scratch));
    let path = manifest(&scratch, "x");
    let input = read(&first, &path);
    let manifest = first.load(&input).expect("a manifest without errors");
    block_on(async {
        let _holder = manifest.begin(RunMode::Apply, RunOptions::default()).await.expect("a run");
        let options = RunOptions::default();
        options.canceller.raise(CancellationLevel::Stop, timeout());
        let input = read(&second, &path);
        let manifest = second.load(&input).expect("a manifest without errors");
        let begun = manifest.begin(RunMode::Apply, options).await;
        assert!(
            matches!(&begun, Err(BeginError::Cancelled(cause)) if *cause == timeout()),
            "{:?}",
            begun.err()
        );
    });
}
