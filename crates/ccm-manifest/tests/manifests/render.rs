//! Loading a rendered manifest results in the same catalog.

use std::collections::{BTreeMap, BTreeSet};

use ccm_data::nodes;
use ccm_expr::Value;
use ccm_manifest::{LoadResult, render};
use ccm_model::{Dependency, Resource};
use ccm_testkit::Thing;
use proptest::prelude::*;

use crate::fake::{Apply, line};
use crate::machine::Machine;

fn loaded<'m>(text: &str, machine: &'m Machine) -> LoadResult<'m> {
    machine.load_as(text, &[&Thing, &Apply])
}

fn rendered(text: &str, machine: &Machine) -> String {
    let mut loaded = loaded(text, machine);
    let catalog = loaded.catalog.take().unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics));
    render(&catalog, &loaded).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Returns a catalog without its spans.
fn meaning(text: &str, machine: &Machine) -> Vec<String> {
    let loaded = loaded(text, machine);
    let catalog = loaded.catalog.unwrap_or_else(|| panic!("{:#?}\n{text}", loaded.diagnostics));
    let ids = |edges: &[Dependency]| -> BTreeSet<String> {
        edges.iter().map(|edge| catalog.resource(edge.on).id.to_string()).collect()
    };
    let one = |resource: &Resource| {
        let properties: BTreeMap<String, String> = resource
            .properties
            .given()
            .map(|entry| (entry.key.text.to_string(), format!("{:?}", nodes::to_value(&entry.value))))
            .collect();
        format!(
            "{:?} {:?} {:?} {:?} {:?} {:?} {:?} {properties:?}",
            resource.id,
            resource.aliases,
            resource.ensure.as_ref().map(|ensure| &ensure.value),
            resource.provider.as_ref().map(|provider| &provider.value),
            ids(&resource.require),
            ids(&resource.subscribe),
            resource.control,
        )
    };
    let settings = format!("{:?} {:?} {:?}", catalog.name, catalog.pre_message, catalog.fail_on_error);
    std::iter::once(settings).chain(catalog.resources.iter().map(one)).collect()
}

/// Generates texts with parts of expressions.
fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[${}\\\\\"'a F.:#\n-]{1,16}",
        "\\PC{1,12}",
        prop::sample::select(vec![
            "yes",
            "no",
            "0644",
            "5.10",
            "2026-11-20",
            "1:30",
            "null",
            "~",
            "",
            " x",
            "x "
        ])
        .prop_map(str::to_owned),
    ]
}

