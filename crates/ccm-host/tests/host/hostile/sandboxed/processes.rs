//! Processes outside of the sandbox, and the end of those inside.

use ccm_host::{Command, Exit, LocalSystem as _, Sandbox, SandboxLayer};
use ccm_testkit::{needs_root, skipped, wait_until};

use super::layers::{in_every_way, landlock_version};
use super::{Place, fail, launched, succeed};
use crate::hostile::launched::{own_sleep, running};
use crate::hostile::paused::DEADLINE;
use crate::hostile::run;

/// Returns `true` if this kernel can keep signals of a sandbox inside.
fn keeps_signals() -> bool {
    let version = landlock_version();
    if version < 6 {
        skipped(&format!("Landlock {version} of this kernel does not keep signals inside"));
    }
    version >= 6
}

#[test]
fn processes_outside_can_not_be_reached() {
    launched(async |runner| {
        let place = Place::new();
        let us = std::process::id();
        for (what, call) in [
            ("kill", format!("kill(0, {us}) or die $!")),
            ("kill", format!("kill('TERM', {us}) or die $!")),
            ("ptrace", format!("syscall(101, 16, {us}, 0, 0) == -1 and die $!")),
            (
                "process_vm_readv",
                format!("my $b = ' ' x 32; syscall(310, {us}, $b, 1, $b, 1, 0) == -1 and die $!"),
            ),
            ("pidfd_getfd", "syscall(438, 0, 0, 0) == -1 and die $!".to_owned()),
            // The value is the usual one, so that a success would have no effect.
            ("prlimit64", format!("my $n = pack('QQ', 0, 0); syscall(302, {us}, 4, $n, 0) == -1 and die $!")),
            ("bpf", "syscall(321, 0, 0, 0) == -1 and die $!".to_owned()),
            ("keyctl", "syscall(250, 0, -4, 1) == -1 and die $!".to_owned()),
            (
                "add_key",
                "my ($t, $n, $k) = ('user', 'x', 'y'); syscall(248, $t, $n, $k, 1, -4) == -1 and die $!"
                    .to_owned(),
            ),
            (
                "perf_event_open",
                "my $b = ' ' x 200; syscall(298, $b, 0, -1, -1, 0) == -1 and die $!".to_owned(),
            ),
        ] {
            let is_enforced = match what {
                "kill" => keeps_signals(),
                _ => cfg!(target_arch = "x86_64"),
            };
            if is_enforced {
                let said = fail(runner, &place.perl(&call)).await;
                assert!(said.contains("not permitted") || said.contains("No such process"), "{what}: {said}");
            }
        }
        // Own processes may be signalled.
        succeed(runner, &place.shell("sleep 9 & kill $!; wait $! ; [ $? -gt 128 ]")).await;
    });
}

#[test]
fn only_own_processes_can_be_scheduled() {
    in_every_way(async |runner, _| {
        let place = Place::new();
        let us = std::process::id();
        // The values are the present ones, so that a success would have no effect.
        for call in [
            "setpriority(0, PID, getpriority(0, PID)) or die $!",
            "setpriority(1, getpgrp(PID), getpriority(0, PID)) or die $!",
            "setpriority(2, $<, 0) or die $!",
            "my $m = \"\\xff\" x 128; syscall(203, PID, 128, $m) == -1 and die $!",
            "my $p = pack('l', 0); syscall(144, PID, 0, $p) == -1 and die $!",
            "my $p = pack('l', 0); syscall(142, PID, $p) == -1 and die $!",
            "my $a = pack('LLQlLQQQ', 48, 0, 0, 0, 0, 0, 0, 0); syscall(314, PID, $a, 0) == -1 and die $!",
            "syscall(251, 1, PID, 0x4004) == -1 and die $!",
            "syscall(251, 3, $<, 0x4004) == -1 and die $!",
        ] {
            if cfg!(target_arch = "x86_64") || call.starts_with("setpriority") {
                let said = fail(runner, &place.perl(&call.replace("PID", &us.to_string()))).await;
                assert!(said.contains("not permitted"), "{call}: {said}");
            }
        }
        let own = "nice -n 1 true && taskset -c $(taskset -cp $$ | sed 's/.*: //') true && ionice -c 2 -n 7 true && \
                   chrt -b 0 true";
        succeed(runner, &place.shell(own)).await;
    });
}

