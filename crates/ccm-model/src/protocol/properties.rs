//! Properties of a resource as JSON, without text that may be secret.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::{Map as JsonMap, Number, Value, json};

use crate::{
    Node, NodeEntry, NodeMap, NodeValue, Presentation, Properties, REDACTED, Scalar, ScalarKind, ScalarStyle,
    sha256,
};

/// Given properties, each in the form that its presentation names.
#[derive(Clone, Copy, Debug)]
pub struct PresentedProperties<'a> {
    pub(super) properties: &'a Properties,
    /// Properties whose form is not [`Presentation::AsWritten`].
    pub(super) presentation: &'a [(&'static str, Presentation)],
}

impl Serialize for PresentedProperties<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for NodeEntry { key, value } in self.properties.given() {
            let special = self.presentation.iter().find(|(name, _)| *name == &*key.text);
            match special.map_or(Presentation::AsWritten, |(_, presentation)| *presentation) {
                Presentation::AsWritten => map.serialize_entry(&*key.text, &AsWritten(value))?,
                Presentation::Digest => map.serialize_entry(&*key.text, &Hidden(value, Sum::of))?,
                Presentation::Size => map.serialize_entry(&*key.text, &Hidden(value, Sum::size_of))?,
                Presentation::Variables => map.serialize_entry(&*key.text, &variables(value))?,
            }
        }
        map.end()
    }
}

/// Form of a value that is not hidden.
struct AsWritten<'a>(&'a Node);

impl Serialize for AsWritten<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.value {
            NodeValue::Scalar(written) => scalar(written, serializer),
            NodeValue::List(nodes) => serializer.collect_seq(nodes.iter().map(AsWritten)),
            NodeValue::Map(map) => {
                let entries = map.entries().iter();
                serializer.collect_map(entries.map(|entry| (&entry.key.text, AsWritten(&entry.value))))
            }
        }
    }
}

/// Writes a scalar. A number that JSON would write differently (`0644`, `5.10`) becomes text.
fn scalar<S: Serializer>(scalar: &Scalar, serializer: S) -> Result<S::Ok, S::Error> {
    let number = match scalar.kind() {
        ScalarKind::Null => return serializer.serialize_unit(),
        ScalarKind::Bool(value) => return serializer.serialize_bool(value),
        ScalarKind::Int(value) => Some(Number::from(value)),
        ScalarKind::Float(value) => Number::from_f64(value),
        ScalarKind::Text => None,
    };
    match number.filter(|number| number.to_string() == *scalar.text) {
        Some(number) => number.serialize(serializer),
        None => serializer.serialize_str(&scalar.text),
    }
}

/// Form of a value that is hidden: its size, or size and checksum.
struct Hidden<'a>(&'a Node, fn(&str) -> Sum);

impl Serialize for Hidden<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_scalar() {
            _ if is_redacted(self.0) => serializer.serialize_str(REDACTED),
            Some(scalar) => self.1(&scalar.text).serialize(serializer),
            None => self.1(&json!(AsWritten(self.0)).to_string()).serialize(serializer),
        }
    }
}

/// Returns `true` if a part of the value was redacted. Such a value gets no checksum.
fn is_redacted(node: &Node) -> bool {
    match &node.value {
        NodeValue::Scalar(scalar) => scalar.style == ScalarStyle::Redacted,
        NodeValue::List(nodes) => nodes.iter().any(is_redacted),
        NodeValue::Map(map) => map.entries().iter().any(|entry| is_redacted(&entry.value)),
    }
}

/// Size of a text, and its checksum unless that could give a short text away.
#[derive(Serialize)]
struct Sum {
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    size: usize,
}

impl Sum {
    fn of(text: &str) -> Self {
        Self { sha256: Some(sha256(text.as_bytes())), ..Self::size_of(text) }
    }

    fn size_of(text: &str) -> Self {
        Self { sha256: None, size: text.len() }
    }
}

