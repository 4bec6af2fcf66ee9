//! Operators that evaluate both operands.

use std::cmp::Ordering;
use std::sync::Arc;

use super::Evaluator;
use crate::Value;
use crate::error::{Error, ExprResult};
use crate::time::DateTime;
use crate::tree::{NodeId, Operator};
use crate::value::Compared;

impl Evaluator<'_, '_> {
    pub(super) fn strict_operation(
        &mut self,
        id: NodeId,
        operator: Operator,
        (left_id, left): (NodeId, Value),
        (right_id, right): (NodeId, Value),
    ) -> ExprResult<Value> {
        if let (Value::Text(one), Value::Text(two)) = (&left, &right) {
            // A search reads both operands.
            let read = match operator {
                // `equal` charges for its operands itself.
                Operator::Equal | Operator::NotEqual => 0,
                Operator::Contains => one.len() + two.len(),
                _ => one.len().min(two.len()),
            };
            self.charge(id, |budget| budget.read(read))?;
        }
        let meaningless = |this: &Self| this.meaningless(id, operator, &left, &right);
        let value = match operator {
            Operator::Equal => Some(Value::Bool(self.equal(id, &left, &right)?)),
            Operator::NotEqual => Some(Value::Bool(!self.equal(id, &left, &right)?)),
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
                match left.compare(&right) {
                    Compared::Meaningless => None,
                    Compared::Unordered => Some(Value::Bool(false)),
                    Compared::Ordered(ordering) => Some(Value::Bool(match operator {
                        Operator::Less => ordering == Ordering::Less,
                        Operator::LessOrEqual => ordering != Ordering::Greater,
                        Operator::Greater => ordering == Ordering::Greater,
                        _ => ordering != Ordering::Less,
                    })),
                }
            }
            Operator::In => return self.contained(id, left_id, &left, right_id, &right),
            Operator::Matches | Operator::Contains | Operator::StartsWith | Operator::EndsWith => {
                return self.text_operation(id, operator, (left_id, &left), (right_id, &right));
            }
            Operator::Range => return self.range_of_integers(id, (left_id, &left), (right_id, &right)),
            Operator::Add => match (&left, &right) {
                (Value::Text(one), Value::Text(two)) => {
                    self.charge(id, |budget| budget.bytes(one.len() + two.len()))?;
                    Some(Value::text([&**one, &**two].concat()))
                }
                (Value::DateTime(date_time), Value::Duration(span))
                | (Value::Duration(span), Value::DateTime(date_time)) => {
                    Some(self.in_supported_years(id, date_time.plus(*span))?)
                }
                _ => sum(&left, &right),
            },
            Operator::Subtract => match (&left, &right) {
                (Value::DateTime(date_time), Value::Duration(span)) => {
                    Some(self.in_supported_years(id, date_time.plus(span.wrapping_neg()))?)
                }
                (Value::DateTime(one), Value::DateTime(two)) => Some(Value::Duration(one.since(two))),
                (Value::Duration(one), Value::Duration(two)) => Some(Value::Duration(one.wrapping_sub(*two))),
                _ => numeric(&left, &right, i64::wrapping_sub, |one, two| one - two),
            },
            Operator::Multiply => product(&left, &right),
            Operator::Divide => floats(&left, &right).map(|(one, two)| Value::Float(one / two)),
            Operator::Power => floats(&left, &right).map(|(one, two)| Value::Float(one.powf(two))),
            Operator::Modulo => match (&left, &right) {
                (Value::Int(_), Value::Int(0)) => {
                    return Err(Error::run(self.range(right_id), "the remainder of a division by zero"));
                }
                (Value::Int(one), Value::Int(two)) => Some(Value::Int(one.wrapping_rem(*two))),
                _ => None,
            },
            // Never reached: the evaluator handles these, because they need the right side only sometimes.
            Operator::And | Operator::Or | Operator::Coalesce => None,
        };
        value.ok_or_else(|| meaningless(self))
    }

    fn meaningless(&self, id: NodeId, operator: Operator, left: &Value, right: &Value) -> Box<Error> {
        let message =
            format!("`{}` has no meaning between {} and {}", sign(operator), left.kind(), right.kind());
        let error = Error::run(self.range(id), message);
        let one_text = matches!(left, Value::Text(_)) != matches!(right, Value::Text(_));
        let is_number = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
        let one_number = is_number(left) != is_number(right);
        if operator.hint_for_text().is_some() && one_number && (is_float(left) || is_float(right)) {
            return error
                .with_hint("turn the text into a number with float(…)")
                .with_hint("in data, a number such as `2.0` that would not be printed as written is text");
        }
        if let Some(hint) = operator.hint_for_text().filter(|_| one_text && one_number) {
            return error.with_hint(hint);
        }
        match operator {
            Operator::Add if one_text => error.with_hint("turn the other side into text with string(…)"),
            _ if left.is_null() || right.is_null() => {
                error.with_hint("write `value ?? default` to replace nil")
            }
            _ => error,
        }
    }

    fn in_supported_years(&self, id: NodeId, date_time: Option<DateTime>) -> ExprResult<Value> {
        date_time
            .map(Value::DateTime)
            .ok_or_else(|| Error::run(self.range(id), "this date is outside the supported years"))
    }

    /// Returns `true` if two values are equal; elements count as steps.
    fn equal(&mut self, id: NodeId, one: &Value, two: &Value) -> ExprResult<bool> {
        if let (Value::Text(one), Value::Text(two)) = (one, two) {
            self.charge(id, |budget| budget.read(if one.len() == two.len() { one.len() } else { 0 }))?;
        }
        if is_large(one) && is_large(two) {
            self.charge(id, |budget| budget.walk(one))?;
        }
        Ok(one == two || one.is_null() && two.is_null())
    }

    fn contained(
        &mut self,
        id: NodeId,
        needle_id: NodeId,
        needle: &Value,
        whole_id: NodeId,
        whole: &Value,
    ) -> ExprResult<Value> {
        let found = match (whole, needle) {
            (Value::Null, _) => false,
            (Value::List(list), needle) => {
                self.charge(id, |budget| budget.steps(list.len()))?;
                if is_large(needle) || matches!(needle, Value::Text(_)) {
                    let mut found = false;
                    for element in list.iter() {
                        found = self.equal(id, element, needle)?;
                        if found {
                            break;
                        }
                    }
                    found
                } else {
                    list.iter().any(|element| element == needle)
                }
            }
            (Value::Bytes(bytes), needle) => bytes.iter().any(|byte| Value::Int((*byte).into()) == *needle),
            (Value::Map(map), Value::Text(key)) => {
                self.charge(id, |budget| budget.read(key.len()))?;
                map.contains_key(key)
            }
            (Value::Map(map), Value::Null) => map.contains_key(""),
            (Value::Map(_), other) => {
                return Err(self.expected(needle_id, "text as the key of a map", other));
            }
            (Value::Groups(groups), key) => {
                self.charge(id, |budget| budget.compare(key, groups.len()))?;
                groups.iter().any(|(held, _)| held == key)
            }
            (other, _) => {
                let error = self.expected(whole_id, "a list or a map", other);
                let is_text = matches!(other, Value::Text(_));
                return Err(error.with_hint_if(is_text, "write `whole contains part` to search a text"));
            }
        };
        Ok(Value::Bool(found))
    }

    fn text_operation(
        &mut self,
        id: NodeId,
        operator: Operator,
        (left_id, left): (NodeId, &Value),
        (right_id, right): (NodeId, &Value),
    ) -> ExprResult<Value> {
        // A null operand matches nothing.
        if left.is_null() || right.is_null() {
            return Ok(Value::Bool(false));
        }
        let Value::Text(part) = right else { return Err(self.expected(right_id, "text", right)) };
        if operator == Operator::Matches {
            return self.matches_dynamic(id, left_id, left, right_id, part);
        }
        let Value::Text(text) = left else { return Err(self.expected(left_id, "text", left)) };
        Ok(Value::Bool(match operator {
            Operator::Contains => text.contains(&**part),
            Operator::StartsWith => text.starts_with(&**part),
            _ => text.ends_with(&**part),
        }))
    }

    fn range_of_integers(
        &mut self,
        id: NodeId,
        (left_id, left): (NodeId, &Value),
        (right_id, right): (NodeId, &Value),
    ) -> ExprResult<Value> {
        let bound = |this: &Self, id, value: &Value| match value {
            Value::Int(number) => Ok(*number),
            #[allow(clippy::cast_possible_truncation, reason = "the language cuts off the fraction")]
            Value::Float(number) => Ok(*number as i64),
            other => Err(this.expected(id, "an integer", other)),
        };
        let (first, last) = (bound(self, left_id, left)?, bound(self, right_id, right)?);
        if first > last {
            return Ok(Value::list([]));
        }
        let count = usize::try_from(i128::from(last) - i128::from(first) + 1).unwrap_or(usize::MAX);
        self.charge(id, |budget| budget.elements(count))?;
        Ok(Value::List(Arc::new((first..=last).map(Value::Int).collect())))
    }
}