proptest! {
    #[test]
    fn rendering_preserves_the_catalog(
        texts in prop::collection::vec(any_text(), 6),
        count in 1_usize..6,
        edges in prop::collection::vec(any::<prop::sample::Index>(), 12),
    ) {
        let facts = Value::map([
            ("texts", Value::list(texts.iter().map(|text| Value::text(&**text)))),
            ("more", Value::map([(&*texts[0], Value::list([Value::Int(-7), Value::Float(0.5)]))])),
        ]);
        let machine = Machine::knowing(facts);
        let mut manifest = "ccm:\n  pre_message: '{{ Facts.texts[5] }}'\n  resources:\n    - thing:\n".to_owned();
        for (index, edge) in edges.iter().take(count).enumerate() {
            let on = format!("n{} {{{{ Facts.texts[1] }}}}", edge.index(index.max(1)));
            let edge = match index {
                0 => String::new(),
                index if index % 2 == 0 => format!("            require: [\"thing#{on}\"]\n"),
                _ => format!("            subscribe: [\"thing#{on}\"]\n"),
            };
            manifest += &format!(
                "        - \"n{index} {{{{ Facts.texts[1] }}}}\":\n            text: \"{{{{ Facts.texts[0] }}}}\"\n            shell: \"${{HOME}} \\\\${{x}} {{{{ Facts.texts[2] }}}}\"\n            words: \"{{{{ Facts.texts[3] }}}}\"\n            list: [\"{{{{ Facts.texts[4] }}}}\", 0644, \"a \\\\${{b}}\"]\n            map: \"{{{{ Facts.more }}}}\"\n            count: 007\n{edge}"
            );
        }
        let first = rendered(&manifest, &machine);
        // As text, this is no number in data, but a number for the type.
        let same = |text: &str| meaning(text, &machine).join("\n").replace(r#"Text(\"007\")"#, "Int(7)");
        prop_assert_eq!(same(&first), same(&manifest), "{}", first);
        prop_assert_eq!(rendered(&first, &machine), first);
    }
}

#[test]
fn rendering_merges_children_into_one_list() {
    let machine = Machine::default();
    machine.write("/m/sub/child.yaml", "data: {word: own}\nccm:\n  resources:\n    - thing:\n        - b: {source: x.txt, text: '{{ Data.word }}'}\n        - c: {require: [thing#b]}\n");
    machine.write("/m/quiet.yaml", "ccm: {resources: [{thing: {name: q}}]}\n");
    let manifest = "\
data: {word: mine}
ccm:
  name: all
  fail_on_error: true
  resources:
    - thing:
        - a: {}
        - off: {control: {if: 'false'}}
    - apply:
        - sub/child.yaml: {require: [thing#a]}
        - quiet.yaml: {noop: true}
    - thing:
        - d: {subscribe: [apply#sub/child.yaml], require: [thing#off, apply#quiet.yaml]}
        - defaults: {count: 0x10}
    - thing: {name: defaults, text: yes}
";
    let expected = "\
# left out: thing#off: `if` is false
# left out: thing#q: its manifest is in noop
ccm:
  name: all
  fail_on_error: true
  resources:
    - thing:
        - a: {}
    - thing:
        - b:
            require:
              - thing#a
            source: /m/sub/x.txt
            text: own
    - thing:
        - c:
            require:
              - thing#b
              - thing#a
    - thing:
        - d:
            require:
              - thing#a
            subscribe:
              - thing#b
              - thing#c
            count: 16
    - thing:
        name: defaults
        text: \"yes\"
";
    let text = rendered(manifest, &machine);
    assert_eq!(text, expected);
    assert_eq!(
        rendered(&text, &machine).lines().collect::<Vec<_>>(),
        expected.lines().skip(2).collect::<Vec<_>>()
    );
}

#[test]
fn numbers_stay_numbers_in_free_form_properties() {
    let manifest = "ccm:\n  resources:\n    - thing:\n        - a: {text: 0644, list: [5.10], map: {number: 0644, text: '0644'}}\n";
    let text = rendered(manifest, &Machine::default());
    let expected = "            text: \"0644\"\n            list:\n              - \"5.10\"\n            map:\n              number: 644\n              text: \"0644\"\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn late_values_render_as_expressions() {
    let machine = Machine::with_facts("n: -3");
    machine.write("/m/sub/child.yaml", "data: {path: /made}\nccm:\n  resources:\n    - thing:\n        - x: {text: 'a ${ file(Data.path) == file(\"near\") } \\${b}', control: {unless: 'file(Data.path) == \"x\"'}}\n");
    let manifest = "\
data:
  # @sensitive
  secret: hunter22
  path: /made
ccm:
  resources:
    - thing:
        - /made: {text: '{{ Data.secret }} and more'}
        - y: {text: '{{ file(Data.path) + string(Facts.n) + Data.secret }}'}
    - apply: {name: sub/child.yaml}
";
    let expected = r#"ccm:
  resources:
    - thing:
        - /made:
            text: "[redacted] and more"
    - thing:
        - "y":
            require:
              - thing#/made
            text: '{{ file("/made") + string((-3)) + "[redacted]" }}'
    - thing:
        - x:
            require:
              - thing#/made
            control:
              unless: 'file("/made") == "x"'
            text: 'a {{ file("/made") == file("/m/sub/near") }} \${b}'
"#;
    let text = rendered(manifest, &machine);
    assert_eq!(text, expected);
    assert_eq!(rendered(&text, &machine), expected);
}

#[test]
fn a_late_template_is_refused() {
    let machine = Machine::default();
    machine.write("/m/t.j2", "{{ file('/made') }}\n");
    let manifest = "ccm:\n  resources:\n    - thing:\n        - /made: {}\n        - y: {source: t.j2}\n        - z: {text: \"{{ template('t.j2') }}\"}\n";
    let mut loaded = loaded(manifest, &machine);
    let catalog = loaded.catalog.take().expect("a catalog");
    let errors = render(&catalog, &loaded).expect_err("two errors");
    let found: Vec<String> = errors.iter().map(|error| line(error, &loaded.texts())).collect();
    assert_eq!(found, ["5:11 unrenderable", "6:11 unrenderable"]);
}

#[test]
fn omitted_resources_keep_the_order() {
    let machine = Machine::default();
    machine.write("/m/quiet.yaml", "ccm: {resources: [{thing: {name: q, require: [thing#a]}}]}\n");
    let manifest = "\
ccm:
  resources:
    - thing:
        - last: {subscribe: [thing#off], require: [apply#quiet.yaml]}
        - b: {}
        - off: {control: {if: 'false'}, require: [thing#off2]}
        - off2: {control: {if: 'false'}, subscribe: [thing#b]}
        - a: {}
    - apply:
        - quiet.yaml: {noop: true}
";
    let text = rendered(manifest, &machine);
    let last = "        - last:\n            require:\n              - thing#a\n              - thing#b\n";
    assert!(text.contains(last), "{text}");
    assert_eq!(text.matches("require").count(), 1, "{text}");
}

#[test]
fn ambiguous_values_can_not_be_rendered() {
    let machine = Machine::default();
    machine.write("/made", "x");
    machine.write(
        "/m/sub/c.yaml",
        "ccm:\n  resources:\n    - thing:\n        - c: {text: \"{{ file(file('/made')) }}\"}\n",
    );
    machine.write("/m/quiet.yaml", "ccm: {resources: [{thing: {name: /quiet}}]}\n");
    let manifest = "\
data: {x: 1, list: [x]}
ccm:
  resources:
    - thing:
        - /made: {}
        - a: {text: \"{{ lookup('data.' + file('/made')) }}\"}
        - b: {text: \"{{ map(Data.list, lookup('data.' + #)) }} {{ file('/made') }}\"}
        - d: {text: \"{{ file('/quiet') }}\"}
        - e: {text: \"{{ file('/made') + lookup('data.x', file('/made')) }}\"}
        - fine: {text: \"{{ file('/made') + (Data.gone ?? 'x') + lookup('data.x') }}\"}
    - apply:
        - sub/c.yaml: {}
        - quiet.yaml: {noop: true}
";
    let mut loaded = loaded(manifest, &machine);
    let catalog = loaded.catalog.take().unwrap_or_else(|| panic!("{:#?}", loaded.diagnostics));
    let errors = render(&catalog, &loaded).expect_err("errors");
    let messages: Vec<_> = errors.iter().map(|error| &*error.message).collect();
    assert_eq!(
        messages,
        [
            "`thing#a` can't be rendered: `lookup('data.' + file('/made'))` is known only during the run",
            "`thing#b` can't be rendered: `lookup('data.' + #)` is known only during the run",
            "`thing#d` can't be rendered: it depends on `thing#/quiet`, which is in noop and therefore left out",
            "`thing#e` can't be rendered: `lookup('data.x', file('/made'))` is known only during the run",
            "`thing#c` can't be rendered: the path in `file(file('/made'))` is known only during the run",
        ]
    );
}
