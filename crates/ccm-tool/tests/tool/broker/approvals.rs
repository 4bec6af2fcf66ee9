//! Calls that a person has to approve.

use std::time::Duration;

use ccm_tool::AnswerKind;
use serde_json::json;

use crate::broker::{ON_ASK, Place, alone, field};

const MUST: &str = "callers: {tool: {tools: [governed-execute]}}\n";

#[test]
fn every_call_waits_unless_the_policy_asks_less() {
    alone(async || {
        let mut place = Place::new(MUST);
        let answer = place.call("exec", json!({"command": "echo ran", "reason": "a test"})).await;
        assert_eq!((answer.kind, answer.is_error()), (AnswerKind::ApprovalRequired, false));
        assert_eq!(field(&answer, "status"), "approval_required");
        assert_eq!((field(&answer, "code"), field(&answer, "approve_with")), ("7K3F", "ccm approve 7K3F"));
        assert_eq!(field(&answer, "expires"), "2026-01-01T00:00:00Z");
        let intent = field(&answer, "intent").to_owned();
        assert_eq!(place.events(), ["ask exec for 900s", "refuse exec allow: approval_required"]);
        let waiting = place.call("resume", json!({"intent": intent})).await;
        assert_eq!(waiting.kind, AnswerKind::ApprovalRequired, "{waiting:?}");
        let state = place.call("approval_status", json!({"intent": intent})).await;
        assert_eq!(field(&state, "state"), "pending");
        place.events();
        place.caller.client = Some("approved".to_owned());
        let answer = place.call("resume", json!({"intent": intent})).await;
        assert_eq!((answer.kind, &*answer.text), (AnswerKind::Done, "ran\n"));
        assert_eq!(field(&answer, "intent"), intent);
        let begin = format!("begin exec /bin/sh allow approved by {intent}");
        assert_eq!(place.events(), ["take", &*begin, "run sh", "end exec Code(0)"]);
        let again = place.call("resume", json!({"intent": intent})).await;
        assert_eq!(
            (again.kind, field(&again, "error")),
            (AnswerKind::ApprovalEnded, "there is no such intent")
        );
    });
}

#[test]
fn each_runtime_tool_waits_for_its_approval() {
    alone(async || {
        let place = Place::new(MUST);
        for (tool, input) in [
            ("exec", json!({"command": "true"})),
            ("bash", json!({"script": "true"})),
            ("code_execution", json!({"language": "shell", "code": "true"})),
            ("code_execution", json!({"language": "python", "code": "1"})),
            ("process_list", json!({})),
        ] {
            let answer = place.call(tool, input).await;
            assert_eq!(answer.kind, AnswerKind::ApprovalRequired, "{tool}: {answer:?}");
            assert_eq!(place.events()[0], format!("ask {tool} for 900s"));
        }
    });
}

#[test]
fn a_call_that_is_not_the_approved_one_does_not_run() {
    alone(async || {
        let mut place = Place::new(MUST);
        place.caller.client = Some("approved".to_owned());
        let answer = place.call("exec", json!({"command": "cat f"})).await;
        let intent = field(&answer, "intent").to_owned();
        place.caller.user = "somebody else".to_owned();
        let answer = place.call("resume", json!({"intent": intent})).await;
        assert_eq!(answer.kind, AnswerKind::ApprovalEnded);
        assert!(answer.text.starts_with("the call is not what was to be approved"), "{}", answer.text);
        assert!(!place.events().contains(&"take".to_owned()));
        let withdrawn = place.call("cancel", json!({"intent": intent})).await;
        assert_eq!(field(&withdrawn, "state"), "withdrawn");
        assert_eq!(place.call("cancel", json!({"intent": intent})).await.kind, AnswerKind::ApprovalEnded);
    });
}

#[test]
fn verdicts_ask_and_code_asks() {
    alone(async || {
        let place = Place::new(ON_ASK);
        for (tool, input) in [
            ("exec", json!({"command": "git push origin main"})),
            ("exec", json!({"command": "rm -rf build"})),
            ("bash", json!({"script": "x=build\nrm -r $x"})),
            ("code_execution", json!({"language": "python", "code": "print(1)"})),
            ("code_execution", json!({"language": "javascript", "code": "console.log(1)"})),
        ] {
            let answer = place.call(tool, input.clone()).await;
            assert_eq!(answer.kind, AnswerKind::ApprovalRequired, "{input}: {answer:?}");
            assert!(answer.text.contains("\nreason: "), "{}", answer.text);
            let events = place.events();
            assert_eq!(events[0], format!("ask {tool} for 900s"));
        }
    });
}

#[test]
fn without_approvers_an_ask_is_a_refusal() {
    alone(async || {
        let place = Place::with(Some(MUST), false);
        let answer = place.call("exec", json!({"command": "true"})).await;
        assert_eq!(answer.kind, AnswerKind::NotTried);
        assert!(answer.text.starts_with("there is no audit log"), "{}", answer.text);
    });
}

#[test]
fn the_policy_names_the_time_of_a_question() {
    alone(async || {
        let place = Place::new("callers: {tool: {tools: [governed-execute], pending: 90s}}\n");
        place.call("exec", json!({"command": "true"})).await;
        assert_eq!(place.events()[0], "ask exec for 90s");
    });
}

#[test]
fn a_call_can_wait_for_its_approval() {
    alone(async || {
        let mut place = Place::new(MUST);
        let input = json!({"command": "echo ran"});
        let asked = place.call_and_wait("exec", &input, Duration::from_millis(1)).await;
        assert_eq!((asked.kind, field(&asked, "code")), (AnswerKind::ApprovalRequired, "7K3F"));
        place.events();
        place.caller.client = Some("approved".to_owned());
        let ran = place.call_and_wait("exec", &input, Duration::from_secs(60)).await;
        assert_eq!((ran.kind, &*ran.text), (AnswerKind::Done, "ran\n"), "{ran:?}");
        assert_eq!(
            place.events()[..3],
            ["ask exec for 900s", "refuse exec allow: approval_required", "waiting 7K3F"]
        );
        let denied =
            place.call_and_wait("exec", &json!({"command": "sudo ls"}), Duration::from_secs(60)).await;
        assert_eq!(denied.kind, AnswerKind::Denied, "nothing is waited for");
    });
}
