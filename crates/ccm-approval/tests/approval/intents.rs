//! Intents and statements, byte by byte.

use ccm_approval::{
    ApprovalStatement, ApproverDecision, IntentDocument, IntentError, IntentKey, MAX_INTENT, SignedStatement,
    StatementError,
};

use crate::keys::{KeyDirectory, keygen};
use crate::samples::{PENDING, after, content, intent, machine, statement};

#[test]
fn an_intent_is_read_as_it_was_written_and_in_no_other_form() {
    let text = intent(content()).text();
    let start = "{\"type\":\"ccm-intent/1\",\"id\":\"01JD0000000000000000000000\",\"code\":\"7K3F\",\
                 \"machine\":\"m-9f2c\",\"host\":\"web1\",\"boot\":\"b-1\",\"created\":\"2026-11-22T01:31:13.000Z\",\
                 \"expires\":\"2026-11-22T01:46:13.000Z\"";
    assert!(text.starts_with(start), "{text}");
    assert_eq!(IntentDocument::parse(&text).map(|intent| intent.text()).as_ref(), Ok(&text));
    for (from, to) in [
        ("ccm-intent/1", "ccm-intent/2"),
        ("\"uid\":1001", "\"uid\":1001.0"),
        ("\"uid\":1001", "\"uid\":1001,\"uid\":0"),
        ("\"uid\":1001", "\"uid\": 1001"),
        ("\"tool\":\"exec\"", "\"tool\":\"ex\\u0065c\""),
        ("\"tool\":\"exec\"", "\"tool\":\"exec\",\"tool\":\"bash\""),
        ("\"tool\":\"exec\"", "\"more\":1,\"tool\":\"exec\""),
        ("\"code\":\"7K3F\"", "\"code\":\"7k3f\""),
        ("restart\",\"nginx", "stop\",\"nginx"),
        ("\"effects\":[\"service: restart nginx\"],\"action_digest\"", "\"effects\":[],\"action_digest\""),
        ("\"count\":1", "\"count\":0"),
        ("2026-11-22T01:46:13.000Z", "2026-11-22T01:31:12.000Z"),
        ("}", "}\n"),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(IntentDocument::parse(&text.replacen(from, to, 1)).is_err(), "{to}");
    }
    assert!(IntentDocument::parse(&format!("{text} ")).is_err());
}

#[test]
fn an_intent_that_is_too_long_is_refused() {
    let mut long = content();
    long.action.argv.push("x".repeat(MAX_INTENT));
    let refused = IntentDocument::new(
        "01JD0000000000000000000000".into(),
        "7K3F".into(),
        long,
        PENDING,
        &machine(),
        after(0),
    );
    assert!(matches!(refused, Err(IntentError::TooLong { limit: MAX_INTENT, .. })), "{refused:?}");
    let mut large = content();
    large.action.timeout_ms = Some(u64::MAX);
    let refused = IntentDocument::new(
        "01JD0000000000000000000000".into(),
        "7K3F".into(),
        large,
        PENDING,
        &machine(),
        after(0),
    );
    assert!(matches!(refused, Err(IntentError::Integer { name: "timeout_ms", .. })), "{refused:?}");
}

#[test]
fn an_auditor_verifies_an_intent_with_openssh_alone() {
    let keys = KeyDirectory::new();
    let key = IntentKey::generate().expect("a key");
    let text = intent(content()).text();
    let signature = key.sign(&text).expect("a signature");
    let signers = keys.write("signers", format!("ccm {}\n", key.public()));
    let file = keys.write("signature", &signature);
    let [signers, file] = [&signers, &file].map(|path| path.to_str().expect("UTF-8"));
    let args = ["-Y", "verify", "-f", signers, "-I", "ccm", "-n", "ccm-intent@v1", "-s", file];
    assert!(keygen(&args, &text).status.success());
    assert!(key.has_signed(&text, &signature));
    assert!(!key.has_signed(&text.replace("nginx", "nginy"), &signature));
    assert!(!IntentKey::generate().expect("a key").has_signed(&text, &signature));
    let read = IntentKey::parse(&key.file().expect("a file")).expect("a key");
    assert_eq!(read.public(), key.public());
}

#[test]
fn a_statement_holds_the_whole_intent_and_has_one_form() {
    let intent = intent(content()).text();
    for decision in [
        ApproverDecision::Approve,
        ApproverDecision::GrantAction,
        ApproverDecision::GrantRule("restarts".to_owned()),
        ApproverDecision::Reject,
    ] {
        let made = statement(&intent, decision, 1);
        let text = made.text().expect("a statement");
        assert!(text.contains(&intent) && text.ends_with("}\n"));
        assert_eq!(ApprovalStatement::parse(&text), Ok(made));
        let signed = SignedStatement { text: text.clone(), signature: "signature\n".to_owned() };
        assert_eq!(SignedStatement::parse(&signed.content()).expect("a statement").0, signed);
    }
    let text = statement(&intent, ApproverDecision::Approve, 1).text().expect("a statement");
    for (from, to) in [
        ("ccm-approval/1", "ccm-approval/2"),
        ("\"approve\"", "\"Approve\""),
        ("\"approve\"", "\"grant-rule\""),
        ("\"rule\":null", "\"rule\":\"restarts\""),
        ("\"approver\":null", "\"approver\":\"a*\""),
        ("\"approver\":null", "\"approver\":\"\""),
        ("\"uses\":1", "\"uses\":2"),
        ("\"uses\":1", "\"uses\":0"),
        ("\"not_after\":\"2026", "\"not_after\":\"x2026"),
        ("\"nonce\":\"0", "\"nonce\":\"A"),
        ("\"nonce\":\"0", "\"nonce\":\""),
        ("\"uid\":1001", "\"uid\":1002 "),
        ("\n", ""),
    ] {
        assert!(text.contains(from), "{from}");
        assert!(ApprovalStatement::parse(&text.replacen(from, to, 1)).is_err(), "{to}");
    }
    let silent =
        ApprovalStatement { reason: Some(" ".to_owned()), ..statement(&intent, ApproverDecision::Reject, 1) };
    assert!(matches!(silent.text(), Err(StatementError::Reason { .. })));
}
