//! Errors in a manifest: each is reported at its location, and nothing is run.

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::expect::{Expected, expect_error, expect_errors};
use crate::{apply, ccm, in_place};

/// Applies a manifest that must be refused before anything is run.
#[track_caller]
fn refused(manifest: &str) -> Called {
    let scratch = Scratch::new();
    let called = apply(&scratch, &in_place(&scratch, manifest), &[]);
    assert_eq!((called.code, &*called.stdout), (1, ""), "{manifest}\n{}", called.shown());
    assert_eq!(scratch.names(), ["manifest.yaml"], "{manifest}\nwas run");
    let end = called.stderr.trim_end().rsplit_once('\n').map(|(_, line)| line).unwrap_or_default();
    assert!(end.contains(" in manifest.yaml") && end.contains("nothing was run"), "{}", called.shown());
    called
}

/// Applies a manifest with these errors, whose locations are lines and columns.
#[track_caller]
fn expect_all(manifest: &str, expected: &[Expected]) {
    let called = refused(manifest);
    let locations: Vec<String> =
        expected.iter().map(|(location, ..)| format!("manifest.yaml:{location}")).collect();
    let expected = locations.iter().zip(expected);
    let expected: Vec<Expected> =
        expected.map(|(location, (_, message, hints))| (&**location, *message, *hints)).collect();
    expect_errors(&called, 1, &expected);
}

/// Applies a manifest with one error.
#[track_caller]
fn expect_one(manifest: &str, location: &str, message: &[&str], hints: &[&str]) {
    expect_all(manifest, &[(location, message, hints)]);
}

/// Manifest with resources of one type; the first of them stands on line 4, in column 11.
fn resources(kind: &str, lines: &[&str]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("        {line}\n")).collect();
    format!("ccm:\n  resources:\n    - {kind}:\n{}", lines.concat())
}

fn execs(lines: &[&str]) -> String {
    resources("exec", lines)
}

#[test]
fn unknown_names_come_with_the_nearest_known_one() {
    let property = execs(&["- touch [dir]/x:", "- reload: {refresh_onyl: true}"]);
    expect_one(&property, "5:20", &["property `refresh_onyl`"], &["`refresh_only`"]);
    expect_one(&resources("exce", &["- reload: {}"]), "3:7", &["type `exce`"], &["`exec`"]);
    let reference = execs(&["- reload: {}", "- b: {require: [exec#relaod]}"]);
    expect_one(&reference, "5:25", &["resource `exec#relaod`"], &["`exec#reload`"]);
    let key = "ccm:\n  resources: [{exec: {name: a}}]\nccmm: 1\n";
    expect_one(key, "3:1", &["key `ccmm`"], &["`ccm`"]);
    let packages = resources("package", &["- a: {provider: zypper}", "- b: {provider: yum}"]);
    expect_all(
        &(packages + "    - service:\n        - c: {provider: sysv}\n"),
        &[
            ("4:25", &["`apt`", "`dnf`", "`zypper`"], &["zypper --non-interactive install NAME"]),
            ("5:25", &["`apt`", "`dnf`", "`yum`"], &["`dnf`"]),
            ("7:25", &["`systemd`", "`sysv`"], &["service NAME start"]),
        ],
    );
}

#[test]
fn unknown_names_are_printed_without_escape_sequences() {
    let manifest = execs(&["- a: {\"\\u001b[31mred\": 1}"]);
    expect_one(&manifest, "4:15", &["property `\\u{1b}[31mred`"], &["command, args, cwd"]);
    assert!(!refused(&manifest).stderr.contains('\u{1b}'));
}

