//! Templates as functions, as sources of files, and as generators of resources.

use crate::fake::manifest;
use crate::machine::{Machine, shown};

fn machine() -> Machine {
    Machine::with_facts(
        "{role: web, evil: '{{ Facts.secret }}', yaml: \"x'}]\\n- task: [evil: ]\", list: [a, b]}",
    )
    .file("hello.j2", "hello {{ Facts.role }} {{ Data.who | default('nobody') }}\n")
    .file("sub/inner.j2", "<{{ Facts.role }}>")
    .file("outer.j2", "{% include 'sub/inner.j2' %}")
    .file("undefined.j2", "one\n{{ Facts.gone }}\n")
    .file("syntax.j2", "one\n{% if %}\n")
    .file("escaping.j2", "{% include '../../etc/passwd' %}")
    .file("absent.j2", "one\n{% include 'gone.j2' %}")
    .file("again.j2", "{% include 'again.j2' %}")
    .file("itself.j2", "{{ template('itself.j2') }}")
    .file("ping.j2", "{{ template('pong.j2') }}")
    .file("pong.j2", "{{ template('ping.j2') }}")
    .file("first.j2", "{{ template('second.j2') }}")
    .file("second.j2", "{{ template('third.j2') }}")
    .file("third.j2", "{{ template('undefined.j2') }}")
    .file("outer_broken.j2", "one\n\n{% include 'undefined.j2' %}")
    .binary("binary.j2", &[0xff, 0xfe, 0])
}

