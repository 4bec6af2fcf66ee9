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
            &["3:27 wrong-type | [\"note#n\"]", "3:46 wrong-type"],
        ),
        (
            "- task: [a: {require: [n, '#n', 'note#', 7, ~, [x]]}]\n- note: [n: ]",
            &[
                "3:28 invalid-value | note#n",
                "3:31 invalid-value",
                "3:37 invalid-value",
                "3:46 invalid-value",
                "3:49 wrong-type",
                "3:52 wrong-type",
            ],
        ),
        ("- task: [reload: , a: {subscribe: [task#relaod]}]", &["3:40 unknown-reference | task#reload"]),
        (
            "- task: [reload-the-app: {alias: reload}, a: {subscribe: [task#reloda]}]",
            &["3:63 unknown-reference | task#reload"],
        ),
        (
            "- task: [nginx: {require: [task#ngin, note#nginx]}]\n- note: [x: ]",
            &["3:32 unknown-reference | task#nginx", "3:43 unknown-reference | task#nginx"],
        ),
        ("- task: [a: {require: [tsak#b]}, b: ]", &["3:28 unknown-reference | task#b"]),
        ("- task: [a: {require: [tsak#lodd]}, load: ]", &["3:28 unknown-reference | task#load"]),
        (
            "- task: [a: {require: [banana#b, task#banana]}]",
            &["3:28 unknown-reference | banana", "3:38 unknown-reference | task"],
        ),
        (
            "- task: [a: {require: [download#/etc/motd]}]",
            &["3:28 unknown-reference | download | archive, url, extract_parent"],
        ),
    ]);
}

#[test]
fn a_reference_to_an_invalid_resource_is_no_second_error() {
    check_items(&[
        ("- task: [a: {require: [tsak#b]}]\n- tsak: [b: ]", &["4:7 unknown-type | task"]),
        (
            "- task: [a: {require: [archive#/etc/motd, archive#motd]}]\n- archive:\n    - /etc/motd: {alias: motd}",
            &["4:7 unsupported"],
        ),
        ("- task: [a: {require: [download#/etc/motd]}]\n- archive: {name: /etc/motd}", &["4:7 unsupported"]),
        (
            "- task:\n    - a: {require: [task#b, task#c, task#d, task#e]}\n    - [b]\n    - c:\n      command: x\n    - name: d\n    - e: 5",
            &[
                "5:11 wrong-type | - NAME: {…}",
                "7:11 misplaced | c",
                "8:17 wrong-type | - d:",
                "9:14 wrong-type | KEY: VALUE",
            ],
        ),
        ("- task: [a: {require: [task#b]}]\n- task:\n  b:", &["5:7 misplaced | - b:, task:"]),
        ("- task: [a: {require: [task#b]}]\n- task:\n    b:", &["5:9 wrong-type | - b:"]),
    ]);
}

#[test]
fn names_are_unique() {
    check_items(&[
        (
            "- task:\n    - a:\n    - a:\n- note: [a: ]\n- task: {name: a}",
            &["5:11 duplicate-resource (4:11)", "7:20 duplicate-resource (4:11)"],
        ),
        (
            "- note:\n    - a:\n    - a+1:\n    - a:\n    - b:\n- task: [a: , a+1: ]",
            &["5:11 conflict (4:11) | …", "6:11 warning: no-effect (4:11) | …"],
        ),
        ("- task:\n    - a: {alias: x}\n    - b: {alias: x}", &["5:22 duplicate-resource (4:22)"]),
        ("- task:\n    - a: {alias: b}\n    - b:", &["5:11 duplicate-resource (4:22)"]),
        ("- task:\n    - a:\n    - b: {alias: a}", &["5:22 duplicate-resource (4:11)"]),
        ("- task: [a: {alias: a}]", &["3:25 duplicate-resource (3:14)"]),
        (
            "- task: [a: {alias: x}]\n- note: [b: {alias: x}, x: {alias: c}]",
            &["4:29 duplicate-resource (4:25)"],
        ),
    ]);
}

#[test]
fn a_resource_can_not_depend_on_itself() {
    check_items(&[
        ("- task: [a: {require: [task#a], subscribe: [task#a]}]", &["3:28 cycle", "3:49 cycle"]),
        ("- task: [a: {alias: x, require: [task#x]}]", &["3:38 cycle"]),
        ("- task:\n    - defaults: {require: [task#a]}\n    - a:\n    - b:", &["4:32 cycle"]),
    ]);
}

#[test]
fn cycles_are_shown_as_paths_with_locations() {
    check_items(&[
        ("- task: [a: {require: [task#b]}, b: {require: [task#a]}]", &["3:28 cycle (3:52)"]),
        (
            "- task:\n    - a: {subscribe: [task#b]}\n    - b: {require: [note#c]}\n- note:\n    - c: {require: [task#a]}",
            &["4:27 cycle (5:25) (7:25)"],
        ),
        (
            "- task:\n    - a: {require: [task#b]}\n    - b: {require: [task#a]}\n    - c: {require: [task#a, task#d]}\n    - d: {subscribe: [task#c]}",
            &["4:25 cycle (5:25)", "6:33 cycle (7:27)"],
        ),
        // Cycles are reported beside other errors.
        (
            "- task: [a: {require: [task#b, task#x], comand: y}, b: {require: [task#a]}, b: ]",
            &[
                "3:28 cycle (3:71)",
                "3:36 unknown-reference | task#b",
                "3:45 unknown-property comand | command",
                "3:81 duplicate-resource (3:57)",
            ],
        ),
    ]);
}
