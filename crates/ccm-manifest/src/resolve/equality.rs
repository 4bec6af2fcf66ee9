//! Comparison of two declarations of a resource.

use std::collections::{BTreeMap, BTreeSet};

use ccm_data::nodes;
use ccm_expr::Value;
use ccm_model::{Control, Node, NodeMap, NodeValue};
use ccm_properties::{PropertyKind, SourcesView, TypeSpec, aliases, find_property, is_web_address};

use crate::read::draft::ResourceDraft;
use crate::scopes::Scopes;

/// Reason why two declarations are not one resource.
pub(super) enum Difference {
    /// Resources of this type are never declared twice.
    NeverMerged,
    /// One of them is in noop.
    Noop,
    /// Values are known only during the run.
    Late,
    /// Names of the properties that differ.
    Properties(BTreeSet<String>),
}

/// Returns the first difference between two declarations with the same type and name.
pub(super) fn difference(
    one: &ResourceDraft,
    other: &ResourceDraft,
    scopes: &Scopes<'_, '_>,
) -> Option<Difference> {
    let spec = scopes.types.spec(one.type_index);
    let is_noop = |draft: &ResourceDraft| {
        draft.resource.group.is_some_and(|group| scopes.children.groups[group.get()].noop)
    };
    if is_noop(one) != is_noop(other) {
        return Some(Difference::Noop);
    }
    let drafts = [one, other];
    let is_late =
        |draft: &&ResourceDraft| draft.resource.control == Control::Late || !draft.found.late.is_empty();
    if drafts.iter().any(is_late) {
        return Some(Difference::Late);
    }
    let mut names = BTreeSet::new();
    let mut compare = |name: &str, is_equal: bool| {
        if !is_equal {
            names.insert(name.to_owned());
        }
    };
    compare("control", one.conditions.is_written_like(&other.conditions));
    let ensure = |draft: &ResourceDraft| {
        let given = draft.resource.ensure.as_ref().map(|ensure| ensure.value.clone());
        given.or_else(|| spec.ensures().first().map(|first| (*first).to_owned()))
    };
    compare("ensure", ensure(one) == ensure(other));
    let provider =
        |draft: &ResourceDraft| draft.resource.provider.as_ref().map(|provider| provider.value.clone());
    compare("provider", provider(one) == provider(other));
    let autorequire = |draft: &ResourceDraft| draft.resource.autorequire.unwrap_or(true);
    compare("autorequire", autorequire(one) == autorequire(other));
    let is_off = |draft: &&ResourceDraft| matches!(draft.resource.control, Control::NotManaged { .. });
    // The values of an unmanaged resource may be unknown.
    if !drafts.iter().any(is_off) {
        let [values, others] = drafts.map(|draft| values(draft, spec, scopes));
        for name in values.keys().chain(others.keys()) {
            compare(name, values.get(name) == others.get(name));
        }
        compare("templates", map_value(&one.resource.rendered) == map_value(&other.resource.rendered));
        let settings = drafts.map(|draft| map_value(&draft.resource.settings));
        compare("settings", settings[0] == settings[1]);
    }
    (!names.is_empty()).then_some(Difference::Properties(names))
}

/// Returns the values of the properties that are not the defaults, by their names.
fn values<'d>(
    draft: &'d ResourceDraft,
    spec: &dyn TypeSpec,
    scopes: &Scopes<'_, '_>,
) -> BTreeMap<&'d str, Value> {
    let sources = spec.sources();
    let ensure = draft.resource.ensure.as_ref().map(|ensure| &*ensure.value);
    let template = sources.and_then(SourcesView::template).map(|(source, _)| source);
    let tree = sources.and_then(|view| view.tree(ensure)).map(|tree| tree.property);
    let value = |entry: &'d ccm_model::NodeEntry| {
        let written = &*entry.key.text;
        let alias = aliases(spec.properties()).find(|(alias, _)| *alias == written);
        let name = alias.map_or(written, |(_, name)| name);
        let property = find_property(spec.properties(), name);
        let value = match entry.value.as_text() {
            Some(path) if [template, tree].contains(&Some(name)) && !is_web_address(path) => {
                let manifest = &scopes.manifests[draft.manifest];
                Value::text(manifest.resolve(path).to_string_lossy().into_owned())
            }
            // `0644`, `"644"` and `0o644` are one mode.
            Some(text) if name == "mode" && octal(text).is_some() => {
                Value::text(octal(text).unwrap_or_default().to_string())
            }
            _ => typed_value(property.map(|property| &property.kind), &entry.value),
        };
        let default = property.and_then(|property| property.default?.strip_prefix('`')?.strip_suffix('`'));
        let is_default = entry.value.as_scalar().is_some_and(|scalar| Some(&*scalar.text) == default);
        (!is_default).then_some((name, value))
    };
    draft.resource.properties.given().filter_map(value).collect()
}

/// Returns a value as its kind reads it: a number where text is taken is text, and a lone value may stand for a list.
fn typed_value(kind: Option<&PropertyKind>, node: &Node) -> Value {
    match (&node.value, kind) {
        (NodeValue::Scalar(scalar), Some(PropertyKind::OneOrMany(_))) if !node.is_null() => {
            Value::list([Value::text(&*scalar.text)])
        }
        (NodeValue::Scalar(scalar), Some(kind)) if kind.takes_text() => Value::text(&*scalar.text),
        (NodeValue::Scalar(_), _) => nodes::to_value(node),
        (NodeValue::List(elements), kind) => {
            let kind = kind.and_then(PropertyKind::element);
            Value::list(elements.iter().map(|element| typed_value(kind, element)))
        }
        (NodeValue::Map(map), kind) => Value::map(map.entries().iter().map(|entry| {
            let kind = kind.and_then(|kind| kind.entry(&entry.key.text));
            (&*entry.key.text, typed_value(kind, &entry.value))
        })),
    }
}

/// Returns the number that octal digits spell.
fn octal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0o").unwrap_or(text), 8).ok()
}

fn map_value(map: &NodeMap) -> Value {
    Value::map(map.entries().iter().map(|entry| (&*entry.key.text, nodes::to_value(&entry.value))))
}
