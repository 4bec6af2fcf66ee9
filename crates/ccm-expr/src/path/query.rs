//! The conditions of queries: `==`, `!=`, `<`, `<=`, `>`, `>=`, `%`, `!%`, and `~` before an operand.

use super::limits::{Budget, PathLimit};
use super::pattern::Pattern;
use crate::Value;

/// What a query asks of a value.
#[derive(Clone, Debug)]
pub(super) enum Test {
    /// It is there.
    Exists,
    /// It compares as told with an operand.
    Compare(Operator, Box<Operand>),
    /// Its likeness compares as told with true: the operand was written with a `~`.
    Like(Operator, Likeness),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Matching,
    NotMatching,
}

/// What a value of any kind can be taken for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Likeness {
    True,
    False,
    Null,
    Present,
}

/// What is written to the right of an operator, in each meaning that it can have.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    text: Box<str>,
    integer: Option<i64>,
    number: f64,
    pattern: Pattern,
}

impl Operand {
    pub(super) fn new(text: &str) -> Self {
        Self {
            text: text.into(),
            integer: text.parse().ok(),
            // Beside a number, text that is no number counts as 0: so says the reference.
            number: text.parse().unwrap_or(0.0),
            pattern: Pattern::parse(text),
        }
    }
}

impl Test {
    /// Whether a value, or the lack of one, passes.
    pub(super) fn passes(&self, value: Option<&Value>, budget: &mut Budget) -> Result<bool, PathLimit> {
        Ok(match (self, value) {
            (Self::Exists, value) => value.is_some(),
            (Self::Like(operator, likeness), value) => {
                compare_booleans(*operator, likeness.fits(value), "true")
            }
            (Self::Compare(..), None) => false,
            (Self::Compare(operator, operand), Some(value)) => match value {
                Value::Text(text) => {
                    budget.spend(1 + text.len() / 64)?;
                    match operator {
                        Operator::Matching | Operator::NotMatching => {
                            budget.spend(operand.pattern.cost(text))?;
                            operand.pattern.matches(text) == (*operator == Operator::Matching)
                        }
                        _ => ordered(*operator, Some((**text).cmp(&operand.text))),
                    }
                }
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "fractions are compared as the numbers that they are"
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

fn ordered(operator: Operator, ordering: Option<std::cmp::Ordering>) -> bool {
    match operator {
        Operator::Equal => ordering.is_some_and(std::cmp::Ordering::is_eq),
        Operator::Unequal => !ordering.is_some_and(std::cmp::Ordering::is_eq),
        Operator::Less => ordering.is_some_and(std::cmp::Ordering::is_lt),
        Operator::LessOrEqual => ordering.is_some_and(std::cmp::Ordering::is_le),
        Operator::Greater => ordering.is_some_and(std::cmp::Ordering::is_gt),
        Operator::GreaterOrEqual => ordering.is_some_and(std::cmp::Ordering::is_ge),
        Operator::Matching | Operator::NotMatching => false,
    }
}

/// False is less than true, and a boolean is at least or at most itself whatever it is compared with.
fn compare_booleans(operator: Operator, boolean: bool, other: &str) -> bool {
    let (same, opposite) = if boolean { ("true", "false") } else { ("false", "true") };
    match operator {
        Operator::Equal => other == same,
        Operator::Unequal => other != same,
        Operator::Less => !boolean && other == opposite,
        Operator::LessOrEqual => !boolean,
        Operator::Greater => boolean && other == opposite,
        Operator::GreaterOrEqual => boolean,
        Operator::Matching | Operator::NotMatching => false,
    }
}

impl Likeness {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "true" => Some(Self::True),
            "false" => Some(Self::False),
            "null" => Some(Self::Null),
            "*" => Some(Self::Present),
            _ => None,
        }
    }

    fn fits(self, value: Option<&Value>) -> bool {
        match self {
            Self::Present => value.is_some(),
            Self::Null => matches!(value, None | Some(Value::Null)),
            Self::True => value.and_then(truth) == Some(true),
            Self::False => value.is_none_or(|value| truth(value) == Some(false)),
        }
    }
}

/// What a value says about truth, if anything.
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
