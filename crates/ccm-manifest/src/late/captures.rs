//! Resources that capture values, and references to these values.

use std::collections::HashMap;

use ccm_model::{Diagnostic, DiagnosticKind, ResourceId, ResourceIndex, Span, closest, listed};

use crate::read::draft::ResourceDraft;
use crate::read::types::Types;
use crate::resolve::messages::shown;

/// Capturing resources of all manifests, by name and alias.
#[derive(Debug, Default)]
pub(crate) struct CaptureTable {
    by_name: HashMap<String, ResourceIndex>,
    resources: HashMap<ResourceIndex, (ResourceId, Vec<String>)>,
}

impl CaptureTable {
    pub(crate) fn of(drafts: &[ResourceDraft], types: &Types<'_>) -> Self {
        let mut captures = Self::default();
        for (index, draft) in drafts.iter().enumerate().filter(|(_, draft)| draft.has_name) {
            let Some(view) = types.spec(draft.type_index).commands() else { continue };
            let keys = view.captures(&draft.resource);
            if keys.is_empty() {
                continue;
            }
            let index = ResourceIndex::from_usize(index);
            let id = &draft.resource.id;
            for name in std::iter::once(&id.name).chain(&draft.resource.aliases) {
                captures.by_name.entry(name.to_string()).or_insert(index);
            }
            let keys = keys.into_iter().map(str::to_owned).collect();
            captures.resources.insert(index, (id.clone(), keys));
        }
        captures
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, ResourceIndex)> {
        self.by_name.iter().map(|(name, index)| (&**name, *index))
    }

    pub(crate) fn find(&self, name: &str) -> Option<(ResourceIndex, &ResourceId)> {
        let index = self.by_name.get(name)?;
        self.resources.get(index).map(|(id, _)| (*index, id))
    }

    /// Returns the resource that a reference to a captured value means.
    pub(crate) fn resolve(
        &self,
        name: Option<&str>,
        key: Option<&str>,
        span: Span,
    ) -> Result<ResourceIndex, Diagnostic> {
        let Some(name) = name else {
            let error = Diagnostic::error(
                DiagnosticKind::UnknownReference,
                span,
                "this reference to captured values names no resource",
            );
            return Err(error.with_hint("write `Captures.NAME.KEY`, with the name of the resource"));
        };
        let Some(index) = self.by_name.get(name) else {
            let error = Diagnostic::error(
                DiagnosticKind::UnknownReference,
                span,
                format!("no resource `{}` captures values", shown(name)),
            );
            let mut known: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            known.sort_unstable();
            return Err(match closest(name, known.iter().copied()) {
                None if known.is_empty() => error.with_hint("no resource has `capture`"),
                None => error.with_hint(format!("use {}", listed(&known, "or"))),
                near => error.with_suggestion(near),
            });
        };
        let keys = self.resources.get(index).map_or(&[][..], |(_, keys)| keys);
        match key {
            Some(key) if !keys.iter().any(|known| known == key) => {
                let message = format!("`{}` does not capture `{}`", shown(name), shown(key));
                let known: Vec<&str> = keys.iter().map(String::as_str).collect();
                let error = Diagnostic::error(DiagnosticKind::UnknownReference, span, message);
                Err(match closest(key, known.iter().copied()) {
                    None => error.with_hint(format!("use {}", listed(&known, "or"))),
                    near => error.with_suggestion(near),
                })
            }
            _ => Ok(*index),
        }
    }
}
