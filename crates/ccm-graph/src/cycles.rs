//! Cycles, with a way around each that a person can follow.

use std::collections::VecDeque;

use ccm_model::ResourceIndex;
use petgraph::algo::kosaraju_scc;

use crate::Graph;
use crate::graph::{index, node};

/// Resources that depend on one another in a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// Every resource that can be reached from itself through the others, in manifest order.
    pub members: Vec<ResourceIndex>,
    /// Ways around, each along dependencies from a resource back to itself: `[a, b, a]` for two resources
    /// that depend on each other, `[a, a]` for one that depends on itself.
    ///
    /// Each is the shortest through the first member that no earlier one passes, and begins at its own first
    /// member in manifest order. Together they pass every member; a plain circle has one. Only in a tangle
    /// too large for anyone to read, thousands of members each with its own way, do they end early.
    pub paths: Vec<Vec<ResourceIndex>>,
}

/// How many edges the search for paths looks at in one graph.
///
/// There are graphs of 50,000 resources whose paths would fill gigabytes: a chain that ends in a fan whose
/// every leaf leads back to its beginning. The members are named all the same.
const SEARCH_LIMIT: usize = 10_000_000;

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

        let mut search = Search::new(self);
        components
            .into_iter()
            .map(|members| {
                let paths = search.cover(&members);
                Cycle { members, paths }
            })
            .collect()
    }
}

/// Looks for shortest ways around; its tables are as long as the graph and made once.
struct Search<'graph> {
    graph: &'graph Graph,
    /// Which search reached a resource last, so that no table has to be wiped between searches.
    reached_by: Vec<usize>,
    searches: usize,
    /// From where that search reached it.
    reached_from: Vec<ResourceIndex>,
    /// The first member of the component that a resource belongs to. A way back never leaves it, and what
    /// lies outside may be far larger than the component.
    component: Vec<Option<ResourceIndex>>,
    passed: Vec<bool>,
    looked_at: usize,
}

impl<'graph> Search<'graph> {
    fn new(graph: &'graph Graph) -> Self {
        let count = graph.count();
        Self {
            graph,
            reached_by: vec![0; count],
            searches: 0,
            reached_from: vec![ResourceIndex(0); count],
            component: vec![None; count],
            passed: vec![false; count],
            looked_at: 0,
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

    /// Finds the shortest path from a member back to itself; none if the limit is reached.
    fn shortest_around(&mut self, start: ResourceIndex) -> Option<Vec<ResourceIndex>> {
        self.searches += 1;
        let mut queue = VecDeque::from([start]);
        while let Some(current) = queue.pop_front() {
            for next in self.graph.edges.neighbors(node(current)).map(index) {
                self.looked_at += 1;
                if self.looked_at > SEARCH_LIMIT {
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

    /// Puts together the path that the search took, turned so that its first member stands first.
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
