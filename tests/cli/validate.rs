//! `ccm validate`: for this machine, for another one, and for several.

use ccm_testkit::Scratch;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::ccm;
use crate::expect::{expect_error, expect_errors, expect_output};

const MANIFEST: &str = "\
data:
  port: 80
ccm:
  resources:
    - exec:
        - serve {{ Facts.role }}: {timeout: '{{ Facts.wait ?? \"30s\" }}', returns: ['{{ Data.port }}']}
";

fn scratch(manifest: &str) -> Scratch {
    let scratch = Scratch::new();
    scratch.write("m.yaml", manifest);
    scratch.write("web.yaml", "role: web\n");
    scratch.write("db.json", "{\"role\": \"db\"}\n");
    scratch.write("none.yaml", "rule: x\nwait: soon\n");
    scratch.write("broken.yaml", "role: [web\n");
    scratch
}

#[test]
fn a_manifest_is_checked_for_the_machine_whose_facts_are_given() {
    let scratch = scratch(MANIFEST);
    let run = |args: &[&str]| ccm(&scratch, &["validate", "m.yaml"]).args(args).run();
    let other = run(&["--facts", "web.yaml"]);
    assert_eq!((other.code, &*other.stdout), (0, "m.yaml is valid: 1 resource\n"), "{}", other.shown());
    let hints = &["`30s`", "value of the expression"];
    expect_errors(
        &run(&["--facts", "none.yaml"]),
        1,
        &[
            ("m.yaml:6:26", &["no `Facts.role`"], &["`rule`"]),
            ("m.yaml:6:45", &["`soon`", "duration"], hints),
        ],
    );
    // The facts of this machine do not hold for another one.
    scratch.write("m.yaml", MANIFEST.replace("Facts.role", "Facts.host.info.os"));
    assert_eq!(run(&[]).code, 0);
    let role = &["no `Facts.host`"];
    expect_error(&run(&["--facts", "web.yaml"]), 1, "m.yaml:6:26", role, &["web.yaml has no `host`"]);
}

#[test]
fn several_machines_are_checked_at_once() {
    let all = ["validate", "m.yaml", "--matrix", "web.yaml", "db.json", "none.yaml", "broken.yaml"];
    let good = scratch(MANIFEST);
    let valid = ccm(&good, &all[..5]).run();
    assert_eq!((valid.code, &*valid.stderr), (0, ""), "{}", valid.shown());
    assert_eq!(valid.stdout, "web.yaml: valid, 1 resource\ndb.json: valid, 1 resource\n");
    assert_snapshot!("matrix", ccm(&good, &all).run().shown());
    let bad = scratch(&MANIFEST.replace("Data.port", "Data.prot"));
    let called = ccm(&bad, &all[..6]).run();
    expect_output(&called, 1, &["web.yaml: 1 error\n", "db.json: 1 error\n", "none.yaml: 3 errors\n"]);
    // An error for all files is printed once.
    let (common, own) = called.stderr.split_once("for none.yaml:").expect("the errors of one file");
    assert!(common.starts_with("for all:\n") && common.contains("no `Data.prot`"), "{}", called.shown());
    assert!(own.contains("no `Facts.role`") && own.contains("`soon`"), "{}", called.shown());
    assert!(!own.contains("no `Data.prot`") && own.contains("3 of 3"), "{}", called.shown());
    // A missing file of facts is an error although the manifest needs no facts.
    let plain = scratch("ccm: {resources: [{exec: {name: 'true'}}]}\n");
    let called = ccm(&plain, &["validate", "m.yaml", "--matrix", "missing.yaml"]).run();
    expect_output(&called, 1, &["missing.yaml: 1 error\n"]);
    let message = called.stderr.strip_prefix("for missing.yaml:\n").unwrap_or_default();
    assert!(message.contains("missing.yaml can't be read: No such file"), "{}", called.shown());
    assert!(message.contains("1 of 1"), "{}", called.shown());
}