fn is_large(value: &Value) -> bool {
    matches!(value, Value::List(_) | Value::Map(_) | Value::Groups(_))
}

pub(super) fn sum(left: &Value, right: &Value) -> Option<Value> {
    match (left, right) {
        (Value::Duration(one), Value::Duration(two)) => Some(Value::Duration(one.wrapping_add(*two))),
        _ => numeric(left, right, i64::wrapping_add, |one, two| one + two),
    }
}

fn numeric(
    left: &Value,
    right: &Value,
    integers: fn(i64, i64) -> i64,
    numbers: fn(f64, f64) -> f64,
) -> Option<Value> {
    if let (Value::Int(one), Value::Int(two)) = (left, right) {
        return Some(Value::Int(integers(*one, *two)));
    }
    floats(left, right).map(|(one, two)| Value::Float(numbers(one, two)))
}

#[allow(clippy::cast_precision_loss, reason = "the language works with floats where one is involved")]
fn floats(left: &Value, right: &Value) -> Option<(f64, f64)> {
    let float = |value: &Value| match value {
        Value::Int(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    };
    Some((float(left)?, float(right)?))
}

/// Multiplies numbers; a duration times a fraction is a number of nanoseconds.
#[allow(clippy::cast_precision_loss, reason = "the language works with floats where one is involved")]
fn product(left: &Value, right: &Value) -> Option<Value> {
    match (left, right) {
        (Value::Duration(span), Value::Int(times) | Value::Duration(times))
        | (Value::Int(times), Value::Duration(span)) => Some(Value::Duration(span.wrapping_mul(*times))),
        (Value::Duration(span), Value::Float(times)) | (Value::Float(times), Value::Duration(span)) => {
            Some(Value::Float(*span as f64 * times))
        }
        _ => numeric(left, right, i64::wrapping_mul, |one, two| one * two),
    }
}

fn sign(operator: Operator) -> &'static str {
    match operator {
        Operator::Or => "or",
        Operator::And => "and",
        Operator::Equal => "==",
        Operator::NotEqual => "!=",
        Operator::Less => "<",
        Operator::LessOrEqual => "<=",
        Operator::Greater => ">",
        Operator::GreaterOrEqual => ">=",
        Operator::In => "in",
        Operator::Matches => "matches",
        Operator::Contains => "contains",
        Operator::StartsWith => "startsWith",
        Operator::EndsWith => "endsWith",
        Operator::Range => "..",
        Operator::Add => "+",
        Operator::Subtract => "-",
        Operator::Multiply => "*",
        Operator::Divide => "/",
        Operator::Modulo => "%",
        Operator::Power => "**",
        Operator::Coalesce => "??",
    }
}

/// Returns `true` for text that is a number with a fraction.
fn is_float(value: &Value) -> bool {
    matches!(value, Value::Text(text) if text.contains('.') && text.trim().parse::<f64>().is_ok_and(f64::is_finite))
}
