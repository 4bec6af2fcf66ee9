//! `apply`: manifests that an approver has signed or approved, and no others.

use serde_json::{Value, json};

use crate::client::{LineClient, text};
use crate::{approvers, machine};

const APPLY: &str = "callers: {tool: {tools: [governed-execute, apply]}}\n";

#[test]
fn a_signed_manifest_is_applied_and_no_other() {
    let Some(machine) = machine(APPLY) else { return };
    let made = machine.scratch.at("made");
    let manifest = machine.scratch.write(
        "site.yaml",
        format!("ccm:\n  name: site\n  resources:\n    - file: [{{{made}: {{content: one}}}}]\n"),
    );
    let manifest = manifest.display().to_string();
    approvers::add(&machine);

    let mut client = LineClient::start_with(&machine, &["--set", "apply"]);
    client.initialize("2025-11-25");
    let listed = client.request("tools/list", json!({})).to_string();
    assert!(listed.contains("\"apply\"") && !listed.contains("\"exec\""), "{listed}");
    let apply = |client: &mut LineClient| client.call("apply", json!({"manifest": manifest}));
    let asked = apply(&mut client);
    assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    assert!(!machine.scratch.has("made"));

    let key = machine.scratch.at("lib/alice/.ssh/id_ed25519");
    let signed = machine.run(&["approve", "--manifest", &manifest, "--until", "1d", "--key", &key, "--yes"]);
    assert_eq!(signed.code, 0, "{}", signed.shown());
    let applied = apply(&mut client);
    assert_eq!(
        (&applied["isError"], &applied["structuredContent"]["exitCode"]),
        (&json!(false), &json!(0)),
        "{applied}"
    );
    assert_eq!(machine.scratch.read("made").as_deref(), Some("one"));
    let changed = machine.scratch.read("site.yaml").expect("a manifest").replace("one", "two");
    machine.scratch.write("site.yaml", changed);
    let asked = apply(&mut client);
    assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    assert_eq!(machine.scratch.read("made").as_deref(), Some("one"));
    assert_eq!(client.close().code, 0);
    let log = machine.audit_log().join("\n");
    assert_eq!(log.matches("\"type\":\"refused\"").count(), 2, "{log}");
    assert!(log.contains("\"argv\":[\"ccm\",\"apply\",\"--require-signed\""), "{log}");
}

/// Calls `apply`, which has to wait for its approval, and returns the code of its intent.
fn ask(client: &mut LineClient, input: &Value) -> String {
    ask_for("apply", client, input)
}

/// Calls a tool, which has to wait for its approval, and returns the code of its intent.
fn ask_for(tool: &str, client: &mut LineClient, input: &Value) -> String {
    let asked = client.call(tool, input.clone());
    assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    asked["structuredContent"]["code"].as_str().expect("a code").to_owned()
}

