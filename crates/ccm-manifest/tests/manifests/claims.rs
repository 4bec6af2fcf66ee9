//! Claims on one object, under different names and by different types.

use ccm_manifest::OmittedInputs;

use crate::fake::manifest;
use crate::machine::Machine;
use crate::references::edges;

/// Compares the diagnostics for items below `resources`.
fn check(cases: &[(&str, &[&str])]) {
    for (items, expected) in cases {
        assert_eq!(Machine::default().reported(&manifest(items)), *expected, "{items}");
    }
}

#[test]
fn exclusive_claims_conflict() {
    check(&[
        ("- note:\n    - bob:\n    - bob+1:", &["5:11 conflict (4:11) | …"]),
        ("- note: [/a: ]\n- copy: [/a: {content: x}]", &["4:14 conflict (3:14) | …"]),
        (
            "- copy: [/a+1: {source: x}]\n- note: [/a: {text: directory}, /a+2: {text: nothing}]",
            &["4:14 conflict (3:14) | …", "4:37 conflict (3:14) | …"],
        ),
        // One name of two kinds is no conflict.
        ("- note: [bob: ]\n- copy: [bob: {content: x}]", &[]),
        // Duplicate resources are one error.
        ("- note:\n    - /a:\n    - /a:", &["5:11 warning: no-effect (4:11) | …"]),
    ]);
}

#[test]
fn shared_claims_do_not_conflict() {
    let (part, whole) = ("{text: part}", "{content: x}");
    check(&[
        (&format!("- note: [/a: {part}, /a+1: {part}]\n- copy: [/a: , /a+1: ]"), &[]),
        (&format!("- copy: [/a: {whole}]\n- note: [/a: {part}]"), &["4:14 conflict (3:14) | copy#/a"]),
        (
            &format!("- note: [/a: {part}]\n- copy: [/a: {whole}, /a+1: ]"),
            &["4:14 conflict (3:14) | copy#/a", "4:32 conflict (4:14) | copy#/a"],
        ),
    ]);
}

#[test]
fn claims_use_expanded_properties() {
    let machine = Machine::with_facts("{part: part, none: null}");
    let items =
        "- note: [/a: {text: '{{ Facts.part }}'}]\n- copy: [/a: {content: '{{ Facts.none ?? nil }}'}]";
    assert_eq!(machine.reported(&manifest(items)), Vec::<String>::new());
}

#[test]
fn an_unmanaged_resource_claims_too() {
    check(&[(
        "- note: [/a: {control: {if: 'false'}}]\n- copy: [/a: {content: x}]",
        &["4:14 conflict (3:14) | …"],
    )]);
}

#[test]
fn shared_paths_require_their_directory() {
    let items = "- note:\n    - /d/a: {text: part}\n    - /d: {text: directory}\n- copy:\n    - /d/a:";
    assert_eq!(
        edges(&Machine::default().catalog(&manifest(items))),
        ["note#/d/a after note#/d", "copy#/d/a after note#/d"]
    );
}

#[test]
fn a_reader_of_a_shared_file_requires_all_its_managers() {
    let items = "- task: [t: {command: \"{{ file('/a') }}\"}]\n- note: [/a: {text: part}]\n- copy: [/a: ]";
    assert_eq!(
        edges(&Machine::default().catalog(&manifest(items))),
        ["task#t after note#/a", "task#t after copy#/a"]
    );
}

#[test]
fn parts_of_a_file_require_the_resource_that_manages_its_attributes() {
    let edges = |items: &str| edges(&Machine::default().catalog(&manifest(items)));
    assert_eq!(
        edges("- note: [/a: {text: line}, /a+1: {text: line}, /b: {text: line}]\n- copy: [/a: ]"),
        ["note#/a after copy#/a", "note#/a+1 after copy#/a"]
    );
    let written = "- note: [/a: {text: line, require: [copy#/a]}]\n- copy: [/a: ]";
    assert_eq!(edges(written), ["note#/a after copy#/a"]);
    // Written dependencies take precedence, also over several steps.
    for written in [
        "- note: [/a: {text: line}]\n- copy: [/a: {require: [note#/a]}]",
        "- note: [/a: {text: line}, /x: {require: [note#/a]}]\n- copy: [/a: {require: [note#/x]}]",
    ] {
        let found = edges(written);
        assert!(!found.contains(&"note#/a after copy#/a".to_owned()), "{found:?}");
        assert_eq!(Machine::default().reported(&manifest(written)), Vec::<String>::new());
    }
}

#[test]
fn parts_conflict_with_the_whole_file() {
    let whole = [
        ("- copy: [/a: {content: x}]", "copy#/a"),
        ("- note: [/a+w: {text: nothing}]", "note#/a+w"),
        ("- note: [/a+w: {text: directory}]", "note#/a+w"),
    ];
    for (whole, name) in whole {
        let items = format!("{whole}\n- note: [/a: {{text: line}}, /a+1: {{text: line}}]");
        let expected = [format!("4:14 conflict (3:14) | {name}"), format!("4:32 conflict (3:14) | {name}")];
        let found = Machine::default().reported(&manifest(&items));
        assert_eq!(found, expected, "{items}");
    }
}

/// Machine on which `/var/run` leads to `/run`.
fn linked() -> Machine {
    Machine::default().link("/var/run", "/run")
}

#[test]
fn two_spellings_of_a_path_are_one_claim() {
    let messages = |items: &str| {
        let machine = linked();
        let loaded = machine.load(&manifest(items));
        loaded.diagnostics.into_iter().map(|diagnostic| diagnostic.message).collect::<Vec<_>>()
    };
    for (items, message) in [
        (
            "- copy: [/var/run/a: {content: x}]\n- note: [/run/a: {text: nothing}]",
            "`copy#/var/run/a` and `note#/run/a` both manage the path `/run/a`, which is also `/var/run/a`",
        ),
        (
            "- copy: [/run/a: {content: x}, /var/run/a: {content: x}]",
            "`copy#/run/a` and `copy#/var/run/a` both manage the path `/run/a`, which is also `/var/run/a`",
        ),
        (
            "- copy: [/run/a: {content: x}]\n- note: [/var/run/a/b: {text: nothing}, /var/run/a/c: ]",
            "`note#/var/run/a/c` is below `copy#/run/a`, which is not a directory",
        ),
    ] {
        assert_eq!(messages(items), [message]);
    }
    // The link itself is a path of its own.
    assert_eq!(messages("- copy: [/var/run: {content: x}, /run: {content: x}]"), Vec::<String>::new());
    // Elsewhere the link may not exist.
    let (found, _) = linked().checked_without(
        &manifest("- copy: [/run/a: {content: x}, /var/run/a: {content: x}]"),
        OmittedInputs { files: true, ..OmittedInputs::default() },
    );
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn order_does_not_depend_on_the_spelling() {
    let edges = |items: &str| edges(&linked().catalog(&manifest(items)));
    assert_eq!(
        edges("- note:\n    - /run/d/a:\n    - /var/run/d: {text: directory}"),
        ["note#/run/d/a after note#/var/run/d"]
    );
    assert_eq!(
        edges("- note: [/var/run/a: {text: line}]\n- copy: [/run/a: ]"),
        ["note#/var/run/a after copy#/run/a"]
    );
    assert_eq!(
        edges("- task: [t: {command: \"{{ file('/run/a') }}\"}]\n- copy: [/var/run/a: {content: x}]"),
        ["task#t after copy#/var/run/a"]
    );
}
