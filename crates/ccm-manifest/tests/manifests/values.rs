//! Values of expressions, in every position.

use proptest::prelude::*;

use crate::fake::manifest;
use crate::machine::{Machine, shown};

const FACTS: &str = "{a: one, n: 5, f: 1.5, yes: true, list: [x, 5], map: {k: v}, none: , role: web, \
                     words: 'a b', nasty: \"it's \\\"x\\\"; rm -rf / $HOME `id`\\n#\", evil: '{{ Facts.secret }}', \
                     dollar: '${ Facts.secret }', secret: hidden, quoted: '5', mode: 644}";

fn machine() -> Machine {
    Machine::with_facts(FACTS).variable("HOME", "/root").file("five", "5")
}

#[test]
fn a_single_expression_keeps_the_kind_of_its_value() {
    for (items, property, expected) in [
        ("- task: [a: {timeout: '{{ Facts.n }}'}]", "timeout", "5"),
        ("- task: [a: {timeout: '${ Facts.n * 2 }'}]", "timeout", "10"),
        ("- task: [a: {refresh_only: '{{ Facts.yes }}', subscribe: [task#b]}]\n- task: [b: ]", "", ""),
        ("- task: [a: {command: x, args: '{{ Facts.list }}'}]", "args", r#"["x",5]"#),
        ("- task: [a: {command: x, args: ['{{ Facts.a }}', b]}]", "args", r#"["one","b"]"#),
        ("- task: [a: {guard: '{{ [Facts.a] }}'}]", "guard", r#"["one"]"#),
        ("- task: [a: {environment: '{{ Facts.map }}'}]", "environment", r#"{"k":"v"}"#),
        ("- task: [a: {environment: {'{{ Facts.a }}': '{{ Facts.n }}'}}]", "environment", r#"{"one":5}"#),
        ("- task: [a: {environment: {'x{{ Facts.a }}': y}}]", "environment", r#"{"xone":"y"}"#),
        ("- task: [a: {level: '{{ \"loud\" }}'}]", "level", r#""loud""#),
        ("- note: [a: {text: '{{ Facts.n }}'}]", "text", "5"),
        ("- note: [a: {text: '{{ Facts.quoted }}'}]", "text", r#""5""#),
        ("- note: [a: {text: '{{ Facts.f }}'}]", "text", "1.5"),
        ("- note: [a: {text: '{{ Facts.none ?? nil }}'}]", "text", ""),
        ("- note: [a: {text: '{{ true ? nil : 5 }}'}]", "text", ""),
        ("- note: [defaults: {text: '{{ Facts.none ?? nil }}'}, a: ]", "text", ""),
        (
            "- note: [defaults: {text: '{{ Facts.a }}'}, a: {text: '{{ Facts.none ?? nil }}'}]",
            "text",
            r#""one""#,
        ),
        ("- note: [defaults: {text: '{{ Facts.a }}'}, a: {text: '{{ Facts.n }}'}]", "text", "5"),
        ("- note: [defaults: {text: '{{ Facts.a }}'}, a: ]", "text", r#""one""#),
        ("- note: {name: a, text: '{{ Facts.a }}'}", "text", r#""one""#),
        ("- note: [a: {text: '{{ Environ.HOME }}'}]", "text", r#""/root""#),
        ("- note: [a: {text: \"{{ lookup('facts.list.1') }}\"}]", "text", "5"),
        ("- note: [a: {text: \"{{ lookup('facts.gone', 'x') }}\"}]", "text", r#""x""#),
        ("- note: [a: {text: \"{{ file('five') }}\"}]", "text", r#""5""#),
    ] {
        assert_eq!(machine().property(&manifest(items), property), expected, "{items}");
    }
}

#[test]
fn surrounding_text_makes_the_value_text() {
    for (text, expected) in [
        ("x{{ Facts.n }}", r#""x5""#),
        ("{{ Facts.n }}{{ Facts.n }}", r#""55""#),
        (" {{ Facts.n }}", r#"" 5""#),
        ("{{ Facts.yes }}!", r#""true!""#),
        ("<{{ Facts.none ?? \"\" }}>", r#""<>""#),
        ("<{{ Facts.list }}>", r#""<[\"x\",5]>""#),
        ("<${ Facts.map }>", r#""<{\"k\":\"v\"}>""#),
        ("\\${ Facts.n }", r#""${ Facts.n }""#),
        ("\\${x} {{ Facts.n }}", r#""${x} 5""#),
        ("$HOME $(date) $$", r#""$HOME $(date) $$""#),
        ("<{{ Facts.evil }}{{ Facts.dollar }}>", r#""<{{ Facts.secret }}${ Facts.secret }>""#),
    ] {
        let yaml = manifest(&format!("- note: [a: {{text: '{text}'}}]"));
        assert_eq!(machine().property(&yaml, "text"), expected, "{text}");
    }
}

#[test]
fn names_aliases_references_and_settings_are_expanded() {
    let text = "\
ccm:
  name: 'at {{ Facts.role }}'
  pre_message: '{{ Facts.n }}'
  post_message: '{{ Facts.evil }}'
  fail_on_error: '{{ Facts.yes }}'
  resources:
    - note:
        - '{{ Facts.role }}': {alias: 'the-{{ Facts.role }}', ensure: '{{ \"present\" }}', provider: '{{ \"plain\" }}'}
        - {'n-{{ Facts.n }}': {require: ['note#{{ Facts.role }}']}}
        - c: {require: '{{ [\"note#web\", \"note#n-5\"] }}', subscribe: ['{{ \"note#the-web\" }}']}
    - note: {name: '{{ Facts.n }}'}
";
    let catalog = machine().catalog(text);
    assert_eq!(catalog.name.as_deref(), Some("at web"));
    assert_eq!(catalog.pre_message.as_deref(), Some("5"));
    assert_eq!(catalog.post_message.as_deref(), Some("{{ Facts.secret }}"));
    assert!(catalog.fail_on_error);
    let names: Vec<String> = catalog.resources.iter().map(|resource| resource.id.to_string()).collect();
    assert_eq!(names, ["note#web", "note#n-5", "note#c", "note#5"]);
    assert_eq!(catalog.resources[0].aliases.first().map(|alias| &**alias), Some("the-web"));
    assert_eq!(catalog.resources[0].ensure.as_ref().map(|ensure| &*ensure.value), Some("present"));
    let on = |index: usize| -> Vec<u32> {
        let resource = &catalog.resources[index];
        resource.require.iter().chain(&resource.subscribe).map(|edge| edge.on.0).collect()
    };
    assert_eq!((on(1), on(2)), (vec![0], vec![0, 1, 0]));
}

#[test]
fn values_are_never_expanded_again() {
    let machine = machine()
        .assignment("given={{ Facts.secret }}")
        .with_new_keys()
        .file("t.j2", "{{ Facts.evil }} ${ Facts.secret }")
        .file("child.yaml", "ccm:\n  resources:\n    - note: [n: {text: '{{ Data.evil }}'}]\n");
    for (manifest_text, property, expected) in [
        (manifest("- note: [a: {text: '{{ Facts.evil }}'}]"), "text", r#""{{ Facts.secret }}""#),
        (manifest("- note: [a: {text: '{{ Facts.dollar }}'}]"), "text", r#""${ Facts.secret }""#),
        (manifest("- note: [a: {text: '{{ Data.given }}'}]"), "text", r#""{{ Facts.secret }}""#),
        (
            format!(
                "data: {{d: '{{{{ Facts.evil }}}}'}}\n{}",
                manifest("- note: [a: {text: '{{ Data.d }}'}]")
            ),
            "text",
            r#""{{ Facts.secret }}""#,
        ),
        (
            format!(
                "data: {{}}\nhierarchy: {{order: [x]}}\noverrides: {{x: {{d: '{{{{ Facts.evil }}}}'}}}}\n{}",
                manifest("- note: [a: {text: '<{{ Data.d }}>'}]")
            ),
            "text",
            r#""<{{ Facts.secret }}>""#,
        ),
        (
            manifest("- task: [a: {command: x, environment: {'{{ Facts.evil }}': '{{ Facts.evil }}'}}]"),
            "environment",
            r#"{"{{ Facts.secret }}":"{{ Facts.secret }}"}"#,
        ),
        (
            manifest("- task: [a: {command: x, args: '{{ [Facts.evil] }}'}]"),
            "args",
            r#"["{{ Facts.secret }}"]"#,
        ),
        (manifest("- copy: [/a: {source: t.j2}]"), "content", r#""{{ Facts.secret }} ${ Facts.secret }""#),
        (
            manifest("- note: [a: {text: \"{{ template('t.j2') }}\"}]"),
            "text",
            r#""{{ Facts.secret }} ${ Facts.secret }""#,
        ),
    ] {
        assert_eq!(machine.property(&manifest_text, property), expected, "{manifest_text}");
    }
    let text = manifest("- apply: [child.yaml: {data: {evil: '{{ Facts.evil }}'}}]");
    assert_eq!(shown(&machine.catalog(&text).resources[0], "text"), r#""{{ Facts.secret }}""#);
    let name = machine.catalog(&manifest("- note: ['{{ Facts.evil }}': ]")).resources[0].id.to_string();
    assert_eq!(name, "note#{{ Facts.secret }}");
}

#[test]
fn an_argv_value_stays_within_its_word() {
    for (command, expected) in [
        ("echo {{ Facts.a }}", r#"["echo","one"]"#),
        ("echo {{ Facts.words }}", r#"["echo","a b"]"#),
        ("echo x{{ Facts.words }}y", r#"["echo","xa by"]"#),
        ("echo '<{{ Facts.words }}>'", r#"["echo","<a b>"]"#),
        ("echo {{ Facts.none ?? '' }} z", r#"["echo","","z"]"#),
        ("echo {{ Facts.nasty }} z", r#"["echo","it's \"x\"; rm -rf / $HOME `id`\n#","z"]"#),
        ("echo '{{ Facts.nasty }}' z", r#"["echo","it's \"x\"; rm -rf / $HOME `id`\n#","z"]"#),
        ("echo \\\"{{ Facts.nasty }}\\\" z", r#"["echo","it's \"x\"; rm -rf / $HOME `id`\n#","z"]"#),
        ("echo {{ Facts.list }}", r#"["echo","[\"x\",5]"]"#),
        // The value of a whole command is split into words.
        ("{{ Facts.words }}", r#"["a","b"]"#),
        ("{{ 'echo ' + Facts.words }}", r#"["echo","a","b"]"#),
    ] {
        let text = manifest(&format!("- task: [a: {{command: \"{command}\", guard: [\"{command}\"]}}]"));
        let catalog = machine().catalog(&text);
        let properties = &catalog.resources[0].properties;
        let written = properties.get("command").and_then(|node| node.as_text()).expect("text");
        let words = ccm_model::split_words(written).expect("words");
        assert_eq!(serde_json::to_string(&words).expect("JSON"), expected, "{command}");
        let guards = properties.get("guard").and_then(|node| node.as_list()).expect("a list");
        assert_eq!(guards[0].as_text(), Some(written));
    }
    // The name is not expanded again when it becomes the command.
    let catalog = machine().catalog(&manifest("- task: ['echo {{ Facts.evil }}': ]"));
    let command = catalog.resources[0].properties.get("command").and_then(|node| node.as_text());
    assert_eq!(command, Some("echo '{{ Facts.secret }}'"));
    // The name becomes the command if there is none, and references use the same name.
    let text = "- task: [{'echo {{ Facts.words }}': }, {b: {require: ['task#echo {{ Facts.words }}']}}]";
    let catalog = machine().catalog(&manifest(text));
    assert_eq!(&*catalog.resources[0].id.name, "echo a b");
    let command = catalog.resources[0].properties.get("command").and_then(|node| node.as_text());
    assert_eq!(command, Some("echo 'a b'"));
    assert_eq!(catalog.resources[1].require.len(), 1);
}

#[test]
fn shell_text_is_not_quoted() {
    let text =
        "- task: [a: {provider: shell, command: 'echo ${HOME:-x} \"{{ Facts.words }}\" ${Facts.n} \\${x}'}]";
    let command = machine().property(&manifest(text), "command");
    assert_eq!(command, r#""echo ${HOME:-x} \"a b\" 5 \\${x}""#);
}

#[test]
fn errors_point_into_the_expression() {
    machine().check_all(&[
        (&manifest("- note: [a: {text: 'x {{ Facts.rloe }}'}]"), &[
    "3:36 unknown-name Facts.rloe | role",
]),
        (&manifest("- note:\n    - a:\n        text: |\n          one\n          {{ Facts.n + }}\n"), &[
    "7:28 expression-syntax",
]),
        (&manifest("- note: [a: {text: '{{ Fatcs.role }}'}]"), &[
    "3:28 unknown-name | Facts",
]),
        (&manifest("- note: [a: {text: '{{ role }}'}]"), &[
    "3:28 unknown-name | Facts, Data, Environ, Captures",
]),
        (
            "data: {role: x}\nccm: {resources: [note: [a: {text: '{{ role }}'}]]}",
            &["2:40 unknown-name | Data.role"],
        ),
        (&manifest("- note: [a: {text: '{{ uper(Facts.role) }}'}]"), &[
    "3:28 unknown-function | upper",
]),
        (&manifest("- note: [a: {text: '{{ lookup() }}'}]"), &[
    "3:28 invalid-operand",
]),
        (&manifest("- note: [a: {text: \"{{ lookup('facts.rloe') }}\"}]"), &[
    "3:28 unknown-name facts.rloe | facts.role | lookup('facts.rloe', '')",
]),
        (&manifest("- note: [a: {text: \"{{ lookup('fatcs.role') }}\"}]"), &[
    "3:28 unknown-name fatcs.role | facts",
]),
        (&manifest("- note: [a: {text: '{{ Facts.role + 5 }}'}]"), &[
    "3:28 invalid-operand | …",
]),
        (&manifest("- note: [a: {text: \"{{ file('gone') }}\"}]"), &[
    "3:28 unreadable",
]),
        (&manifest("- note: [a: {text: '{{ file(5) }}'}]"), &[
    "3:28 invalid-operand",
]),
        (&manifest("- note: [a: {text: '{{ Data.x }} ${ Data.y }'}]"), &[
    "3:33 unknown-name Data.x | Data.x ?? \"\"",
    "3:46 unknown-name Data.y | Data.y ?? \"\"",
]),
        (&manifest("- note: [a: {text: '{{ Captures.x.y }}'}]"), &[
    "3:28 unknown-reference | capture",
]),
        (&manifest("- note: [a: {text: '{{ Facts.role'}]"), &[
    "3:25 expression-syntax | }} | {{ \"{{\" }}, {{",
]),
        (&manifest("- note: [a: {text: '{{ \"x }}'}]"), &[
    "3:25 expression-syntax",
]),
        // Values of the wrong kind.
        (&manifest("- task: [a: {timeout: '{{ Facts.role }}'}]"), &[
    "3:27 wrong-type timeout | …",
]),
        (&manifest("- task: [a: {timeout: '{{ Facts.quoted }}'}]"), &[
    "3:27 wrong-type timeout | … | …",
]),
        (&manifest("- task: [a: {timeout: 'x{{ Facts.n }}'}]"), &[
    "3:27 wrong-type timeout | …",
]),
        (&manifest("- task: [a: {command: x, args: '{{ Facts.role }}'}]"), &[
    "3:36 wrong-type args | [web] | …",
]),
        (&manifest("- task: [a: {level: '{{ Facts.role }}'}]"), &[
    "3:25 invalid-value level | …",
]),
        (&manifest("- note: [a: {text: '{{ Facts.list }}'}]"), &[
    "3:24 wrong-type text | … | join(Facts.list, \" \"), toJSON(Facts.list)",
]),
        (&manifest("- note: [a: {ensure: '{{ Facts.role }}', provider: '{{ Facts.n }}', alias: '{{ Facts.list }}'}]"), &[
    "3:26 invalid-value",
    "3:56 invalid-value",
    "3:80 wrong-type",
]),
        (&manifest("- note: ['{{ Facts.list }}': ]"), &[
    "3:14 wrong-type",
]),
        (&manifest("- note: ['{{ Facts.none }}': ]"), &[
    "3:14 missing",
]),
        (&manifest("- note: [a: {require: '{{ Facts.role }}'}, b: {require: ['{{ Facts.n }}', '{{ Facts.list }}']}]"), &[
    "3:27 wrong-type | [\"web\"]",
    "3:62 invalid-value",
    "3:79 wrong-type",
]),
        (&manifest("- note: [a: {require: ['note#{{ Facts.role }}']}]"), &[
    "3:28 unknown-reference | note",
]),
        (&manifest("- task: [a: {environment: {one: x, '{{ Facts.a }}': y}}]"), &[
    "3:40 duplicate-key (3:32)",
]),
        (&manifest("- note: [web: , '{{ Facts.role }}': {text: x}]"), &[
    "3:21 duplicate-resource (3:14)",
]),
        ("ccm:\n  fail_on_error: '{{ Facts.role }}'\n  name: '{{ Facts.none }}'\n  pre_message: '{{ Facts.gone }}'\n  resources: [note: [a: ]]\n", &[
    "2:18 wrong-type fail_on_error",
    "4:26 unknown-name Facts.gone | none",
]),
    ]);
}

#[test]
fn broken_facts_are_reported_once() {
    let text = manifest(
        "- note: [a: {text: '{{ Facts.a }}'}, b: {text: '{{ lookup(\"facts.b\") + Data.x }}'}, c: {text: '{{ Data.y }}'}]",
    );
    let machine = machine().without_facts();
    assert_eq!(
        machine.reported(&text),
        ["3:108 unknown-name Data.y | Data.y ?? \"\"", "facts.yaml:1:4 syntax"]
    );
}

proptest! {
    #[test]
    fn values_are_quoted_as_one_word(value in "\\PC{0,12}|[ '\"\\\\$`#;{}\n]{0,12}", number in 0..3_usize) {
        let mut machine = Machine::default().variable("V", &value);
        machine = machine.variable("unused", "x");
        let (open, close) = [("", ""), ("'", "'"), ("\\\"", "\\\"")][number];
        let text = manifest(&format!("- task: [a: {{command: \"run {open}{{{{ Environ.V }}}}{close} end\"}}]"));
        let catalog = machine.catalog(&text);
        let command = catalog.resources[0].properties.get("command").and_then(|node| node.as_text()).expect("text");
        let words = ccm_model::split_words(command).expect("words");
        prop_assert_eq!(words, ["run", value.as_str(), "end"]);
    }
}

#[test]
fn typographic_quotes_around_a_text_are_pointed_out() {
    let with = |value: &str| format!("ccm: {{resources: [note: [n: {{text: {value}}}]]}}");
    for (value, hint) in [
        ("“a”", Some("\"a\"")),
        ("„a“", Some("\"a\"")),
        ("‘a \"b\"’", Some("\"a \\\"b\\\"\"")),
        ("“a” he said", None),
        ("\"“a”\"", None),
        ("'“a”'", None),
        ("a”", None),
        ("“", None),
    ] {
        let expected: Vec<String> =
            hint.iter().map(|hint| format!("1:36 warning: syntax | {hint}")).collect();
        assert_eq!(Machine::default().reported(&with(value)), expected, "{value}");
    }
    let data = Machine::default().hiera("f.yaml", "data: {a: “b”}");
    let found = data.reported("data: {a: c}\nccm: {resources: [note: [“n”: ]]}");
    assert_eq!(found, ["2:26 warning: syntax | \"n\"", "f.yaml:1:11 warning: syntax | \"b\""]);
}

#[test]
fn a_null_that_nobody_means_is_an_error() {
    let machine = Machine::with_facts("{none: null, map: {none: null}}").file("t", "");
    let of = |value: &str| machine.reported(&format!("data: {{banner: , port: ~}}\n{}", manifest(value)));
    for (value, expected) in [
        ("{text: '{{ Data.banner }}'}", "4:24 wrong-type | Data.banner ?? nil, text, Data.banner ?? \"\""),
        ("{text: '{{ Data.port }}'}", "4:24 wrong-type | Data.port ?? nil, text, Data.port ?? \"\""),
        (
            "{text: '${ Facts.map.none }'}",
            "4:24 wrong-type | Facts.map.none ?? nil, text, Facts.map.none ?? \"\"",
        ),
        ("{text: 'a {{ Data.banner }}'}", "4:29 wrong-type | Data.banner ?? \"\""),
        ("{text: '{{ Data.banner }}{{ Data.banner }}'}", "4:27 wrong-type | Data.banner ?? \"\""),
        ("{text: 'a {{ true ? nil : 1 }}'}", "4:29 wrong-type | (true ? nil : 1) ?? \"\""),
    ] {
        let reported = of(&format!("- note: [n: {value}]"));
        assert_eq!(reported.first().map(String::as_str), Some(expected), "{value}: {reported:?}");
    }
    for value in [
        "{text: '{{ Data.banner ?? nil }}'}",
        "{text: '{{ Data.banner ?? \"\" }}'}",
        "{text: 'a {{ Data.banner ?? \"\" }}'}",
        "{text: '{{ lookup(\"data.banner\") }}'}",
        "{text: }",
        "{text: ~}",
    ] {
        assert_eq!(of(&format!("- note: [n: {value}]")), Vec::<String>::new(), "{value}");
    }
    // Data of a child may be null.
    let child = machine.file("c.yaml", &format!("data: {{x: 1}}\n{}", manifest("- note: [c]")));
    let text = format!("data: {{y: }}\n{}", manifest("- apply: [c.yaml: {data: {x: '{{ Data.y }}'}}]"));
    assert_eq!(child.reported(&text), Vec::<String>::new());
}
