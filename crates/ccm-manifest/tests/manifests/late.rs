//! Values that are known only during the run.

use ccm_manifest::Completion;
use ccm_model::{Control, ResourceIndex};

use crate::fake::{line, manifest};
use crate::machine::{Machine, completed, completed_after, late_property, shown};

fn dependencies_of(loaded: &ccm_manifest::LoadResult<'_>, index: usize) -> Vec<u32> {
    let catalog = loaded.catalog.as_ref().expect("no error");
    catalog.resources[index].require.iter().map(|edge| edge.on.0).collect()
}

#[test]
fn the_content_of_a_managed_file_is_late() {
    let machine = Machine::with_facts("{a: one}").file("/x", "before");
    let loaded = machine.load(&manifest(
        "- note: [n: {text: \"{{ Facts.a }} {{ file('/x') }}\"}]\n- copy: [/x: {content: after}]\n- note: [m: {text: y}]",
    ));
    assert_eq!(dependencies_of(&loaded, 0), [1]);
    assert!(machine.read.borrow().is_empty());
    machine.write("/x", "{{ Facts.a }}");
    assert_eq!(late_property(&loaded, 0, "text"), r#""one {{ Facts.a }}""#);
    machine.write("/x", "later");
    assert_eq!(late_property(&loaded, 0, "text"), r#""one later""#);
    assert!(matches!(completed(&loaded, 1), Completion::AsWritten));
    assert!(matches!(completed(&loaded, 2), Completion::AsWritten));
    let unchanged = completed_after(&loaded, 0, &|index| index == ResourceIndex(1));
    assert!(matches!(unchanged, Completion::NotBefore(ResourceIndex(1))), "{unchanged:?}");
}

#[test]
fn an_unmanaged_file_is_read_at_load() {
    let machine = Machine::default().file("x", "now");
    let text = manifest("- note: [n: {text: \"{{ file('x') }}\"}]\n- copy: [/m/x: {control: {if: 'false'}}]");
    let loaded = machine.load(&text);
    let catalog = loaded.catalog.as_ref().expect("no error");
    assert_eq!(shown(&catalog.resources[0], "text"), r#""now""#);
    assert!(dependencies_of(&loaded, 0).is_empty());
}

#[test]
fn every_spelling_of_a_managed_path_is_late() {
    let machine = Machine::default().file("x", "before").file("t.j2", "<{{ file('x') }}>");
    for text in [
        "- note: [n: {text: \"{{ file('x') }}\"}]",
        "- note: [n: {text: \"{{ file('./sub/../x') }}\"}]",
        "- note: [n: {text: \"{{ file('/m/' + 'x') }}\"}]",
        "- note: [n: {text: \"{{ template('t.j2') }}\"}]",
        "- note: [n: {text: \"{{ template('x') }}\"}]",
        "- copy: [/n: {source: t.j2}]",
        "- task: [n: {command: \"run {{ file('x') }}\"}]",
        "- task: [n: {command: x, args: [\"{{ file('x') }}\"]}]",
        "- task: [n: {environment: {\"{{ file('x') }}\": y}}]",
        "- note: [defaults: {text: \"{{ file('x') }}\"}, n: ]",
    ] {
        let loaded = machine.load(&manifest(&format!("{text}\n- copy: [/m/x: ]")));
        assert_eq!(dependencies_of(&loaded, 0), [1], "{text}");
        assert!(matches!(completed(&loaded, 0), Completion::Resource(_)), "{text}");
    }
}

#[test]
fn completing_expands_late_texts_only() {
    let machine = Machine::with_facts("{evil: '{{ Facts.gone }}'}").file("/x", "late");
    let loaded = machine.load(&manifest(
        "- task: [n: {command: x, args: ['{{ Facts.evil }}', \"{{ file('/x') }}\", '\\${x}'], environment: {a: '{{ Facts.evil }}'}}]\n- copy: [/x: ]",
    ));
    assert_eq!(late_property(&loaded, 0, "args"), r#"["{{ Facts.gone }}","late","${x}"]"#);
    assert_eq!(late_property(&loaded, 0, "environment"), r#"{"a":"{{ Facts.gone }}"}"#);
}

#[test]
fn a_late_value_adds_one_edge() {
    let machine = Machine::default();
    let loaded = machine.load(&manifest(
        "- note: [n: {text: \"{{ file('/x') }}{{ file('/x') }}\", require: [copy#/x]}]\n- copy: [/x: ]",
    ));
    assert_eq!(dependencies_of(&loaded, 0), [1]);
}

#[test]
fn late_values_are_refused_before_the_run() {
    Machine::default().file("/x", "x").file("t.j2", "{{ file('/x') }}").check_all(&[
        (&manifest("- note: [n: {ensure: \"{{ file('/x') }}\", require: [\"{{ file('/x') }}\"]}]\n- copy: [/x: ]"), &[
    "3:26 late-value | …",
    "3:56 late-value | …",
]),
        (&manifest("- note: [\"{{ file('/x') }}\": {alias: \"{{ file('/x') }}\", provider: \"{{ file('/x') }}\"}]\n- copy: [/x: ]"), &[
    "3:14 late-value | …",
    "3:42 late-value | …",
    "3:72 late-value | …",
]),
        (&manifest("- apply: [\"{{ file('/x') }}\": ]\n- copy: [/x: ]"), &[
    "3:15 late-value | …",
]),
        (&manifest("- apply: [c.yaml: {data: {a: \"{{ file('/x') }}\"}}]\n- copy: [/x: ]"), &[
    "3:15 unreadable | …",
    "3:34 late-value | …",
]),
        ("data: {a: \"{{ file('/x') }}\"}\nccm: {name: \"{{ file('/x') }}\", resources: [copy: [/x: ]]}", &[
    "1:11 late-value | …",
    "2:13 late-value | …",
]),
        ("ccm: {resources_template: t.j2}", &[
    "/m/t.j2 (rendered):1:1 wrong-type",
]),
        (&manifest("- copy: [/x: {content: \"{{ file('/x') }}\"}]"), &[
    "3:28 cycle",
]),
        (&manifest("- copy: [/x: {content: \"{{ file('/y') }}\"}, /y: {content: \"{{ file('/x') }}\"}]"), &[
    "3:28 cycle (3:63)",
]),
        (&manifest("- copy: [/x: {content: \"{{ file('/y') }}\"}, /y: {require: [copy#/x]}]"), &[
    "3:28 cycle (3:64)",
]),
    ]);
}

#[test]
fn late_errors_are_located() {
    let machine = Machine::default().file("/x", "1").file("t.j2", "a\n{{ file('/x').b.c }}\n");
    for (text, expected) in [
        ("- note: [n: {text: \"{{ file('/x').a }}\"}]", "3:39 invalid-operand text"),
        ("- note: [n: {text: \"{{ file('/x') + file('/gone') }}\"}]", "3:41 unreadable text"),
        (
            "- note: [n: {text: \"{{ lookup(file('/x')) }}\"}]",
            "3:28 unknown-name text 1 | facts., data., environ.",
        ),
        ("- note: [n: {control: {if: \"file('/x')\"}}]", "3:32 wrong-type | file('/x') == 'VALUE'"),
        ("- copy: [/n: {source: t.j2}]", "3:27 unknown-name source (/m/t.j2:2:14)"),
        ("- task: [n: {timeout: \"{{ file('/x') + 'y' }}\"}]", "3:27 wrong-type timeout"),
    ] {
        let loaded = machine.load(&manifest(&format!("{text}\n- copy: [/x: ]")));
        match completed(&loaded, 0) {
            Completion::Invalid(errors) | Completion::MissingFile { errors, .. } => {
                let told = line(&errors[0], &loaded.texts());
                assert_eq!(told, expected, "{text}");
            }
            other => panic!("{text} {other:?}"),
        }
    }
}

#[test]
fn facts_that_fail_late_are_an_error() {
    let machine = Machine::default().file("/x", "facts.a").without_facts();
    let loaded = machine.load(&manifest(
        "- note: [n: {text: \"{{ lookup(file('/x')) }}\"}, m: {text: \"{{ lookup(file('/x')) }}\"}]\n- copy: [/x: ]",
    ));
    for index in [0, 1] {
        let completed = completed(&loaded, index);
        assert!(matches!(completed, Completion::Invalid(_)), "{completed:?}");
    }
}

#[test]
fn control_can_be_late() {
    let machine = Machine::default().file("/x", "yes");
    let text = manifest(
        "- note: [n: {control: {if: \"file('/x') == 'yes'\"}, text: \"{{ file('/x') }}\"}]\n- copy: [/x: ]",
    );
    let loaded = machine.load(&text);
    let control = &loaded.catalog.as_ref().expect("no error").resources[0].control;
    assert_eq!(*control, Control::Late);
    assert_eq!(dependencies_of(&loaded, 0), [1]);
    assert_eq!(late_property(&loaded, 0, "text"), r#""yes""#);
    machine.write("/x", "no");
    assert!(matches!(completed(&loaded, 0), Completion::NotManaged(reason) if reason == "`if` is false"));
    let unchanged = completed_after(&loaded, 0, &|_| true);
    assert!(matches!(unchanged, Completion::NotBefore(ResourceIndex(1))), "{unchanged:?}");
    // The file may be missing before the run. An unmanaged file decides at once.
    let none = Machine::default();
    assert_eq!(none.catalog(&text).resources[0].control, Control::Late);
    let text = manifest("- note: [n: {control: {if: \"file('/x') == 'yes'\"}, text: '{{ broken }}'}]");
    let control = machine.catalog(&text).resources[0].control.clone();
    assert_eq!(control, Control::NotManaged { reason: "`if` is false".to_owned() });
}

#[test]
fn a_condition_may_read_the_managed_file() {
    let machine = Machine::default().file("/x", "old");
    let loaded =
        machine.load(&manifest("- copy: [/x: {content: new, control: {unless: \"file('/x') == 'own'\"}}]"));
    assert!(dependencies_of(&loaded, 0).is_empty());
    assert!(matches!(completed(&loaded, 0), Completion::Resource(_)));
    machine.write("/x", "own");
    assert!(matches!(completed(&loaded, 0), Completion::NotManaged(_)));
}

#[test]
fn a_managed_include_is_late() {
    let machine = Machine::default().file("t.j2", "{% include 'part.j2' %}").file("/m/part.j2", "old");
    let loaded =
        machine.load(&manifest("- note: [n: {text: \"{{ template('t.j2') }}\"}]\n- copy: [/m/part.j2: ]"));
    assert_eq!(dependencies_of(&loaded, 0), [1]);
    machine.write("part.j2", "new");
    assert_eq!(late_property(&loaded, 0, "text"), r#""new""#);
    let unchanged = completed_after(&loaded, 0, &|_| true);
    assert!(matches!(unchanged, Completion::NotBefore(ResourceIndex(1))), "{unchanged:?}");
    machine.check_all(&[(
        &manifest("- note: [\"{{ template('t.j2') }}\": ]\n- copy: [/m/part.j2: ]"),
        &["3:14 late-value | …"],
    )]);
}
