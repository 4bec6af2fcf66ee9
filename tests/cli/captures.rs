//! Expected results of commands, and values that other resources capture from them.

use std::fs;

use ccm_testkit::Scratch;

use crate::{apply, ccm, in_place};

/// A command that prints JSON unless its mark is there, and a file that needs a part of it.
fn manifest(scratch: &Scratch) -> String {
    let text = r#"
ccm:
  resources:
    - exec:
        - verify:
            alias: check
            command: printf '{"merkle":{"root":"abc"},"token":"s3cr3t"}'
            creates: [dir]/mark
            expect: {stdout_json: {merkle: {root: abc}}}
            capture: {root: stdout.json.merkle.root, token: stdout.json.token}
    - file:
        - [dir]/root.txt: {content: "${ Captures.check.root }\n"}
        - [dir]/default.txt: {content: "${ lookup('captures.verify.root', 'none') }\n"}
        - [dir]/from.txt: {source: root.j2}
"#;
    scratch.write("root.j2", "root={{ Captures.verify.root }}\n");
    in_place(scratch, text)
}

#[test]
fn captured_values_reach_files() {
    let scratch = Scratch::new();
    let text = manifest(&scratch);
    let noop = apply(&scratch, &text, &["--noop", "--diff"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
    assert_eq!(noop.stdout.matches("not known before exec#verify").count(), 3, "{}", noop.shown());
    assert!(!scratch.has("root.txt"));
    let called = apply(&scratch, &text, &["--output", "jsonl"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    for (name, expected) in [("root.txt", "abc\n"), ("default.txt", "abc\n"), ("from.txt", "root=abc\n")] {
        assert_eq!(fs::read_to_string(scratch.at(name)).expect(name), expected);
    }
    assert!(called.stdout.contains(r#""captured":["root","token"]"#), "{}", called.shown());
    assert!(!called.stdout.contains("s3cr3t\""), "{}", called.shown());
}

#[test]
fn an_invalid_late_value_names_its_property() {
    let scratch = Scratch::new();
    let text = r#"
ccm:
  resources:
    - file:
        - [dir]/x: {content: y}
    - exec:
        - a: {command: 'true', timeout: "{{ file('[dir]/x') + 'y' }}"}
"#;
    let called = apply(&scratch, &in_place(&scratch, text), &["--output", "jsonl"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let failure = r#""failure":{"kind":"value","property":"timeout","changed":false}"#;
    assert!(called.stdout.contains(failure), "{}", called.shown());
}

#[test]
fn a_captured_value_with_quotes_stays_one_value_of_expect() {
    let scratch = Scratch::new();
    let text = r#"
data: {early: "it's \"a\\b\"\n(c", no: "\") or matches(\""}
ccm:
  resources:
    - exec:
        - defaults: {command: printf, args: ["%s.", "${ Data.early }"]}
        - late: {capture: {text: stdout.raw}}
        - early double: {expect: {stdout: 'contains("${ Data.early }.")'}}
        - early single: {expect: {stdout: "contains('${ Data.early }.')"}}
        - late double: {expect: {stdout: 'contains("${ Captures.late.text }")'}}
        - late single: {expect: {stdout: "contains('${ Captures.late.text }')"}}
        - pattern: {expect: {stdout: 'matches("^it''s {{ "\"a\\" }}\\b\"\n")'}}
        - not there: {expect: {stdout: 'contains("${ Data.no }")'}}
        - not behind: {expect: {stdout: "contains('${ Captures.late.text }!')"}}
"#;
    let called = apply(&scratch, text, &["-v"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let shown = called.shown();
    assert_eq!(shown.matches("the result of the command differs from `expect`").count(), 2, "{shown}");
    assert!(shown.contains(r#"expected text that contains "\") or matches(\"", found"#), "{shown}");
    assert!(shown.contains(r#"expected text that contains "it's \"a\\b\"\n(c.!", found"#), "{shown}");
    // The rendered manifest fails with the same errors.
    let rendered = ccm(&scratch, &["apply", "manifest.yaml", "--render"]).run();
    assert_eq!(rendered.code, 0, "{}", rendered.shown());
    let again = apply(&scratch, &rendered.stdout, &["-v"]);
    assert_eq!(
        again.shown().matches("the result of the command differs from `expect`").count(),
        2,
        "{}",
        again.shown()
    );
}

#[test]
fn a_missing_captured_value_needs_a_default() {
    let scratch = Scratch::new();
    let text = manifest(&scratch);
    scratch.write("mark", "");
    for option in ["--noop", "-v"] {
        let called = apply(&scratch, &text, &[option, "-v"]);
        assert_eq!(called.code, 0, "{}", called.shown());
        let nothing = "exec#verify captured nothing, because it was not run";
        assert_eq!(called.stdout.matches(nothing).count(), 2, "{}", called.shown());
    }
    assert!(!scratch.has("root.txt") && !scratch.has("from.txt"));
    assert_eq!(fs::read_to_string(scratch.at("default.txt")).expect("the default"), "none\n");
}

#[test]
fn a_capture_without_match_fails_the_resource() {
    let scratch = Scratch::new();
    let text = manifest(&scratch).replace("root: abc", "root: abd");
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stdout.contains("stdout_json.merkle.root: expected abd, found abc"), "{}", called.shown());
    assert_eq!(called.reported().matches(" unmet: ").count(), 3, "{}", called.shown());
}

#[test]
fn an_unknown_capture_is_refused_before_anything_runs() {
    let scratch = Scratch::new();
    let text = manifest(&scratch).replace("Captures.check.root", "Captures.chekc.root");
    scratch.write("manifest.yaml", text);
    let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("no resource `chekc` captures values"), "{}", called.shown());
    assert!(called.stderr.contains("did you mean `check`?"), "{}", called.shown());
}

#[test]
fn an_executor_replaces_the_environment() {
    let scratch = Scratch::new();
    let text = r#"
ccm:
  executors:
    clean: {kind: native, default_work_dir: [dir], default_env: {PATH: "/usr/bin:/bin", CI: "1"}, command_whitelist: [env]}
  resources:
    - exec:
        - env: {executor: clean, capture: {all: stdout.raw}}
    - file:
        - [dir]/env.txt: {content: "${ Captures.env.all }"}
"#;
    let text = in_place(&scratch, text);
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(fs::read_to_string(scratch.at("env.txt")).expect("a file"), "PATH=/usr/bin:/bin\nCI=1\n");
    let called = apply(&scratch, &text.replace("kind: native", "kind: lxc"), &[]);
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("there is no kind `lxc`"), "{}", called.shown());
    assert_eq!(called.stderr.matches("error:").count(), 2, "{}", called.shown());
}

#[test]
fn child_manifests_share_captures() {
    let scratch = Scratch::new();
    let inner = "ccm:\n  resources:\n    - exec:\n        - inner: {command: 'printf ${ Captures.outer.text }-inner', \
                 capture: {text: stdout.raw}}\n";
    scratch.write("inner.yaml", inner);
    let text = r#"
ccm:
  resources:
    - file:
        - [dir]/both.txt: {content: "${ Captures.inner.text }\n"}
    - exec:
        - outer: {command: printf outer, capture: {text: stdout.raw}}
    - apply:
        - inner.yaml: {}
"#;
    let text = in_place(&scratch, text);
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(fs::read_to_string(scratch.at("both.txt")).expect("a file"), "outer-inner\n");
}

#[test]
fn a_whitelist_is_checked_for_captured_values_too() {
    let scratch = Scratch::new();
    let text = r#"
ccm:
  executors:
    strict: {kind: native, command_whitelist: [echo 1, echo 1 2]}
  resources:
    - exec:
        - number: {command: "printf 1", capture: {it: stdout.raw}}
        - fine: {command: "echo ${ Captures.number.it }", executor: strict}
        - args: {command: echo, args: ["${ Captures.number.it }", "2"], executor: strict}
        - refused: {command: "echo ${ Captures.number.it } 3", executor: strict}
        - refused-args: {command: echo, args: ["${ Captures.number.it }", "4"], executor: strict}
"#;
    let called = apply(&scratch, text, &[]);
    assert_eq!(called.code, 4, "{}", called.shown());
    for line in ["exec#fine changed", "exec#args changed", "exec#refused failed", "exec#refused-args failed"]
    {
        assert!(called.reported().contains(line), "{line}: {}", called.shown());
    }
    for refused in ["`echo 1 3`", "`echo 1 4`"] {
        let message = format!("{refused} is not in the whitelist of the executor `strict`");
        assert!(called.stdout.contains(&message), "{message}: {}", called.shown());
    }
}

#[test]
fn a_control_is_evaluated_after_its_captures() {
    let scratch = Scratch::new();
    let text = r#"
ccm:
  resources:
    - exec:
        - wanted: {command: "touch [dir]/wanted", control: {if: "Captures.ask.answer == 'yes'"}}
        - unwanted: {command: "touch [dir]/unwanted", control: {unless: "Captures.ask.answer == 'yes'"}}
        - ask: {command: printf yes, capture: {answer: stdout.raw}}
"#;
    let text = in_place(&scratch, text);
    let called = apply(&scratch, &text, &["--noop"]);
    assert_eq!(called.stdout.matches("not known before exec#ask").count(), 2, "{}", called.shown());
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(scratch.has("wanted") && !scratch.has("unwanted"), "{}", called.shown());
}

#[test]
fn a_rendered_manifest_keeps_executors_and_captures() {
    let scratch = Scratch::new();
    let text = r#"
data: {flag: "1"}
ccm:
  executors:
    clean: {kind: native, default_env: {PATH: "/usr/bin:/bin", CI: "${ Data.flag }"}, command_whitelist: [env]}
  resources:
    - exec:
        - env: {executor: clean, capture: {all: stdout.raw}}
    - file:
        - [dir]/env.txt: {content: "${ Captures.env.all }"}
"#;
    let text = in_place(&scratch, text);
    let rendered = apply(&scratch, &text, &["--render"]);
    assert_eq!(rendered.code, 0, "{}", rendered.shown());
    assert!(rendered.stdout.contains("executors:"), "{}", rendered.shown());
    let rendered = in_place(&scratch, &rendered.stdout);
    let called = apply(&scratch, &rendered, &[]);
    assert_eq!(called.code, 0, "{rendered}\n{}", called.shown());
    assert_eq!(fs::read_to_string(scratch.at("env.txt")).expect("a file"), "PATH=/usr/bin:/bin\nCI=1\n");
}

const SECRETS: &str = r#"
data:
  # @sensitive
  password: S3cr3tPassword
  # @sensitive
  pin: 47114711
ccm:
  resources:
    - exec:
        - token:
            command: "echo '{\"token\":\"S3cr3tPassword\",\"pin\":47114711,\"id\":12345678901234567890123,\"price\":1.50}'"
            provider: shell
            expect: {stdout_json: {pin: 47114711}}
            capture:
              token: stdout.json.token
              pin: stdout.json.pin
              id: stdout.json.id
              price: stdout.json.price
        - print: {command: echo S3cr3tPassword, expect: {stdout: "S3cr3tPassword\n"}}
        - part: {command: echo S3cr3tPassword, expect: {stdout: matches("Pass")}}
        - fails: {command: echo S3cr3tPassword, expect: {stdout: another}}
    - file:
        - [dir]/made: {content: "${ Captures.token.token } ${ Captures.token.pin }\n"}
        - [dir]/numbers: {content: "${ Captures.token.id } ${ Captures.token.price }\n"}
"#;

#[test]
fn secret_output_is_captured_unchanged_and_printed_redacted() {
    let scratch = Scratch::new();
    let text = in_place(&scratch, SECRETS);
    let called = apply(&scratch, &text, &["--output", "jsonl", "--diff"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    assert_eq!(scratch.read("made").as_deref(), Some("S3cr3tPassword 47114711\n"), "{}", called.shown());
    let numbers = "12345678901234567890123 1.50\n";
    assert_eq!(scratch.read("numbers").as_deref(), Some(numbers), "{}", called.shown());
    let missed = r#"stdout: expected \"another\", found \"[redacted]\\n\""#;
    assert!(called.stdout.contains(missed), "{}", called.shown());
    let mut kept = called.shown();
    let mut directories = vec![scratch.state()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).expect("the state").flatten().map(|entry| entry.path()) {
            if entry.is_dir() {
                directories.push(entry);
            } else {
                kept += &String::from_utf8_lossy(&fs::read(entry).expect("a file"));
            }
        }
    }
    for secret in ["S3cr3t", "Password", "47114711"] {
        assert!(!kept.contains(secret), "{secret} in {kept}");
    }
}
