//! Sessions of every version of the protocol.

use serde_json::{Value, json};

use crate::client::{LineClient, text};
use crate::{ON_ASK, approvers, machine};

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| unreachable!("{answer}"));
    tools.iter().filter_map(|tool| tool["name"].as_str()).map(str::to_owned).collect()
}

#[test]
fn each_version_with_a_handshake_lists_and_calls() {
    let Some(machine) = machine(ON_ASK) else { return };
    for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
        let mut client = LineClient::start(&machine);
        let answer = client.initialize(version);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "ccm");
        let listed = client.request("tools/list", json!({}));
        assert!(names(&listed).contains(&"exec".to_owned()), "{listed}");
        let exec = &listed["result"]["tools"][0];
        assert_eq!((&exec["name"], &exec["annotations"]["destructiveHint"]), (&json!("exec"), &json!(true)));
        assert!(exec["inputSchema"]["properties"]["command"].is_object(), "{exec}");
        assert!(exec["outputSchema"]["properties"]["exitCode"].is_object(), "{exec}");
        let result = client.call("exec", json!({"command": "printf", "args": ["%s", "a b"]}));
        assert_eq!((text(&result), &result["isError"]), ("a b", &json!(false)), "{result}");
        assert_eq!(result["structuredContent"]["exitCode"], 0);
        assert_eq!(result["structuredContent"]["trust"], "EXTERNAL_UNTRUSTED");
        assert_eq!(result["_meta"]["ccm/trust"], "EXTERNAL_UNTRUSTED");
        let called = client.close();
        assert_eq!((called.code, &*called.stderr), (0, ""), "{}", called.shown());
    }
}

