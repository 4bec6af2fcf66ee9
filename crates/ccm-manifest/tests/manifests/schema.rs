//! The JSON schema agrees with the loader.

use std::sync::LazyLock;

use ccm_manifest::schema;
use ccm_model::{Node, NodeValue, ScalarKind, SourceId};
use jsonschema::Validator;
use serde_json::json;

use crate::fake::{TYPES, catalog, loaded, manifest};
use crate::machine::{self, Machine};

static VALIDATOR: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::draft202012::new(&schema(&TYPES)).expect("a schema"));

/// Converts a manifest as an editor does.
fn json_of(node: &Node) -> serde_json::Value {
    match &node.value {
        NodeValue::List(elements) => elements.iter().map(json_of).collect(),
        NodeValue::Map(map) => {
            map.entries().iter().map(|entry| (entry.key.text.to_string(), json_of(&entry.value))).collect()
        }
        NodeValue::Scalar(scalar) => match scalar.kind() {
            ScalarKind::Null => serde_json::Value::Null,
            ScalarKind::Bool(value) => value.into(),
            ScalarKind::Int(value) => value.into(),
            ScalarKind::Float(value) => value.into(),
            ScalarKind::Text => scalar.text.to_string().into(),
        },
    }
}

fn parsed(text: &str) -> serde_json::Value {
    let tree = ccm_yaml::parse(SourceId(0), text, &ccm_yaml::Limits::default()).expect("YAML");
    tree.as_ref().map_or(serde_json::Value::Null, json_of)
}

fn is_valid(text: &str) -> bool {
    VALIDATOR.is_valid(&parsed(text))
}

#[test]
fn the_schema_is_valid() {
    let schema = schema(&TYPES);
    jsonschema::draft202012::meta::validate(&schema).expect("a schema of its draft");
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert!(jsonschema::draft202012::new(&ccm_manifest::schema(&[])).is_ok());
}

#[test]
fn the_schema_accepts_what_the_loader_accepts() {
    for items in [
        "- task: [a: ]",
        "- task: [a: {}, b: {command: x}]\n- note: {name: c, text: y}",
        "- task: [a, 7, 'b: c', {d: {command: x}}, {defaults: {timeout: 5}}]",
        "- task: []\n- note: \n- note: [a: ]",
        "- task:\n    - defaults: {command: x, ensure: absent, provider: shell, require: [note#n]}\n    - a:\n- note: [n: ]",
        "- task:\n    - a:\n    - defaults:\n- task: [defaults: {}]",
        "- task: [a: {alias: b, ensure: present, provider: direct, require: [], subscribe: [note#n]}]\n- note: [n: ]",
        "- task: [a: {alias: , ensure: ~, provider: ~, require: ~, subscribe: , command: ~, level: ~, guard: ~}]",
        "- task: [a: {command: 5, args: [x, 5, true], timeout: 0, level: loud, guard: x}, b: {guard: [x, y]}]",
        "- task: [a: {refreshonly: true}, b: {refresh_only: true, refreshonly: ~}, c: {refresh_only: , refreshonly: true}]",
        "- task: {name: 5, environment: {A: b, C: 5}}",
        "- task: ['a b#c/d': {alias: 5}, 7: ]\n- note: [x: {require: ['task#a b#c/d']}]",
        "- task: [a: {control: {if: 'true', unless: ' 1 == 2'}}, b: {control: {if: true}}, c: {control: }]",
        "- task: [a: {timeout: '{{ 5 }}', refresh_only: '${ false }', level: \"{{ 'loud' }}\", ensure: \"{{ 'absent' }}\"}]",
        "- task: [a: {command: x, args: '{{ [1] }}', environment: '{{ {\"a\": 1} }}', guard: '{{ [\"x\"] }}'}]",
        "- task: [a: {args: ['{{ 1 }}'], command: x, environment: {'{{ 1 }}': '{{ 2 }}'}}]",
        "- task: [a: {provider: \"{{ 'shell' }}\", require: '{{ [] }}', subscribe: [\"{{ 'note#n' }}\"]}]\n- note: ['{{ \"n\" }}': ]",
        "- foreach: [a, b]\n  task: ['{{ Item }}': ]",
        "- task: {name: '{{ Item.key }}'}\n  foreach: {a: 1}",
        "- foreach: '{{ [1] }}'\n  task: [defaults: {timeout: '{{ Item }}'}, a: ]",
        "- foreach: []\n  task:",
        "- task: [defaults: {timeout: '{{ 5 }}'}, a: ]\n- task: {name: '{{ 5 }}', timeout: '{{ 5 }}'}",
    ] {
        let text = manifest(items);
        catalog(&text);
        assert!(is_valid(&text), "{items}");
    }
    for settings in [
        "name: x, pre_message: y, post_message: z, fail_on_error: true",
        "name: 5, pre_message: , fail_on_error: ~",
        "name: '{{ 5 }}', fail_on_error: '{{ true }}', resources_template: ~",
    ] {
        let text = format!("ccm: {{{settings}, resources: [task: [a: ]]}}");
        catalog(&text);
        assert!(is_valid(&text), "{text}");
    }
}

