//! Order among values of one kind.

use std::cmp::Ordering;
use std::sync::Arc;

use jiff::Timestamp;

use crate::Value;
use crate::limits::{Budget, Exhausted};

/// What a value is sorted by. Within one sort all are of one variant.
#[derive(Clone, Debug)]
pub(crate) enum Key {
    Integer(i64),
    Number(f64),
    Text(Arc<str>),
    Moment(Timestamp),
    /// Without an order.
    Other,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Total even where the language has no order, because sorting by a broken order may panic.
impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(two)) => one.cmp(two),
            (Self::Number(one), Self::Number(two)) => one.total_cmp(two),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (Self::Moment(one), Self::Moment(two)) => one.cmp(two),
            _ => Ordering::Equal,
        }
    }
}

/// What a value is sorted by.
pub(crate) fn key(value: &Value) -> Key {
    match value {
        Value::Int(number) | Value::Duration(number) => Key::Integer(*number),
        Value::Float(number) => Key::Number(*number),
        Value::Text(text) => Key::Text(Arc::clone(text)),
        Value::Moment(moment) => Key::Moment(moment.timestamp()),
        _ => Key::Other,
    }
}

/// What each value is sorted by, or the kinds of two that have no order between them.
pub(crate) fn keys(values: &[Value]) -> Result<Vec<Key>, (&'static str, &'static str)> {
    let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
    let mixed = values.iter().any(|value| matches!(value, Value::Float(_)));
    let mut keys = Vec::with_capacity(values.len());
    for value in values {
        let first = &values[0];
        let ordered = match first.compare(value) {
            super::super::value::Compared::Meaningless => false,
            _ => is_number(first) == is_number(value),
        };
        if !ordered && values.len() > 1 {
            return Err((first.kind(), value.kind()));
        }
        keys.push(match value {
            #[allow(clippy::cast_precision_loss, reason = "the language compares mixed numbers as floats")]
            Value::Int(number) if mixed => Key::Number(*number as f64),
            value => key(value),
        });
    }
    Ok(keys)
}

/// Charges what it takes to sort values: each is read in about as many comparisons as the list halves.
pub(crate) fn charge(values: &[Value], budget: &mut Budget) -> Result<(), Exhausted> {
    let length = |value: &Value| if let Value::Text(text) = value { text.len() } else { 0 };
    let bytes = values.iter().map(length).fold(0, usize::saturating_add);
    budget.steps(values.len())?;
    budget.read(bytes.saturating_mul(values.len().checked_ilog2().unwrap_or_default() as usize))
}

/// Reads an order: whether it goes down.
pub(crate) fn descending(order: &str) -> Option<bool> {
    match order {
        "asc" => Some(false),
        "desc" => Some(true),
        _ => None,
    }
}

/// The values in the order of their keys; equal ones stay as they were.
pub(crate) fn sort(values: &[Value], keys: &[Key], descending: bool) -> Vec<Value> {
    let mut order: Vec<usize> = (0..values.len().min(keys.len())).collect();
    order.sort_by(|one, two| {
        let ordering = keys[*one].cmp(&keys[*two]);
        if descending { ordering.reverse() } else { ordering }
    });
    order.into_iter().map(|at| values[at].clone()).collect()
}