#[test]
fn unused_files_of_facts_are_checked_too() {
    let scratch = scratch("ccm: {resources: [{exec: {name: 'true'}}]}\n");
    scratch.write("list.yaml", "- a\n");
    scratch.write("twice.json", "{\"role\": \"db\", \"role\": \"web\"}\n");
    scratch.write("data.yaml", "data: {a: 1}\n");
    for command in
        [&["apply", "m.yaml"][..], &["validate", "m.yaml"], &["hiera", "parse", "data.yaml"], &["eval", "1"]]
    {
        for (file, message) in [
            ("nope.yaml", "nope.yaml can't be read"),
            ("list.yaml", "expected a map of facts"),
            ("twice.json", "the key `role` is given twice"),
        ] {
            let called = ccm(&scratch, command).args(&["--facts", file]).run();
            assert_eq!(called.code, 1, "{}", called.shown());
            assert!(called.stdout.is_empty() && called.stderr.contains(message), "{}", called.shown());
        }
    }
    for command in [&["apply", "m.yaml"][..], &["validate", "m.yaml"], &["eval", "1"]] {
        let called = ccm(&scratch, command).args(&["--fact", "bad"]).run();
        assert_eq!(called.code, 64, "{}", called.shown());
        assert!(called.stderr.contains("the `=` is missing"), "{}", called.shown());
    }
}

#[test]
fn the_cost_of_failed_annotations_is_linear() {
    let keys = |entry: &str| (0..2_500).map(|key| entry.replace("[n]", &key.to_string())).collect::<String>();
    for (data, errors) in [
        (keys("  # @validate 1 > 2\n  k[n]: v\n"), "2500 errors in"),
        (keys("  # @require\n  k[n]:\n"), "2500 errors in"),
        // The same error of the same key is reported once.
        (keys("  # @validate 1 > 2\n") + "  k:\n" + &keys("    k[n]: v\n"), "1 error in"),
    ] {
        let scratch = scratch(&format!("data:\n{data}ccm: {{resources: [{{exec: {{name: 'true'}}}}]}}\n"));
        let called = ccm(&scratch, &["validate", "m.yaml"]).after("ulimit -t 10").run();
        assert!(called.stderr.contains(errors), "exit code {}, not {errors}", called.code);
    }
}

#[test]
fn the_manifests_of_a_directory_are_checked() {
    let scratch = Scratch::new();
    let valid = "ccm: {resources: [{exec: {name: 'true', creates: /}}]}\n";
    scratch.write("all/a.yaml", valid);
    scratch.write("all/web/b.yml", valid);
    scratch.write("all/web/facts.yaml", "role: web\n");
    scratch.write("all/web/c.yaml.j2", "{{ x }");
    scratch.write("all/.git/d.yaml", "ccm: 1\n");
    let validate = |args: &[&str]| ccm(&scratch, &["validate"]).args(args).run();
    let all = validate(&["all"]);
    let lines = "all/a.yaml is valid: 1 resource\nall/web/b.yml is valid: 1 resource\n";
    assert_eq!((all.code, &*all.stdout), (0, lines), "{}", all.shown());
    assert_eq!(all.stderr, "note: all/web/facts.yaml is left out: it has no `ccm` key\n");
    // A file that is named is a manifest, whatever it holds.
    assert_eq!(validate(&["all/a.yaml", "all/web/facts.yaml"]).code, 1);
    scratch.write("all/web/e.yaml", "ccm: {resources: [{exec: {name: 'true', unles: 'false'}}]}\n");
    let called = validate(&["all", "missing.yaml"]);
    expect_output(&called, 1, &[lines]);
    assert!(called.stderr.ends_with("error: 2 of 4 manifests are not valid\n"), "{}", called.shown());
    assert!(called.stderr.contains("missing.yaml can't be read"), "{}", called.shown());
    scratch.write("empty/facts.yaml", "role: web\n");
    assert_eq!(validate(&["empty"]).code, 1);
}

