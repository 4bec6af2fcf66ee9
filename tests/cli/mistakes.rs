//! Manifests with mistakes: each is shown with its place, and nothing is run.

use ccm_testkit::Scratch;
use insta::assert_snapshot;

use crate::{apply, ccm};

/// Applies a broken manifest. Its first resource would leave a trace if it were run.
fn refused(name: &str, manifest: &str) {
    let scratch = Scratch::new();
    let called = apply(&scratch, &manifest.replace("[dir]", &scratch.path().to_string_lossy()), &[]);
    assert_eq!(called.code, 1, "{name}: {}", called.shown());
    assert_eq!(called.stdout, "", "{name}: {}", called.shown());
    assert_eq!(scratch.names(), ["manifest.yaml"], "{name} was run");
    assert_snapshot!(name, called.shown());
}

#[test]
fn every_kind_of_mistake_has_its_words() {
    for (name, manifest) in [
        (
            "misspelt_property",
            "ccm:\n  resources:\n    - exec:\n        - touch [dir]/x:\n        - reload: {refresh_onyl: true}\n",
        ),
        ("unknown_type", "ccm:\n  resources:\n    - exce:\n        - reload: {}\n"),
        (
            "other_providers",
            "ccm:\n  resources:\n    - package:\n        - a: {provider: zypper}\n        - b: {provider: yum}\n    - service:\n        - c: {provider: sysv}\n",
        ),
        ("later_type", "ccm:\n  resources:\n    - archive:\n        - /opt/app.tgz: {ensure: present}\n"),
        (
            "unknown_reference",
            "ccm:\n  resources:\n    - exec:\n        - reload: {}\n        - b: {require: [exec#relaod]}\n",
        ),
        (
            "duplicate_resource",
            "ccm:\n  resources:\n    - exec:\n        - a: {}\n    - exec:\n        - a: {}\n",
        ),
        (
            "one_unit_twice",
            "ccm:\n  resources:\n    - service:\n        - nginx: {enable: true}\n        - nginx.service: {ensure: stopped}\n",
        ),
        (
            "duplicate_key",
            "ccm:\n  resources:\n    - exec:\n        - a:\n            command: x\n            command: y\n",
        ),
        ("alias_clash", "ccm:\n  resources:\n    - exec:\n        - a: {alias: b}\n        - b: {}\n"),
        ("requires_itself", "ccm:\n  resources:\n    - exec:\n        - a: {require: [exec#a]}\n"),
        (
            "cycle",
            "ccm:\n  resources:\n    - exec:\n        - a: {require: [exec#c]}\n        - b: {subscribe: [exec#a]}\n        - c: {require: [exec#b]}\n        - d: {require: [exec#a]}\n",
        ),
        ("tab", "ccm:\n  resources:\n\t- exec:\n        - a: {}\n"),
        ("unclosed_quote", "ccm:\n  resources:\n    - exec:\n        - a: {command: 'echo}\n"),
        (
            "wrong_indentation",
            "ccm:\n  resources:\n    - exec:\n        - a:\n            command: x\n           cwd: /\n",
        ),
        ("properties_not_indented", "ccm:\n  resources:\n    - exec:\n        - a:\n          command: x\n"),
        ("dash_before_name", "ccm:\n  resources:\n    - exec:\n        - name: a\n          command: x\n"),
        ("no_blank_behind_colon", "ccm:\n  resources:\n    - exec:\n        - a:\n            command:x\n"),
        ("empty", ""),
        ("only_comments", "# nothing here\n"),
        ("no_resources", "ccm:\n  name: x\n"),
        ("empty_resources", "ccm:\n  resources: []\n"),
        ("resources_at_the_top", "resources:\n  - exec:\n      - a: {}\n"),
        ("unknown_top_level", "ccm:\n  resources: [{exec: {name: a}}]\nccmm: 1\n"),
        (
            "later_setting",
            "ccm:\n  executors: {box: {kind: docker, image: x}}\n  resources: [{exec: {name: a}}]\n",
        ),
        (
            "later_property",
            "ccm:\n  resources:\n    - exec:\n        - a: {health_checks: [], control: {if: 'true'}}\n",
        ),
        ("later_provider", "ccm:\n  resources:\n    - exec:\n        - a: {provider: docker}\n"),
        ("expression", "ccm:\n  resources:\n    - exec:\n        - a: {command: 'echo {{ Data.x }}'}\n"),
        ("unquoted_expression", "ccm:\n  resources:\n    - exec:\n        - a: {command: {{ Data.x }}}\n"),
        (
            "shell_variable_in_posix",
            "ccm:\n  resources:\n    - exec:\n        - a: {command: 'echo ${HOME}'}\n",
        ),
        ("quoting", "ccm:\n  resources:\n    - exec:\n        - a:\n            command: echo \"it's\n"),
        (
            "both_aliases",
            "ccm:\n  resources:\n    - exec:\n        - a: {refresh_only: true, refreshonly: true}\n",
        ),
        ("merge_key", "ccm:\n  resources:\n    - exec:\n        - a: {<<: {cwd: /}}\n"),
        ("tag", "ccm:\n  resources:\n    - exec:\n        - a: {command: !vault x}\n"),
        ("two_documents", "ccm: {resources: [{exec: {name: a}}]}\n---\nccm: {}\n"),
        (
            "name_in_defaults",
            "ccm:\n  resources:\n    - exec:\n        - defaults: {name: x}\n        - a: {}\n",
        ),
        (
            "many_at_once",
            "ccm:\n  fail_on_error: yes\n  resources:\n    - exec:\n        - a: {timeout: 30, cwd: tmp, returns: [0, x]}\n        - b: {require: [exec#nowhere, b]}\n        - c: {provider: bash}\n        - d: {ensure: absent}\n",
        ),
        ("escapes", "ccm:\n  resources:\n    - exec:\n        - a: {\"\\u001b[31mred\": 1}\n"),
    ] {
        refused(name, manifest);
    }
}

