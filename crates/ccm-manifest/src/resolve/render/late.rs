//! Writes late texts for a manifest without data.

use std::ops::Range;
use std::path::Path;

use ccm_data::interpolation::{SplitText, TextPart, split, split_of_item};
use ccm_model::{Diagnostic, Resource};
use ccm_properties::TextSyntax;

use super::{late_template, literal, unrenderable};
use crate::late::LateResources;
use crate::read::foreach::ItemScope;
use crate::redaction::Redaction;
use crate::resolve::eval_context::ITEM_NAMES;
use crate::resolve::scope::{EvalError, ManifestEvaluator, ManifestScope, Phase};

pub(super) struct LateTexts<'a> {
    pub(super) late: &'a LateResources<'a>,
    pub(super) manifest: &'a ManifestScope,
    pub(super) root: &'a Path,
    pub(super) redaction: &'a Redaction,
}

impl LateTexts<'_> {
    /// Writes a text whose expressions stay expressions.
    pub(super) fn text(
        &self,
        text: &str,
        syntax: TextSyntax,
        resource: &Resource,
    ) -> Result<String, Diagnostic> {
        let is_shell = syntax == TextSyntax::Shell;
        let split_text = match self.manifest.item {
            ItemScope::None => split(text, is_shell),
            ItemScope::Unknown | ItemScope::Item(_) => split_of_item(text, is_shell),
        };
        let SplitText::Parts(parts) = split_text else {
            return Ok(text.to_owned());
        };
        let mut written = String::new();
        for part in parts {
            match part {
                // A shell resolves its own escapes.
                TextPart::Literal(literal) if syntax == TextSyntax::Shell => written += &literal,
                TextPart::Literal(literal) => {
                    written += &literal::escape_braces(&self.redaction.text(&literal));
                }
                TextPart::Expression { inner, .. } => {
                    written += &format!("{{{{ {} }}}}", self.expression(text[inner].trim(), resource)?);
                }
            }
        }
        Ok(written)
    }

    /// Writes an expression with known values in place of their names.
    pub(super) fn expression(&self, text: &str, resource: &Resource) -> Result<String, Diagnostic> {
        let known = self.with_values(text, resource)?;
        if *self.manifest.directory == *self.root {
            Ok(known)
        } else {
            self.with_absolute_paths(&known, resource)
        }
    }

    fn with_values(&self, text: &str, resource: &Resource) -> Result<String, Diagnostic> {
        let read = self.late.context.expression(text);
        let Ok(expression) = &read.expression else { return Ok(text.to_owned()) };
        let mentions = expression.mentions();
        if mentions.calls.iter().any(|call| call.name == "template") {
            return Err(late_template(resource, "a template"));
        }
        let is_known = |first: Option<&String>| {
            first.is_some_and(|first| {
                let first = first.as_str();
                matches!(first, "Facts" | "Data" | "Environ" | "Manifest") || ITEM_NAMES.contains(&first)
            })
        };
        if !mentions.environment.is_empty() {
            return Err(unrenderable(resource, "`$env` has other values in another manifest"));
        }
        let names = mentions.names.iter().filter(|name| is_known(name.path.first())).map(|name| &name.range);
        let lookups = mentions.calls.iter().filter(|call| call.name == "lookup").map(|call| &call.range);
        let mut ranges: Vec<Range<usize>> = lookups.chain(names).cloned().collect();
        // The outer range replaces the ranges within it.
        ranges.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut written = String::new();
        let mut at = 0;
        for range in ranges {
            if range.start < at {
                continue;
            }
            let Some(value) = self.value(&text[range.clone()], resource)? else { continue };
            written += &text[at..range.start];
            written += &value;
            at = range.end;
        }
        Ok(written + &text[at..])
    }

    /// Returns a known part of an expression as a literal. `None` for a missing key, which stays missing.
    fn value(&self, text: &str, resource: &Resource) -> Result<Option<String>, Diagnostic> {
        let phase = Phase::BeforeRun(&self.late.managed);
        let evaluator = ManifestEvaluator::new(&self.late.context, self.manifest, phase);
        let unknown = || unrenderable(resource, &format!("`{text}` is known only during the run"));
        match evaluator.evaluate(text) {
            Ok(value) => literal::expression(&self.redaction.value(&value)).map(Some).ok_or_else(|| {
                unrenderable(resource, &format!("the value of `{text}` can't be written as an expression"))
            }),
            Err(EvalError::Invalid(error)) if error.missing.is_some() => Ok(None),
            Err(_) => Err(unknown()),
        }
    }

    /// Makes the paths of files absolute.
    fn with_absolute_paths(&self, text: &str, resource: &Resource) -> Result<String, Diagnostic> {
        let read = self.late.context.expression(text);
        let Ok(expression) = &read.expression else { return Ok(text.to_owned()) };
        let mut written = String::new();
        let mut at = 0;
        for call in
            expression.mentions().calls.iter().filter(|call| matches!(&*call.name, "file" | "readFile"))
        {
            let Some(path) = &call.argument else {
                let path = &text[call.range.clone()];
                return Err(unrenderable(
                    resource,
                    &format!("the path in `{path}` is known only during the run"),
                ));
            };
            if call.range.start < at {
                continue;
            }
            let path = self.manifest.directory.join(path);
            written += &text[at..call.range.start];
            written += &format!("file({})", literal::quoted(&path.to_string_lossy()));
            at = call.range.end;
        }
        Ok(written + &text[at..])
    }
}
