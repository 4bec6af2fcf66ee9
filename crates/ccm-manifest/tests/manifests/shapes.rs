//! Dashes, spaces and indentation.

use crate::fake::{check_all, check_items, manifest};

#[test]
fn an_item_has_one_type() {
    check_items(&[
        ("-", &["3:6 this item is empty"]),
        ("- {}", &["3:7 this item is empty"]),
        (
            "- 5",
            &[
                "3:7 expected a resource type with its resources below it, found the number `5` | write `- task:` or `- note:` first",
            ],
        ),
        (
            "- [a]",
            &[
                "3:7 expected a resource type with its resources below it, found a list | write `- task:` or `- note:` first",
            ],
        ),
        (
            "- task",
            &[
                "3:7 expected a resource type with its resources below it, found the text `task` | write `- task:`, and its resources as `- NAME:` below it",
            ],
        ),
        (
            "- task:[]",
            &[
                "3:7 expected a resource type with its resources below it, found the text `task:[]` | put a space after the colon: `task: …`",
            ],
        ),
        (
            "- /bin/true",
            &[
                "3:7 expected a resource type with its resources below it, found the text `/bin/true` | write `- task:` or `- note:` first",
            ],
        ),
        ("- exce: [a: ]", &["3:7 unknown resource type `exce` | known here: `task` and `note`"]),
        ("- tsak: [a: ]", &["3:7 unknown resource type `tsak` | did you mean `task`?"]),
        ("- Task: [a: ]", &["3:7 unknown resource type `Task` | did you mean `task`?"]),
        ("- tasks: [a: ]", &["3:7 unknown resource type `tasks` | did you mean `task`?"]),
        (
            "- archiv: [a: ]",
            &[
                "3:7 unknown resource type `archiv` | did you mean `archive`? it is not supported in this version",
            ],
        ),
        (
            "- scaffolds: [a: ]",
            &[
                "3:7 unknown resource type `scaffolds` | did you mean `scaffold`? it is not supported in this version",
            ],
        ),
        (
            "- archive: [a: ]\n- scaffold: [a: ]\n- file: [a: ]",
            &[
                "3:7 `archive` is not supported in this version",
                "4:7 `scaffold` is not supported in this version",
                "5:7 unknown resource type `file` | known here: `task` and `note`",
            ],
        ),
        (
            "- task: [a: {comand: x}]\n  note: [b: {txt: y}]",
            &[
                "3:18 unknown property `comand` | did you mean `command`?",
                "4:7 an item can have only one resource type, this one has `task` and `note` | write a dash before it: `- note:`",
                "4:18 unknown property `txt` | did you mean `text`?",
            ],
        ),
        (
            "- task: [a: ]\n  archive: [b: ]",
            &[
                "4:7 an item can have only one resource type, this one has `task` and `archive` | write a dash before it: `- archive:`",
            ],
        ),
        (
            "- task: [a: ]\n  name: b",
            &["4:7 `name` must be below `task`, not beside it | indent the other keys below `task:`"],
        ),
        (
            "- task:\n  a:\n    command: x",
            &["4:7 `a` must be below `task`, not beside it | write `- a:`, indented below `task:`"],
        ),
        (
            "- task:\n  name: a\n  command: x",
            &[
                "4:7 `name` must be below `task`, not beside it | indent it, and what belongs to it, below `task:`",
            ],
        ),
        (
            "- name: a\n  command: x",
            &[
                "3:7 this item has no resource type | write `- task:` or `- note:` first, and the resource below it",
            ],
        ),
        ("- tsak:\n  name: a\n  command: x", &["3:7 unknown resource type `tsak` | did you mean `task`?"]),
    ]);
}

