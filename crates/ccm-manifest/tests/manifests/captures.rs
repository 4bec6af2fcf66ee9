//! References to captured values: implied edges, errors, values.

use ccm_manifest::{Completion, LoadResult};
use ccm_model::{Diagnostic, Node, ResourceIndex};
use serde_json::json;

use crate::fake::line;
use crate::machine::Machine;

/// Returns a machine with some templates.
fn templates() -> Machine {
    Machine::default()
        .file("one.j2", "{% include 'two.j2' %}-{{ Captures.a.x }}")
        .file("two.j2", "{{ lookup('captures.b.y', 'none') }}")
        .file("unnamed.j2", "{{ Captures[Data.name].x }}")
        .file("wrong.j2", "{{ Captures.a.z }}")
}

/// Loads a manifest in which `a` captures `x` and `y`, and `b`, also called `bee`, captures `y`.
fn loaded<'m>(machine: &'m Machine, items: &str) -> LoadResult<'m> {
    machine.load(&format!(
        "data: {{name: a, path: captures.a.x}}\nccm:\n  resources:\n    - copy:\n{items}\n        \
         - a: {{capture: {{x: p, y: p}}}}\n        - b: {{alias: bee, capture: {{y: p}}}}\n"
    ))
}

fn with<'m>(machine: &'m Machine, properties: &str) -> LoadResult<'m> {
    loaded(machine, &format!("        - it: {{{properties}}}"))
}

fn errors(loaded: &LoadResult<'_>) -> Vec<String> {
    let texts = loaded.texts();
    loaded.diagnostics.iter().map(|found| line(found, &texts)).collect()
}

/// Returns the names of the resources that the first one requires.
fn required(loaded: &LoadResult<'_>) -> Vec<String> {
    let Some(catalog) = &loaded.catalog else { panic!("{:?}", errors(loaded)) };
    let names = catalog.resources[0].require.iter().map(|edge| catalog.resource(edge.on).id.name.to_string());
    names.collect()
}

#[test]
fn using_a_captured_value_adds_an_edge() {
    let machine = templates();
    for (properties, names) in [
        ("content: '{{ Captures.a.x }}'", &["a"][..]),
        ("content: '{{ Captures[\"a\"][\"x\"] }} and ${ Captures.bee.y }'", &["a", "b"]),
        ("content: '{{ Captures.a.x + Captures.b.y }}'", &["a", "b"]),
        ("content: \"{{ lookup('captures.a.x') }}\"", &["a"]),
        ("content: \"{{ lookup('captures.bee.y', 'd') }}\"", &["b"]),
        ("content: '{{ lookup(Data.path) }}'", &["a"]),
        ("control: {if: 'Captures.a.x == 1'}", &["a"]),
        ("source: one.j2", &["a", "b"]),
        ("content: \"{{ template('one.j2') }}\"", &["a", "b"]),
        ("content: \"{{ Captures.a.x + template('two.j2') }}\"", &["a", "b"]),
    ] {
        assert_eq!(required(&with(&machine, properties)), names, "{properties}");
    }
}

#[test]
fn unknown_captures_are_errors() {
    let machine = templates();
    for (properties, expected) in [
        ("content: '{{ Captures.bea.y }}'", "5:29 unknown-reference | bee"),
        ("content: '{{ Captures.nobody.x }}'", "5:29 unknown-reference | a, b, bee"),
        ("content: '{{ Captures.a.z }}'", "5:29 unknown-reference | x, y"),
        ("content: \"{{ lookup('captures.b.value', 1) }}\"", "5:29 unknown-reference | y"),
        ("content: '{{ Captures[Data.name].x }}'", "5:29 unknown-reference | Captures.NAME.KEY"),
        ("content: \"{{ lookup('captures') }}\"", "5:29 unknown-reference | Captures.NAME.KEY"),
        ("source: wrong.j2", "5:24 unknown-reference | x, y"),
        ("alias: '{{ Captures.a.x }}'", "5:27 late-value | …"),
        ("capture: {q: p}, content: '{{ Captures.it.q }}'", "5:46 cycle"),
        ("source: unnamed.j2", "5:24 unknown-reference | Captures.NAME.KEY"),
    ] {
        assert_eq!(errors(&with(&machine, properties)), [expected], "{properties}");
    }
}

#[test]
fn a_cycle_through_captured_values_is_shown() {
    let machine = templates();
    let loaded = loaded(
        &machine,
        "        - c: {capture: {x: p}, content: '{{ Captures.d.x }}'}\n        \
         - d: {capture: {x: p}, content: '{{ Captures.c.x }}'}",
    );
    assert_eq!(errors(&loaded), ["5:45 cycle (6:45)"]);
}

