//! Reports parts of one text file that undo each other.

use std::collections::HashMap;

use ccm_model::{
    Catalog, ClaimKind, Control, Diagnostic, DiagnosticKind, Diagnostics, PathKind, Resource, ResourceIndex,
};
use ccm_properties::{TextPart, TextView};

use crate::check::claims::Claimed;
use crate::read::types::Types;
use crate::resolve::messages::shown;

/// Maximum number of pairs that are tried for one file: a limit of time for manifests with thousands of lines in a file.
const MAX_PAIRS: usize = 10_000;

/// Maximum number of times that both parts of a pair are applied.
const MAX_ROUNDS: usize = 3;

/// Part of a file, with the resource that manages it.
struct ManagedPart {
    index: ResourceIndex,
    part: Box<dyn TextPart>,
    changes_others: bool,
}

/// Reports pairs of resources that change what the other one writes to the same file, so that no run leaves the file as
/// both want it. Resources for which `is_known` is `false` have properties that only a run knows.
pub(crate) fn find_conflicts(
    catalog: &Catalog,
    claims: &[Claimed<'_>],
    types: &Types<'_>,
    is_known: impl Fn(ResourceIndex) -> bool,
    diagnostics: &mut Diagnostics,
) {
    let view = |resource: &Resource| types.find(&resource.id.type_name).and_then(|at| types.spec(at).text());
    let is_managed = |resource: &Resource| !matches!(resource.control, Control::NotManaged { .. });
    let mut by_path: HashMap<&str, Vec<ResourceIndex>> = HashMap::new();
    for (index, claim) in claims.iter().filter(|(_, claim)| claim.kind == ClaimKind::Path) {
        if claim.desired == PathKind::Part && is_known(*index) && is_managed(catalog.resource(*index)) {
            by_path.entry(&claim.key).or_default().push(*index);
        }
    }
    by_path.retain(|_, parts| {
        let changes = |index: &ResourceIndex| changes_others(view, catalog.resource(*index));
        parts.len() > 1 && parts.iter().any(changes)
    });
    for (path, parts) in by_path {
        let part = |index: ResourceIndex| {
            let resource = catalog.resource(index);
            let part = view(resource)?.part(resource)?;
            Some(ManagedPart { index, part, changes_others: changes_others(view, resource) })
        };
        let parts: Vec<ManagedPart> = parts.into_iter().filter_map(part).collect();
        for (first, second) in
            pairs(&parts).take(MAX_PAIRS).filter(|(first, second)| undo_each_other(first, second))
        {
            diagnostics.push(conflict(catalog, path, first.index, second.index));
        }
    }
}

fn changes_others<'t>(view: impl Fn(&Resource) -> Option<&'t dyn TextView>, resource: &Resource) -> bool {
    view(resource).is_some_and(|view| view.changes_other_lines(resource))
}

/// Returns the pairs of which one part may change the lines of the other one.
fn pairs(parts: &[ManagedPart]) -> impl Iterator<Item = (&ManagedPart, &ManagedPart)> {
    let later = parts.iter().enumerate().map(|(at, first)| (first, &parts[at + 1..]));
    let all = later.flat_map(|(first, others)| others.iter().map(move |second| (first, second)));
    all.filter(|(first, second)| first.changes_others || second.changes_others)
}

/// Returns `true` if neither of two parts stays in a file that begins empty, however often both are applied. A part that
/// an empty file does not allow is not judged.
fn undo_each_other(first: &ManagedPart, second: &ManagedPart) -> bool {
    let (Some(mut content), Some(_)) = (first.part.applied(b""), second.part.applied(b"")) else {
        return false;
    };
    for _ in 0..MAX_ROUNDS {
        let mut is_changed = false;
        for part in [second, first] {
            let Some(applied) = part.part.applied(&content) else { return true };
            is_changed |= applied != content;
            content = applied;
        }
        if !is_changed {
            return false;
        }
    }
    true
}

fn conflict(catalog: &Catalog, path: &str, first: ResourceIndex, second: ResourceIndex) -> Diagnostic {
    let [one, other] = [first, second].map(|index| catalog.resource(index));
    let [one_name, other_name] = [one, other].map(|resource| shown(&resource.id.to_string()));
    let message = format!(
        "`{one_name}` and `{other_name}` undo each other in `{}`: `match` finds what the other one writes",
        shown(path)
    );
    Diagnostic::error(DiagnosticKind::Conflict, other.span, message)
        .with_label(one.span, "the first")
        .with_hint("write a `match` that finds only lines of the resource itself, or keep one of them")
}
