//! The step of one resource, and what the walk does for it.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use ccm_model::{
    Action, Artifact, Catalog, Failure, FailureKind, GuardResult, HealthCheckResult, MissingPrerequisite,
    Outcome, Reason, Resource, ResourceId, ResourceIndex,
};

use crate::batch::Batch;
use crate::bound_resource::BoundResource;
use crate::claim_index::ClaimIndex;
use crate::contract::{Binder, Described, Trigger};
use crate::gate::PlannedChange;
use crate::groups::GroupPolicy;
use crate::late::RunProgress;
use crate::prefetch::Upcoming;
use crate::run::Run;
use crate::state_cache::{StateCache, Suitabilities};

/// Services of the walk for the step of one resource.
pub(crate) trait StepHost: RunProgress {
    /// Returns the run.
    fn run(&self) -> &Run<'_>;

    /// Returns the state that was read and is still valid.
    fn state_cache(&self) -> &StateCache;

    /// Returns the claims of all resources of the run.
    fn claim_index(&self) -> &ClaimIndex<'_>;

    /// Returns the resources that were changed before their steps.
    fn batch(&self) -> &Batch;

    /// Returns the canonical spelling of a path, by which claims are compared.
    fn canonical(&self, path: &Path) -> PathBuf;

    /// Returns `true` if an earlier resource in noop would have made this directory.
    fn would_be_directory(&self, path: &Path) -> bool;

    /// Returns the resource at a distance behind this one in the walk, 0 being the next.
    fn upcoming(&self, of: ResourceIndex, distance: usize) -> Option<Upcoming<'_>>;

    /// Returns `true` if `on` is in noop in every run while `index` is not.
    fn is_never_done_for(&self, on: ResourceIndex, index: ResourceIndex) -> bool;

    /// Records the refreshes that changes of these resources will demand. After an error nothing may be
    /// executed.
    fn record_intents(&self, executed: &[ResourceIndex]) -> Result<(), Failure>;

    /// Finds, in noop, an earlier change that might provide a missing prerequisite.
    fn would_change_before(&self, of: ResourceIndex, missing: &MissingPrerequisite) -> Option<WouldChange>;

    /// Finds, in noop, an earlier resource that would have removed what a resource needs, or what its change uses.
    fn would_be_removed_before(&self, of: &Resource, would_change: bool) -> Option<ResourceId>;
}

/// In noop, a resource that would have changed before another one.
pub(crate) struct WouldChange {
    pub resource: ResourceId,
    /// The resource claims the missing prerequisite, or the other one depends on it.
    pub is_related: bool,
}

/// Step of one resource, from its late values to its outcome.
pub(crate) struct ResourceStep<'a> {
    pub host: &'a dyn StepHost,
    pub index: ResourceIndex,
    pub binder: &'a dyn Binder,
    pub policy: &'a GroupPolicy<'a>,
    pub trigger: Option<Trigger>,
    /// Only the health checks of the resource run.
    pub is_monitored: bool,
    written: &'a Resource,
    completed: OnceCell<Box<Resource>>,
    /// Change that was decided on. Empty if the gate is open.
    pub change: OnceCell<PlannedChange>,
}

impl<'a> ResourceStep<'a> {
    pub(crate) fn new(
        host: &'a dyn StepHost,
        index: ResourceIndex,
        binder: &'a dyn Binder,
        policy: &'a GroupPolicy<'a>,
        trigger: Option<Trigger>,
    ) -> Self {
        Self::of(host, index, host.run().catalog.resource(index), (binder, policy, trigger))
    }

    /// Builds the step of a resource that is not one of the catalog's.
    pub(crate) fn of(
        host: &'a dyn StepHost,
        index: ResourceIndex,
        written: &'a Resource,
        (binder, policy, trigger): (&'a dyn Binder, &'a GroupPolicy<'a>, Option<Trigger>),
    ) -> Self {
        let is_monitored = host.run().is_monitored(written);
        Self {
            host,
            index,
            binder,
            policy,
            trigger,
            is_monitored,
            written,
            completed: OnceCell::new(),
            change: OnceCell::new(),
        }
    }

    /// Returns the resource, with its late values once they are known.
    pub(crate) fn resource(&self) -> &Resource {
        self.completed.get().map_or(self.written, |completed| completed)
    }

    /// Replaces the resource by the one with its late values.
    pub(crate) fn complete(&self, resource: Box<Resource>) {
        // A step resolves late values only once.
        let _first = self.completed.set(resource);
    }

    /// Returns `true` if the resource has no late values.
    pub(crate) fn is_as_written(&self) -> bool {
        self.completed.get().is_none()
    }

    pub(crate) fn catalog(&self) -> &'a Catalog {
        self.host.run().catalog
    }

    /// Finds, in noop, an earlier change that might prevent this failure in a run.
    pub(crate) fn would_change_before(&self, failure: &Failure) -> Option<WouldChange> {
        let missing = failure.missing.as_deref().filter(|_| self.policy.noop)?;
        self.host.would_change_before(self.index, missing)
    }
}

/// Binder of the nodes of groups, which have no provider.
pub(crate) struct NodeBinder;

impl Binder for NodeBinder {
    fn bind(&self, resource: &Resource, _: &Suitabilities<'_>) -> Result<Box<dyn BoundResource>, Failure> {
        let message = format!("internal error: {} has no provider", resource.id);
        Err(Failure::new(FailureKind::Internal, message))
    }
}

/// Result of a step, besides its outcome.
#[derive(Default)]
pub(crate) struct StepResult {
    pub provider: Option<&'static str>,
    pub reason: Option<Reason>,
    pub guards: Vec<GuardResult>,
    pub action: Option<Action>,
    pub described: Option<Described>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
    pub diff: Option<String>,
    /// In noop: a run would fail, as a warning says.
    pub would_fail: bool,
    pub artifacts: Vec<Artifact>,
    pub health_checks: Vec<HealthCheckResult>,
    /// Number of health checks that noop did not run.
    pub checks_not_run: usize,
    /// Outcome without the health checks, if they fail the resource.
    pub unchecked: Option<Outcome>,
    /// A health check that failed leaves the refresh of the resource pending.
    pub retries_refresh: bool,
}