#[test]
fn templates_are_rendered() {
    for (items, property, expected) in [
        ("- copy: [/a: {source: hello.j2}]", "content", r#""hello web nobody\n""#),
        ("- copy: [/a: {source: ./hello.j2}]", "content", r#""hello web nobody\n""#),
        ("- copy: [/a: {source: outer.j2}]", "content", r#""<web>""#),
        ("- copy: [/a: {source: outer.j2}]", "source", ""),
        ("- copy: [/a: {source: '{{ \"hello\" }}.j2'}]", "content", r#""hello web nobody\n""#),
        ("- copy: [defaults: {source: outer.j2}, /a: ]", "content", r#""<web>""#),
        ("- copy: [/a: {source: hello.txt}]", "source", r#""hello.txt""#),
        ("- note: [a: {text: \"{{ template('outer.j2') }}\"}]", "text", r#""<web>""#),
        ("- note: [a: {text: 'hello.j2'}]", "text", r#""hello.j2""#),
    ] {
        assert_eq!(machine().property(&manifest(items), property), expected, "{items}");
    }
}

#[test]
fn template_errors_point_into_the_template() {
    machine().check_all(&[
        (&manifest("- copy: [/a: {source: gone.j2}]"), &[
    "3:27 unreadable",
]),
        (&manifest("- copy: [/a: {source: \"a\\tb.j2\"}]"), &[
    "3:27 unreadable",
]),
        (&manifest("- copy: [/a: {source: binary.j2}]"), &[
    "3:27 unreadable",
]),
        (&manifest("- copy: [/a: {source: undefined.j2}]"), &[
    "3:27 unknown-name Facts.gone (/m/undefined.j2:2:4)",
]),
        (&manifest("- copy: [/a: {source: syntax.j2}]"), &[
    "3:27 expression-syntax (/m/syntax.j2:2:7)",
]),
        (&manifest("- copy: [/a: {source: escaping.j2}]"), &[
    "3:27 invalid-operand (/m/escaping.j2:1:4)",
]),
        (&manifest("- copy: [/a: {source: absent.j2}]"), &[
    "3:27 unreadable (/m/absent.j2:2:4) | …",
]),
        (&manifest("- copy: [/a: {source: again.j2}]"), &[
    "3:27 limit-exceeded (/m/again.j2:1:4)",
]),
        (&manifest("- copy: [/a: {source: itself.j2}]"), &[
    "3:27 cycle (/m/itself.j2:1:4)",
]),
        (&manifest("- copy: [/a: {source: ping.j2}]"), &[
    "3:27 cycle (/m/pong.j2:1:4) (/m/ping.j2:1:4)",
]),
        (&manifest("- copy: [/a: {source: first.j2}]"), &[
    "3:27 unknown-name Facts.gone (/m/undefined.j2:2:4) (/m/third.j2:1:4) (/m/second.j2:1:4) (/m/first.j2:1:4)",
]),
        (&manifest("- copy: [/a: {source: outer_broken.j2}]"), &[
    "3:27 unknown-name Facts.gone (/m/undefined.j2:2:4) (/m/outer_broken.j2:3:4)",
]),
        (&manifest("- note: [a: {text: \"{{ template('undefined.j2') }}\"}]"), &[
    "3:28 unknown-name Facts.gone (/m/undefined.j2:2:4)",
]),
        (&manifest("- copy: [/a: {source: hello.j2, content: x}]"), &[
    "3:19 conflict",
]),
    ]);
}

#[test]
fn a_template_writes_the_resources() {
    let machine = machine().file(
        "list.j2",
        "{% for name in Facts.list %}- note: [{{ name }}: {text: '{{ Facts.evil }}'}]\n{% endfor %}\
         - note: ['{{ Facts.evil }}': {require: [note#a], text: \"\\\\${x}\", alias: '{{ Data.who }}'}]\n\
         - copy: [/f: {source: hello.j2, control: {if: \"Facts.role == 'web'\"}}]\n",
    );
    let catalog = machine.catalog("data: {who: me}\nccm: {resources_template: list.j2}");
    let names: Vec<String> = catalog.resources.iter().map(|resource| resource.id.to_string()).collect();
    assert_eq!(names, ["note#a", "note#b", "note#{{ Facts.secret }}", "copy#/f"]);
    assert_eq!(shown(&catalog.resources[0], "text"), r#""{{ Facts.secret }}""#);
    assert_eq!(shown(&catalog.resources[2], "text"), r#""\\${x}""#);
    assert_eq!(catalog.resources[2].aliases.first().map(|alias| &**alias), Some("me"));
    assert_eq!(shown(&catalog.resources[3], "content"), r#""hello web me\n""#);
}

#[test]
fn errors_in_generated_resources_show_the_generated_text() {
    let machine = machine()
        .file(
            "unknown.j2",
            "{% for name in Facts.list %}\n- note:\n    - {{ name }}: {txet: x}\n{% endfor %}\n",
        )
        .file("yaml.j2", "- note: [a: ]\n- note: [{{ Facts.role }}: {text: [}]\n")
        .file("map.j2", "note: [a: ]\n")
        .file("nothing.j2", "\n")
        .file("cycle.j2", "- note: [a: {require: [note#b]}]\n- note: [b: {require: [note#a]}]\n")
        .file("nameless.j2", "- note: {text: '{{ Facts.evil }}', txet: x}\n")
        .file("escape.j2", "- note: [x: {text: '{{ Facts.yaml }}'}]\n");
    machine.check_all(&[
        (
            "ccm: {resources_template: unknown.j2}",
            &[
                "/m/unknown.j2 (rendered):3:11 unknown-property txet | text",
                "/m/unknown.j2 (rendered):6:11 unknown-property txet | text",
            ],
        ),
        ("ccm: {resources_template: yaml.j2}", &["/m/yaml.j2 (rendered):2:22 syntax"]),
        ("ccm: {resources_template: map.j2}", &["/m/map.j2 (rendered):1:1 wrong-type"]),
        ("ccm: {resources_template: nothing.j2}", &[]),
        (
            "ccm: {resources_template: cycle.j2}",
            &["/m/cycle.j2 (rendered):1:24 cycle (/m/cycle.j2 (rendered):2:24)"],
        ),
        (
            "ccm: {resources_template: nameless.j2}",
            &[
                "/m/nameless.j2 (rendered):1:3 missing | name:, - NAME:",
                "/m/nameless.j2 (rendered):1:38 unknown-property txet | text",
            ],
        ),
        ("ccm: {resources_template: gone.j2}", &["1:27 unreadable"]),
        ("ccm: {resources_template: undefined.j2}", &["1:27 unknown-name Facts.gone (/m/undefined.j2:2:4)"]),
        ("ccm: {resources_template: sub/inner.j2}", &["1:27 invalid-value | …"]),
        ("ccm: {resources_template: ../x.j2}", &["1:27 invalid-value | …"]),
        ("ccm: {resources_template: [a]}", &["1:27 wrong-type"]),
        ("ccm: {resources_template: }", &["1:1 missing | …"]),
        // The template must escape values for YAML, for example with `tojson`.
        ("ccm: {resources_template: escape.j2}", &["/m/escape.j2 (rendered):2:17 syntax"]),
    ]);
    let safe = Machine::with_facts("{yaml: \"x'}]\\n- task: [evil: ]\"}")
        .file("safe.j2", "- note: [x: {text: {{ Facts.yaml | tojson }}}]\n");
    let catalog = safe.catalog("ccm: {resources_template: safe.j2}");
    assert_eq!(catalog.resources.len(), 1);
}

#[test]
fn a_template_must_write_a_list_and_no_manifest() {
    let machine = Machine::default().file("r.j2", "ccm:\n  resources:\n    - note: [n: ]\n");
    let actual = machine.reported("ccm: {resources_template: r.j2}");
    assert_eq!(actual, ["/m/r.j2 (rendered):1:1 wrong-type | ccm:, resources:"]);
}
