//! `ccm check`: rules of Goss files.

use ccm_testkit::{Called, GovernedMachine, Scratch, repository};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::ccm;
use crate::expect::expect_error;

/// Rules with each outcome, about files of the directory.
const RULES: &str = "\
file:
  here:
    title: a file & its \"mode\"
    exists: true
    mode: \"0600\"
  gone:
    exists: true
    size: 1
matching:
  \"a # <b> | c\":
    content: 5
    matches: {have-len: 1}
";

fn checked(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, &["check"]).args(args).run()
}

fn scratch_with_rules() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("goss.yaml", RULES);
    scratch.write("here", "x");
    ccm_testkit::shell("chmod 644 here", scratch.path());
    scratch
}

/// Replaces the time, which is another one in each run.
fn timeless(text: &str) -> String {
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    let mut parts = text.split("time=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + "time=\"T" + part.trim_start_matches(is_of_number))
}

#[test]
fn each_format_has_every_outcome() {
    let scratch = scratch_with_rules();
    for format in ["documentation", "tap", "junit"] {
        let called = checked(&scratch, &["goss.yaml", "--output", format]);
        assert_eq!((called.code, &*called.stderr), (4, ""), "{}", called.shown());
        let text = timeless(&called.stdout);
        let text = match text.split_once(" unknown in ") {
            Some((text, _)) => format!("{text} unknown in T\n"),
            None => text,
        };
        assert_snapshot!(format!("check_{format}"), text);
    }
    let called = checked(&scratch, &["goss.yaml", "--output", "json"]);
    let mut document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert!(document["duration"].as_f64().is_some_and(|duration| duration < 60.0));
    document["duration"] = json!(0);
    assert_snapshot!("check_json", serde_json::to_string_pretty(&document).expect("a text"));
    let called = checked(&scratch, &["goss.yaml", "--format", "nagios"]);
    let (line, values) = called.stdout.split_once('|').expect("performance data");
    assert_eq!(called.code, 2);
    assert_eq!(
        line,
        "CRITICAL: 3 of 5 failed: file here mode (expected 0600, found 0644), file gone exists (expected true, found \
         false), matching a # <b> ¦ c matches (expected text, a list or a map, found an integer `5`)"
    );
    assert!(values.starts_with("total=5;;;0 failed=3;;;0 skipped=1;;;0 unknown=0;;;0 duration="), "{values}");
    assert_eq!(values.lines().count(), 4, "{values}");
    assert!(!values.lines().skip(1).any(|line| line.contains('|')), "{values}");
}

