//! What the walk tells the step of a resource about the run.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use ccm_model::{ClaimKind, Failure, MissingPrerequisite, Resource, ResourceId, ResourceIndex};

use super::Walk;
use crate::batch::Batch;
use crate::claim_index::ClaimIndex;
use crate::late::RunProgress;
use crate::prefetch::Upcoming;
use crate::run::Run;
use crate::state_cache::StateCache;
use crate::step::{StepHost, WouldChange};

impl RunProgress for Walk<'_> {
    fn would_change(&self, index: ResourceIndex) -> bool {
        let record = &self.records[index.get()];
        record.has_changed && record.is_noop
    }
}

impl StepHost for Walk<'_> {
    fn run(&self) -> &Run<'_> {
        self.run
    }

    fn state_cache(&self) -> &StateCache {
        &self.state_cache
    }

    fn claim_index(&self) -> &ClaimIndex<'_> {
        self.claim_index.get_or_init(|| ClaimIndex::new(self.run, &self.spellings))
    }

    fn batch(&self) -> &Batch {
        &self.batch
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        match path.to_str() {
            Some(path) => self.spellings.canonical(path).into_owned().into(),
            None => path.to_owned(),
        }
    }

    fn would_be_directory(&self, path: &Path) -> bool {
        let directories = &self.noop_changes.directories;
        !directories.is_empty() && directories.contains(&self.canonical(path))
    }

    fn upcoming(&self, of: ResourceIndex, distance: usize) -> Option<Upcoming<'_>> {
        self.upcoming_at(self.run.catalog.resource(of), distance)
    }

    fn is_never_done_for(&self, on: ResourceIndex, index: ResourceIndex) -> bool {
        self.groups.is_never_done_for(on, index)
    }

    fn record_intents(&self, executed: &[ResourceIndex]) -> Result<(), Failure> {
        self.refreshes.borrow_mut().record_intents(executed)
    }

    fn would_be_removed_before(&self, of: &Resource, would_change: bool) -> Option<ResourceId> {
        if self.noop_changes.has_no_removals() {
            return None;
        }
        let resource_type = self.run.resource_type(of).filter(|found| !found.ends(of))?;
        let needs = resource_type.needs(of);
        let needs = needs.iter().map(|(kind, key)| (*kind, &**key));
        let claims = self.spellings.claims(resource_type.claims(of));
        let changes = &self.noop_changes;
        let used = || {
            resource_type.uses(of).into_iter().find_map(|(kind, key)| {
                let key = if kind == ClaimKind::Path {
                    self.spellings.canonical(&key)
                } else {
                    Cow::Borrowed(&*key)
                };
                changes.removal_of_used(kind, &key)
            })
        };
        let removal = changes.removal_of(needs, &claims).or_else(|| used().filter(|_| would_change))?;
        Some(self.run.catalog.resource(removal).id.clone())
    }

    fn would_change_before(&self, of: ResourceIndex, missing: &MissingPrerequisite) -> Option<WouldChange> {
        let is_never_made = self.groups.policy(of).is_always_noop;
        let missing = match missing {
            MissingPrerequisite::Path(path) => MissingPrerequisite::Path(self.canonical(path)),
            MissingPrerequisite::NoMount(path) => MissingPrerequisite::NoMount(self.canonical(path)),
            MissingPrerequisite::Writable(path) => MissingPrerequisite::Writable(self.canonical(path)),
            MissingPrerequisite::Program(name) => {
                MissingPrerequisite::Program(self.spellings.canonical(name).into_owned())
            }
            other => other.clone(),
        };
        let change = self.noop_changes.nearest(of, &missing, is_never_made, self.graph)?;
        let resource = self.run.catalog.resource(change.resource).id.clone();
        Some(WouldChange { resource, is_related: change.is_related })
    }
}
