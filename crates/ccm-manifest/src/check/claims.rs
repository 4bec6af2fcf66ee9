//! Reports conflicts between the claims of resources.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ccm_model::{
    Catalog, Claim, ClaimKind, Diagnostic, DiagnosticKind, Diagnostics, PathSpellings, Resource,
    ResourceIndex, Sharing,
};
use ccm_properties::FilledExtent;

use crate::read::types::Types;
use crate::resolve::messages::shown;

/// Resource with one of its claims.
pub(crate) type Claimed<'c> = (ResourceIndex, Claim<'c>);

/// Returns the claims of all resources in manifest order, also of unmanaged ones: a manifest is valid on all
/// machines or on none.
pub(crate) fn collect<'c>(
    catalog: &'c Catalog,
    types: &Types<'_>,
    spellings: &PathSpellings<'_>,
) -> Vec<Claimed<'c>> {
    let claims = |index: ResourceIndex| {
        types.claims(catalog.resource(index), spellings).into_iter().map(move |claim| (index, claim))
    };
    catalog.indices().flat_map(claims).collect()
}

/// Reports claims on the same object, unless all of them are shared.
pub(crate) fn find_conflicts(catalog: &Catalog, claims: &[Claimed<'_>], diagnostics: &mut Diagnostics) {
    let mut claimants: HashMap<(ClaimKind, &str), &Claimed<'_>> = HashMap::with_capacity(claims.len());
    for claimed in claims {
        match claimants.entry((claimed.1.kind, &claimed.1.key)) {
            Entry::Vacant(free) => drop(free.insert(claimed)),
            Entry::Occupied(mut earlier) => {
                diagnostics.extend(conflict(catalog, earlier.get(), claimed));
                if earlier.get().1.sharing == Sharing::Shared {
                    earlier.insert(claimed);
                }
            }
        }
    }
}

/// Reports directories that one resource fills and another one purges: what the first brings can't be told from what
/// the second is to remove.
pub(crate) fn find_filled_purges(
    catalog: &Catalog,
    types: &Types<'_>,
    spellings: &PathSpellings<'_>,
    diagnostics: &mut Diagnostics,
) {
    let spec = |resource: &Resource| types.find(&resource.id.type_name).map(|found| types.spec(found));
    let directories = catalog
        .resources
        .iter()
        .filter_map(|resource| Some((spec(resource)?.sources()?.purges(resource)?, resource)));
    let directories: HashMap<Cow<'_, str>, &Resource> =
        directories.map(|(path, by)| (spellings.canonical(path), by)).collect();
    if directories.is_empty() {
        return;
    }
    for filler in &catalog.resources {
        for filled in spec(filler).into_iter().flat_map(|spec| spec.fills(filler)) {
            let purger =
                directories.get(&spellings.canonical(filled.path)).filter(|purger| purger.id != filler.id);
            let Some(purger) = purger.filter(|_| filled.extent == FilledExtent::Tree) else { continue };
            let [filler_name, purger_name] = [filler, purger].map(|resource| shown(&resource.id.to_string()));
            let directory = shown(filled.path);
            let message = format!(
                "`{filler_name}` fills the directory `{directory}`, and `purge` of `{purger_name}` would remove what it brings"
            );
            diagnostics.push(
                Diagnostic::error(DiagnosticKind::Conflict, filler.span, message)
                    .with_label(purger.span, "the directory is purged here")
                    .with_hint("fill a directory below this one, or remove `purge`"),
            );
        }
    }
}

fn conflict(catalog: &Catalog, first: &Claimed<'_>, second: &Claimed<'_>) -> Option<Diagnostic> {
    let [one, other] = [first, second].map(|claimed| catalog.resource(claimed.0));
    // Duplicate names are reported already, and one resource may claim several parts of an object.
    if one.id == other.id {
        return None;
    }
    let [one_name, other_name] = [one, other].map(|resource| shown(&resource.id.to_string()));
    let alone = |name: &str| format!("keep only `{name}`");
    let hint = match (first.1.sharing, second.1.sharing) {
        (Sharing::Shared, Sharing::Shared) => return None,
        (Sharing::Exclusive, Sharing::Exclusive) => "keep one of them".to_owned(),
        (Sharing::Exclusive, Sharing::Shared) => alone(&one_name),
        (Sharing::Shared, Sharing::Exclusive) => alone(&other_name),
    };
    let Claim { kind, key, .. } = &first.1;
    let mut message = format!("`{one_name}` and `{other_name}` both manage the {kind} `{}`", shown(key));
    for spelling in first.1.other_spellings(second.1.as_written()) {
        message += &format!(", which is also `{}`", shown(spelling));
    }
    Some(
        Diagnostic::error(DiagnosticKind::Conflict, other.span, message)
            .with_label(one.span, "the first")
            .with_hint(hint),
    )
}
