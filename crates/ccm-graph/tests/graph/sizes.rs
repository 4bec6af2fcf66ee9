//! Large graphs: nothing recurses, nothing is quadratic that need not be.

use ccm_graph::{Cycle, Edge, EdgeKind, Graph};
use ccm_model::ResourceIndex;

fn edge(resource: u32, depends_on: u32, kind: EdgeKind) -> Edge {
    Edge { resource: ResourceIndex(resource), depends_on: ResourceIndex(depends_on), kind }
}

fn require(resource: u32, depends_on: u32) -> Edge {
    edge(resource, depends_on, EdgeKind::Require)
}

fn order(graph: &Graph) -> Vec<u32> {
    graph.order().into_iter().map(|index| index.0).collect()
}

#[test]
fn a_chain_runs_from_its_end() {
    const LENGTH: u32 = 50_000;
    let graph = Graph::new(LENGTH as usize, (1..LENGTH).map(|on| require(on - 1, on)));
    assert_eq!(order(&graph), (0..LENGTH).rev().collect::<Vec<_>>());
    assert_eq!(graph.cycles(), []);
    assert_eq!(graph.with_requirements(&[ResourceIndex(0)]), vec![true; LENGTH as usize]);
    assert_eq!(
        graph.with_requirements(&[ResourceIndex(LENGTH - 1)]).iter().filter(|marked| **marked).count(),
        1
    );
}

#[test]
fn a_thousand_sources_with_ten_subscribers_each() {
    let edges = (0..1_000).flat_map(|source| {
        (0..10).map(move |number| edge(1_000 + source * 10 + number, source, EdgeKind::Subscribe))
    });
    let graph = Graph::new(11_000, edges);
    assert_eq!(order(&graph), (0..11_000).collect::<Vec<_>>());
    let subscribers: Vec<u32> = graph.subscribers(ResourceIndex(7)).map(|index| index.0).collect();
    assert_eq!(subscribers, (1_070..1_080).collect::<Vec<_>>());
}

#[test]
fn resources_without_edges_keep_their_order() {
    assert_eq!(order(&Graph::new(50_000, [])), (0..50_000).collect::<Vec<_>>());
}

#[test]
fn a_circle_of_fifty_thousand_is_one_path() {
    const LENGTH: u32 = 50_000;
    let graph = Graph::new(LENGTH as usize, (0..LENGTH).map(|from| require(from, (from + 1) % LENGTH)));
    let all: Vec<ResourceIndex> = (0..LENGTH).map(ResourceIndex).collect();
    let path = all.iter().copied().chain([ResourceIndex(0)]).collect();
    assert_eq!(graph.cycles(), [Cycle { members: all, paths: vec![path] }]);
    assert_eq!(order(&graph), [] as [u32; 0]);
}

#[test]
fn a_small_circle_on_a_long_chain_is_not_lost_in_it() {
    const LENGTH: u32 = 50_000;
    let chain = (1..LENGTH).map(|on| require(on - 1, on));
    // Two thousand pairs, each of which hangs on the chain.
    let pairs = (0..2_000).map(|pair| require(pair * 20 + 1, pair * 20));
    let cycles = Graph::new(LENGTH as usize, chain.chain(pairs)).cycles();
    assert_eq!(cycles.len(), 2_000);
    assert!(cycles.iter().all(|cycle| cycle.paths.len() == 1 && cycle.paths[0].len() == 3));
}

/// A chain, then a fan whose every leaf leads back: all paths together would be 600 million steps.
#[test]
fn a_tangle_names_its_members_and_shows_the_first_paths() {
    const HALF: u32 = 25_000;
    let chain = (1..HALF).map(|on| require(on - 1, on));
    let fan = (HALF..2 * HALF).flat_map(|leaf| [require(HALF - 1, leaf), require(leaf, 0)]);
    let cycles = Graph::new(2 * HALF as usize, chain.chain(fan)).cycles();
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].members.len(), 2 * HALF as usize);
    assert!(cycles[0].paths.len() > 100, "{}", cycles[0].paths.len());
    assert!(cycles[0].paths.iter().all(|path| path.len() == HALF as usize + 2));
}

#[test]
fn every_pair_depends_on_each_other() {
    const COUNT: u32 = 300;
    let edges =
        (0..COUNT).flat_map(|from| (0..COUNT).filter(move |on| *on != from).map(move |on| require(from, on)));
    let cycles = Graph::new(COUNT as usize, edges).cycles();
    assert_eq!(cycles.len(), 1);
    assert_eq!(cycles[0].paths.len(), COUNT as usize - 1, "the first pair, then each other with the first");
}

#[test]
fn a_table_of_cycles() {
    for (count, edges, expected) in [
        (3, vec![], vec![]),
        (2, vec![(1, 1)], vec![(vec![1], vec![vec![1, 1]])]),
        (3, vec![(2, 1), (1, 2)], vec![(vec![1, 2], vec![vec![1, 2, 1]])]),
        // Two circles that share a member: each has its own path.
        (
            4,
            vec![(0, 1), (1, 0), (1, 2), (2, 3), (3, 1)],
            vec![(vec![0, 1, 2, 3], vec![vec![0, 1, 0], vec![1, 2, 3, 1]])],
        ),
        // Two circles, the first of which waits for the second.
        (
            5,
            vec![(4, 3), (3, 4), (1, 0), (0, 1), (0, 3)],
            vec![(vec![0, 1], vec![vec![0, 1, 0]]), (vec![3, 4], vec![vec![3, 4, 3]])],
        ),
        // A circle whose order runs against the manifest.
        (3, vec![(0, 2), (2, 1), (1, 0)], vec![(vec![0, 1, 2], vec![vec![0, 2, 1, 0]])]),
    ] {
        let graph = Graph::new(count, edges.iter().map(|(from, on)| require(*from, *on)));
        let plain = |indices: &[ResourceIndex]| indices.iter().map(|index| index.0).collect::<Vec<u32>>();
        let found: Vec<(Vec<u32>, Vec<Vec<u32>>)> = graph
            .cycles()
            .iter()
            .map(|cycle| (plain(&cycle.members), cycle.paths.iter().map(|path| plain(path)).collect()))
            .collect();
        assert_eq!(found, expected, "{edges:?}");
    }
}
