//! A lot of output.

use ccm_host::{ContainerSettings, Exit};
use ccm_testkit::{Dockerd, isolated, usual_or_long};

use crate::real::{BOTH, Run, Task, settings};

/// Returns the largest amount of memory that this process has had, in KiB.
fn largest_memory() -> u64 {
    let path = std::path::Path::new("/proc/self/status");
    let status = ccm_host::read_at_most(Some(path), 1 << 16).expect("the state of this process");
    let status = String::from_utf8_lossy(&status);
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a line");
    line.trim().trim_end_matches(" kB").parse().expect("a number")
}

#[test]
fn memory_does_not_grow_with_the_output() {
    isolated(|| {
        let mebibytes: u64 = usual_or_long(128, 1024);
        let Some(daemon) = Dockerd::start(&[]) else { return };
        for reuse in BOTH {
            let settings = ContainerSettings { reuse, ..settings(&daemon.socket()) };
            let before = largest_memory();
            let count = format!("count={mebibytes}");
            let words = ["dd", "if=/dev/zero", "bs=1048576", &count];
            let finished = Run::new().one(&settings, &words, Task::limited(600)).expect("a result");
            assert_eq!(finished.exit, Exit::Code(0));
            assert_eq!(finished.stdout.total(), mebibytes << 20);
            let grown = largest_memory() - before;
            assert!(grown < 32 << 10, "{reuse:?}: grown by {grown} KiB");
        }
    });
}