#[test]
fn the_version_without_a_handshake_discovers_and_calls() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::start(&machine);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "lines", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let found = client.request("server/discover", json!({"_meta": meta}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap_or_else(|| unreachable!("{found}"));
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.request("tools/list", json!({"_meta": meta}));
    assert!(names(&listed).contains(&"bash".to_owned()), "{listed}");
    let params = json!({"name": "exec", "arguments": {"command": "echo hi"}, "_meta": meta});
    let answer = client.request("tools/call", params);
    assert_eq!(text(&answer["result"]), "hi\n", "{answer}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_set_has_to_be_asked_for_and_a_refusal_is_a_result() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::start_with(&machine, &[]);
    client.initialize("2025-11-25");
    let listed = client.request("tools/list", json!({}));
    let names = names(&listed);
    assert!(names.contains(&"facts".to_owned()) && !names.contains(&"exec".to_owned()), "{names:?}");
    let refused = client.call("exec", json!({"command": "true"}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert!(text(&refused).contains("instead: start ccm with `--set governed-execute`"), "{refused}");
    drop(client);
    let mut client = LineClient::connect(&machine);
    let refused = client.call("exec", json!({"command": "sudo ls"}));
    assert_eq!(
        (&refused["isError"], &refused["structuredContent"]["status"]),
        (&json!(true), &json!("denied"))
    );
    assert!(text(&refused).starts_with("Command blocked by safety guard"), "{refused}");
}

#[test]
fn a_change_of_the_policy_counts_from_the_next_call() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let call = |client: &mut LineClient| {
        let result = client.call("exec", json!({"command": "echo hi"}));
        result["structuredContent"]["status"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(call(&mut client), "done");
    machine.write_policy(&format!("{ON_ASK}patterns: {{deny: ['^echo']}}\n"));
    assert_eq!(call(&mut client), "denied");
    machine.write_policy("callers: {}\n");
    assert_eq!(
        names(&client.request("tools/list", json!({}))).first().map(String::as_str),
        Some("approval_status")
    );
    machine.write_policy("callers: {tool: nothing}\n");
    assert_eq!(call(&mut client), "not_tried");
    machine.write_policy(ON_ASK);
    assert_eq!(call(&mut client), "done");
}

#[test]
fn progress_of_a_command_is_reported_and_labelled() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let script = "echo one; echo two >&2; read -r _ < fifo; echo three";
    machine.scratch.write("work/made", "");
    let _made = client.call("exec", json!({"command": "mkfifo", "args": ["fifo"]}));
    let (id, first) = client.begin("bash", json!({"script": script}));
    assert!(first.starts_with("EXTERNAL_UNTRUSTED: "), "{first}");
    let fifo = machine.scratch.path().join("work/fifo");
    std::fs::write(fifo, "go\n").expect("a reader");
    let answer = client.answer(id);
    assert_eq!(text(&answer["result"]), "one\nthree\n\nSTDERR:\ntwo\n", "{answer}");
    let numbers = client.notifications.iter().map(|message| message["params"]["progress"].as_f64());
    assert!(numbers.is_sorted(), "{:?}", client.notifications);
    assert!(client.notifications.iter().all(|message| message["params"]["progressToken"] == "token"));
}

#[test]
fn a_long_call_does_not_delay_another_answer() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let (_, line) = client.begin("bash", json!({"script": "echo begun; sleep 1000"}));
    assert_eq!(line, "EXTERNAL_UNTRUSTED: begun");
    let result = client.call("explain", json!({"name": "file.mode"}));
    assert_eq!(result["isError"], false, "{result}");
    let refused = client.call("exec", json!({"command": "sudo ls"}));
    assert_eq!(refused["structuredContent"]["status"], "denied");
    let ids: Vec<i64> = (0..20)
        .map(|_| client.send("tools/call", json!({"name": "exec", "arguments": {"command": "true"}})))
        .collect();
    let refused = client.answer(ids[19]);
    let message = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("the limit of 16 calls in progress is reached"), "{refused}");
}

#[test]
fn a_call_that_asks_is_answered_at_once_and_resumed_once_approved() {
    let Some(machine) = machine(ON_ASK) else { return };
    approvers::add(&machine);
    let mut client = LineClient::connect(&machine);
    let asked = client.call("exec", json!({"command": "rm -rf build && echo removed"}));
    assert_eq!(
        (&asked["isError"], &asked["structuredContent"]["status"]),
        (&json!(false), &json!("approval_required"))
    );
    let (intent, code) = (&asked["structuredContent"]["intent"], &asked["structuredContent"]["code"]);
    assert!(text(&asked).contains("\napprove with: ccm approve "), "{asked}");
    let read = |client: &mut LineClient| {
        let uri = format!("ccm://intents/{}", intent.as_str().expect("an id"));
        let state = client.request("resources/read", json!({"uri": uri}));
        state["result"]["contents"][0]["text"].as_str().unwrap_or_default().to_owned()
    };
    assert!(read(&mut client).contains("\"state\": \"pending\""));
    approvers::approve(&machine, code.as_str().expect("a code"));
    assert!(read(&mut client).contains("\"state\": \"approved\""));
    let resumed = client.call("resume", json!({"intent": intent}));
    assert_eq!(text(&resumed), "removed\n", "{resumed}");
    let again = client.call("resume", json!({"intent": intent}));
    assert_eq!(
        (&again["isError"], &again["structuredContent"]["status"]),
        (&json!(true), &json!("approval_ended"))
    );
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_call_that_waits_is_withdrawn_at_the_end_of_its_connection() {
    let Some(machine) = machine(ON_ASK) else { return };
    approvers::add(&machine);
    let mut client = LineClient::connect(&machine);
    let asked = client.call("exec", json!({"command": "rm -rf build"}));
    let code = asked["structuredContent"]["code"].as_str().expect("a code").to_owned();
    let listed = || machine.run(&["approvals", "--json"]).stdout;
    assert!(listed().contains("\"waiting\"") || listed().contains(&code), "{}", listed());
    assert_eq!(client.close().code, 0);
    assert!(listed().contains("it was withdrawn"), "{}", listed());
    let approved = machine.run(&["approve", &code, "--yes"]);
    assert_eq!(approved.code, 1, "{}", approved.shown());
}
