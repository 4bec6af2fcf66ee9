//! Texts of rules for people who approve by them.

use ccm_model::{Node, NodeEntry, NodeMap, NodeValue, ScalarKind};

/// Returns a rule as a line for each key, with aliases expanded. Its examples say nothing about its meaning.
pub(super) fn lines(map: &NodeMap) -> Vec<String> {
    let entries = map.entries().iter().filter(|entry| &*entry.key.text != "examples");
    let line = |entry| {
        let mut line = String::new();
        add_entry(entry, &mut line);
        line
    };
    entries.map(line).collect()
}

fn add_entry(entry: &NodeEntry, line: &mut String) {
    line.push_str(&entry.key.text);
    line.push_str(": ");
    add_value(&entry.value, line);
}

fn add_value(node: &Node, line: &mut String) {
    match &node.value {
        // A text always has a form in JSON.
        NodeValue::Scalar(scalar) if scalar.kind() == ScalarKind::Text => {
            line.push_str(&serde_json::to_string(&*scalar.text).unwrap_or_default());
        }
        NodeValue::Scalar(scalar) => line.push_str(&scalar.text),
        NodeValue::List(elements) => {
            line.push('[');
            for (position, element) in elements.iter().enumerate() {
                line.push_str(if position == 0 { "" } else { ", " });
                add_value(element, line);
            }
            line.push(']');
        }
        NodeValue::Map(map) => {
            line.push('{');
            for (position, entry) in map.entries().iter().enumerate() {
                line.push_str(if position == 0 { "" } else { ", " });
                add_entry(entry, line);
            }
            line.push('}');
        }
    }
}
