//! From text to catalog, step by step.

use std::collections::HashSet;

use ccm_model::{Catalog, Diagnostic, Node, Resource, ResourceIndex, Severity, SourceId, Span, TypeSpec};

use crate::document::{self, Document, smallest_manifest};
use crate::draft::{Draft, draft};
use crate::references::Names;
use crate::resources::{Collected, Nameless, collect};
use crate::types::Types;
use crate::{cycles, paths, wording};

/// What came of a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The catalog, if nothing in the manifest is a mistake.
    pub catalog: Option<Catalog>,
    /// Mistakes and warnings, in the order of the manifest and each once.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a manifest that may use these resource types.
pub fn load(source: SourceId, text: &str, types: &[&dyn TypeSpec]) -> Loaded {
    match ccm_yaml::parse(source, text, &ccm_yaml::Limits::default()) {
        Ok(root) => load_tree(source, text, root, types),
        Err(diagnostics) => Loaded { catalog: None, diagnostics: in_order(diagnostics) },
    }
}

/// Reads a manifest whose YAML has been taken apart.
pub(crate) fn load_tree(source: SourceId, text: &str, root: Option<Node>, types: &[&dyn TypeSpec]) -> Loaded {
    let types = &Types::new(types);
    let mut diagnostics = Vec::new();
    let Document { settings, items } = document::read(source, text, root, types, &mut diagnostics);
    let items_span = items.first().map(|item| wording::start_of(item.span));
    let Collected { declarations, nameless, broken } = collect(items, types, &mut diagnostics);

    let mut drafts: Vec<Draft> = declarations
        .into_iter()
        .map(|declaration| draft(declaration, types, text, &mut diagnostics))
        .collect();
    let mut names = Names::new(types, &broken);
    for (index, draft) in drafts.iter().enumerate() {
        names.add(ResourceIndex::from_usize(index), draft, &mut diagnostics);
    }
    for (index, draft) in drafts.iter_mut().enumerate() {
        names.resolve(draft, Some(ResourceIndex::from_usize(index)), &mut diagnostics);
        draft.check(types, text, &mut diagnostics);
    }
    for properties in nameless {
        diagnostics.extend(mistakes_within(properties, &mut names, types, text));
    }
    let resources: Vec<Resource> = drafts.into_iter().map(|draft| draft.resource).collect();
    let mut catalog = Catalog {
        name: settings.name.map(|name| name.0),
        pre_message: settings.pre_message.map(|message| message.0),
        post_message: settings.post_message.map(|message| message.0),
        fail_on_error: settings.fail_on_error.unwrap_or(false),
        resources,
    };
    cycles::find(&catalog, &mut diagnostics);
    if catalog.resources.is_empty() && !diagnostics.iter().any(is_error) {
        let span = items_span.unwrap_or(Span::new(source, 0, 0));
        let mistake = Diagnostic::error(span, "the manifest has no resource");
        diagnostics.push(mistake.with_hint(smallest_manifest(types)));
    }
    let is_faultless = !diagnostics.iter().any(is_error);
    if is_faultless {
        paths::find_below_nothing(&catalog, types, &mut diagnostics);
        paths::require_directories(&mut catalog, types, &mut diagnostics);
    }
    Loaded { catalog: is_faultless.then_some(catalog), diagnostics: in_order(diagnostics) }
}

/// Checks properties that no resource has. What is said of the resource that stands in for one, outside of
/// them, does not count, and neither does a warning of what it would do.
fn mistakes_within(
    nameless: Nameless,
    names: &mut Names<'_, '_>,
    types: &Types<'_>,
    text: &str,
) -> impl Iterator<Item = Diagnostic> {
    let mut found = Vec::new();
    let mut draft = draft(nameless.declaration, types, text, &mut found);
    names.resolve(&mut draft, None, &mut found);
    draft.check(types, text, &mut found);
    let is_within =
        move |mistake: &Diagnostic| mistake.span().is_some_and(|span| nameless.within.contains(span));
    found.into_iter().filter(move |mistake| is_error(mistake) && is_within(mistake))
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// Sorts by place and leaves out what is there twice: a mistake in defaults is found once for each resource
/// of the list.
fn in_order(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    diagnostics.sort_by_key(Diagnostic::span);
    let mut seen = HashSet::new();
    diagnostics.retain(|diagnostic| seen.insert((diagnostic.span(), diagnostic.message.clone())));
    diagnostics
}
