//! Values for the tests of this crate.

use ccm_expr::Value;
use ccm_model::{Diagnostic, Node, SourceId, Span};
use proptest::prelude::*;

use crate::nodes::to_value;

pub(crate) fn node(yaml: &str) -> Node {
    let parsed = ccm_yaml::parse(SourceId(0), yaml, &ccm_yaml::Limits::default());
    parsed.expect("no error").unwrap_or_else(|| crate::nodes::from_value(&Value::Null, Span::default()))
}

pub(crate) fn value(yaml: &str) -> Value {
    to_value(&node(yaml))
}

/// Formats a diagnostic as `text: kind (text of a label) | code in a hint`; `…` is a hint without code.
pub(crate) fn line(text: &str, diagnostic: &Diagnostic) -> String {
    let covered = |span: Span| &text[span.range()];
    let mut line = format!("{}: {}", diagnostic.span().map_or("", covered), diagnostic.kind);
    for label in diagnostic.labels.iter().skip(1) {
        line += &format!(" ({})", covered(label.span));
    }
    for hint in &diagnostic.hints {
        let code: Vec<&str> = hint.split('`').skip(1).step_by(2).collect();
        line += &format!(" | {}", if code.is_empty() { "…".to_owned() } else { code.join(", ") });
    }
    line
}

/// Compares two values, including the order of keys.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        // Whole numbers are equal whatever their kind.
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            crate::printed::to_text(one) == crate::printed::to_text(other)
        }
        (Value::Null, Value::Null) => true,
        (Value::Bool(one), Value::Bool(other)) => one == other,
        (Value::Text(one), Value::Text(other)) => one == other,
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(&**other).all(|(one, other)| same(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            one.len() == other.len()
                && one.iter().zip(&**other).all(|(one, other)| one.0 == other.0 && same(one.1, other.1))
        }
        _ => false,
    }
}

/// Random values of a few levels.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Float),
        "[a-z0-9 .~]{0,6}".prop_map(Value::text),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::list),
            prop::collection::vec(("[a-d]", inner), 0..4).prop_map(Value::map),
        ]
    })
}

/// Random maps of a few levels.
pub(crate) fn any_map() -> impl Strategy<Value = Value> {
    prop::collection::vec(("[a-d]", any_value()), 0..4).prop_map(Value::map)
}
