//! Values that many types have.

use std::time::Duration;

use ccm_model::{Diagnostic, Node, NodeEntry, NodeValue, ScalarKind, Span, escape_control, parse_duration};
use serde_json::{Map as JsonObject, Value as Json};

use crate::decode::MAX_ERRORS;
use crate::{PropertyKind, PropertyValue, TextKind, TextValue, ValueError, expected};

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

/// Whole number in a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Integer<const MIN: i64, const MAX: i64>(pub i64);

impl<const MIN: i64, const MAX: i64> PropertyValue for Integer<MIN, MAX> {
    const KIND: PropertyKind = PropertyKind::Integer { min: Some(MIN), max: Some(MAX) };

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let number = i64::decode(node, errors)?;
        if (MIN..=MAX).contains(&number) {
            return Some(Self(number));
        }
        let error = ValueError::new(format!("expected a number between {MIN} and {MAX}, found {number}"));
        errors.push(error.at(node.span));
        None
    }
}

/// Text that is not blank. A [`Text`](crate::Text) may be.
impl TextValue for String {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::FILLED);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        if text.trim().is_empty() { Err(ValueError::new("the text is empty")) } else { Ok(text.to_owned()) }
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

/// Span of time above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositiveDuration(pub Duration);

impl TextValue for PositiveDuration {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::STRICT.matching("[1-9].*[a-zµ]\\s*$"));

    const NOUN: &'static str = "a duration such as `90s`";

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let duration = Duration::from_text(text)?;
        if duration.is_zero() {
            let error = ValueError::new("a duration of 0 is not allowed");
            return Err(error.with_hint("write a duration such as `90s` or `15m`"));
        }
        Ok(Self(duration))
    }
}

/// Value with its location.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Location: that of the value, or of the key of a list or map.
    pub span: Span,
}

impl<T: PropertyValue> PropertyValue for Located<T> {
    const KIND: PropertyKind = T::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        T::decode(node, errors).map(|value| Self { value, span: node.span })
    }

    fn decode_entry(entry: &NodeEntry, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let NodeEntry { key, value: node } = entry;
        let span = if node.as_scalar().is_some() { node.span } else { key.span };
        T::decode_entry(entry, errors).map(|value| Self { value, span })
    }
}

impl<T: PropertyValue> PropertyValue for Option<T> {
    const KIND: PropertyKind = T::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        T::decode(node, errors).map(Some)
    }

    fn decode_entry(entry: &NodeEntry, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        T::decode_entry(entry, errors).map(Some)
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
