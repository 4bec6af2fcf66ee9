//! `apply`: manifests that an approver has signed, and no others.

use serde_json::json;

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
    let refused = apply(&mut client);
    assert_eq!(refused["structuredContent"]["status"], "denied", "{refused}");
    assert!(
        text(&refused).contains("instead: let an approver sign it: `ccm approve --manifest"),
        "{refused}"
    );
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
    let refused = apply(&mut client);
    assert_eq!(refused["structuredContent"]["status"], "denied", "{refused}");
    assert_eq!(machine.scratch.read("made").as_deref(), Some("one"));
    assert_eq!(client.close().code, 0);
    let log = machine.audit_log().join("\n");
    assert_eq!(log.matches("\"type\":\"refused\"").count(), 2, "{log}");
    assert!(log.contains("\"argv\":[\"ccm\",\"apply\",\"--require-signed\""), "{log}");
}
