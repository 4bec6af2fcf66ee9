//! Health checks against the system calls and the shells that they stand for.

use std::fs::read_to_string;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::apply::{BenchManifest, Listener};
use crate::measure::{per, ratio_within, time, times};

/// Number of rules of each kind, and of commands.
const EACH: u32 = 50;
const COMMANDS: u32 = 100;
const ROUNDS: usize = 51;

/// Tables of the kernel with the sockets of the machine.
const TABLES: [&str; 4] = ["/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"];

/// Measures rules, commands, and a manifest without either.
pub(crate) fn run(scratch: &Path) {
    rules(scratch);
    commands();
    no_checks();
}

/// Compares file and port rules with a program that stats the files, and reads the tables of the ports once.
fn rules(scratch: &Path) {
    let mut rules = "      file:\n".to_owned();
    for number in 0..EACH {
        let path = scratch.join(number.to_string());
        std::fs::write(&path, "x").expect("a file");
        rules += &format!("        {}: {{exists: true, size: 1}}\n", path.display());
    }
    rules += "      port:\n";
    // Nothing listens there.
    for port in 1..=EACH {
        rules += &format!("        tcp:{}: {{listening: false}}\n", 20_000 + port);
    }
    let loaded = BenchManifest::new(&format!("ccm:\n  checks:\n  - goss_rules:\n{rules}  resources: []\n"));
    let bare = || {
        for number in 0..EACH {
            let found = std::fs::symlink_metadata(scratch.join(number.to_string())).expect("a file");
            assert_eq!(found.size(), 1);
        }
        let tables = TABLES.map(|table| read_to_string(table).unwrap_or_default());
        for port in 1..=EACH {
            let local = format!(":{:04X} ", 20_000 + port);
            assert!(!tables.iter().any(|table| table.lines().any(|line| line.contains(&local))));
        }
    };
    let (ours, theirs) = times(ROUNDS, || loaded.apply(Listener::None), bare);
    ratio_within(&format!("checks: {} file and port rules", 2 * EACH), ours, theirs, 2.0);
    per("  each", ours, 2 * EACH);
}

/// Compares commands with a shell for each.
fn commands() {
    let checks: String =
        (0..COMMANDS).map(|_| "  - {command: \"true\", provider: shell}\n").collect::<Vec<_>>().concat();
    let loaded = BenchManifest::new(&format!("ccm:\n  checks:\n{checks}  resources: []\n"));
    let bare = || {
        for _ in 0..COMMANDS {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", "true"]).stdin(Stdio::null());
            let output = shell.output().expect("a shell");
            assert!(output.status.success());
        }
    };
    let (ours, theirs) = times(9, || loaded.apply(Listener::None), bare);
    ratio_within(&format!("checks: {COMMANDS} commands"), ours, theirs, 1.2);
    per("  each", ours, COMMANDS);
}

/// Measures a manifest without checks, which pays nothing for them.
fn no_checks() {
    let loaded = BenchManifest::new("ccm: {resources: []}\n");
    per("checks: none, the run of an empty manifest", time(ROUNDS, || loaded.apply(Listener::None)), 1);
}
