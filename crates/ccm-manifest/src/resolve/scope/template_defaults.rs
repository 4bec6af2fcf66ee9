//! Warnings about keys of templates that no data can have, and that a default or a condition replaces in silence.

use ccm_data::templates;
use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span, escape_control};

use super::Phase;
use super::expression::ExpressionScope;

impl ExpressionScope<'_, '_, '_> {
    /// Warns of the keys of `Data` in a template that was rendered without an error, and that no data can have.
    pub(super) fn doubt_defaults(&self, text: &str, source: SourceId) {
        let manifest = self.evaluator.manifest;
        if manifest.is_incomplete || matches!(self.evaluator.phase, Phase::Runtime(_)) {
            return;
        }
        let Some(declared) = &manifest.declared else { return };
        for path in templates::dependencies(text).paths {
            let [root, keys @ ..] = &path[..] else { continue };
            let mut known = keys.iter();
            if root != "data" || known.try_fold(&manifest.data, |value, key| value.get(key)).is_some() {
                continue;
            }
            let Some(absent) = declared.absent_key(keys) else { continue };
            let whole = keys[..=absent.position].join(".");
            let Some(span) = place(text, &format!("Data.{whole}"), source) else { continue };
            let whole = escape_control(&whole);
            let message = format!("no `data` has the key `{whole}`, which is therefore always missing");
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
            let key = escape_control(&keys[absent.position]);
            let hint = match &absent.nearest {
                Some(near) => format!("did you mean `{}`?", escape_control(near)),
                None => format!("add `{key}:` to `data`, or write the default itself"),
            };
            self.evaluator.context.warn(warning.with_hint(hint));
        }
    }
}

/// Returns the place of a path as a whole. A method, such as `Data.items()`, is no key.
fn place(text: &str, path: &str, source: SourceId) -> Option<Span> {
    let is_word = |part: char| part.is_alphanumeric() || part == '_';
    let at = text.match_indices(path).map(|(at, _)| at).find(|at| {
        let (before, behind) = (&text[..*at], &text[at + path.len()..]);
        !before.ends_with(|part| is_word(part) || part == '.')
            && !behind.starts_with(|part| is_word(part) || part == '(')
    })?;
    Some(Span::new(source, at, at + path.len()))
}