#[test]
fn a_type_holds_a_list_or_one_map() {
    check_items(&[
        (
            "- task: /bin/true",
            &[
                "3:13 expected a list of resources, found the text `/bin/true` | write `- /bin/true:` below `task:`",
            ],
        ),
        (
            "- task: 5\n- note: [a: ]",
            &["3:13 expected a list of resources, found the number `5` | write `- 5:` below `task:`"],
        ),
        ("- task:\n- note: [a: ]", &["3:7 warning: `task` lists no resource"]),
        (
            "- task: {command: x}",
            &["3:7 this `task` has no `name` | add `name:`, or write a list of `- NAME:`"],
        ),
        (
            "- task: {name: , comand: x}",
            &[
                "3:7 this `task` has no `name` | add `name:`, or write a list of `- NAME:`",
                "3:22 unknown property `comand` | did you mean `command`?",
            ],
        ),
        (
            "- task: {name: '', comand: x}",
            &["3:20 the name is empty", "3:24 unknown property `comand` | did you mean `command`?"],
        ),
        ("- task: {name: [a]}", &["3:20 expected text, found a list"]),
        (
            "- task: {name: a, defaults: {command: x}}",
            &["3:23 `defaults` needs a list of resources | write the resources as `- NAME:` below the type"],
        ),
        (
            "- task:\n    a: {command: x}\n    b:",
            &["4:9 the resources below `task` are not a list | write a dash before each: `- a:`"],
        ),
        ("- task: {}", &["3:7 this `task` has no `name` | add `name:`, or write a list of `- NAME:`"]),
    ]);
}

#[test]
fn an_entry_is_a_name_with_properties_below() {
    check_items(&[
        // Properties without indentation.
        (
            "- task:\n    - reload:\n      command: x\n      timeout: 5",
            &["5:11 `command` must be below `reload`, not beside it | indent the properties below `reload`"],
        ),
        (
            "- task:\n    - name:\n      command: x",
            &["5:11 `command` must be below `name`, not beside it | indent the properties below `name`"],
        ),
        (
            "- task:\n    - reload: {command: x}\n      require: [task#a]",
            &["5:11 `require` must be below `reload`, not beside it | indent the properties below `reload`"],
        ),
        (
            "- task:\n    - defaults:\n      timeout: 5\n    - a:",
            &[
                "5:11 `timeout` must be below `defaults`, not beside it | indent the properties below `defaults`",
            ],
        ),
        (
            "- task:\n    - reload:\n      banana: 5",
            &["5:11 `banana` must be below `reload`, not beside it | indent the properties below `reload`"],
        ),
        // `name` as a property of a list entry.
        (
            "- task:\n    - name: x\n      command: y",
            &[
                "4:11 a list entry must be `NAME:` with its properties below it | remove the dash, or write `- x:` with the properties indented below it",
            ],
        ),
        (
            "- task:\n    - command: y\n      name: x",
            &[
                "4:11 a list entry must be `NAME:` with its properties below it | remove the dash, or write `- x:` with the properties indented below it",
            ],
        ),
        (
            "- task:\n    - name: x",
            &[
                "4:17 expected the properties of `name`, found the text `x` | remove the dash, or write `- x:`",
            ],
        ),
        // Several resources in one entry.
        (
            "- task:\n    - a: {command: x}\n      b: {command: x}",
            &[
                "5:11 an entry can hold only one resource, this one has `a` and `b` | write a dash before it: `- b:`",
            ],
        ),
        (
            "- task:\n    - a:\n      b:",
            &[
                "5:11 an entry can hold only one resource, this one has `a` and `b` | write a dash before it: `- b:`",
            ],
        ),
        (
            "- task:\n    - a: 1\n      b: 2",
            &[
                "5:11 an entry can hold only one resource, this one has `a` and `b` | write `- NAME:` for each resource, with its properties indented below it",
            ],
        ),
    ]);
}

#[test]
fn a_list_entry_must_have_a_key() {
    check_items(&[
        (
            "- task:\n    - /bin/true",
            &[
                "4:11 expected `NAME:` with its properties below it, found the text `/bin/true` | write `- /bin/true:`",
            ],
        ),
        (
            "- task:\n    - 5",
            &["4:11 expected `NAME:` with its properties below it, found the number `5` | write `- 5:`"],
        ),
        (
            "- task:\n    - name:x",
            &[
                "4:11 expected `NAME:` with its properties below it, found the text `name:x` | put a space after the colon: `name: …`",
            ],
        ),
        (
            "- task:\n    - defaults:{}",
            &[
                "4:11 expected `NAME:` with its properties below it, found the text `defaults:{}` | put a space after the colon: `defaults: …`",
            ],
        ),
        (
            "- task:\n    - http://example.org",
            &[
                "4:11 expected `NAME:` with its properties below it, found the text `http://example.org` | write `- http://example.org:`",
            ],
        ),
        (
            "- task:\n    -\n    - {}",
            &["4:10 this entry is empty | write `- NAME:`", "5:11 this entry is empty | write `- NAME:`"],
        ),
        ("- task:\n    - [a]", &["4:11 expected `NAME:` with its properties below it, found a list"]),
    ]);
}