#[test]
fn names_are_given_once() {
    let resource = execs(&["- a: {}"]) + "    - exec:\n        - a: {}\n";
    expect_one(&resource, "6:11", &["duplicate resource `exec#a`"], &[]);
    let unit = resources("service", &["- nginx: {enable: true}", "- nginx.service: {ensure: stopped}"]);
    let both = &["`service#nginx` ", "`service#nginx.service`", "unit `nginx.service`"];
    expect_one(&unit, "5:11", both, &["one of them"]);
    let key = execs(&["- a:", "    command: x", "    command: y"]);
    expect_one(&key, "6:13", &["key `command`", "twice", "first"], &[]);
    let alias = execs(&["- a: {alias: b}", "- b: {}"]);
    expect_one(&alias, "5:11", &["name of `exec#b`", "alias"], &[]);
    let property = execs(&["- a: {refresh_only: true, refreshonly: true}"]);
    expect_one(&property, "4:35", &["`refreshonly`", "alias of `refresh_only`"], &[]);
}

#[test]
fn errors_of_yaml_are_explained() {
    expect_one("ccm:\n  resources:\n\t- exec:\n        - a: {}\n", "3:1", &["tab"], &["spaces"]);
    expect_one(&execs(&["- a: {command: 'echo}"]), "4:24", &["quote", "`'`", "never closed"], &[]);
    let indentation = execs(&["- a:", "    command: x", "   cwd: /"]);
    expect_one(&indentation, "6:12", &["indentation"], &["alike"]);
    expect_one(&execs(&["- a: {<<: {cwd: /}}"]), "4:15", &["merge", "`<<`"], &["`defaults`"]);
    expect_one(&execs(&["- a: {command: !vault x}"]), "4:24", &["tag", "`!vault`"], &["`!`"]);
    let documents = "ccm: {resources: [{exec: {name: a}}]}\n---\nccm: {}\n";
    expect_one(documents, "2:1", &["second document"], &["`---`"]);
    let expression = execs(&["- a: {command: {{ Data.x }}}"]);
    expect_one(&expression, "4:24", &["expression", "map"], &["`\"{{ Data.x }}\"`"]);
}

#[test]
fn the_structure_of_a_resource_is_explained() {
    let beside = execs(&["- a:", "  command: x"]);
    expect_one(&beside, "5:11", &["`command` must be below `a`"], &["below `a`"]);
    let dash = execs(&["- name: a", "  command: x"]);
    expect_one(&dash, "4:11", &["`NAME:`"], &["`- a:`"]);
    let colon = execs(&["- a:", "    command:x"]);
    expect_one(&colon, "5:13", &["properties of `a`", "`command:x`"], &["`command: …`"]);
    let defaults = execs(&["- defaults: {name: x}", "- a: {}"]);
    expect_one(&defaults, "4:22", &["`name`", "default"], &["each resource"]);
}

#[test]
fn a_manifest_without_resources_is_refused_with_the_smallest_one() {
    for (manifest, location, message) in [
        ("", "1:1", "manifest is empty"),
        ("# nothing here\n", "1:1", "manifest is empty"),
        ("ccm:\n  name: x\n", "1:1", "`ccm` has no `resources`"),
        ("ccm:\n  resources:\n", "2:3", "`resources` is empty"),
    ] {
        expect_one(manifest, location, &[message], &["resources: []"]);
    }
    let scratch = Scratch::new();
    let nothing_to_do = apply(&scratch, "ccm: {resources: []}\n", &["--output", "json"]);
    assert_eq!((nothing_to_do.code, &*nothing_to_do.stderr), (0, ""), "{}", nothing_to_do.shown());
    let top = "resources:\n  - exec:\n      - a: {}\n";
    expect_one(top, "1:1", &["`resources` must be below `ccm`"], &["`ccm:`"]);
}

#[test]
fn dependency_cycles_are_refused() {
    let own = execs(&["- a: {require: [exec#a]}"]);
    expect_one(&own, "4:25", &["`exec#a` requires itself"], &[]);
    let cycle = execs(&[
        "- a: {require: [exec#c]}",
        "- b: {subscribe: [exec#a]}",
        "- c: {require: [exec#b]}",
        "- d: {require: [exec#a]}",
    ]);
    assert_snapshot!("cycle", refused(&cycle).shown());
}

