//! Calls that end early: the tree of their commands ends as well, and the audit log says so.

use std::path::Path;

use ccm_testkit::{GovernedMachine, wait_until};
use serde_json::{Value, json};

use crate::client::LineClient;
use crate::{ON_ASK, machine};

/// Script that prints its number, starts a second process, and never ends.
const ENDLESS: &str = "sleep 1000 &\necho $$ $!\nwait";

/// Begins a call that never ends by itself, and returns its request and the numbers of its processes.
fn endless(client: &mut LineClient) -> (i64, Vec<i32>) {
    let (id, line) = client.begin("bash", json!({"script": ENDLESS}));
    let numbers = line.trim_start_matches("EXTERNAL_UNTRUSTED: ").split(' ');
    (id, numbers.map(|number| number.parse().expect("a number")).collect())
}

/// Returns the outcomes of the calls in the log.
fn outcomes(machine: &GovernedMachine) -> Vec<String> {
    let lines = machine.audit_log();
    let entries = lines.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let finished = entries.filter(|entry| entry["type"] == "finished");
    finished.map(|entry| entry["outcome"].as_str().unwrap_or_default().to_owned()).collect()
}

fn assert_ended(processes: &[i32]) {
    assert_eq!(processes.len(), 2);
    for process in processes {
        wait_until("the processes of the call end", || !Path::new(&format!("/proc/{process}")).exists());
    }
}

#[test]
fn a_client_that_closes_its_input_ends_its_commands() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let (_, processes) = endless(&mut client);
    let called = client.close();
    assert_eq!((called.code, &*called.stderr), (0, ""), "{}", called.shown());
    assert_ended(&processes);
    assert_eq!(outcomes(&machine), ["cancelled"]);
}

#[test]
fn a_client_that_closes_both_sides_ends_its_commands() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let (_, processes) = endless(&mut client);
    // The rest of a message is no message.
    client.write(b"{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"tools/ca");
    let called = client.close();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_ended(&processes);
    assert_eq!(outcomes(&machine), ["cancelled"]);
}

#[test]
fn a_signal_ends_the_commands() {
    let Some(machine) = machine(ON_ASK) else { return };
    for (name, code) in [("TERM", 143), ("INT", 130)] {
        let mut client = LineClient::connect(&machine);
        let (_, processes) = endless(&mut client);
        client.signal(name);
        let called = client.wait();
        assert_eq!((called.code, &*called.stderr), (code, ""), "{}", called.shown());
        assert_ended(&processes);
    }
    assert_eq!(outcomes(&machine), ["cancelled", "cancelled"]);
}

#[test]
fn a_cancelled_call_ends_and_the_next_one_runs() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let (id, processes) = endless(&mut client);
    // This one waits for its turn.
    let second = client.send("tools/call", json!({"name": "exec", "arguments": {"command": "touch second"}}));
    client.notify("notifications/cancelled", json!({"requestId": second, "reason": "enough"}));
    client.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
    let result = client.call("exec", json!({"command": "echo next"}));
    assert_eq!(result["structuredContent"]["stdout"], "next\n", "{result}");
    assert_ended(&processes);
    assert!(!machine.scratch.has("work/second"), "a cancelled call does not start");
    assert_eq!(client.close().code, 0);
    assert_eq!(outcomes(&machine), ["cancelled", "exit code 0"]);
    let refused =
        machine.audit_log().iter().filter(|line| line.contains("cancelled before it started")).count();
    assert_eq!(refused, 1);
}
