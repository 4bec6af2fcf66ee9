//! Reports dependency cycles with the locations of their edges.

use ccm_graph::Graph;
use ccm_model::{Catalog, Dependency, Diagnostic, DiagnosticKind, Diagnostics, ResourceIndex, Span};

use crate::resolve::messages::shown;

/// Reports every path around every cycle.
pub(crate) fn find(catalog: &Catalog, graph: &Graph, diagnostics: &mut Diagnostics) {
    for cycle in graph.cycles() {
        if cycle.paths.is_empty() {
            diagnostics.push(large_cycle_error(catalog, &cycle.members));
        }
        diagnostics.extend(cycle.paths.iter().map(|path| cycle_error(catalog, path)));
    }
}

fn cycle_error(catalog: &Catalog, path: &[ResourceIndex]) -> Diagnostic {
    // The message names every member, but labels for all of them would hide the rest.
    const STEPS_SHOWN: usize = 10;
    let members: Vec<String> = path.iter().map(|index| name(catalog, *index)).collect();
    let message = format!("dependency cycle: {}", members.join(" → "));
    let mut steps = path.windows(2).take(STEPS_SHOWN).map(|pair| step(catalog, pair[0], pair[1]));
    let Some((span, text)) = steps.next() else {
        return Diagnostic::without_location(DiagnosticKind::Cycle, message);
    };
    let error = Diagnostic::error(DiagnosticKind::Cycle, span, message).labelled(text);
    steps.fold(error, |error, (span, text)| error.with_label(span, text))
}

/// Returns the error for a cycle too large to enumerate its paths.
fn large_cycle_error(catalog: &Catalog, members: &[ResourceIndex]) -> Diagnostic {
    let span = members.first().map(|first| catalog.resource(*first).span);
    let names: Vec<String> = members.iter().map(|index| name(catalog, *index)).collect();
    Diagnostic::error_at(DiagnosticKind::Cycle, span, format!("dependency cycle among {}", names.join(", ")))
}

/// Returns span and label of the edge between two members, which may belong to a group around the first.
fn step(catalog: &Catalog, from: ResourceIndex, to: ResourceIndex) -> (Span, String) {
    let resource = catalog.resource(from);
    let written = |dependencies: &[Dependency]| {
        dependencies.iter().find(|dependency| dependency.on == to).map(|dependency| dependency.span)
    };
    let own = written(&resource.require).map(|span| (span, "requires"));
    let own = own.or_else(|| written(&resource.subscribe).map(|span| (span, "subscribes to")));
    let of_group = || {
        let nodes = catalog.group_nodes();
        let mut nodes = catalog.groups_around(resource).filter_map(|group| nodes[group.get()]);
        nodes.find_map(|node| {
            let node = catalog.resource(node);
            written(&node.require).or_else(|| written(&node.subscribe))
        })
    };
    // An `apply` resource requires the members of its group.
    let (span, verb) = own.unwrap_or_else(|| (of_group().unwrap_or(resource.span), "requires"));
    (span, format!("`{}` {verb} `{}`", name(catalog, from), name(catalog, to)))
}

fn name(catalog: &Catalog, index: ResourceIndex) -> String {
    shown(&catalog.resource(index).id.to_string())
}
