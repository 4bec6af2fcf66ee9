//! Clients of others: the Python library and the inspector of the protocol. `.ci/mcp-clients` installs them.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use ccm_testkit::{GovernedMachine, skipped};
use serde_json::Value;

use crate::{ON_ASK, approvers, machine};

/// Returns the path that a variable names; `None` if the client is not installed.
fn client(variable: &str, path: &str) -> Option<PathBuf> {
    let Some(directory) = std::env::var_os(variable) else {
        skipped(&format!("{variable} names no directory with the client"));
        return None;
    };
    let program = PathBuf::from(directory).join(path);
    assert!(program.exists(), "{variable}: {} does not exist", program.display());
    Some(program)
}

/// Returns the program that a client starts: `ccm mcp` on the machine of the test.
fn launcher(machine: &GovernedMachine) -> PathBuf {
    machine.launcher(&["mcp", "--set", "governed-execute"])
}

fn assert_recorded(machine: &GovernedMachine, outcomes: &[&str]) {
    let lines = machine.audit_log();
    let entries = lines.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let finished: Vec<String> = entries
        .filter(|entry| entry["type"] == "finished")
        .map(|entry| entry["outcome"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(finished, outcomes);
}

#[test]
fn the_python_client_holds_a_session_in_both_modes() {
    let Some(python) = client("CCM_TEST_MCP_PYTHON", "bin/python") else { return };
    for (mode, version) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
        let Some(machine) = machine(ON_ASK) else { return };
        approvers::add(&machine);
        let mut session = Command::new(&python)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/mcp/session.py"))
            .arg(mode)
            .arg(launcher(&machine))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python");
        let mut answers = session.stdin.take().expect("an input");
        let mut steps = Vec::new();
        for step in BufReader::new(session.stdout.take().expect("an output")).lines() {
            let step = step.expect("a step");
            if let Some(code) = step.strip_prefix("approve ") {
                approvers::approve(&machine, code);
                answers.write_all(b"approved\n").expect("a reader");
            }
            steps.push(step);
        }
        assert!(session.wait().expect("an end").success(), "{mode}: {steps:?}");
        let connected = format!("connected {version}");
        assert_eq!(steps.first(), Some(&connected), "{steps:?}");
        for step in
            ["list", "run", "refused", "progress", "cancelled", "resources", "resumed", "withdrawn", "closed"]
        {
            assert!(steps.iter().any(|other| other == step), "{mode}: no {step} in {steps:?}");
        }
        assert_recorded(&machine, &["exit code 0", "exit code 0", "cancelled", "exit code 0", "exit code 0"]);
    }
}

#[test]
fn the_inspector_lists_runs_and_is_refused() {
    let Some(inspector) = client("CCM_TEST_MCP_NODE", ".bin/mcp-inspector") else { return };
    let Some(machine) = machine(ON_ASK) else { return };
    let launcher = launcher(&machine);
    let inspect = |args: &[&str]| {
        let mut command = Command::new(&inspector);
        let output = command.arg("--cli").arg(&launcher).args(args).stdin(Stdio::null()).output();
        let output = output.expect("the inspector");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let printed = serde_json::from_str::<Value>(&text);
        printed.unwrap_or_else(|error| {
            unreachable!("{args:?}: {error}: {text}{}", String::from_utf8_lossy(&output.stderr))
        })
    };
    let listed = inspect(&["--method", "tools/list"]);
    assert_eq!(listed["tools"][0]["name"], "exec", "{listed}");
    let call = ["--method", "tools/call", "--tool-name", "exec", "--tool-arg"];
    let ran = inspect(&[&call[..], &["command=printf", "args=[\"%s\", \"a b\"]"]].concat());
    assert_eq!((&ran["content"][0]["text"], &ran["isError"]), (&"a b".into(), &false.into()), "{ran}");
    let refused = inspect(&[&call[..], &["command=sudo ls"]].concat());
    assert_eq!(
        (&refused["isError"], &refused["structuredContent"]["status"]),
        (&true.into(), &"denied".into())
    );
    let resources = inspect(&["--method", "resources/list"]);
    assert_eq!(resources["resources"][0]["uri"], "ccm://policy", "{resources}");
    assert_recorded(&machine, &["exit code 0"]);
}
