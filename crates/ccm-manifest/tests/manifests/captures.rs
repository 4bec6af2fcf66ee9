//! What one resource captures and others name: the order that follows, the mistakes, the values.

use ccm_manifest::{Completed, Loaded};
use ccm_model::{Diagnostic, Node, ResourceIndex};
use serde_json::json;

use crate::machine::Machine;

/// A machine with a few templates and nothing else.
fn templates() -> Machine {
    Machine::default()
        .file("one.j2", "{% include 'two.j2' %}-{{ Captures.a.x }}")
        .file("two.j2", "{{ lookup('captures.b.y', 'none') }}")
        .file("unnamed.j2", "{{ Captures[Data.name].x }}")
        .file("wrong.j2", "{{ Captures.a.z }}")
}

/// Loads a manifest in which `a` captures `x` and `y`, and `b`, also called `bee`, captures `y`.
fn loaded<'m>(machine: &'m Machine, items: &str) -> Loaded<'m> {
    machine.load(&format!(
        "data: {{name: a, path: captures.a.x}}\nccm:\n  resources:\n    - copy:\n{items}\n        \
         - a: {{capture: {{x: p, y: p}}}}\n        - b: {{alias: bee, capture: {{y: p}}}}\n"
    ))
}

fn with<'m>(machine: &'m Machine, properties: &str) -> Loaded<'m> {
    loaded(machine, &format!("        - it: {{{properties}}}"))
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
fn what_is_not_captured_is_named() {
    let machine = templates();
    for (properties, expected) in [
        ("content: '{{ Captures.bea.y }}'", "nothing captures `bea` | did you mean `bee`?"),
        ("content: '{{ Captures.nobody.x }}'", "nothing captures `nobody` | known here: `a`, `b` and `bee`"),
        ("content: '{{ Captures.a.z }}'", "`a` does not capture `z` | known here: `x` and `y`"),
        (
            "content: \"{{ lookup('captures.b.value', 1) }}\"",
            "`b` does not capture `value` | known here: `y`",
        ),
        (
            "content: '{{ Captures[Data.name].x }}'",
            "what is captured has to be named | write `Captures.NAME.KEY`, with the name of the resource",
        ),
        (
            "content: \"{{ lookup('captures') }}\"",
            "what is captured has to be named | write `Captures.NAME.KEY`, with the name of the resource",
        ),
        ("source: wrong.j2", "`a` does not capture `z` | known here: `x` and `y`"),
        (
            "alias: '{{ Captures.a.x }}'",
            "this has to be known before the run | what a command captures is known only when the resource has had its turn",
        ),
        (
            "capture: {q: p}, content: '{{ Captures.it.q }}'",
            "this names what the resource itself is to capture",
        ),
    ] {
        assert_eq!(mistakes(&with(&machine, properties)), [expected], "{properties}");
    }
    let unnamed = mistakes(&with(&machine, "source: unnamed.j2"));
    assert!(unnamed[0].contains("what is captured has to be named"), "{unnamed:?}");
}

#[test]
fn a_circle_through_captured_values_is_shown() {
    let machine = templates();
    let loaded = loaded(
        &machine,
        "        - c: {capture: {x: p}, content: '{{ Captures.d.x }}'}\n        \
         - d: {capture: {x: p}, content: '{{ Captures.c.x }}'}",
    );
    assert_eq!(mistakes(&loaded), ["dependency cycle: copy#c → copy#d → copy#c"]);
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
            let text = resource.properties.get("content").and_then(Node::as_text);
            text.unwrap_or_default().to_owned()
        }
        Completed::NotManaged(reason) => format!("not managed: {reason}"),
        Completed::NotBefore(index) => format!("not before {}", catalog.resource(index).id),
        Completed::NoValue(reason) => format!("no value: {reason}"),
        Completed::Mistaken(mistakes) => {
            mistakes.iter().map(Diagnostic::one_line).collect::<Vec<_>>().join(", ")
        }
    }
}

#[test]
fn values_come_when_they_are_known() {
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
fn a_key_that_a_captured_value_lacks_is_a_mistake() {
    let machine = templates();
    let loaded = with(&machine, "content: '{{ Captures.a.y.nothing }}'");
    let found = completed(&loaded, &[(1, json!({"x": 1, "y": {"something": 1}}))], &[]);
    assert!(found.contains("nothing"), "{found}");
}

#[test]
fn a_mistake_about_a_captured_name_points_at_it() {
    let machine = templates();
    for written in ["content: 'x ${ 1 + Captures.nobody.x }'", "content: \"x ${ 1 + Captures.nobody.x }\""] {
        let loaded = with(&machine, written);
        let found = loaded.diagnostics.first().and_then(Diagnostic::span).expect("a place");
        assert_eq!(found.range().len(), "Captures.nobody.x".len(), "{written}");
    }
}
