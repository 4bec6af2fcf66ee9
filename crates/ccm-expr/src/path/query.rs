//! Conditions of queries: `==`, `!=`, `<`, `<=`, `>`, `>=`, `%`, `!%`, and `~` before an operand.

use ccm_model::Wildcards;

use super::limits::{LookupBudget, PathLimit};
use super::pattern;
use crate::Value;

#[derive(Clone, Debug)]
pub(super) enum Test {
    Exists,
    Compare(QueryOperator, Box<QueryOperand>),
    /// `~` before the operand: tests whether the value matches the [`TruthTest`], then compares the result with
    /// true.
    Truth(QueryOperator, TruthTest),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueryOperator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matching,
    NotMatching,
}

/// Operand after `~`, to which the converted value is compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum TruthTest {
    True,
    False,
    Null,
    Present,
}

/// Right side of an operator, in each type that it may be compared as.
#[derive(Clone, Debug)]
pub(super) struct QueryOperand {
    text: Box<str>,
    integer: Option<i64>,
    number: f64,
    pattern: Wildcards,
}

impl QueryOperand {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            integer: text.parse().ok(),
            // gjson reads text that is not a number as 0.
            number: text.parse().unwrap_or(0.0),
            pattern: pattern::parse(text),
        }
    }
}

impl Test {
    /// Returns `true` if a value, or the lack of one, passes.
    pub(super) fn passes(&self, value: Option<&Value>, budget: &mut LookupBudget) -> Result<bool, PathLimit> {
        Ok(match (self, value) {
            (Self::Exists, value) => value.is_some(),
            (Self::Truth(operator, truth_test), value) => {
                compare_booleans(*operator, truth_test.matches(value), "true")
            }
            (Self::Compare(..), None) => false,
            (Self::Compare(operator, operand), Some(value)) => match value {
                Value::Text(text) => {
                    budget.spend(1 + text.len() / 64)?;
                    match operator {
                        QueryOperator::Matching | QueryOperator::NotMatching => {
                            budget.spend(pattern::cost(&operand.pattern, text))?;
                            operand.pattern.matches(&**text) == (*operator == QueryOperator::Matching)
                        }
                        _ => ordered(*operator, Some((**text).cmp(&operand.text))),
                    }
                }
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "the operand is no integer, so both are compared as floats"
                )]
                Value::Int(integer) => match operand.integer {
                    Some(other) => ordered(*operator, Some(integer.cmp(&other))),
                    None => ordered(*operator, (*integer as f64).partial_cmp(&operand.number)),
                },
                Value::Float(number) => ordered(*operator, number.partial_cmp(&operand.number)),
                Value::Bool(boolean) => compare_booleans(*operator, *boolean, &operand.text),
                _ => false,
            },
        })
    }
}

fn ordered(operator: QueryOperator, ordering: Option<std::cmp::Ordering>) -> bool {
    match operator {
        QueryOperator::Equal => ordering.is_some_and(std::cmp::Ordering::is_eq),
        QueryOperator::Unequal => !ordering.is_some_and(std::cmp::Ordering::is_eq),
        QueryOperator::Less => ordering.is_some_and(std::cmp::Ordering::is_lt),
        QueryOperator::LessOrEqual => ordering.is_some_and(std::cmp::Ordering::is_le),
        QueryOperator::Greater => ordering.is_some_and(std::cmp::Ordering::is_gt),
        QueryOperator::GreaterOrEqual => ordering.is_some_and(std::cmp::Ordering::is_ge),
        QueryOperator::Matching | QueryOperator::NotMatching => false,
    }
}

/// Compares as gjson does: `true >= x` and `false <= x` hold for every `x`, `true <= x` and `false >= x` for none.
fn compare_booleans(operator: QueryOperator, boolean: bool, other: &str) -> bool {
    let (same, opposite) = if boolean { ("true", "false") } else { ("false", "true") };
    match operator {
        QueryOperator::Equal => other == same,
        QueryOperator::Unequal => other != same,
        QueryOperator::Less => !boolean && other == opposite,
        QueryOperator::LessOrEqual => !boolean,
        QueryOperator::Greater => boolean && other == opposite,
        QueryOperator::GreaterOrEqual => boolean,
        QueryOperator::Matching | QueryOperator::NotMatching => false,
    }
}

impl TruthTest {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "true" => Some(Self::True),
            "false" => Some(Self::False),
            "null" => Some(Self::Null),
            "*" => Some(Self::Present),
            _ => None,
        }
    }

    fn matches(self, value: Option<&Value>) -> bool {
        match self {
            Self::Present => value.is_some(),
            Self::Null => matches!(value, None | Some(Value::Null)),
            Self::True => value.and_then(truth) == Some(true),
            Self::False => value.is_none_or(|value| truth(value) == Some(false)),
        }
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Null => Some(false),
        Value::Bool(boolean) => Some(*boolean),
        Value::Int(integer) => Some(*integer != 0),
        Value::Float(number) => Some(*number != 0.0),
        Value::Text(text) => {
            let is = |words: [&str; 3]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
            if is(["1", "t", "true"]) {
                Some(true)
            } else if is(["0", "f", "false"]) {
                Some(false)
            } else {
                None
            }
        }
        _ => None,
    }
}
