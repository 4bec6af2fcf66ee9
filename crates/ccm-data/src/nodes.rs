//! Conversion of nodes to values and back.

use std::sync::Arc;

use ccm_expr::{Map, Value};
use ccm_model::{Node, NodeEntry, NodeKey, Scalar, ScalarKind, ScalarStyle, Span};

use crate::printed;

/// Converts a node to a value. A number becomes text if its form would be lost (`0644`, `5.10`, `0x1F`, more
/// than 64 bits) or if it has an exponent. `yes` and `on` are text.
pub fn to_value(node: &Node) -> Value {
    match &node.value {
        ccm_model::NodeValue::Scalar(scalar) => of_scalar(scalar),
        ccm_model::NodeValue::List(elements) => Value::list(elements.iter().map(to_value)),
        ccm_model::NodeValue::Map(map) => {
            Value::map(map.entries().iter().map(|entry| (&*entry.key.text, to_value(&entry.value))))
        }
    }
}

/// Converts a scalar to a value.
pub fn of_scalar(scalar: &Scalar) -> Value {
    let number = match scalar.kind() {
        ScalarKind::Null => return Value::Null,
        ScalarKind::Bool(boolean) => return Value::Bool(boolean),
        ScalarKind::Int(number) => Value::Int(number),
        ScalarKind::Float(number) => Value::Float(number),
        ScalarKind::Text => return Value::text(&*scalar.text),
    };
    match number {
        Value::Int(_) if printed::to_text(&number) == *scalar.text => number,
        // Text with an exponent stays text, even in its printed form (`1e300`).
        Value::Float(float)
            if float.is_finite()
                && !scalar.text.contains('e')
                && printed::format_float(float) == *scalar.text =>
        {
            number
        }
        _ if scalar.style == ScalarStyle::Computed => number,
        _ => Value::text(&*scalar.text),
    }
}

/// Converts the value of an expression to a node whose spans are that of the expression. Text is quoted, so
/// that it stays text. Numbers, booleans and null are computed.
pub fn from_value(value: &Value, span: Span) -> Node {
    let computed =
        |text: &str| ccm_model::NodeValue::Scalar(Scalar { text: text.into(), style: ScalarStyle::Computed });
    let value = match value {
        Value::Text(text) => return Node::text(&**text, span),
        Value::List(elements) => {
            ccm_model::NodeValue::List(elements.iter().map(|element| from_value(element, span)).collect())
        }
        Value::Map(map) => ccm_model::NodeValue::Map(map_to_nodes(map, span)),
        Value::Groups(entries) => ccm_model::NodeValue::Map(map_to_nodes(&with_text_keys(entries), span)),
        Value::Bytes(_) | Value::Duration(_) | Value::DateTime(_) | Value::Calendar(_) => {
            return Node::text(&*printed::to_text(value), span);
        }
        Value::Null => computed("null"),
        // A whole float is printed as an integer: the `2` of a division.
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => computed(&printed::to_text(value)),
    };
    Node { value, span }
}

/// Converts a map with any keys to one with text keys.
pub(crate) fn with_text_keys(entries: &[(Value, Value)]) -> Map {
    entries.iter().map(|(key, value)| (Arc::from(&*printed::to_text(key)), value.clone())).collect()
}

fn map_to_nodes(map: &Map, span: Span) -> ccm_model::NodeMap {
    let entry = |(key, value): (&Arc<str>, &Value)| NodeEntry {
        key: NodeKey { text: (&**key).into(), span },
        value: from_value(value, span),
    };
    ccm_model::NodeMap::new(map.iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use ccm_model::SourceId;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_value, same, value};

    #[test]
    fn a_number_in_its_printed_form_is_a_number() {
        for (text, number) in [
            ("0", Value::Int(0)),
            ("-7", Value::Int(-7)),
            ("644", Value::Int(644)),
            ("9223372036854775807", Value::Int(i64::MAX)),
            ("1.5", Value::Float(1.5)),
            ("-0.25", Value::Float(-0.25)),
            ("22.04", Value::Float(22.04)),
        ] {
            assert!(same(&value(text), &number), "{text}: {:?}", value(text));
        }
    }

    #[test]
    fn a_number_in_another_form_or_with_an_exponent_is_text() {
        for text in [
            "0644",
            "5.10",
            "1e3",
            "0x1F",
            "0o644",
            "+5",
            "-0",
            ".5",
            "5.",
            "1.0",
            ".inf",
            "-.inf",
            ".nan",
            "1e400",
            "99999999999999999999",
            "100000000000000000000",
            "0.1000",
            "1.5e-9",
            "0.10000000000000000001",
            "yes",
            "on",
            "1:30",
            "1_000",
            "2026-01-01",
        ] {
            assert!(same(&value(text), &Value::text(text)), "{text}: {:?}", value(text));
        }
    }

    #[test]
    fn other_scalars_follow_yaml() {
        for (text, expected) in [
            ("~", Value::Null),
            ("null", Value::Null),
            ("True", Value::Bool(true)),
            ("false", Value::Bool(false)),
            ("\"5\"", Value::text("5")),
            ("'null'", Value::text("null")),
            ("!!str 5", Value::text("5")),
            ("|-\n  5", Value::text("5")),
            (
                "[1, [], {a: }]",
                Value::list([Value::Int(1), Value::list([]), Value::map([("a", Value::Null)])]),
            ),
            (
                "{b: 1, a: x, 0644: 5.10}",
                Value::map([("b", Value::Int(1)), ("a", Value::text("x")), ("0644", Value::text("5.10"))]),
            ),
        ] {
            assert!(same(&value(text), &expected), "{text}: {:?}", value(text));
        }
    }

    #[test]
    fn computed_values_keep_their_kind_except_for_whole_floats() {
        let span = Span::new(SourceId(3), 5, 9);
        for (value, style, kind) in [
            (Value::text("5"), ScalarStyle::Quoted, ScalarKind::Text),
            (Value::text(""), ScalarStyle::Quoted, ScalarKind::Text),
            (Value::Int(5), ScalarStyle::Computed, ScalarKind::Int(5)),
            (Value::Float(1.5), ScalarStyle::Computed, ScalarKind::Float(1.5)),
            // A division yields a float even for a whole number.
            (Value::Float(2.0), ScalarStyle::Computed, ScalarKind::Int(2)),
            (Value::Float(1e300), ScalarStyle::Computed, ScalarKind::Float(1e300)),
            (Value::Float(f64::INFINITY), ScalarStyle::Computed, ScalarKind::Float(f64::INFINITY)),
            (Value::Bool(true), ScalarStyle::Computed, ScalarKind::Bool(true)),
            (Value::Null, ScalarStyle::Computed, ScalarKind::Null),
        ] {
            let node = from_value(&value, span);
            let scalar = node.as_scalar().expect("a scalar");
            assert_eq!((scalar.style, scalar.kind(), node.span), (style, kind, span), "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn values_survive_the_conversion_to_nodes(value in any_value()) {
            let node = from_value(&value, Span::default());
            prop_assert!(same(&to_value(&node), &value), "{node:?}");
        }
    }
}
