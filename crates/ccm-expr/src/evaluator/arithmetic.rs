//! Operators that evaluate both operands.

use std::cmp::Ordering;
use std::ops::Range;
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
        let value = match operator {
            Operator::Equal | Operator::NotEqual => {
                if self.scope.strict() {
                    self.refuse_for_booleans(id, &left, &right)?;
                }
                Ok(Value::Bool(self.equal(id, &left, &right)? == (operator == Operator::Equal)))
            }
            Operator::Less | Operator::LessOrEqual | Operator::Greater | Operator::GreaterOrEqual => {
                match left.compare(&right) {
                    Compared::Meaningless => Err(NoResult::Meaningless),
                    Compared::Unordered => Ok(Value::Bool(false)),
                    Compared::Ordered(ordering) => Ok(Value::Bool(match operator {
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
                    Ok(Value::text([&**one, &**two].concat()))
                }
                (Value::DateTime(date_time), Value::Duration(span))
                | (Value::Duration(span), Value::DateTime(date_time)) => {
                    Ok(self.in_supported_years(id, date_time.plus(*span))?)
                }
                _ => sum(&left, &right),
            },
            Operator::Subtract => match (&left, &right) {
                (Value::DateTime(date_time), Value::Duration(span)) => {
                    let earlier = span.checked_neg().and_then(|span| date_time.plus(span));
                    Ok(self.in_supported_years(id, earlier)?)
                }
                (Value::DateTime(one), Value::DateTime(two)) => Ok(Value::Duration(one.since(two))),
                (Value::Duration(one), Value::Duration(two)) => duration(one.checked_sub(*two)),
                _ => numeric(&left, &right, i64::checked_sub, |one, two| one - two),
            },
            Operator::Multiply => product(&left, &right),
            Operator::Divide => match floats(&left, &right) {
                Some((_, 0.0)) => {
                    let error = Error::run(self.range(right_id), "the quotient of a division by zero");
                    return Err(error.with_hint("test the divisor: `b == 0 ? 0 : a / b`"));
                }
                numbers => float(numbers.map(|(one, two)| one / two)),
            },
            Operator::Power => float(floats(&left, &right).map(|(one, two)| one.powf(two))),
            Operator::Modulo => match (&left, &right) {
                (Value::Int(_), Value::Int(0)) => {
                    return Err(Error::run(self.range(right_id), "the remainder of a division by zero"));
                }
                (Value::Int(one), Value::Int(two)) => Ok(Value::Int(one.wrapping_rem(*two))),
                _ => Err(NoResult::Meaningless),
            },
            // Never reached: the evaluator handles these, because they need the right side only sometimes.
            Operator::And | Operator::Or | Operator::Coalesce => Err(NoResult::Meaningless),
        };
        value.map_err(|reason| match reason {
            NoResult::Meaningless => self.meaningless(id, operator, &left, &right),
            reason => reason.at(self.range(id), sign(operator)),
        })
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

    /// Refuses to compare a boolean with a number, or with a text for yes or no: they are never equal.
    fn refuse_for_booleans(&self, id: NodeId, one: &Value, two: &Value) -> ExprResult<()> {
        const WORDS: [&str; 8] = ["yes", "no", "on", "off", "y", "n", "1", "0"];
        let ((Value::Bool(boolean), other) | (other, Value::Bool(boolean))) = (one, two) else {
            return Ok(());
        };
        let (shown, hint) = match other {
            Value::Int(_) | Value::Float(_) => {
                (other.kind().to_owned(), "compare two numbers, such as `VALUE != 0`")
            }
            Value::Text(text) if WORDS.iter().any(|word| text.trim().eq_ignore_ascii_case(word)) => (
                format!("the text `{text}`"),
                "write `true` or `false` where the value is given, or compare two texts",
            ),
            _ => return Ok(()),
        };
        let message = format!("{shown} is never equal to the boolean `{boolean}`");
        Err(Error::run(self.range(id), message).with_hint(hint))
    }

    /// Refuses to compare a text with the number or boolean that it spells: they are never equal, which nobody means.
    fn refuse_look_alikes(&self, id: NodeId, one: &Value, two: &Value) -> ExprResult<()> {
        let (text, other) = match (one, two) {
            (Value::Text(text), other) | (other, Value::Text(text)) => (text.trim(), other),
            _ => return Ok(()),
        };
        let hint = match other {
            Value::Int(_) | Value::Float(_) if text.parse::<f64>().is_ok_and(f64::is_finite) => {
                "compare two numbers, such as `int(TEXT) == 80`, or two texts"
            }
            Value::Bool(_) if ["true", "false"].iter().any(|word| text.eq_ignore_ascii_case(word)) => {
                "remove the quotes around the value where it is given, or compare two texts"
            }
            _ => return Ok(()),
        };
        let message = format!("the text `{text}` is never equal to {} `{other}`", other.kind());
        Err(Error::run(self.range(id), message).with_hint(hint))
    }

    /// Returns `true` if two values are equal; elements count as steps.
    fn equal(&mut self, id: NodeId, one: &Value, two: &Value) -> ExprResult<bool> {
        if let (Value::Text(one), Value::Text(two)) = (one, two) {
            self.charge(id, |budget| budget.read(if one.len() == two.len() { one.len() } else { 0 }))?;
        }
        if is_large(one) && is_large(two) {
            self.charge(id, |budget| budget.walk(one))?;
        }
        self.refuse_look_alikes(id, one, two)?;
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
                let is_of_kind = |element: &Value| element.kind() == needle.kind();
                if self.scope.strict() && !list.iter().any(is_of_kind) {
                    list.iter().try_for_each(|element| self.refuse_for_booleans(id, element, needle))?;
                }
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

/// Reason why operands have no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoResult {
    /// The operator has no meaning between operands of these kinds.
    Meaningless,
    /// The result needs more than 64 bits.
    IntegerRange,
    /// The result is longer than the longest duration.
    DurationRange,
    /// The result is larger than the largest number.
    NumberRange,
    /// There is no such number, such as the square root of a negative one.
    NoNumber,
}

impl NoResult {
    /// Builds the error of an operator or a function.
    pub(crate) fn at(self, range: Range<usize>, sign: &str) -> Box<Error> {
        let reason = match self {
            Self::Meaningless => "has no meaning here",
            Self::IntegerRange => "is out of the range of integers, which have 64 bits",
            Self::DurationRange => "is out of the range of durations, which is about 292 years",
            Self::NumberRange => "is larger than the largest number",
            Self::NoNumber => "is no number",
        };
        let error = Error::run(range, format!("the result of `{sign}` {reason}"));
        error.with_hint_if(self == Self::IntegerRange, "turn an operand into a larger number with float(…)")
    }
}

/// Returns a number, unless there are no operands or the number is infinite or none.
pub(crate) fn float(number: Option<f64>) -> Result<Value, NoResult> {
    match number {
        None => Err(NoResult::Meaningless),
        Some(number) if number.is_nan() => Err(NoResult::NoNumber),
        Some(number) if number.is_infinite() => Err(NoResult::NumberRange),
        Some(number) => Ok(Value::Float(number)),
    }
}

fn duration(span: Option<i64>) -> Result<Value, NoResult> {
    span.map(Value::Duration).ok_or(NoResult::DurationRange)
}

pub(super) fn sum(left: &Value, right: &Value) -> Result<Value, NoResult> {
    match (left, right) {
        (Value::Duration(one), Value::Duration(two)) => duration(one.checked_add(*two)),
        _ => numeric(left, right, i64::checked_add, |one, two| one + two),
    }
}

fn numeric(
    left: &Value,
    right: &Value,
    integers: fn(i64, i64) -> Option<i64>,
    numbers: fn(f64, f64) -> f64,
) -> Result<Value, NoResult> {
    if let (Value::Int(one), Value::Int(two)) = (left, right) {
        return integers(*one, *two).map(Value::Int).ok_or(NoResult::IntegerRange);
    }
    float(floats(left, right).map(|(one, two)| numbers(one, two)))
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
fn product(left: &Value, right: &Value) -> Result<Value, NoResult> {
    match (left, right) {
        (Value::Duration(span), Value::Int(times) | Value::Duration(times))
        | (Value::Int(times), Value::Duration(span)) => duration(span.checked_mul(*times)),
        (Value::Duration(span), Value::Float(times)) | (Value::Float(times), Value::Duration(span)) => {
            float(Some(*span as f64 * times))
        }
        _ => numeric(left, right, i64::checked_mul, |one, two| one * two),
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
