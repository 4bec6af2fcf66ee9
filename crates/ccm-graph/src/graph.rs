//! Dependencies between resources.

use ccm_model::{Catalog, Dependency, GroupIndex, ResourceIndex};
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeRef};
use petgraph::{Incoming, Outgoing};

/// Kind of a dependency. A subscription includes a requirement, so it is the greater kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// The other resource must have succeeded before.
    Require,
    /// Requires the other resource, and a change of that one triggers a refresh.
    Subscribe,
}

/// Dependency of one resource on another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// Resource that waits.
    pub resource: ResourceIndex,
    /// Resource that it waits for.
    pub depends_on: ResourceIndex,
    /// Kind of the dependency.
    pub kind: EdgeKind,
}

/// Resources of a catalog and their dependencies. Members of a group come after everything that the node of
/// the group depends on, and before the node.
///
/// Two resources have at most one edge between them in a direction: a subscription if any of the given edges
/// is.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Edges point from a resource to its dependency. See [`Graph::new`] for their order.
    pub(crate) edges: DiGraph<(), EdgeKind>,
}

impl Graph {
    /// Builds the graph of a catalog from its requires, subscribes and groups.
    pub fn of(catalog: &Catalog) -> Self {
        let edges = catalog.indices().flat_map(|index| {
            let resource = catalog.resource(index);
            let edge = move |dependency: &Dependency, kind| Edge {
                resource: index,
                depends_on: dependency.on,
                kind,
            };
            let requires = resource.require.iter().map(move |dependency| edge(dependency, EdgeKind::Require));
            let subscribes =
                resource.subscribe.iter().map(move |dependency| edge(dependency, EdgeKind::Subscribe));
            requires.chain(subscribes)
        });
        Self::new(catalog.resources.len(), edges.chain(group_edges(catalog)))
    }

    /// Builds the graph of `count` resources.
    ///
    /// # Panics
    /// If an edge names a resource that is not among them.
    pub fn new(count: usize, edges: impl IntoIterator<Item = Edge>) -> Self {
        let mut sorted: Vec<Edge> = edges.into_iter().collect();
        // petgraph gives a node's edges back last added first: descending here makes every iteration ascend,
        // which is the order of the manifest.
        sorted.sort_unstable_by_key(|edge| std::cmp::Reverse((edge.resource, edge.depends_on, edge.kind)));
        // A subscription now comes before an equal edge that is only a requirement, and is kept.
        sorted.dedup_by_key(|edge| (edge.resource, edge.depends_on));

        let mut graph = DiGraph::with_capacity(count, sorted.len());
        for _ in 0..count {
            graph.add_node(());
        }
        for edge in sorted {
            graph.add_edge(node(edge.resource), node(edge.depends_on), edge.kind);
        }
        Self { edges: graph }
    }

    pub(crate) fn count(&self) -> usize {
        self.edges.node_count()
    }

    /// Returns the direct dependencies of a resource, in manifest order and each once.
    pub fn dependencies(&self, of: ResourceIndex) -> impl Iterator<Item = ResourceIndex> {
        self.edges.neighbors_directed(node(of), Outgoing).map(index)
    }

    /// Returns the direct dependants of a resource, in manifest order and each once.
    pub fn dependants(&self, of: ResourceIndex) -> impl Iterator<Item = ResourceIndex> {
        self.edges.neighbors_directed(node(of), Incoming).map(index)
    }

    /// Returns the resources that one requires but does not subscribe to, in manifest order and each once.
    pub fn requirements(&self, of: ResourceIndex) -> impl Iterator<Item = ResourceIndex> {
        self.targets(of, EdgeKind::Require)
    }

    /// Returns the resources that a resource subscribes to, in manifest order and each once.
    pub fn subscriptions(&self, of: ResourceIndex) -> impl Iterator<Item = ResourceIndex> {
        self.targets(of, EdgeKind::Subscribe)
    }

    fn targets(&self, of: ResourceIndex, kind: EdgeKind) -> impl Iterator<Item = ResourceIndex> {
        let edges = self.edges.edges_directed(node(of), Outgoing);
        edges.filter(move |edge| *edge.weight() == kind).map(|edge| index(edge.target()))
    }

    /// Returns the subscribers of a resource, in manifest order and each once.
    pub fn subscribers(&self, of: ResourceIndex) -> impl Iterator<Item = ResourceIndex> {
        let edges = self.edges.edges_directed(node(of), Incoming);
        edges.filter(|edge| *edge.weight() == EdgeKind::Subscribe).map(|edge| index(edge.source()))
    }

    /// Marks the selected resources and all their dependencies, direct or not.
    pub fn with_requirements(&self, selected: &[ResourceIndex]) -> Vec<bool> {
        let mut marked = vec![false; self.count()];
        let mut search = Dfs::empty(&self.edges);
        for start in selected {
            search.move_to(node(*start));
            while let Some(reached) = search.next(&self.edges) {
                marked[reached.index()] = true;
            }
        }
        marked
    }
}

/// Returns the edges between groups, their members, and what is before them.
fn group_edges(catalog: &Catalog) -> impl Iterator<Item = Edge> {
    let nodes = catalog.group_nodes();
    let mut before: Vec<Vec<ResourceIndex>> = Vec::with_capacity(nodes.len());
    for (group, node) in catalog.groups.iter().zip(&nodes) {
        let mut all = group.parent.map_or_else(Vec::new, |parent| before[parent.get()].clone());
        let node = node.map(|node| catalog.resource(node));
        all.extend(
            node.into_iter().flat_map(|node| node.require.iter().chain(&node.subscribe)).map(|edge| edge.on),
        );
        before.push(all);
    }
    let require = |resource, depends_on| Edge { resource, depends_on, kind: EdgeKind::Require };
    catalog.indices().flat_map(move |member| {
        let group = catalog.resource(member).group.map(GroupIndex::get);
        let node = group.and_then(|group| nodes[group]).map(|node| require(node, member));
        let before = group.map_or(&[][..], |group| &before[group]);
        let before: Vec<Edge> = before.iter().map(|on| require(member, *on)).collect();
        before.into_iter().chain(node)
    })
}

pub(crate) fn node(index: ResourceIndex) -> NodeIndex {
    NodeIndex::from(index.0)
}

pub(crate) fn index(node: NodeIndex) -> ResourceIndex {
    ResourceIndex::from_usize(node.index())
}
