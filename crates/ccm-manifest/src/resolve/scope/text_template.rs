//! Templates that are texts with expressions, as in a manifest.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_data::interpolation::{SplitText, TextPart, split};
use ccm_expr::{FunctionError, Value};
use ccm_model::{DiagnosticKind, Span};

use super::expression::ExpressionScope;
use super::{EvalError, Phase, TOO_EARLY};
use crate::resolve::eval_context::MAX_TEXT_BYTES;

/// Extension of the name of a text with expressions.
pub(super) const TEXT_WITH_EXPRESSIONS: &str = "templ";

/// Maximum depth of texts that expand each other.
const MAX_DEPTH: usize = 20;

/// Returns `true` if the name of a file has this extension.
pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending == extension)
}

impl ExpressionScope<'_, '_, '_> {
    /// Expands the expressions in the text of a template.
    pub(super) fn expanded(
        &self,
        written: &str,
        path: PathBuf,
        text: &Arc<str>,
    ) -> Result<String, FunctionError> {
        if self.rendering.borrow().len() >= MAX_DEPTH {
            let message = format!("templates are nested more than {MAX_DEPTH} deep");
            return Err(FunctionError::new(DiagnosticKind::LimitExceeded, message));
        }
        let source = self.evaluator.context.template_source(&path, &path.display().to_string(), text);
        let refused = |range: &std::ops::Range<usize>, kind, message: &str| {
            self.locations.borrow_mut().push((Span::new(source, range.start, range.end), String::new()));
            FunctionError::new(kind, format!("the template `{written}` can't be expanded: {message}"))
        };
        let parts = match split(text, false) {
            SplitText::Literal => return Ok(text.to_string()),
            SplitText::Errors(places) => {
                let range = places.first().map(|place| place.range.clone()).unwrap_or_default();
                let message = "an expression is not closed, or is none";
                return Err(refused(&range, DiagnosticKind::ExpressionSyntax, message));
            }
            SplitText::Parts(parts) => parts,
        };
        self.rendering.borrow_mut().push(path);
        let mut expanded = String::with_capacity(text.len());
        let mut result = Ok(());
        for part in &parts {
            match part {
                TextPart::Literal(literal) => expanded.push_str(literal),
                TextPart::Expression { inner, .. } => match self.inner_value(&text[inner.clone()]) {
                    Ok(value) => expanded += &value.to_string(),
                    // All late values are recorded, so that the resource waits for all of them.
                    Err(error) if !self.deferred.borrow().is_empty() => result = Err(error),
                    Err(error) => {
                        let mut outer = refused(inner, error.kind, &error.message);
                        outer.hints = error.hints;
                        result = Err(outer);
                        break;
                    }
                },
            }
            if expanded.len() > MAX_TEXT_BYTES {
                result = Err(FunctionError::new(
                    DiagnosticKind::LimitExceeded,
                    format!("the text of the template `{written}` would exceed 16 MiB"),
                ));
                break;
            }
        }
        self.rendering.borrow_mut().pop();
        result.map(|()| expanded)
    }

    /// Evaluates an expression in the text of a template.
    fn inner_value(&self, text: &str) -> Result<Value, FunctionError> {
        let read = self.evaluator.context.expression(text);
        let refused = |error: &ccm_expr::Error| {
            let explained = self.evaluator.explain(error, text);
            let mut refused = FunctionError::new(explained.kind, explained.message);
            refused.hints = explained.hints;
            if let Some(missing) = explained.missing {
                self.missing.borrow_mut().get_or_insert(missing);
            }
            refused
        };
        let expression = read.expression.as_ref().map_err(refused)?;
        if read.has_other_names {
            expression.check_names(self).map_err(|error| refused(&error))?;
        }
        if matches!(self.evaluator.phase, Phase::Data) && (!read.data.is_empty() || !read.captures.is_empty())
        {
            return Err(FunctionError::new(DiagnosticKind::LateValue, TOO_EARLY));
        }
        match self.check_deferred(&read) {
            None => {}
            Some(EvalError::Deferred(on)) => {
                self.deferred.borrow_mut().extend(on);
                return Err(FunctionError::new(
                    DiagnosticKind::LateValue,
                    "this value is known only during a run",
                ));
            }
            Some(EvalError::Invalid(error)) => {
                let mut refused = FunctionError::new(error.kind, error.message);
                refused.hints = error.hints;
                return Err(refused);
            }
            Some(EvalError::Reported | EvalError::Unchecked) => return Ok(Value::Null),
        }
        if self.evaluator.uses_unknown_data(&read) {
            return Err(self.leave_unchecked());
        }
        let outer = self.facts.take();
        if !read.facts.is_empty() {
            let facts = self.facts(&read.facts);
            self.facts.replace(facts);
        }
        let value = expression.evaluate(self).map_err(|error| refused(&error));
        self.facts.replace(outer);
        value
    }
}
