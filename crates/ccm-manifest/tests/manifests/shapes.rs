//! Dashes, spaces and indentation.

use crate::fake::{check_all, check_items, loaded, manifest};

#[test]
fn an_item_has_one_type() {
    check_items(&[
        ("-", &["3:6 missing"]),
        ("- {}", &["3:7 missing"]),
        ("- 5", &["3:7 wrong-type | - task:, - note:"]),
        ("- [a]", &["3:7 wrong-type | - task:, - note:"]),
        ("- task", &["3:7 wrong-type | - task:, - NAME:"]),
        ("- task:[]", &["3:7 wrong-type | task: …"]),
        ("- /bin/true", &["3:7 wrong-type | - task:, - note:"]),
        ("- exce: [a: ]", &["3:7 unknown-type | task, note"]),
        ("- tsak: [a: ]", &["3:7 unknown-type | task"]),
        ("- Task: [a: ]", &["3:7 unknown-type | task"]),
        ("- tasks: [a: ]", &["3:7 unknown-type | task"]),
        ("- archiv: [a: ]", &["3:7 unknown-type | archive"]),
        ("- archive: [a: ]\n- file: [a: ]", &["3:7 unsupported", "4:7 unknown-type | task, note"]),
        (
            "- task: [a: {comand: x}]\n  note: [b: {txt: y}]",
            &[
                "3:18 unknown-property comand | command",
                "4:7 misplaced | - note:",
                "4:18 unknown-property txt | text",
            ],
        ),
        ("- task: [a: ]\n  archive: [b: ]", &["4:7 misplaced | - archive:"]),
        ("- task: [a: ]\n  name: b", &["4:7 misplaced | name, task:"]),
        ("- task:\n  a:\n    command: x", &["4:7 misplaced | - a:, task:"]),
        ("- task:\n  name: a\n  command: x", &["4:7 misplaced | name, task:"]),
        ("- name: a\n  text: x", &["3:7 missing | - task:, - note:"]),
        ("- name: a\n  command: x", &["4:7 unknown-type | exec"]),
        ("- tsak:\n  name: a\n  command: x", &["3:7 unknown-type | task"]),
    ]);
}

#[test]
fn a_type_holds_a_list_or_one_map() {
    check_items(&[
        ("- task: /bin/true", &["3:13 wrong-type | - /bin/true:, task:"]),
        ("- task: 5\n- note: [a: ]", &["3:13 wrong-type | - 5:, task:"]),
        ("- task:\n- note: [a: ]", &["3:7 warning: no-effect"]),
        ("- task: {command: x}", &["3:7 missing | name:, - NAME:"]),
        (
            "- task: {name: , comand: x}",
            &["3:7 missing | name:, - NAME:", "3:22 unknown-property comand | command"],
        ),
        ("- task: {name: '', comand: x}", &["3:20 missing", "3:24 unknown-property comand | command"]),
        ("- task: {name: [a]}", &["3:20 wrong-type | - NAME: {…}"]),
        ("- task: {name: a, defaults: {command: x}}", &["3:23 misplaced | - NAME:"]),
        ("- task:\n    a: {command: x}\n    b:", &["4:9 wrong-type | - a:"]),
        ("- task: {}", &["3:7 missing | name:, - NAME:"]),
    ]);
}

#[test]
fn an_entry_is_a_name_with_properties_below() {
    check_items(&[
        // Properties without indentation.
        ("- task:\n    - reload:\n      command: x\n      timeout: 5", &["5:11 misplaced | reload"]),
        ("- task:\n    - name:\n      command: x", &["5:11 misplaced | name"]),
        ("- task:\n    - reload: {command: x}\n      require: [task#a]", &["5:11 misplaced | reload"]),
        ("- task:\n    - defaults:\n      timeout: 5\n    - a:", &["5:11 misplaced | defaults"]),
        ("- task:\n    - reload:\n      banana: 5", &["5:11 misplaced | reload"]),
        // `name` as a property of a list entry.
        ("- task:\n    - name: x\n      command: y", &["4:11 misplaced | - x:"]),
        ("- task:\n    - command: y\n      name: x", &["4:11 misplaced | - x:"]),
        ("- task:\n    - name: x", &["4:17 wrong-type | - x:"]),
        // Several resources in one entry.
        ("- task:\n    - a: {command: x}\n      b: {command: x}", &["5:11 misplaced | - b:"]),
        ("- task:\n    - a:\n      b:", &["5:11 misplaced | - b:"]),
        ("- task:\n    - a: 1\n      b: 2", &["5:11 misplaced | - NAME:"]),
    ]);
}