#[test]
fn a_warning_does_not_keep_a_manifest_from_running() {
    let scratch = Scratch::new();
    let called = apply(
        &scratch,
        "ccm:\n  resources:\n    - exec:\n        - reload:\n            command: 'false'\n            refresh_only: true\n",
        &[],
    );
    assert_eq!(called.code, 0);
    assert_snapshot!(called.shown());
}

#[test]
fn bombs_end_in_an_error() {
    let scratch = Scratch::new();
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(",");
        bomb += &format!("a{level}: &a{level} [{aliases}]\n");
    }
    for (name, text) in [
        ("an alias bomb", bomb),
        ("deep flow", "[".repeat(200_000)),
        ("deep blocks", "- ".repeat(200_000)),
        ("deep maps", "{a: ".repeat(200_000)),
    ] {
        let called = apply(&scratch, &text, &[]);
        assert_eq!(called.code, 1, "{name}");
        assert!(called.stderr.len() < 5000, "{name}: {}", called.stderr.len());
        assert!(called.stderr.contains("manifest.yaml:"), "{name}: {}", called.stderr);
    }
}

#[test]
fn a_long_cycle_is_named_in_full_and_shown_in_part() {
    let scratch = Scratch::new();
    let count = 3000;
    let lines: Vec<String> = (0..count)
        .map(|number| format!("        - r{number}: {{require: [exec#r{}]}}\n", (number + 1) % count))
        .collect();
    let called = apply(&scratch, &format!("ccm:\n  resources:\n    - exec:\n{}", lines.concat()), &[]);
    assert_eq!(called.code, 1);
    assert!(called.stderr.contains(" → exec#r1500 → "), "not every member is named");
    assert!(called.stderr.lines().count() < 40, "{} lines", called.stderr.lines().count());
}

#[test]
fn a_manifest_that_can_not_be_read_is_named() {
    let scratch = Scratch::new();
    scratch.write("binary.yaml", b"ccm:\n  name: \xff\xfe\n");
    scratch.write("long.yaml", "# 0123456789\n");
    std::fs::create_dir(scratch.path().join("folder")).expect("a directory");
    for (name, args) in [
        ("manifest_missing", &["apply", "nosuch.yaml"][..]),
        ("manifest_is_a_directory", &["apply", "folder"]),
        ("manifest_is_not_text", &["validate", "binary.yaml"]),
        ("manifest_is_too_long", &["graph", "long.yaml", "--max-manifest-size", "10"]),
    ] {
        let called = ccm(&scratch, args).run();
        assert_eq!(called.code, 1, "{name}");
        assert_snapshot!(name, called.shown());
    }
}

#[test]
fn a_manifest_on_standard_input_is_called_so() {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["validate", "-"]).input("ccm: 5\n").run();
    assert_eq!(called.code, 1);
    assert_snapshot!(called.shown());
}

#[test]
fn a_long_line_is_named_and_not_shown() {
    let scratch = Scratch::new();
    let text = format!("ccm: {{resources: [{{exec: {{name: {}, comand: y}}}}]}}", "x".repeat(100_000));
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 1);
    assert!(called.stderr.len() < 1000, "{}", called.stderr.len());
    assert!(called.stderr.contains("manifest.yaml:1:100035"), "{}", called.stderr);
}

#[test]
fn an_open_quote_around_an_expression_is_the_users_own() {
    let execs = "        - a: {command: \"/bin/echo '{{ 1 + 1 }}\"}\n        - b: {command: \"{{ 'echo \\\"x' }}\"}\n";
    let called = crate::apply_execs(&Scratch::new(), execs, &[]);
    assert_eq!(called.stderr.matches("this is the value of the expression").count(), 1, "{}", called.shown());
    assert_snapshot!("open_quote_around_expression", called.shown());
}
