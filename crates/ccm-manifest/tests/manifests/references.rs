//! Names, references and cycles.

use ccm_model::Catalog;

use crate::fake::{catalog, check_items, manifest};

pub(crate) fn edges(catalog: &Catalog) -> Vec<String> {
    let mut edges = Vec::new();
    for resource in &catalog.resources {
        let id = &resource.id;
        edges.extend(resource.require.iter().map(|on| format!("{id} after {}", catalog.resource(on.on).id)));
        edges
            .extend(resource.subscribe.iter().map(|on| format!("{id} hears {}", catalog.resource(on.on).id)));
    }
    edges
}

#[test]
fn references_may_point_forward_and_back() {
    let catalog = catalog(&manifest(
        "- task:\n    - a: {require: [note#n, 'task#b c#d', task#later], subscribe: [task#five]}\n    - b c#d:\n\
         - note: [n: {require: [task#5]}]\n- task:\n    - z: {alias: later}\n    - 5: {alias: five}",
    ));
    assert_eq!(
        edges(&catalog),
        [
            "task#a after note#n",
            "task#a after task#b c#d",
            "task#a after task#z",
            "task#a hears task#5",
            "note#n after task#5"
        ]
    );
}

#[test]
fn references_are_valid_and_exist() {
    check_items(&[
        (
            "- task: [a: {require: note#n, subscribe: {a: 1}}]\n- note: [n: ]",
            &[
                "3:27 expected a list of `type#name`, found the text `note#n` | write `[\"note#n\"]`",
                "3:46 expected a list of `type#name`, found a map",
            ],
        ),
        (
            "- task: [a: {require: [n, '#n', 'note#', 7, ~, [x]]}]\n- note: [n: ]",
            &[
                "3:28 `n` is not a reference: expected `type#name` | did you mean `note#n`?",
                "3:31 `#n` is not a reference: the type before `#` is empty",
                "3:37 `note#` is not a reference: the name after `#` is empty",
                "3:46 `7` is not a reference: expected `type#name`",
                "3:49 expected `type#name`, found nothing",
                "3:52 expected `type#name`, found a list",
            ],
        ),
        (
            "- task: [reload: , a: {subscribe: [task#relaod]}]",
            &["3:40 unknown resource `task#relaod` | did you mean `task#reload`?"],
        ),
        (
            "- task: [reload-the-app: {alias: reload}, a: {subscribe: [task#reloda]}]",
            &["3:63 unknown resource `task#reloda` | did you mean `task#reload`?"],
        ),
        (
            "- task: [nginx: {require: [task#ngin, note#nginx]}]\n- note: [x: ]",
            &[
                "3:32 unknown resource `task#ngin` | did you mean `task#nginx`?",
                "3:43 unknown resource `note#nginx` | did you mean `task#nginx`?",
            ],
        ),
        (
            "- task: [a: {require: [tsak#b]}, b: ]",
            &["3:28 unknown resource `tsak#b` | did you mean `task#b`?"],
        ),
        (
            "- task: [a: {require: [tsak#lodd]}, load: ]",
            &["3:28 unknown resource `tsak#lodd` | did you mean `task#load`?"],
        ),
        (
            "- task: [a: {require: [banana#b, task#banana]}]",
            &[
                "3:28 unknown resource `banana#b` | there is no resource type `banana`",
                "3:38 unknown resource `task#banana`",
            ],
        ),
        (
            "- task: [a: {require: [archive#/etc/motd]}]",
            &["3:28 unknown resource `archive#/etc/motd` | `archive` is not supported in this version"],
        ),
    ]);
}

#[test]
fn a_reference_to_an_invalid_resource_is_no_second_error() {
    check_items(&[
        (
            "- task: [a: {require: [tsak#b]}]\n- tsak: [b: ]",
            &["4:7 unknown resource type `tsak` | did you mean `task`?"],
        ),
        (
            "- task: [a: {require: [archive#/etc/motd, archive#motd]}]\n- archive:\n    - /etc/motd: {alias: motd}",
            &["4:7 `archive` is not supported in this version"],
        ),
        (
            "- task: [a: {require: [archive#/etc/motd]}]\n- archive: {name: /etc/motd}",
            &["4:7 `archive` is not supported in this version"],
        ),
        (
            "- task:\n    - a: {require: [task#b, task#c, task#d, task#e]}\n    - b\n    - c:\n      command: x\n    - name: d\n    - e: 5",
            &[
                "5:11 expected `NAME:` with its properties below it, found the text `b` | write `- b:`",
                "7:11 `command` must be below `c`, not beside it | indent the properties below `c`",
                "8:17 expected the properties of `name`, found the text `d` | remove the dash, or write `- d:`",
                "9:14 expected the properties of `e`, found the number `5` | write each property as `KEY: VALUE`, indented below it",
            ],
        ),
        (
            "- task: [a: {require: [task#b]}]\n- task:\n  b:",
            &["5:7 `b` must be below `task`, not beside it | write `- b:`, indented below `task:`"],
        ),
        (
            "- task: [a: {require: [task#b]}]\n- task:\n    b:",
            &["5:9 the resources below `task` are not a list | write a dash before each: `- b:`"],
        ),
    ]);
}

