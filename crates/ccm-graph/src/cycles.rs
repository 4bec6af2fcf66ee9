//! Cycles, with paths that a person can follow.

use std::collections::VecDeque;

use ccm_model::ResourceIndex;
use petgraph::algo::kosaraju_scc;

use crate::Graph;
use crate::graph::{index, node};

/// Resources that depend on one another in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Resources that can be reached from themselves through the others, in manifest order.
    pub members: Vec<ResourceIndex>,
    /// Closed paths, each along dependencies from a resource back to itself: `[a, b, a]` for two resources
    /// that depend on each other, `[a, a]` for a resource that depends on itself.
    ///
    /// Each is the shortest path through the first member that no earlier path passes, and begins at its own
    /// first member in manifest order. Together they pass every member, except in a cycle too large to read,
    /// with thousands of such paths.
    pub paths: Vec<Vec<ResourceIndex>>,
}

/// Maximum number of edges that the search for paths looks at in one graph. The paths of some graphs of
/// 50,000 resources would fill gigabytes: a chain that ends in a fan whose every leaf leads back to its
/// beginning. The members of such a cycle are reported all the same.
const MAX_SEARCHED_EDGES: usize = 10_000_000;

impl Graph {
    /// Finds every cycle, in manifest order of their first members.
    pub fn cycles(&self) -> Vec<Cycle> {
        // petgraph's `tarjan_scc` recurses and would overflow the stack on a long chain.
        let mut components: Vec<Vec<ResourceIndex>> = kosaraju_scc(&self.edges)
            .into_iter()
            .filter(|component| match component[..] {
                [single] => self.edges.contains_edge(single, single),
                _ => true,
            })
            .map(|component| {
                let mut members: Vec<ResourceIndex> = component.into_iter().map(index).collect();
                members.sort_unstable();
                members
            })
            .collect();
        components.sort_unstable();

        let mut search = CycleSearch::new(self);
        components
            .into_iter()
            .map(|members| {
                let paths = search.cover(&members);
                Cycle { members, paths }
            })
            .collect()
    }
}

/// Search for shortest closed paths. Its tables are as long as the graph and built once.
struct CycleSearch<'graph> {
    graph: &'graph Graph,
    /// Number of the last search that reached each resource, which saves wiping a table between searches.
    reached_by: Vec<usize>,
    searches: usize,
    /// Resource from which that search reached each resource.
    reached_from: Vec<ResourceIndex>,
    /// First member of the component of each resource, which a closed path never leaves. The rest of the
    /// graph may be far larger.
    component: Vec<Option<ResourceIndex>>,
    passed: Vec<bool>,
    searched: usize,
}

impl<'graph> CycleSearch<'graph> {
    fn new(graph: &'graph Graph) -> Self {
        let count = graph.count();
        Self {
            graph,
            reached_by: vec![0; count],
            searches: 0,
            reached_from: vec![ResourceIndex(0); count],
            component: vec![None; count],
            passed: vec![false; count],
            searched: 0,
        }
    }

    /// Finds paths that together pass every member of one component.
    fn cover(&mut self, members: &[ResourceIndex]) -> Vec<Vec<ResourceIndex>> {
        for member in members {
            self.component[member.get()] = members.first().copied();
        }
        let mut paths = Vec::new();
        for member in members {
            if self.passed[member.get()] {
                continue;
            }
            let Some(path) = self.shortest_around(*member) else { break };
            for passed in &path {
                self.passed[passed.get()] = true;
            }
            paths.push(path);
        }
        paths
    }

    /// Finds the shortest path from a member back to itself. Returns `None` if the limit is reached.
    fn shortest_around(&mut self, start: ResourceIndex) -> Option<Vec<ResourceIndex>> {
        self.searches += 1;
        let mut queue = VecDeque::from([start]);
        while let Some(current) = queue.pop_front() {
            for next in self.graph.edges.neighbors(node(current)).map(index) {
                self.searched += 1;
                if self.searched > MAX_SEARCHED_EDGES {
                    return None;
                }
                if next == start {
                    return Some(self.way_back(start, current));
                }
                let inside = self.component[next.get()] == self.component[start.get()];
                if inside && self.reached_by[next.get()] != self.searches {
                    self.reached_by[next.get()] = self.searches;
                    self.reached_from[next.get()] = current;
                    queue.push_back(next);
                }
            }
        }
        None
    }

    /// Returns the path that the search took, rotated so that its first member in manifest order comes first.
    fn way_back(&self, start: ResourceIndex, last: ResourceIndex) -> Vec<ResourceIndex> {
        let mut path = vec![last];
        let mut current = last;
        while current != start {
            current = self.reached_from[current.get()];
            path.push(current);
        }
        path.reverse();
        let first = (0..path.len()).min_by_key(|position| path[*position]).unwrap_or(0);
        path.rotate_left(first);
        path.push(path[0]);
        path
    }
}
