//! Input that a client gets wrong: an error that says what to do instead, recorded, and nothing is run.

use ccm_testkit::GovernedMachine;
use serde_json::{Value, json};

use crate::client::{LineClient, text};
use crate::{ON_ASK, machine};

/// Returns how often the log has entries of each type, in the order of their first one.
fn recorded(machine: &GovernedMachine) -> Vec<(String, usize)> {
    let mut counted: Vec<(String, usize)> = Vec::new();
    for line in machine.audit_log() {
        let entry: Value = serde_json::from_str(&line).expect("JSON");
        let kind = entry["type"].as_str().expect("a type");
        match counted.iter_mut().find(|(known, _)| known == kind) {
            Some((_, count)) => *count += 1,
            None => counted.push((kind.to_owned(), 1)),
        }
    }
    counted.retain(|(kind, _)| kind != "seal");
    counted
}

#[test]
fn malformed_lines_never_end_the_server() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::start(&machine);
    let lines: [&[u8]; 12] = [
        b"garbage",
        b"{",
        b"[]",
        b"[[[[[[[[",
        b"null",
        b"{\"jsonrpc\": \"2.0\"}",
        b"{\"jsonrpc\": \"1.0\", \"id\": \"one\", \"method\": 7}",
        b"\xff\xfe\x00",
        b"",
        b"{\"jsonrpc\": \"2.0\", \"method\": \"notifications/initialized\"}",
        b"{\"jsonrpc\": \"2.0\", \"id\": 99, \"result\": {}}",
        b"{\"jsonrpc\": \"2.0\", \"id\": {}, \"method\": \"tools/list\"}",
    ];
    let malformed = |client: &mut LineClient| {
        for number in 0..500_usize {
            let line = lines[number % lines.len()];
            client.write(&[line, b"\n"].concat());
        }
    };
    malformed(&mut client);
    let answer = client.initialize("2025-11-25");
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    malformed(&mut client);
    let deep = format!("{{\"jsonrpc\": \"2.0\", \"id\": 5, \"method\": {}", "[".repeat(100_000));
    client.write(format!("{deep}\n").as_bytes());
    client.write(&[b"x".repeat(17 << 20), b"\n".to_vec()].concat());
    let result = client.call("exec", json!({"command": "echo hi"}));
    assert_eq!(text(&result), "hi\n");
    let called = client.close();
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn each_wrong_call_says_what_to_do_instead() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let long = "x".repeat(10 << 20);
    for (tool, input, message) in [
        ("exce", json!({"command": "ls"}), "instead: did you mean `exec`?"),
        ("rm", json!({}), "instead: use one of: exec, bash"),
        ("exec", json!({"command": 7}), "must be a text, found a number"),
        ("exec", json!({"command": "ls", "args": "x"}), "must be a list of texts"),
        ("exec", json!({"command": long}), "has 10485760 bytes; the limit is 65535"),
        ("exec", json!({"command": "ls", "args": ["a\u{0}b"]}), "contains a NUL byte"),
        ("exec", json!({"command": "ls", "workingDir": "/etc"}), "path outside working dir"),
        ("exec", json!({"command": "ls", "workingDir": "../.."}), "path traversal detected"),
        ("exec", json!({"command": "ls", "timeoutMs": 300_001}), "between 1 and 300000"),
        ("bash", json!({"script": "ls", "timeoutMs": 120_001}), "between 1 and 120000"),
        ("code_execution", json!({"language": "ruby", "code": "1"}), "can't be `ruby`"),
        ("process_kill", json!({"pid": 1}), "process 1 is the init of this machine"),
        ("process_kill", json!({"pid": std::process::id()}), "was not started by a call of this caller"),
        ("resume", json!({"intent": "../../etc/passwd"}), "`intent` of `resume` is not an id"),
    ] {
        let result = client.call(tool, input);
        let text = text(&result);
        assert_eq!(result["isError"], true, "{tool}: {text}");
        assert!(text.contains(message) && text.contains("\ninstead: "), "{tool}: {text}");
    }
    assert_eq!(client.close().code, 0);
    assert_eq!(recorded(&machine), [("log_begun", 1), ("refused", 14)].map(named).to_vec());
}

/// Returns the line of a call with these parameters.
fn call_line(id: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
}

