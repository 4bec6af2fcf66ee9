//! Keys of the top level and below `ccm`.

use crate::fake::{catalog, check_all, loaded};

#[test]
fn a_manifest_is_read() {
    let catalog = catalog(
        "ccm:\n  name: web\n  pre_message: before\n  post_message: 5.10\n  fail_on_error: true\n  \
         resources:\n    - task:\n        - a:\n        - b: {command: x}\n    - note: {name: c, text: y}\n    \
         - task:\n        - d: {}\n",
    );
    assert_eq!(catalog.name.as_deref(), Some("web"));
    assert_eq!(catalog.pre_message.as_deref(), Some("before"));
    assert_eq!(catalog.post_message.as_deref(), Some("5.10"));
    assert!(catalog.fail_on_error);
    let ids: Vec<String> = catalog.resources.iter().map(|resource| resource.id.to_string()).collect();
    assert_eq!(ids, ["task#a", "task#b", "note#c", "task#d"]);
}

#[test]
fn null_properties_are_unset() {
    let catalog = catalog("ccm:\n  name:\n  fail_on_error: ~\n  resources: [task: [a: ]]\n");
    assert_eq!((catalog.name, catalog.pre_message, catalog.post_message), (None, None, None));
    assert!(!catalog.fail_on_error);
    let resource = &catalog.resources[0];
    assert_eq!((&resource.ensure, &resource.provider, resource.aliases.len()), (&None, &None, 0));
}

#[test]
fn an_empty_manifest_shows_the_smallest_one() {
    check_all(&[
        ("", &["1:1 missing | …"]),
        ("# nothing\n", &["1:1 missing | …"]),
        ("~", &["1:1 missing | …"]),
        ("{}", &["1:1 missing | …"]),
        ("ccm:", &["1:1 missing | …"]),
        ("ccm: {}", &["1:1 missing | …"]),
        ("ccm: {resources: }", &["1:7 missing | …"]),
        // A list without resources may be meant: it is what a generator writes for nothing to do.
        ("ccm: {resources: []}", &[]),
        ("ccm: {resources: [task: ]}", &["1:19 warning: no-effect"]),
        ("ccm: {resources: [task: [], note: []]}", &[]),
        ("ccm: {resources: [task: [defaults: {command: x}]]}", &["1:26 warning: no-effect | defaults"]),
    ]);
}

#[test]
fn the_smallest_manifest_is_valid() {
    let hint = loaded("").diagnostics.remove(0).hints.remove(0);
    let manifest = hint.strip_prefix("the smallest manifest is\n").expect("the manifest below that");
    assert_eq!(catalog(manifest).resources.len(), 0);
}

#[test]
fn the_top_level_holds_ccm() {
    check_all(&[
        ("- task:\n    - a:\n", &["1:1 wrong-type | ccm:, resources:"]),
        ("hello", &["1:1 wrong-type | …"]),
        ("5", &["1:1 wrong-type | …"]),
        ("ccm: 5", &["1:6 wrong-type | …"]),
        ("ccm: [task: [a: ]]", &["1:6 wrong-type | …"]),
        ("cmm:\n  resources: [task: [a: ]]\n", &["1:1 unknown-key | ccm"]),
        (
            "banana: 1\nccm: {resources: [task: [a: ]]}\n",
            &["1:1 unknown-key | ccm, data, hierarchy, overrides"],
        ),
        ("name: x\nccm: {resources: [task: [a: ]]}\n", &["1:1 unknown-key | name, ccm"]),
        ("task:\n  - a:\n", &["1:1 unknown-key | ccm:, resources:"]),
        ("archive:\n  - a:\n", &["1:1 unknown-key | ccm:, resources:"]),
        (
            "resources:\n  - task: [a: {comand: x}]\n",
            &["1:1 misplaced | resources, ccm:", "2:16 unknown-property comand | command"],
        ),
        (
            "ccm:\nresources:\n  - task: [a: {comand: x}]\n",
            &["2:1 misplaced | resources, ccm:", "3:16 unknown-property comand | command"],
        ),
        (
            "ccm:\n  name: x\nresources:\n  - task: [a: {comand: x}]\n",
            &["3:1 misplaced | resources, ccm:", "4:16 unknown-property comand | command"],
        ),
        (
            "data: {a: 1}\nhierarchy:\noverrides:\nresources_template: x\nccm: {resources: [task: [a: ]]}\n",
            &["4:1 unknown-key | resources_template, ccm"],
        ),
        ("data: {a: 1}\n", &["1:1 missing | …"]),
    ]);
}

#[test]
fn unknown_keys_below_ccm_are_errors() {
    check_all(&[
        ("ccm:\n  nmae: x\n  resources: [task: [a: ]]\n", &["2:3 unknown-key | name"]),
        (
            "ccm:\n  banana: x\n  resources: [task: [a: ]]\n",
            &[
                "2:3 unknown-key | name, pre_message, post_message, fail_on_error, checks, resources, resources_template",
            ],
        ),
        ("ccm:\n  resource: [task: [a: ]]\n", &["2:3 unknown-key | resources"]),
        ("ccm:\n  task: [a: ]\n", &["2:3 unknown-key | - task:, resources:"]),
        (
            "ccm:\n  executors: {}\n  resources_template: x\n  resources: [task: [a: ]]\n",
            &[
                "2:3 unknown-key | name, pre_message, post_message, fail_on_error, checks, resources, resources_template",
                "3:23 unreadable | template",
            ],
        ),
        ("ccm:\n  name: ''\n  resources: [task: [a: ]]\n", &["2:9 missing"]),
        (
            "ccm:\n  name: [a]\n  pre_message: {a: 1}\n  resources: [task: [a: ]]\n",
            &["2:9 wrong-type name | a", "3:16 wrong-type pre_message"],
        ),
        (
            "ccm:\n  fail_on_error: yes\n  resources: [task: [a: ]]\n",
            &["2:18 wrong-type fail_on_error | true, yes"],
        ),
        (
            "ccm:\n  fail_on_error: 'true'\n  resources: [task: [a: ]]\n",
            &["2:18 wrong-type fail_on_error | …"],
        ),
        ("ccm:\n  resources: task\n", &["2:14 wrong-type | …"]),
        ("ccm:\n  resources:\n    task:\n      - a:\n", &["3:5 wrong-type | - task:"]),
    ]);
}

#[test]
fn yaml_errors_but_duplicate_keys_hide_all_others() {
    check_all(&[
        ("ccm: [\n", &["1:6 syntax"]),
        ("ccm: {{ x }}\n", &["1:6 syntax | \"{{ x }}\""]),
        (
            "ccm: {resources: [task: [a: {level: odd}], task: [b: {require: [task#a]}]]}\nccm: 2\n",
            &["1:37 invalid-value level", "2:1 duplicate-key (1:1)"],
        ),
    ]);
}
