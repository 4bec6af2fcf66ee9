//! `ccm apply --plan-out` and `--plan`, and `ccm plan`.

use std::os::unix::fs::PermissionsExt as _;

use ccm_testkit::{Called, Scratch};
use serde_json::Value;

use crate::approvals::on_machine;
use crate::{ccm, releases};

/// Place with a manifest of a file that exists with another content.
fn place() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("made", "old\n");
    write_manifest(&scratch, "data: {word: new}\n", "");
    scratch
}

fn write_manifest(scratch: &Scratch, data: &str, more: &str) {
    let made = scratch.at("made");
    let file = format!("    - file: [{{{made}: {{content: \"{{{{ Data.word }}}}\\n\"}}}}]\n");
    scratch.write("m.yaml", format!("{data}ccm:\n  resources:\n{file}{more}"));
}

fn made(scratch: &Scratch) -> String {
    scratch.read("made").unwrap_or_default()
}

fn run(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, args).run()
}

/// Makes a plan.
#[track_caller]
fn plan(scratch: &Scratch) {
    let called = run(scratch, &["apply", "--noop", "--plan-out", "web.plan", "m.yaml"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stderr.contains("note: wrote the plan web.plan"), "{}", called.shown());
    assert!(called.stderr.contains("hint: make exactly these changes with `ccm apply --plan web.plan`"));
}

/// Checks that the plan is refused with these differences and no other, as text and as JSON, and that nothing is changed.
#[track_caller]
fn refused(scratch: &Scratch, args: &[&str], expected: &[(&str, &str)]) {
    let before = made(scratch);
    let args = [&["apply", "--plan", "web.plan"], args].concat();
    let called = run(scratch, &args);
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("error: web.plan does not hold; nothing was run:"), "{}", called.shown());
    for (_, text) in expected {
        assert!(called.stderr.contains(text), "{text} is missing\n{}", called.shown());
    }
    assert_eq!(
        called.stderr.lines().filter(|line| line.starts_with("  ")).count(),
        expected.len(),
        "{}",
        called.shown()
    );
    let called = run(scratch, &[&args[..], &["--json"]].concat());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!((called.code, &document["exit_code"]), (1, &Value::from(1)), "{}", called.shown());
    let kinds: Vec<&str> = document["diagnostics"]
        .as_array()
        .expect("differences")
        .iter()
        .filter_map(|found| found["kind"].as_str())
        .collect();
    assert_eq!(kinds, expected.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), "{}", called.shown());
    assert_eq!(made(scratch), before);
}

#[test]
fn a_plan_replaces_nothing_but_a_plan() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", "ccm: {resources: [{exec: [{'true': {}}]}]}\n");
    scratch.write("text", "mine");
    ccm_testkit::shell("mkfifo pipe; mkdir directory", scratch.path());
    for path in ["text", "pipe", "directory", "/dev/null"] {
        let called = run(&scratch, &["apply", "--noop", "--plan-out", path, "m.yaml"]);
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(called.stderr.contains("exists and is not a plan"), "{}", called.shown());
    }
    assert_eq!(scratch.read("text").as_deref(), Some("mine"));
}

#[test]
fn a_plan_is_shown_compared_and_applied_once() {
    let scratch = place();
    plan(&scratch);
    let mode = std::fs::metadata(scratch.path().join("web.plan")).expect("a plan").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let shown = run(&scratch, &["plan", "show", "web.plan"]);
    assert_eq!(shown.code, 0, "{}", shown.shown());
    for part in ["not approved", "file#", "-old", "+new", "1 resource: 1 would change"] {
        assert!(shown.stdout.contains(part), "{part} is missing\n{}", shown.shown());
    }
    let same = run(&scratch, &["plan", "diff", "web.plan"]);
    assert_eq!((same.code, &*same.stdout), (0, ""), "{}", same.shown());
    let applied = run(&scratch, &["apply", "--plan", "web.plan"]);
    assert_eq!((applied.code, &*made(&scratch)), (0, "new\n"), "{}", applied.shown());
    refused(
        &scratch,
        &[],
        &[
            ("used", "it was used: a plan is applied once"),
            ("resource", "(planned: would change; now: unchanged)"),
        ],
    );
    let shown = run(&scratch, &["plan", "show", "web.plan", "--json"]);
    let document: Value = serde_json::from_str(&shown.stdout).expect("a document");
    assert_eq!((shown.code, &document["holds"]), (0, &Value::from(false)));
    assert_eq!(document["differences"][0]["kind"], "used");
    let differing = run(&scratch, &["plan", "diff", "web.plan"]);
    assert_eq!(differing.code, 1, "{}", differing.shown());
}