#[test]
fn expressions_and_quotes_in_a_command_are_checked() {
    expect_one(
        &execs(&["- a: {command: 'echo {{ Data.x }}'}"]),
        "4:38",
        &["no `Data.x`"],
        &["`Data.x ?? \"\"`"],
    );
    let variable = execs(&["- a: {command: 'echo ${HOME}'}"]);
    let hints = &["`${ Environ.HOME }`", "`\\${`", "`provider: shell`"];
    expect_one(&variable, "4:30", &["name `HOME`"], hints);
    let quote = execs(&["- a:", "    command: echo \"it's"]);
    expect_one(&quote, "5:27", &["double quote"], &["backslash"]);
    let open =
        execs(&["- a: {command: \"/bin/echo '{{ 1 + 1 }}\"}", "- b: {command: \"{{ 'echo \\\"x' }}\"}"]);
    let of_value: Expected = ("5:24", &["double quote"], &["backslash", "value of the expression"]);
    expect_all(&open, &[("4:24", &["single quote"], &["backslash"]), of_value]);
}

#[test]
fn all_errors_are_reported_at_once() {
    let manifest = "ccm:\n  fail_on_error: yes\n  resources:\n    - exec:\n        - a: {timeout: 30, cwd: tmp, returns: [0, x]}\n        - b: {require: [exec#nowhere, b]}\n        - c: {provider: bash}\n        - d: {ensure: absent}\n";
    assert_snapshot!("many_at_once", refused(manifest).shown());
}

#[test]
fn a_duplicate_key_hides_no_other_error() {
    let manifest = "ccm:\n  resources:\n    - exec:\n        - a: {timeout: soon, cwd: /, cwd: /tmp}\n        - b: {require: [exec#nowhere]}\n  resources:\n    - exec:\n        - c: {comand: x, require: [exec#a]}\n";
    expect_all(
        manifest,
        &[
            ("4:24", &["`soon`", "duration"], &["`30s`"]),
            ("4:38", &["key `cwd`", "twice"], &[]),
            ("5:25", &["`exec#nowhere`"], &["`exec#a`"]),
            ("6:3", &["key `resources`", "twice"], &[]),
            ("8:15", &["`comand`"], &["`command`"]),
        ],
    );
    // A value whose key is given again stays hidden.
    let manifest = "data:\n  db: {a: 1}\n  # @sensitive\n  db:\n    # @validate len(value) > 99\n    pw: hunter2hunter2\nccm: {resources: [{exec: {name: a}}]}\n";
    assert!(!refused(manifest).stderr.contains("hunter2"));
}

#[test]
fn warnings_do_not_stop_a_run() {
    let scratch = Scratch::new();
    let called = apply(
        &scratch,
        "ccm:\n  resources:\n    - exec:\n        - reload:\n            command: 'false'\n            refresh_only: true\n",
        &[],
    );
    assert_eq!(called.code, 0);
    assert_snapshot!("warning", called.shown());
}

#[test]
fn bombs_are_refused_with_a_short_error() {
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

/// Manifests that would grow beyond a limit end at it, without twice its memory on the way.
#[test]
fn memory_stays_near_the_limits() {
    let scratch = Scratch::new();
    let refused_within = |mebibytes: u32, manifest: &str, message: &str| {
        scratch.write("manifest.yaml", manifest);
        let limit = format!("ulimit -d {}", mebibytes * 1024);
        let facts = ["validate", "manifest.yaml", "--facts", "facts.yaml"];
        let called = ccm(&scratch, &facts).after(&limit).run();
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(called.stderr.contains(message), "{}", called.shown());
    };
    scratch.write("facts.yaml", "text: x\n");
    let mut bomb = "data:\n  a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(",");
        bomb += &format!("  a{level}: &a{level} [{aliases}]\n");
    }
    refused_within(96, &bomb, "aliases repeat more than 250000 values");
    scratch.write("facts.yaml", format!("text: {}\n", "x".repeat(10_000_000)));
    let mut values = "data:\n".to_owned();
    for index in 0..60 {
        values += &format!("  v{index}: 'a{{{{ Facts.text }}}}b'\n");
    }
    refused_within(384, &values, "exceed 256 MiB");
}

