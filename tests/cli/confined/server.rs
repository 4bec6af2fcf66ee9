//! The process from which the sandboxes of a run begin.

use std::fs;

use ccm_testkit::{Scratch, wait_until};

use super::kernel_can;
use crate::ccm;

/// Returns the processes with an argument, by their numbers, with their parents.
fn servers() -> Vec<(u32, u32)> {
    let entries = fs::read_dir("/proc").expect("the processes").flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let parent = |pid: u32| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let is_server = arguments.split(|byte| *byte == 0).any(|argument| argument == b"start-launchers");
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok().filter(|_| is_server)?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        Some((pid, parent.trim().parse().ok()?))
    };
    numbers.filter_map(parent).collect()
}

#[test]
fn the_server_ends_when_ccm_is_killed() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    fs::create_dir(scratch.path().join("open")).expect("a directory");
    let (open, begun) = (scratch.at("open"), scratch.at("open/begun"));
    let first = format!("{{command: 'true', sandbox: {{write: ['{open}']}}}}");
    let second = format!(
        "{{command: 'echo $$ > {begun}; exec sleep 3600', provider: shell, sandbox: {{write: ['{open}']}}}}"
    );
    let manifest = format!("ccm: {{resources: [{{exec: [{{a: {first}}}, {{b: {second}}}]}}]}}\n");
    scratch.write("manifest.yaml", manifest);
    let running = ccm(&scratch, &["apply", "manifest.yaml"]).start();
    wait_until("the second command has begun", || {
        fs::read_to_string(&begun).is_ok_and(|text| text.ends_with('\n'))
    });
    let command = fs::read_to_string(&begun).expect("its number");
    // The server, and the copy that waits for the next command.
    let of_run = || -> Vec<u32> {
        servers().into_iter().filter(|(_, parent)| *parent == running.pid()).map(|(pid, _)| pid).collect()
    };
    wait_until("a copy waits", || of_run().len() == 2);
    let of_run = of_run();
    running.signal("KILL");
    let called = running.finish();
    assert_ne!(called.code, 0);
    wait_until("the server and its copy have ended", || {
        !servers().iter().any(|(pid, _)| of_run.contains(pid))
    });
    // As without a sandbox, the command of a killed ccm runs on.
    let killed = std::process::Command::new("kill").args(["-KILL", command.trim()]).status();
    assert!(killed.is_ok_and(|killed| killed.success()), "the command has ended");
}
