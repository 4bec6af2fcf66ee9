//! Resolves references to resources by name and alias.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ccm_graph::EdgeKind;
use ccm_model::{
    Dependency, Diagnostic, DiagnosticKind, Diagnostics, Node, ResourceId, ResourceIndex, Span, closest,
    escape_control, listed,
};

use crate::load::{EarlierReferences, EarlierResources};
use crate::read::common_properties::{Reference, type_of_other_tool};
use crate::read::draft::ResourceDraft;
use crate::read::foreach::ForeachItem;
use crate::read::foreign_words;
use crate::read::reserved;
use crate::read::types::Types;
use crate::resolve::eval_context::ITEM_NAMES;
use crate::resolve::messages::shown;
use crate::resolve::scope::ManifestScope;

/// Maximum number of name comparisons for suggestions: each bad reference is compared with all names of its
/// type, which would take half an hour for 40,000 of both.
const MAX_COMPARISONS: usize = 200_000;

pub(crate) struct NameTable<'a, 't> {
    types: &'a Types<'t>,
    by_type: Vec<TypeNames>,
    /// Possible names of invalid resources.
    invalid_names: &'a HashSet<Box<str>>,
    comparisons_left: usize,
    /// Resources that were managed before, if references may name them.
    earlier: Option<&'a EarlierResources>,
    /// References to them.
    found_earlier: EarlierReferences,
}

/// Names and aliases of one type, which must be unique together.
#[derive(Default)]
struct TypeNames {
    owners: HashMap<Arc<str>, NameOwner>,
    /// A name or an alias is unknown, because an input was left out or the list of a `foreach` is unknown.
    is_incomplete: bool,
}

struct NameOwner {
    index: ResourceIndex,
    span: Span,
    is_alias: bool,
    /// Its item of a `foreach`.
    item: Option<Arc<ForeachItem>>,
    /// A duplicate from the same `foreach` is reported.
    is_reported: bool,
}

impl<'a, 't> NameTable<'a, 't> {
    pub(crate) fn new(
        types: &'a Types<'t>,
        drafts: &[ResourceDraft],
        invalid_names: &'a HashSet<Box<str>>,
        incomplete_types: &HashSet<usize>,
    ) -> Self {
        let mut counts = vec![0; types.len()];
        for draft in drafts {
            counts[draft.type_index] += 1;
        }
        let room = |count| TypeNames { owners: HashMap::with_capacity(count), is_incomplete: false };
        let mut by_type: Vec<TypeNames> = counts.into_iter().map(room).collect();
        for &index in incomplete_types {
            by_type[index].is_incomplete = true;
        }
        Self {
            types,
            by_type,
            invalid_names,
            comparisons_left: MAX_COMPARISONS,
            earlier: None,
            found_earlier: EarlierReferences::default(),
        }
    }

    /// Adds the name and the alias of a resource, and reports duplicates.
    pub(crate) fn add(
        &mut self,
        index: ResourceIndex,
        draft: &ResourceDraft,
        scope: &ManifestScope,
        diagnostics: &mut Diagnostics,
    ) {
        let resource = &draft.resource;
        self.by_type[draft.type_index].is_incomplete |= draft.has_unknown_name;
        let owner = |span, is_alias| {
            let item = scope.item.known().cloned();
            NameOwner { index, span, is_alias, item, is_reported: false }
        };
        let of_type = &mut self.by_type[draft.type_index];
        if draft.has_name
            && let Some(earlier) = of_type.add(&resource.id.name, owner(resource.span, false))
        {
            let id = shown(&resource.id.to_string());
            let message = if earlier.is_alias {
                format!("the name of `{id}` is the alias of another resource")
            } else {
                format!("duplicate resource `{id}`")
            };
            let error = duplicate(message, resource.span, earlier, scope);
            diagnostics.extend(error.map(|error| match &draft.child {
                Some(_) => {
                    error.with_hint("give each use a name of its own: `NAME: {manifest: PATH, data: {…}}`")
                }
                None => error,
            }));
        }
        for alias in &resource.aliases {
            let Some(earlier) = of_type.add(alias, owner(draft.alias_span, true)) else { continue };
            let shown_alias = shown(alias);
            let message = match earlier.is_alias {
                _ if earlier.index == index => {
                    format!("the alias `{shown_alias}` is the resource's own name")
                }
                true => format!("duplicate alias `{shown_alias}`"),
                false => format!("the alias `{shown_alias}` is the name of another resource"),
            };
            diagnostics.extend(duplicate(message, draft.alias_span, earlier, scope));
        }
    }

