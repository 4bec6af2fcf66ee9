//! Things that more than one resource claims, also under different names and by different types.

use crate::fake::manifest;
use crate::machine::Machine;
use crate::references::edges;

/// Compares what is reported for items below `resources`.
fn check(cases: &[(&str, &[&str])]) {
    for (items, expected) in cases {
        assert_eq!(Machine::default().reported(&manifest(items)), *expected, "{items}");
    }
}

#[test]
fn a_thing_is_claimed_by_one_resource() {
    check(&[
        (
            "- note:\n    - bob:\n    - bob+1:",
            &[
                "5:11 `note#bob` and `note#bob+1` both manage the user `bob` (4:11 the first) | keep one of them",
            ],
        ),
        (
            "- note: [/a: ]\n- copy: [/a: {content: x}]",
            &["4:14 `note#/a` and `copy#/a` both manage the path `/a` (3:14 the first) | keep one of them"],
        ),
        (
            "- copy: [/a+1: {source: x}]\n- note: [/a: {text: directory}, /a+2: {text: nothing}]",
            &[
                "4:14 `copy#/a+1` and `note#/a` both manage the path `/a` (3:14 the first) | keep one of them",
                "4:37 `copy#/a+1` and `note#/a+2` both manage the path `/a` (3:14 the first) | keep one of them",
            ],
        ),
        // The same name of another kind of thing is another thing.
        ("- note: [bob: ]\n- copy: [bob: {content: x}]", &[]),
        // A name that is given twice is one error.
        ("- note:\n    - /a:\n    - /a:", &["5:11 duplicate resource `note#/a` (4:11 the first)"]),
    ]);
}

#[test]
fn a_thing_may_be_shared_if_every_claim_shares_it() {
    let (part, whole) = ("{text: part}", "{content: x}");
    check(&[
        (&format!("- note: [/a: {part}, /a+1: {part}]\n- copy: [/a: , /a+1: ]"), &[]),
        (
            &format!("- copy: [/a: {whole}]\n- note: [/a: {part}]"),
            &[
                "4:14 `copy#/a` and `note#/a` both manage the path `/a` (3:14 the first) | `copy#/a` shares it \
               with no other resource",
            ],
        ),
        (
            &format!("- note: [/a: {part}]\n- copy: [/a: {whole}, /a+1: ]"),
            &[
                "4:14 `note#/a` and `copy#/a` both manage the path `/a` (3:14 the first) | `copy#/a` shares it \
                 with no other resource",
                "4:32 `copy#/a` and `copy#/a+1` both manage the path `/a` (4:14 the first) | `copy#/a` shares it \
                 with no other resource",
            ],
        ),
    ]);
}

#[test]
fn a_claim_is_what_properties_come_to() {
    let machine = Machine::with_facts("{part: part, none: null}");
    let items = "- note: [/a: {text: '{{ Facts.part }}'}]\n- copy: [/a: {content: '{{ Facts.none }}'}]";
    assert_eq!(machine.reported(&manifest(items)), Vec::<String>::new());
}

#[test]
fn a_resource_that_is_switched_off_claims_what_it_would_manage() {
    check(&[(
        "- note: [/a: {control: {if: 'false'}}]\n- copy: [/a: {content: x}]",
        &["4:14 `note#/a` and `copy#/a` both manage the path `/a` (3:14 the first) | keep one of them"],
    )]);
}

#[test]
fn what_shares_a_path_comes_after_the_directory_above_it() {
    let items = "- note:\n    - /d/a: {text: part}\n    - /d: {text: directory}\n- copy:\n    - /d/a:";
    assert_eq!(
        edges(&Machine::default().catalog(&manifest(items))),
        ["note#/d/a after note#/d", "copy#/d/a after note#/d"]
    );
}

#[test]
fn who_reads_a_shared_file_waits_for_everyone_who_manages_a_part_of_it() {
    let items = "- task: [t: {command: \"{{ file('/a') }}\"}]\n- note: [/a: {text: part}]\n- copy: [/a: ]";
    assert_eq!(
        edges(&Machine::default().catalog(&manifest(items))),
        ["task#t after note#/a", "task#t after copy#/a"]
    );
}
