//! `ccm policy`: policies are checked, shown and tested, and commands are judged without being run.

use ccm_testkit::{Called, Scratch, repository};
use serde_json::Value;

use crate::ccm;
use crate::expect::{expect_error, expect_output};

const POLICY: &str = "\
ccm_policy: 1
workspace: {path: /srv/agent}
approval: {groups: {ops: [alice, bob]}}
rules:
  - name: production is for the pipeline
    match: {program: kubectl, option: {--context: \"prod*\"}}
    deny: final
    say: change production in the pipeline; staging is open
  - name: pushes
    match: {program: git, args: [push, \"**\"]}
    ask: {approvers: ops, count: 2, touch: true}
";

/// Runs `ccm policy` with these arguments and the policy.
fn policy(command: &str, arguments: &[&str]) -> Called {
    let scratch = Scratch::new();
    scratch.write("policy.yaml", POLICY);
    ccm(&scratch, &["policy", command, "--policy", "policy.yaml"]).args(arguments).run()
}

#[test]
fn example_policies_give_the_verdicts_of_their_files() {
    let folder = std::fs::read_dir(repository("examples/policy")).expect("the examples");
    let mut tested = 0;
    for entry in folder {
        let path = entry.expect("an entry").path();
        let name = path.to_str().expect("a path in UTF-8");
        let Some(stem) = name.strip_suffix(".yaml").filter(|stem| !stem.ends_with(".verdicts")) else {
            continue;
        };
        let scratch = Scratch::new();
        let check = ccm(&scratch, &["policy", "check", "--policy", name]).run();
        assert!(check.code == 0 && check.stderr.is_empty(), "{}", check.shown());
        let verdicts = format!("{stem}.verdicts.yaml");
        let test = ccm(&scratch, &["policy", "test", &verdicts, "--policy", name]).run();
        assert!(test.code == 0 && test.stdout.contains("as expected"), "{}", test.shown());
        tested += 1;
    }
    assert_eq!(tested, 3);
}

#[test]
fn policies_of_the_documentation_are_valid() {
    let pages = ["docs/reference/policy.md", "docs/reference/policy-settings.md"];
    let page = pages.map(|page| std::fs::read_to_string(repository(page)).expect("a page")).concat();
    let mut checked = 0;
    for block in page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        let indentation = block.len() - block.trim_start_matches(' ').len();
        let lines = block.lines().map(|line| line.get(indentation..).unwrap_or_default());
        let mut text: String = lines.collect::<Vec<_>>().join("\n");
        if !text.starts_with("ccm_policy") {
            text = format!("ccm_policy: 1\n{text}");
        }
        let scratch = Scratch::new();
        scratch.write("policy.yaml", &text);
        let called = ccm(&scratch, &["policy", "check", "--policy", "policy.yaml"]).run();
        assert_eq!(called.code, 0, "{text}\n{}", called.shown());
        checked += 1;
    }
    assert!(checked > 4, "{checked}");
}

#[test]
fn a_command_is_explained_as_a_table() {
    let called = policy("explain", &["--", "ls && kubectl --context prod-eu get pods"]);
    let parts = [
        "for tool, in /srv/agent\n",
        "kubectl --context prod-eu get pods",
        "deny by rule \"production is for the pipeline\" (policy.yaml:5:11), final\n",
        "instead: change production in the pipeline; staging is open\n",
        "verdict: deny\n",
        "Command blocked by safety guard (dangerous pattern detected)\n",
    ];
    expect_output(&called, 5, &parts);
    let called = policy("explain", &["--", "git", "push", "origin", "main"]);
    let needs = "needs: 2 of ops (alice, bob), with a touch of the key, for rule \"pushes\"\n";
    expect_output(&called, 7, &["verdict: ask\n", needs]);
    expect_output(&policy("explain", &["ls"]), 0, &["verdict: allow\n"]);
    expect_output(&policy("explain", &["echo \""]), 5, &["unreadable", "verdict: deny\n"]);
    // Under sh, `&>` reads differently in dash and bash.
    assert_eq!(policy("explain", &["--shell", "ls &>/dev/null"]).code, 5);
    assert_eq!(policy("explain", &["--shell", "ls &>/dev/null", "--dialect", "bash"]).code, 0);
    assert_eq!(policy("explain", &[]).code, 64);
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let called = policy("explain", &["--", "echo", "\u{1b}[2J\u{202e}x"]);
    assert!(!called.stdout.contains(['\u{1b}', '\u{202e}']), "{}", called.shown());
}

#[test]
fn a_batch_has_an_object_per_line() {
    let scratch = Scratch::new();
    scratch.write("policy.yaml", POLICY);
    let batch = ["policy", "explain", "--policy", "policy.yaml", "--json", "--batch"];
    let called = ccm(&scratch, &batch).input("\"ls -la\"\n\"ls; git push\"\nls\n\"a\\nb\"\n").run();
    let lines: Vec<Value> =
        called.stdout.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let verdicts: Vec<&str> = lines.iter().filter_map(|line| line["verdict"].as_str()).collect();
    assert_eq!(&verdicts[..3], ["allow", "ask", "deny"], "{}", called.shown());
    assert_eq!((lines.len(), called.code), (4, 1));
    assert_eq!(lines[1]["commands"][1]["argv"], serde_json::json!(["git", "push"]));
    assert_eq!(lines[1]["commands"][1]["rule"], "rule \"pushes\"");
    assert!(lines[2]["error"].is_string());
    let fine = ccm(&scratch, &batch).input("\"kubectl --context=prod get x\"\n").run();
    assert_eq!(fine.code, 0, "{}", fine.shown());
}

#[test]
fn errors_of_a_policy_are_shown_with_their_lines() {
    let scratch = Scratch::new();
    scratch.write("policy.yaml", "ccm_policy: 1\nrulez: []\n");
    for command in [&["check"][..], &["show"], &["explain", "ls"]] {
        let called = ccm(&scratch, &["policy"]).args(command).args(&["--policy", "policy.yaml"]).run();
        assert!(
            called.stdout.is_empty() && called.stderr.contains("1 error in the policy"),
            "{}",
            called.shown()
        );
        assert!(called.code == 1 && called.stderr.contains("policy.yaml:2:1"), "{}", called.shown());
    }
    let missing = ccm(&scratch, &["policy", "check", "--policy", "none.yaml"]).run();
    assert!(missing.code == 1 && missing.stderr.contains("none.yaml"), "{}", missing.shown());
}

#[test]
fn verdicts_that_differ_are_shown() {
    let scratch = Scratch::new();
    scratch.write("policy.yaml", POLICY);
    scratch.write("verdicts.yaml", "tool:\n  allow: [ls]\n  deny:\n    - git push\n");
    let test = ["policy", "test", "verdicts.yaml", "--policy", "policy.yaml"];
    expect_output(
        &ccm(&scratch, &test).run(),
        1,
        &["verdicts.yaml:4: ask instead of deny\n", "1 of 2 verdicts are not as expected\n"],
    );
    scratch.write("verdicts.yaml", "tools:\n  allow: [ls]\n");
    expect_error(
        &ccm(&scratch, &test).run(),
        1,
        "verdicts.yaml:1:1",
        &["unknown key `tools`"],
        &["did you mean `tool`?"],
    );
}

#[test]
fn the_policy_is_shown() {
    let parts = [
        "workspace: /srv/agent\n",
        "guard for apply: standard\n",
        "rule \"pushes\" (policy.yaml:9:11): ask\n",
    ];
    expect_output(&policy("show", &[]), 0, &parts);
    expect_output(&policy("show", &["--classes"]), 0, &["unreadable", "delete_outside", "outside_workspace"]);
}

#[test]
fn the_schema_is_one() {
    let called = ccm(&Scratch::new(), &["policy", "schema"]).run();
    let schema: Value = serde_json::from_str(&called.stdout).expect("JSON");
    jsonschema::draft202012::meta::validate(&schema).expect("a schema of its draft");
}