#[test]
fn a_list_entry_without_properties_is_a_name() {
    check_items(&[
        ("- task:\n    - /bin/true", &[]),
        ("- task:\n    - 5", &[]),
        ("- task:\n    - http://example.org", &[]),
        ("- task: [a, 'b: c', \"d\"]\n- note: [{e: {require: [task#a, 'task#b: c', task#d]}}]", &[]),
        ("- task: [a, a]", &["3:17 duplicate-resource (3:14)"]),
        ("- task: [a, {defaults: {comand: x}}]", &["3:29 unknown-property comand | command"]),
        ("- task: ['']", &["3:14 missing"]),
        ("- task:\n    - name:x", &["4:11 wrong-type | name: …"]),
        ("- task:\n    - command:x", &["4:11 wrong-type | command: …"]),
        ("- task:\n    - defaults:{}", &["4:11 wrong-type | defaults: …"]),
        ("- task:\n    - defaults", &["4:11 wrong-type | - defaults:"]),
        ("- task:\n    -\n    - {}", &["4:10 missing | - NAME:", "5:11 missing | - NAME:"]),
        ("- task:\n    - [a]", &["4:11 wrong-type | - NAME: {…}"]),
        ("- foreach: [a, b]\n  task: ['x-{{ Item }}']\n- note: [{n: {require: [task#x-b]}}]", &[]),
    ]);
}

#[test]
fn properties_must_be_a_map() {
    check_items(&[
        ("- task:\n    - a:\n        command:x", &["5:13 wrong-type | command: …"]),
        ("- task:\n    - a: 5", &["4:14 wrong-type | KEY: VALUE"]),
        ("- task:\n    - a: systemctl reload x", &["4:14 wrong-type | KEY: VALUE"]),
        ("- task:\n    - command: x", &["4:20 wrong-type | command, - NAME:"]),
        ("- task:\n    - a:\n        - command: x\n        - timeout: 5", &["5:13 wrong-type | …"]),
        ("- task:\n    - a: []", &["4:14 wrong-type"]),
        ("- task:\n    - defaults: 5\n    - a:", &["4:21 wrong-type | KEY: VALUE"]),
    ]);
}

#[test]
fn a_second_name_is_an_error() {
    check_items(&[
        ("- task:\n    - '': {comand: x}", &["4:11 missing", "4:16 unknown-property comand | command"]),
        ("- task:\n    - ' ': {}", &["4:11 missing"]),
        ("- task:\n    - a: {name: b}", &["4:15 conflict | alias"]),
    ]);
}

#[test]
fn an_invalid_resource_does_not_hide_other_errors() {
    check_all(&[(
        "banana: 1\nccm:\n  nmae: x\n  fail_on_error: 7\n  resources:\n    - exce: [a: ]\n    - task:\n        \
         - b: {comand: x, timeout: soon}\n        - [c]\n        - d: {require: [task#bb], ensure: gone}\n    \
         - note: [e: {text: [1]}]\n",
        &[
            "1:1 unknown-key | ccm, data, hierarchy, overrides",
            "3:3 unknown-key | name",
            "4:18 wrong-type fail_on_error",
            "6:7 unknown-type | task, note",
            "8:15 unknown-property comand | command",
            "8:35 wrong-type timeout",
            "9:11 wrong-type | - NAME: {…}",
            "10:25 unknown-reference | task#b",
            "10:43 invalid-value",
            "11:24 wrong-type text | 1",
        ],
    )]);
}

#[test]
fn messages_cut_long_names_and_keep_them_on_one_line() {
    let text = manifest(&format!("- task:\n    - \"a\\n{}\":\n        name: b", "x".repeat(200)));
    let message = &loaded(&text).diagnostics[0].message;
    assert!(message.ends_with(&format!("`a\\n{}…`", "x".repeat(118))), "{message}");
}

#[test]
fn hints_quote_names_where_yaml_needs_quotes() {
    check_items(&[
        ("- task: 'echo: x'", &["3:13 wrong-type | - \"echo: x\":, task:"]),
        ("- task: 'echo #x'", &["3:13 wrong-type | - \"echo #x\":, task:"]),
        ("- task: '*'", &["3:13 wrong-type | - \"*\":, task:"]),
        ("- task: '\"a\": b'", &["3:13 wrong-type | - \"\\\"a\\\": b\":, task:"]),
    ]);
}
