//! Data of a manifest: hierarchy, overrides, data files, assignments and annotations.

use ccm_model::{Diagnostic, Severity};

use crate::machine::Machine;

const FACTS: &str =
    "{os: debian, role: web, empty: '', host: {info: {platformFamily: debian}}, site: {name: x}}";

fn machine() -> Machine {
    Machine::with_facts(FACTS).variable("STAGE", "prod")
}

/// Returns a manifest with this data and one resource.
fn with(values: &str) -> String {
    format!("{values}\nccm: {{resources: [note: [n: ]]}}\n")
}

#[test]
fn layers_are_merged_in_order() {
    const DATA: &str = "data: {a: 1, list: [1], map: {x: 1, y: 1}}\n";
    const OVERRIDES: &str = "overrides: {'os:debian': {list: [2], map: {x: 2}, b: '{{ Facts.role }}'}, 'role:web': {a: 3, list: [3], map: {z: 3}}}\n";
    for (hierarchy, expected) in [
        ("", r#"{"a":1,"list":[1],"map":{"x":1,"y":1}}"#),
        ("{order: []}", r#"{"a":1,"list":[1],"map":{"x":1,"y":1}}"#),
        (
            "{order: ['os:{{ Facts.os }}', 'role:{{ Facts.role }}']}",
            r#"{"a":1,"list":[2],"map":{"x":2},"b":"web"}"#,
        ),
        ("{order: ['os:gone', 'role:{{ Facts.role }}', 'os:debian']}", r#"{"a":3,"list":[3],"map":{"z":3}}"#),
        (
            "{order: ['os:{{ Facts.os }}', 'role:${ Facts.role }', 'os:debian'], merge: deep}",
            r#"{"a":3,"list":[1,2,3],"map":{"x":2,"y":1,"z":3},"b":"web"}"#,
        ),
        // An entry with only empty values is skipped.
        (
            "{order: ['{{ Facts.empty }}', '{{ Facts.gone }}', 'x{{ Facts.gone }}', 'role:web']}",
            r#"{"a":3,"list":[3],"map":{"z":3}}"#,
        ),
        (
            "{order: [\"{{ lookup('facts.gone') }}\", '{{ Facts.site.gone }}', \"{{ lookup('facts.site.gone') }}\", 'role:web']}",
            r#"{"a":3,"list":[3],"map":{"z":3}}"#,
        ),
        ("{order: ['{{ Facts.gone ?? \"role\" }}:web']}", r#"{"a":3,"list":[3],"map":{"z":3}}"#),
        // An entry with one empty value of two is kept.
        ("{order: ['{{ Facts.gone }}role:{{ Facts.role }}']}", r#"{"a":3,"list":[3],"map":{"z":3}}"#),
    ] {
        let text = with(&format!("{DATA}{OVERRIDES}hierarchy: {hierarchy}"));
        machine().catalog(&text);
        assert_eq!(machine().load(&text).data.value.to_json().to_string(), expected, "{hierarchy}");
    }
}

#[test]
fn data_files_and_assignments_override_the_data() {
    let machine = machine()
        .hiera("one.yaml", "data: {list: [5], map: {y: 5}, role: '{{ Facts.role }}'}")
        .hiera(
            "two.yaml",
            "data: {map: {y: 6}}\nhierarchy: {order: ['{{ Facts.role }}']}\noverrides: {web: {w: 1}}",
        )
        .assignment("map.z=7")
        .assignment("text='5'");
    let loaded = machine.load(&with("data: {list: [1], map: {x: 1, y: 1}}"));
    assert_eq!(
        loaded.data.value.to_json().to_string(),
        r#"{"list":[1,5],"map":{"x":1,"y":6,"z":7},"role":"web","w":1,"text":"5"}"#
    );
    for written in ["=5", "x"] {
        let actual = Machine::default().assignment(written).reported(&with("data: {a: 1}"));
        assert_eq!(actual, [" syntax | KEY=VALUE, port=8080, web.port=8080"]);
    }
    let actual = Machine::default().hiera("f.yaml", "dta: {a: 1}").reported(&with(""));
    assert_eq!(actual, ["f.yaml:1:1 unknown-key | data"]);
}

#[test]
fn secrets_of_all_layers_are_found() {
    let machine = machine()
        .hiera("f.yaml", "data:\n  # @sensitive\n  key: over-there\n")
        .file("c.yaml", "data:\n  # @sensitive\n  inner: within\nccm: {resources: [note: [m: ]]}");
    let text = "data:\n  # @sensitive\n  own: here\nccm: {resources: [note: [n: ], apply: [c.yaml: ]]}\n";
    let text = text
        .replace("], apply", "]}, {apply")
        .replace("[note: [n: ]}", "[{note: [n: ]}")
        .replace("c.yaml: ]]", "c.yaml: ]}]");
    assert_eq!(machine.load(&text).data.secrets, ["here", "over-there", "within"]);
}

#[test]
fn errors_in_values_are_reported() {
    machine().check_all(&[
        ("data: [a]\nccm: {resources: [note: [n: ]]}", &[
    "1:7 wrong-type | KEY: VALUE",
]),
        ("data: {a: '{{ Data.b }}', b: '{{ Captures.x }}'}\nccm: {resources: [note: [n: ]]}", &[
    "1:14 late-value | a: &a VALUE, b: *a",
    "1:33 late-value | a: &a VALUE, b: *a",
]),
        ("data: {a: \"{{ lookup('data.b') }}\"}\nccm: {resources: [note: [n: ]]}", &[
    "1:14 late-value | a: &a VALUE, b: *a",
]),
        ("data: {a: '{{ Facts.rloe }}', b: [x, {c: '{{ Environ.STAGE + }}'}]}\nccm: {resources: [note: [n: ]]}", &[
    "1:21 unknown-name Facts.rloe | role",
    "1:62 expression-syntax",
]),
        ("hierarchy: {order: ['{{ Facts.host.info.platformfamily }}']}\nccm: {resources: [note: [n: ]]}", &[
    "1:41 unknown-name Facts.host.info.platformfamily | platformFamily",
]),
        ("hierarchy: {order: [\"{{ lookup('facts.host.inof') }}\"]}\nccm: {resources: [note: [n: ]]}", &[
    "1:25 unknown-name facts.host.inof | facts.host.info | lookup('facts.host.inof', '')",
]),
        // A data file uses facts of another machine, so that a missing fact is no error.
        ("hierarchy: {order: ['{{ Facts.memory.virtual }}']}\nccm: {resources: [note: [n: ]]}", &[]),
        ("hierarchy: {order: ['{{ Facts.host.memory_gone }}', '{{ Environ.GONE }}', '{{ Fatcs.os }}', '{{ Facts.os']}\nccm: {resources: [note: [n: ]]}", &[
    "1:36 unknown-name Facts.host.memory_gone",
    "1:65 unknown-name Environ.GONE | GONE, .env | Environ.GONE ?? \"DEFAULT\"",
    "1:79 unknown-name | Facts",
    "1:94 expression-syntax | }} | {{ \"{{\" }}, {{",
]),
        ("hierarchy: [a]\noverrides: {a: 1, b: [x]}\nccm: {resources: [note: [n: ]]}", &[
    "1:12 wrong-type | order:",
    "2:16 wrong-type (2:13)",
    "2:22 wrong-type (2:19)",
]),
        ("hierarchy: {order: [a], merge: deap, mrege: x}\noverrides: {a: {x: '{{ Facts.gone }}'}, b: {x: '{{ Facts.gone }}'}}\nccm: {resources: [note: [n: ]]}", &[
    "1:32 invalid-value | deep",
    "1:38 unknown-key | merge",
    "2:30 unknown-name Facts.gone | Facts.gone ?? \"\"",
]),
    ]);
}

#[test]
fn all_violated_annotations_are_reported() {
    let text = "\
data:
  # @require
  name:
  # @validate isIP(value)
  address: 10.0.0.300
  # @validate isDuration(value) && isShellSafe(value)
  pause: 5 bananas
  inner:
    # @validate value > 10
    count: 5
    # @validate value >
    broken: 5
    # @validate isIPP(value)
    unknown: 5
    # @validate value + 1
    odd: 5
    # @validat isIP(value)
    misspelt: 5
ccm: {resources: [note: [n: ]]}
";
    let expected = [
        "3:3 missing (2:5) | data, --data",
        "5:3 validation-failed (4:15)",
        "7:3 validation-failed (6:15)",
        "10:5 validation-failed (9:17)",
        "12:5 expression-syntax (11:24)",
        "14:5 unknown-function (13:17) | isIP",
        "16:5 wrong-type (15:17) | isIP(value)",
        "17:7 warning: no-effect | @validate",
    ];
    machine().check_all(&[(text, &expected)]);
    let met = text.replace("name:\n", "name: x\n");
    assert_eq!(machine().assignment("name=x").reported(&met).len(), machine().reported(text).len() - 1);
    let from_outside = machine().assignment("name=x").reported(text);
    assert_eq!(from_outside.len(), machine().reported(text).len() - 1);
}

#[test]
fn annotations_outside_of_data_cause_a_warning() {
    let text = "\
data: {password: plain, role: its-own}
hierarchy: {order: [common]}
overrides:
  common:
    # @sensitive
    password: hunter2
    # @require
    role: web-server
  # @sensitive
  elsewhere: {token: , role: x}
ccm:
  # @require
  resources:
    - note:
        # @validate isInt(value)
        - n: {text: '# @sensitive'}
        # for @sensitive people
";
    machine().check_all(&[(
        text,
        &[
            "7:7 warning: no-effect | data",
            "10:3 warning: no-effect | elsewhere, order",
            "10:15 warning: no-effect | token:, data",
            "12:5 warning: no-effect | data",
            "15:11 warning: no-effect | data",
        ],
    )]);
    // Annotations of an override hold on every machine, and for the values that it replaces.
    assert_eq!(machine().load(text).data.secrets, ["hunter2", "its-own", "plain", "web-server"]);
}

#[test]
fn annotations_of_data_files_apply_to_the_merged_data() {
    let over =
        "data:\n  # @require\n  name:\n  # @validate value < 10\n  count: 5\n  # @sensitive\n  key: first\n";
    let file = || machine().hiera("f.yaml", over);
    let text = "ccm: {resources: [note: [n: ]]}";
    assert_eq!(file().reported(text), ["f.yaml:3:3 missing (f.yaml:2:5) | data, --data"]);
    let named = || file().assignment("name=x");
    assert_eq!(named().reported(text), [""; 0]);
    assert_eq!(named().assignment("key=second").load(text).data.secrets, ["first", "second"]);
    assert_eq!(
        named().hiera("later.yaml", "data: {count: 50}").reported(text),
        ["f.yaml:5:3 validation-failed (f.yaml:4:15) | …"]
    );
}

#[test]
fn unavailable_data_causes_no_second_error() {
    let text = "data:\n  # @require\n  given:\nccm: {resources: [note: [n: {text: '{{ Data.extra.x }} {{ lookup(\"data.more\") }}'}]]}";
    let broken = machine().hiera("f.yaml", "data: [").reported(text);
    assert_eq!(broken.len(), 1, "{broken:?}");
    assert!(broken[0].starts_with("f.yaml:"), "{broken:?}");
    let by_facts = format!(
        "hierarchy: {{order: ['{{{{ Facts.role }}}}']}}\noverrides: {{web: {{extra: {{x: 1}}}}}}\n{text}"
    );
    let broken = machine().without_facts().reported(&by_facts);
    assert_eq!(broken, ["facts.yaml:1:4 syntax"]);
    let nameless = machine().reported("ccm: {resources: [task: ['{{ nil }}': ]]}");
    assert_eq!(nameless, ["1:26 missing"]);
}

#[test]
fn a_misspelt_fact_causes_a_warning() {
    let entries = "['{{ Facts.rloe }}', '{{ Facts.hots.info.os }}', '{{ Facts.site }}', \"{{ lookup('facts.rloe') }}\", \"{{ lookup('facts.rloe', '') }}\"]";
    let text = format!("hierarchy: {{order: {entries}}}\nccm: {{resources: [note: [n: ]]}}");
    machine().check_all(&[(
        &text,
        &[
            "1:31 warning: unknown-name | role",
            "1:51 warning: unknown-name | host",
            // The fact is a map, and no name of a level.
            "1:69 warning: no-effect | …",
            "1:93 warning: unknown-name | facts.role",
            "1:123 warning: unknown-name | facts.role",
        ],
    )]);
}

#[test]
fn a_refused_value_shows_its_source() {
    let data = "data:\n  # @validate value < 10\n  n: 1\n  # @require\n  own: x\n";
    let text = format!(
        "{data}hierarchy: {{order: ['over']}}\noverrides: {{over: {{n: 20}}}}\nccm: {{resources: [note: [n: ]]}}"
    );
    let actual = |machine: Machine, text: &str| {
        let found = machine.load(text).diagnostics;
        found.into_iter().filter_map(|found| found.hints.into_iter().next_back()).collect::<Vec<_>>()
    };
    assert_eq!(actual(machine(), &text), ["the value comes from the override `over`"]);
    assert_eq!(
        actual(machine().hiera("f.yaml", "data: {n: 30}").assignment("own=''"), &text),
        ["the value comes from f.yaml", "the value comes from `--data own=…`"]
    );
    let child = format!("{}ccm: {{resources: [note: [n: ]]}}", data.replace("n: 1", "n:"));
    for apply in [
        "data: {n: 40}\nccm: {resources: [apply: [c.yaml: ]]}",
        "ccm: {resources: [apply: [c.yaml: {data: {n: 40}}]]}",
    ] {
        let machine = machine().file("c.yaml", &child);
        assert_eq!(actual(machine, apply), ["the value comes from the manifest that applies this one"]);
    }
}

/// Values that read a file which does not exist, and the layers that replace or keep them.
#[test]
fn a_replaced_value_is_not_evaluated() {
    const SECRET: &str = "\"{{ file('/secret') }}\"";
    let read = |machine: &Machine, text: &str| {
        let loaded = machine.load(&with(text));
        let is_error = |found: &Diagnostic| found.severity == Severity::Error;
        (!loaded.diagnostics.iter().any(is_error), !machine.read.borrow().is_empty())
    };
    let (used, unused) = ((false, true), (true, false));
    for (data, expected) in [
        ("data: {a: SECRET}", used),
        ("data: {a: SECRET}\nhierarchy: {order: [o]}\noverrides: {o: {a: x}}", unused),
        ("data: {a: {b: SECRET}}\nhierarchy: {order: [o]}\noverrides: {o: {a: {c: x}}}", unused),
        ("data: {a: SECRET}\nhierarchy: {order: [o]}\noverrides: {o: {a: [x]}}", unused),
        ("data: {a: x}\nhierarchy: {order: [p, o]}\noverrides: {o: {a: SECRET}, p: {a: y}}", unused),
        ("data: {a: SECRET}\nhierarchy: {order: [o], merge: deep}\noverrides: {o: {a: x}}", unused),
        (
            "data: {a: x}\nhierarchy: {order: [o, p], merge: deep}\noverrides: {o: {a: SECRET}, p: {a: y}}",
            unused,
        ),
        (
            "data: {a: x}\nhierarchy: {order: [p, o], merge: deep}\noverrides: {o: {a: SECRET}, p: {a: y}}",
            used,
        ),
        ("data: {a: {b: SECRET}}\nhierarchy: {order: [o], merge: deep}\noverrides: {o: {a: {c: x}}}", used),
        ("data: {a: {b: SECRET}}\nhierarchy: {order: [o], merge: deep}\noverrides: {o: {a: {b: x}}}", unused),
        ("data: {a: {b: SECRET}}\nhierarchy: {order: [o], merge: deep}\noverrides: {o: {a: x}}", unused),
        ("data: {a: [SECRET]}\nhierarchy: {order: [o], merge: deep}\noverrides: {o: {a: [x]}}", used),
        ("data: {a: [SECRET]}\nhierarchy: {order: [o], merge: deep}\noverrides: {o: {a: x}}", unused),
        // The value of the expression may be a list, to which the other is added.
        ("data: {a: SECRET}\nhierarchy: {order: [o], merge: deep}\noverrides: {o: {a: [x]}}", used),
        ("data: {a: TEXT}\nhierarchy: {order: [o], merge: deep}\noverrides: {o: {a: [x]}}", unused),
    ] {
        let data = data.replace("SECRET", SECRET).replace("TEXT", "\"x {{ file('/secret') }}\"");
        assert_eq!(read(&Machine::default(), &data), expected, "{data}");
    }
    for (data, path, expected) in [
        ("data: {a: SECRET, b: 1}", "a=x", unused),
        ("data: {a: SECRET, b: 1}", "b=x", used),
        ("data: {a: {c: SECRET}}", "a.c=x", unused),
        ("data: {a: {c: SECRET}}", "a.d=x", used),
    ] {
        let data = data.replace("SECRET", SECRET);
        assert_eq!(read(&Machine::default().assignment(path), &data), expected, "{data} {path}");
        assert_eq!(read(&Machine::default().assignment(path).hiera("f.yaml", &data), "data: {}"), expected);
    }
    let lower = format!("data: {{a: {SECRET}}}");
    let files = Machine::default().hiera("f.yaml", &lower).hiera("g.yaml", "data: {a: x}");
    assert_eq!(read(&files, "data: {a: y}"), unused);
    let files = Machine::default().hiera("g.yaml", "data: {a: x}").hiera("f.yaml", &lower);
    assert_eq!(read(&files, "data: {a: y}"), used);
}
