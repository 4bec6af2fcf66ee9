//! What one resource captures and others name: the order that follows, the mistakes, the values.
#![expect(clippy::panic, reason = "a test that can't be set up should fail loudly")]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use ccm_expr::{Timestamp, Value};
use ccm_manifest::{Completed, FactPath, Loaded, Request, Sources, load};
use ccm_model::{
    Checked, Diagnostic, Node, Resource, ResourceIndex, SourceMap, Text, TypeSpec, decode_known,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;

/// A type that may capture something.
struct Probe;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct ProbeProperties {
    text: Option<Text>,
    source: Option<Text>,
    capture: Option<BTreeMap<String, Text>>,
}

impl TypeSpec for Probe {
    fn name(&self) -> &'static str {
        "probe"
    }

    fn summary(&self) -> &'static str {
        "Looks at something."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["plain"]
    }

    fn template_source(&self) -> Option<(&'static str, &'static str)> {
        Some(("source", "text"))
    }

    fn captures<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        let map = resource.properties.get("capture").and_then(Node::as_map);
        map.map(|map| map.entries().iter().map(|entry| &*entry.key.text).collect()).unwrap_or_default()
    }

    fn check(&self, checked: &Checked<'_>) -> Vec<Diagnostic> {
        let entries = checked.resource.properties.given().cloned().collect();
        decode_known::<ProbeProperties>(&ccm_model::Map::new(entries)).err().unwrap_or_default()
    }

    fn schema(&self) -> Schema {
        SchemaGenerator::default().into_root_schema_for::<ProbeProperties>()
    }
}

/// A machine with a few templates and nothing else.
struct Templates;