#[test]
fn a_text_is_applied_once_a_person_has_approved_it() {
    let Some(machine) = machine(APPLY) else { return };
    approvers::add(&machine);
    let (made, other) = (machine.scratch.at("made"), machine.scratch.at("other"));
    let text_of = |made: &str| {
        format!("ccm:\n  name: text\n  resources:\n    - file: [{{{made}: {{content: one}}}}]\n")
    };
    let mut client = LineClient::start_with(&machine, &["--set", "apply"]);
    client.initialize("2025-11-25");
    let (first, second) = (json!({"text": text_of(&made)}), json!({"text": text_of(&other)}));
    let (first, second) = (ask(&mut client, &first), ask(&mut client, &second));
    let shown = machine.run(&["approvals", "show", &first]);
    assert!(shown.stdout.contains("content: one") && shown.stdout.contains("sha256"), "{}", shown.shown());
    let early = client.call("resume", json!({"intent": first}));
    assert_eq!(early["structuredContent"]["status"], "approval_required", "{early}");
    approvers::approve(&machine, &first);
    let applied = client.call("resume", json!({"intent": first}));
    assert_eq!(applied["structuredContent"]["exitCode"], 0, "{applied}");
    assert_eq!(machine.scratch.read("made").as_deref(), Some("one"));
    // An approval is for one text, and counts once.
    let again = client.call("resume", json!({"intent": first}));
    assert_eq!(again["structuredContent"]["status"], "approval_ended", "{again}");
    let waiting = client.call("resume", json!({"intent": second}));
    assert_eq!(waiting["structuredContent"]["status"], "approval_required", "{waiting}");
    assert!(!machine.scratch.has("other"));
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_resource_is_ensured_once_a_person_has_approved_it() {
    let Some(machine) = machine(APPLY) else { return };
    approvers::add(&machine);
    let made = machine.scratch.at("made");
    let mut client = LineClient::start_with(&machine, &["--set", "apply"]);
    client.initialize("2025-11-25");
    let listed = client.request("tools/list", json!({})).to_string();
    assert!(listed.contains("\"ensure\""), "{listed}");
    let file = json!({"type": "file", "properties": {"name": made, "content": "a: [b]\n"}});
    let code = ask_for("ensure", &mut client, &file);
    let shown = machine.run(&["approvals", "show", &code]);
    assert!(shown.stdout.contains("a: [b]") && shown.stdout.contains("ensure"), "{}", shown.shown());
    assert!(!machine.scratch.has("made"));
    approvers::approve(&machine, &code);
    let applied = client.call("resume", json!({"intent": code}));
    assert_eq!(applied["structuredContent"]["exitCode"], 0, "{applied}");
    assert_eq!(machine.scratch.read("made").as_deref(), Some("a: [b]\n"));
    // Nobody is asked about what the policy denies, or what has errors.
    let denied = json!({"type": "exec", "properties": {"name": "mkfs.ext4 /dev/sda1"}});
    let denied = client.call("ensure", denied);
    assert_eq!(denied["structuredContent"]["status"], "denied", "{denied}");
    let wrong = client.call("ensure", json!({"type": "file", "properties": {"name": made, "mode": 99999}}));
    assert_eq!(wrong["structuredContent"]["status"], "not_tried", "{wrong}");
    assert!(text(&wrong).contains("99999"), "{wrong}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_file_that_was_changed_after_its_approval_is_not_applied() {
    let Some(machine) = machine(APPLY) else { return };
    approvers::add(&machine);
    let made = machine.scratch.at("made");
    let source = machine.scratch.write("source", "one");
    let manifest = machine.scratch.write(
        "site.yaml",
        format!(
            "ccm:\n  name: site\n  resources:\n    - file: [{{{made}: {{source: {}}}}}]\n",
            source.display()
        ),
    );
    let input = json!({"manifest": manifest.display().to_string()});
    let mut client = LineClient::start_with(&machine, &["--set", "apply"]);
    client.initialize("2025-11-25");
    let code = ask(&mut client, &input);
    approvers::approve(&machine, &code);
    machine.scratch.write("source", "two");
    let refused = client.call("resume", json!({"intent": code}));
    assert_eq!(refused["structuredContent"]["status"], "approval_ended", "{refused}");
    assert!(!machine.scratch.has("made"));
    let code = ask(&mut client, &input);
    approvers::approve(&machine, &code);
    let applied = client.call("resume", json!({"intent": code}));
    assert_eq!(applied["structuredContent"]["exitCode"], 0, "{applied}");
    assert_eq!(machine.scratch.read("made").as_deref(), Some("two"));
    assert_eq!(client.close().code, 0);
}

#[test]
fn nobody_is_asked_about_a_text_that_the_policy_denies() {
    let Some(machine) = machine(APPLY) else { return };
    approvers::add(&machine);
    let mut client = LineClient::start_with(&machine, &["--set", "apply"]);
    client.initialize("2025-11-25");
    let text_of = |command: &str| json!({"text": format!("ccm:\n  name: text\n  resources:\n    - exec: [{{x: {{command: {command}}}}}]\n")});
    let denied = client.call("apply", text_of("mkfs.ext4 /dev/sda1"));
    assert_eq!(denied["structuredContent"]["status"], "denied", "{denied}");
    assert!(text(&denied).contains("the policy denies this command: `mkfs.ext4"), "{denied}");
    let waiting = machine.run(&["approvals"]);
    assert_eq!(waiting.stdout, "nothing waits for an approval\n", "{}", waiting.shown());
    for input in [
        json!({}),
        json!({"text": "  "}),
        json!({"text": "ccm: {}", "manifest": "/site.yaml"}),
        json!({"text": "x".repeat(20_000)}),
    ] {
        let bad = client.call("apply", input.clone());
        assert_eq!(bad["structuredContent"]["status"], "bad_input", "{input}: {bad}");
    }
    let invalid = client.call("apply", json!({"text": "ccm: [1]"}));
    assert_eq!(invalid["structuredContent"]["status"], "not_tried", "{invalid}");
    // Who requires a signature gets one.
    machine.write_policy("callers: {tool: {tools: [apply]}, apply: {signed: required}}\n");
    let unsigned = client.call("apply", text_of("echo one"));
    assert_eq!(unsigned["structuredContent"]["status"], "denied", "{unsigned}");
    assert!(text(&unsigned).contains("the text has to be signed by an approver"), "{unsigned}");
    assert!(text(&unsigned).contains("instead: write it to a file"), "{unsigned}");
    assert_eq!(client.close().code, 0);
}
