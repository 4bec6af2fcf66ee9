//! The properties of a resource as JSON, without what may be secret.

use ccm_model::{Entry, Kind, Map, Node, Properties, REDACTED, Scalar, Value as Written};
use serde_json::{Map as Object, Number, Value, json};
use sha2::{Digest as _, Sha256};

/// Properties whose text is told by size and checksum only.
const HIDDEN: &[&str] = &["content", "stdin"];

/// Every property that is given, as it was written.
pub(super) fn shown(properties: &Properties) -> Value {
    let one = |entry: &Entry| {
        let name = &*entry.key.text;
        let value = match name {
            "environment" => environment(&entry.value),
            name if HIDDEN.contains(&name) => hidden(&entry.value),
            _ => node(&entry.value),
        };
        (name.to_owned(), value)
    };
    Value::Object(properties.given().map(one).collect())
}

fn node(node: &Node) -> Value {
    match &node.value {
        Written::Scalar(scalar) => self::scalar(scalar),
        Written::List(nodes) => nodes.iter().map(self::node).collect(),
        Written::Map(map) => map_of(map, node_of),
    }
}

fn node_of(entry: &Entry) -> Value {
    node(&entry.value)
}

fn map_of(map: &Map, value: impl Fn(&Entry) -> Value) -> Value {
    let entries = map.entries().iter().map(|entry| (entry.key.text.to_string(), value(entry)));
    Value::Object(entries.collect::<Object<_, _>>())
}

/// A number that would not come back as it was written (`0644`, `5.10`) is text.
fn scalar(scalar: &Scalar) -> Value {
    let number = match scalar.kind() {
        Kind::Null => return Value::Null,
        Kind::Bool(value) => return Value::Bool(value),
        Kind::Int(value) => Some(Number::from(value)),
        Kind::Float(value) => Number::from_f64(value),
        Kind::Text => None,
    };
    match number.filter(|number| number.to_string() == *scalar.text) {
        Some(number) => Value::Number(number),
        None => Value::String(scalar.text.to_string()),
    }
}

/// What stands in the place of a value that is not told.
fn hidden(node: &Node) -> Value {
    match node.as_scalar() {
        Some(scalar) => sum(&scalar.text),
        None => sum(&self::node(node).to_string()),
    }
}

/// Size and checksum; of what holds something that is not to be shown, not even these.
fn sum(text: &str) -> Value {
    if text.contains(REDACTED) {
        return REDACTED.into();
    }
    let mut hex = String::with_capacity(64);
    let digit = |number: u8| char::from_digit(u32::from(number), 16).unwrap_or('?');
    hex.extend(Sha256::digest(text.as_bytes()).iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    json!({ "sha256": hex, "size": text.len() })
}

/// The names of variables, each with what stands for its value.
fn environment(node: &Node) -> Value {
    match &node.value {
        Written::Map(map) => map_of(map, |entry| hidden(&entry.value)),
        Written::List(nodes) => {
            let entries = nodes.iter().map(|node| match node.as_scalar() {
                Some(scalar) => match scalar.text.split_once('=') {
                    Some((name, value)) => (name.to_owned(), sum(value)),
                    None => (scalar.text.to_string(), Value::Null),
                },
                None => (String::new(), hidden(node)),
            });
            Value::Object(entries.collect())
        }
        // One that is written as a single `NAME=VALUE`.
        Written::Scalar(_) => hidden(node),
    }
}

#[cfg(test)]
mod tests {
    use ccm_model::{Key, ScalarStyle, Span};

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
        super::shown(&Properties::new(Map::new(entries), None))
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
        let text = || quoted("a [redacted] b");
        let found = shown(vec![
            entry("content", text()),
            entry("environment", list(vec![plain("A=[redacted]"), plain("B=abc")])),
        ]);
        assert_eq!(found["content"], REDACTED);
        assert_eq!(found["environment"]["A"], REDACTED);
        assert_eq!(found["environment"]["B"]["size"], 3);
        assert_eq!(shown(vec![entry("environment", text())])["environment"], REDACTED);
    }
}
