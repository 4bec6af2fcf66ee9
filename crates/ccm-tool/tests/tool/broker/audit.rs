//! The audit log of the machine: each call is in it, and the log verifies.

use ccm_runtime::audit::Trust;
use ccm_tool::AnswerKind;
use serde_json::{Value, json};

use crate::broker::{ON_ASK, Place, alone, field};

#[test]
fn each_call_is_in_the_log() {
    alone(async || {
        let place = Place::with(Some(ON_ASK), false);
        let session = place.broker.session();
        session.governance().init_audit().expect("a log");
        let ran = place.call("exec", json!({"command": "echo", "args": ["hi"]})).await;
        assert_eq!((ran.kind, &*ran.text), (AnswerKind::Done, "hi\n"), "{ran:?}");
        assert_eq!(place.call("exec", json!({"command": "sudo ls"})).await.kind, AnswerKind::Denied);
        let asked = place.call("exec", json!({"command": "git push"})).await;
        assert_eq!(asked.kind, AnswerKind::Denied, "nobody can approve: {asked:?}");
        assert_eq!(place.call("exec", json!({"command": 1})).await.kind, AnswerKind::BadInput);
        let verification = session.governance().verify_audit(None, &Trust::default()).expect("a log");
        assert!(verification.findings.is_empty(), "{verification:?}");
        let mut lines: Vec<Value> = Vec::new();
        for file in std::fs::read_dir(place.scratch.path().join("audit")).expect("the log") {
            let path = file.expect("a file").path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("audit-")) {
                let text = std::fs::read_to_string(path).expect("text");
                lines.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")));
            }
        }
        let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
        let intents = of("intent");
        assert_eq!((intents.len(), &intents[0]["argv"]), (1, &json!(["echo", "hi"])), "{lines:#?}");
        assert_eq!(
            (&intents[0]["intent"], &intents[0]["purpose"]),
            (&json!(field(&ran, "intent")), &json!("exec"))
        );
        assert_eq!(of("finished")[0]["outcome"], "exit code 0");
        assert_eq!(of("refused").len(), 3, "{lines:#?}");
    });
}

#[test]
fn without_a_log_nothing_is_offered_but_reading() {
    alone(async || {
        let place = Place::with(Some(ON_ASK), false);
        let answer = place.call("exec", json!({"command": "true"})).await;
        assert_eq!(answer.kind, AnswerKind::NotTried);
        assert!(answer.text.contains("instead: let an operator run `ccm audit init`"), "{}", answer.text);
    });
}
