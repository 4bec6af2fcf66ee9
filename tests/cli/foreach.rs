//! `foreach`: resources of a list, from the command line to the records.

use ccm_testkit::{Called, Scratch};
use serde_json::Value;

use crate::ccm;
use crate::expect::outcomes;

const MANIFEST: &str = "\
data:
  # @sensitive
  users:
    - {name: ada-lovelace, password: 'S3cr3t {{ 1 + 1 }} of ada'}
    - {name: bob-the-builder, password: \"{{ '{{ 7 }} $(id) `id` of bob' }}\"}
ccm:
  resources:
    - foreach: '{{ Data.users }}'
      file:
        - ROOT/{{ Index }}: {ensure: directory}
        - ROOT/{{ Index }}/password: {content: '{{ Item.password }}', mode: '0600'}
    - foreach: '{{ Data.users }}'
      exec:
        - reload {{ Index }}:
            command: touch ROOT/{{ Index }}/reloaded
            refresh_only: true
            subscribe: ['file#ROOT/{{ Index }}/password']
";

fn scratch_with(manifest: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("m.yaml", manifest.replace("ROOT", &scratch.at("made")));
    scratch.write("made/keep", "");
    scratch
}

fn run(scratch: &Scratch, arguments: &[&str]) -> Called {
    ccm(scratch, arguments).run()
}

#[test]
fn resources_are_known_by_their_names() {
    let scratch = scratch_with(MANIFEST);
    let only = run(
        &scratch,
        &[
            "apply",
            "m.yaml",
            "--output",
            "jsonl",
            "--only",
            &format!("file#{}/1/password", scratch.at("made")),
        ],
    );
    assert_eq!(only.code, 0, "{}", only.shown());
    let changed: Vec<String> =
        outcomes(&only).into_iter().filter(|line| line.ends_with(" changed")).collect();
    assert_eq!(changed, ["file#[dir]/made/1 changed", "file#[dir]/made/1/password changed"]);
    // What is not expanded is not expanded, and no shell reads it.
    assert_eq!(scratch.read("made/1/password").as_deref(), Some("{{ 7 }} $(id) `id` of bob"));
    let pending = run(&scratch, &["status", "--pending"]);
    assert!(pending.stdout.contains("exec#reload 1"), "{}", pending.shown());
    let rest = run(&scratch, &["apply", "m.yaml"]);
    assert_eq!(rest.code, 0, "{}", rest.shown());
    assert!(scratch.has("made/0/reloaded") && scratch.has("made/1/reloaded"), "{}", rest.shown());
    assert_eq!(scratch.read("made/0/password").as_deref(), Some("S3cr3t 2 of ada"));
    let graph = run(&scratch, &["graph", "m.yaml"]);
    assert!(graph.stdout.contains("exec#reload 1"), "{}", graph.shown());
    assert_eq!(run(&scratch, &["apply", "m.yaml", "--detailed-exitcodes"]).code, 0);
}

#[test]
fn a_rendered_manifest_makes_the_same_resources() {
    let scratch = scratch_with(&MANIFEST.replace("  # @sensitive\n", ""));
    let rendered = run(&scratch, &["apply", "m.yaml", "--render"]);
    assert_eq!(rendered.code, 0, "{}", rendered.shown());
    assert!(!rendered.stdout.contains("foreach"), "{}", rendered.shown());
    let directory = scratch.path().display().to_string();
    scratch.write("rendered.yaml", rendered.stdout.replace("[dir]", &directory));
    assert_eq!(run(&scratch, &["apply", "rendered.yaml"]).code, 0);
    let same = run(&scratch, &["apply", "m.yaml", "--noop", "--output", "jsonl"]);
    let open: Vec<String> =
        outcomes(&same).into_iter().filter(|line| !line.ends_with(" unchanged")).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_sensitive_item_is_nowhere() {
    for broken in ["", "mode: bad"] {
        let manifest =
            MANIFEST.replace("mode: '0600'", if broken.is_empty() { "mode: '0600'" } else { broken });
        let scratch = scratch_with(&manifest);
        let events = scratch.at("events");
        for arguments in [
            &["validate", "m.yaml"][..],
            &["validate", "m.yaml", "--output", "json"],
            &["apply", "m.yaml", "--noop", "--diff", "-vv"],
            &["apply", "m.yaml", "--render"],
            &["apply", "m.yaml", "-vv", "--diff", "--events-file", &events],
            &["apply", "m.yaml", "--output", "json"],
        ] {
            let called = run(&scratch, arguments);
            let printed =
                called.stdout.clone() + &called.stderr + &scratch.read("events").unwrap_or_default();
            for secret in ["of ada", "of bob", "lovelace", "builder"] {
                assert!(!printed.contains(secret), "{secret} in {arguments:?}: {}", called.shown());
            }
        }
    }
}

#[test]
fn the_document_of_a_validation_names_the_item() {
    let scratch = scratch_with(
        "ccm: {resources: [{foreach: ['0600', rw], file: ['ROOT/{{ Item }}': {mode: '{{ Item }}', content: a}]}]}",
    );
    let called = run(&scratch, &["validate", "m.yaml", "--output", "json"]);
    assert_eq!(called.code, 1, "{}", called.shown());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    let finding = &document["manifests"][0]["findings"][0];
    assert_eq!(finding["labels"][0]["text"], "in item 2 (`rw`) of `foreach`");
    assert_eq!(finding["labels"][0]["location"]["column"], 38);
}

#[test]
fn warnings_and_notes_are_shown_for_the_first_item() {
    let scratch = scratch_with(
        "ccm:\n  resources:\n    - foreach: [a, b, c]\n      exec:\n        - run {{ Item }}: {command: echo $HOME}\n",
    );
    let called = run(&scratch, &["validate", "m.yaml"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    for part in ["warning: ", "note: ", "in item 1 (`a`) of `foreach`", "exec#run a runs in every run"] {
        assert_eq!(called.stderr.matches(part).count(), 1, "{part}: {}", called.shown());
    }
}

#[test]
fn an_empty_list_is_an_empty_run() {
    let scratch = scratch_with(
        "data: {users: []}\nccm: {resources: [{foreach: '{{ Data.users }}', file: ['ROOT/{{ Item }}': {content: a}]}]}",
    );
    for arguments in [&["validate", "m.yaml"][..], &["graph", "m.yaml"], &["apply", "m.yaml"]] {
        let called = run(&scratch, arguments);
        assert_eq!(called.code, 0, "{}", called.shown());
        assert!(!called.stderr.contains("warning"), "{}", called.shown());
    }
    assert_eq!(scratch.names(), ["m.yaml", "made"]);
}
