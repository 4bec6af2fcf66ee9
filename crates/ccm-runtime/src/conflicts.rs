//! Conflicts between manifests that are applied together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

use ccm_model::{Location, PathSpellings, Resource, ResourceId, Sharing, Span};
use ccm_properties::{FilledExtent, TypeSpec};

use crate::input::ManifestSource;
use crate::manifest::LoadedManifest;
use crate::session::Session;

/// Reason why two manifests can't be applied together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestConflict {
    /// Both have one name, under which their pending refreshes would be mixed up.
    #[error("{first} and {second} have the same name, `{name}`")]
    Name {
        /// The name.
        name: String,
        /// The first manifest.
        first: String,
        /// The second manifest.
        second: String,
    },
    /// Resources of both manage one thing, at least one of them alone.
    #[error("{} in {} and {} in {} both manage the {thing}", first.id, first.manifest, second.id, second.manifest)]
    Claim {
        /// Kind and name of the thing, such as "path `/etc/motd`".
        thing: String,
        /// The resource of the first manifest.
        first: Box<ConflictingResource>,
        /// The resource of the second manifest.
        second: Box<ConflictingResource>,
    },
    /// A resource of one fills a directory that a resource of the other purges.
    #[error(
        "{} in {} fills the directory `{directory}`, and `purge` of {} in {} would remove what it brings",
        filler.id, filler.manifest, purger.id, purger.manifest
    )]
    Purge {
        /// The directory.
        directory: String,
        /// The resource that fills the directory.
        filler: Box<ConflictingResource>,
        /// The resource that purges the directory.
        purger: Box<ConflictingResource>,
    },
}

/// Resource that manages the same thing as a resource of another manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictingResource {
    /// Type and name.
    pub id: ResourceId,
    /// Manifest, as it was given.
    pub manifest: String,
    /// Location in the manifest, or in one that it applies.
    pub location: Option<Location>,
}

/// Resource of a manifest, by the position of the manifest.
#[derive(Clone, Copy)]
struct Claimant<'m> {
    manifest: usize,
    id: &'m ResourceId,
    span: Span,
}

impl Session {
    /// Returns the positions of the first two sources that are the same: the same file, or standard input twice.
    pub fn same_sources(&self, sources: &[ManifestSource]) -> Option<(usize, usize)> {
        let canonical = |source: &ManifestSource| {
            let path = source.path()?;
            Some(self.doors.files.canonical(path).unwrap_or_else(|_| path.to_owned()))
        };
        let paths: Vec<Option<PathBuf>> = sources.iter().map(canonical).collect();
        let earlier = |second: usize| (0..second).find(|first| paths[*first] == paths[second]);
        (0..paths.len()).find_map(|second| Some((earlier(second)?, second)))
    }

