//! The index finds what a look at every change finds.

use ccm_graph::{Edge, EdgeKind};
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// Looks at every change.
fn naive(
    changes: &[NoopChange],
    of: ResourceIndex,
    missing: &Missing,
    all: bool,
    graph: &Graph,
) -> Option<NearestChange> {
    let may_provide = |change: &&NoopChange| (all || !change.is_never_made) && change.may_provide(missing);
    let candidates: Vec<ResourceIndex> =
        changes.iter().rev().filter(may_provide).map(|change| change.resource).collect();
    let required = graph.with_requirements(&[of]);
    let nearest = candidates.iter().find(|resource| required[resource.get()]);
    let resource = nearest.or(candidates.first())?;
    Some(NearestChange { resource: *resource, is_required: nearest.is_some() })
}

const PATHS: [&str; 7] =
    ["/", "/d", "/d/f", "/d/f/x", "/d/web.service", "/e/web@.service", "/e/web@one.service"];

fn any_missing() -> impl Strategy<Value = Missing> {
    let name = || select(vec!["web.service", "web@one.service", "f"]).prop_map(str::to_owned);
    prop_oneof![
        Just(Missing::Principal),
        name().prop_map(Missing::Program),
        name().prop_map(Missing::Unit),
        name().prop_map(Missing::UsableUnit),
        select(PATHS.to_vec()).prop_map(|path| Missing::Path(path.into())),
    ]
}

/// All that a change is but its resource.
fn any_change() -> impl Strategy<Value = (bool, Vec<MissingKind>, Vec<PathBuf>)> {
    let kinds = proptest::sample::subsequence(MissingKind::ALL.to_vec(), 0..=MissingKind::ALL.len());
    let paths = proptest::sample::subsequence(PATHS.map(PathBuf::from).to_vec(), 0..=2);
    (any::<bool>(), kinds, paths)
}

proptest! {
    #[test]
    fn the_index_finds_what_a_look_at_every_change_finds(
        changes in proptest::collection::vec(proptest::option::weighted(0.8, any_change()), 0..12),
        edges in proptest::collection::vec((0_usize..13, 0_usize..13), 0..20),
        missing in any_missing(),
        all in any::<bool>(),
    ) {
        let last = changes.len();
        let edges = edges.into_iter().filter(|(from, on)| on < from && *from <= last);
        let graph = Graph::new(last + 1, edges.map(|(from, on)| Edge {
            resource: ResourceIndex::from_usize(from),
            depends_on: ResourceIndex::from_usize(on),
            kind: EdgeKind::Require,
        }));
        let changes = || changes.iter().enumerate().filter_map(|(index, change)| {
            let (is_never_made, kinds, paths) = change.clone()?;
            Some(NoopChange { resource: ResourceIndex::from_usize(index), is_never_made, kinds, paths })
        });
        let mut index = NoopChanges::default();
        changes().for_each(|change| index.push(change));
        let of = ResourceIndex::from_usize(last);
        let expected = naive(&changes().collect::<Vec<_>>(), of, &missing, all, &graph);
        prop_assert_eq!(index.nearest(of, &missing, all, &graph), expected);
    }
}
