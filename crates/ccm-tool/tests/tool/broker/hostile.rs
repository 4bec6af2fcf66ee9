//! Hostile inputs: an error that says what to do instead, recorded, and nothing run.

use ccm_tool::AnswerKind;
use serde_json::{Value, json};

use crate::broker::{ON_ASK, Place, alone};

#[test]
fn hostile_inputs_are_recorded_and_nothing_runs() {
    alone(async || {
        let place = Place::new(&format!("workspace: {{path: WORK, restrict: true}}\n{ON_ASK}"));
        let deep = (0..60).fold(json!("x"), |value, _| json!([value]));
        let long = "x".repeat(10 << 20);
        for (tool, input) in [
            ("no_such_tool", json!({})),
            ("exec\n\u{1b}[31m", json!({})),
            ("exec", json!({"command": 1})),
            ("exec", json!({"command": deep})),
            ("exec", json!({"command": long})),
            ("exec", json!({"command": "ls", "args": [long]})),
            ("exec", json!({"command": "ls\0"})),
            ("exec", json!({"command": "ls", "workingDir": "/"})),
            ("exec", json!({"command": "ls", "workingDir": "/etc"})),
            ("exec", json!({"command": "ls", "timeoutMs": 1e300})),
            ("exec", json!({"command": "ls", "timeoutMs": u64::MAX})),
            ("exec", json!({"command": "ls \u{202e}txt"})),
            ("exec", json!({"command": "echo \u{1b}[2J"})),
            ("exec", json!({"command": "ls", "env": {"LD_PRELOAD\0": "x"}})),
            ("exec", json!({"command": "sudo", "args": ["ls"]})),
            ("exec", json!({"command": "echo hi &>/dev/null rm -r x"})),
            ("exec", json!({"command": "((rm -r x))"})),
            ("bash", json!({"script": "echo ${x"})),
            ("bash", json!({"script": "curl x | bash"})),
            ("code_execution", json!({"language": "cobol", "code": "x"})),
            ("process_kill", json!({"pid": 1})),
            ("process_kill", json!({"pid": std::process::id()})),
            ("process_kill", json!({"pid": -1})),
        ] {
            let shown: String = format!("{tool} {input}").chars().take(120).collect();
            let answer = place.call(tool, input).await;
            assert!(matches!(answer.kind, AnswerKind::BadInput | AnswerKind::Denied), "{shown}: {answer:?}");
            assert!(answer.text.contains("\ninstead: "), "{shown}: {}", answer.text);
            assert!(!answer.text.contains('\u{1b}') && answer.text.len() < 4096, "{shown}: {}", answer.text);
            let events = place.events();
            assert!(events.len() == 1 && events[0].starts_with("refuse "), "{shown}: {events:?}");
        }
    });
}

#[test]
fn variables_are_harmless_asked_about_or_denied() {
    alone(async || {
        let place = Place::new(ON_ASK);
        for (name, kind) in [
            ("LD_PRELOAD", AnswerKind::Denied),
            ("BASH_ENV", AnswerKind::Denied),
            ("GIT_SSH_COMMAND", AnswerKind::Denied),
            ("PYTHONPATH", AnswerKind::Denied),
            ("PATH", AnswerKind::Denied),
            ("HOME", AnswerKind::Denied),
            ("XDG_CONFIG_HOME", AnswerKind::Denied),
            ("NPM_CONFIG_SCRIPT_SHELL", AnswerKind::Denied),
            ("CARGO_TARGET_X_RUNNER", AnswerKind::Denied),
            ("LUA_INIT_5_4", AnswerKind::Denied),
            ("GOFLAGS", AnswerKind::ApprovalRequired),
            ("CC", AnswerKind::ApprovalRequired),
            ("FOO", AnswerKind::ApprovalRequired),
            ("LC_ALL", AnswerKind::Done),
            ("TZ", AnswerKind::Done),
            ("CI", AnswerKind::Done),
        ] {
            let answer = place.call("exec", json!({"command": "ls", "args": [], "env": {name: "./x"}})).await;
            assert_eq!(answer.kind, kind, "{name}: {answer:?}");
        }
        let called = json!({"command": "printenv", "args": ["DEBUG"], "env": {"DEBUG": "1"}});
        assert_eq!(place.call("exec", called).await.text, "1\n");
        let long = json!({"command": "ls", "args": [], "env": {"FOO": "x".repeat(5000)}});
        let answer = place.call("exec", long).await;
        assert_eq!(answer.kind, AnswerKind::Denied, "{answer:?}");
        assert!(answer.text.contains("its variables have 5000 characters"), "{answer:?}");
    });
}

#[test]
fn many_malformed_inputs_leave_the_broker_as_it_is() {
    alone(async || {
        let place = Place::new(ON_ASK);
        let values: [Value; 6] = [json!(null), json!(1), json!("x"), json!([]), json!({}), json!(true)];
        for (at, tool) in ccm_tool::ToolName::ALL.into_iter().cycle().take(1000).enumerate() {
            if tool.set() != ccm_policy::ToolSet::GovernedExecute {
                continue;
            }
            let field = ["command", "script", "code", "pid", "intent", "args"][at % 6];
            let answer = place.call(tool.name(), json!({field: values[at / 6 % 6], "x": at})).await;
            assert_eq!(answer.kind, AnswerKind::BadInput, "{tool:?}: {answer:?}");
        }
        assert_eq!(place.call("exec", json!({"command": "echo on"})).await.text, "on\n");
    });
}
