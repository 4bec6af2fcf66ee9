//! The tree of a manifest with one resource.

use ccm_model::{Node, NodeEntry, NodeKey, NodeMap, NodeValue, Span};

/// Maximum number of characters of a resource's name in records.
const MAX_NAME: usize = 100;

/// Type or name of a resource, and its place in a text.
#[derive(Clone, Debug)]
pub(super) struct WrittenName {
    pub(super) text: String,
    pub(super) span: Span,
}

/// Returns the manifest with one resource.
pub(super) fn manifest_of(type_name: &WrittenName, name: &WrittenName, properties: NodeMap) -> Node {
    let whole = name.span;
    let properties = Node { value: NodeValue::Map(properties), span: whole };
    let resource = map(&name.text, name.span, properties);
    let of_type = map(&type_name.text, type_name.span, list(resource));
    let resources = map("resources", whole, list(of_type));
    map("ccm", whole, resources)
}

/// Returns the name of a run in records.
pub(super) fn record_name(type_name: &str, name: &str) -> String {
    let line = name.lines().next().unwrap_or_default();
    let mut shown: String = line.chars().take(MAX_NAME).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    format!("{}{type_name}#{shown}", super::RECORD_PREFIX)
}

fn map(key: &str, span: Span, value: Node) -> Node {
    let whole = value.span;
    let entry = NodeEntry { key: NodeKey { text: key.into(), span }, value };
    Node { value: NodeValue::Map(NodeMap::new(vec![entry])), span: whole }
}

fn list(element: Node) -> Node {
    let span = element.span;
    Node { value: NodeValue::List(vec![element]), span }
}