#[test]
fn a_child_manifest_is_checked_as_a_part_of_its_parent() {
    let scratch = Scratch::new();
    scratch.write("d/site.yaml", "data: {port: 80}\nccm: {resources: [{apply: [parts/web.yaml: {}]}]}\n");
    scratch.write("d/parts/web.yaml", "ccm: {resources: [{apply: {name: ../log.yaml}}]}\n");
    scratch.write("d/log.yaml", "ccm: {resources: [{exec: {name: 'echo {{ Data.port }}', creates: /}}]}\n");
    scratch.write("d/z.yaml", "ccm: {resources: []}\n");
    let called = ccm(&scratch, &["validate", "d"]).run();
    assert_eq!((called.code, called.stdout.matches(" is valid: ").count()), (0, 2), "{}", called.shown());
    let notes: Vec<&str> = called.stderr.lines().collect();
    assert_eq!(
        notes,
        [
            "note: d/log.yaml is checked as a part of d/parts/web.yaml, which applies it",
            "note: d/parts/web.yaml is checked as a part of d/site.yaml, which applies it",
        ]
    );
    let called = ccm(&scratch, &["validate", "d", "--output", "json"]).run();
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["children"][0], json!({"manifest": "d/log.yaml", "applied_by": "d/parts/web.yaml"}));
    // A manifest that is named is checked by itself.
    let called = ccm(&scratch, &["validate", "d/log.yaml", "d/site.yaml"]).run();
    assert!(called.stderr.contains("no `Data.port`"), "{}", called.shown());
    // Manifests that apply each other have no parent that is checked instead.
    scratch.write("c/a.yaml", "ccm: {resources: [{apply: [b.yaml: {}]}]}\n");
    scratch.write("c/b.yaml", "ccm: {resources: [{apply: [a.yaml: {}]}]}\n");
    let called = ccm(&scratch, &["validate", "c"]).run();
    assert!(called.code == 1 && called.stderr.contains("a manifest applies itself"), "{}", called.shown());
}

#[test]
fn the_result_is_a_document_for_programs() {
    let scratch = scratch(MANIFEST);
    scratch.write("bad.yaml", "ccm: {resources: [{exec: {name: 'true', unles: 'false'}}]}\n");
    let args = ["validate", "m.yaml", "bad.yaml", "--matrix", "web.yaml", "none.yaml", "--output", "json"];
    let called = ccm(&scratch, &args).run();
    assert_eq!((called.code, &*called.stderr), (1, ""), "{}", called.shown());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    let result = |at: usize| {
        let result = &document["manifests"][at];
        let kinds: Vec<_> =
            result["findings"].as_array().expect("a list").iter().map(|found| &found["kind"]).collect();
        (result["manifest"].clone(), result["machine"].clone(), result["valid"].clone(), json!(kinds))
    };
    let expected = |manifest: &str, machine: &str, valid: bool, kinds: &[&str]| {
        (manifest.into(), machine.into(), valid.into(), json!(kinds))
    };
    assert_eq!(result(0), expected("m.yaml", "web.yaml", true, &["always-changes"]));
    assert_eq!(result(1), expected("m.yaml", "none.yaml", false, &["unknown-name", "invalid-value"]));
    assert_eq!(result(2), expected("bad.yaml", "web.yaml", false, &["unknown-property"]));
    assert_eq!(document["valid"], false);
    let location = json!({"file": "bad.yaml", "line": 1, "column": 41});
    assert_eq!(document["manifests"][2]["findings"][0]["location"], location);
}

#[test]
fn a_manifest_is_checked_without_the_files_of_its_machine() {
    let scratch = Scratch::new();
    let manifest = "\
data:
  # @sensitive
  password: \"{{ file('/nope/password') }}\"
  port: 80
ccm:
  resources:
    - file:
        - /srv/a: {content: 'p={{ Data.password }} {{ Environ.STAGE }}', mode: '{{ Facts.mode }}'}
        - /srv/b: {source: /nope/big.tar}
    - exec:
        - 'true': {timeout: '{{ Data.prt }}', creates: /srv/a}
";
    scratch.write("m.yaml", manifest);
    let validate = |args: &[&str]| ccm(&scratch, &["validate", "m.yaml"]).args(args).run();
    let all = validate(&[]);
    assert!(
        all.stderr.ends_with("\nhint: `--no-files` checks a manifest without the files of its machine\n")
    );
    expect_error(&validate(&["--no-files"]), 1, "m.yaml:11:38", &["no `Data.prt`"], &["`port`"]);
    scratch.write("m.yaml", manifest.replace("{{ Data.prt }}", "30s"));
    for args in [&["--no-files"][..], &["--no-files", "--strict"]] {
        let called = validate(args);
        let valid = "m.yaml is valid: 3 resources, 4 inputs not checked\n";
        assert_eq!((called.code, &*called.stdout), (0, valid), "{}", called.shown());
        let notes = "\
note: m.yaml:3:13: the file `/nope/password` was not read, so what depends on it was not checked
note: m.yaml:8:29: the variable `STAGE` is not set, so what depends on it was not checked
note: m.yaml:8:80: the fact `mode` is not known, so what depends on it was not checked
note: m.yaml:9:28: the existence of the file `/nope/big.tar` was not checked
";
        assert_eq!(called.stderr, notes);
    }
    // Given values are known.
    let known = ["--no-files", "--data", "password=x", "--fact", "mode=rwx"];
    expect_error(&validate(&known), 1, "m.yaml:8:80", &["`rwx`"], &["octal", "value of the expression"]);
    scratch.write("web.yaml", "role: web\n");
    let called = validate(&["--no-files", "--matrix", "web.yaml"]);
    expect_output(&called, 1, &["web.yaml: 1 error\n"]);
    assert!(called.stderr.contains("no `Facts.mode`"), "{}", called.shown());
    let called = validate(&["--no-files", "--fact", "mode=0644", "--matrix", "web.yaml", "web.yaml"]);
    expect_output(&called, 0, &["web.yaml: valid, 3 resources, 3 inputs not checked\n"]);
    assert_eq!(called.stderr.matches("note: m.yaml:").count(), 3, "{}", called.shown());
    let called = validate(&["--no-files", "--output", "json"]);
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    let findings = document["manifests"][0]["findings"].as_array().expect("a list");
    assert_eq!((called.code, findings.len(), &document["valid"]), (0, 4, &true.into()));
    assert!(findings.iter().all(|found| found["kind"] == "not-checked" && found["severity"] == "note"));
}

