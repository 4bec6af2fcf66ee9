//! Resources that a run leaves out on request.

use ccm_graph::Graph;
use ccm_model::{ResourceIndex, SkipCause};

use crate::run::Run;

/// Resources that a run processes.
pub(super) struct WalkSelection {
    /// Selected resources and their dependencies. `None` if all are selected.
    selected: Option<Vec<bool>>,
    /// Excluded resources. Empty if none is.
    excluded: Vec<bool>,
}

impl WalkSelection {
    pub(super) fn new(run: &Run<'_>, graph: &Graph) -> Self {
        let selected = run.only.map(|only| graph.with_requirements(only));
        let mut excluded = Vec::new();
        if !run.skip.is_empty() {
            excluded = vec![false; run.catalog.resources.len()];
            for index in run.skip {
                excluded[index.get()] = true;
            }
            let nodes = run.catalog.group_nodes();
            let mut groups = vec![false; run.catalog.groups.len()];
            // A group comes before the groups in it.
            for (position, group) in run.catalog.groups.iter().enumerate() {
                let is_named = nodes[position].is_some_and(|node| excluded[node.get()]);
                groups[position] = is_named || group.parent.is_some_and(|parent| groups[parent.get()]);
            }
            for index in run.catalog.indices() {
                let resource = run.catalog.resource(index);
                excluded[index.get()] |= resource.group.is_some_and(|group| groups[group.get()]);
            }
        }
        Self { selected, excluded }
    }

    /// Returns the cause for leaving a resource out. `None` if it is processed.
    pub(super) fn cause(&self, index: ResourceIndex) -> Option<SkipCause> {
        if self.selected.as_ref().is_some_and(|selected| !selected[index.get()]) {
            return Some(SkipCause::NotSelected);
        }
        self.excluded.get(index.get()).is_some_and(|excluded| *excluded).then_some(SkipCause::Excluded)
    }
}
