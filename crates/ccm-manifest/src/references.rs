//! The names of all resources, and what references to them mean.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ccm_graph::EdgeKind;
use ccm_model::{
    Dependency, Diagnostic, Diagnostics, ResourceId, ResourceIndex, Span, closest, escape_control,
};

use crate::common_properties::Reference;
use crate::draft::Draft;
use crate::later;
use crate::types::Types;
use crate::wording::shown;

/// How many names may be compared in search of the one that a misspelt reference meant. Every mistake is
/// compared with every name of its type: without an end, 40,000 of both would take half an hour.
const MOST_COMPARISONS: usize = 200_000;

/// The names and aliases of all resources.
pub(crate) struct Names<'a, 't> {
    types: &'a Types<'t>,
    by_type: Vec<OfType>,
    /// Names of what is in the manifest and could not be read.
    broken: &'a HashSet<Box<str>>,
    comparisons_left: usize,
}

/// Names and aliases share one space for each type.
#[derive(Default)]
struct OfType {
    owners: HashMap<Arc<str>, NameOwner>,
}

struct NameOwner {
    index: ResourceIndex,
    span: Span,
    is_alias: bool,
}

impl<'a, 't> Names<'a, 't> {
    /// Without any name yet, but with room for those of the drafts.
    pub(crate) fn new(types: &'a Types<'t>, drafts: &[Draft], broken: &'a HashSet<Box<str>>) -> Self {
        let mut counts = vec![0; types.len()];
        for draft in drafts {
            counts[draft.type_index] += 1;
        }
        let room = |count| OfType { owners: HashMap::with_capacity(count) };
        let by_type = counts.into_iter().map(room).collect();
        Self { types, by_type, broken, comparisons_left: MOST_COMPARISONS }
    }

    /// Adds the name and the alias of a resource.
    pub(crate) fn add(&mut self, index: ResourceIndex, draft: &Draft, diagnostics: &mut Diagnostics) {
        let resource = &draft.resource;
        let of_type = &mut self.by_type[draft.type_index];
        if draft.has_name {
            let owner = NameOwner { index, span: resource.span, is_alias: false };
            if let Some(earlier) = of_type.add(&resource.id.name, owner) {
                let id = shown(&resource.id.to_string());
                let message = if earlier.is_alias {
                    format!("the name of `{id}` is the alias of another resource")
                } else {
                    format!("duplicate resource `{id}`")
                };
                let mistake = Diagnostic::error(resource.span, message);
                diagnostics.push(mistake.with_label(earlier.span, "the first"));
            }
        }
        let Some(alias) = &resource.alias else { return };
        let owner = NameOwner { index, span: draft.alias_span, is_alias: true };
        if let Some(earlier) = of_type.add(alias, owner) {
            let shown_alias = shown(alias);
            let message = match earlier.is_alias {
                _ if earlier.index == index => {
                    format!("the alias `{shown_alias}` is the resource's own name")
                }
                true => format!("duplicate alias `{shown_alias}`"),
                false => format!("the alias `{shown_alias}` is the name of another resource"),
            };
            let mistake = Diagnostic::error(draft.alias_span, message);
            diagnostics.push(mistake.with_label(earlier.span, "the first"));
        }
    }

    /// Looks the references of a resource up; `index` is none for properties that no resource has.
    pub(crate) fn resolve(
        &mut self,
        draft: &mut Draft,
        index: Option<ResourceIndex>,
        diagnostics: &mut Diagnostics,
    ) {
        let reported = diagnostics.found();
        let require = std::mem::take(&mut draft.require);
        let subscribe = std::mem::take(&mut draft.subscribe);
        let mut resolve = |references: Vec<Reference>, kind| -> Vec<Dependency> {
            let found = references.iter().filter_map(|reference| {
                let on = self.find(reference, diagnostics)?;
                if Some(on) == index {
                    diagnostics.push(circular(&draft.resource.id, kind, reference.0.span));
                    return None;
                }
                Some(Dependency { on, span: reference.0.span })
            });
            found.collect()
        };
        draft.resource.require = resolve(require, EdgeKind::Require);
        draft.resource.subscribe = resolve(subscribe, EdgeKind::Subscribe);
        draft.is_flawed |= diagnostics.found() > reported;
    }

    /// What a reference names. Nothing is reported if that is in the manifest and has its own mistake.
    fn find(&mut self, reference: &Reference, diagnostics: &mut Diagnostics) -> Option<ResourceIndex> {
        let text = reference.0.as_text()?;
        let known = text.split_once('#').and_then(|(type_name, name)| {
            let of_type = &self.by_type[self.types.find(type_name)?];
            of_type.owners.get(name).map(|owner| owner.index)
        });
        if known.is_some() {
            return known;
        }
        let span = reference.0.span;
        match ResourceId::parse(text) {
            Err(error) => {
                let mistake = Diagnostic::error(span, escape_control(&error.to_string()));
                let meant = self.types_with(text).next().map(|type_name| format!("{type_name}#{text}"));
                diagnostics.push(mistake.with_suggestion(meant.as_deref()));
            }
            Ok(id) if self.broken.contains(&*id.name) => {}
            Ok(id) => {
                let mistake = Diagnostic::error(span, format!("unknown resource `{}`", shown(text)));
                let suggestion = self.suggestion(&id);
                let type_name = shown(&id.type_name);
                diagnostics.push(if suggestion.is_some() || self.types.find(&id.type_name).is_some() {
                    mistake.with_suggestion(suggestion.as_deref())
                } else if later::TYPES.contains(&&*id.type_name) {
                    mistake.with_hint(format!("`{type_name}` is not supported in this version"))
                } else {
                    mistake.with_hint(format!("there is no resource type `{type_name}`"))
                });
            }
        }
        None
    }

    /// The types that have a resource of that name.
    fn types_with(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.types.names().zip(&self.by_type);
        named.filter(move |(_, of_type)| of_type.owners.contains_key(name)).map(|(type_name, _)| type_name)
    }

    /// The resource that an unknown reference most likely meant: the same name of another type, or a similar
    /// name of the type.
    fn suggestion(&mut self, id: &ResourceId) -> Option<String> {
        if let Some(type_name) = self.types_with(&id.name).next() {
            return Some(shown(&format!("{type_name}#{}", id.name)));
        }
        let type_name = match self.types.find(&id.type_name) {
            Some(_) => &*id.type_name,
            None => self.types.closest(&id.type_name)?,
        };
        let owners = &self.by_type[self.types.find(type_name)?].owners;
        self.comparisons_left = self.comparisons_left.checked_sub(owners.len())?;
        // In the order of the manifest, so that the suggestion is the same in each run.
        let mut names: Vec<_> =
            owners.iter().map(|(name, owner)| (owner.index, owner.is_alias, &**name)).collect();
        names.sort_unstable();
        let name = closest(&id.name, names.into_iter().map(|(_, _, name)| name))?;
        Some(shown(&format!("{type_name}#{name}")))
    }
}

impl OfType {
    /// Adds a name, or returns the resource that has it already.
    fn add(&mut self, name: &Arc<str>, owner: NameOwner) -> Option<&NameOwner> {
        match self.owners.entry(Arc::clone(name)) {
            std::collections::hash_map::Entry::Occupied(earlier) => Some(earlier.into_mut()),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(owner);
                None
            }
        }
    }
}

fn circular(id: &ResourceId, kind: EdgeKind, span: Span) -> Diagnostic {
    let verb = match kind {
        EdgeKind::Require => "requires",
        EdgeKind::Subscribe => "subscribes to",
    };
    Diagnostic::error(span, format!("`{}` {verb} itself", shown(&id.to_string())))
}
