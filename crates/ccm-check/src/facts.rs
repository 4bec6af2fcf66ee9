//! What rules ask of the machine.

use ccm_expr::Value;

use crate::kinds::Attribute;
use crate::rule::Rule;

/// Source of the values that rules judge.
///
/// Only attributes that a rule names are asked for, in the order in which they are judged, and none that an earlier
/// one makes superfluous. A source that has to wait for its values drives a [`Judgement`](crate::Judgement) itself.
pub trait Facts {
    /// Returns the value of an attribute of the subject of a rule.
    fn fact(&mut self, rule: &Rule, attribute: Attribute) -> Result<Fact, FactError>;
}

/// Value of an attribute on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The value.
    pub value: Value,
    /// Warning about the question, such as a unit that does not exist.
    pub warning: Option<String>,
}

impl Fact {
    /// Builds a fact without a warning.
    pub fn new(value: Value) -> Self {
        Self { value, warning: None }
    }
}

impl From<bool> for Fact {
    fn from(value: bool) -> Self {
        Self::new(Value::Bool(value))
    }
}

impl From<i64> for Fact {
    fn from(value: i64) -> Self {
        Self::new(Value::Int(value))
    }
}

impl From<&str> for Fact {
    fn from(value: &str) -> Self {
        Self::new(Value::text(value))
    }
}

impl FromIterator<String> for Fact {
    fn from_iter<I: IntoIterator<Item = String>>(texts: I) -> Self {
        Self::new(Value::list(texts.into_iter().map(Value::text)))
    }
}

/// Reason why there is no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactError {
    /// The value can't be read. That fails the rule, and is never a proof of absence.
    #[error("{0}")]
    Unreadable(String),
    /// This machine has nothing of the kind, such as no systemd. The rule is unknown.
    #[error("{0}")]
    Unsupported(String),
}
