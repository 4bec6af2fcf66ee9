//! Merges of single keys of data: `# @merge`.

use crate::machine::Machine;

const HIERARCHY: &str = "hierarchy: {order: ['os:{{ Facts.os }}', 'role:{{ Facts.role }}', all]}\n";
const OVERRIDES: &str = "overrides:\n  'os:debian': {a: [1]}\n  'role:web': {a: [1, 2], b: {y: 1}, c: role}\n  all: {a: [3, 2], b: {z: 1}, c: all}\n";

fn manifest(merge: &str, global: &str) -> String {
    let hierarchy = HIERARCHY.replace("]}", &format!("], merge: {global}}}"));
    format!(
        "data:\n  # @merge {merge}\n  a: [0]\n  # @merge {merge}\n  b: {{x: 1}}\n  c: data\n{hierarchy}{OVERRIDES}ccm: {{resources: [note: [n: ]]}}\n"
    )
}

fn machine() -> Machine {
    Machine::with_facts("{os: debian, role: web}")
}

#[test]
fn keys_are_merged_as_their_annotation_says() {
    for (merge, global, expected) in [
        ("first", "first", r#"{"a":[1],"b":{"y":1},"c":"data"}"#),
        ("first", "deep", r#"{"a":[1],"b":{"y":1},"c":"all"}"#),
        ("replace", "first", r#"{"a":[3,2],"b":{"z":1},"c":"data"}"#),
        ("replace", "deep", r#"{"a":[3,2],"b":{"z":1},"c":"all"}"#),
        ("deep", "first", r#"{"a":[0,1,1,2,3,2],"b":{"x":1,"y":1,"z":1},"c":"data"}"#),
    ] {
        let text = manifest(merge, global);
        machine().catalog(&text);
        let found = machine().load(&text).data.value.to_json().to_string();
        assert_eq!(found, expected, "{merge} {global}");
    }
    let text = manifest("unique", "first").replace("  # @merge unique\n  b", "  b");
    machine().catalog(&text);
    let found = machine().load(&text).data.value.to_json().to_string();
    assert_eq!(found, r#"{"a":[0,1,2,3],"b":{"x":1},"c":"data"}"#);
    // Data from outside adds no element again.
    let machine = machine().hiera("h.yaml", "data: {a: [3, 4, 4]}");
    let found = machine.load(&text).data.value.to_json().to_string();
    assert_eq!(found, r#"{"a":[0,1,2,3,4],"b":{"x":1},"c":"data"}"#);
}

#[test]
fn a_value_that_is_not_used_is_not_evaluated() {
    let text = "data:\n  # @merge first\n  a: x\n  # @merge replace\n  b: '{{ Facts.gone }}'\nhierarchy: {order: [one, two]}\n\
                overrides: {one: {a: 1, b: '{{ Facts.gone }}'}, two: {a: '{{ Facts.gone }}', b: 2}}\nccm: {resources: [note: [n: ]]}\n";
    machine().catalog(text);
    assert_eq!(machine().load(text).data.value.to_json().to_string(), r#"{"a":1,"b":2}"#);
}

#[test]
fn unique_needs_lists() {
    let text = |data: &str, over: &str| {
        format!(
            "data:\n  # @merge unique\n  a: {data}\nhierarchy: {{order: [one]}}\noverrides: {{one: {{a: {over}}}}}\nccm: {{resources: [note: [n: ]]}}\n"
        )
    };
    for (data, over, expected) in [
        ("[1]", "'{{ [2] }}'", &[][..]),
        ("", "[1]", &[]),
        ("[1]", "", &[]),
        ("[1]", "x", &["5:22 wrong-type | @merge, data"]),
        ("{b: 1}", "[1]", &["3:6 wrong-type | @merge, data"]),
        ("'{{ 5 }}'", "[1]", &["3:6 wrong-type | @merge, data"]),
        ("[1]", "'{{ Facts.gone }}'", &["5:32 unknown-name Facts.gone | Facts.gone ?? \"\""]),
    ] {
        assert_eq!(machine().reported(&text(data, over)), expected, "{data} {over}");
    }
}

#[test]
fn merges_without_effect_are_pointed_out() {
    let hierarchy = "hierarchy: {order: [one]}\noverrides: {one: {a: {b: 2}}}\n";
    for (data, levels, expected) in [
        ("# @merge deap\n  a: {b: 1}", hierarchy, "2:5 warning: no-effect | deep"),
        ("# @mrge deep\n  a: {b: 1}", hierarchy, "2:5 warning: no-effect | @merge"),
        ("a:\n    # @merge deep\n    b: 1", hierarchy, "3:7 warning: no-effect | …"),
        ("# @merge deep\n  # @merge first\n  a: {b: 1}", hierarchy, "3:5 warning: no-effect (2:5)"),
        ("# @merge deep\n  a: {b: 1}", "", "2:5 warning: no-effect"),
    ] {
        let text = format!("data:\n  {data}\n{levels}ccm: {{resources: [note: [n: ]]}}\n");
        assert_eq!(machine().reported(&text), [expected], "{data}");
    }
    let text = "data: {a: 1}\nhierarchy: {order: [one]}\noverrides:\n  one:\n    # @merge deep\n    a: 2\nccm: {resources: [note: [n: ]]}\n";
    assert_eq!(machine().reported(text), ["5:7 warning: no-effect | data"]);
}
