//! Order of child manifests before the graph is known.

use std::collections::{HashMap, HashSet};

use ccm_model::GroupIndex;

use crate::read::common_properties::Reference;
use crate::read::draft::ResourceDraft;
use crate::scopes::Scopes;

/// Returns the declaration that applies each group.
pub(super) fn group_nodes(drafts: &[ResourceDraft]) -> HashMap<GroupIndex, usize> {
    let nodes = drafts.iter().enumerate();
    nodes.filter_map(|(index, draft)| Some((draft.resource.node_of?, index))).collect()
}

/// Declarations that come before all resources of a group, because of what its `apply` requires.
pub(super) struct GroupOrder {
    nodes: HashMap<GroupIndex, usize>,
    members: HashMap<GroupIndex, Vec<usize>>,
    names: HashMap<String, Vec<usize>>,
    before: HashMap<GroupIndex, HashSet<usize>>,
}

impl GroupOrder {
    pub(super) fn of(drafts: &[ResourceDraft]) -> Self {
        let mut members: HashMap<GroupIndex, Vec<usize>> = HashMap::new();
        let mut names: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, draft) in drafts.iter().enumerate() {
            if let Some(group) = draft.resource.group {
                members.entry(group).or_default().push(index);
            }
            let id = &draft.resource.id;
            for name in std::iter::once(&id.name).chain(&draft.resource.aliases) {
                names.entry(format!("{}#{name}", id.type_name)).or_default().push(index);
            }
        }
        Self { nodes: group_nodes(drafts), members, names, before: HashMap::new() }
    }

    /// Returns the declarations before a group. Nothing comes before the resources of the given manifest.
    pub(super) fn before(
        &mut self,
        group: Option<GroupIndex>,
        drafts: &[ResourceDraft],
        scopes: &Scopes<'_, '_>,
    ) -> &HashSet<usize> {
        static NOTHING: std::sync::LazyLock<HashSet<usize>> = std::sync::LazyLock::new(HashSet::new);
        let Some(group) = group else { return &NOTHING };
        if !self.before.contains_key(&group) {
            let found = self.search(group, drafts, scopes);
            self.before.insert(group, found);
        }
        &self.before[&group]
    }

    fn search(&self, group: GroupIndex, drafts: &[ResourceDraft], scopes: &Scopes<'_, '_>) -> HashSet<usize> {
        let groups = &scopes.children.groups;
        let around = |group: Option<GroupIndex>| {
            let groups = std::iter::successors(group, |group| groups[group.get()].parent);
            groups.filter_map(|group| self.nodes.get(&group).copied())
        };
        let on = |index: usize| {
            let references = drafts[index].require.iter().chain(&drafts[index].subscribe);
            references
                .filter_map(|Reference(node)| self.names.get(node.as_text()?))
                .flatten()
                .copied()
                .collect::<Vec<usize>>()
        };
        let mut found = HashSet::new();
        let mut next: Vec<usize> = around(Some(group)).flat_map(on).collect();
        while let Some(index) = next.pop() {
            if !found.insert(index) {
                continue;
            }
            next.extend(on(index));
            next.extend(around(drafts[index].resource.group).flat_map(on));
            let of_child = drafts[index].resource.node_of.and_then(|group| self.members.get(&group));
            next.extend(of_child.into_iter().flatten());
        }
        found
    }
}