#[test]
fn a_long_cycle_is_named_in_full_but_excerpted_in_part() {
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
fn unreadable_manifests_are_named() {
    let scratch = Scratch::new();
    scratch.write("binary.yaml", b"ccm:\n  name: \xc3\xbc\xff\xfe\n");
    scratch.write("long.yaml", "# 0123456789\n");
    std::fs::create_dir(scratch.path().join("folder")).expect("a directory");
    let missing = ccm(&scratch, &["apply", "nosuch.yaml"]).run();
    assert_eq!(missing.code, 1);
    assert_snapshot!("missing_manifest", missing.shown());
    let call = |args: &[&str]| ccm(&scratch, args).run();
    let directory = call(&["apply", "folder"]);
    expect_error(&directory, 1, "", &["manifest folder", "is a directory"], &["file"]);
    let binary = call(&["validate", "binary.yaml"]);
    expect_error(&binary, 1, "", &["manifest binary.yaml", "UTF-8", "line 2, column 10", "0xFF"], &["UTF-8"]);
    let document: Value =
        serde_json::from_str(&call(&["validate", "binary.yaml", "--output", "json"]).stdout)
            .expect("a document");
    assert_eq!(
        document["manifests"][0]["findings"][0]["location"],
        json!({"file": "binary.yaml", "line": 2, "column": 10})
    );
    let long = call(&["graph", "long.yaml", "--max-manifest-size", "10"]);
    expect_error(&long, 1, "", &["manifest long.yaml", "10 bytes"], &["`--max-manifest-size`"]);
}

#[test]
fn locations_on_standard_input_are_named() {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["validate", "-"]).input("ccm: 5\n").run();
    expect_error(&called, 1, "standard input:1:6", &["map", "number `5`"], &["resources: []"]);
    assert!(called.stderr.ends_with("1 error in standard input; nothing was run\n"), "{}", called.shown());
}

#[test]
fn a_long_line_is_located_but_not_printed() {
    let scratch = Scratch::new();
    let text = format!("ccm: {{resources: [{{exec: {{name: {}, comand: y}}}}]}}", "x".repeat(100_000));
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 1);
    assert!(called.stderr.len() < 1000, "{}", called.stderr.len());
    assert!(called.stderr.contains("manifest.yaml:1:100035"), "{}", called.stderr);
    // Of a shorter line, the part with the error is printed.
    for before in [600, 10_000] {
        let text = format!("ccm: {{resources: [{{exec: {{name: {}, comand: y}}}}]}}", "x".repeat(before));
        let called = apply(&scratch, &text, &[]);
        let location = format!("manifest.yaml:1:{}", before + 35);
        expect_error(&called, 1, &location, &["`comand`"], &["`command`"]);
        assert!(called.stderr.contains(", comand: y}"), "{}", called.shown());
        assert!(called.stderr.lines().all(|line| line.chars().count() <= 200), "{}", called.shown());
    }
    // Neither a long value nor what lies between two labels is printed whole.
    let long = "x".repeat(1000);
    for properties in [format!("cwd: {long}"), format!("umask: '022', args: [{long}], umask: '022'")] {
        let text = format!("ccm: {{resources: [{{exec: {{name: a, command: b, {properties}}}}}]}}");
        let called = apply(&scratch, &text, &[]);
        assert_eq!(called.code, 1, "{}", called.shown());
        let excerpt = called.stderr.lines().filter(|line| line.starts_with("1 |"));
        assert!(excerpt.clone().count() > 0, "{}", called.shown());
        assert!(excerpt.clone().all(|line| line.chars().count() <= 400), "{}", called.shown());
    }
}

#[test]
fn a_thousand_errors_are_printed_and_the_others_counted() {
    let entries: Vec<String> = (0..1003).map(|index| format!("- a{index}: {{comand: x}}")).collect();
    let entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let stderr = refused(&execs(&entries)).stderr;
    assert_eq!(stderr.matches("error: unknown property `comand`").count(), 1000);
    assert!(stderr.contains("\n... and 3 more: ") && stderr.contains("error: 1003 errors in"));
}