    /// Resolves the references of a resource. `index` is `None` for properties without a resource.
    pub(crate) fn resolve(
        &mut self,
        draft: &mut ResourceDraft,
        index: Option<ResourceIndex>,
        diagnostics: &mut Diagnostics,
    ) {
        let reported = diagnostics.found();
        let require = std::mem::take(&mut draft.require);
        let subscribe = std::mem::take(&mut draft.subscribe);
        let mut resolve = |references: Vec<Reference>, kind| -> Vec<Dependency> {
            let found = references.iter().filter_map(|reference| {
                let on = self.find((reference, kind), index, diagnostics)?;
                if Some(on) == index {
                    diagnostics.push(self_dependency(&draft.resource.id, kind, reference.0.span));
                    return None;
                }
                Some(Dependency { on, span: reference.0.span })
            });
            found.collect()
        };
        let first = subscribe.first().map(|reference| reference.0.clone());
        draft.resource.require = resolve(require, EdgeKind::Require);
        draft.resource.subscribe = resolve(subscribe, EdgeKind::Subscribe);
        draft.has_errors |= diagnostics.found() > reported;
        if let Some(first) = first.filter(|_| index.is_some() && !draft.has_errors) {
            diagnostics.extend(self.without_refresh(draft, &first));
        }
    }

    /// Returns the warning about a subscription of a resource that has nothing to refresh.
    fn without_refresh(&self, draft: &ResourceDraft, first: &Node) -> Option<Diagnostic> {
        if self.types.spec(draft.type_index).refreshes() {
            return None;
        }
        let (type_name, source) = (&draft.resource.id.type_name, shown(first.as_text()?));
        let message =
            format!("a change of `{source}` refreshes nothing here: this type is only ordered by it");
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, first.span, message);
        Some(warning.with_hint(format!(
            "write `require` in the {type_name}, and `subscribe` in what is to be refreshed"
        )))
    }

    /// Returns the resource that a reference means. A reference to an invalid resource is not reported again.
    fn find(
        &mut self,
        (reference, kind): (&Reference, EdgeKind),
        itself: Option<ResourceIndex>,
        diagnostics: &mut Diagnostics,
    ) -> Option<ResourceIndex> {
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
                let error =
                    Diagnostic::error(DiagnosticKind::InvalidValue, span, escape_control(&error.to_string()));
                let meant = self.types_with(text).next().map(|type_name| format!("{type_name}#{text}"));
                let meant = meant.or_else(|| self.in_other_syntax(text));
                let foreign = type_of_other_tool(text).filter(|_| meant.is_none());
                let error = error.with_suggestion(meant.as_deref());
                diagnostics.push(foreign.into_iter().flatten().fold(error, Diagnostic::with_hint));
            }
            Ok(id) if self.find_earlier(&id, kind) => {}
            Ok(id) if self.invalid_names.contains(&*id.name) || self.may_have(&id) => {}
            Ok(id) => {
                let error = Diagnostic::error(
                    DiagnosticKind::UnknownReference,
                    span,
                    format!("unknown resource `{}`", shown(text)),
                );
                let suggestion = self.suggestion(&id);
                let type_name = shown(&id.type_name);
                let hint = self.earlier.map(|earlier| &earlier.hint);
                diagnostics.push(if suggestion.is_some() {
                    error.with_suggestion(suggestion.as_deref())
                } else if let Some(hint) = hint.filter(|_| self.types.find(&id.type_name).is_some()) {
                    error.with_hint(hint)
                } else if let Some(index) = self.types.find(&id.type_name) {
                    let hint = self.by_type[index].in_words(&type_name, itself);
                    hint.into_iter().fold(error, Diagnostic::with_hint)
                } else if let Some(advice) = foreign_words::resource_type(&id.type_name) {
                    error.with_hint(format!("there is no resource type `{type_name}`")).with_hint(advice)
                } else if reserved::TYPES.contains(&&*id.type_name) {
                    error.with_hint(format!("`{type_name}` is not supported in this version"))
                } else {
                    error.with_hint(format!("there is no resource type `{type_name}`"))
                });
            }
        }
        None
    }

    /// Lets references name resources that were managed before.
    pub(crate) fn with_earlier(self, earlier: Option<&'a EarlierResources>) -> Self {
        Self { earlier, ..self }
    }

    /// Returns the references to resources that were managed before.
    pub(crate) fn earlier_references(self) -> EarlierReferences {
        self.found_earlier
    }

    /// Records a reference to a resource that was managed before. Returns `false` if there is none.
    fn find_earlier(&mut self, id: &ResourceId, kind: EdgeKind) -> bool {
        let Some(found) = self.earlier.and_then(|earlier| earlier.names.get(id)) else { return false };
        let references = match kind {
            EdgeKind::Require => &mut self.found_earlier.require,
            EdgeKind::Subscribe => &mut self.found_earlier.subscribe,
        };
        if !references.contains(found) {
            references.push(found.clone());
        }
        true
    }

    /// Treats names of all types as unknown, if inputs of generated resources were left out.
    pub(crate) fn incomplete_if(mut self, is_incomplete: bool) -> Self {
        for of_type in &mut self.by_type {
            of_type.is_incomplete |= is_incomplete;
        }
        self
    }

    /// Returns `true` if the name may be one that is unknown.
    fn may_have(&self, id: &ResourceId) -> bool {
        self.types.find(&id.type_name).is_some_and(|index| self.by_type[index].is_incomplete)
    }

    /// Returns the reference that `file:/tmp/y` or `File[/tmp/x]` means.
    fn in_other_syntax(&self, text: &str) -> Option<String> {
        let (type_name, name) = match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((type_name, name)) => (type_name, name.trim_matches(['"', '\''])),
            None => text.split_once(':')?,
        };
        let type_name = type_name.trim().to_lowercase();
        let name = name.trim();
        let is_one = self.types.find(&type_name).is_some() && !name.is_empty();
        is_one.then(|| shown(&format!("{type_name}#{name}")))
    }

    /// Returns the types that have a resource of this name.
    fn types_with(&self, name: &str) -> impl Iterator<Item = &str> {
        let named = self.types.names().zip(&self.by_type);
        named.filter(move |(_, of_type)| of_type.owners.contains_key(name)).map(|(type_name, _)| type_name)
    }

    /// Returns the closest resource for an unknown reference: of another type, or with a similar name.
    fn suggestion(&mut self, id: &ResourceId) -> Option<String> {
        if let Some(earlier) = self.earlier {
            let of_type = earlier.names.keys().filter(|known| known.type_name == id.type_name);
            let name = closest(&id.name, of_type.map(|known| &*known.name))?;
            return Some(shown(&format!("{}#{name}", id.type_name)));
        }
        if let Some(type_name) = self.types_with(&id.name).next() {
            return Some(shown(&format!("{type_name}#{}", id.name)));
        }
        let type_name = match self.types.find(&id.type_name) {
            Some(_) => &*id.type_name,
            None => self.types.closest(&id.type_name)?,
        };
        let owners = &self.by_type[self.types.find(type_name)?].owners;
        self.comparisons_left = self.comparisons_left.checked_sub(owners.len())?;
        // Sorted by manifest order, so that each run makes the same suggestion.
        let mut names: Vec<_> =
            owners.iter().map(|(name, owner)| (owner.index, owner.is_alias, &**name)).collect();
        names.sort_unstable();
        let name = closest(&id.name, names.into_iter().map(|(_, _, name)| name))?;
        Some(shown(&format!("{type_name}#{name}")))
    }
}

