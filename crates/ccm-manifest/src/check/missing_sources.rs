//! Reports files that a resource copies and that neither exist nor come from an earlier resource.

use std::collections::HashMap;
use std::path::Path;

use ccm_graph::Graph;
use ccm_model::{Catalog, ClaimKind, Control, Diagnostic, DiagnosticKind, Diagnostics, ResourceIndex};
use ccm_properties::TypeSpec;

use crate::check::claims::Claimed;
use crate::read::types::Types;
use crate::resolve::eval_context::EvalContext;
use crate::resolve::messages::{shown, shown_path};
use crate::resolve::missing_sources::MissingSource;
use crate::unchecked::LeftOut;

/// Catalog, with the order and the claims of its resources.
pub(crate) struct KnownFiles<'a> {
    pub(crate) catalog: &'a Catalog,
    pub(crate) graph: &'a Graph,
    pub(crate) claims: &'a [Claimed<'a>],
}

/// Claims on paths.
struct PathClaims<'a> {
    /// Claimant of each path; `None` if there are several.
    claimants: HashMap<&'a Path, Option<ResourceIndex>>,
}

impl<'a> PathClaims<'a> {
    fn of(claims: &'a [Claimed<'a>]) -> Self {
        let mut claimants = HashMap::new();
        for (index, claim) in claims.iter().filter(|(_, claim)| claim.kind == ClaimKind::Path) {
            let claimant = claimants.entry(Path::new(&*claim.key)).or_insert(Some(*index));
            *claimant = claimant.filter(|first| first == index);
        }
        Self { claimants }
    }

    /// Returns `true` if a resource other than this one claims the path or a directory above it.
    fn has_other(&self, resource: ResourceIndex, path: &Path) -> bool {
        path.ancestors().any(|path| {
            self.claimants.get(path).is_some_and(|claimant| claimant.is_none_or(|other| other != resource))
        })
    }
}

/// Reports missing files that no earlier resource may make: a resource of a type that manages no path, such as an exec
/// or a service, may make any file.
pub(crate) fn report(
    missing: &[MissingSource],
    known: &KnownFiles<'_>,
    types: &Types<'_>,
    context: &EvalContext<'_>,
    diagnostics: &mut Diagnostics,
) {
    if missing.is_empty() {
        return;
    }
    let KnownFiles { catalog, graph, claims } = known;
    let order = graph.order();
    let may_make_any = |index: &ResourceIndex| {
        let resource = catalog.resource(*index);
        let spec = types.find(&resource.id.type_name).map(|found| types.spec(found));
        // The resources of a child manifest are in the catalog themselves.
        let spec = spec.filter(|spec| spec.child_manifest(resource).is_none());
        let manages_path =
            |spec: &dyn TypeSpec| spec.claims(resource).iter().any(|claim| claim.kind == ClaimKind::Path);
        !matches!(resource.control, Control::NotManaged { .. })
            && spec.is_some_and(|spec| !manages_path(spec))
    };
    let first = order.iter().position(may_make_any).unwrap_or(order.len());
    let positions: HashMap<ResourceIndex, usize> =
        order.iter().enumerate().map(|(position, index)| (*index, position)).collect();
    let claims = PathClaims::of(claims);
    for source in missing {
        // A member of a cycle has no position.
        let Some(position) = positions.get(&source.resource) else { continue };
        if first < *position || claims.has_other(source.resource, Path::new(&context.spelling(&source.path)))
        {
            continue;
        }
        if context.omitted.files {
            context.leave_out(LeftOut::Source(source.path.clone()));
            context.record_unchecked(source.span);
            continue;
        }
        let message = format!("`{}` does not exist", shown_path(&source.path));
        let error = Diagnostic::error(DiagnosticKind::Unreadable, source.span, message);
        let error = Diagnostic { property: Some(source.property.into()), ..error };
        let hint = match context.near_name(&source.path) {
            Some(name) => format!("did you mean `{}`?", shown(&name)),
            None => "check the path, or create the file with an earlier resource".to_owned(),
        };
        diagnostics.push(error.with_hint(hint));
    }
}

#[cfg(test)]
mod tests {
    use ccm_model::{Claim, PathKind};

    use super::*;

    #[test]
    fn other_resources_may_make_a_path_in_what_they_claim() {
        let claims = [
            (ResourceIndex(0), Claim::path("/srv/own", PathKind::Other)),
            (ResourceIndex(1), Claim::path("/srv/other", PathKind::Directory)),
            (ResourceIndex(0), Claim::part_of_file("/srv/both")),
            (ResourceIndex(1), Claim::part_of_file("/srv/both")),
            (ResourceIndex(0), Claim::part_of_file("/srv/twice")),
            (ResourceIndex(0), Claim::part_of_file("/srv/twice")),
            (ResourceIndex(1), Claim::exclusive(ClaimKind::Package, "/srv/package")),
        ];
        let claims = PathClaims::of(&claims);
        for (path, expected) in [
            ("/srv/own", false),
            ("/srv/own/below", false),
            ("/srv/other", true),
            ("/srv/other/below/further", true),
            ("/srv/others", false),
            ("/srv/both", true),
            ("/srv/twice", false),
            ("/srv/package", false),
            ("/", false),
        ] {
            assert_eq!(claims.has_other(ResourceIndex(0), Path::new(path)), expected, "{path}");
        }
    }
}
