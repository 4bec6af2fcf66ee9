//! Common properties, defaults and aliases.

use ccm_model::{Catalog, Properties};

use crate::fake::{catalog, check_items, manifest};

fn text<'a>(properties: &'a Properties, name: &str) -> Option<&'a str> {
    properties.get(name).and_then(|node| node.as_text())
}

fn commands(catalog: &Catalog) -> Vec<Option<&str>> {
    catalog.resources.iter().map(|resource| text(&resource.properties, "command")).collect()
}

#[test]
fn defaults_apply_to_their_list_only() {
    let catalog = catalog(&manifest(
        "- task:\n    - a:\n    - b: {command: own}\n    - defaults: {command: x, ensure: absent, provider: shell}\n    \
         - c: {command: , ensure: present, provider: ~}\n- task:\n    - d:\n- task: {name: e}",
    ));
    assert_eq!(commands(&catalog), [Some("x"), Some("own"), Some("x"), None, None]);
    let ensures: Vec<Option<&str>> = catalog
        .resources
        .iter()
        .map(|resource| resource.ensure.as_ref().map(|ensure| &*ensure.value))
        .collect();
    assert_eq!(ensures, [Some("absent"), Some("absent"), Some("present"), None, None]);
    let providers: Vec<Option<&str>> = catalog
        .resources
        .iter()
        .map(|resource| resource.provider.as_ref().map(|provider| &*provider.value))
        .collect();
    assert_eq!(providers, [Some("shell"), Some("shell"), Some("shell"), None, None]);
}

#[test]
fn own_references_replace_the_default_list() {
    let catalog = catalog(&manifest(
        "- task:\n    - defaults: {require: [note#x]}\n    - a:\n    - b: {require: []}\n    - c: {require: [note#y]}\n\
         - note: [x: , y: ]",
    ));
    let required: Vec<Vec<u32>> = catalog
        .resources
        .iter()
        .map(|resource| resource.require.iter().map(|dependency| dependency.on.0).collect())
        .collect();
    assert_eq!(required, [vec![3], vec![], vec![4], vec![], vec![]]);
}

#[test]
fn aliases_set_the_property() {
    let catalog = catalog(&manifest(
        "- task:\n    - defaults: {refresh_only: false}\n    - a: {refreshonly: true, subscribe: [note#n]}\n    - b:\n    \
         - c: {refreshonly: ~, refresh_only: true, subscribe: [note#n]}\n    \
         - d: {refresh_only: ~, refreshonly: true, subscribe: [note#n]}\n- note: [n: ]",
    ));
    let values: Vec<Option<&str>> =
        catalog.resources.iter().map(|resource| text(&resource.properties, "refresh_only")).collect();
    assert_eq!(values, [Some("true"), Some("false"), Some("true"), Some("true"), None]);
    check_items(&[
        ("- task:\n    - a: {refreshonly: true, refresh_only: true}", &["4:34 duplicate-key (4:15)"]),
        ("- task:\n    - a: {refresh_only: true, refreshonly: true}", &["4:35 duplicate-key (4:15)"]),
        (
            "- task:\n    - defaults: {refresh_only: true, refreshonly: false}\n    - a:",
            &["4:42 duplicate-key (4:22)"],
        ),
        ("- task:\n    - a: {refreshonly: soon}", &["4:28 wrong-type refresh_only"]),
    ]);
}

#[test]
fn errors_in_defaults_are_reported_once() {
    check_items(&[
        (
            "- task:\n    - defaults: {timeout: soon, comand: x, ensure: gone, require: [task#zz, 5, ~]}\n    - a:\n    - b:",
            &[
                "4:31 wrong-type timeout",
                "4:37 unknown-property comand | command",
                "4:56 invalid-value",
                "4:72 unknown-reference | task#b",
                "4:81 invalid-value",
                "4:84 wrong-type",
            ],
        ),
        (
            "- task:\n    - defaults: {name: x, alias: y}\n    - a:",
            &["4:22 misplaced | name", "4:31 misplaced | alias"],
        ),
        (
            "- task:\n    - defaults: {command: x}\n    - a:\n    - defaults: {command: y}",
            &["6:11 duplicate-key (4:11)"],
        ),
        // Defaults without resources.
        ("- task:\n    - defaults: {command: x}\n- note: [a: ]", &["4:11 warning: no-effect | defaults"]),
        (
            "- task:\n    - defaults: {timeout: soon, require: [task#zz], provider: shel, refresh_only: true}\n- note: [a: ]",
            &[
                "4:11 warning: no-effect | defaults",
                "4:31 wrong-type timeout",
                "4:47 unknown-reference | task",
                "4:67 invalid-value | shell",
            ],
        ),
        ("- task:\n    - defaults: {timeout: soon}\n    - /bin/true", &["4:31 wrong-type timeout"]),
        // Valid only together with the properties of the entries.
        ("- task:\n    - defaults: {args: [x]}\n    - a: {command: y}", &[]),
    ]);
}

#[test]
fn unknown_words_are_errors() {
    check_items(&[
        ("- task: [a: {ensure: presnt}]", &["3:26 invalid-value | present"]),
        ("- task: [a: {ensure: banana}]", &["3:26 invalid-value"]),
        ("- task: [a: {ensure: [present]}]", &["3:26 wrong-type"]),
        ("- note: [a: {ensure: absent}]", &["3:26 invalid-value"]),
        ("- task: [a: {provider: shel}]", &["3:28 invalid-value | shell"]),
        ("- task: [a: {provider: 5}]", &["3:28 invalid-value"]),
        ("- task: [a: {alias: ''}, b: {alias: [x]}]", &["3:25 missing", "3:41 wrong-type"]),
        (
            "- task: [a: {comand: , command: , refreshonly: , banana: , '{{ x }}': }]",
            &["3:18 unknown-property | command", "3:54 unknown-property", "3:64 unknown-property"],
        ),
        ("- task:\n    - defaults: {comand: }\n    - a:\n    - b:", &["4:22 unknown-property | command"]),
        ("- task: [a: {alais: x}]", &["3:18 unknown-property alais | alias"]),
        (
            "- task: [a: {comand: x, timeout: soon, level: lod}]",
            &[
                "3:18 unknown-property comand | command",
                "3:38 wrong-type timeout",
                "3:51 invalid-value level | loud",
            ],
        ),
    ]);
}

#[test]
fn a_resource_with_errors_gets_no_warning() {
    check_items(&[
        ("- task: [a: {refresh_only: true}]", &["3:18 warning: no-effect"]),
        ("- task: [a: {refresh_only: true, subscribe: [task#b]}]", &["3:50 unknown-reference | task"]),
        ("- task: [a: {refresh_only: true, comand: x}]", &["3:38 unknown-property comand | command"]),
    ]);
}
