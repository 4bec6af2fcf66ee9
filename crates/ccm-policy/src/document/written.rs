//! Texts of rules for people who approve by them.

use ccm_model::{Node, NodeMap, NodeValue, ScalarKind};

/// Returns a rule as a line for each key, with aliases expanded. Its examples say nothing about its meaning.
pub(super) fn lines(map: &NodeMap) -> Vec<String> {
    let entries = map.entries().iter().filter(|entry| &*entry.key.text != "examples");
    entries.map(|entry| format!("{}: {}", entry.key.text, text(&entry.value))).collect()
}

fn text(node: &Node) -> String {
    match &node.value {
        // A text always has a form in JSON.
        NodeValue::Scalar(scalar) if scalar.kind() == ScalarKind::Text => {
            serde_json::to_string(&*scalar.text).unwrap_or_default()
        }
        NodeValue::Scalar(scalar) => scalar.text.to_string(),
        NodeValue::List(elements) => {
            format!("[{}]", elements.iter().map(text).collect::<Vec<_>>().join(", "))
        }
        NodeValue::Map(map) => {
            let entries =
                map.entries().iter().map(|entry| format!("{}: {}", entry.key.text, text(&entry.value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
    }
}
