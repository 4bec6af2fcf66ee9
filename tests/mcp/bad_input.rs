//! Input that a client gets wrong: an error that says what to do instead, recorded, and nothing is run.

use serde_json::{Value, json};

use crate::client::{LineClient, text};
use crate::{ON_ASK, machine};

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
        b"{\"jsonrpc\": \"1.0\", \"id\": 1, \"method\": 7}",
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
        ("resume", json!({"intent": "../../etc/passwd"}), "`intent` is not an id"),
    ] {
        let result = client.call(tool, input);
        let text = text(&result);
        assert_eq!(result["isError"], true, "{tool}: {text}");
        assert!(text.contains(message) && text.contains("\ninstead: "), "{tool}: {text}");
    }
    assert_eq!(client.close().code, 0);
    let entries = machine.audit_log();
    let entries = entries.iter().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let types: Vec<String> = entries
        .filter_map(|entry| entry["type"].as_str().map(str::to_owned))
        .filter(|kind| kind != "seal")
        .collect();
    let refused = types.iter().filter(|kind| *kind == "refused").count();
    assert_eq!((types.len(), refused), (15, 14), "{types:?}");
}
