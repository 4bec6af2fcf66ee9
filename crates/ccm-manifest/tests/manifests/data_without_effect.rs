//! Data that has no effect: overrides, entries of `order`, data files and assignments.

use crate::machine::Machine;

/// Returns a manifest with this data and one resource.
fn with(values: &str) -> String {
    format!("{values}\nccm: {{resources: [note: [n: ]]}}\n")
}

fn check(cases: &[(&str, &[&str])]) {
    for (values, expected) in cases {
        assert_eq!(Machine::with_facts("{os: debian}").reported(&with(values)), *expected, "{values}");
    }
}

#[test]
fn overrides_without_a_hierarchy_apply_by_default() {
    let loaded = |values: &str| {
        let machine = Machine::default();
        let text = with(values);
        let found = machine.reported(&text);
        (machine.load(&text).data.value.to_json().to_string(), found)
    };
    for (values, data, expected) in [
        ("data: {a: 1}\noverrides: {default: {a: 2}}", r#"{"a":2}"#, vec![]),
        ("data: {a: {x: 1}}\nhierarchy:\noverrides: {default: {a: {y: 2}}}", r#"{"a":{"y":2}}"#, vec![]),
        (
            "data: {a: 1}\noverrides: {'os:debian': {a: 2}}",
            r#"{"a":1}"#,
            vec!["2:1 warning: no-effect | hierarchy: {order: [\"os:{{ Facts.host.info.platform }}\"]}"],
        ),
        (
            "data: {a: 1}\noverrides: {default: {a: 2}, other: {a: 3}}",
            r#"{"a":2}"#,
            vec!["2:30 warning: no-effect | hierarchy, default"],
        ),
        ("data: {a: 1}\noverrides: {}", r#"{"a":1}"#, vec![]),
        ("data: {a: 1}\noverrides:", r#"{"a":1}"#, vec![]),
    ] {
        let (found, reported) = loaded(values);
        assert_eq!(found, data, "{values}");
        assert_eq!(reported, expected, "{values}");
    }
}

#[test]
fn overrides_and_entries_without_a_match_are_pointed_out() {
    check(&[
        ("data: {a: 1}\nhierarchy: {order: ['os:{{ Facts.os }}']}\noverrides: {'os:x': {a: 2}}", &[]),
        (
            "data: {a: 1}\nhierarchy: {order: ['famly:{{ Facts.os }}']}\noverrides: {'family:debian': {a: 2}}",
            &["3:13 warning: no-effect (2:21) | famly:debian"],
        ),
        (
            "data: {a: 1}\nhierarchy: {order: ['os:{{ Facts.os }}']}\noverrides: {'role:web': {a: 2}}",
            &["3:13 warning: no-effect | \"role:{{ Facts.role }}\", order"],
        ),
        // One typo gives one warning.
        (
            "data: {a: 1}\nhierarchy: {order: [prdo]}\noverrides: {prod: {a: 2}}",
            &["2:21 warning: no-effect | prod"],
        ),
        ("data: {a: 1}\nhierarchy: {order: [common]}", &["2:21 warning: no-effect"]),
        ("data: {a: 1}\nhierarchy: {order: [none]}\noverrides: {none: }", &[]),
        (
            "data: {a: 1}\nhierarchy: {order: []}\noverrides: {x: {a: 2}}",
            &["3:13 warning: no-effect | x, order"],
        ),
        // Errors in the hierarchy come first.
        ("data: {a: 1}\nhierarchy: {ordr: [x]}\noverrides: {y: {a: 2}}", &["2:13 unknown-key | order"]),
    ]);
}

#[test]
fn keys_of_overrides_are_those_of_data() {
    check(&[(
        "data: {level: 1}\noverrides: {default: {levle: 2, other: 3}}",
        &["2:23 warning: no-effect | level", "2:33 warning: no-effect | other:, data"],
    )]);
    let machine =
        Machine::default().hiera("f.yaml", "data: {b: 1}\noverrides: {default: {a: 1, b: 2, c: 3}}").file(
            "c.yaml",
            "data: {x: 1, d: 2}\noverrides: {default: {a: 1, b: 2, e: 3}}\nccm: {resources: [note: [m: ]]}",
        );
    let text = "data: {a: 1}\noverrides: {default: {b: 1, d: 2}}\nccm: {resources: [note: [n: ], apply: [c.yaml: ]]}";
    assert_eq!(
        machine.reported(text),
        ["f.yaml:2:35 warning: no-effect | c:, data", "/m/c.yaml:2:35 warning: no-effect | e:, data"]
    );
}

#[test]
fn a_data_file_has_data() {
    for (file, expected) in [
        ("ccm: {resources: []}", vec!["f.yaml:1:1 warning: no-effect | data:"]),
        ("data:", vec!["f.yaml:1:1 warning: no-effect | data:"]),
        ("data: {}", vec![]),
        (
            "data: {a: 2}\noverrides: {other: {a: 3}}",
            vec!["f.yaml:2:1 warning: no-effect | hierarchy: {order: [other]}"],
        ),
        ("hierarchy: {order: [default]}\noverrides: {default: {a: 2}}", vec![]),
    ] {
        let machine = Machine::default().hiera("f.yaml", file);
        assert_eq!(machine.reported(&with("data: {a: 1}")), expected, "{file}");
    }
}

#[test]
fn an_assignment_needs_a_key_of_the_data() {
    let text = "data: {workers: 4, web: {port: 80}}\noverrides: {default: {extra: 1}}\n\
                ccm: {resources: [note: [n: ], apply: [c.yaml: {data: {given: 1}}]]}";
    let machine = || {
        Machine::default()
            .hiera("f.yaml", "data: {other: 1}")
            .file("c.yaml", "data: {inner: {a: 1}}\nccm: {resources: [note: [m: ]]}")
    };
    let unused = "2:23 warning: no-effect | extra:, data";
    for (written, expected) in [
        ("workers=8", vec![unused]),
        ("worker=8", vec![" unknown-key | workers | --data-any", unused]),
        ("banana=8", vec![" unknown-key | --data-any", unused]),
        ("other=1", vec![unused]),
        ("extra=1", vec![unused]),
        ("given=1", vec![unused]),
        ("inner.a=1", vec![unused]),
        ("web.port=1", vec![unused]),
        ("web.tls=true", vec![unused]),
        ("web.prot=1", vec![" warning: unknown-key | port", unused]),
    ] {
        assert_eq!(machine().assignment(written).reported(text), expected, "{written}");
    }
    for written in ["worker=8", "web.prot=1"] {
        assert_eq!(machine().assignment(written).with_new_keys().reported(text), [unused], "{written}");
    }
}

#[test]
fn data_of_a_child_that_wins_over_its_parent_is_pointed_out() {
    let warning = "/m/c.yaml:1:8 warning: no-effect | data: {port: …}, apply";
    for (parent, child, assigned, expected) in [
        ("{port: 8080}", "{port: 80}", "", vec![warning]),
        ("{port: 80}", "{port: 80}", "", vec![]),
        ("{port: 8080}", "{port: }", "", vec![]),
        ("{port: }", "{port: 80}", "", vec![]),
        ("{other: 1}", "{port: 80}", "", vec![]),
        ("{port: 8080}", "{port: 80}", "port=1", vec![]),
    ] {
        let child = format!("data: {child}\nccm: {{resources: [note: [m: ]]}}");
        let text = format!("data: {parent}\nccm: {{resources: [note: [n: ], apply: [c.yaml: ]]}}");
        let mut machine = Machine::default().file("c.yaml", &child);
        if !assigned.is_empty() {
            machine = machine.assignment(assigned);
        }
        assert_eq!(machine.reported(&text), expected, "{parent} {child}");
    }
    let passed = "data: {port: 8080}\nccm: {resources: [note: [n: ], apply: [c.yaml: {data: {port: 1}}]]}";
    let child = "data: {port: 80}\nccm: {resources: [note: [m: ]]}";
    assert!(Machine::default().file("c.yaml", child).reported(passed).is_empty());
}

/// An assignment into a map of the parent keeps the rest of the map in a child.
#[test]
fn an_assignment_is_merged_into_inherited_data() {
    let child = "ccm: {resources: [note: [m: {text: '{{ Data.web }}x'}]]}";
    let text = "data: {web: {port: 80}}\nccm: {resources: [apply: [c.yaml: ]]}";
    let machine = Machine::default().file("c.yaml", child).assignment("web.tls=true");
    let catalog = machine.catalog(text);
    assert_eq!(crate::machine::shown(&catalog.resources[0], "text"), r#""{\"port\":80,\"tls\":true}x""#);
}
