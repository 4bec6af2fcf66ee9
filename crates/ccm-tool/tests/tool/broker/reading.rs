//! Tools that read, and machines that offer nothing else.

use ccm_policy::ToolSet;
use ccm_tool::{AnswerKind, ToolName};
use serde_json::json;

use crate::broker::{ON_ASK, Place, alone, field};

#[test]
fn without_a_policy_only_reading_is_offered() {
    alone(async || {
        let place = Place::with_policy(None);
        assert!(place.broker.tools(&place.caller).iter().all(|tool| tool.set() == ToolSet::Read));
        for tool in ToolName::ALL.into_iter().filter(|tool| tool.set() != ToolSet::Read) {
            let input = json!({"command": "true"});
            let answer = match tool {
                ToolName::Exec => place.call("exec", input).await,
                ToolName::ProcessList => place.call("process_list", json!({})).await,
                ToolName::ProcessKill => place.call("process_kill", json!({"pid": 1})).await,
                ToolName::Resume => place.call("resume", json!({"intent": "1"})).await,
                _ => continue,
            };
            assert_eq!(answer.kind, AnswerKind::NotTried);
            assert!(answer.text.starts_with("this machine has no policy, so that only"), "{}", answer.text);
        }
        let status = place.call("status", json!({})).await;
        assert_eq!(
            (status.kind, &status.structured["state"]["is_going_on"]),
            (AnswerKind::Done, &json!(false))
        );
    });
}

#[test]
fn a_policy_that_offers_less_is_obeyed() {
    alone(async || {
        for (policy, message) in [
            (
                "callers: {tool: {approval: on_ask}}\n",
                "the policy does not offer the tools of the set governed-execute",
            ),
            (
                "callers: {tool: {approval: on_ask, tools: [governed-execute], users: [bob]}}\n",
                "the policy does not let user agent call tools",
            ),
        ] {
            let place = Place::new(policy);
            let answer = place.call("exec", json!({"command": "true"})).await;
            assert_eq!((answer.kind, field(&answer, "error")), (AnswerKind::Denied, message));
            assert!(!place.broker.tools(&place.caller).contains(&ToolName::Exec));
        }
        let place = Place::new("callers: {tol: {}}\n");
        for tool in ["exec", "status"] {
            let input = if tool == "exec" { json!({"command": "true"}) } else { json!({}) };
            let answer = place.call(tool, input).await;
            assert_eq!(
                (answer.kind, field(&answer, "error")),
                (AnswerKind::NotTried, "the policy can't be used")
            );
        }
    });
}

#[test]
fn a_noop_runs_no_command_of_the_manifest() {
    alone(async || {
        let place = Place::with_policy(None);
        let (made, canary) = (place.scratch.at("made"), place.scratch.at("canary"));
        place.scratch.write(
            "m.yaml",
            format!(
                "ccm:\n  resources:\n    - file: [{{{made}: {{content: x}}}}]\n    - exec:\n        - guarded:\n            \
                 command: /bin/true\n            onlyif: /bin/touch {canary}\n        - plain: {{command: /bin/touch {canary}}}\n"
            ),
        );
        let manifest = json!({"manifest": place.scratch.at("m.yaml")});
        let answer = place.call("noop", manifest.clone()).await;
        assert_eq!(answer.kind, AnswerKind::Done, "{answer:?}");
        let text = answer.structured.to_string();
        assert!(text.contains("needs an approval, and noop did not run it"), "{text}");
        assert!(!std::path::Path::new(&canary).exists() && !std::path::Path::new(&made).exists());
        assert_eq!(place.events(), [""; 0]);
        let valid = place.call("validate", manifest.clone()).await;
        assert_eq!(valid.structured["valid"], true, "{valid:?}");
        let graph = place.call("graph", manifest).await;
        assert!(graph.text.contains("exec#guarded"), "{graph:?}");
    });
}

#[test]
fn documents_are_those_of_the_commands() {
    alone(async || {
        let place = Place::new(ON_ASK);
        place.scratch.write("bad.yaml", "ccm: {resources: [{fil: [{a: {}}]}]}\n");
        let invalid = place.call("validate", json!({"manifest": place.scratch.at("bad.yaml")})).await;
        assert_eq!((invalid.kind, &invalid.structured["valid"]), (AnswerKind::Done, &json!(false)));
        let missing = place.call("validate", json!({"manifest": "/no/such/file"})).await;
        assert_eq!(missing.kind, AnswerKind::NotTried, "{missing:?}");
        let explained = place.call("explain", json!({"name": "file.mode"})).await;
        assert!(explained.structured["explanation"].is_object(), "{explained:?}");
        let unknown = place.call("explain", json!({"name": "fil"})).await;
        assert!(unknown.text.contains("did you mean `file`?"), "{unknown:?}");
        let facts = place.call("facts", json!({})).await;
        assert!(facts.structured["facts"].is_object(), "{}", facts.text);
        let unknown = place.call("facts", json!({"path": "host.nothing"})).await;
        assert_eq!(field(&unknown, "error"), "there is nothing at `host.nothing`");
        assert!(unknown.text.contains("instead: leave out `path`"), "{unknown:?}");
        let runs = place.call("history", json!({})).await;
        assert_eq!(runs.structured["runs"], json!([]));
        let judged = place.call("policy_explain", json!({"command": "git log && rm -rf build"})).await;
        assert_eq!(
            (field(&judged, "verdict"), &judged.structured["commands"][1]["verdict"]),
            ("ask", &json!("ask"))
        );
    });
}

#[test]
fn calls_are_limited() {
    alone(async || {
        let place = Place::new(&format!("{ON_ASK}limits: {{calls: 2/1h, timeout: 1s, max_timeout: 2s}}\n"));
        for _ in 0..2 {
            assert_eq!(place.call("exec", json!({"command": "true"})).await.kind, AnswerKind::Done);
        }
        let answer = place.call("exec", json!({"command": "true"})).await;
        assert_eq!(field(&answer, "error"), "the limit of 2 calls in 1h0m0s is reached");
    });
}
