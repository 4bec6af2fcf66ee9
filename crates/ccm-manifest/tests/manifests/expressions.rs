//! Syntax errors in expressions, in all texts that may hold one.

use crate::fake::{catalog, check_all, check_items, manifest};

#[test]
fn invalid_expressions_are_located() {
    check_items(&[
        ("- task: [a: {command: 'echo {{ Facts.a }} x'}]", &["3:42 unknown-name Facts.a | Facts.a ?? \"\""]),
        (
            "- task: [a: {command: \"echo ${ Facts.a } ${Data.b}\"}]",
            &["3:42 unknown-name Facts.a | Facts.a ?? ''", "3:53 unknown-name Data.b | Data.b ?? ''"],
        ),
        (
            "- task: [a: {command: \"\\techo ${ Facts.a } ${Data.b}\"}]",
            &["3:27 unknown-name Facts.a | Facts.a ?? ''", "3:27 unknown-name Data.b | Data.b ?? ''"],
        ),
        (
            "- task:\n    - a:\n        command: |\n          echo {{ x }}",
            &["6:23 unknown-name | Facts, Data, Environ, Captures"],
        ),
        (
            "- task: [a: {args: [x, 'y {{ z }}'], command: x}]",
            &["3:34 unknown-name | Facts, Data, Environ, Captures"],
        ),
        (
            "- task: [a: {environment: {A: '{{ x }}', '${ y }': z}}]",
            &[
                "3:39 unknown-name | Facts, Data, Environ, Captures",
                "3:50 unknown-name | Facts, Data, Environ, Captures",
            ],
        ),
        ("- task: [a: {'{{ x }}': 5}]", &["3:22 unknown-name | Facts, Data, Environ, Captures"]),
        (
            "- task:\n    - '{{ x }}':\n    - 'b {{ x }}':",
            &[
                "4:15 unknown-name | Facts, Data, Environ, Captures",
                "5:17 unknown-name | Facts, Data, Environ, Captures",
            ],
        ),
        ("- task: {name: '{{ x }}!'}", &["3:24 unknown-name | Facts, Data, Environ, Captures"]),
        (
            "- task: [a: {alias: '{{ x }}', ensure: '{{ x }}', provider: '${ x }', require: ['task#{{ x }}'], subscribe: '{{ x }}'}]",
            &[
                "3:29 unknown-name | Facts, Data, Environ, Captures",
                "3:48 unknown-name | Facts, Data, Environ, Captures",
                "3:69 unknown-name | Facts, Data, Environ, Captures",
                "3:94 unknown-name | Facts, Data, Environ, Captures",
                "3:117 unknown-name | Facts, Data, Environ, Captures",
            ],
        ),
        (
            "- task: [a: {timeout: '{{ x }}', level: '{{ x }}', refresh_only: '{{ x }}'}]",
            &[
                "3:31 unknown-name | Facts, Data, Environ, Captures",
                "3:49 unknown-name | Facts, Data, Environ, Captures",
                "3:74 unknown-name | Facts, Data, Environ, Captures",
            ],
        ),
        (
            "- task:\n    - defaults: {command: '{{ x }}'}\n    - a:\n    - b:\n    - c: {command: y}",
            &["4:35 unknown-name | Facts, Data, Environ, Captures"],
        ),
        (
            "- task:\n    - defaults: {command: '{{ x }}'}\n- note: [a: ]",
            &["4:11 warning: no-effect | defaults", "4:35 unknown-name | Facts, Data, Environ, Captures"],
        ),
        (
            "- task: [a: {command: 'echo {{ x', guard: '${ x'}]",
            &["3:33 expression-syntax | }} | {{ \"{{\" }}, {{", "3:48 expression-syntax | \\${, ${"],
        ),
    ]);
    check_all(&[(
        "ccm:\n  name: '{{ x }}'\n  pre_message: ${ x }\n  post_message: '${HOME}'\n  fail_on_error: '{{ x }}'\n  resources: [task: [a: ]]\n",
        &[
            "2:13 unknown-name | Facts, Data, Environ, Captures",
            "3:19 unknown-name | Facts, Data, Environ, Captures",
            "4:18 unknown-name | ${ Environ.HOME } | \\${, ${",
            "5:22 unknown-name | Facts, Data, Environ, Captures",
        ],
    )]);
}