/// Returns the names of variables, each with the size of its value. A repeated name appears once.
fn variables(node: &Node) -> Value {
    let map_of = |map: &NodeMap| {
        let entries = map.entries().iter();
        entries
            .map(|entry| (entry.key.text.to_string(), json!(Hidden(&entry.value, Sum::size_of))))
            .collect::<JsonMap<_, _>>()
    };
    match &node.value {
        NodeValue::Map(map) => Value::Object(map_of(map)),
        NodeValue::List(nodes) => {
            let entries = nodes.iter().map(|node| match node.as_scalar() {
                Some(scalar) => match scalar.text.split_once('=') {
                    Some((name, _)) if is_redacted(node) => (name.to_owned(), REDACTED.into()),
                    Some((name, value)) => (name.to_owned(), json!(Sum::size_of(value))),
                    None => (scalar.text.to_string(), Value::Null),
                },
                None => (String::new(), json!(Hidden(node, Sum::size_of))),
            });
            Value::Object(entries.collect())
        }
        // A single `NAME=VALUE`.
        NodeValue::Scalar(_) => json!(Hidden(node, Sum::size_of)),
    }
}

#[cfg(test)]
mod tests {
    use crate::{NodeKey, Span};

    use super::*;

    fn plain(text: &str) -> Node {
        let scalar = Scalar { text: text.into(), style: ScalarStyle::Plain };
        Node { value: NodeValue::Scalar(scalar), span: Span::default() }
    }

    fn quoted(text: &str) -> Node {
        Node::text(text, Span::default())
    }

    fn list(nodes: Vec<Node>) -> Node {
        Node { value: NodeValue::List(nodes), span: Span::default() }
    }

    fn entry(name: &str, value: Node) -> NodeEntry {
        NodeEntry { key: NodeKey { text: name.into(), span: Span::default() }, value }
    }

    fn map(entries: Vec<NodeEntry>) -> Node {
        Node { value: NodeValue::Map(NodeMap::new(entries)), span: Span::default() }
    }

    fn shown(entries: Vec<NodeEntry>) -> Value {
        let presentation = [
            ("content", Presentation::Digest),
            ("environment", Presentation::Variables),
            ("stdin", Presentation::Size),
        ];
        let properties = Properties::new(NodeMap::new(entries), None);
        json!(PresentedProperties { properties: &properties, presentation: &presentation })
    }

    #[test]
    fn values_keep_their_written_form() {
        let found = shown(vec![
            entry("a", plain("true")),
            entry("b", plain("7")),
            entry("c", plain("0644")),
            entry("d", plain("5.10")),
            entry("e", plain("5.5")),
            entry("f", quoted("7")),
            entry("g", list(vec![plain("x"), plain("null")])),
            entry("h", map(vec![entry("i", plain("-1"))])),
            entry("j", plain("null")),
        ]);
        let expected = json!({
            "a": true, "b": 7, "c": "0644", "d": "5.10", "e": 5.5, "f": "7", "g": ["x", null], "h": {"i": -1}
        });
        assert_eq!(found, expected);
    }

    #[test]
    fn hidden_values_show_size_and_only_content_a_checksum() {
        let sum = json!({
            "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "size": 3
        });
        let abc = json!({"size": 3});
        for (name, value, expected) in [
            ("content", quoted("abc"), sum),
            ("stdin", plain("abc"), abc.clone()),
            ("environment", list(vec![plain("A=abc"), plain("B=abc")]), json!({"A": abc, "B": abc})),
            ("environment", map(vec![entry("A", plain("abc"))]), json!({"A": abc})),
            ("environment", plain("abc"), abc.clone()),
        ] {
            assert_eq!(shown(vec![entry(name, value)])[name], expected, "{name}");
        }
        let odd = shown(vec![entry("environment", list(vec![list(vec![plain("s3cret")])]))]);
        assert!(!odd.to_string().contains("s3cret"), "{odd}");
    }

    #[test]
    fn redacted_values_show_no_checksum() {
        let redacted = |text: &str| {
            let scalar = Scalar { text: text.into(), style: ScalarStyle::Redacted };
            Node { value: NodeValue::Scalar(scalar), span: Span::default() }
        };
        let text = || redacted("a [redacted] b");
        let found = shown(vec![
            entry("content", text()),
            entry("environment", list(vec![redacted("A=[redacted]"), plain("B=abc")])),
        ]);
        assert_eq!(found["content"], REDACTED);
        assert_eq!(found["environment"]["A"], REDACTED);
        assert_eq!(found["environment"]["B"]["size"], 3);
        assert_eq!(shown(vec![entry("environment", text())])["environment"], REDACTED);
    }
}
