//! Preparing the process of ccm.

use std::fs::File;
use std::os::fd::AsRawFd as _;

use ccm_host::prepare_process;
use ccm_testkit::{isolated, isolated_with_setup};

fn status(name: &str) -> String {
    let status = std::fs::read_to_string("/proc/self/status").expect("our own status");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line of that name");
    line.trim_start_matches(':').trim().to_owned()
}

fn flags(descriptor: i32) -> u32 {
    let info = std::fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).expect("an open file");
    let line = info.lines().find_map(|line| line.strip_prefix("flags:")).expect("its flags");
    u32::from_str_radix(line.trim(), 8).expect("an octal number")
}

#[test]
fn inherited_state_is_removed() {
    let inherited = r#"umask 077; exec 7</dev/null 8>/dev/null; exec env --ignore-signal=CHLD "$0" "$@""#;
    isolated_with_setup(inherited, || {
        const CLOSE_ON_EXEC: u32 = 0o2_000_000;
        const CHILD_SIGNAL: u64 = 1 << 16;
        let ignored = || u64::from_str_radix(&status("SigIgn"), 16).expect("a mask");
        assert_eq!((status("Umask").as_str(), flags(7) & CLOSE_ON_EXEC), ("0077", 0));
        assert_ne!(ignored() & CHILD_SIGNAL, 0);

        prepare_process().expect("a process of our own");
        assert_eq!(status("Umask"), "0022");
        for descriptor in [7, 8] {
            assert_ne!(flags(descriptor) & CLOSE_ON_EXEC, 0, "{descriptor}");
        }
        for descriptor in 0..3 {
            assert_eq!(flags(descriptor) & CLOSE_ON_EXEC, 0, "{descriptor}");
        }
        assert_eq!(ignored() & CHILD_SIGNAL, 0);
    });
}

#[test]
fn closed_standard_streams_are_opened() {
    isolated(|| {
        nix::unistd::close(0).expect("to close standard input");
        prepare_process().expect("a process of our own");
        let opened = std::fs::read_link("/proc/self/fd/0").expect("an open file");
        assert_eq!(opened.to_str(), Some("/dev/null"));
        assert!(File::open("/dev/null").expect("a file").as_raw_fd() > 2);
    });
}

#[cfg(target_env = "gnu")]
#[test]
fn freed_large_block_is_used_again() {
    isolated(|| {
        let page_faults = || {
            let stat = std::fs::read_to_string("/proc/self/stat").expect("our own state");
            let (_, behind_name) = stat.rsplit_once(')').expect("a name");
            let faults = behind_name.split_whitespace().nth(7).expect("the minor faults");
            faults.parse::<usize>().expect("a number")
        };
        let touch = || drop(std::hint::black_box(vec![1_u8; 1 << 20]));
        prepare_process().expect("a process of our own");
        touch();
        let before = page_faults();
        touch();
        let pages = (1 << 20) / 4096;
        assert!(page_faults() - before < pages / 4, "the same pages are used again");
    });
}