#[test]
fn each_message_of_the_wrong_types_says_what_to_do_instead() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let of_input = |input: &str| format!(r#"{{"name":"exec","arguments":{input}}}"#);
    let run = of_input(r#"{"command":"touch made"}"#);
    let deep = format!(r#"{{"command":{}{}}}"#, "[".repeat(300), "]".repeat(300));
    let long = format!(r#"{{"command":"{}"}}"#, "x".repeat(17 << 20));
    let without_id = format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{run}}}"#);
    // The line, whether its answer can have its id, and what the answer says.
    let calls = [
        (call_line("5", "[1]"), true, "`params` of a call must be an object, found a list; pass an object"),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#.to_owned(),
            true,
            "`params` of a call is missing; add",
        ),
        (call_line("5", "{}"), true, "`name` of a call is missing; add `name`"),
        (call_line("5", r#"{"name":7}"#), true, "`name` of a call must be a text, found a number"),
        (call_line("5", &of_input("\"ls\"")), true, "`arguments` of a call must be an object, found a text"),
        (
            call_line("5", r#"{"name":"exec","_meta":[]}"#),
            true,
            "`_meta` of a call must be an object, found a list",
        ),
        (call_line("5", r#"{"name":"exec","requestState":7}"#), true, "has a wrong type; pass `name`"),
        (call_line("5", r#"{"name":"exec","name":"bash"}"#), true, "is there twice"),
        (call_line("5", &of_input(&deep)), true, "recursion limit exceeded"),
        (call_line("5", &of_input(r#"{"timeoutMs":1e999}"#)), true, "number out of range"),
        (call_line("5", &of_input(r#"{"command":"\ud800"}"#)), true, "can't be read as JSON"),
        (call_line("5", &of_input(&long)), true, "the limit is 16777216; write the data to a file"),
        (call_line("1.5", &run), false, "`id` must be a whole number below 2^63; use"),
        (call_line("99999999999999999999", &run), false, "`id` must be a whole number below 2^63"),
        (call_line("null", &run), false, "`id` must be a text or a whole number, found null"),
        (without_id, false, "a call needs an `id`; add `id`"),
        (call_line("5", &run).replace("2.0", "1.0"), true, "`jsonrpc` of a message must be `2.0`"),
    ];
    let others = [
        (format!("[{}]", call_line("5", &run)), false, "send each message on a line of its own"),
        ("7".to_owned(), false, "a message must be an object, found a number"),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":7}"#.to_owned(),
            true,
            "`method` must be a text, found a number",
        ),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"resources/read"}"#.to_owned(),
            true,
            "`resources/read` are wrong",
        ),
    ];
    let count = calls.len();
    for (line, has_id, message) in calls.into_iter().chain(others) {
        client.write(format!("{line}\n").as_bytes());
        let answer = client.next_message().expect("an answer");
        let shown = line.get(..100).unwrap_or(&line);
        let text = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(text.contains(message), "{shown}: {answer}");
        assert_eq!(answer.get("id"), has_id.then_some(&json!(5)), "{shown}: {answer}");
        assert!(answer["error"]["data"]["instead"][0].is_string(), "{shown}: {answer}");
    }
    assert_eq!(client.close().code, 0);
    assert!(!machine.scratch.has("work/made"));
    assert_eq!(recorded(&machine), [("log_begun", 1), ("refused", count)].map(named).to_vec());
}

#[test]
fn a_call_before_the_beginning_says_how_to_begin() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::start(&machine);
    let call = json!({"name": "exec", "arguments": {"command": "touch made"}});
    let refused = client.request("tools/call", call);
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("a call can't begin a connection; send `initialize` first"), "{refused}");
    assert_eq!(client.initialize("2025-11-25")["result"]["serverInfo"]["name"], "ccm");
    assert_eq!(client.close().code, 0);
    assert!(!machine.scratch.has("work/made"));
    assert_eq!(recorded(&machine), [("log_begun", 1), ("refused", 1)].map(named).to_vec());
}

#[test]
fn an_id_in_use_can_not_be_used_again() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    let (id, _) = client.begin("exec", json!({"command": "echo begun; sleep 1000"}));
    client.write(
        format!(
            "{}\n",
            call_line(&id.to_string(), r#"{"name":"exec","arguments":{"command":"touch made"}}"#)
        )
        .as_bytes(),
    );
    let refused = client.next_message().expect("an answer");
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("a request with this `id` is in progress; give each"), "{refused}");
    assert_eq!(refused.get("id"), None, "{refused}");
    // The first call goes on.
    let listed = client.request("tools/list", json!({}));
    assert!(listed.get("result").is_some(), "{listed}");
    client.notify("notifications/cancelled", json!({"requestId": id}));
    assert_eq!(client.close().code, 0);
    assert!(!machine.scratch.has("work/made"));
    let expected = [("log_begun", 1), ("intent", 1), ("refused", 1), ("finished", 1)];
    assert_eq!(recorded(&machine), expected.map(named).to_vec());
}

#[test]
fn more_calls_than_can_be_in_progress_are_refused_and_recorded() {
    let Some(machine) = machine(ON_ASK) else { return };
    let mut client = LineClient::connect(&machine);
    client.begin("exec", json!({"command": "echo begun; sleep 1000"}));
    // They wait for their turn.
    let touch = json!({"name": "exec", "arguments": {"command": "touch made"}});
    for _ in 0..15 {
        client.send("tools/call", touch.clone());
    }
    let refused = client.request("tools/call", touch);
    let text = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("the limit of 16 calls in progress is reached; wait for an answer"), "{refused}");
    assert!(client.request("tools/list", json!({})).get("result").is_some());
    assert_eq!(client.close().code, 0);
    assert!(!machine.scratch.has("work/made"));
    // Those that waited were refused by the end of the connection.
    let expected = [("log_begun", 1), ("intent", 1), ("refused", 16), ("finished", 1)];
    assert_eq!(recorded(&machine), expected.map(named).to_vec());
}

fn named((kind, count): (&str, usize)) -> (String, usize) {
    (kind.to_owned(), count)
}
