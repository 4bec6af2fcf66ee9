//! Records what is wrong in a text, and warns of what it may not mean.

use ccm_data::interpolation::{Occurrence, OccurrenceKind, SplitText, lone, split};
use ccm_expr::Value as Computed;
use ccm_model::{Diagnostic, DiagnosticKind, Node, Span};

use super::Expander;
use super::errors::{self, YAML_LINE_END, diagnostic, has_yaml_line_end, part_of_item, syntax_error};
use crate::resolve::eval_context::ITEM_NAMES;
use crate::resolve::messages::shown;
use crate::resolve::scope::{DeferredOn, EvalError, Phase};
use crate::resolve::text_language::TextLanguage;

impl Expander<'_, '_> {
    /// Refuses a property whose value is a lone name that is null: what is left out unnoticed may be meant to be there.
    pub(super) fn refuse_null(&mut self, property: &str, written: &Node) {
        let Some(text) = written.as_text() else { return };
        let SplitText::Parts(parts) = split(text, false) else { return };
        let Some(inner) = lone(&parts) else { return };
        let name = text[inner].trim();
        let read = self.evaluator.context.expression(name);
        let is_name = read.expression.as_ref().is_ok_and(|expression| {
            let mentions = expression.mentions();
            matches!(&mentions.names[..], [only] if only.range == (0..name.len()) && mentions.calls.is_empty())
        });
        if is_name {
            let name = shown(name);
            let message = format!("`{name}` is null, so that `{}` has no value", shown(property));
            let error = Diagnostic::error(DiagnosticKind::WrongType, written.span, message);
            self.found.refused.insert(written.span);
            let empty = self.literals(written.span).empty();
            let error = error.with_hint(format!(
                "write `{name} ?? nil` to leave `{}` out, or `{name} ?? {empty}` for an empty text",
                shown(property)
            ));
            self.found.diagnostics.push(error);
        }
    }

    /// Warns of a name of expressions behind a lone `$`, such as `$Item`, which is no expression.
    pub(crate) fn warn_of_dollar(&mut self, text: &str, span: Span) {
        let manifest = self.evaluator.manifest;
        let Some(range) = errors::dollar_name(text, manifest) else { return };
        let name = shown(&text[range.start + 1..range.end]);
        let at = Node::text(text, span).locate(&manifest.text, range.start, range.end);
        let message = format!("`${name}` is text, and no expression");
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, at, message);
        self.found.diagnostics.push(warning.with_hint(format!("write `{{{{ {name} }}}}`")));
    }

    /// Warns of an item within a text that is a list or a map, which becomes JSON: mostly a part of it is meant.
    pub(super) fn warn_of_item(
        &mut self,
        text: &str,
        inner: &std::ops::Range<usize>,
        value: &Computed,
        span: Span,
    ) {
        let is_json = matches!(value, Computed::List(_) | Computed::Map(_) | Computed::Groups(_));
        if !is_json || text[inner.clone()].trim() != ITEM_NAMES[0] {
            return;
        }
        let message = format!("`Item` is {} here, and becomes JSON in this text", value.kind());
        let at = Node::text(text, span).locate(&self.evaluator.manifest.text, inner.start, inner.end);
        let warning = Diagnostic::warning(DiagnosticKind::WrongType, at, message);
        let hints = part_of_item(value).into_iter().chain(["write `toJSON(Item)` if JSON is meant"]);
        self.found.diagnostics.push(hints.fold(warning, Diagnostic::with_hint));
    }

    /// Refuses a null within a text, which would vanish unnoticed.
    pub(super) fn refuse_null_within(&mut self, text: &str, inner: std::ops::Range<usize>, span: Span) {
        self.found.refused.insert(span);
        let expression = shown(text[inner.clone()].trim());
        let message = format!("`{expression}` is null, within a text");
        let node = Node::text(text, span);
        let at = node.locate(&self.evaluator.manifest.text, inner.start, inner.end);
        let error = Diagnostic::error(DiagnosticKind::WrongType, at, message);
        let is_path = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
        let operand =
            if expression.chars().all(is_path) { expression.clone() } else { format!("({expression})") };
        let hint = format!("write `{operand} ?? {}` if it may be missing", self.literals(span).empty());
        self.found.diagnostics.push(error.with_hint(hint));
    }

    pub(crate) fn record_error(
        &mut self,
        error: EvalError,
        span: Span,
        at: impl Fn(std::ops::Range<usize>) -> Span,
    ) {
        match error {
            EvalError::Deferred(on) => {
                self.found.late.insert(span);
                let locate = |on: &DeferredOn| match on {
                    DeferredOn::Capture { range: Some(range), .. } => at(range.clone()),
                    _ => span,
                };
                self.found.deferred_on.extend(on.into_iter().map(|on| {
                    let span = locate(&on);
                    (on, span)
                }));
            }
            EvalError::Reported => {
                self.found.refused.insert(span);
            }
            EvalError::Unchecked => self.found.unchecked.insert(span),
            EvalError::Invalid(error)
                if matches!(self.evaluator.phase, Phase::BeforeRun(_))
                    && error.kind == DiagnosticKind::Unreadable
                    && self.evaluator.context.take_missing_file().is_some() =>
            {
                self.found.late.insert(span);
                self.found.missing_files.push(diagnostic(error, at));
            }
            EvalError::Invalid(error) => {
                self.found.refused.insert(span);
                self.found.diagnostics.push(diagnostic(error, at));
            }
        }
    }

    pub(super) fn refuse(
        &mut self,
        text: &str,
        span: Span,
        language: TextLanguage<'_>,
        places: Vec<Occurrence>,
    ) {
        self.found.refused.insert(span);
        let node = Node::text(text, span);
        for place in places {
            let location = node.locate(&self.evaluator.manifest.text, place.range.start, place.range.end);
            let written = text.get(place.range.clone()).unwrap_or_default();
            let mut error = syntax_error(location, place.kind, written, language);
            if place.kind == OccurrenceKind::OpenQuote
                && written.contains('\n')
                && has_yaml_line_end(self.written(span))
            {
                error.hints = vec![YAML_LINE_END.to_owned()];
            }
            self.found.diagnostics.push(error);
        }
    }
}
