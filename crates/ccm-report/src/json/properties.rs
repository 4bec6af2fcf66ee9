//! The properties of a resource as JSON, without what may be secret.

use ccm_host::sha256;
use ccm_model::{Entry, Kind, Map, Node, Presentation, Properties, Scalar, ScalarStyle, Value as Written};
use ccm_redaction::REDACTED;
use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map as Object, Number, Value, json};

/// Properties that are given, as an event presents them: as written, unless the second says otherwise.
pub(super) struct Presented<'a>(pub &'a Properties, pub &'a [(&'static str, Presentation)]);

impl Serialize for Presented<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for Entry { key, value } in self.0.given() {
            let special = self.1.iter().find(|(name, _)| *name == &*key.text);
            match special.map_or(Presentation::AsWritten, |(_, presentation)| *presentation) {
                Presentation::AsWritten => map.serialize_entry(&*key.text, &AsWritten(value))?,
                Presentation::Digest => map.serialize_entry(&*key.text, &Hidden(value))?,
                Presentation::Variables => map.serialize_entry(&*key.text, &variables(value))?,
            }
        }
        map.end()
    }
}

/// A value as it was written.
struct AsWritten<'a>(&'a Node);

impl Serialize for AsWritten<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.value {
            Written::Scalar(written) => scalar(written, serializer),
            Written::List(nodes) => serializer.collect_seq(nodes.iter().map(AsWritten)),
            Written::Map(map) => {
                let entries = map.entries().iter();
                serializer.collect_map(entries.map(|entry| (&entry.key.text, AsWritten(&entry.value))))
            }
        }
    }
}

/// A number that would not come back as it was written (`0644`, `5.10`) is text.
fn scalar<S: Serializer>(scalar: &Scalar, serializer: S) -> Result<S::Ok, S::Error> {
    let number = match scalar.kind() {
        Kind::Null => return serializer.serialize_unit(),
        Kind::Bool(value) => return serializer.serialize_bool(value),
        Kind::Int(value) => Some(Number::from(value)),
        Kind::Float(value) => Number::from_f64(value),
        Kind::Text => None,
    };
    match number.filter(|number| number.to_string() == *scalar.text) {
        Some(number) => number.serialize(serializer),
        None => serializer.serialize_str(&scalar.text),
    }
}

/// What stands in the place of a value that is not told.
struct Hidden<'a>(&'a Node);

impl Serialize for Hidden<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_scalar() {
            _ if is_redacted(self.0) => serializer.serialize_str(REDACTED),
            Some(scalar) => Sum(&scalar.text).serialize(serializer),
            None => Sum(&json!(AsWritten(self.0)).to_string()).serialize(serializer),
        }
    }
}

/// Returns `true` if something in it was redacted: then not even a checksum is shown.
fn is_redacted(node: &Node) -> bool {
    match &node.value {
        Written::Scalar(scalar) => scalar.style == ScalarStyle::Redacted,
        Written::List(nodes) => nodes.iter().any(is_redacted),
        Written::Map(map) => map.entries().iter().any(|entry| is_redacted(&entry.value)),
    }
}

/// Size and checksum.
struct Sum<'a>(&'a str);

impl Serialize for Sum<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("sha256", &sha256(self.0.as_bytes()))?;
        map.serialize_entry("size", &self.0.len())?;
        map.end()
    }
}

/// The names of variables, each with what stands for its value. A name that is given twice stands there once.
fn variables(node: &Node) -> Value {
    let map_of = |map: &Map| {
        let entries = map.entries().iter();
        entries
            .map(|entry| (entry.key.text.to_string(), json!(Hidden(&entry.value))))
            .collect::<Object<_, _>>()
    };
    match &node.value {
        Written::Map(map) => Value::Object(map_of(map)),
        Written::List(nodes) => {
            let entries = nodes.iter().map(|node| match node.as_scalar() {
                Some(scalar) => match scalar.text.split_once('=') {
                    Some((name, _)) if is_redacted(node) => (name.to_owned(), REDACTED.into()),
                    Some((name, value)) => (name.to_owned(), json!(Sum(value))),
                    None => (scalar.text.to_string(), Value::Null),
                },
                None => (String::new(), json!(Hidden(node))),
            });
            Value::Object(entries.collect())
        }
        // One that is written as a single `NAME=VALUE`.
        Written::Scalar(_) => json!(Hidden(node)),
    }
}

#[cfg(test)]
mod tests {
    use ccm_model::{Key, Span};

    use super::*;

    fn plain(text: &str) -> Node {
        let scalar = Scalar { text: text.into(), style: ScalarStyle::Plain };
        Node { value: Written::Scalar(scalar), span: Span::default() }
    }

    fn quoted(text: &str) -> Node {
        Node::text(text, Span::default())
    }

    fn list(nodes: Vec<Node>) -> Node {
        Node { value: Written::List(nodes), span: Span::default() }
    }

    fn entry(name: &str, value: Node) -> Entry {
        Entry { key: Key { text: name.into(), span: Span::default() }, value }
    }

    fn map(entries: Vec<Entry>) -> Node {
        Node { value: Written::Map(Map::new(entries)), span: Span::default() }
    }

    fn shown(entries: Vec<Entry>) -> Value {
        let presentation = [
            ("content", Presentation::Digest),
            ("environment", Presentation::Variables),
            ("stdin", Presentation::Digest),
        ];
        json!(Presented(&Properties::new(Map::new(entries), None), &presentation))
    }

    #[test]
    fn values_stay_as_they_were_written() {
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
    fn what_may_be_secret_is_told_by_size_and_sum() {
        let abc = json!({
            "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "size": 3
        });
        for (name, value, expected) in [
            ("content", quoted("abc"), abc.clone()),
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
    fn what_is_secret_is_not_told_at_all() {
        let redacted = |text: &str| {
            let scalar = Scalar { text: text.into(), style: ScalarStyle::Redacted };
            Node { value: Written::Scalar(scalar), span: Span::default() }
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