/// Reports that other programs read are read again, with the reader of XML that rules have.
#[test]
fn reports_can_be_read() {
    let scratch = scratch_with_rules();
    let junit = checked(&scratch, &["goss.yaml", "--output", "junit"]).stdout;
    let read = |path: &str, result: &str| json!({"content": junit, "matches": {"xml": {"xpath": path, "result": result}}});
    let rules = json!({"matching": {
        "tests": read("string(/testsuites/testsuite/@tests)", "5"),
        "cases": read("string(count(//testcase))", "5"),
        "failures": read("string(count(//failure))", "2"),
        "errors": read("string(count(//error))", "1"),
        "skipped": read("string(count(//skipped))", "1"),
        "name": read("string(//testcase[5]/@name)", "a # <b> | c matches"),
    }});
    scratch.write("again.json", rules.to_string());
    let called = checked(&scratch, &["again.json"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let tap = checked(&scratch, &["goss.yaml", "--output", "tap"]).stdout;
    let mut lines = tap.lines();
    assert_eq!((lines.next(), lines.next()), (Some("TAP version 13"), Some("1..5")));
    let mut expected = 1;
    let mut is_block = false;
    for line in lines {
        match line {
            "  ---" => is_block = true,
            "  ..." => is_block = false,
            line if is_block => {
                let message = line.strip_prefix("  message: ").expect("a message");
                let _text: String = serde_json::from_str(message).expect("a text");
            }
            line => {
                let test = line.strip_prefix("not ").unwrap_or(line).strip_prefix("ok ").expect("a test");
                assert!(test.starts_with(&format!("{expected} - ")), "{line}");
                expected += 1;
            }
        }
    }
    assert_eq!((expected, is_block), (6, false), "{tap}");
}

#[test]
fn the_exit_code_says_what_happened() {
    let scratch = scratch_with_rules();
    scratch.write("good.yaml", "file: {here: {exists: true}}\n");
    scratch.write("wrong.yaml", "file: {here: {exsts: true}}\n");
    scratch.write("unknown.yaml", "service: {no-such-unit-anywhere: {running: false}}\n");
    for (file, code, nagios, word) in [
        ("good.yaml", 0, 0, "OK: "),
        ("goss.yaml", 4, 2, "CRITICAL: "),
        ("wrong.yaml", 1, 3, "UNKNOWN: "),
        ("missing.yaml", 1, 3, "UNKNOWN: "),
    ] {
        let called = checked(&scratch, &[file]);
        assert_eq!(called.code, code, "{file}: {}", called.shown());
        let called = checked(&scratch, &[file, "--format", "nagios"]);
        assert_eq!(called.code, nagios, "{file}: {}", called.shown());
        assert!(called.stdout.starts_with(word), "{file}: {}", called.shown());
    }
    // A machine without systemd can't tell; one with systemd warns that there is no such unit.
    let called = checked(&scratch, &["unknown.yaml", "--format", "nagios"]);
    assert!(matches!(called.code, 1 | 3), "{}", called.shown());
    for args in [
        &["goss.yaml", "--output", "yaml"][..],
        &[],
        &["goss.yaml", "--sleep", "1s"],
        &["goss.yaml", "--retry-timeout", "soon"],
    ] {
        assert_eq!(checked(&scratch, args).code, 64, "{args:?}");
    }
}

#[test]
fn errors_have_their_line_also_in_included_files() {
    let scratch = Scratch::new();
    scratch.write("goss.yaml", "gossfile:\n  d/*.yaml: {}\nport:\n  tcp:99999: {listening: true}\n");
    scratch.write("d/one.yaml", "file:\n  /: {exists: true}\n");
    scratch.write("d/two.yaml", "file:\n  /x:\n    exists: true\n    mod: \"0644\"\n");
    let called = checked(&scratch, &["goss.yaml"]);
    assert_eq!((called.code, &*called.stdout), (1, ""), "{}", called.shown());
    for place in ["goss.yaml:4:3", "d/two.yaml:4:5", "goss.yaml was not judged", "did you mean `mode`?"] {
        assert!(called.stderr.contains(place), "{place}: {}", called.stderr);
    }
    let called = checked(&scratch, &["goss.yaml", "--json"]);
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["diagnostics"].as_array().map(Vec::len), Some(2), "{document}");
}

#[test]
fn thousands_of_rules_are_judged_and_more_are_refused() {
    let scratch = Scratch::new();
    let rules = |count: usize| -> String {
        let rules = (0..count).map(|number| format!("  /none/{number}: {{exists: false}}\n"));
        "file:\n".to_owned() + &rules.collect::<Vec<_>>().concat()
    };
    scratch.write("most.yaml", rules(10_000));
    let called = checked(&scratch, &["most.yaml", "--output", "nagios"]);
    assert!(called.code == 0 && called.stdout.starts_with("OK: 10000 passed|"), "{}", called.shown());
    scratch.write("more.yaml", rules(10_001));
    let called = checked(&scratch, &["more.yaml"]);
    let is_refused =
        |called: &Called| called.code == 1 && called.stderr.contains("there are more than 10000 rules");
    assert!(is_refused(&called) && called.stderr.contains("more.yaml:10002:3"), "{}", called.shown());
    let indented = |count: usize| rules(count).replace('\n', "\n        ");
    let manifest =
        |count| format!("ccm:\n  resources: []\n  checks:\n    - goss_rules:\n        {}\n", indented(count));
    scratch.write("site.yaml", manifest(10_000));
    let called = checked(&scratch, &["--manifest", "site.yaml"]);
    assert!(called.code == 0 && called.stdout.contains("10000 passed"), "{}", called.shown());
    scratch.write("site.yaml", manifest(10_001));
    let called = checked(&scratch, &["--manifest", "site.yaml"]);
    assert!(is_refused(&called), "{}", called.shown());
}

#[test]
fn a_manifest_is_no_file_with_rules() {
    let scratch = Scratch::new();
    scratch.write("site.yaml", "ccm: {resources: []}\n");
    let called = checked(&scratch, &["site.yaml"]);
    expect_error(&called, 1, "", &["site.yaml is a manifest"], &["`ccm check --manifest site.yaml`"]);
}

#[test]
fn included_files_are_found_from_the_file_that_includes_them() {
    let scratch = Scratch::new();
    scratch.write("base/goss.yaml", "gossfile:\n  sub/more.yaml: {}\nfile:\n  there: {exists: true}\n");
    scratch.write("base/sub/more.yaml", "gossfile:\n  last.yaml: {}\n");
    scratch.write("base/sub/last.yaml", "file:\n  sub/last.yaml: {exists: true}\n");
    scratch.write("base/there", "");
    let called = checked(&scratch, &["base/goss.yaml"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stdout.contains("\n2 passed, "), "{}", called.stdout);
    for (name, text, message) in [
        ("none.yaml", "gossfile: {missing.yaml: {}}\n", "there is no file `missing.yaml`"),
        ("glob.yaml", "gossfile: {\"none/*.yaml\": {}}\n", "there is no file `none/*.yaml`"),
        ("self.yaml", "gossfile: {self.yaml: {}}\n", "includes itself"),
        ("link.yaml", "gossfile: {again.yaml: {}}\n", "includes itself"),
        ("loop.yaml", "gossfile: {\"loop*.yaml\": {}}\n", "includes itself"),
        ("directory.yaml", "gossfile: {base: {}}\n", "can't be read"),
        ("template.yaml", "file: {/x: {exists: {{.Vars.x}}}}\n", "templates are not supported"),
    ] {
        scratch.write(name, text);
        if name == "link.yaml" {
            std::os::unix::fs::symlink("link.yaml", scratch.at("again.yaml")).expect("a link");
        }
        let called = checked(&scratch, &[name]);
        assert_eq!(called.code, 1, "{name}: {}", called.shown());
        assert!(called.stderr.contains(message), "{name}: {}", called.stderr);
    }
}

#[test]
fn rules_come_from_standard_input_as_well() {
    let scratch = Scratch::new();
    scratch.write("here", "x");
    let rules = scratch.write("goss.yaml", "file: {here: {exists: true}}\n");
    let rules = std::fs::File::open(rules).expect("a file");
    let called = ccm(&scratch, &["check", "-"]).stdin(rules).run();
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn rules_that_fail_are_judged_again() {
    let scratch = Scratch::new();
    let command = "echo x >> tries; test $(wc -l < tries) -ge 3";
    scratch.write("goss.yaml", json!({"command": {"c": {"exec": command, "exit-status": 0}}}).to_string());
    let called = checked(&scratch, &["goss.yaml"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let called = checked(&scratch, &["goss.yaml", "--retry-timeout", "60s", "--sleep", "1ms"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(scratch.read("tries").as_deref(), Some("x\nx\nx\n"));
    // There is no time left for another try.
    scratch.write("tries", "");
    let called = checked(&scratch, &["goss.yaml", "--retry-timeout", "1s", "--sleep", "2s"]);
    assert_eq!((called.code, scratch.read("tries").as_deref()), (4, Some("x\n")), "{}", called.shown());
}

#[test]
fn no_report_holds_a_password() {
    let scratch = Scratch::new();
    let rules = "http:\n  http://127.0.0.1:1/opensesame: {status: 200, username: u, password: opensesame}\n";
    scratch.write("goss.yaml", rules);
    for format in ["documentation", "json", "nagios", "tap", "junit"] {
        let called = checked(&scratch, &["goss.yaml", "--output", format]);
        assert!(matches!(called.code, 2 | 4), "{}", called.shown());
        assert!(!called.shown().contains("opensesame"), "{format}: {}", called.shown());
    }
}

#[test]
fn the_rules_of_the_page_are_valid() {
    let page = std::fs::read_to_string(repository("docs/use/check-files.md")).expect("the page");
    let blocks = page.split("```yaml\n").skip(1).filter_map(|block| block.split("```").next());
    let mut count = 0;
    for block in blocks.filter(|block| !block.contains("gossfile:")) {
        let scratch = Scratch::new();
        scratch.write("goss.yaml", block.replace("nginx -t:", "\"true\":"));
        let called = checked(&scratch, &["goss.yaml"]);
        assert!(matches!(called.code, 0 | 4), "{block}\n{}", called.shown());
        count += 1;
    }
    assert_eq!(count, 1);
}

#[test]
fn the_policy_judges_commands_of_rules_and_the_log_has_them() {
    let settings = "rules:\n  - {name: no touch, match: {program: touch}, deny: true}\n";
    let Some(machine) = GovernedMachine::new(env!("CARGO_BIN_EXE_ccm"), settings) else { return };
    machine.scratch.write(
        "goss.yaml",
        json!({"command": {
            "touch made": {"exit-status": 0},
            "echo seen": {"exit-status": 0, "stdout": ["seen"]},
        }})
        .to_string(),
    );
    let called = machine.run(&["check", "goss.yaml", "--json"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    let outcomes: Vec<_> = (0..2).map(|at| &document["rules"][at]["results"][0]["outcome"]).collect();
    assert_eq!(outcomes, ["error", "passed"], "{document}");
    let reason = document["rules"][0]["results"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("no touch"), "{reason}");
    assert!(!machine.scratch.path().join("made").exists());
    let log = machine.audit_log();
    for parts in [["touch made", "\"check\""], ["echo seen", "\"check\""], ["goss.yaml", "run"]] {
        let is_recorded = log.iter().any(|line| parts.iter().all(|part| line.contains(part)));
        assert!(is_recorded, "{parts:?}: {log:?}");
    }
    // Without commands, there is nothing to record.
    let before = machine.audit_log().len();
    machine.scratch.write("goss.yaml", "file: {/: {exists: true}}\n");
    assert_eq!(machine.run(&["check", "goss.yaml"]).code, 0);
    assert_eq!(machine.audit_log().len(), before);
}