/// Completes the first resource after `a` and `b` captured these values.
fn completed(loaded: &LoadResult<'_>, captured: &[(u32, serde_json::Value)], would_change: &[u32]) -> String {
    let Some(catalog) = &loaded.catalog else { panic!("{:?}", errors(loaded)) };
    for (index, value) in captured {
        loaded.late.record_captures(ResourceIndex(*index), value.clone());
    }
    let would_change = |index: ResourceIndex| would_change.contains(&index.0);
    match loaded.late.complete(ResourceIndex(0), &catalog.resources[0], &would_change) {
        Completion::AsWritten => "as written".to_owned(),
        Completion::Resource(resource) => {
            let text = resource.properties.get("content").and_then(Node::as_text);
            text.unwrap_or_default().to_owned()
        }
        Completion::NotManaged(reason) => format!("not managed: {reason}"),
        Completion::NotBefore(index) => format!("not before {}", catalog.resource(index).id),
        Completion::NoValue(reason) => format!("no value: {reason}"),
        Completion::Invalid(errors) | Completion::MissingFile { errors, .. } => {
            line(&errors[0], &loaded.texts())
        }
    }
}

#[test]
fn captured_values_complete_resources() {
    let machine = templates();
    let both = [(1, json!({"x": 7, "y": {"deep": [1, "two"]}})), (2, json!({"y": "b's"}))];
    for (properties, captured, would_change, expected) in [
        ("content: 'x{{ Captures.a.x }}'", &both[..], &[][..], "x7"),
        ("content: '${ Captures.a.y.deep[1] }-${ Captures.bee.y }'", &both, &[], "two-b's"),
        ("content: \"{{ lookup('captures.a.y.deep.1') }}\"", &both, &[], "two"),
        ("source: one.j2", &both, &[], "b's-7"),
        ("source: one.j2", &both[..1], &[], "none-7"),
        ("source: one.j2", &both[1..], &[], "no value: copy#a captured nothing, because it was not run"),
        ("source: one.j2", &both[1..], &[1], "not before copy#a"),
        ("content: '{{ Captures.a.x }}'", &[], &[1], "not before copy#a"),
        (
            "content: '{{ Captures.a.x }}'",
            &[],
            &[2],
            "no value: copy#a captured nothing, because it was not run",
        ),
        ("content: \"{{ lookup('captures.a.x', 'd') }}\"", &[], &[], "d"),
        ("content: \"{{ lookup('captures.a.x', 'd') }}\"", &[], &[1], "not before copy#a"),
        (
            "content: \"{{ lookup('captures.a.x') }}\"",
            &[],
            &[],
            "no value: copy#a captured nothing, because it was not run",
        ),
        ("content: '{{ Captures.a.x }}{{ Captures.b.y }}'", &both[..1], &[2], "not before copy#b"),
        ("control: {if: 'Captures.a.x == 7'}, content: t", &both, &[], "t"),
        ("control: {if: 'Captures.a.x == 8'}, content: t", &both, &[], "not managed: `if` is false"),
        ("control: {if: 'Captures.a.x == 8'}, content: t", &[], &[1], "not before copy#a"),
        (
            "control: {if: 'Captures.a.x == 8'}, content: t",
            &[],
            &[],
            "no value: copy#a captured nothing, because it was not run",
        ),
    ] {
        let loaded = with(&machine, properties);
        assert_eq!(completed(&loaded, captured, would_change), expected, "{properties}");
    }
}

#[test]
fn a_missing_key_of_a_captured_value_is_an_error() {
    let machine = templates();
    let loaded = with(&machine, "content: '{{ Captures.a.y.nothing }}'");
    let found = completed(&loaded, &[(1, json!({"x": 1, "y": {"something": 1}}))], &[]);
    assert_eq!(found, "5:42 unknown-name content Captures.a.y.nothing | Captures.a.y.nothing ?? \"\"");
}

#[test]
fn an_error_about_a_captured_name_points_to_the_name() {
    let machine = templates();
    for written in ["content: 'x ${ 1 + Captures.nobody.x }'", "content: \"x ${ 1 + Captures.nobody.x }\""] {
        let loaded = with(&machine, written);
        let found = loaded.diagnostics.first().and_then(Diagnostic::span).expect("a place");
        assert_eq!(found.range().len(), "Captures.nobody.x".len(), "{written}");
    }
}