#[test]
fn properties_must_be_a_map() {
    check_items(&[
        (
            "- task:\n    - a:\n        command:x",
            &[
                "5:13 expected the properties of `a`, found the text `command:x` | put a space after the colon: `command: …`",
            ],
        ),
        (
            "- task:\n    - a: 5",
            &[
                "4:14 expected the properties of `a`, found the number `5` | write each property as `KEY: VALUE`, indented below it",
            ],
        ),
        (
            "- task:\n    - a: systemctl reload x",
            &[
                "4:14 expected the properties of `a`, found the text `systemctl reload x` | write each property as `KEY: VALUE`, indented below it",
            ],
        ),
        (
            "- task:\n    - command: x",
            &[
                "4:20 expected the properties of `command`, found the text `x` | `command` is a property; write `- NAME:` and indent the properties below it",
            ],
        ),
        (
            "- task:\n    - a:\n        - command: x\n        - timeout: 5",
            &["5:13 expected the properties of `a`, found a list | remove the dashes before the properties"],
        ),
        ("- task:\n    - a: []", &["4:14 expected the properties of `a`, found a list"]),
        (
            "- task:\n    - defaults: 5\n    - a:",
            &[
                "4:21 expected the properties of `defaults`, found the number `5` | write each property as `KEY: VALUE`, indented below it",
            ],
        ),
    ]);
}

#[test]
fn a_second_name_is_an_error() {
    check_items(&[
        (
            "- task:\n    - '': {comand: x}",
            &["4:11 the name is empty", "4:16 unknown property `comand` | did you mean `command`?"],
        ),
        ("- task:\n    - ' ': {}", &["4:11 the name is empty"]),
        (
            "- task:\n    - a: {name: b}",
            &["4:15 this resource already has the name `a` | use `alias` for a second name"],
        ),
    ]);
}

#[test]
fn an_invalid_resource_does_not_hide_other_errors() {
    check_all(&[(
        "banana: 1\nccm:\n  nmae: x\n  fail_on_error: 7\n  resources:\n    - exce: [a: ]\n    - task:\n        \
         - b: {comand: x, timeout: soon}\n        - c\n        - d: {require: [task#bb], ensure: gone}\n    \
         - note: [e: {text: [1]}]\n",
        &[
            "1:1 unknown key `banana` | known here: `ccm`, `data`, `hierarchy` and `overrides`",
            "3:3 unknown key `nmae` | did you mean `name`?",
            "4:18 expected a boolean, found the number `7`",
            "6:7 unknown resource type `exce` | known here: `task` and `note`",
            "8:15 unknown property `comand` | did you mean `command`?",
            "8:35 expected a whole number, found the text `soon`",
            "9:11 expected `NAME:` with its properties below it, found the text `c` | write `- c:`",
            "10:25 unknown resource `task#bb`",
            "10:43 expected `present` or `absent`, found the text `gone`",
            "11:24 expected text, found a list",
        ],
    )]);
}

#[test]
fn messages_cut_long_names_and_keep_them_on_one_line() {
    let text = manifest(&format!("- task:\n    - \"a\\n{}\":\n        name: b", "x".repeat(200)));
    let message = format!(
        "5:13 this resource already has the name `a\\n{}…` | use `alias` for a second name",
        "x".repeat(118)
    );
    check_all(&[(&text, &[&message])]);
}

#[test]
fn hints_quote_names_where_yaml_needs_quotes() {
    check_items(&[
        (
            "- task: ['echo: x']",
            &[
                "3:14 expected `NAME:` with its properties below it, found the text `echo: x` | write `- \"echo: x\":`",
            ],
        ),
        (
            "- task: ['echo #x']",
            &[
                "3:14 expected `NAME:` with its properties below it, found the text `echo #x` | write `- \"echo #x\":`",
            ],
        ),
        (
            "- task: ['*']",
            &["3:14 expected `NAME:` with its properties below it, found the text `*` | write `- \"*\":`"],
        ),
        (
            "- task: ['\"a\": b']",
            &[
                "3:14 expected `NAME:` with its properties below it, found the text `\\\"a\\\": b` | write `- \"\\\"a\\\": b\":`",
            ],
        ),
    ]);
}