impl TypeNames {
    /// Returns the names of a type in words, if there are few. A resource can't mean itself.
    fn in_words(&self, type_name: &str, itself: Option<ResourceIndex>) -> Option<String> {
        const MAX_LISTED: usize = 3;
        if self.owners.len() > MAX_LISTED + 1 {
            return None;
        }
        let others = self.owners.iter().filter(|(_, owner)| Some(owner.index) != itself && !owner.is_alias);
        let mut names: Vec<_> = others.map(|(name, owner)| (owner.index, &**name)).collect();
        names.sort_unstable();
        let names: Vec<String> =
            names.into_iter().map(|(_, name)| shown(&format!("{type_name}#{name}"))).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names.len() {
            0 if self.owners.is_empty() => Some(format!("there is no `{type_name}` in this manifest")),
            0 => Some(format!("there is no other `{type_name}` in this manifest")),
            1..=MAX_LISTED => Some(format!("use {}", listed(&names, "or"))),
            _ => None,
        }
    }

    fn add(&mut self, name: &Arc<str>, owner: NameOwner) -> Option<&mut NameOwner> {
        match self.owners.entry(Arc::clone(name)) {
            std::collections::hash_map::Entry::Occupied(earlier) => Some(earlier.into_mut()),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(owner);
                None
            }
        }
    }
}

/// Returns the error for a name or alias that exists already. Of a name that many items of a `foreach` have, only
/// the first two items are reported.
fn duplicate(
    message: String,
    span: Span,
    earlier: &mut NameOwner,
    scope: &ManifestScope,
) -> Option<Diagnostic> {
    let error = |message: String| Diagnostic::error(DiagnosticKind::DuplicateResource, span, message);
    let (Some(first), Some(item)) = (&earlier.item, scope.item.known()) else {
        let of_item = earlier.item.as_ref().map(|item| format!(", {}", item.in_words())).unwrap_or_default();
        return Some(error(message).with_label(earlier.span, format!("the first{of_item}")));
    };
    if earlier.span != span {
        return Some(error(message).with_label(earlier.span, format!("the first, {}", first.in_words())));
    }
    if std::mem::replace(&mut earlier.is_reported, true) {
        return None;
    }
    let mut error = error(format!("{message}, {} and {}", first.in_words(), item.in_words()));
    if first.span() != item.span() {
        error = error.with_label(first.span(), "the first");
    }
    let written = scope.text.get(span.range()).unwrap_or_default();
    let has_item = ITEM_NAMES.iter().any(|name| written.contains(name));
    Some(if has_item {
        error.with_hint("remove one of the items, or add another part of `Item` to the name")
    } else {
        error.with_hint("add a part of the item to the name, such as `{{ Item }}`")
    })
}

fn self_dependency(id: &ResourceId, kind: EdgeKind, span: Span) -> Diagnostic {
    let verb = match kind {
        EdgeKind::Require => "requires",
        EdgeKind::Subscribe => "subscribes to",
    };
    Diagnostic::error(DiagnosticKind::Cycle, span, format!("`{}` {verb} itself", shown(&id.to_string())))
}
