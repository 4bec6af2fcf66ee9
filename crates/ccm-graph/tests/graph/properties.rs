//! The graph against naive oracles, on random graphs.

use std::collections::BTreeSet;

use ccm_graph::{Edge, EdgeKind, Graph};
use ccm_model::ResourceIndex;
use proptest::prelude::*;

/// Number of resources, and the edges between them: from, to, and `true` for a subscription.
type Description = (usize, Vec<(usize, usize, bool)>);

/// Any graph: forward and backward edges, loops, duplicates, requires and subscribes mixed.
fn any_graph() -> impl Strategy<Value = Description> {
    (1_usize..14).prop_flat_map(|count| {
        let edges = prop::collection::vec((0..count, 0..count, any::<bool>()), 0..count * 2);
        (Just(count), edges)
    })
}

/// A graph without cycles whose manifest order is no order of a run: edges follow a random ranking.
fn acyclic_graph() -> impl Strategy<Value = Description> {
    (any_graph(), prop::collection::vec(any::<u8>(), 14)).prop_map(|((count, edges), rank)| {
        let rank = |resource: usize| (rank[resource], resource);
        let edges = edges.into_iter().filter(|(from, on, _)| rank(*from) > rank(*on)).collect();
        (count, edges)
    })
}

fn graph((count, edges): &Description) -> Graph {
    let kind = |subscribe: bool| if subscribe { EdgeKind::Subscribe } else { EdgeKind::Require };
    let edge = |(from, on, subscribe): &(usize, usize, bool)| Edge {
        resource: ResourceIndex::from_usize(*from),
        depends_on: ResourceIndex::from_usize(*on),
        kind: kind(*subscribe),
    };
    Graph::new(*count, edges.iter().map(edge))
}

/// Repeatedly takes the first resource whose dependencies are all done, until there is none.
fn naive_order((count, edges): &Description) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    loop {
        let free = (0..*count).find(|candidate| {
            let met = |on: &usize| order.contains(on);
            !order.contains(candidate)
                && edges.iter().filter(|edge| edge.0 == *candidate).all(|edge| met(&edge.1))
        });
        match free {
            Some(next) => order.push(next),
            None => return order,
        }
    }
}

/// Returns the number of steps of the shortest way from a resource back to itself.
fn naive_way_around((count, edges): &Description, start: usize) -> Option<usize> {
    let step = |from: &BTreeSet<usize>| -> BTreeSet<usize> {
        edges.iter().filter(|edge| from.contains(&edge.0)).map(|edge| edge.1).collect()
    };
    let mut reached = BTreeSet::from([start]);
    (1..=*count).find(|_| {
        reached = step(&reached);
        reached.contains(&start)
    })
}

/// Returns the resources that can be reached from a resource by at least one edge.
fn naive_reach((_, edges): &Description, start: usize) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    loop {
        let before = reached.len();
        for (from, on, _) in edges {
            if *from == start || reached.contains(from) {
                reached.insert(*on);
            }
        }
        if reached.len() == before {
            return reached;
        }
    }
}

fn plain(indices: impl IntoIterator<Item = ResourceIndex>) -> Vec<usize> {
    indices.into_iter().map(ResourceIndex::get).collect()
}

fn order(graph: &Graph) -> Vec<usize> {
    plain(graph.order())
}

