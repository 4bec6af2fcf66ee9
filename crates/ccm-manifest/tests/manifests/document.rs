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
    assert_eq!((&resource.ensure, &resource.provider, &resource.alias), (&None, &None, &None));
}

#[test]
fn an_empty_manifest_shows_the_smallest_one() {
    check_all(&[
        ("", &["1:1 the manifest is empty | the smallest manifest"]),
        ("# nothing\n", &["1:1 the manifest is empty | the smallest manifest"]),
        ("~", &["1:1 the manifest is empty | the smallest manifest"]),
        ("{}", &["1:1 the manifest has no `ccm` | the smallest manifest"]),
        ("ccm:", &["1:1 `ccm` is empty | the smallest manifest"]),
        ("ccm: {}", &["1:1 `ccm` has no `resources` | the smallest manifest"]),
        ("ccm: {resources: }", &["1:7 `resources` is empty | the smallest manifest"]),
        // A list without resources may be meant: it is what a generator writes for nothing to do.
        ("ccm: {resources: []}", &[]),
        ("ccm: {resources: [task: ]}", &["1:19 warning: `task` lists no resource"]),
        (
            "ccm: {resources: [task: [], note: []]}",
            &["1:19 warning: `task` lists no resource", "1:29 warning: `note` lists no resource"],
        ),
        (
            "ccm: {resources: [task: [defaults: {command: x}]]}",
            &["1:26 warning: `defaults` applies to no resource | move it into the list of its resources"],
        ),
    ]);
}

#[test]
fn the_smallest_manifest_is_valid() {
    let hint = loaded("").diagnostics.remove(0).hints.remove(0);
    let manifest = hint.strip_prefix("the smallest manifest is\n").expect("the manifest below that");
    assert_eq!(catalog(manifest).resources.len(), 1);
}

#[test]
fn the_top_level_holds_ccm() {
    check_all(&[
        (
            "- task:\n    - a:\n",
            &["1:1 expected a map with `ccm`, found a list | put resources below `ccm:` and `resources:`"],
        ),
        ("hello", &["1:1 expected a map with `ccm`, found the text `hello` | the smallest manifest"]),
        ("5", &["1:1 expected a map with `ccm`, found the number `5` | the smallest manifest"]),
        ("ccm: 5", &["1:6 expected a map, found the number `5` | the smallest manifest"]),
        ("ccm: [task: [a: ]]", &["1:6 expected a map, found a list | the smallest manifest"]),
        ("cmm:\n  resources: [task: [a: ]]\n", &["1:1 unknown key `cmm` | did you mean `ccm`?"]),
        (
            "banana: 1\nccm: {resources: [task: [a: ]]}\n",
            &["1:1 unknown key `banana` | known here: `ccm`, `data`, `hierarchy` and `overrides`"],
        ),
        ("name: x\nccm: {resources: [task: [a: ]]}\n", &["1:1 unknown key `name` | put `name` below `ccm`"]),
        ("task:\n  - a:\n", &["1:1 unknown key `task` | put resources below `ccm:` and `resources:`"]),
        ("archive:\n  - a:\n", &["1:1 unknown key `archive` | put resources below `ccm:` and `resources:`"]),
        (
            "resources:\n  - task: [a: {comand: x}]\n",
            &[
                "1:1 `resources` must be below `ccm`, not beside it | indent it and its items below `ccm:`",
                "2:16 unknown property `comand` | did you mean `command`?",
            ],
        ),
        (
            "ccm:\nresources:\n  - task: [a: {comand: x}]\n",
            &[
                "2:1 `resources` must be below `ccm`, not beside it | indent it and its items below `ccm:`",
                "3:16 unknown property `comand` | did you mean `command`?",
            ],
        ),
        (
            "ccm:\n  name: x\nresources:\n  - task: [a: {comand: x}]\n",
            &[
                "3:1 `resources` must be below `ccm`, not beside it | indent it and its items below `ccm:`",
                "4:16 unknown property `comand` | did you mean `command`?",
            ],
        ),
        (
            "data: {a: 1}\nhierarchy:\noverrides:\nresources_template: x\nccm: {resources: [task: [a: ]]}\n",
            &["4:1 unknown key `resources_template` | put `resources_template` below `ccm`"],
        ),
        ("data: {a: 1}\n", &["1:1 the manifest has no `ccm` | the smallest manifest"]),
    ]);
}

#[test]
fn unknown_keys_below_ccm_are_errors() {
    check_all(&[
        ("ccm:\n  nmae: x\n  resources: [task: [a: ]]\n", &["2:3 unknown key `nmae` | did you mean `name`?"]),
        (
            "ccm:\n  banana: x\n  resources: [task: [a: ]]\n",
            &[
                "2:3 unknown key `banana` | known here: `name`, `pre_message`, `post_message`, `fail_on_error`, `resources` and `resources_template`",
            ],
        ),
        ("ccm:\n  resource: [task: [a: ]]\n", &["2:3 unknown key `resource` | did you mean `resources`?"]),
        ("ccm:\n  task: [a: ]\n", &["2:3 unknown key `task` | write `- task:` below `resources:`"]),
        (
            "ccm:\n  executors: {}\n  resources_template: x\n  resources: [task: [a: ]]\n",
            &[
                "2:3 unknown key `executors` | known here: `name`, `pre_message`, `post_message`, `fail_on_error`, `resources` and `resources_template`",
                "3:3 `resources` and `resources_template` are both given (4:3 the list) | keep one of them",
            ],
        ),
        ("ccm:\n  name: ''\n  resources: [task: [a: ]]\n", &["2:9 the name is empty"]),
        (
            "ccm:\n  name: [a]\n  pre_message: {a: 1}\n  resources: [task: [a: ]]\n",
            &["2:9 expected text, found a list", "3:16 expected text, found a map"],
        ),
        (
            "ccm:\n  fail_on_error: yes\n  resources: [task: [a: ]]\n",
            &["2:18 expected a boolean, found the text `yes` | write `true`: `yes` is text"],
        ),
        (
            "ccm:\n  fail_on_error: 'true'\n  resources: [task: [a: ]]\n",
            &["2:18 expected a boolean, found the text `true` | write it without quotes"],
        ),
        (
            "ccm:\n  resources: task\n",
            &["2:14 expected a list of resources, found the text `task` | the smallest manifest"],
        ),
        (
            "ccm:\n  resources:\n    task:\n      - a:\n",
            &["3:5 expected a list of resources, found a map | write a dash before each type: `- task:`"],
        ),
    ]);
}

#[test]
fn yaml_errors_but_duplicate_keys_hide_all_others() {
    check_all(&[
        ("ccm: [\n", &["1:6 unclosed bracket (1:6 this `[` is never closed)"]),
        ("ccm: {{ x }}\n", &["1:6 an expression without quotes is a map to YAML | quote it: `\"{{ x }}\"`"]),
        (
            "ccm: {resources: [task: [a: {level: odd}], task: [b: {require: [task#a]}]]}\nccm: 2\n",
            &[
                "1:37 expected `quiet` or `loud`, found `odd`",
                "2:1 the key `ccm` is given twice (2:1 given again here) (1:1 first given here)",
            ],
        ),
    ]);
}
