//! Common properties, defaults, aliases and reserved properties.

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
        (
            "- task:\n    - a: {refreshonly: true, refresh_only: true}",
            &["4:34 `refresh_only` is given twice, here and under another name (4:15 the first)"],
        ),
        (
            "- task:\n    - a: {refresh_only: true, refreshonly: true}",
            &["4:35 `refreshonly` is an alias of `refresh_only`, which is also given (4:15 the first)"],
        ),
        (
            "- task:\n    - defaults: {refresh_only: true, refreshonly: false}\n    - a:",
            &["4:42 `refreshonly` is an alias of `refresh_only`, which is also given (4:22 the first)"],
        ),
        ("- task:\n    - a: {refreshonly: soon}", &["4:28 expected a boolean, found the text `soon`"]),
    ]);
}

#[test]
fn errors_in_defaults_are_reported_once() {
    check_items(&[
        (
            "- task:\n    - defaults: {timeout: soon, comand: x, ensure: gone, require: [task#zz, 5, ~]}\n    - a:\n    - b:",
            &[
                "4:31 expected a whole number, found the text `soon`",
                "4:37 unknown property `comand` | did you mean `command`?",
                "4:56 expected `present` or `absent`, found the text `gone`",
                "4:72 unknown resource `task#zz`",
                "4:81 `5` is not a reference: expected `type#name`",
                "4:84 expected `type#name`, found nothing",
            ],
        ),
        (
            "- task:\n    - defaults: {name: x, alias: y}\n    - a:",
            &[
                "4:22 `name` can't be a default | set it on each resource",
                "4:31 `alias` can't be a default | set it on each resource",
            ],
        ),
        (
            "- task:\n    - defaults: {command: x}\n    - a:\n    - defaults: {command: y}",
            &["6:11 a list can have only one `defaults` (4:11 the first)"],
        ),
        // Defaults without resources.
        (
            "- task:\n    - defaults: {command: x}\n- note: [a: ]",
            &["4:11 warning: `defaults` applies to no resource | move it into the list of its resources"],
        ),
        (
            "- task:\n    - defaults: {timeout: soon, require: [task#zz], provider: shel, refresh_only: true}\n- note: [a: ]",
            &[
                "4:11 warning: `defaults` applies to no resource | move it into the list of its resources",
                "4:31 expected a whole number, found the text `soon`",
                "4:47 unknown resource `task#zz`",
                "4:67 expected `direct` or `shell`, found the text `shel` | did you mean `shell`?",
            ],
        ),
        (
            "- task:\n    - defaults: {timeout: soon}\n    - /bin/true",
            &[
                "4:31 expected a whole number, found the text `soon`",
                "5:11 expected `NAME:` with its properties below it, found the text `/bin/true` | write `- /bin/true:`",
            ],
        ),
        // Valid only together with the properties of the entries.
        ("- task:\n    - defaults: {args: [x]}\n    - a: {command: y}", &[]),
    ]);
}

#[test]
fn unknown_words_are_errors() {
    check_items(&[
        (
            "- task: [a: {ensure: presnt}]",
            &["3:26 expected `present` or `absent`, found the text `presnt` | did you mean `present`?"],
        ),
        ("- task: [a: {ensure: banana}]", &["3:26 expected `present` or `absent`, found the text `banana`"]),
        ("- task: [a: {ensure: [present]}]", &["3:26 expected text, found a list"]),
        ("- note: [a: {ensure: absent}]", &["3:26 expected `present`, found the text `absent`"]),
        (
            "- task: [a: {provider: shel}]",
            &["3:28 expected `direct` or `shell`, found the text `shel` | did you mean `shell`?"],
        ),
        ("- task: [a: {provider: 5}]", &["3:28 expected `direct` or `shell`, found the number `5`"]),
        ("- task: [a: {provider: docker}]", &["3:28 `docker` is not supported in this version"]),
        (
            "- task: [a: {alias: ''}, b: {alias: [x]}]",
            &["3:25 the alias is empty", "3:41 expected text, found a list"],
        ),
        (
            "- task: [a: {comand: , command: , refreshonly: , banana: , '{{ x }}': }]",
            &[
                "3:18 unknown property `comand` | did you mean `command`?",
                "3:54 unknown property `banana`",
                "3:64 unknown property `{{ x }}`",
            ],
        ),
        (
            "- task:\n    - defaults: {comand: }\n    - a:\n    - b:",
            &["4:22 unknown property `comand` | did you mean `command`?"],
        ),
        ("- task: [a: {alais: x}]", &["3:18 unknown property `alais` | did you mean `alias`?"]),
        (
            "- task: [a: {comand: x, timeout: soon, level: lod}]",
            &[
                "3:18 unknown property `comand` | did you mean `command`?",
                "3:38 expected a whole number, found the text `soon`",
                "3:51 expected `quiet` or `loud`, found `lod` | did you mean `loud`?",
            ],
        ),
    ]);
}

#[test]
fn reserved_names_are_refused_once() {
    check_items(&[
        (
            "- task: [a: {control: {if: 'true'}, health_checks: [], user: root, command: x}]",
            &[
                "3:41 `health_checks` is not supported in this version",
                "3:60 `user` is not supported in this version",
            ],
        ),
        (
            "- task:\n    - defaults: {control: {}, user: root}\n    - a:\n    - b:",
            &["4:35 `user` is not supported in this version"],
        ),
        (
            "- note: [a: {user: root}]",
            &[
                "3:18 unknown property `user` | known here: text, alias, ensure, provider, require, subscribe, control",
            ],
        ),
    ]);
}

#[test]
fn a_resource_with_errors_gets_no_warning() {
    check_items(&[
        ("- task: [a: {refresh_only: true}]", &["3:18 warning: task#a will never run"]),
        ("- task: [a: {refresh_only: true, subscribe: [task#b]}]", &["3:50 unknown resource `task#b`"]),
        (
            "- task: [a: {refresh_only: true, comand: x}]",
            &["3:38 unknown property `comand` | did you mean `command`?"],
        ),
    ]);
}
