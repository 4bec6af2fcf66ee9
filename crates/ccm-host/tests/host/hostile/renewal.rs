//! Commands whose processes end all the time and start others before, so that none can be caught.

use std::convert::Infallible;
use std::fs::File;
use std::time::Duration;

use ccm_host::{CancellationLevel, CancellationSource, Command, Exit, Finished, Runner as _, SystemRunner};
use ccm_testkit::{Scratch, needs_root, wait_until};
use nix::fcntl::{Flock, FlockArg};
use nix::sys::wait::waitpid;
use nix::unistd::{Uid, setresuid};

use crate::hostile::paused::{alone_paused, pass};
use crate::hostile::{alone, shell};

/// Program with a child that renews itself as long as the file `go` exists: each process starts the next one,
/// in a session of its own, and ends. All hold the lock of the file `held`. The child prints `begun`.
const RENEWER: &str = r#"
use POSIX ();
$SIG{TERM} = 'IGNORE';
open(my $held, '>', 'held') or die; flock($held, 2) or die;
my $is_first = fork;
die if !defined $is_first;
if (!$is_first) { $| = 1; print "begun\n" }
close(STDOUT); close(STDERR);
if ($is_first) { select(undef, undef, undef, 0.01) while -e 'go'; exit }
while (-e 'go') {
    my $child = fork;
    if (!defined $child) { select(undef, undef, undef, 0.001) }
    elsif ($child) { POSIX::_exit(0) }
    else { POSIX::setsid() }
}
"#;

struct Renewer {
    scratch: Scratch,
}

impl Renewer {
    fn new() -> Self {
        let scratch = Scratch::new();
        scratch.write("go", "");
        scratch.write("renewer", RENEWER);
        Self { scratch }
    }

    fn command(&self) -> Command {
        Command { cwd: self.scratch.path().into(), ..shell("exec perl renewer") }
    }

    fn is_alive(&self) -> bool {
        let held = File::open(self.scratch.path().join("held")).expect("the file");
        Flock::lock(held, FlockArg::LockExclusiveNonblock).is_err()
    }

    /// Ends the processes that are still alive.
    fn end(&self) {
        std::fs::remove_file(self.scratch.path().join("go")).expect("the file");
        wait_until("all have ended", || !self.is_alive());
        while waitpid(None, None).is_ok() {}
    }
}

async fn pass_for_ever() -> Infallible {
    loop {
        pass(Duration::from_secs(1)).await;
    }
}

/// Runs a command, and kills it as soon as it has begun.
async fn run_and_kill(runner: &SystemRunner, command: &Command) -> Finished {
    let (source, cancellation) = CancellationSource::new();
    let mut on_line = |_, _: &str| source.raise(CancellationLevel::Kill);
    runner.run(command, &cancellation, &mut on_line).await.expect("a start")
}

#[test]
fn process_that_renews_itself_is_killed_or_named() {
    alone(async |runner| {
        for _ in 0..10 {
            let renewer = Renewer::new();
            let finished = run_and_kill(runner, &renewer.command()).await;
            assert_eq!(finished.exit, Exit::Cancelled);
            let is_alive = renewer.is_alive();
            renewer.end();
            assert!(!is_alive || !finished.unkillable.is_empty(), "it lives on, and is not named");
        }
    });
}

#[test]
fn process_that_renews_itself_and_can_not_be_killed_is_named() {
    alone_paused(async |runner| {
        if !needs_root() {
            return;
        }
        let renewer = Renewer::new();
        let (source, cancellation) = CancellationSource::new();
        let (root, nobody) = (Uid::from_raw(0), Uid::from_raw(65_534));
        let mut on_line = |_, _: &str| {
            setresuid(nobody, nobody, root).expect("to step down");
            source.raise(CancellationLevel::Kill);
        };
        let command = renewer.command();
        let finished = tokio::select! {
            biased;
            finished = runner.run(&command, &cancellation, &mut on_line) => finished.expect("a start"),
            never = pass_for_ever() => match never {},
        };
        setresuid(root, root, root).expect("to step up again");
        renewer.end();
        // The first process of the command is one of them.
        assert!(finished.unkillable.len() > 1, "{:?}", finished.unkillable);
    });
}
