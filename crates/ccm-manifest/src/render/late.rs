//! Texts that wait for a resource, written for a manifest that has no data of its own.

use std::ops::Range;
use std::path::Path;

use ccm_data::interpolation::{Part, Split, split};
use ccm_model::{Diagnostic, Resource};
use ccm_properties::TextSyntax;

use super::{literal, refused, unwritable};
use crate::late::Late;
use crate::redaction::Redaction;
use crate::scope::{Evaluator, ManifestScope, Moment, Trouble};

/// Writes the late texts of one manifest.
pub(super) struct LateTexts<'a> {
    pub(super) late: &'a Late<'a>,
    pub(super) manifest: &'a ManifestScope,
    /// Where the manifest is that is written.
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
        let Split::Parts(parts) = split(text, syntax == TextSyntax::Shell) else {
            return Ok(text.to_owned());
        };
        let mut written = String::new();
        for part in parts {
            match part {
                // A shell resolves its escapes by itself.
                Part::Literal(literal) if syntax == TextSyntax::Shell => written += &literal,
                Part::Literal(literal) => written += &literal::piecewise(&self.redaction.text(&literal)),
                Part::Expression { inner, .. } => {
                    written += &format!("{{{{ {} }}}}", self.expression(text[inner].trim(), resource)?);
                }
            }
        }
        Ok(written)
    }

    /// Writes an expression with the values of what is known in the place of the names.
    pub(super) fn expression(&self, text: &str, resource: &Resource) -> Result<String, Diagnostic> {
        let known = self.with_values(text, resource)?;
        if self.manifest.directory == self.root {
            Ok(known)
        } else {
            self.with_absolute_paths(&known, resource)
        }
    }

    fn with_values(&self, text: &str, resource: &Resource) -> Result<String, Diagnostic> {
        let read = self.late.world.expression(text);
        let Ok(expression) = &read.expression else { return Ok(text.to_owned()) };
        let mentions = expression.mentions();
        if mentions.calls.iter().any(|call| call.name == "template") {
            return Err(unwritable(resource, "a template"));
        }
        let is_known = |first: Option<&String>| {
            first.is_some_and(|first| matches!(first.as_str(), "Facts" | "Data" | "Environ"))
        };
        if !mentions.environment.is_empty() {
            return Err(refused(resource, "`$env` names what only its own manifest knows"));
        }
        let names = mentions.names.iter().filter(|name| is_known(name.path.first())).map(|name| &name.range);
        let lookups = mentions.calls.iter().filter(|call| call.name == "lookup").map(|call| &call.range);
        let mut places: Vec<Range<usize>> = lookups.chain(names).cloned().collect();
        // What stands within another is part of that one.
        places.sort_by_key(|place| (place.start, std::cmp::Reverse(place.end)));
        let mut written = String::new();
        let mut at = 0;
        for place in places {
            if place.start < at {
                continue;
            }
            let Some(value) = self.value(&text[place.clone()], resource)? else { continue };
            written += &text[at..place.start];
            written += &value;
            at = place.end;
        }
        Ok(written + &text[at..])
    }

    /// What a part of an expression comes to, as an expression; none if it leads nowhere, here as there.
    fn value(&self, text: &str, resource: &Resource) -> Result<Option<String>, Diagnostic> {
        let moment = Moment::Early(&self.late.managed);
        let evaluator = Evaluator { world: &self.late.world, manifest: self.manifest, moment };
        let unknown = || refused(resource, &format!("`{text}` is known only during the run"));
        match evaluator.evaluate(text) {
            Ok(value) => literal::expression(&self.redaction.value(&value))
                .map(Some)
                .ok_or_else(|| refused(resource, &format!("no expression says what `{text}` is"))),
            Err(Trouble::Mistake(mistake)) if mistake.missing.is_some() => Ok(None),
            Err(_) => Err(unknown()),
        }
    }

    /// Lets the files that are named be found from another directory.
    fn with_absolute_paths(&self, text: &str, resource: &Resource) -> Result<String, Diagnostic> {
        let read = self.late.world.expression(text);
        let Ok(expression) = &read.expression else { return Ok(text.to_owned()) };
        let mut written = String::new();
        let mut at = 0;
        for call in expression.mentions().calls.iter().filter(|call| call.name == "file") {
            let Some(path) = &call.argument else {
                let path = &text[call.range.clone()];
                return Err(refused(resource, &format!("the path in `{path}` is known only during the run")));
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
