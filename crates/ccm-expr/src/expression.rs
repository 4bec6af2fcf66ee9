//! Parsed expressions.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::comparisons::{self, Comparison, Subject};
use crate::mentions::{self, Mentions};
use crate::tree::{NodeKind, SyntaxTree};
use crate::{Error, ParseContext, Scope, Value, evaluator, lexer, parser};

/// Parsed expression. Cloning is cheap.
#[derive(Clone)]
pub struct Expression(Arc<SyntaxTree>);

impl Expression {
    /// Parses an expression that calls only functions of the language.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_with(text, &ParseContext::default())
    }

    /// Parses an expression.
    pub fn parse_with(text: &str, context: &ParseContext<'_>) -> Result<Self, Error> {
        parser::parse(text, context).map(|tree| Self(Arc::new(tree))).map_err(|error| *error)
    }

    /// Evaluates the expression.
    pub fn evaluate(&self, scope: &dyn Scope) -> Result<Value, Error> {
        evaluator::evaluate(&self.0, scope).map_err(|error| *error)
    }

    /// Returns the names and calls in the expression, without evaluating anything.
    pub fn mentions(&self) -> Mentions {
        mentions::collect(&self.0)
    }

    /// Returns the comparisons with constants in the expression, without evaluating anything.
    pub fn comparisons(&self) -> Vec<Comparison> {
        comparisons::collect(&self.0)
    }

    /// Returns the name and the keys that the whole expression stands for, unless it computes its value.
    pub fn subject(&self) -> Option<Subject> {
        comparisons::subject(&self.0)
    }

    /// Returns the bytes of each comment that begins with `//` and ends its line or the text.
    pub fn line_comments(&self) -> Vec<Range<usize>> {
        lexer::line_comments(self.text())
    }

    /// Checks that the scope has every name, also of the parts that an evaluation does not reach.
    pub fn check_names(&self, scope: &dyn Scope) -> Result<(), Error> {
        let tree = &self.0;
        let names = tree.nodes.iter().filter(|node| matches!(node.kind, NodeKind::Name));
        let mut spans: Vec<_> = names.map(|node| node.span).collect();
        if spans.is_empty() {
            return Ok(());
        }
        spans.sort_unstable_by_key(|span| span.start);
        let known = scope.names();
        match spans.into_iter().find(|span| !known.iter().any(|name| name == tree.text(*span))) {
            None => Ok(()),
            Some(span) => Err(*Error::unknown_name(span.range(), tree.text(span), &known)),
        }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Expression").field(&self.text()).finish()
    }
}
