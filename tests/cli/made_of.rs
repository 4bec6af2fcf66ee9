//! Mistakes in what a manifest is made of: facts, values, templates and other manifests. Each is shown with its
//! place, and nothing is run.

use std::os::unix::fs::symlink;

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;

use crate::ccm;

/// A manifest whose first resource would leave a trace if it were run.
fn manifest(before: &str, resources: &str) -> String {
    format!("{before}ccm:\n  resources:\n    - exec:\n        - touch trace: {{cwd: \"[dir]\"}}\n{resources}")
}

fn run(scratch: &Scratch, text: &str, options: &[&str]) -> Called {
    scratch.write("m.yaml", text.replace("[dir]", &scratch.path().to_string_lossy()));
    let call = ccm(scratch, &["apply", "m.yaml"]).args(options);
    call.variable("XDG_CONFIG_HOME", &scratch.at("config")).run()
}

/// Applies it and expects it to be refused.
fn refused(scratch: &Scratch, name: &str, text: &str, options: &[&str]) {
    let called = run(scratch, text, options);
    assert_eq!((called.code, &*called.stdout), (1, ""), "{name}: {}", called.shown());
    assert!(!scratch.has("trace"), "{name} was run");
    assert_snapshot!(name, called.shown());
}

#[test]
fn expressions_that_do_not_work_out_are_refused() {
    for (name, resource) in [
        ("made_of_unknown_function", "        - a: {creates: \"{{ trimm('/x') }}\"}\n"),
        ("made_of_unknown_key", "        - a: {timeout: \"{{ Data.timeuot }}\"}\n"),
        ("made_of_unknown_fact", "        - a: {timeout: \"{{ Facts.host.info.platfrom }}\"}\n"),
        ("made_of_unknown_path", "        - a: {timeout: \"{{ lookup('data.timeuot') }}\"}\n"),
        ("made_of_wrong_type", "        - a: {returns: \"{{ Data.timeout }}\", timeout: \"{{ Data }}\"}\n"),
    ] {
        refused(&Scratch::new(), name, &manifest("data: {timeout: 30s}\n", resource), &[]);
    }
}

#[test]
fn templates_that_can_not_be_rendered_are_refused() {
    let scratch = Scratch::new();
    scratch.write("loop.j2", "{% include 'round.j2' %}\n");
    scratch.write("round.j2", "one\n{% include 'loop.j2' %}\n");
    scratch.write("binary.j2", b"\x7fELF\x00\xff\xfe");
    scratch.write("broken.j2", "first\n{{ Data.nothing }}\n");
    for name in ["loop", "missing", "binary", "broken"] {
        let resource = format!("    - file:\n        - [dir]/x:\n            source: {name}.j2\n");
        refused(&scratch, &format!("made_of_template_{name}"), &manifest("", &resource), &[]);
    }
}

#[test]
fn facts_that_can_not_be_read_are_refused() {
    let scratch = Scratch::new();
    scratch.write("facts.yaml", "role: web\nsite: {name: south\n");
    let names = manifest("", "        - echo {{ Facts.role }}: {}\n");
    refused(&scratch, "made_of_facts_broken", &names, &["--facts", "facts.yaml"]);
    refused(&scratch, "made_of_facts_missing", &names, &["--facts", "none.yaml"]);
    scratch.write("config/ccm/facts.yaml", "role web\n");
    refused(&scratch, "made_of_custom_facts_broken", &names, &[]);
}

#[test]
fn custom_facts_that_are_left_out_are_warned_about() {
    let scratch = Scratch::new();
    let real = scratch.write("real.yaml", "role: linked\n");
    scratch.write("config/ccm/facts.d/huge.yaml", "x: 1\n".repeat(300_000));
    symlink(real, scratch.path().join("config/ccm/facts.d/link.yaml")).expect("a link");
    refused(&scratch, "made_of_custom_facts", &manifest("", "        - echo {{ Facts.role }}: {}\n"), &[]);
}

#[test]
fn values_that_are_not_valid_are_all_told() {
    let data = "\
data:
  # @validate isIPv4(value)
  address: 10.0.0.999
  # @require
  # @validate isHostname(value)
  host: -bad-
  # @validate isDuration(value)
  # @sensitive
  wait: hunter22
";
    refused(&Scratch::new(), "made_of_validators", &manifest(data, ""), &[]);
}

#[test]
fn a_hierarchy_may_name_facts_that_are_there_only() {
    let order = |entry: &str| {
        format!("hierarchy: {{order: [\"{entry}\"]}}\ndata: {{a: 1}}\noverrides: {{role:web: {{a: 2}}}}\n")
    };
    let missing = manifest(&order("os:{{ Facts.host.info.oss }}"), "");
    refused(&Scratch::new(), "made_of_hierarchy", &missing, &[]);
    refused(
        &Scratch::new(),
        "made_of_hiera_url",
        &manifest("", ""),
        &["--hiera", "https://example.net/x.yaml"],
    );
    refused(&Scratch::new(), "made_of_hiera_missing", &manifest("", ""), &["--hiera", "x.yaml"]);
}

#[test]
fn a_fact_that_looks_like_an_expression_is_text() {
    let scratch = Scratch::new();
    let text = manifest("", "    - file:\n        - [dir]/x: {content: '{{ Facts.note }}'}\n");
    let called = run(&scratch, &text, &["--fact", "note={{ 1 + 1 }} ${ Data.x }"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(scratch.read("x").as_deref(), Some("{{ 1 + 1 }} ${ Data.x }"));
}

#[test]
fn manifests_within_manifests_are_checked_before_anything_is_run() {
    let scratch = Scratch::new();
    let applies = |path: &str| format!("ccm: {{resources: [{{apply: {{name: {path}}}}}]}}\n");
    scratch.write("loop.yaml", applies("round.yaml"));
    scratch.write("round.yaml", applies("loop.yaml"));
    scratch.write("broken.yaml", "ccm:\n  resources:\n    - exec:\n        - a: {tmieout: 1s}\n");
    for depth in 0..12 {
        scratch.write(&format!("deep{depth}.yaml"), applies(&format!("deep{}.yaml", depth + 1)));
    }
    for name in ["missing", "loop", "deep0", "broken"] {
        let resource = format!("    - apply: {{name: {name}.yaml}}\n");
        refused(&scratch, &format!("made_of_child_{name}"), &manifest("", &resource), &[]);
    }
}

#[test]
fn variables_come_from_the_file_beside_the_manifest_unless_that_is_not_wanted() {
    let scratch = Scratch::new();
    scratch.write(".env", "export WORD='from the file'\n");
    let text = manifest("", "    - file:\n        - [dir]/x: {content: \"{{ Environ.WORD ?? 'none' }}\"}\n");
    assert_eq!(
        run(&scratch, &text, &["-q"]),
        Called { code: 0, stdout: String::new(), stderr: String::new() }
    );
    assert_eq!(scratch.read("x").as_deref(), Some("from the file"));
    assert_eq!(run(&scratch, &text, &["--no-env"]).code, 0);
    assert_eq!(scratch.read("x").as_deref(), Some("none"));
    let other = Scratch::new();
    other.write(".env", "GOOD=1\nWORD='open\n");
    refused(&other, "made_of_dotenv", &text, &[]);
    std::fs::remove_file(other.path().join(".env")).expect("it was there");
    std::fs::create_dir(other.path().join(".env")).expect("a directory");
    refused(&other, "made_of_dotenv_unreadable", &text, &[]);
}