#[test]
fn everything_that_differs_is_named() {
    let scratch = place();
    plan(&scratch);
    scratch.write("made", "olD\n");
    refused(&scratch, &[], &[("resource", "has changed")]);
    scratch.write("made", "old\n");
    refused(&scratch, &["--data", "word=other"], &[("data", "the data of "), ("resource", "is another one")]);
    refused(&scratch, &["--fail-on-error"], &[("options", "`--fail-on-error` is given differently")]);
    let only = format!("file#{}", scratch.at("made"));
    refused(&scratch, &["--only", &only], &[("options", "`--only` is given differently")]);
    let skip = [("options", "`--skip` is given differently"), ("resource", "would change; now: skipped")];
    refused(&scratch, &["--skip", &only], &skip);
    write_manifest(&scratch, "data: {word: new}\n", "    - exec: ['true']\n");
    refused(&scratch, &[], &[("file", "was changed"), ("resource", "exec#true is not in the plan")]);
    write_manifest(&scratch, "data: {word: new}\n", "");
    let elsewhere = ["--state-dir", &*scratch.at("elsewhere")];
    refused(&scratch, &elsewhere, &[("key", "another state directory")]);
    let applied = run(&scratch, &["apply", "--plan", "web.plan"]);
    assert_eq!((applied.code, &*made(&scratch)), (0, "new\n"), "{}", applied.shown());
}

#[test]
fn a_manifest_that_lost_a_resource_is_named() {
    let scratch = place();
    write_manifest(&scratch, "data: {word: new}\n", "    - exec: ['true']\n");
    plan(&scratch);
    write_manifest(&scratch, "data: {word: new}\n", "");
    refused(&scratch, &[], &[("file", "was changed"), ("resource", "exec#true is only in the plan")]);
}

#[test]
fn facts_that_are_used_count_and_others_do_not() {
    let scratch = place();
    write_manifest(&scratch, "data: {word: \"{{ Facts.role }}\"}\n", "");
    let args = ["apply", "--noop", "--plan-out", "web.plan", "m.yaml", "--fact", "role=web"];
    let called = run(&scratch, &args);
    assert_eq!(called.code, 0, "{}", called.shown());
    refused(
        &scratch,
        &["--fact", "role=db"],
        &[("data", "the data of "), ("fact", "the fact `role`"), ("resource", "is another one")],
    );
    let applied = run(&scratch, &["apply", "--plan", "web.plan", "--fact", "role=web"]);
    assert_eq!((applied.code, &*made(&scratch)), (0, "web\n"), "{}", applied.shown());
}

#[test]
fn a_plan_holds_for_one_version_of_its_source() {
    let scratch = releases::site();
    let call = |words: &[&str]| run(&scratch, &[&["apply"], words, &releases::FROM].concat());
    releases::publish(&scratch, "1", &[]);
    let planned = releases::succeeded(call(&["--noop", "--plan-out", "web.plan"]));
    assert!(!scratch.has("text"), "{}", planned.shown());
    releases::publish(&scratch, "2", &[]);
    let called = call(&["--plan", "web.plan", "--json"]);
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(
        (called.code, &document["diagnostics"][0]["kind"]),
        (1, &"source".into()),
        "{}",
        called.shown()
    );
    assert_eq!(document["diagnostics"].as_array().map(Vec::len), Some(1), "{}", called.shown());
    assert!(!scratch.has("text"), "{}", called.shown());
    releases::succeeded(call(&["--noop", "--plan-out", "web.plan"]));
    releases::succeeded(call(&["--plan", "web.plan"]));
    assert!(scratch.has("text"));
}

