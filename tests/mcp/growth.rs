//! Many calls in a row grow neither memory nor files.

use std::path::Path;

use ccm_testkit::usual_or_long;
use serde_json::json;

use crate::client::{LineClient, text};
use crate::{ON_ASK, machine};

/// Returns the number of open files and the resident memory in KiB of a process.
fn size(pid: u32) -> (usize, u64) {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("a process").count();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
    (descriptors, resident.trim().trim_end_matches(" kB").parse().expect("a number"))
}

/// Returns the number of files below a directory.
fn files(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| if entry.path().is_dir() { files(&entry.path()) } else { 1 }).sum()
}

#[test]
fn many_calls_in_a_row_grow_nothing() {
    let Some(machine) = machine(ON_ASK) else { return };
    // `CCM_TEST_LONG` makes them as many as a week brings.
    let calls = usual_or_long(80, 10_000);
    let mut client = LineClient::connect(&machine);
    let call = |client: &mut LineClient, number: usize| {
        let result = client.call("exec", json!({"command": "echo", "args": [number.to_string()]}));
        assert!(
            result["isError"] == false && text(&result) == format!("{number}\n"),
            "call {number}: {result}"
        );
        let refused = client.call("exec", json!({"command": "sudo ls"}));
        assert_eq!(refused["structuredContent"]["status"], "denied", "call {number}: {refused}");
    };
    (0..30).for_each(|number| call(&mut client, number));
    let (lib, private) = (machine.scratch.path().join("lib"), Path::new("/run/ccm"));
    let before = (size(client.pid()), files(&lib), files(private));
    (0..calls).for_each(|number| call(&mut client, number));
    let after = (size(client.pid()), files(&lib), files(private));
    assert_eq!(before.0.0, after.0.0, "open files");
    // A new segment of the audit log begins after 16 MiB.
    let segments = if calls > 1000 { 3 } else { 0 };
    assert!(after.1 <= before.1 + segments, "files: {before:?} {after:?}");
    assert_eq!(before.2, after.2, "private directories");
    let grown = after.0.1.saturating_sub(before.0.1);
    assert!(grown < 2048, "memory grew by {grown} KiB: {before:?} {after:?}");
    assert_eq!(client.close().code, 0);
}