#[test]
fn shell_expansions_stay_for_the_shell() {
    let text = "- task:\n    - defaults: {provider: shell, guard: ['test -d ${HOME}', '\\${x}']}\n    \
                - a: {command: 'echo ${NAME:-${B}} \\${x} $HOME $(date) $$'}\n    - 'echo ${HOME}':";
    let catalog = catalog(&manifest(text));
    let command = catalog.resources[0].properties.get("command").and_then(|node| node.as_text());
    assert_eq!(command, Some("echo ${NAME:-${B}} \\${x} $HOME $(date) $$"));
    assert_eq!(&*catalog.resources[1].id.name, "echo ${HOME}");
    let guards =
        catalog.resources[0].properties.get("guard").and_then(|node| node.as_list()).expect("a list");
    assert_eq!(guards[1].as_text(), Some("\\${x}"));
    check_items(&[
        (
            "- task: [a: {provider: shell, command: 'echo {{ x }} ${A:-${Facts.x}} ${A/b/c}'}]",
            &["3:75 expression-syntax | ${NAME:-default}"],
        ),
        ("- task: [a: {provider: shell, command: 'echo ${A'}]", &["3:50 expression-syntax | }"]),
        (
            "- task: [a: {provider: shell, environment: {A: '${HOME}'}}]",
            &["3:53 unknown-name | ${ Environ.HOME } | \\${, ${"],
        ),
        (
            "- task: [a: {provider: shell, alias: '${HOME}', require: ['task#${HOME}']}]",
            &[
                "3:43 unknown-name | ${ Environ.HOME } | \\${, ${",
                "3:69 unknown-name | ${ Environ.HOME } | \\${, ${",
            ],
        ),
        (
            "- task:\n    - 'echo ${HOME}': {provider: shell, command: x}",
            &["4:17 unknown-name | ${ Environ.HOME } | \\${, ${"],
        ),
        // The provider is invalid, and a shell may have been meant.
        (
            "- task: [a: {provider: banana, command: 'echo ${HOME} {{ x }}'}]",
            &["3:28 invalid-value", "3:62 unknown-name | Facts, Data, Environ, Captures"],
        ),
        (
            "- task: [a: {provider: shel, command: 'echo ${HOME} {{ x }}'}]",
            &["3:28 invalid-value | shell", "3:60 unknown-name | Facts, Data, Environ, Captures"],
        ),
    ]);
}

#[test]
fn without_a_shell_a_parameter_needs_a_backslash() {
    check_items(&[
        (
            "- task: [a: {command: 'echo ${HOME}'}]",
            &["3:33 unknown-name | ${ Environ.HOME } | \\${, ${ | provider: shell"],
        ),
        ("- note: [a: {text: '${HOME} $HOME'}]", &["3:25 unknown-name | ${ Environ.HOME } | \\${, ${"]),
        (
            "- task:\n    - defaults: {command: 'echo ${HOME}'}\n    - a: {provider: shell}\n    - b:",
            &["4:37 unknown-name | ${ Environ.HOME } | \\${, ${ | provider: shell"],
        ),
    ]);
}

#[test]
fn a_backslash_escapes_an_expression() {
    let catalog = catalog(&manifest(
        "- task:\n    - defaults: {command: 'x \\${A}', environment: {'\\${K}': '\\${V}'}, guard: ['\\${G}']}\n    \
         - a:\n    - b: {provider: shell}\n    - 'c \\${D}': {command: , require: ['note#\\${N}']}\n- note: ['\\${N}': ]",
    ));
    let [a, b, c, n] = &catalog.resources[..] else { panic!("four resources") };
    let text = |resource: &ccm_model::Resource, name: &str| {
        resource.properties.get(name).and_then(|node| node.as_text()).map(str::to_owned)
    };
    assert_eq!(text(a, "command").as_deref(), Some("x ${A}"));
    assert_eq!(text(b, "command").as_deref(), Some("x \\${A}"));
    assert_eq!(text(c, "command").as_deref(), Some("x ${A}"));
    assert_eq!(&*c.id.name, "c ${D}");
    assert_eq!(&*n.id.name, "${N}");
    assert_eq!(c.require.len(), 1);
    let environment = b.properties.get("environment").and_then(|node| node.as_map()).expect("a map");
    assert_eq!(environment.get("${K}").and_then(|node| node.as_text()), Some("${V}"));
    let guard = |resource: &ccm_model::Resource| {
        let list = resource.properties.get("guard").and_then(|node| node.as_list());
        list.and_then(|list| list[0].as_text().map(str::to_owned))
    };
    assert_eq!((guard(a).as_deref(), guard(b).as_deref()), (Some("${G}"), Some("\\${G}")));
}

#[test]
fn expanded_values_are_limited() {
    let long = "{{ repeat(\"x\", 9000000) }}";
    check_items(&[(&format!("- note: [a: {{text: '{long}-{long}'}}]"), &["3:24 limit-exceeded"])]);
    let item = |number: usize| format!("    - n{number}: {{text: '{{{{ repeat(\"x\", 16000000) }}}}'}}\n");
    let items: String = (0..30).map(item).collect();
    check_items(&[(&format!("- note:\n{items}"), &["20:23 limit-exceeded | source: PATH"])]);
}

/// Returns a manifest with data and a note with this text.
fn with_data(expression: &str) -> String {
    format!(
        "data: {{port: 1, list: [1], web: {{listen: x, port: 2}}, any: {{}}}}\nccm:\n  resources:\n    - note: [n: {{text: \"{{{{ {expression} }}}}\"}}]\n"
    )
}

