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

#[test]
fn loads_that_are_refused_count_as_calls() {
    let Some(service) = Service::new(&format!("{APPLY}limits: {{calls: 3/1h}}\n")) else { return };
    approvers::add(&service.machine);
    let mut client = service.connect_for(4401, "apply");
    for manifest in ["/var/lib/work/gone.yaml", "/dev/zero", "/etc/shadow"] {
        let refused = apply(&mut client, manifest);
        assert_eq!(refused["structuredContent"]["status"], "not_tried", "{manifest}: {refused}");
    }
    let over = client.call("apply", json!({"text": copying("content: one")}));
    assert_eq!(over["structuredContent"]["status"], "denied", "{over}");
    assert!(text(&over).contains("the limit of 3 calls in 1h0m0s is reached"), "{over}");
    assert_eq!(client.close().code, 0);
    let refused = service.log().iter().filter(|line| line["type"] == "refused").count();
    assert_eq!(refused, 4, "each refused load is recorded, and the call beyond the limit");
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

/// Writes what a caller may change, each of which leaves a trace if it runs.
const CHANGEABLE: &str = r#"
cd lib/work
evil='echo evil > /var/lib/evil'
printf '#!/bin/sh\n%s\n' "$evil" | tee a.sh tool > script
printf 'all:\n\t%s\n' "$evil" | tee Makefile > inc.mk
printf '#!/usr/bin/env tool\n' > by-name
echo "$evil" > env
chmod 755 a.sh tool script by-name
chown -R 4401:4401 .
"#;

#[test]
fn root_runs_nothing_that_a_caller_can_change() {
    let Some(service) = Service::new(APPLY) else { return };
    approvers::add(&service.machine);
    let scratch = &service.machine.scratch;
    shell(CHANGEABLE, scratch.path());
    let mut client = service.connect_for(4401, "apply");
    for resource in [
        "exec: [sh /var/lib/work/a.sh]",
        "exec: [/var/lib/work/a.sh]",
        "exec: [{x: {command: sh a.sh, cwd: /var/lib/work}}]",
        "exec: [{x: {command: make, cwd: /var/lib/work}}]",
        "exec: [make -C /var/lib/work]",
        "exec: [make -f/var/lib/work/inc.mk]",
        "exec: [{x: {command: '. /var/lib/work/a.sh', provider: shell}}]",
        "exec: [{x: {command: 'cat /var/lib/work/a.sh | sh', provider: shell}}]",
        "exec: [{x: {command: 'cd /var/lib/work && ./a.sh', provider: shell}}]",
        "exec: [{x: {command: 'bash -c :', environment: {BASH_ENV: /var/lib/work/env}}}]",
        "exec: [{x: {command: tool, path: [/var/lib/work, /usr/bin, /bin]}}]",
        "exec: [{x: {command: 'true', unless: sh /var/lib/work/a.sh}}]",
        "exec: [{x: {command: sh, stdin: '. /var/lib/work/a.sh'}}]",
        "exec: [{x: {command: 'd=work; cd /var/lib/$d; make -s', provider: shell}}]",
        "exec: [{x: {command: 'cd var; cd lib; cd work; make -s', provider: shell}}]",
        "exec: [{x: {command: 'cd ${x:-/var/lib/work}; sh a.sh', provider: shell}}]",
        "exec: [{x: {command: 'for f in /var/lib/wor*/a.sh; do sh $f; done', provider: shell}}]",
        "exec: [{x: {command: 'sh $(printf /var/li%s b/work/a.sh)', provider: shell}}]",
        "exec: [{x: {command: 'ls /var/*/work/a.sh | xargs sh', provider: shell}}]",
        "exec: [{x: {command: 'find /var -path \"*work/a.sh\" -exec sh {} +', provider: shell}}]",
        "file: [{/var/lib/made: {content: x, validate: sh /var/lib/work/a.sh %s}}]",
    ] {
        let text = format!("ccm:\n  name: x\n  resources:\n    - {resource}\n");
        let asked = client.call("apply", json!({"text": text}));
        if asked["structuredContent"]["status"] == "approval_required" {
            let code = asked["structuredContent"]["code"].as_str().expect("a code");
            approvers::approve(&service.machine, code);
            let applied = client.call("resume", json!({"intent": code}));
            assert_eq!(applied["structuredContent"]["exitCode"], 4, "{resource}: {applied}");
            let shown = applied.to_string();
            let is_told = [
                "others than root can change",
                "code that nobody can know",
                "nobody knows before it runs",
                "it may run any file below",
            ]
            .iter()
            .any(|part| shown.contains(part));
            assert!(is_told, "{resource}: {shown}");
        }
        assert!(!scratch.has("lib/evil"), "{resource}: {asked}");
    }
    // What only root can change runs.
    shell("printf 'echo good > /var/lib/good\\n' > lib/good.sh", scratch.path());
    let text = "ccm:\n  name: x\n  resources:\n    - exec: [sh /var/lib/good.sh]\n";
    let asked = client.call("apply", json!({"text": text}));
    let code = asked["structuredContent"]["code"].as_str().unwrap_or_else(|| panic!("{asked}"));
    approvers::approve(&service.machine, code);
    let applied = client.call("resume", json!({"intent": code}));
    assert!(scratch.has("lib/good"), "{applied}");
    assert_eq!(client.close().code, 0);
}

#[test]
fn a_copy_of_a_signed_manifest_runs_nothing_beside_itself() {
    let Some(service) = Service::new(APPLY) else { return };
    approvers::add(&service.machine);
    let scratch = &service.machine.scratch;
    shell("mkdir lib/site lib/work/copy", scratch.path());
    let resources = [
        "exec: [\"{{ Manifest.dir }}/tool\"]",
        "file: [{/var/lib/made: {ensure: link, target: \"{{ Manifest.dir }}/conf\"}}]",
        "cron: [{x: {command: \"{{ Manifest.dir }}/tool\", minute: 5, user: root}}]",
        "exec: [\"{{ lookup('manifest.dir') }}/tool\"]",
        "exec: [\"{{ $env.Manifest.dir }}/tool\"]",
        "exec: [\"{{ template('t.j2') }}/tool\"]",
    ];
    scratch.write("lib/site/t.j2", "{{ manifest.dir }}");
    let mut client = service.connect_for(4401, "apply");
    for (number, resource) in resources.into_iter().enumerate() {
        let name = format!("m{number}.yaml");
        scratch.write(&format!("lib/site/{name}"), format!("ccm:\n  resources:\n    - {resource}\n"));
        let key = scratch.at("lib/alice/.ssh/id_ed25519");
        let manifest = format!("/var/lib/site/{name}");
        let arguments = ["approve", "--manifest", &manifest, "--until", "1d", "--key", &key, "--yes"];
        let signed = service.machine.run(&arguments);
        assert_eq!(signed.code, 0, "{}", signed.shown());
        let copy = format!(
            "cp lib/site/{name}* lib/site/t.j2 lib/work/copy; printf '#!/bin/sh\\necho evil > /var/lib/evil\\n' > lib/work/copy/tool
chmod 755 lib/work/copy/tool; chown -R 4401:4401 lib/work/copy"
        );
        shell(&copy, scratch.path());
        let refused = apply(&mut client, &format!("/var/lib/work/copy/{name}"));
        assert_eq!(refused["structuredContent"]["status"], "not_tried", "{resource}: {refused}");
        assert!(text(&refused).contains("dir"), "{resource}: {refused}");
        assert!(!scratch.has("lib/evil"), "{resource}: {refused}");
    }
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