proptest! {
    #[test]
    fn the_order_is_that_of_the_oracle(description in acyclic_graph()) {
        let order = order(&graph(&description));
        prop_assert_eq!(order.len(), description.0);
        prop_assert_eq!(order, naive_order(&description));
    }

    #[test]
    fn a_cycle_stops_only_what_waits_for_it(description in any_graph()) {
        prop_assert_eq!(order(&graph(&description)), naive_order(&description));
    }

    #[test]
    fn cycles_are_reported_if_and_only_if_the_oracle_gets_stuck(description in any_graph()) {
        let stuck = naive_order(&description).len() < description.0;
        prop_assert_eq!(!graph(&description).cycles().is_empty(), stuck);
    }

    #[test]
    fn every_member_of_every_cycle_is_named_and_passed(description in any_graph()) {
        let reach: Vec<BTreeSet<usize>> = (0..description.0).map(|start| naive_reach(&description, start)).collect();
        let mut expected: Vec<Vec<usize>> = (0..description.0)
            .filter(|start| reach[*start].contains(start))
            .map(|start| reach[start].iter().copied().filter(|other| reach[*other].contains(&start)).collect())
            .collect();
        expected.dedup();
        expected.sort();
        expected.dedup();

        let cycles = graph(&description).cycles();
        let members: Vec<Vec<usize>> = cycles.iter().map(|cycle| plain(cycle.members.clone())).collect();
        prop_assert_eq!(&members, &expected);
        for (cycle, members) in cycles.iter().zip(members) {
            let passed: BTreeSet<usize> = cycle.paths.iter().flat_map(|path| plain(path.clone())).collect();
            prop_assert_eq!(passed.into_iter().collect::<Vec<_>>(), members);
        }
    }

    #[test]
    fn every_path_is_a_closed_walk_that_begins_at_its_first_member(description in any_graph()) {
        for cycle in graph(&description).cycles() {
            for path in &cycle.paths {
                let walk = plain(path.iter().copied());
                prop_assert!(walk.len() >= 2);
                prop_assert_eq!(walk.first(), walk.last());
                prop_assert_eq!(walk.first(), walk.iter().min());
                for step in walk.windows(2) {
                    let edge = description.1.iter().any(|(from, on, _)| *from == step[0] && *on == step[1]);
                    prop_assert!(edge, "no edge from {} to {}", step[0], step[1]);
                }
                // The shortest way around passes nothing twice.
                let distinct: BTreeSet<usize> = walk.iter().copied().collect();
                prop_assert_eq!(distinct.len(), walk.len() - 1);
            }
        }
    }

    #[test]
    fn each_path_is_the_shortest_through_a_member_that_no_earlier_one_passes(description in any_graph()) {
        for cycle in graph(&description).cycles() {
            let mut passed = BTreeSet::new();
            for path in &cycle.paths {
                let first = cycle.members.iter().find(|member| !passed.contains(*member));
                let first = *first.expect("a path that passes nothing new");
                prop_assert!(path.contains(&first));
                prop_assert_eq!(Some(path.len() - 1), naive_way_around(&description, first.get()));
                passed.extend(path.iter().copied());
            }
        }
    }

    #[test]
    fn a_plain_circle_has_one_path(size in 1_usize..30, turn in 0_usize..30) {
        let edges = (0..size).map(|from| ((from * 7 + turn) % size, ((from + 1) * 7 + turn) % size, false));
        // Seven divides the size only if the circle would fall apart.
        prop_assume!(size % 7 != 0);
        let cycles = graph(&(size, edges.collect())).cycles();
        prop_assert_eq!(cycles.len(), 1);
        prop_assert_eq!(cycles[0].paths.len(), 1);
        prop_assert_eq!(cycles[0].paths[0].len(), size + 1);
        prop_assert_eq!(cycles[0].paths[0][0], ResourceIndex(0));
    }

    #[test]
    fn with_requirements_is_the_naive_closure(
        description in any_graph(),
        selected in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let selected: Vec<usize> = selected.iter().map(|which| which.index(description.0)).collect();
        let mut expected = vec![false; description.0];
        for start in &selected {
            expected[*start] = true;
            for reached in naive_reach(&description, *start) {
                expected[reached] = true;
            }
        }
        let indices: Vec<ResourceIndex> = selected.into_iter().map(ResourceIndex::from_usize).collect();
        prop_assert_eq!(graph(&description).with_requirements(&indices), expected);
    }

    #[test]
    fn neighbours_are_in_manifest_order_and_each_once(description in any_graph()) {
        let graph = graph(&description);
        let (count, edges) = &description;
        for of in 0..*count {
            let index = ResourceIndex::from_usize(of);
            let on = |subscribe: bool| -> BTreeSet<usize> {
                edges.iter().filter(|edge| edge.0 == of && (edge.2 || !subscribe)).map(|edge| edge.1).collect()
            };
            let by = |subscribe: bool| -> BTreeSet<usize> {
                edges.iter().filter(|edge| edge.1 == of && (edge.2 || !subscribe)).map(|edge| edge.0).collect()
            };
            let list = |set: BTreeSet<usize>| set.into_iter().collect::<Vec<_>>();
            prop_assert_eq!(plain(graph.dependencies(index)), list(on(false)));
            prop_assert_eq!(plain(graph.subscriptions(index)), list(on(true)));
            prop_assert_eq!(plain(graph.dependants(index)), list(by(false)));
            prop_assert_eq!(plain(graph.subscribers(index)), list(by(true)));
        }
    }
}
