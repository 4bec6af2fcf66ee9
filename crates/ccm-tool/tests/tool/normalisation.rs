//! The table of inputs: what each tool accepts, and the error about everything else.

use std::time::Duration;

use ccm_tool::{CodeLanguage, CommandText, ToolCall, ToolName, normalise};
use serde_json::{Value, json};

fn error(tool: &str, input: &Value) -> (String, String) {
    let error = normalise(tool, input).expect_err("an error");
    assert!(!error.hint.is_empty(), "{tool} {input}");
    (error.message, error.hint)
}

#[test]
fn inputs_that_are_accepted() {
    let words = |words: &[&str]| CommandText::Words(words.iter().map(|word| (*word).to_owned()).collect());
    let shell = |text: &str| CommandText::Shell(text.to_owned());
    for (tool, input, text, directory, millis) in [
        ("exec", json!({"command": "ls"}), shell("ls"), None, None),
        ("exec", json!({"command": "ls", "args": []}), words(&["ls"]), None, None),
        ("exec", json!({"command": "ls", "args": ["-l", ""]}), words(&["ls", "-l", ""]), None, None),
        ("exec", json!({"command": "ls", "args": null}), shell("ls"), None, None),
        ("exec", json!({"command": "ls", "workingDir": "a"}), shell("ls"), Some("a"), None),
        ("exec", json!({"command": "ls", "working_dir": "/a"}), shell("ls"), Some("/a"), None),
        ("exec", json!({"command": "ls", "timeoutMs": 300_000}), shell("ls"), None, Some(300_000)),
        ("exec", json!({"command": "ls", "timeoutMs": 1.0}), shell("ls"), None, Some(1)),
        ("exec", json!({"command": " ls -la "}), shell(" ls -la "), None, None),
        ("bash", json!({"script": "a\nb"}), CommandText::Bash("a\nb".into()), None, None),
        (
            "bash",
            json!({"script": "a", "timeoutMs": 120_000}),
            CommandText::Bash("a".into()),
            None,
            Some(120_000),
        ),
        (
            "code_execution",
            json!({"language": "shell", "code": "ls"}),
            CommandText::Bash("ls".into()),
            None,
            None,
        ),
        (
            "code_execution",
            json!({"language": "typescript", "code": "1", "timeoutMs": 5}),
            CommandText::Code(CodeLanguage::TypeScript, "1".into()),
            None,
            Some(5),
        ),
    ] {
        let ToolCall::Command(call) = normalise(tool, &input).expect("a call") else {
            unreachable!("{tool}")
        };
        assert_eq!(call.tool.name(), tool);
        assert_eq!(call.text, text, "{input}");
        assert_eq!(call.directory.as_deref(), directory, "{input}");
        assert_eq!(call.timeout, millis.map(Duration::from_millis), "{input}");
    }
    let kill = |signal: Value| normalise("process_kill", &json!({"pid": 7, "signal": signal}));
    for signal in [json!(null), json!("TERM"), json!("SIGTERM"), json!(15), json!("15")] {
        assert_eq!(kill(signal), Ok(ToolCall::ProcessKill { pid: 7, signal: "SIGTERM" }));
    }
}

