//! Order among values of one kind.

use std::cmp::Ordering;
use std::sync::Arc;

use jiff::Timestamp;

use crate::Value;
use crate::limits::{Budget, Exhausted};

/// Sort key of a value. All keys of one sort are of one variant.
#[derive(Clone, Debug)]
pub(crate) enum SortKey {
    Integer(i64),
    Number(f64),
    Text(Arc<str>),
    DateTime(Timestamp),
    Other,
}

impl PartialEq for SortKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for SortKey {}

impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Total even where the language has no order, because sorting by a partial order may panic.
impl Ord for SortKey {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(one), Self::Integer(two)) => one.cmp(two),
            (Self::Number(one), Self::Number(two)) => one.total_cmp(two),
            (Self::Text(one), Self::Text(two)) => one.cmp(two),
            (Self::DateTime(one), Self::DateTime(two)) => one.cmp(two),
            _ => Ordering::Equal,
        }
    }
}

pub(crate) fn key(value: &Value) -> SortKey {
    match value {
        Value::Int(number) | Value::Duration(number) => SortKey::Integer(*number),
        Value::Float(number) => SortKey::Number(*number),
        Value::Text(text) => SortKey::Text(Arc::clone(text)),
        Value::DateTime(date_time) => SortKey::DateTime(date_time.timestamp()),
        _ => SortKey::Other,
    }
}

/// Returns the sort key of each value, or the kinds of two values without a common order.
pub(crate) fn keys(values: &[Value]) -> Result<Vec<SortKey>, (&'static str, &'static str)> {
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
            Value::Int(number) if mixed => SortKey::Number(*number as f64),
            value => key(value),
        });
    }
    Ok(keys)
}

/// Charges for a sort: each value is read in about log₂(length) comparisons.
pub(crate) fn charge(values: &[Value], budget: &mut Budget) -> Result<(), Exhausted> {
    let length = |value: &Value| if let Value::Text(text) = value { text.len() } else { 0 };
    let bytes = values.iter().map(length).fold(0, usize::saturating_add);
    budget.steps(values.len())?;
    budget.read(bytes.saturating_mul(values.len().checked_ilog2().unwrap_or_default() as usize))
}

/// Message for an order other than `asc` and `desc`.
pub(crate) const OTHER_ORDER: &str = "expected \"asc\" or \"desc\", found other text";

/// Parses an order: `true` for descending.
pub(crate) fn descending(order: &str) -> Option<bool> {
    match order {
        "asc" => Some(false),
        "desc" => Some(true),
        _ => None,
    }
}

/// Sorts values by their keys; the sort is stable.
pub(crate) fn sort(values: &[Value], keys: &[SortKey], descending: bool) -> Vec<Value> {
    let mut order: Vec<usize> = (0..values.len().min(keys.len())).collect();
    order.sort_by(|one, two| {
        let ordering = keys[*one].cmp(&keys[*two]);
        if descending { ordering.reverse() } else { ordering }
    });
    order.into_iter().map(|at| values[at].clone()).collect()
}
