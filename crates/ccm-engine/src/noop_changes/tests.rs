//! Comparison of the index with a linear search.

use ccm_graph::{Edge, EdgeKind};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::*;

/// A change without its resource: `is_never_made`, what it may provide, and the claims.
type ChangeParts = (bool, MayProvide, Vec<Claim<'static>>);

/// Searches all changes, one after the other.
fn linear_search(
    changes: &[Option<ChangeParts>],
    of: ResourceIndex,
    missing: &MissingPrerequisite,
    all: bool,
    graph: &Graph,
) -> Option<NearestChange> {
    let latest = |matches_change: &dyn Fn(usize, &ChangeParts) -> bool| {
        let changes = changes.iter().enumerate().rev();
        let mut made = changes.filter_map(|(index, change)| Some((index, change.as_ref()?)));
        let found = made.find(|(index, change)| (all || !change.0) && matches_change(*index, change))?;
        Some(ResourceIndex::from_usize(found.0))
    };
    let is_provided = |claim: &Claim<'_>| {
        let path = Path::new(&*claim.key);
        match (missing, claim.kind, claim.desired) {
            (
                MissingPrerequisite::Principal(name),
                ClaimKind::User | ClaimKind::Group | ClaimKind::UserId | ClaimKind::GroupId,
                _,
            )
            | (MissingPrerequisite::Package(name), ClaimKind::Package, _)
            | (MissingPrerequisite::NoHold(name), ClaimKind::PackageHold, _) => *name == claim.key,
            (
                MissingPrerequisite::Writable(missing) | MissingPrerequisite::Path(missing),
                ClaimKind::MountPoint,
                _,
            ) => missing.starts_with(path),
            (MissingPrerequisite::Path(missing), ClaimKind::Path, PathKind::Nothing) => {
                path.starts_with(missing)
            }
            (MissingPrerequisite::Path(missing), ClaimKind::Path, _)
            | (MissingPrerequisite::NoMount(missing), ClaimKind::MountPoint, _) => path == missing,
            (
                MissingPrerequisite::Program(_) | MissingPrerequisite::Unit(_),
                ClaimKind::Path,
                PathKind::Nothing,
            ) => false,
            (MissingPrerequisite::Program(name) | MissingPrerequisite::Unit(name), ClaimKind::Path, _) => {
                path.ends_with(name)
            }
            _ => false,
        }
    };
    let required = graph.with_requirements(&[of]);
    let related =
        latest(&|_, change| change.2.iter().any(is_provided)).or_else(|| latest(&|index, _| required[index]));
    let is_file = matches!(
        missing,
        MissingPrerequisite::Path(_) | MissingPrerequisite::Program(_) | MissingPrerequisite::Unit(_)
    );
    let may_provide = |change: &ChangeParts| match change.1 {
        MayProvide::Nothing => false,
        MayProvide::Files => is_file,
        MayProvide::Anything => true,
    };
    let resource = related.or_else(|| latest(&|_, change| may_provide(change)))?;
    Some(NearestChange { resource, is_related: related.is_some() })
}

const PATHS: [&str; 5] = ["/", "/d", "/d/f", "/d/f/x", "/e/web.service"];

fn any_missing() -> impl Strategy<Value = MissingPrerequisite> {
    let name = || select(vec!["web.service", "f", "u"]).prop_map(str::to_owned);
    prop_oneof![
        name().prop_map(MissingPrerequisite::Principal),
        name().prop_map(MissingPrerequisite::Program),
        name().prop_map(MissingPrerequisite::Unit),
        name().prop_map(MissingPrerequisite::Package),
        name().prop_map(MissingPrerequisite::NoHold),
        select(PATHS.to_vec()).prop_map(|path| MissingPrerequisite::Path(path.into())),
        select(PATHS.to_vec()).prop_map(|path| MissingPrerequisite::NoMount(path.into())),
        select(PATHS.to_vec()).prop_map(|path| MissingPrerequisite::Writable(path.into())),
    ]
}

fn any_change() -> impl Strategy<Value = ChangeParts> {
    let kinds = [PathKind::Directory, PathKind::Link, PathKind::Nothing, PathKind::Other];
    let paths = PATHS.iter().flat_map(|path| kinds.map(|kind| Claim::path(*path, kind)));
    let mounts = PATHS.iter().map(|path| Claim::exclusive(ClaimKind::MountPoint, *path));
    let paths = paths.chain(mounts);
    let others =
        [ClaimKind::User, ClaimKind::Group, ClaimKind::Unit, ClaimKind::Package, ClaimKind::PackageHold];
    let others =
        others.into_iter().flat_map(|kind| ["u", "web.service"].map(|key| Claim::exclusive(kind, key)));
    let provided = prop_oneof![
        8 => Just(MayProvide::Nothing),
        1 => Just(MayProvide::Files),
        1 => Just(MayProvide::Anything),
    ];
    (any::<bool>(), provided, subsequence(paths.chain(others).collect::<Vec<_>>(), 0..=2))
}

proptest! {
    #[test]
    fn index_and_linear_search_agree(
        changes in prop::collection::vec(prop::option::weighted(0.8, any_change()), 0..12),
        edges in prop::collection::vec((0_usize..13, 0_usize..13), 0..20),
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
        let mut found = NoopChanges::default();
        for (index, change) in changes.iter().cloned().enumerate() {
            let change = change.map(|(is_never_made, may_provide, claims)| {
                NoopChange { is_never_made, may_provide, is_removal: false, claims }
            });
            found.push(ResourceIndex::from_usize(index), change, &graph);
        }
        let of = ResourceIndex::from_usize(last);
        let expected = linear_search(&changes, of, &missing, all, &graph);
        prop_assert_eq!(found.nearest(of, &missing, all, &graph), expected);
    }
}

#[test]
fn only_a_directory_is_made_with_those_above_it() {
    for (kind, expected) in [
        (PathKind::Directory, &["/", "/srv", "/srv/a"][..]),
        (PathKind::Link, &["/srv/a"]),
        (PathKind::Other, &[]),
        (PathKind::Nothing, &[]),
    ] {
        let mut found = NoopChanges::default();
        let change = NoopChange {
            is_never_made: false,
            may_provide: MayProvide::Nothing,
            is_removal: false,
            claims: vec![Claim::path("/srv/a", kind)],
        };
        found.push(ResourceIndex::from_usize(0), Some(change), &Graph::new(1, []));
        let mut directories: Vec<_> = found.directories.iter().filter_map(|path| path.to_str()).collect();
        directories.sort_unstable();
        assert_eq!(directories, expected, "{kind:?}");
    }
}