#[test]
fn strict_validation_has_no_notes() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}\n");
    let validate = |args: &[&str]| ccm(&scratch, &["validate", "m.yaml"]).args(args).run();
    let lenient = validate(&[]);
    assert_eq!(
        (lenient.code, lenient.stderr.starts_with("note: exec#true ")),
        (0, true),
        "{}",
        lenient.shown()
    );
    expect_error(
        &validate(&["--strict"]),
        1,
        "m.yaml:1:33",
        &["exec#true runs in every run"],
        &["`creates`"],
    );
}

#[test]
fn parts_of_one_file_that_leave_each_other_alone_are_valid() {
    let scratch = Scratch::new();
    for parts in [
        "line: [{a: {path: /f, line: Port 22, match: '^#?Port '}}, {b: {path: /f, line: PortX 1, match: ^#?PortX}}]",
        // A comment may stand beside the line.
        "line: [{a: {path: /f, line: '# a = 0'}}, {b: {path: /f, line: a = 1, match: ^#? *a}}]",
        "line: [{a: {path: /f, line: a, match: ^a$}}, {b: {path: /f, line: a b, match: ^a b$}}]",
        // Another file, another machine, and the same line.
        "line: [{a: {path: /f, line: a1, match: ^a}}, {b: {path: /g, line: a2, match: '^[a]'}}]",
        "line: [{a: {path: /f, line: a1, match: ^a, control: {if: 'false'}}}, {b: {path: /f, line: a2, match: '^[a]'}}]",
        "block: [{a: {path: /f, content: a1}}]}, {line: [{b: {path: /f, line: a1, match: ^a}}]",
        "setting: [{a: {path: /f, key: a, value: 1}}]}, {line: [{b: {path: /f, line: b = 1, match: '^b *='}}]",
        // What an empty file does not allow, and what only a run knows.
        "line: [{a: {path: /f, line: a1, before: '^end$', match: ^a1}}, {b: {path: /f, line: b1, match: ^b1}}]",
    ] {
        scratch.write("m.yaml", format!("ccm: {{resources: [{{{parts}}}]}}\n"));
        let called = ccm(&scratch, &["validate", "m.yaml"]).run();
        assert_eq!(called.code, 0, "{parts}\n{}", called.shown());
    }
    for parts in [
        "line: [{a: {path: /f, line: a1, match: ^a}}, {b: {path: /f, line: a2, match: '^[a]', multiple: true}}]",
        "line: [{a: {path: /f, match: ^a, ensure: absent}}, {b: {path: /f, line: a2}}]",
        "block: [{a: {path: /f, content: \"a1\\na2\\n\"}}]}, {line: [{b: {path: /f, line: a3, match: ^a}}]",
        "setting: [{a: {path: /f, section: s, key: a, value: 1, format: systemd}}]}, {line: [{b: {path: /f, line: a=2, match: ^a=}}]",
    ] {
        scratch.write("m.yaml", format!("ccm: {{resources: [{{{parts}}}]}}\n"));
        let called = ccm(&scratch, &["validate", "m.yaml"]).run();
        assert!(
            called.stdout.contains("undo each other in `/f`")
                || called.stderr.contains("undo each other in `/f`"),
            "{parts}\n{}",
            called.shown()
        );
    }
}
