//! Finds all late values of an expression or a template before evaluation, to wait for all of them at once.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use ccm_data::interpolation::{SplitText, TextPart, split};
use ccm_data::templates;
use ccm_expr::FunctionError;
use ccm_model::DiagnosticKind;

use super::expression::ExpressionScope;
use super::text_template::{TEXT_WITH_EXPRESSIONS, has_extension};
use super::{CaptureState, DeferredOn, EvalError, InvalidExpression, MAX_INCLUDES, Phase};
use crate::resolve::parsed_expression::{ParsedExpression, captured_path};

impl ExpressionScope<'_, '_, '_> {
    /// Returns an error if the expression uses late values.
    pub(super) fn check_deferred(&self, read: &ParsedExpression) -> Option<EvalError> {
        for (path, range) in &read.captures {
            // Late values are recorded in `deferred` by now.
            if let Err(error) = self.check_captures(path, Some(range))
                && path.is_empty()
            {
                let FunctionError { kind, message, hints, .. } = error;
                let locations = Box::default();
                let (range, message) = (range.clone(), message.into());
                let error = InvalidExpression {
                    kind,
                    range,
                    message,
                    hints,
                    nearest: None,
                    locations,
                    missing: None,
                    earlier: None,
                };
                return Some(EvalError::Invalid(error));
            }
        }
        if self.deferred.borrow().is_empty() {
            return None;
        }
        read.files.iter().for_each(|path| self.defer_on_file(path));
        let mut seen = HashSet::new();
        for path in &read.templates {
            self.defer_on_file(path);
            // The render reports errors in the template.
            let _ = self.defer_on_template(path, &mut seen);
        }
        Some(EvalError::Deferred(self.deferred.take()))
    }

    fn defer_on_file(&self, written: &str) {
        if let Phase::BeforeRun(managed) = self.evaluator.phase {
            let path = self.evaluator.manifest.resolve(written);
            let indices = managed.get(&*self.evaluator.context.spelling(&path)).into_iter().flatten();
            self.deferred.borrow_mut().extend(indices.copied().map(DeferredOn::File));
        }
    }

    /// Records the late values of a template and of all that it includes.
    pub(super) fn defer_on_template(
        &self,
        written: &str,
        seen: &mut HashSet<PathBuf>,
    ) -> Result<(), FunctionError> {
        let path = self.evaluator.manifest.resolve(written);
        let Ok(text) = self.evaluator.context.read(&path) else { return Ok(()) };
        if seen.len() > MAX_INCLUDES || !seen.insert(path) {
            return Ok(());
        }
        if has_extension(written, TEXT_WITH_EXPRESSIONS) {
            return self.defer_on_text(&text, seen);
        }
        let found = templates::dependencies(&text);
        let named = found.paths.iter().filter(|path| path[0] == "captures").map(|path| path[1..].to_vec());
        for path in named.chain(found.lookups.iter().filter_map(|path| captured_path(path))) {
            match self.check_captures(&path, None) {
                Err(error) if path.is_empty() => return Err(error),
                _ => {}
            }
        }
        if !self.deferred.borrow().is_empty() {
            found.files.iter().for_each(|path| self.defer_on_file(path));
        }
        found.templates.iter().chain(&found.includes).try_for_each(|path| self.defer_on_template(path, seen))
    }

    /// Records the late values of the expressions in a text.
    fn defer_on_text(&self, text: &str, seen: &mut HashSet<PathBuf>) -> Result<(), FunctionError> {
        let SplitText::Parts(parts) = split(text, false) else { return Ok(()) };
        for part in &parts {
            let TextPart::Expression { inner, .. } = part else { continue };
            let read = self.evaluator.context.expression(&text[inner.clone()]);
            for (path, _) in &read.captures {
                match self.check_captures(path, None) {
                    Err(error) if path.is_empty() => return Err(error),
                    _ => {}
                }
            }
            if !self.deferred.borrow().is_empty() {
                read.files.iter().for_each(|path| self.defer_on_file(path));
            }
            read.templates.iter().try_for_each(|path| self.defer_on_template(path, seen))?;
        }
        Ok(())
    }

    /// Records the late values at a path into `Captures`.
    pub(super) fn check_captures(
        &self,
        path: &[String],
        range: Option<&Range<usize>>,
    ) -> Result<(), FunctionError> {
        match (self.evaluator.phase, path.first()) {
            (Phase::Data, _) => Ok(()),
            (_, None) => {
                let mut error = FunctionError::new(
                    DiagnosticKind::UnknownReference,
                    "this reference to captured values names no resource",
                );
                error.hints.push("write `Captures.NAME.KEY`, with the name of the resource".to_owned());
                Err(error)
            }
            (Phase::Drafts | Phase::BeforeRun(_), Some(name)) => {
                let (name, key) = (Some(name.clone()), path.get(1).cloned());
                Err(self.defer(DeferredOn::Capture { name, key, range: range.cloned() }))
            }
            (Phase::Runtime(runtime), Some(name)) => match runtime.capture_state(name) {
                CaptureState::Available => Ok(()),
                CaptureState::NotBefore(index) => Err(self.defer(DeferredOn::Execution(index))),
                CaptureState::Missing(reason) => {
                    self.missing_capture.borrow_mut().get_or_insert(reason);
                    Ok(())
                }
            },
        }
    }
}