#[test]
fn signal_to_all_processes_stays_inside() {
    launched(async |runner| {
        if !keeps_signals() {
            return;
        }
        let place = Place::new();
        let mut stopped = std::process::Command::new("sleep").arg("77").spawn().expect("a child");
        let pid = nix::unistd::Pid::from_raw(i32::try_from(stopped.id()).expect("a process number"));
        nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGSTOP).expect("to stop it");
        let is_stopped = || {
            let row = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("its row");
            row.contains(") T ")
        };
        wait_until("it is stopped", is_stopped);
        // The call succeeds even if it reaches no process.
        succeed(runner, &place.perl("kill('CONT', -1) or die $!")).await;
        let stays_stopped = is_stopped();
        stopped.kill().expect("to end it");
        stopped.wait().expect("its end");
        assert!(stays_stopped, "it was woken");
    });
}

#[test]
fn shared_memory_is_private() {
    launched(async |runner| {
        let place = Place::new();
        let made = std::process::Command::new("ipcmk").args(["-M", "64"]).output().expect("ipcmk");
        let id =
            String::from_utf8_lossy(&made.stdout).trim().rsplit(' ').next().unwrap_or_default().to_owned();
        let listed = succeed(runner, &place.shell("ipcs -m | grep -c '^0x' || true")).await;
        let removed = std::process::Command::new("ipcrm").args(["-m", &id]).status().expect("ipcrm");
        assert!(removed.success());
        assert_eq!(listed, "0\n");
    });
}

#[test]
fn shared_memory_outside_can_not_be_reached_by_number() {
    in_every_way(async |runner, off| {
        if !cfg!(target_arch = "x86_64") {
            return skipped("system calls are only known for x86_64");
        }
        let place = Place::new();
        let made = std::process::Command::new("ipcmk").args(["-M", "64"]).output().expect("ipcmk");
        let id =
            String::from_utf8_lossy(&made.stdout).trim().rsplit(' ').next().unwrap_or_default().to_owned();
        // Attached, looked at, removed.
        let calls = [format!("30, {id}, 0, 010000"), format!("31, {id}, 2, $b"), format!("31, {id}, 0, 0")];
        for call in calls {
            let said =
                fail(runner, &place.perl(&format!("my $b = ' ' x 200; syscall({call}) == -1 and die $!")))
                    .await;
            assert!(
                said.contains("not permitted") || !off.contains(&SandboxLayer::Namespaces),
                "{call}: {said}"
            );
        }
        let removed = std::process::Command::new("ipcrm").args(["-m", &id]).status().expect("ipcrm");
        assert!(removed.success(), "it was removed from inside");
        // Semaphores and queues of others.
        for call in
            ["64, 0, 0, 0", "65, 0, $b, 1", "66, 0, 0, 0", "69, 0, $b, 1, 0", "71, 0, 0, 0", "241, $b"]
        {
            if off.contains(&SandboxLayer::Namespaces) {
                let said = fail(
                    runner,
                    &place.perl(&format!("my $b = ' ' x 200; syscall({call}) == -1 and die $!")),
                )
                .await;
                assert!(said.contains("not permitted"), "{call}: {said}");
            }
        }
    });
}

#[test]
fn no_open_file_is_inherited() {
    launched(async |runner| {
        let place = Place::new();
        assert_eq!(succeed(runner, &place.shell("exec ls /proc/self/fd")).await, "0\n1\n2\n3\n");
    });
}

#[test]
fn deadline_ends_all_processes_of_a_sandbox() {
    launched(async |runner| {
        let place = Place::new();
        let sleep = own_sleep();
        let stubborn = format!("trap '' TERM; (setsid {sleep} &) ; setsid sh -c '{sleep}; :' & {sleep}");
        let command = Command { timeout: Some(DEADLINE), ..place.shell(&stubborn) };
        let finished = run(runner, &command).await;
        assert_eq!(finished.exit, Exit::TimedOut { after: DEADLINE });
        assert!(finished.unkillable.is_empty());
        wait_until("all have ended", || running(&sleep) == 0);
    });
}

