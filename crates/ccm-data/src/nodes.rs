//! From what was written to values, and back.

use std::sync::Arc;

use ccm_expr::{Map, Value};
use ccm_model::{Entry, Key, Kind, Node, Scalar, ScalarStyle, Span};

use crate::printed;

/// The value of a node, as data knows it.
///
/// A number that would be printed in another way than it was written (`0644`, `5.10`, `1e3`, `0x1F`, or an
/// integer beyond 64 bits) is text: whoever wrote it so meant it so. `yes` and `on` are text.
pub fn to_value(node: &Node) -> Value {
    match &node.value {
        ccm_model::Value::Scalar(scalar) => of_scalar(scalar),
        ccm_model::Value::List(elements) => Value::list(elements.iter().map(to_value)),
        ccm_model::Value::Map(map) => {
            Value::map(map.entries().iter().map(|entry| (&*entry.key.text, to_value(&entry.value))))
        }
    }
}

/// The value of a scalar, as data knows it.
pub fn of_scalar(scalar: &Scalar) -> Value {
    let number = match scalar.kind() {
        Kind::Null => return Value::Null,
        Kind::Bool(boolean) => return Value::Bool(boolean),
        Kind::Int(number) => Value::Int(number),
        Kind::Float(number) => Value::Float(number),
        Kind::Text => return Value::text(&*scalar.text),
    };
    // A computed number was never written; it has the form in which it is printed, so that `2` from a division
    // is as good as an integer.
    let has_fraction = || scalar.text.contains('.') && !scalar.text.contains('e');
    match number {
        Value::Int(_) if printed::to_text(&number) == *scalar.text => number,
        // A text of digits alone is no number if it doesn't fit an integer, for it would lose some of them.
        Value::Float(float)
            if printed::float(float) == *scalar.text && has_fraction() && float.is_finite() =>
        {
            number
        }
        _ if scalar.style == ScalarStyle::Computed => number,
        _ => Value::text(&*scalar.text),
    }
}

/// The node of what an expression yielded; all of it stands where the expression does.
///
/// Text is quoted, so that it stays text whatever it looks like. Numbers, booleans and null are computed.
pub fn from_value(value: &Value, span: Span) -> Node {
    let computed =
        |text: &str| ccm_model::Value::Scalar(Scalar { text: text.into(), style: ScalarStyle::Computed });
    let value = match value {
        Value::Text(text) => return Node::text(&**text, span),
        Value::List(elements) => {
            ccm_model::Value::List(elements.iter().map(|element| from_value(element, span)).collect())
        }
        Value::Map(map) => ccm_model::Value::Map(of_map(map, span)),
        Value::Groups(entries) => ccm_model::Value::Map(of_map(&named(entries), span)),
        Value::Bytes(_) | Value::Duration(_) | Value::Moment(_) | Value::Calendar(_) => {
            return Node::text(&*printed::to_text(value), span);
        }
        Value::Null => computed("null"),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) => computed(&printed::to_text(value)),
    };
    Node { value, span }
}

/// A map whose keys are the texts of other keys.
pub(crate) fn named(entries: &[(Value, Value)]) -> Map {
    entries.iter().map(|(key, value)| (Arc::from(&*printed::to_text(key)), value.clone())).collect()
}

fn of_map(map: &Map, span: Span) -> ccm_model::Map {
    let entry = |(key, value): (&Arc<str>, &Value)| Entry {
        key: Key { text: (&**key).into(), span },
        value: from_value(value, span),
    };
    ccm_model::Map::new(map.iter().map(entry).collect())
}

#[cfg(test)]
mod tests {
    use ccm_model::SourceId;
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_value, same, value};

    #[test]
    fn a_number_that_is_written_as_it_is_printed_is_one() {
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
    fn a_number_that_would_be_printed_otherwise_is_text() {
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
    fn the_rest_is_what_yaml_says() {
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
    fn what_an_expression_yields_keeps_its_kind() {
        let span = Span::new(SourceId(3), 5, 9);
        for (value, style, kind) in [
            (Value::text("5"), ScalarStyle::Quoted, Kind::Text),
            (Value::text(""), ScalarStyle::Quoted, Kind::Text),
            (Value::Int(5), ScalarStyle::Computed, Kind::Int(5)),
            (Value::Float(1.5), ScalarStyle::Computed, Kind::Float(1.5)),
            // A division yields a number with a fraction, though it may be none.
            (Value::Float(2.0), ScalarStyle::Computed, Kind::Int(2)),
            (Value::Float(1e300), ScalarStyle::Computed, Kind::Float(1e300)),
            (Value::Float(f64::INFINITY), ScalarStyle::Computed, Kind::Float(f64::INFINITY)),
            (Value::Bool(true), ScalarStyle::Computed, Kind::Bool(true)),
            (Value::Null, ScalarStyle::Computed, Kind::Null),
        ] {
            let node = from_value(&value, span);
            let scalar = node.as_scalar().expect("a scalar");
            assert_eq!((scalar.style, scalar.kind(), node.span), (style, kind, span), "{value:?}");
        }
    }

    proptest! {
        #[test]
        fn values_survive_the_way_through_nodes(value in any_value()) {
            let node = from_value(&value, Span::default());
            prop_assert!(same(&to_value(&node), &value), "{node:?}");
        }
    }
}
