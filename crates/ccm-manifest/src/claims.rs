//! Things that more than one resource claims.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

use ccm_model::{Claim, ClaimKind, Diagnostic, Diagnostics, Resource, Sharing};

use crate::draft::Draft;
use crate::types::Types;
use crate::wording::shown;

/// A resource that has claimed something.
struct Claimant<'d> {
    resource: &'d Resource,
    sharing: Sharing,
}

/// Refuses claims on one thing, unless all of them share it. A resource whose `control` is off claims what it would
/// manage, so that a manifest is as right on one machine as on another.
pub(crate) fn find_conflicts(drafts: &[Draft], types: &Types<'_>, diagnostics: &mut Diagnostics) {
    let mut claimants: HashMap<(ClaimKind, Cow<'_, str>), Claimant<'_>> =
        HashMap::with_capacity(drafts.len());
    for draft in drafts.iter().filter(|draft| draft.has_name) {
        if diagnostics.is_full() {
            return;
        }
        let resource = &draft.resource;
        for Claim { kind, key, sharing, .. } in types.spec(draft.type_index).claims(resource) {
            let claimant = Claimant { resource, sharing };
            match claimants.entry((kind, key)) {
                Entry::Vacant(free) => drop(free.insert(claimant)),
                // A name that is given twice has been reported, and a resource may claim several parts.
                Entry::Occupied(earlier) if earlier.get().resource.id == resource.id => {}
                Entry::Occupied(mut earlier) => {
                    let (kind, key) = earlier.key();
                    diagnostics.extend(conflict(*kind, key, earlier.get(), &claimant));
                    if earlier.get().sharing == Sharing::Shared {
                        earlier.insert(claimant);
                    }
                }
            }
        }
    }
}

fn conflict(kind: ClaimKind, key: &str, first: &Claimant<'_>, second: &Claimant<'_>) -> Option<Diagnostic> {
    let name = |claimant: &Claimant<'_>| shown(&claimant.resource.id.to_string());
    let hint = match (first.sharing, second.sharing) {
        (Sharing::Shared, Sharing::Shared) => return None,
        (Sharing::Exclusive, Sharing::Exclusive) => "keep one of them".to_owned(),
        (Sharing::Exclusive, Sharing::Shared) => {
            format!("`{}` shares it with no other resource", name(first))
        }
        (Sharing::Shared, Sharing::Exclusive) => {
            format!("`{}` shares it with no other resource", name(second))
        }
    };
    let message = format!("`{}` and `{}` both manage the {kind} `{}`", name(first), name(second), shown(key));
    let error = Diagnostic::error(second.resource.span, message).with_label(first.resource.span, "the first");
    Some(error.with_hint(hint))
}