#[test]
fn sandbox_works_with_a_user_and_a_umask() {
    launched(async |runner| {
        let place = Place::new();
        if !needs_root() {
            return;
        }
        let identity = runner.account("nobody").expect("nobody").identity;
        let work = place.at("work");
        std::os::unix::fs::chown(&work, Some(identity.uid), Some(identity.gid)).expect("another owner");
        let does = "id -u; echo x > made; stat -c '%u %a' made; cat /proc/self/environ > /dev/null";
        let command = Command { identity: Some(identity.clone()), umask: Some(0o077), ..place.shell(does) };
        assert_eq!(succeed(runner, &command).await, format!("{0}\n{0} 600\n", identity.uid));
        // A strict umask of the caller makes nothing unreachable.
        let former = nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
        let strict =
            Command { identity: Some(identity.clone()), ..place.shell("umask; cat /etc/passwd > copy") };
        assert_eq!(succeed(runner, &strict).await, "0077\n");
        nix::sys::stat::umask(former);
        for attempt in ["cat $OUTSIDE/secret", "cat /etc/shadow", "kill -0 1", "unshare -U true"] {
            fail(runner, &Command { identity: Some(identity.clone()), ..place.shell(attempt) }).await;
        }
    });
}

#[test]
fn sandbox_is_reported_with_its_means() {
    launched(async |runner| {
        let place = Place::new();
        let finished = run(runner, &place.shell("exit 4")).await;
        assert_eq!(finished.exit, Exit::Code(4));
        let enforced = finished.enforced.expect("what was enforced");
        assert!(
            enforced.missing.is_empty() && !enforced.filesystem.is_empty() && !enforced.network.is_empty()
        );
        let open = Sandbox { network: true, ..place.sandbox() };
        let enforced = run(runner, &place.shell_in(open, "true")).await.enforced.expect("what was enforced");
        assert!(enforced.network.is_empty());
        let free = Command { sandbox: None, ..place.shell("true") };
        assert_eq!(run(runner, &free).await.enforced, None);
    });
}

#[test]
fn other_processes_of_the_same_user_do_not_lead_outside() {
    in_every_way(async |runner, off| {
        let place = Place::new();
        if !needs_root() {
            return;
        }
        let nobody = runner.account("nobody").expect("nobody").identity;
        let (uid, gid) = (nobody.uid.to_string(), nobody.gid.to_string());
        let of_nobody = ["--reuid", &uid, "--regid", &gid, "--clear-groups"];
        // Root without a capability, like the command in the sandbox.
        let of_root = ["--bounding-set=-all", "--inh-caps=-all"];
        for (options, identity) in [(&of_nobody[..], Some(nobody)), (&of_root, None)] {
            let mut outside = std::process::Command::new("setpriv");
            let mut outside = outside.args(options).args(["sleep", "88"]).spawn().expect("a process");
            let pid = outside.id();
            let is_ready =
                || std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n");
            wait_until("it has given up its privileges", is_ready);
            for attempt in [
                "cat /proc/PID/root/etc/hosts",
                "cat /proc/PID/environ",
                "readlink /proc/PID/exe",
                "readlink /proc/PID/fd/0",
            ] {
                let attempt = attempt.replace("PID", &pid.to_string());
                let said =
                    fail(runner, &Command { identity: identity.clone(), ..place.shell(&attempt) }).await;
                assert!(!said.contains("not found"), "{attempt} {off:?}: {said}");
            }
            // Users and groups stay what they are outside.
            let command = Command {
                identity: identity.clone(),
                ..place.shell("id -u; id -G; stat -c %u:%g /etc/passwd")
            };
            let free = Command { sandbox: None, cwd: "/".into(), ..command.clone() };
            assert_eq!(succeed(runner, &command).await, succeed(runner, &free).await);
            outside.kill().expect("to end it");
            outside.wait().expect("its end");
        }
    });
}
