//! The resources that capture something, and what others name of it.

use std::collections::HashMap;

use ccm_model::{Diagnostic, ResourceId, ResourceIndex, Span, closest, listed};

use crate::draft::Draft;
use crate::types::Types;
use crate::wording::shown;

/// The resources that capture something, found by name or alias; in all manifests of the catalog.
#[derive(Debug, Default)]
pub(crate) struct Capturing {
    by_name: HashMap<String, ResourceIndex>,
    resources: HashMap<ResourceIndex, (ResourceId, Vec<String>)>,
}

impl Capturing {
    pub(crate) fn of(drafts: &[Draft], types: &Types<'_>) -> Self {
        let mut capturing = Self::default();
        for (index, draft) in drafts.iter().enumerate().filter(|(_, draft)| draft.has_name) {
            let keys = types.spec(draft.type_index).captures(&draft.resource);
            if keys.is_empty() {
                continue;
            }
            let index = ResourceIndex::from_usize(index);
            let id = &draft.resource.id;
            for name in [Some(&*id.name), draft.resource.alias.as_deref()].into_iter().flatten() {
                capturing.by_name.entry(name.to_owned()).or_insert(index);
            }
            let keys = keys.into_iter().map(str::to_owned).collect();
            capturing.resources.insert(index, (id.clone(), keys));
        }
        capturing
    }

    /// The names and aliases, each with its resource.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, ResourceIndex)> {
        self.by_name.iter().map(|(name, index)| (&**name, *index))
    }

    /// The resource of that name or alias.
    pub(crate) fn find(&self, name: &str) -> Option<(ResourceIndex, &ResourceId)> {
        let index = self.by_name.get(name)?;
        self.resources.get(index).map(|(id, _)| (*index, id))
    }

    /// Finds what an expression names, or says what is wrong with it.
    pub(crate) fn resolve(
        &self,
        name: Option<&str>,
        key: Option<&str>,
        span: Span,
    ) -> Result<ResourceIndex, Diagnostic> {
        let Some(name) = name else {
            let mistake = Diagnostic::error(span, "what is captured has to be named");
            return Err(mistake.with_hint("write `Captures.NAME.KEY`, with the name of the resource"));
        };
        let Some(index) = self.by_name.get(name) else {
            let mistake = Diagnostic::error(span, format!("nothing captures `{}`", shown(name)));
            let mut known: Vec<&str> = self.by_name.keys().map(String::as_str).collect();
            known.sort_unstable();
            return Err(match closest(name, known.iter().copied()) {
                None if known.is_empty() => mistake.with_hint("no resource has `capture`"),
                None => mistake.with_hint(format!("known here: {}", listed(&known, "and"))),
                near => mistake.with_suggestion(near),
            });
        };
        let keys = self.resources.get(index).map_or(&[][..], |(_, keys)| keys);
        match key {
            Some(key) if !keys.iter().any(|known| known == key) => {
                let message = format!("`{}` does not capture `{}`", shown(name), shown(key));
                let known: Vec<&str> = keys.iter().map(String::as_str).collect();
                let mistake = Diagnostic::error(span, message);
                Err(match closest(key, known.iter().copied()) {
                    None => mistake.with_hint(format!("known here: {}", listed(&known, "and"))),
                    near => mistake.with_suggestion(near),
                })
            }
            _ => Ok(*index),
        }
    }
}
