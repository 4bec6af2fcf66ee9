//! Manifests, templates and words of other programs: accepted, or refused with what to write instead.

use crate::fake::{check_items, manifest};
use crate::machine::Machine;

/// Compares the kinds and hints of a manifest whose note has this text.
fn check(cases: &[(&str, &str)]) {
    let mut differences = String::new();
    for (text, expected) in cases {
        let machine = Machine::with_facts("{role: web}")
            .file("src.txt", "x {{ Data.s }}")
            .file("j.jet", "[[ Data.s ]]")
            .file("bad.templ", "a\n{{ Data.gone }}\n")
            .file("itself.templ", "{{ template('itself.templ') }}");
        let data = "data: {s: one, list: [a, b], map: {k: 1}, factor: 2.0}\n";
        let found =
            machine.reported(&format!("{data}{}", manifest(&format!("- note: [a: {{text: {text}}}]"))));
        if found != [*expected] {
            differences += &format!("--- {text}\n{found:#?}\n");
        }
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn templates_are_texts_with_expressions_or_jinja() {
    let machine = Machine::with_facts("{role: web}")
        .file("t.templ", "{{ Data.s }} ${ Facts.role } {{ readFile('f.txt') }}\n")
        .file("f.txt", "file {{ Data.s }}")
        .file("outer.templ", "<{{ template('t.templ') }}>")
        .file("t.j2", "{{ readFile('f.txt') }} {{ template('t.templ') }}")
        .file("plain.templ", "no expression");
    for (expression, expected) in [
        ("readFile('f.txt')", "file {{ Data.s }}"),
        ("template('t.templ')", "one web file {{ Data.s }}\\n"),
        ("template('outer.templ')", "<one web file {{ Data.s }}\\n>"),
        ("template('plain.templ')", "no expression"),
        ("template('t.j2')", "file {{ Data.s }} one web file {{ Data.s }}\\n"),
    ] {
        let text = format!(
            "data: {{s: one}}\n{}",
            manifest(&format!("- note: [a: {{text: \"{{{{ {expression} }}}}\"}}]"))
        );
        assert_eq!(machine.property(&text, "text"), format!("\"{expected}\""), "{expression}");
    }
}

#[test]
fn a_text_template_waits_for_captures() {
    let machine = Machine::default().file("t.templ", "{{ Captures.c.key }} {{ file('/x/late') }}");
    let text = manifest(
        "- note: [a: {text: \"{{ template('t.templ') }}\"}]\n- copy: [c: {capture: {key: x}}, /x/late: {content: y}]",
    );
    let catalog = machine.catalog(&text);
    let required: Vec<u32> = catalog.resources[0].require.iter().map(|edge| edge.on.0).collect();
    assert_eq!(required, [1, 2]);
}

#[test]
fn templates_that_are_none_are_refused() {
    check(&[
        (r#""{{ template('j.jet') }}""#, "4:28 unsupported | .templ"),
        (r#""{{ template('x {{ Data.s }}') }}""#, "4:28 unreadable | template"),
        (r#""{{ template(file('src.txt')) }}""#, "4:28 unreadable | template"),
        (
            r#""{{ template('bad.templ') }}""#,
            "4:28 unknown-name Data.gone (/m/bad.templ:2:3) | Data.gone ?? ''",
        ),
        (r#""{{ template('itself.templ') }}""#, "4:28 cycle (/m/itself.templ:1:3)"),
    ]);
}

#[test]
fn expressions_of_other_programs_have_a_substitute() {
    check(&[
        ("'${{ Data.s }}'", "4:27 expression-syntax | {{ Data.s }} | {{ \"$\" }}{{ Data.s }}"),
        ("'{{ Data.extra }}'", "4:33 unknown-name Data.extra | Data.extra ?? \"\""),
        (
            "'{{ Environ.EXTRA }}'",
            "4:36 unknown-name Environ.EXTRA | EXTRA, .env | Environ.EXTRA ?? \"DEFAULT\"",
        ),
        ("'{{ Facts.extra }}'", "4:34 unknown-name Facts.extra | Facts.extra ?? \"\""),
        ("'{{ Data.lits }}'", "4:33 unknown-name Data.lits | list"),
        ("'{{ kvGet(\"a\") }}'", "4:28 unknown-function | …"),
        ("'{{ registrations(\"a\") }}'", "4:28 unknown-function | …"),
        ("'{{ jet(\"a\") }}'", "4:28 unknown-function | template(\"NAME.j2\")"),
        ("'{{ getenv(\"a\") }}'", "4:28 unknown-function | Environ.NAME, Environ.NAME ?? \"DEFAULT\""),
        ("'x {{ Data.s'", "4:27 expression-syntax | }} | {{ \"{{\" }}, {{"),
        ("'{{ Data.list }}'", "4:24 wrong-type text | … | join(Data.list, \" \"), toJSON(Data.list)"),
        ("'{{ Data.map }}'", "4:24 wrong-type text | … | toJSON(Data.map)"),
        ("'{{ Data.factor * 2 }}'", "4:28 invalid-operand | … | 2.0"),
        ("'{{ Data.s * 2 }}'", "4:28 invalid-operand | …"),
        (r#""{{ join(Data.list, '\n') }}""#, "4:24 expression-syntax | \\n, |"),
    ]);
}

#[test]
fn a_child_is_no_url() {
    let text = manifest("- apply: [https://example.invalid/x.yaml: ]");
    assert_eq!(Machine::default().reported(&text), ["3:15 unsupported | …"]);
}

#[test]
fn the_same_name_twice_is_one_name() {
    check_items(&[
        ("- task: [reload: {name: reload}]", &[]),
        ("- task: [reload: {name: other}]", &["3:23 conflict | alias"]),
    ]);
}

#[test]
fn words_of_other_tools_have_a_substitute() {
    check_items(&[
        ("- users: [ada: ]", &["3:7 unknown-type | user"]),
        ("- apt: [zsh: ]", &["3:7 unknown-type | package"]),
        ("- archive: [a: ]", &["3:7 unsupported"]),
        ("- cmd.run: [a: ]", &["3:7 unknown-type | exec"]),
        // A task of Ansible has more keys than its module.
        ("- name: install\n  apt: {name: zsh}\n  become: true", &["4:7 unknown-type | package"]),
        (
            "- task: [a: {notify: b, before: [b], recurse: , comand: c}]",
            &[
                "3:18 unknown-property notify | subscribe: [TYPE#NAME]",
                "3:29 unknown-property before | require: [TYPE#NAME]",
                "3:42 unknown-property",
                "3:53 unknown-property comand | command",
            ],
        ),
        (
            "- task: [a: {with_items: [b], state: x}]",
            &[
                "3:18 unknown-property with_items | foreach: LIST, {{ Item }}",
                "3:35 unknown-property state | ensure",
            ],
        ),
    ]);
}

#[test]
fn references_of_other_tools_have_a_substitute() {
    let tasks = |count: usize| -> String {
        let lines: Vec<String> =
            (0..count).map(|number| format!("- task: [job-number-{number}: ]\n")).collect();
        lines.concat()
    };
    let (three, five) = (tasks(3), tasks(5));
    check_items(&[
        ("- note: [/x: ]\n- task: [a: {require: ['note:/x']}]", &["4:28 invalid-value | note#/x"]),
        ("- note: [/x: ]\n- task: [a: {require: ['Note[/x]']}]", &["4:28 invalid-value | note#/x"]),
        ("- note: [/x: ]\n- task: [a: {require: [\"Note['/x']\"]}]", &["4:28 invalid-value | note#/x"]),
        ("- task: [a: {require: ['user:x']}]", &["3:28 invalid-value"]),
        ("- task: [a: {require: [note#foo]}]", &["3:28 unknown-reference | note"]),
        ("- task: [a: {require: [task#foo]}]", &["3:28 unknown-reference | task"]),
        ("- note: [/x: ]\n- task: [a: {require: [note#foo]}]", &["4:28 unknown-reference | note#/x"]),
        (
            &format!("{three}- note: [n: {{require: [task#foo]}}]"),
            &["6:28 unknown-reference | task#job-number-0, task#job-number-1, task#job-number-2"],
        ),
        (&format!("{five}- note: [n: {{require: [task#foo]}}]"), &["8:28 unknown-reference"]),
        ("- note: [n: {require: [users#ada]}]", &["3:28 unknown-reference | users | user"]),
    ]);
}
