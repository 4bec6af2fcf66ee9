//! Hosts, parameters, mounts and the name of the machine of a run that is killed at any call.

use std::fs::{read_dir, read_to_string, remove_dir_all, remove_file, write};
use std::path::Path;
use std::process::Command;

use ccm_testkit::{Ccm, Fault, OwnMounts, Scratch, needs_faults, needs_own_mounts, sweep};

use crate::points::selected;

const MANIFEST: &str = "
ccm:
  resources:
    - host:
        - new: {ip: 192.0.2.2, host_aliases: [n]}
        - old: {ensure: absent}
    - sysctl:
        - net.ipv4.ip_forward: {value: 1}
    - hostname:
        - crash-new:
    - mount:
        - /run/crash: {device: tmpfs, fstype: tmpfs, options: noexec}
";

/// Machine with its own files, network and name.
const OWN_MACHINE: OwnMounts<'_> = OwnMounts {
    namespaces: "--net --uts",
    etc: &["passwd", "group", "nsswitch.conf"],
    empty: &["/run"],
    script: "mkdir /run/crash; echo > /etc/own-machine",
};

const HOSTS: &str = "127.0.0.1 localhost\n192.0.2.1 old\n";
const FSTAB: &str = "# static\nUUID=nowhere / ext4 defaults 0 1\n";
const FILES: [(&str, &str, &str); 4] = [
    ("/etc/hosts", HOSTS, "127.0.0.1 localhost\n192.0.2.2\tnew n\n"),
    (
        "/etc/fstab",
        FSTAB,
        "# static\nUUID=nowhere / ext4 defaults 0 1\ntmpfs\t/run/crash\ttmpfs\tnoexec\t0 0\n",
    ),
    ("/etc/hostname", "crash-old\n", "crash-new\n"),
    ("/etc/sysctl.d/90-ccm.conf", "", "net.ipv4.ip_forward = 1\n"),
];

/// Machine in its first state. The process has one at a time.
struct Machine(Scratch);

impl Machine {
    fn new() -> Self {
        assert!(Path::new("/etc/own-machine").exists(), "this is the machine itself");
        let scratch = Scratch::in_memory();
        scratch.write("manifest.yaml", MANIFEST);
        shell("umount /run/crash 2> /dev/null; hostname crash-old && echo 0 > /proc/sys/net/ipv4/ip_forward");
        if Path::new("/etc/sysctl.d").exists() {
            remove_dir_all("/etc/sysctl.d").expect("a directory");
        }
        for entry in read_dir("/etc").expect("a directory").flatten() {
            if entry.file_name().to_string_lossy().contains(".ccm-") {
                remove_file(entry.path()).expect("a file");
            }
        }
        for (path, old, _) in FILES.iter().filter(|(_, old, _)| !old.is_empty()) {
            write(path, old).expect("a file");
        }
        Self(scratch)
    }

    fn apply(&self, options: &[&str]) -> Ccm {
        Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.0).args(&["apply", "manifest.yaml"]).args(options)
    }

    /// Each file is the old one or the new one, or one between two changes of whole lines.
    fn check_consistent() -> Result<(), String> {
        for (path, old, new) in FILES {
            let text = read_to_string(path).unwrap_or_default();
            let is_whole = text.is_empty() && old.is_empty() || text.ends_with('\n');
            let is_known = |line: &str| old.lines().chain(new.lines()).any(|known| known == line);
            let keeps = old.lines().filter(|line| new.contains(line)).all(|line| text.contains(line));
            if !(is_whole && keeps && text.lines().all(is_known)) {
                return Err(format!("{path} is damaged: {text}"));
            }
        }
        Ok(())
    }

    fn check_converges(&self) -> Result<(), String> {
        let second = self.apply(&[]).run();
        if second.code != 0 {
            return Err(format!("the next run failed: {}", second.shown()));
        }
        let third = self.apply(&["--detailed-exitcodes"]).run();
        if third.code != 0 {
            return Err(format!("the run after the next had something to do: {}", third.shown()));
        }
        for (path, _, new) in FILES {
            let text = read_to_string(path).unwrap_or_default();
            if text != new {
                return Err(format!("{path} is not as desired: {text}"));
            }
        }
        let mounts = read_to_string("/proc/self/mounts").unwrap_or_default();
        let mounted = mounts.lines().filter(|line| line.starts_with("tmpfs /run/crash ")).count();
        if mounted == 1 { Ok(()) } else { Err(format!("mounted {mounted} times: {mounts}")) }
    }
}

#[test]
fn files_of_the_system_are_whole_after_a_killed_run_and_completed_by_the_next() {
    if !needs_faults() || !needs_own_mounts() {
        return;
    }
    OWN_MACHINE.isolate(|| {
        let whole = Machine::new();
        let calls = whole.apply(&[]).run_with(Fault::None);
        assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
        Machine::check_consistent().and_then(|()| whole.check_converges()).expect("a run that is not killed");
        for point in selected(&calls.calls, 4) {
            let machine = Machine::new();
            let killed = machine.apply(&[]).run_with(Fault::KillBefore(point));
            sweep();
            let Some(call) = killed.struck else { continue };
            let checked = Machine::check_consistent().and_then(|()| machine.check_converges());
            if let Err(wrong) = checked {
                panic!("killed at {point}, {call}: {wrong}");
            }
        }
    });
}

fn shell(command: &str) {
    let status = Command::new("/bin/sh").args(["-c", command]).status();
    assert!(status.is_ok_and(|status| status.success()), "{command}");
}
