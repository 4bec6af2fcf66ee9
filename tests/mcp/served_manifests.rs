//! `apply` through the service: root reads only what its callers read, and they learn nothing of what they may not read.

use std::os::unix::fs::PermissionsExt as _;

use ccm_testkit::{Scratch, shell};
use serde_json::{Value, json};

use crate::approvers;
use crate::client::{LineClient, text};
use crate::machine;
use crate::service::Service;

const APPLY: &str = "callers: {tool: {tools: [governed-execute, apply], users: [agent]}}\n";

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
    }
    // A statement that can't be read is none.
    let asked = apply(&mut client, "/var/lib/work/plain.yaml");
    assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    assert_eq!(client.close().code, 0);
}

/// Makes a directory of root with a secret in it.
fn hide(scratch: &Scratch) {
    scratch.write("lib/secret/key", "Sesame");
    scratch.write("lib/secret/inner/file", "of root");
    let secret = scratch.path().join("lib/secret");
    std::fs::set_permissions(secret, std::fs::Permissions::from_mode(0o700)).expect("a mode");
}

#[test]
fn an_answer_does_not_depend_on_what_the_caller_may_not_read() {
    let Some(service) = Service::new(APPLY) else { return };
    approvers::add(&service.machine);
    let scratch = &service.machine.scratch;
    hide(scratch);
    scratch.write("lib/work/note", "of the agent");
    let mut client = service.connect_for(4401, "apply");
    let mut answer = |text: &str| client.call("apply", json!({"text": text}));
    let named = |name: &str| {
        format!("ccm:\n  name: x\n  resources:\n    - file:\n      - \"{name}\": {{content: x}}\n")
    };
    let valid =
        |condition: &str| named(&format!("{{{{ {condition} ? '/var/lib/work/made' : 'relative' }}}}"));
    // Two texts that ask about the same secret: for one the manifest is valid, for the other it is not.
    for [one, other] in [
        ["file('/var/lib/secret/key') matches '^S'", "file('/var/lib/secret/key') matches '^T'"],
        ["file('/proc/self/environ') matches 'CCM_'", "file('/proc/self/environ') matches 'XYZ_'"],
        ["(Environ.CCM_STATE_DIR ?? '') == ''", "(Environ.CCM_STATE_DIR ?? '') != ''"],
        ["credential('a') == 'b'", "credential('a') != 'b'"],
    ] {
        let [one, other] = [one, other].map(|condition| {
            let answer = answer(&valid(condition));
            // What the text says itself may be told.
            answer["structuredContent"]["status"].as_str().map(str::to_owned)
        });
        let is_of_caller = one == other || one.as_deref() == Some("approval_required");
        assert!(is_of_caller, "{one:?} {other:?}");
    }
    // Sources, includes and data files that exist for root alone are like those that do not.
    for properties in ["source: /var/lib/secret/{}", "content: \"{{ file('/var/lib/secret/{}') }}\""] {
        let [there, missing] = ["key", "gap"].map(|name| {
            let made = copying(&properties.replace("{}", name));
            answer(&made)["structuredContent"]["error"].to_string().replace(name, "NAME")
        });
        assert!(there.contains("can't be"), "{there}");
        assert_eq!(there, missing);
    }
    // What the caller may read is asked about as ever.
    let asked = answer(&copying("content: \"{{ file('/var/lib/work/note') }}\""));
    assert_eq!(asked["structuredContent"]["status"], "approval_required", "{asked}");
    let shown = answer(&copying("contnt: x"));
    assert!(text(&shown).contains("unknown property `contnt`"), "{shown}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn it_does_not_matter_to_a_caller_what_keeps_a_manifest_from_counting_as_signed() {
    let settings =
        "callers: {tool: {tools: [governed-execute, apply], users: [agent]}, apply: {signed: required}}\n";
    let Some(service) = Service::new(settings) else { return };
    approvers::add(&service.machine);
    service.machine.scratch.write("lib/work/plain.yaml", copying("content: one"));
    let mut client = service.connect_for(4401, "apply");
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
