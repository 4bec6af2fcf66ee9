//! Limits and mounts, seen from inside.

use ccm_host::{ContainerNetwork, ContainerSettings, Exit, ReachedLimit, Volume};
use ccm_testkit::{Dockerd, Scratch};

use crate::real::{BOTH, Run, Task, printed, settings};

#[test]
fn a_read_only_root_can_be_written_in_memory_only() {
    let Some(daemon) = Dockerd::shared() else { return };
    let tmpfs = vec![("/tmp".to_owned(), "rw,noexec,nosuid,size=64k".to_owned())];
    for reuse in BOTH {
        let settings = ContainerSettings {
            reuse,
            read_only_root: true,
            tmpfs: tmpfs.clone(),
            ..settings(&daemon.socket())
        };
        let text = "touch /etc/x || echo etc; echo a > /tmp/x && cat /tmp/x; \
                    cp /bin/busybox /tmp/busybox || echo full; chmod 755 /tmp/x; /tmp/x || echo noexec";
        assert_eq!(printed(&settings, text), "etc\na\nfull\nnoexec", "{reuse:?}");
    }
    assert_eq!(printed(&settings(&daemon.socket()), "touch /etc/x && echo written"), "written");
}

#[test]
fn volumes_are_visible_and_those_for_reading_stay() {
    let Some(daemon) = Dockerd::shared() else { return };
    let scratch = Scratch::new();
    for (name, content) in [("read/file", "from the host\n"), ("write/file", "")] {
        scratch.write(name, content);
    }
    let volume = |source: &str, target: &str, read_only| Volume {
        source: scratch.at(source),
        target: target.to_owned(),
        read_only,
    };
    let volumes = vec![volume("read", "/read", true), volume("write", "/write", false)];
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, volumes: volumes.clone(), ..settings(&daemon.socket()) };
        let text = "cat /read/file; touch /read/new || echo refused; echo inside > /write/file";
        assert_eq!(printed(&settings, text), "from the host\nrefused", "{reuse:?}");
        assert_eq!(scratch.read("write/file").as_deref(), Some("inside\n"));
        assert!(!scratch.has("read/new"));
        scratch.write("write/file", "");
    }
    let as_user = ContainerSettings { volumes, user: Some("1000".to_owned()), ..settings(&daemon.socket()) };
    let refused = printed(&as_user, "touch /write/new || echo refused");
    assert_eq!(refused, "refused", "the directory belongs to root");
}

#[test]
fn the_end_of_memory_is_told_as_such() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings = ContainerSettings { reuse, memory: Some(16 << 20), ..settings(&daemon.socket()) };
        let finished =
            Run::new().one(&settings, &["tail", "/dev/zero"], Task::limited(60)).expect("a result");
        assert_eq!(finished.exit, Exit::Signal { number: 9, name: "SIGKILL".to_owned() }, "{reuse:?}");
        assert_eq!(finished.reached, [ReachedLimit::ContainerMemory], "{reuse:?}");
    }
}

#[test]
fn processes_and_processor_time_are_limited() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        let settings =
            ContainerSettings { reuse, pids: Some(8), cpu_quota: Some(50_000), ..settings(&daemon.socket()) };
        // Where the groups of version 1 are mounted, and in version 2.
        let read = |one: &str, two: &str| {
            printed(&settings, &format!("cat /sys/fs/cgroup/{one} 2>/dev/null || cat /sys/fs/cgroup/{two}"))
        };
        assert_eq!(read("pids/pids.max", "pids.max"), "8", "{reuse:?}");
        let quota = read("cpu/cpu.cfs_quota_us", "cpu.max");
        assert!(["50000", "50000 100000"].contains(&&*quota), "{quota}");
        let forks = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 5 & done; echo unlimited";
        assert_eq!(printed(&settings, forks), "", "{reuse:?}: a fork fails, and with it the shell");
    }
}

#[test]
fn privileges_are_those_of_the_settings() {
    let Some(daemon) = Dockerd::shared() else { return };
    let status = |settings: &ContainerSettings, field: &str| {
        printed(settings, &format!("grep ^{field}: /proc/self/status"))
            .split_whitespace()
            .nth(1)
            .map(str::to_owned)
    };
    for reuse in BOTH {
        let plain = ContainerSettings { reuse, ..settings(&daemon.socket()) };
        assert_ne!(status(&plain, "CapEff").as_deref(), Some("0000000000000000"));
        assert_eq!(status(&plain, "NoNewPrivs").as_deref(), Some("0"));
        let none =
            ContainerSettings { cap_drop: vec!["ALL".to_owned()], no_new_privileges: true, ..plain.clone() };
        assert_eq!(status(&none, "CapEff").as_deref(), Some("0000000000000000"), "{reuse:?}");
        assert_eq!(status(&none, "NoNewPrivs").as_deref(), Some("1"), "{reuse:?}");
        let one = ContainerSettings { cap_add: vec!["CHOWN".to_owned()], ..none };
        assert_eq!(status(&one, "CapEff").as_deref(), Some("0000000000000001"), "{reuse:?}");
    }
}

#[test]
fn networks_are_those_of_the_settings() {
    let Some(daemon) = Dockerd::shared() else { return };
    for reuse in BOTH {
        for (network, expected) in [
            (ContainerNetwork::None, &["lo"][..]),
            (ContainerNetwork::Bridge, &["eth0", "lo"]),
            // The network of the daemon, which has one of its own.
            (ContainerNetwork::Host, &["docker0", "lo"]),
        ] {
            let settings = ContainerSettings { reuse, network, ..settings(&daemon.socket()) };
            let found = printed(
                &settings,
                "ls /sys/class/net | grep -v -e tunl -e sit -e gre -e ip6 -e erspan -e ip_vti -e veth; true",
            );
            let mut found: Vec<&str> = found.lines().collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{reuse:?} {network:?}");
        }
    }
}