    /// Returns the conflicts between manifests that are to be applied together. Resources that are not managed count
    /// as well, as in one manifest.
    pub fn conflicts(&self, manifests: &[&LoadedManifest<'_>]) -> Vec<ManifestConflict> {
        if manifests.len() < 2 {
            return Vec::new();
        }
        let mut conflicts = self.equal_names(manifests);
        conflicts.extend(self.equal_claims(manifests));
        conflicts.extend(self.filled_purges(manifests));
        conflicts
    }

    /// Returns the conflicts between claims of two manifests.
    fn equal_claims(&self, manifests: &[&LoadedManifest<'_>]) -> Vec<ManifestConflict> {
        let mut conflicts = Vec::new();
        let mut claimants: HashMap<(_, String), (Claimant<'_>, Sharing, String)> = HashMap::new();
        let spellings = self.spellings();
        self.for_each(manifests, |spec, claimant, resource| {
            for claim in spellings.claims(spec.claims(resource)) {
                let claimed = (claimant, claim.sharing, claim.as_written().to_owned());
                match claimants.entry((claim.kind, claim.key.clone().into_owned())) {
                    Entry::Vacant(free) => drop(free.insert(claimed)),
                    Entry::Occupied(mut earlier) => {
                        let (first, sharing, written) = earlier.get();
                        let is_shared = [*sharing, claim.sharing] == [Sharing::Shared; 2];
                        if first.manifest != claimant.manifest && !is_shared {
                            let mut thing = format!("{} `{}`", claim.kind, self.secrets.redact(&claim.key));
                            for spelling in claim.other_spellings(written) {
                                thing += &format!(", which is also `{}`", self.secrets.redact(spelling));
                            }
                            let [first, second] = [first, &claimant]
                                .map(|claimant| Box::new(self.conflicting(manifests, claimant)));
                            conflicts.push(ManifestConflict::Claim { thing, first, second });
                        } else if *sharing == Sharing::Shared {
                            earlier.insert(claimed);
                        }
                    }
                }
            }
        });
        conflicts
    }

    /// Returns the directories that one manifest fills and another one purges.
    fn filled_purges(&self, manifests: &[&LoadedManifest<'_>]) -> Vec<ManifestConflict> {
        let mut purgers: HashMap<String, Vec<Claimant<'_>>> = HashMap::new();
        let spellings = self.spellings();
        self.for_each(manifests, |spec, claimant, resource| {
            if let Some(directory) = spec.sources().and_then(|view| view.purges(resource)) {
                purgers.entry(spellings.canonical(directory).into_owned()).or_default().push(claimant);
            }
        });
        let mut conflicts = Vec::new();
        if purgers.is_empty() {
            return conflicts;
        }
        self.for_each(manifests, |spec, filler, resource| {
            for filled in
                spec.fills(resource).into_iter().filter(|filled| filled.extent == FilledExtent::Tree)
            {
                let of_others = purgers.get(&*spellings.canonical(filled.path)).into_iter().flatten();
                for purger in of_others.filter(|purger| purger.manifest != filler.manifest) {
                    let directory = self.secrets.redact(filled.path).into_owned();
                    let [filler, purger] =
                        [&filler, purger].map(|claimant| Box::new(self.conflicting(manifests, claimant)));
                    conflicts.push(ManifestConflict::Purge { directory, filler, purger });
                }
            }
        });
        conflicts
    }

    fn spellings(&self) -> PathSpellings<'_> {
        PathSpellings::new(|directory| self.doors.files.real_directory(directory))
    }

    /// Calls a function with each resource of the manifests and its type.
    fn for_each<'m>(
        &self,
        manifests: &[&'m LoadedManifest<'_>],
        mut call: impl FnMut(&dyn TypeSpec, Claimant<'m>, &'m Resource),
    ) {
        let specs = self.specs();
        for (manifest, loaded) in manifests.iter().enumerate() {
            for resource in &loaded.catalog.resources {
                let Some(spec) = specs.iter().find(|spec| spec.name() == &*resource.id.type_name) else {
                    continue;
                };
                call(*spec, Claimant { manifest, id: &resource.id, span: resource.span }, resource);
            }
        }
    }

    fn conflicting(&self, manifests: &[&LoadedManifest<'_>], claimant: &Claimant<'_>) -> ConflictingResource {
        let name = self.secrets.redact(&claimant.id.name);
        let manifest = manifests[claimant.manifest];
        ConflictingResource {
            id: ResourceId::new(&*claimant.id.type_name, &*name),
            manifest: manifest.input.name().to_owned(),
            location: manifest.loaded.late.location(claimant.span),
        }
    }

    /// Returns the manifests that have the same name.
    fn equal_names(&self, manifests: &[&LoadedManifest<'_>]) -> Vec<ManifestConflict> {
        let mut named: HashMap<&str, &str> = HashMap::new();
        let mut conflicts = Vec::new();
        for manifest in manifests {
            let Some(name) = &manifest.catalog.name else { continue };
            let given = manifest.input.name();
            if let Some(first) = named.get(&**name) {
                let [first, second] = [*first, given].map(str::to_owned);
                let name = self.secrets.redact(name).into_owned();
                conflicts.push(ManifestConflict::Name { name, first, second });
            } else {
                named.insert(name, given);
            }
        }
        conflicts
    }
}
