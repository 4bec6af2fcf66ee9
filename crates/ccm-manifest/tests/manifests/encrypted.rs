//! Encrypted values of data, and encrypted files.

use ccm_manifest::OmittedInputs;

use crate::fake::manifest;
use crate::machine::{Machine, shown};

/// Shows `Data.p` in a resource.
const SHOWN: &str = "ccm: {resources: [{note: [n: {text: \"{{ Data.p }}\"}]}]}";

fn machine() -> Machine {
    Machine::default()
        .file("p.age", "sealed s3cret-word\n")
        .file("closed.age", "other")
        .file("cut.age", "damaged")
}

#[test]
fn an_encrypted_value_is_a_secret_wherever_it_stands() {
    for (data, expression, expected) in [
        ("data:\n  # @encrypted\n  p: sealed s3cret-word\n", "Data.p", "s3cret-word"),
        ("data:\n  # @encrypted\n  p: |\n    sealed s3cret-word\n", "Data.p", "s3cret-word"),
        ("data:\n  # @encrypted @require\n  p: sealed s3cret-word\n", "Data.p", "s3cret-word"),
        ("data:\n  # @encrypted\n  p: {a: {b: sealed s3cret-word}}\n", "Data.p.a.b", "s3cret-word"),
        ("data:\n  # @encrypted\n  p: [sealed s3cret-word]\n", "Data.p[0]", "s3cret-word"),
        ("data:\n  p:\n    # @encrypted\n    a: sealed s3cret-word\n    b: 1\n", "Data.p.a", "s3cret-word"),
        // An expression in a secret is none.
        ("data:\n  # @encrypted\n  p: 'sealed {{ s3cret-word }}'\n", "Data.p", "{{ s3cret-word }}"),
        (
            "data: {p: 1}\noverrides:\n  global:\n    # @encrypted\n    p: sealed s3cret-word\nhierarchy: {order: [global]}\n",
            "Data.p",
            "s3cret-word",
        ),
        ("", "file('p.age')", "s3cret-word"),
        ("data: {p: \"{{ file('p.age') }}\"}\n", "Data.p", "s3cret-word"),
    ] {
        let machine = machine();
        let text = format!("{data}ccm: {{resources: [{{note: [n: {{text: \"{{{{ {expression} }}}}\"}}]}}]}}");
        let loaded = machine.load(&text);
        let catalog = loaded.catalog.as_ref().unwrap_or_else(|| panic!("{text}: {:?}", loaded.diagnostics));
        let found = shown(&catalog.resources[0], "text");
        assert_eq!(found.trim_end_matches("\\n\"").trim_end_matches('"'), format!("\"{expected}"), "{text}");
        assert!(loaded.data.secrets.iter().any(|secret| secret == expected), "{text}");
    }
}

#[test]
fn an_encrypted_file_is_the_content_of_a_file_byte_for_byte() {
    let machine = machine();
    let loaded = machine.load(&manifest("- copy: [/n: {source: p.age}]"));
    let catalog = loaded.catalog.as_ref().expect("a manifest without errors");
    assert_eq!(shown(&catalog.resources[0], "content"), "\"s3cret-word\\n\"");
    assert_eq!(catalog.resources[0].properties.get("source"), None);
    assert!(loaded.data.secrets.iter().any(|secret| secret == "s3cret-word"));
}

#[test]
fn values_of_a_level_are_opened_on_the_machines_that_read_it() {
    let machine = machine()
        .file("data/web.yaml", "# @encrypted\np: sealed s3cret-word\nq: 2\n")
        .file("data/db.yaml", "# @encrypted\np: other\n");
    let text = format!("data: {{p: none}}\nhierarchy: {{data_dir: data, order: [web]}}\n{SHOWN}");
    let loaded = machine.load(&text);
    let catalog = loaded.catalog.as_ref().unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    assert_eq!(shown(&catalog.resources[0], "text"), "\"s3cret-word\"");
    assert!(loaded.data.secrets.iter().any(|secret| secret == "s3cret-word"));
}

#[test]
fn what_a_higher_level_replaces_is_not_opened() {
    let text = format!("data:\n  # @encrypted\n  p: other\n{SHOWN}");
    let machine = machine().assignment("p=given");
    let loaded = machine.load(&text);
    let catalog = loaded.catalog.as_ref().unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    assert_eq!(shown(&catalog.resources[0], "text"), "\"given\"");
}

#[test]
fn what_can_not_be_opened_is_located() {
    machine().check_all(&[
        (&format!("data:\n  # @encrypted\n  p: other\n{SHOWN}"), &["3:6 unreadable | …"]),
        (&format!("data:\n  # @encrypted\n  p: damaged\n{SHOWN}"), &["3:6 unreadable"]),
        (
            &format!("data:\n  # @encrypted\n  p: other\n  # @encrypted\n  q: damaged\n{SHOWN}"),
            &["3:6 unreadable | …", "5:6 unreadable"],
        ),
        (&manifest("- note: [n: {text: \"{{ file('closed.age') }}\"}]"), &["3:28 unreadable | …"]),
        (&manifest("- copy: [/n: {source: cut.age}]"), &["3:27 unreadable"]),
        // A value that is not marked is what it is.
        (
            &format!("data: {{p: \"-----BEGIN AGE ENCRYPTED FILE-----\\nQQ==\"}}\n{SHOWN}"),
            &["1:11 warning: no-effect | # @encrypted"],
        ),
    ]);
}

#[test]
fn a_value_of_another_machine_is_not_checked_where_nothing_is_applied() {
    let checked = OmittedInputs { encrypted: true, ..OmittedInputs::default() };
    for (text, expected) in [
        (format!("data:\n  # @encrypted\n  p: other\n{SHOWN}"), (vec![], vec!["3:6"])),
        (format!("data:\n  # @encrypted\n  p: damaged\n{SHOWN}"), (vec!["3:6 unreadable"], vec![])),
        (manifest("- note: [n: {text: \"{{ file('closed.age') }}\"}]"), (vec![], vec!["3:24"])),
        (manifest("- copy: [/n: {source: closed.age}]"), (vec![], vec!["3:27"])),
        (manifest("- copy: [/n: {source: cut.age}]"), (vec!["3:27 unreadable"], vec![])),
    ] {
        let (errors, notes) = machine().checked_without(&text, checked);
        assert_eq!(errors, expected.0, "{text}");
        let places: Vec<&str> = notes.iter().filter_map(|note| note.split(' ').next()).collect();
        assert_eq!(places, expected.1, "{text}");
    }
}