impl Sources for Templates {
    fn read(&self, path: &Path) -> io::Result<String> {
        let text = match path.to_str() {
            Some("/m/one.j2") => "{% include 'two.j2' %}-{{ Captures.a.x }}",
            Some("/m/two.j2") => "{{ lookup('captures.b.y', 'none') }}",
            Some("/m/unnamed.j2") => "{{ Captures[Data.name].x }}",
            Some("/m/wrong.j2") => "{{ Captures.a.z }}",
            _ => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok(text.to_owned())
    }

    fn facts(&self, _: &[FactPath], _: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        Ok(Value::map::<&str>([]))
    }

    fn environment(&self, _: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        Ok(Vec::new())
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// Loads a manifest in which `a` captures `x` and `y`, and `b`, also called `bee`, captures `y`.
fn loaded(items: &str) -> Loaded<'static> {
    let text = format!(
        "data: {{name: a, path: captures.a.x}}\nccm:\n  resources:\n    - probe:\n{items}\n        \
         - a: {{capture: {{x: p, y: p}}}}\n        - b: {{alias: bee, capture: {{y: p}}}}\n"
    );
    let request = Request {
        name: "m.yaml".to_owned(),
        text: text.into(),
        directory: "/m".into(),
        hiera: Vec::new(),
        assignments: Vec::new(),
    };
    load(request, &[&Probe], &Templates)
}

fn with(properties: &str) -> Loaded<'static> {
    loaded(&format!("        - it: {{{properties}}}"))
}

fn mistakes(loaded: &Loaded<'_>) -> Vec<String> {
    let shown = |found: &Diagnostic| match found.hints.first() {
        Some(hint) => format!("{} | {hint}", found.message),
        None => found.message.clone(),
    };
    loaded.diagnostics.iter().map(shown).collect()
}

/// The names of what a resource requires, the resource being the first.
fn required(loaded: &Loaded<'_>) -> Vec<String> {
    let Some(catalog) = &loaded.catalog else { panic!("{:?}", mistakes(loaded)) };
    let names = catalog.resources[0].require.iter().map(|edge| catalog.resource(edge.on).id.name.to_string());
    names.collect()
}

#[test]
fn who_names_a_captured_value_comes_after_it() {
    for (properties, names) in [
        ("text: '{{ Captures.a.x }}'", &["a"][..]),
        ("text: '{{ Captures[\"a\"][\"x\"] }} and ${ Captures.bee.y }'", &["a", "b"]),
        ("text: '{{ Captures.a.x + Captures.b.y }}'", &["a", "b"]),
        ("text: \"{{ lookup('captures.a.x') }}\"", &["a"]),
        ("text: \"{{ lookup('captures.bee.y', 'd') }}\"", &["b"]),
        ("text: '{{ lookup(Data.path) }}'", &["a"]),
        ("control: {if: 'Captures.a.x == 1'}", &["a"]),
        ("source: one.j2", &["a", "b"]),
        ("text: \"{{ template('one.j2') }}\"", &["a", "b"]),
        ("text: \"{{ Captures.a.x + template('two.j2') }}\"", &["a", "b"]),
    ] {
        assert_eq!(required(&with(properties)), names, "{properties}");
    }
}

#[test]
fn what_is_not_captured_is_named() {
    for (properties, expected) in [
        ("text: '{{ Captures.bea.y }}'", "nothing captures `bea` | did you mean `bee`?"),
        ("text: '{{ Captures.nobody.x }}'", "nothing captures `nobody` | known here: `a`, `b` and `bee`"),
        ("text: '{{ Captures.a.z }}'", "`a` does not capture `z` | known here: `x` and `y`"),
        ("text: \"{{ lookup('captures.b.value', 1) }}\"", "`b` does not capture `value` | known here: `y`"),
        (
            "text: '{{ Captures[Data.name].x }}'",
            "what is captured has to be named | write `Captures.NAME.KEY`, with the name of the resource",
        ),
        (
            "text: \"{{ lookup('captures') }}\"",
            "what is captured has to be named | write `Captures.NAME.KEY`, with the name of the resource",
        ),
        ("source: wrong.j2", "`a` does not capture `z` | known here: `x` and `y`"),
        (
            "alias: '{{ Captures.a.x }}'",
            "this has to be known before the run | what a command captures is known only when the resource has had its turn",
        ),
        ("capture: {q: p}, text: '{{ Captures.it.q }}'", "this names what the resource itself is to capture"),
    ] {
        assert_eq!(mistakes(&with(properties)), [expected], "{properties}");
    }
    let unnamed = mistakes(&with("source: unnamed.j2"));
    assert!(unnamed[0].contains("what is captured has to be named"), "{unnamed:?}");
}

#[test]
fn a_circle_through_captured_values_is_shown() {
    let loaded = loaded(
        "        - c: {capture: {x: p}, text: '{{ Captures.d.x }}'}\n        \
         - d: {capture: {x: p}, text: '{{ Captures.c.x }}'}",
    );
    assert_eq!(mistakes(&loaded), ["dependency cycle: probe#c → probe#d → probe#c"]);
}

/// What the first resource comes to once `a` and `b` had their turn.
fn completed(loaded: &Loaded<'_>, captured: &[(u32, serde_json::Value)], would_change: &[u32]) -> String {
    let Some(catalog) = &loaded.catalog else { panic!("{:?}", mistakes(loaded)) };
    for (index, value) in captured {
        loaded.late.remember(ResourceIndex(*index), value.clone());
    }
    let would_change = |index: ResourceIndex| would_change.contains(&index.0);
    match loaded.late.complete(ResourceIndex(0), &catalog.resources[0], &would_change) {
        Completed::AsWritten => "as written".to_owned(),
        Completed::Resource(resource) => {
            let text = resource.properties.get("text").and_then(Node::as_text);
            text.unwrap_or_default().to_owned()
        }
        Completed::NotManaged(reason) => format!("not managed: {reason}"),
        Completed::NotBefore(index) => format!("not before {}", catalog.resource(index).id),
        Completed::NoValue(reason) => format!("no value: {reason}"),
        Completed::Mistaken(mistakes) => {
            mistakes.iter().map(|mistake| mistake.message.clone()).collect::<Vec<_>>().join(", ")
        }
    }
}

#[test]
fn values_come_when_they_are_known() {
    let both = [(1, json!({"x": 7, "y": {"deep": [1, "two"]}})), (2, json!({"y": "b's"}))];
    for (properties, captured, would_change, expected) in [
        ("text: 'x{{ Captures.a.x }}'", &both[..], &[][..], "x7"),
        ("text: '${ Captures.a.y.deep[1] }-${ Captures.bee.y }'", &both, &[], "two-b's"),
        ("text: \"{{ lookup('captures.a.y.deep.1') }}\"", &both, &[], "two"),
        ("source: one.j2", &both, &[], "b's-7"),
        ("source: one.j2", &both[..1], &[], "none-7"),
        ("source: one.j2", &both[1..], &[], "no value: probe#a captured nothing, because it was not run"),
        ("source: one.j2", &both[1..], &[1], "not before probe#a"),
        ("text: '{{ Captures.a.x }}'", &[], &[1], "not before probe#a"),
        (
            "text: '{{ Captures.a.x }}'",
            &[],
            &[2],
            "no value: probe#a captured nothing, because it was not run",
        ),
        ("text: \"{{ lookup('captures.a.x', 'd') }}\"", &[], &[], "d"),
        ("text: \"{{ lookup('captures.a.x', 'd') }}\"", &[], &[1], "not before probe#a"),
        (
            "text: \"{{ lookup('captures.a.x') }}\"",
            &[],
            &[],
            "no value: probe#a captured nothing, because it was not run",
        ),
        ("text: '{{ Captures.a.x }}{{ Captures.b.y }}'", &both[..1], &[2], "not before probe#b"),
        ("control: {if: 'Captures.a.x == 7'}, text: t", &both, &[], "t"),
        ("control: {if: 'Captures.a.x == 8'}, text: t", &both, &[], "not managed: `if` is false"),
        ("control: {if: 'Captures.a.x == 8'}, text: t", &[], &[1], "not before probe#a"),
        (
            "control: {if: 'Captures.a.x == 8'}, text: t",
            &[],
            &[],
            "no value: probe#a captured nothing, because it was not run",
        ),
    ] {
        let loaded = with(properties);
        assert_eq!(completed(&loaded, captured, would_change), expected, "{properties}");
    }
}

#[test]
fn a_key_that_a_captured_value_lacks_is_a_mistake() {
    let loaded = with("text: '{{ Captures.a.y.nothing }}'");
    let found = completed(&loaded, &[(1, json!({"x": 1, "y": {"something": 1}}))], &[]);
    assert!(found.contains("nothing"), "{found}");
}

#[test]
fn a_mistake_about_a_captured_name_points_at_it() {
    for written in ["text: 'x ${ 1 + Captures.nobody.x }'", "text: \"x ${ 1 + Captures.nobody.x }\""] {
        let loaded = with(written);
        let found = loaded.diagnostics.first().and_then(Diagnostic::span).expect("a place");
        assert_eq!(found.range().len(), "Captures.nobody.x".len(), "{written}");
    }
}