#[test]
fn an_edited_plan_is_shown_and_refused() {
    let scratch = place();
    plan(&scratch);
    let text = scratch.read("web.plan").expect("a plan");
    scratch.write("web.plan", text.replace("+new", "+good"));
    refused(&scratch, &[], &[("edited", "it was edited")]);
    let shown = run(&scratch, &["plan", "show", "web.plan"]);
    assert_eq!(shown.code, 0, "{}", shown.shown());
    assert!(shown.stdout.contains("does not hold here: it was edited"), "{}", shown.shown());
    let state = scratch.state().display().to_string();
    let approved = run(&scratch, &["approve", "--plan", "web.plan", "--yes", "--state-dir", &state]);
    assert!(approved.code == 1 && approved.stderr.contains("it was edited"), "{}", approved.shown());
    scratch.write("web.plan", "ccm: {resources: []}\n");
    let refused = run(&scratch, &["apply", "--plan", "web.plan"]);
    assert!(
        refused.code == 1 && refused.stderr.contains("web.plan can't be read as a plan"),
        "{}",
        refused.shown()
    );
    let kept = run(&scratch, &["apply", "--noop", "--plan-out", "web.plan", "m.yaml"]);
    assert!(kept.code == 1 && kept.stderr.contains("exists and is not a plan"), "{}", kept.shown());
}

#[test]
fn a_plan_that_nobody_has_approved_is_refused_where_one_is_required() {
    let scratch = place();
    plan(&scratch);
    let refused = run(&scratch, &["apply", "--plan", "web.plan", "--require-plan"]);
    assert!(
        refused.code == 1 && refused.stderr.contains("no approver has signed the plan"),
        "{}",
        refused.shown()
    );
    let refused = run(&scratch, &["apply", "m.yaml", "--require-plan"]);
    assert!(refused.code == 1 && refused.stderr.contains("this run has no plan"), "{}", refused.shown());
    assert!(refused.stderr.contains("ccm approve --plan PLAN"), "{}", refused.shown());
    assert_eq!(made(&scratch), "old\n");
    let noop = run(&scratch, &["apply", "--noop", "m.yaml", "--require-plan"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
}

#[test]
fn a_plan_is_approved_with_a_key_of_openssh_where_the_policy_requires_that() {
    on_machine(
        r#"
echo 'callers: {apply: {plan: required}}' >> /etc/ccm/policy.yaml
fails 1 ccm apply site.yaml
shows 'the policy lets only approved plans be applied, and this run has no plan'
shows 'ccm approve --plan PLAN'
ccm apply --noop --plan-out web.plan site.yaml > out 2>&1
shows 'the policy asks for an approval of 1 of its resources'
fails 1 ccm apply --plan web.plan
shows 'no approver has signed the plan'
ssh-keygen -q -Y sign -n ccm-approval@v1 -f key web.plan 2> /dev/null
fails 1 ccm apply --plan web.plan
shows 'the signature does not count'
ccm approve --plan web.plan --key key --yes > out 2>&1
shows "touch $PWD/made"
shows 'the policy asks for an approval'
shows 'approved by alice until'
ssh-keygen -q -Y verify -f /etc/ccm/approvers -I alice -n ccm-plan@v1 -s web.plan.sig < web.plan > /dev/null
ccm plan show web.plan > out
shows 'approved by alice'
cp /etc/ccm/policy.yaml policy.yaml
echo '# another policy' >> /etc/ccm/policy.yaml
fails 1 ccm apply --plan web.plan
shows "the policy is another one"
cp policy.yaml /etc/ccm/policy.yaml
test ! -e made
ccm apply --plan web.plan > out 2>&1 || { cat out; exit 1; }
test -e made
fails 1 ccm apply --plan web.plan
shows 'it was used'
"#,
    );
}
