//! `apply` through the service: root reads what its callers name, and they see nothing of what it reads.

use std::os::unix::fs::PermissionsExt as _;

use ccm_testkit::shell;
use serde_json::{Value, json};

use crate::approvers;
use crate::client::{LineClient, text};
use crate::machine;
use crate::service::Service;

const APPLY: &str = "callers: {tool: {tools: [governed-execute, apply], users: [agent]}}\n";

/// Answer about a manifest that can't be applied, for a caller of the service.
const UNSHOWN: &str = "can't be read, is not valid, is denied by the policy, or copies too many files";

/// Returns a manifest that copies a file or a tree.
fn copying(properties: &str) -> String {
    format!("ccm:\n  name: copy\n  resources:\n    - file: [{{/var/lib/work/made: {{{properties}}}}}]\n")
}

fn apply(client: &mut LineClient, manifest: &str) -> Value {
    client.call("apply", json!({"manifest": manifest}))
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let Some(service) = Service::new(APPLY) else { return };
    approvers::add(&service.machine);
    let scratch = &service.machine.scratch;
    // Without a writer, an open of a pipe would wait for good.
    shell("mkfifo lib/work/pipe.yaml lib/work/pipe lib/work/plain.yaml.approval", scratch.path());
    scratch.write("lib/work/site.yaml", copying("source: /var/lib/work/pipe"));
    scratch.write("lib/work/plain.yaml", copying("content: one"));
    let mut client = service.connect_for(4401, "apply");
    for manifest in ["/var/lib/work/pipe.yaml", "/dev/zero", "/var/lib/work", "/var/lib/work/site.yaml"] {
        let refused = apply(&mut client, manifest);
        assert_eq!(refused["structuredContent"]["status"], "not_tried", "{manifest}: {refused}");
        assert!(text(&refused).contains(UNSHOWN), "{manifest}: {refused}");
    }
    // A statement that can't be read is none.
    let asked = apply(&mut client, "/var/lib/work/plain.yaml");
    assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn callers_of_the_service_see_nothing_of_the_files_that_a_manifest_copies() {
    let Some(service) = Service::new(APPLY) else { return };
    approvers::add(&service.machine);
    let scratch = &service.machine.scratch;
    scratch.write("lib/secret/inner/file", "of root");
    let secret = scratch.path().join("lib/secret");
    std::fs::set_permissions(secret, std::fs::Permissions::from_mode(0o700)).expect("a mode");
    // A directory is no source of a file. Only root can tell that this is one.
    scratch.write("lib/work/site.yaml", copying("source: /var/lib/secret/inner"));
    let mut client = service.connect_for(4401, "apply");
    let hidden = apply(&mut client, "/var/lib/work/site.yaml");
    assert!(text(&hidden).contains(UNSHOWN), "{hidden}");
    assert!(!hidden.to_string().contains("secret"), "{hidden}");
    // Nor does it matter what keeps a manifest from counting as signed.
    service.machine.write_policy(
        "callers: {tool: {tools: [governed-execute, apply], users: [agent]}, apply: {signed: required}}\n",
    );
    scratch.write("lib/work/plain.yaml", copying("content: one"));
    let unsigned = apply(&mut client, "/var/lib/work/plain.yaml");
    assert!(text(&unsigned).contains("has to be signed by an approver"), "{unsigned}");
    assert!(!unsigned.to_string().contains("plain.yaml.approval"), "{unsigned}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_manifest_that_copies_too_much_is_not_read_to_its_end() {
    let Some(machine) = machine("callers: {tool: {tools: [governed-execute, apply]}}\n") else { return };
    approvers::add(&machine);
    let (large, made) = (machine.scratch.at("large"), machine.scratch.at("made"));
    shell("truncate -s 4T large", machine.scratch.path());
    let manifest = machine.scratch.write(
        "site.yaml",
        format!("ccm:\n  name: site\n  resources:\n    - file: [{{{made}: {{source: {large}}}}}]\n"),
    );
    let mut client = LineClient::start_with(&machine, &["--set", "apply"]);
    client.initialize("2025-11-25");
    let refused = apply(&mut client, &manifest.display().to_string());
    assert_eq!(refused["structuredContent"]["status"], "not_tried", "{refused}");
    assert!(text(&refused).contains("more than 20000 or larger than 1073741824 bytes"), "{refused}");
    assert!(text(&refused).contains("instead: let an operator run `ccm apply`"), "{refused}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_new_text_takes_the_place_of_the_oldest() {
    let Some(machine) = machine("callers: {tool: {tools: [governed-execute, apply]}}\n") else { return };
    approvers::add(&machine);
    let made = machine.scratch.at("made");
    let mut client = LineClient::start_with(&machine, &["--set", "apply"]);
    client.initialize("2025-11-25");
    let ask = |client: &mut LineClient, content: &str| {
        let text =
            format!("ccm:\n  name: text\n  resources:\n    - file: [{{{made}: {{content: {content}}}}}]\n");
        let asked = client.call("apply", json!({"text": text}));
        assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    };
    ask(&mut client, "one");
    let texts = machine.scratch.path().join("lib/ccm/tool-manifests");
    let names = || {
        let entries = std::fs::read_dir(&texts).expect("a directory").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let first = names();
    let others = "for n in $(seq 2 100); do mkdir -m 700 $n; done; touch -d '1 hour ago' 50";
    shell(others, &texts);
    assert_eq!(names().len(), 100);
    ask(&mut client, "two");
    let left = names();
    assert!(left.len() == 100 && left.contains(&first[0]) && !left.contains(&"50".to_owned()), "{left:?}");
    // A text that is there already takes no place.
    ask(&mut client, "one");
    assert_eq!(names().len(), 100);
    assert_eq!(client.close().code, 0);
}
