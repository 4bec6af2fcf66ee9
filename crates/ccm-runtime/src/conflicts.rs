//! Conflicts between manifests that are applied together.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

use ccm_model::{Location, ResourceId, Sharing, Span};

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

/// Resource that claims something.
struct Claimant<'m> {
    manifest: usize,
    id: &'m ResourceId,
    span: Span,
    sharing: Sharing,
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
        let specs = self.specs();
        let mut claimants: HashMap<(_, String), Claimant<'_>> = HashMap::new();
        for (position, manifest) in manifests.iter().enumerate() {
            for resource in &manifest.catalog.resources {
                let spec = specs.iter().find(|spec| spec.name() == &*resource.id.type_name);
                for claim in spec.into_iter().flat_map(|spec| spec.claims(resource)) {
                    let claimant = Claimant {
                        manifest: position,
                        id: &resource.id,
                        span: resource.span,
                        sharing: claim.sharing,
                    };
                    match claimants.entry((claim.kind, claim.key.clone().into_owned())) {
                        Entry::Vacant(free) => drop(free.insert(claimant)),
                        Entry::Occupied(mut first) => {
                            let is_shared = [first.get().sharing, claim.sharing] == [Sharing::Shared; 2];
                            if first.get().manifest != position && !is_shared {
                                let thing = format!("{} `{}`", claim.kind, self.secrets.redact(&claim.key));
                                let [first, second] = [first.get(), &claimant]
                                    .map(|claimant| Box::new(self.conflicting(manifests, claimant)));
                                conflicts.push(ManifestConflict::Claim { thing, first, second });
                            } else if first.get().sharing == Sharing::Shared {
                                first.insert(claimant);
                            }
                        }
                    }
                }
            }
        }
        conflicts
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