#[test]
fn the_schema_describes_data() {
    for around in [
        "data: {a: 1, b: [x, {c: '{{ 5 }}'}]}",
        "data:\nhierarchy:\noverrides:",
        "hierarchy: {order: [a, 5, '{{ 5 }}'], merge: deep}\noverrides: {a: {b: c}, d: }",
        "hierarchy: {order: , merge: }",
        "hierarchy: {order: [a], data_dir: data}\noverrides: {a: {b: c}}",
        "hierarchy: {order: [a], data_dir: /etc/x.d}\noverrides: {a: {b: c}}",
        "hierarchy: {order: , data_dir: }",
    ] {
        let text = format!("{around}\nccm: {{resources: [task: [a: ]]}}");
        catalog(&text);
        assert!(is_valid(&text), "{text}");
    }
    let machine =
        Machine::default().file("t.j2", "- note: [a: ]").file("c.yaml", "ccm: {resources: [note: [b: ]]}");
    let schema = schema(&machine::TYPES);
    let validator = jsonschema::draft202012::new(&schema).expect("a schema");
    for text in [
        "ccm: {resources_template: t.j2}",
        "ccm: {resources_template: t.j2, name: x}",
        "ccm: {resources_template: t.j2, resources: [note: [b: ]]}",
        "ccm: {resources_template: t.j2, resources: }",
        "ccm: {resources: [apply: [c.yaml: {noop: '{{ true }}', allow_apply: false, data: {a: 1}}]]}",
        "data: {d: {}}\nccm: {resources: [apply: [c.yaml: {data: '{{ Data.d }}'}]]}",
        "ccm: {resources: [copy: [/a: {source: '{{ \"t.j2\" }}'}]]}",
    ] {
        machine.catalog(text);
        assert!(validator.is_valid(&parsed(text)), "{text}");
    }
}