#[test]
fn variables_are_sorted_and_checked() {
    let input = json!({"command": "env", "env": {"B": "2", "A": "1", "_c9": ""}});
    let ToolCall::Command(call) = normalise("exec", &input).expect("a call") else { unreachable!() };
    let pairs: Vec<(&str, &str)> = call.environment.iter().map(|(name, value)| (&**name, &**value)).collect();
    assert_eq!(pairs, [("A", "1"), ("B", "2"), ("_c9", "")]);
    for name in ["", "1A", "A=B", "A B", "A\u{1b}", "ä", "A\0"] {
        let (message, _) = error("exec", &json!({"command": "env", "env": {name: "x"}}));
        assert!(message.contains("has a variable with the name"), "{message}");
    }
    for value in [json!(1), json!(["x"]), json!({}), json!(true)] {
        let (message, _) = error("exec", &json!({"command": "env", "env": {"A": value}}));
        assert!(message.starts_with("`env.A` of `exec` must be a text"), "{message}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn inputs_that_are_refused() {
    let long = "x".repeat(10 << 20);
    for (tool, input, message) in [
        ("rm", json!({}), "there is no tool `rm`"),
        ("exec", json!([]), "the input of `exec` must be an object, found a list"),
        ("exec", json!(null), "the input of `exec` must be an object, found null"),
        ("exec", json!("ls"), "the input of `exec` must be an object, found a text"),
        ("exec", json!({}), "`exec` needs `command`"),
        ("exec", json!({"command": ""}), "`command` of `exec` is empty"),
        ("exec", json!({"command": " \n"}), "`command` of `exec` is empty"),
        ("exec", json!({"command": 1}), "`command` of `exec` must be a text, found a number"),
        ("exec", json!({"command": ["ls"]}), "`command` of `exec` must be a text, found a list"),
        ("exec", json!({"command": "a\0b"}), "`command` of `exec` contains a NUL byte"),
        ("exec", json!({"command": long}), "`command` of `exec` has 10485760 bytes; the limit is 65535"),
        (
            "exec",
            json!({"command": "ls", "args": "-l"}),
            "`args` of `exec` must be a list of texts, found a text",
        ),
        ("exec", json!({"command": "ls", "args": [1]}), "`args[0]` of `exec` must be a text, found a number"),
        ("exec", json!({"command": "ls", "args": ["a\0"]}), "`args[0]` of `exec` contains a NUL byte"),
        (
            "exec",
            json!({"command": "ls", "env": ["A=1"]}),
            "`env` of `exec` must be an object of texts, found a list",
        ),
        ("exec", json!({"command": "ls", "timeout": 5}), "`exec` has no field `timeout`"),
        ("exec", json!({"command": "ls", "cwd": "/"}), "`exec` has no field `cwd`"),
        ("exec", json!({"command": "ls", "Command": "rm"}), "`exec` has no field `Command`"),
        ("exec", json!({"command": "ls", "workingDir": ""}), "`workingDir` of `exec` is empty"),
        (
            "exec",
            json!({"command": "ls", "workingDir": "a", "working_dir": "a"}),
            "`workingDir` and `working_dir` are the same field, and both are given",
        ),
        (
            "exec",
            json!({"command": "ls", "timeoutMs": 300_001}),
            "`timeoutMs` of `exec` must be a whole number between 1 and 300000, found 300001",
        ),
        (
            "exec",
            json!({"command": "ls", "timeoutMs": 0}),
            "`timeoutMs` of `exec` must be a whole number between 1 and 300000, found 0",
        ),
        (
            "exec",
            json!({"command": "ls", "timeoutMs": -1}),
            "`timeoutMs` of `exec` must be a whole number between 1 and 300000, found -1",
        ),
        (
            "exec",
            json!({"command": "ls", "timeoutMs": 1.5}),
            "`timeoutMs` of `exec` must be a whole number between 1 and 300000, found 1.5",
        ),
        (
            "exec",
            json!({"command": "ls", "timeoutMs": "5"}),
            "`timeoutMs` of `exec` must be a whole number of milliseconds, found a text",
        ),
        (
            "bash",
            json!({"script": "ls", "timeoutMs": 120_001}),
            "`timeoutMs` of `bash` must be a whole number between 1 and 120000, found 120001",
        ),
        ("bash", json!({"command": "ls"}), "`bash` has no field `command`"),
        ("code_execution", json!({"code": "1"}), "`code_execution` needs `language`"),
        (
            "code_execution",
            json!({"language": "ruby", "code": "1"}),
            "`language` of `code_execution` can't be `ruby`",
        ),
        ("code_execution", json!({"language": "python"}), "`code_execution` needs `code`"),
        (
            "code_execution",
            json!({"language": "python", "code": "1", "timeoutMs": 120_001}),
            "`timeoutMs` of `code_execution` must be a whole number between 1 and 120000, found 120001",
        ),
        (
            "code_execution",
            json!({"language": "python", "code": "1", "workingDir": "/"}),
            "`code_execution` has no field `workingDir`",
        ),
        ("process_list", json!({"pid": 1}), "`process_list` has no field `pid`"),
        ("process_inspect", json!({}), "`process_inspect` needs `pid`"),
        (
            "process_inspect",
            json!({"pid": 0}),
            "`pid` of `process_inspect` must be a whole number between 1 and 2147483647, found 0",
        ),
        (
            "process_kill",
            json!({"pid": -1}),
            "`pid` of `process_kill` must be a whole number between 1 and 2147483647, found -1",
        ),
        ("process_kill", json!({"pid": "7"}), "`pid` of `process_kill` must be a whole number, found a text"),
        ("process_kill", json!({"pid": 7, "signal": "NOPE"}), "`signal` of `process_kill` can't be `NOPE`"),
        ("process_kill", json!({"pid": 7, "signal": 0}), "`signal` of `process_kill` can't be `0`"),
        ("resume", json!({"intent": "../../etc"}), "`intent` of `resume` is not an id"),
        ("resume", json!({}), "`resume` needs `intent`"),
        ("validate", json!({}), "`validate` needs `manifest`"),
        ("noop", json!({"manifest": "-"}), "`manifest` of `noop` can't be standard input"),
        ("graph", json!({"manifest": "m", "format": "png"}), "`format` of `graph` can't be `png`"),
        (
            "history",
            json!({"limit": 0}),
            "`limit` of `history` must be a whole number between 1 and 1000, found 0",
        ),
        ("policy_explain", json!({"command": "ls", "env": {}}), "`policy_explain` has no field `env`"),
    ] {
        let shown: String = input.to_string().chars().take(80).collect();
        assert_eq!(error(tool, &input).0, message, "{tool} {shown}");
    }
    assert_eq!(
        error("process_kill", &json!({})).1,
        "add `pid`: number of the process, as `process_list` shows it"
    );
    assert_eq!(error("exek", &json!({})).1, "did you mean `exec`?");
    assert_eq!(error("exec", &json!({"comand": "ls"})).1, "did you mean `command`?");
}

#[test]
fn no_message_repeats_a_value_that_may_be_secret() {
    for input in [
        json!({"command": "ls", "args": "hunter2"}),
        json!({"command": "ls", "args": {"x": "hunter2"}}),
        json!({"command": "ls", "args": [["hunter2"]]}),
        json!({"command": "ls", "args": ["hunter2\0"]}),
        json!({"command": "ls", "env": "hunter2"}),
        json!({"command": "ls", "env": ["hunter2"]}),
        json!({"command": "ls", "env": {"A": ["hunter2"]}}),
        json!({"command": "ls", "env": {"A": {"B": "hunter2"}}}),
        json!({"command": "ls", "env": {"A": "hunter2\0"}}),
        json!({"command": ["hunter2"]}),
        json!({"command": "ls", "reason": "hunter2".repeat(1000)}),
        json!({"command": "ls", "timeoutMs": "hunter2"}),
    ] {
        let (message, hint) = error("exec", &input);
        assert!(!message.contains("hunter2") && !hint.contains("hunter2"), "{message} {hint}");
    }
    let (message, _) = error("exec", &json!({"command": "ls", "env": {"PIN": 1234}}));
    assert_eq!(message, "`env.PIN` of `exec` must be a text, found a number");
    let many = vec!["x"; 4097];
    let (message, _) = error("exec", &json!({"command": "ls", "args": many}));
    assert_eq!(message, "`args` of `exec` has 4097 elements; the limit is 4096");
}

#[test]
fn a_resource_becomes_a_manifest_that_an_approver_reads() {
    let text = |input: Value| match normalise("ensure", &input) {
        Ok(ToolCall::Apply(ccm_tool::ApplyCall {
            manifest: ccm_tool::AppliedManifest::Text(text), ..
        })) => Ok(serde_json::from_str::<Value>(&text).expect("a manifest in JSON, a line for each part")),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.message),
    };
    let properties = json!({"name": "/etc/motd", "content": "a: [b]\n- c", "mode": "0644"});
    let expected = json!({"/etc/motd": {"content": "a: [b]\n- c", "mode": "0644"}});
    assert_eq!(
        text(json!({"type": "file", "properties": properties, "reason": "greeting"})),
        Ok(json!({"ccm": {"resources": [{"file": [expected]}]}}))
    );
    for (input, message) in [
        (json!({"type": "file", "properties": {}}), "`ensure` needs the name of the resource"),
        (json!({"type": "file", "properties": {"name": 5}}), "`ensure` needs the name of the resource"),
        (json!({"properties": {"name": "x"}}), "`type`"),
        (json!({"type": "file", "properties": []}), "`properties`"),
        (
            json!({"type": "file", "properties": {"name": "x", "content": "x".repeat(20_000)}}),
            "more than 16384 bytes",
        ),
    ] {
        let found = text(input).expect_err("an error");
        assert!(found.contains(message), "{found}");
    }
}

#[test]
fn schemas_describe_the_accepted_inputs() {
    for tool in ToolName::ALL {
        let schema = tool.input_schema();
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        jsonschema::validator_for(&tool.output_schema()).expect("a schema");
        assert!(!validator.is_valid(&json!({"no_such_field": 1})), "{tool:?}");
        let properties = schema["properties"].as_object().expect("properties");
        for (name, property) in properties {
            assert!(property["description"].is_string(), "{tool:?} {name}");
        }
        // What the schema requires and describes is what is read: an object of the required fields is accepted.
        let mut input = serde_json::Map::new();
        for name in schema["required"].as_array().expect("a list") {
            let name = name.as_str().expect("a name");
            let value = match (name, properties[name]["type"].as_str()) {
                ("language", _) => json!("python"),
                ("properties", _) => json!({"name": "x"}),
                (_, Some("integer")) => json!(7),
                _ => json!("x"),
            };
            input.insert(name.to_owned(), value);
        }
        if tool == ToolName::Apply {
            // One of two fields is needed, which not every client understands in a schema.
            input.insert("manifest".to_owned(), json!("x"));
        }
        let input = Value::Object(input);
        assert!(validator.is_valid(&input), "{tool:?}");
        assert_eq!(normalise(tool.name(), &input).map(|call| call.tool()), Ok(tool));
        let most = properties.get("timeoutMs").map(|timeout| timeout["maximum"].clone());
        assert_eq!(
            most,
            tool.max_timeout().map(|most| json!(u64::try_from(most.as_millis()).expect("a number")))
        );
    }
}