#[test]
fn names_are_unique() {
    check_items(&[
        (
            "- task:\n    - a:\n    - a:\n- note: [a: ]\n- task: {name: a}",
            &[
                "5:11 duplicate resource `task#a` (4:11 the first)",
                "7:20 duplicate resource `task#a` (4:11 the first)",
            ],
        ),
        (
            "- note:\n    - a:\n    - a+1:\n    - a:\n    - b:\n- task: [a: , a+1: ]",
            &[
                "5:11 `note#a` and `note#a+1` both manage the user `a` (4:11 the first) | keep one of them",
                "6:11 duplicate resource `note#a` (4:11 the first)",
            ],
        ),
        ("- task:\n    - a: {alias: x}\n    - b: {alias: x}", &["5:22 duplicate alias `x` (4:22 the first)"]),
        (
            "- task:\n    - a: {alias: b}\n    - b:",
            &["5:11 the name of `task#b` is the alias of another resource (4:22 the first)"],
        ),
        (
            "- task:\n    - a:\n    - b: {alias: a}",
            &["5:22 the alias `a` is the name of another resource (4:11 the first)"],
        ),
        ("- task: [a: {alias: a}]", &["3:25 the alias `a` is the resource's own name (3:14 the first)"]),
        (
            "- task: [a: {alias: x}]\n- note: [b: {alias: x}, x: {alias: c}]",
            &["4:29 the name of `note#x` is the alias of another resource (4:25 the first)"],
        ),
    ]);
}

#[test]
fn a_resource_can_not_depend_on_itself() {
    check_items(&[
        (
            "- task: [a: {require: [task#a], subscribe: [task#a]}]",
            &["3:28 `task#a` requires itself", "3:49 `task#a` subscribes to itself"],
        ),
        ("- task: [a: {alias: x, require: [task#x]}]", &["3:38 `task#a` requires itself"]),
        (
            "- task:\n    - defaults: {require: [task#a]}\n    - a:\n    - b:",
            &["4:32 `task#a` requires itself"],
        ),
    ]);
}

#[test]
fn cycles_are_shown_as_paths_with_locations() {
    check_items(&[
        (
            "- task: [a: {require: [task#b]}, b: {require: [task#a]}]",
            &[
                "3:28 dependency cycle: task#a → task#b → task#a (3:28 `task#a` requires `task#b`) (3:52 `task#b` requires `task#a`)",
            ],
        ),
        (
            "- task:\n    - a: {subscribe: [task#b]}\n    - b: {require: [note#c]}\n- note:\n    - c: {require: [task#a]}",
            &[
                "4:27 dependency cycle: task#a → task#b → note#c → task#a (4:27 `task#a` subscribes to `task#b`) (5:25 `task#b` requires `note#c`) (7:25 `note#c` requires `task#a`)",
            ],
        ),
        (
            "- task:\n    - a: {require: [task#b]}\n    - b: {require: [task#a]}\n    - c: {require: [task#a, task#d]}\n    - d: {subscribe: [task#c]}",
            &[
                "4:25 dependency cycle: task#a → task#b → task#a (4:25 `task#a` requires `task#b`) (5:25 `task#b` requires `task#a`)",
                "6:33 dependency cycle: task#c → task#d → task#c (6:33 `task#c` requires `task#d`) (7:27 `task#d` subscribes to `task#c`)",
            ],
        ),
        // Cycles are reported beside other errors.
        (
            "- task: [a: {require: [task#b, task#x], comand: y}, b: {require: [task#a]}, b: ]",
            &[
                "3:28 dependency cycle: task#a → task#b → task#a (3:28 `task#a` requires `task#b`) (3:71 `task#b` requires `task#a`)",
                "3:36 unknown resource `task#x`",
                "3:45 unknown property `comand` | did you mean `command`?",
                "3:81 duplicate resource `task#b` (3:57 the first)",
            ],
        ),
    ]);
}
