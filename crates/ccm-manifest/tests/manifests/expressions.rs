//! Syntax errors in expressions, in all texts that may hold one.

use crate::fake::{catalog, check_all, check_items, manifest};

#[test]
fn invalid_expressions_are_located() {
    check_items(&[
        ("- task: [a: {command: 'echo {{ Facts.a }} x'}]", &["3:42 unknown-name Facts.a | Facts.a ?? \"\""]),
        (
            "- task: [a: {command: \"echo ${ Facts.a } ${Data.b}\"}]",
            &["3:42 unknown-name Facts.a | Facts.a ?? \"\"", "3:53 unknown-name Data.b | Data.b ?? \"\""],
        ),
        (
            "- task: [a: {command: \"\\techo ${ Facts.a } ${Data.b}\"}]",
            &["3:27 unknown-name Facts.a | Facts.a ?? \"\"", "3:27 unknown-name Data.b | Data.b ?? \"\""],
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
