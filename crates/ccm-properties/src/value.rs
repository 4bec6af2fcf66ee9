//! Values that many types have.

use std::time::Duration;

use ccm_model::{Diagnostic, Node, NodeValue, ScalarKind, escape_control, parse_duration};
use serde_json::{Map as JsonObject, Value as Json};

use crate::decode::MAX_ERRORS;
use crate::{PropertyKind, PropertyValue, TextValue, ValueError, expected};

impl PropertyValue for bool {
    const KIND: PropertyKind = PropertyKind::Boolean;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        match node.as_scalar().map(ccm_model::Scalar::kind) {
            Some(ScalarKind::Bool(value)) => Some(value),
            _ => wrong(node, "a boolean", errors),
        }
    }
}

impl PropertyValue for i64 {
    const KIND: PropertyKind = PropertyKind::Integer { min: None, max: None };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        match node.as_scalar().map(ccm_model::Scalar::kind) {
            Some(ScalarKind::Int(value)) => Some(value),
            _ => wrong(node, "a whole number", errors),
        }
    }
}

impl TextValue for Duration {
    const KIND: PropertyKind = PropertyKind::Duration;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        parse_duration(text).map_err(|error| {
            let hint = error.hint();
            ValueError::new(escape_control(&error.to_string())).with_hint(escape_control(&hint))
        })
    }
}

impl<T: PropertyValue> PropertyValue for Vec<T> {
    const KIND: PropertyKind = PropertyKind::List(&T::KIND);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(list) = node.as_list() else { return wrong(node, "a list", errors) };
        decode_all(list, errors, T::decode)
    }
}

/// One value, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneOrMany<T>(pub Vec<T>);

impl<T: PropertyValue> PropertyValue for OneOrMany<T> {
    const KIND: PropertyKind = PropertyKind::OneOrMany(&T::KIND);

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        match node.as_list() {
            Some(_) => Vec::decode(node, errors).map(Self),
            None => T::decode(node, errors).map(|one| Self(vec![one])),
        }
    }
}

/// Values by name, in manifest order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedValues<T>(pub Vec<(String, T)>);

impl<T: PropertyValue> PropertyValue for NamedValues<T> {
    const KIND: PropertyKind = PropertyKind::Map { keys: None, values: &T::KIND, min: 0 };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let Some(map) = node.as_map() else { return wrong(node, "a map", errors) };
        let decoded = decode_all(map.entries(), errors, |entry, errors| {
            T::decode(&entry.value, errors).map(|value| (entry.key.text.to_string(), value))
        });
        decoded.map(Self)
    }
}

/// Map of any values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonMap(pub JsonObject<String, Json>);

impl PropertyValue for JsonMap {
    const KIND: PropertyKind = PropertyKind::JsonMap;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        match json(node) {
            Json::Object(object) => Some(Self(object)),
            _ => wrong(node, "a map", errors),
        }
    }
}

impl PropertyValue for Json {
    const KIND: PropertyKind = PropertyKind::Json;

    fn decode(node: &Node, _: &mut Vec<Diagnostic>) -> Option<Self> {
        Some(json(node))
    }
}

/// Converts a node to JSON.
fn json(node: &Node) -> Json {
    match &node.value {
        NodeValue::List(elements) => elements.iter().map(json).collect(),
        NodeValue::Map(map) => {
            map.entries().iter().map(|entry| (entry.key.text.to_string(), json(&entry.value))).collect()
        }
        NodeValue::Scalar(scalar) => match scalar.kind() {
            ScalarKind::Null => Json::Null,
            ScalarKind::Bool(value) => value.into(),
            ScalarKind::Int(value) => value.into(),
            ScalarKind::Float(value) => value.into(),
            ScalarKind::Text => (*scalar.text).into(),
        },
    }
}

/// Decodes all parts of a value; `None` if one has an error.
fn decode_all<P, T>(
    parts: &[P],
    errors: &mut Vec<Diagnostic>,
    decode: impl Fn(&P, &mut Vec<Diagnostic>) -> Option<T>,
) -> Option<Vec<T>> {
    let mut decoded = Vec::with_capacity(parts.len());
    for part in parts {
        decoded.extend(decode(part, errors));
        if errors.len() >= MAX_ERRORS {
            break;
        }
    }
    (decoded.len() == parts.len()).then_some(decoded)
}

fn wrong<T>(node: &Node, what: &str, errors: &mut Vec<Diagnostic>) -> Option<T> {
    errors.push(expected(what, node));
    None
}
