//! Warnings about keys of templates that no data can have, and that a default or a condition replaces in silence.

use ccm_data::templates;
use ccm_expr::lookup_path;
use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span, escape_control};

use super::Phase;
use super::expression::ExpressionScope;
use crate::resolve::comparisons;
use crate::resolve::messages::shown;

impl ExpressionScope<'_, '_, '_> {
    /// Warns of comparisons in a template that are never true.
    pub(super) fn doubt_comparisons(&self, text: &str, source: SourceId) {
        if matches!(self.evaluator.phase, Phase::Runtime(_)) {
            return;
        }
        for doubt in comparisons::doubts(templates::comparisons(text), text) {
            let span = Span::new(source, doubt.range.start, doubt.range.end);
            self.evaluator.context.warn(doubt.warning(span));
        }
    }

    /// Warns of the keys of `Data` and the system facts in a template that was rendered without an error, and that no data and no
    /// machine can have.
    pub(super) fn doubt_defaults(&self, text: &str, source: SourceId) {
        if matches!(self.evaluator.phase, Phase::Runtime(_)) {
            return;
        }
        let found = templates::dependencies(text);
        let written =
            |root: &str, keys: &[String]| place(text, &format!("{root}.{}", keys.join(".")), source);
        for path in &found.paths {
            match &path[..] {
                [root, keys @ ..] if root == "data" => {
                    self.doubt_data(keys, |keys| written("Data", keys).or_else(|| written("data", keys)));
                }
                [root, ..] if root == "facts" => {
                    self.doubt_fact(path, || {
                        written("Facts", &path[1..]).or_else(|| written("facts", &path[1..]))
                    });
                }
                _ => {}
            }
        }
        for lookup in &found.lookups {
            let Some(path) = lookup_path(lookup) else { continue };
            let at = || {
                let start = text
                    .find(&format!("lookup('{lookup}'"))
                    .or_else(|| text.find(&format!("lookup(\"{lookup}\"")))?;
                let start = start + "lookup('".len();
                Some(Span::new(source, start, start + lookup.len()))
            };
            match &*path[0] {
                "Data" => self.doubt_data(&path[1..], |_| at()),
                "Facts" => self.doubt_fact(&path, at),
                _ => {}
            }
        }
    }

    fn doubt_data(&self, keys: &[String], place: impl Fn(&[String]) -> Option<Span>) {
        let manifest = self.evaluator.manifest;
        let Some(declared) = manifest.declared.as_ref().filter(|_| !manifest.is_incomplete) else { return };
        if keys.iter().try_fold(&manifest.data, |value, key| value.get(key)).is_some() {
            return;
        }
        let Some(absent) = declared.absent_key(keys) else { return };
        let Some(span) = place(&keys[..=absent.position]) else { return };
        let whole = keys[..=absent.position].join(".");
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

    /// Warns of a misspelt name of a fact that every machine has.
    fn doubt_fact(&self, path: &[String], place: impl Fn() -> Option<Span>) {
        let whole = path[1..].join(".");
        let Some(near) = self.evaluator.near_fact(&format!("facts.{whole}")) else { return };
        let Some(span) = place() else { return };
        let message = format!("this machine has no fact `{}`, which is therefore missing", shown(&whole));
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
        let near = near.strip_prefix("facts.").unwrap_or(&near);
        self.evaluator.context.warn(warning.with_hint(format!("did you mean `Facts.{}`?", shown(near))));
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
