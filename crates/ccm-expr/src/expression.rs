//! The expression itself.

use std::fmt;
use std::sync::Arc;

use crate::mentions::{self, Mentions};
use crate::tree::Tree;
use crate::{Error, Known, Scope, Value, evaluator, parser};

/// An expression that was read. Cloning is cheap.
#[derive(Clone)]
pub struct Expression(Arc<Tree>);

impl Expression {
    /// Reads an expression that knows no functions but those of the language.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_with(text, &Known::default())
    }

    /// Reads an expression.
    pub fn parse_with(text: &str, known: &Known<'_>) -> Result<Self, Error> {
        parser::parse(text, known).map(|tree| Self(Arc::new(tree))).map_err(|error| *error)
    }

    /// Works out its value.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<Value, Error> {
        evaluator::evaluate(&self.0, scope).map_err(|error| *error)
    }

    /// What it names and calls, without evaluating anything.
    pub fn mentions(&self) -> Mentions {
        mentions::collect(&self.0)
    }

    /// Its text.
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Expression").field(&self.text()).finish()
    }
}
