//! Races: paths that change while sandboxes start, and starting sandboxes under the eyes of another.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use ccm_host::{Command, Exit, Sandbox, SandboxLayer, StartError, SystemRunner};
use ccm_testkit::{Scratch, isolated, skipped, wait_until};
use libc::c_int;

use crate::calls::{attempt, open, path};
use crate::ccm;
use crate::combinations::{copy, run, sandbox, this_program};
use crate::ground::Ground;
use ccm_testkit::usual_or_long;

/// Name of the test that watches launchers, and the variable that asks for it.
const WATCHER: &str = "races::watcher";
const WATCH: &str = "CCM_ATTACKS_WATCH";

/// Exchanges two paths again and again while the body runs. Returns how often.
fn exchanging<T>(one: &Path, other: &Path, body: impl FnOnce() -> T) -> (T, usize) {
    const EXCHANGE: c_int = 2;
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let exchanger = scope.spawn(|| {
            let (one, other) = (path(one), path(other));
            let mut count = 0;
            // An even number puts everything back.
            while !is_done.load(Ordering::Relaxed) || count % 2 == 1 {
                let here = libc::AT_FDCWD;
                let exchanged = attempt(libc::SYS_renameat2, &[&here, &one, &here, &other, &EXCHANGE]);
                exchanged.expect("paths to exchange");
                count += 1;
            }
            count
        });
        let result = body();
        is_done.store(true, Ordering::Relaxed);
        (result, exchanger.join().expect("the exchanges"))
    })
}

/// The owner of a directory above a granted path exchanges it with a link to a directory that is closed.
#[test]
fn exchanged_parent_of_a_granted_path_opens_nothing_else() {
    isolated(|| {
        for off in [&[][..], &[SandboxLayer::Namespaces]] {
            let scratch = Scratch::new();
            scratch.write("parent/open/file", "open\n");
            scratch.write("closed/open/file", "closed\n");
            scratch.write("work/own", "own\n");
            let at = |name: &str| scratch.path().join(name);
            std::os::unix::fs::symlink(at("closed"), at("link")).expect("a link");
            let runner = SystemRunner::new().expect("a runner").with_launcher(ccm());
            let runner = off.iter().fold(runner, |runner, layer| runner.without(*layer));
            let sandbox = Sandbox { write: vec![at("parent/open")], ..Sandbox::new(at("work")) };
            // It looks until what it sees by its path could have been exchanged, and then writes.
            let script = "for i in 1 2 3 4 5 6 7 8; do cat parent/open/file closed/open/file; \
                          echo x > closed/open/new; echo x > parent/open/new; done; true";
            let command = Command {
                args: vec!["-c".into(), format!("cd {}; {script}", scratch.path().display()).into()],
                cwd: at("work"),
                environment: vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())],
                sandbox: Some(sandbox),
                ..Command::new("/bin/sh")
            };
            let ((started, printed), exchanges) = exchanging(&at("parent"), &at("link"), || {
                let (mut started, mut printed) = (0, String::new());
                for _ in 0..usual_or_long(40, 2000) {
                    // Through the link, the sandbox is refused.
                    let Ok(finished) = run(&runner, &command) else { continue };
                    started += 1;
                    printed += &String::from_utf8_lossy(&finished.stdout.head);
                }
                (started, printed)
            });
            assert!(!printed.contains("closed"), "{off:?}: {started} of them started: {printed}");
            assert!(!at("closed/open/new").exists(), "{off:?}: a file was made outside");
            assert!(exchanges > 0);
        }
    });
}

/// Looks for launchers and tries to open their program for writing, until it finds the file `stop`.
#[test]
fn watcher() {
    if std::env::var_os(WATCH).is_none() {
        return;
    }
    let mut reached = String::new();
    while !Path::new("stop").exists() {
        let load = fs::read_to_string("/proc/loadavg").expect("the last process");
        let last: c_int =
            load.trim().rsplit(' ').next().and_then(|last| last.parse().ok()).expect("a number");
        for pid in last - 2..last + 20 {
            for part in ["exe", "mem", "root/etc/shadow", "environ", "fd/3"] {
                let Ok(file) = open(format!("/proc/{pid}/{part}"), libc::O_PATH) else { continue };
                let own = c_int::try_from(std::process::id());
                if own != Ok(pid) && open(format!("/proc/self/fd/{file}"), libc::O_WRONLY).is_ok() {
                    reached += &format!("{pid} {part}\n");
                }
                // Descriptors are few.
                attempt(libc::SYS_close, &[&file]).expect("a descriptor");
            }
        }
    }
    fs::write("reached", reached).expect("the result");
}

#[test]
fn launchers_can_not_be_changed_by_another_sandbox() {
    isolated(|| {
        for off in [&[][..], &[SandboxLayer::Namespaces], &[SandboxLayer::Landlock]] {
            let scratch = Scratch::new();
            let launcher = copy(&scratch, &ccm(), "launcher");
            let before = fs::metadata(&launcher).expect("a launcher");
            watch(&launcher, off);
            let after = fs::metadata(&launcher).expect("a launcher");
            assert_eq!((before.mode(), before.mtime_nsec()), (after.mode(), after.mtime_nsec()));
        }
    });
}

/// Starts sandboxes while another one watches.
fn watch(launcher: &Path, off: &[SandboxLayer]) {
    let runner = {
        let runner = SystemRunner::new().expect("a runner").with_launcher(launcher);
        off.iter().fold(runner, |runner, layer| runner.without(*layer))
    };
    let ground = Ground::new(None);
    let program = this_program();
    let sandboxed = |command: Command| Command {
        cwd: ground.target.work(),
        sandbox: Some(sandbox(&program, &ground.target)),
        ..command
    };
    let shell = |text: &str| {
        let args = vec!["-c".into(), text.into()];
        sandboxed(Command { args, ..Command::new("/bin/sh") })
    };
    // It goes on in the background, because only one command runs at a time.
    let start = format!(
        "exec > /dev/null 2>&1 < /dev/null; {WATCH}=yes {} --exact {WATCHER} --nocapture --test-threads=1 &",
        program.display()
    );
    let left = match run(&runner, &shell(&start)) {
        Err(StartError::NotEnforceable { missing }) if !off.is_empty() => {
            skipped(&format!("without {off:?}: {}", missing.join("; ")));
            return;
        }
        started => started.expect("a watcher").left_running,
    };
    assert_eq!(left.len(), 1, "{left:?}");
    for _ in 0..usual_or_long(60, 3000) {
        let finished = run(&runner, &shell("true")).expect("a sandbox");
        assert_eq!(finished.exit, Exit::Code(0));
    }
    let at = |name: &str| -> PathBuf { ground.target.work().join(name) };
    fs::write(at("stop"), "").expect("a file");
    let pid = left[0].pid;
    wait_until("the watcher has ended", || {
        // It became a child of this process.
        attempt(libc::SYS_wait4, &[&pid, &0, &libc::WNOHANG, &0]).is_err()
            || fs::read_to_string(format!("/proc/{pid}/stat")).is_err()
    });
    assert_eq!(fs::read_to_string(at("reached")).expect("the result"), "", "without {off:?}");
}