fn check_with_data(cases: &[(&str, &[&str])]) {
    let texts: Vec<String> = cases.iter().map(|(expression, _)| with_data(expression)).collect();
    let cases: Vec<(&str, &[&str])> =
        texts.iter().zip(cases).map(|(text, (_, expected))| (text.as_str(), *expected)).collect();
    check_all(&cases);
}

#[test]
fn names_that_are_not_reached_are_checked() {
    check_with_data(&[
        ("Data.port ?? Dta.port", &["4:41 unknown-name | Data"]),
        ("true or Dta.x", &["4:36 unknown-name | Data"]),
        ("true ? Data.port : Dta.b", &["4:47 unknown-name | Data"]),
        ("filter([], {# > Dta.x})", &["4:44 unknown-name | Data"]),
        ("map(Data.list, # > 5 ? Dta : 1)", &["4:51 unknown-name | Data"]),
        ("Data.port ?? Dta?.x", &["4:41 unknown-name | Data"]),
        ("Data.port ?? lookup('dta.port')", &["4:41 unknown-name dta.port | data"]),
        ("lookup('dta.port', 80)", &["4:28 unknown-name dta.port | data"]),
        ("lookup('dta.' + 'port', 80)", &["4:28 unknown-name dta.port | data"]),
        ("lookup('port', 80)", &["4:28 unknown-name port | facts., data., environ."]),
        ("Data.port ?? Item", &["4:41 unknown-name | Item, foreach, foreach: LIST"]),
        ("Data.port ?? Captures.a.b ?? Dta", &["4:57 unknown-name | Data"]),
        ("let x = Data.port; x ?? y", &["4:52 unknown-name | Facts, Data, Environ, Captures"]),
        ("let x = Data.port; true or x == 1", &[]),
        ("{Dta: 1}.Dta", &[]),
    ]);
    check_all(&[
        (
            "data:\n  # @validate value > 0 or vlaue < 0\n  a: 1\nccm: {resources: []}",
            &["3:3 unknown-name (2:28) | value"],
        ),
        (&manifest("- note: [n: {control: {if: true or Fatcs.x}}]"), &["3:40 unknown-name | Facts"]),
    ]);
}

#[test]
fn a_key_twice_in_a_map_of_an_expression_is_located() {
    check_with_data(&[
        ("{a: 1, b: 2, a: 3}.b", &["4:41 duplicate-key (4:29) | …"]),
        ("true ? 1 : {a: 1, 'a': 3}.a", &["4:46 duplicate-key (4:40) | …"]),
    ]);
    check_all(&[(
        &manifest("- note: [n: {control: {if: '{a: 1, a: 1}.a == 1'}}]"),
        &["3:40 duplicate-key (3:34) | …"],
    )]);
}

#[test]
fn what_an_expression_can_not_compute_is_located() {
    check_with_data(&[
        ("Data.port / (Data.port - 1)", &["4:41 invalid-operand | b == 0 ? 0 : a / b"]),
        ("Data.port % (Data.port - 1)", &["4:41 invalid-operand"]),
        ("Data.port + 9223372036854775807", &["4:28 invalid-operand | …"]),
        ("10 ** 400", &["4:28 invalid-operand"]),
        ("repeat('x', 9223372036854775807)", &["4:28 limit-exceeded"]),
    ]);
}

#[test]
fn defaults_for_keys_that_no_data_can_have_are_pointed_out() {
    check_with_data(&[
        ("lookup('data.prot', 80)", &["4:28 warning: unknown-name | port"]),
        ("Data?.prot ?? 80", &["4:28 warning: unknown-name | port"]),
        ("Data.prot ?? 80", &["4:28 warning: unknown-name | port"]),
        ("string(Data?.proxy)", &["4:35 warning: unknown-name | proxy:, data"]),
        ("true ? 1 : Data.prot ?? 2", &["4:39 warning: unknown-name | port"]),
        ("lookup('data.web.prot', 80)", &["4:28 warning: unknown-name | port"]),
        ("Data.web?.prot ?? 80", &["4:28 warning: unknown-name | port"]),
        // A map may have any keys elsewhere.
        ("Data.web?.proxy ?? 80", &[]),
        ("Data.any?.proxy ?? 80", &[]),
        ("Data.port ?? 80", &[]),
        ("lookup('data.port', 80)", &[]),
        ("lookup('data.list.0', 80)", &[]),
        ("lookup('facts.prot', 80)", &[]),
        ("Environ.PROT ?? 80", &[]),
        ("get(Data, 'prot') ?? 80", &["4:28 warning: unknown-name | port"]),
        ("get(Data, 'port') ?? 80", &[]),
        ("'prot' in Data ? 1 : 2", &[]),
    ]);
    check_all(&[
        (
            "data: {a: 1}\noverrides: {default: {port: 5}}\nccm: {resources: [note: [n: {text: '{{ Data.port ?? 80 }}'}]]}",
            &["2:23 warning: no-effect | port:, data"],
        ),
        (
            "data: {port: }\nccm: {resources: [note: [n: {control: {if: Data?.prot == 1}}]]}",
            &["2:44 warning: unknown-name | port"],
        ),
    ]);
}