#[test]
fn the_schema_refuses_what_the_loader_refuses() {
    for items in [
        "- tsak: [a: ]",
        "- file: [a: ]",
        "- task",
        "- {}",
        "- ",
        "- task: [a: ]\n  note: [b: ]",
        "- foreach: [a]",
        "- foreach: [a]\n  task: [a: ]\n  note: [b: ]",
        "- foreach:\n  task: [a: ]",
        "- foreach: a\n  task: [a: ]",
        "- foreach: 5\n  task: [a: ]",
        "- each: [a]\n  task: [a: ]",
        "- task: [a: {foreach: [b]}]",
        "- task: x",
        "- task: {command: x}",
        "- task: {name: ''}",
        "- task: {name: }",
        "- task: {name: [a]}",
        "- task: {name: a, defaults: {}}",
        "- task: [[/bin/true]]",
        "- task: [a: x]",
        "- task: [a: [command: x]]",
        "- task:\n    - a:\n      command: x",
        "- task:\n    - name: a\n      command: x",
        "- task: [{}]",
        "- task: ['': ]",
        "- task: [a: {name: b}]",
        "- task: [defaults: {alias: x}, a: ]",
        "- task: [defaults: {name: x}, a: ]",
        "- task: [defaults: {}, defaults: {}, a: ]",
        "- task: [defaults: {comand: x}, a: ]",
        "- task: [a: {comand: x}]",
        "- task: [a: {timeout: soon}]",
        "- task: [a: {args: x}]",
        "- task: [a: {level: lod}]",
        "- task: [a: {ensure: gone}]",
        "- note: [a: {ensure: absent}]",
        "- task: [a: {provider: shel}]",
        "- task: [a: {provider: docker}]",
        "- task: [a: {user: root}]",
        "- task: [a: {control: {if: '{{ true }}'}}]",
        "- task: [a: {control: {unless: '${ true }'}}]",
        "- task: [a: {control: {when: 'true'}}]",
        "- task: [a: {control: 'true'}]",
        "- task: [a: {timeout: 'in {{ 5'}]",
        "- task: [a: {alias: ''}]",
        "- task: [a: {require: note#n}]\n- note: [n: ]",
        "- task: [a: {require: [n]}]\n- note: [n: ]",
        "- task: [a: {require: ['#n']}]\n- note: [n: ]",
        "- task: [a: {subscribe: ['note#']}]\n- note: [n: ]",
        "- task: [a: {refresh_only: true, refreshonly: true}]",
    ] {
        let text = manifest(items);
        assert_eq!(loaded(&text).catalog, None, "{items}");
        assert!(!is_valid(&text), "{items}");
    }
    for text in [
        "",
        "[]",
        "{}",
        "ccm:",
        "ccm: {}",
        "ccm: {resources: }",
        "ccm: {resources: }",
        "ccm: {name: '', resources: [task: [a: ]]}",
        "ccm: {name: [x], resources: [task: [a: ]]}",
        "ccm: {fail_on_error: 'yes', resources: [task: [a: ]]}",
        "ccm: {executors: {}, resources: [task: [a: ]]}",
        "ccm: {banana: x, resources: [task: [a: ]]}",
        "{data: [], ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {}, ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {order: x}, ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {order: ['']}, ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {order: [], merge: last}, ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {order: [], data_dir: ''}, ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {order: [], data_dir: [x]}, ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {order: [], data_dir: 'x{{ Facts.y }}'}, ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {order: [], data_dir: 'x${ Facts.y }'}, ccm: {resources: [task: [a: ]]}}",
        "{hierarchy: {order: [], by: x}, ccm: {resources: [task: [a: ]]}}",
        "{overrides: {a: x}, ccm: {resources: [task: [a: ]]}}",
        "{overrides: [], ccm: {resources: [task: [a: ]]}}",
        "ccm: {resources_template: sub/t.j2}",
        "ccm: {resources_template: }",
        "resources: [task: [a: ]]",
    ] {
        assert_eq!(loaded(text).catalog, None, "{text}");
        assert!(!is_valid(text), "{text}");
    }
}

#[test]
fn the_schema_describes_properties() {
    let schema = schema(&TYPES);
    let task = &schema["$defs"]["task"];
    assert_eq!(task["description"], "Does something.");
    assert_eq!(task["properties"]["command"]["description"], "Command to run.");
    assert_eq!(task["properties"]["ensure"]["anyOf"][0]["enum"], json!(["present", "absent", null]));
    assert_eq!(task["properties"]["provider"]["anyOf"][0]["enum"], json!(["direct", "shell", null]));
    assert_eq!(task["properties"]["refreshonly"]["description"], "Alias of `refresh_only`.");
    assert!(task["properties"]["require"]["description"].is_string());
    assert_eq!(schema["$defs"]["task.single"]["required"], json!(["name"]));
    let ccm = &schema["properties"]["ccm"]["properties"];
    for key in ["name", "pre_message", "post_message", "fail_on_error", "resources", "resources_template"] {
        assert!(ccm[key]["description"].is_string(), "{key}");
    }
}

#[test]
fn ensure_may_match_a_pattern() {
    let validator = jsonschema::draft202012::new(&schema(&machine::TYPES)).expect("a schema");
    for (ensure, expected) in [
        ("present", Some("present")),
        ("5.10", Some("5.10")),
        ("1:2~rc1-0ubuntu1", Some("1:2~rc1-0ubuntu1")),
        ("'{{ 5 }}'", Some("5")),
        ("~", None),
    ] {
        let text = manifest(&format!("- copy: [/a: {{ensure: {ensure}}}]"));
        assert!(validator.is_valid(&parsed(&text)), "{ensure}");
        let catalog = Machine::default().catalog(&text);
        assert_eq!(catalog.resources[0].ensure.as_ref().map(|ensure| &*ensure.value), expected, "{ensure}");
    }
    for (ensure, expected) in [("[5.10]", Some("3:27 wrong-type")), ("absent", None)] {
        let text = manifest(&format!("- copy: [/a: {{ensure: {ensure}}}]"));
        assert!(!validator.is_valid(&parsed(&text)), "{ensure}");
        // The type refuses values that the pattern allows.
        assert_eq!(Machine::default().reported(&text), expected.into_iter().collect::<Vec<_>>());
    }
}
