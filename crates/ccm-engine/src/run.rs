//! A run, from its first event to its summary.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use ccm_graph::Graph;
use ccm_host::{Cancellation, Host};
use ccm_model::{Catalog, Event, Resource, ResourceId, ResourceIndex, RunSummary, SessionStarted, StopCause};
use ccm_redaction::Secrets;

use crate::contract::ResourceType;
use crate::gate::DynGate;
use crate::groups::Groups;
use crate::health::HealthProbe;
use crate::late::LateValues;
use crate::ledger::Ledger;
use crate::shown;
use crate::walk::Walk;
use crate::witness::DecisionWitness;

/// External request to stop a run.
#[derive(Clone, Copy)]
pub struct Stop<'a> {
    /// Urgency of the stop.
    pub cancellation: &'a Cancellation,
    /// Cause of the stop, set before the cancellation is raised.
    pub cause: &'a OnceLock<StopCause>,
}

/// Outcomes of resources that were managed before the run, as far as the run depends on them.
#[derive(Clone, Copy, Debug, Default)]
pub struct EarlierOutcomes<'a> {
    /// Resources that did not succeed. Nothing is done because of them.
    pub failed: &'a [ResourceId],
    /// Resources that changed, and whose changes trigger a refresh.
    pub changed: &'a [ResourceId],
}

/// Everything that a run needs. [`Run::apply`] runs it.
pub struct Run<'a> {
    /// Resources to apply.
    pub catalog: &'a Catalog,
    /// Catalogs that are applied before or after this one. What they claim is not purged.
    pub others: &'a [&'a Catalog],
    /// Types of the resources.
    pub types: &'a [&'a dyn ResourceType],
    /// Doors to the machine.
    pub host: Host<'a>,
    /// Late values of the resources.
    pub late: &'a dyn LateValues,
    /// Values that no event may show. Providers add the secrets that they read.
    pub secrets: &'a Secrets,
    /// External request to stop the run.
    pub stop: Stop<'a>,
    /// Noop: change nothing, and report what would be changed.
    pub noop: bool,
    /// Run the health checks of the resources and nothing else.
    pub monitor_only: bool,
    /// Stop after the first failed resource. The catalog can ask for that as well.
    pub fail_on_error: bool,
    /// Add changes of content to the events as diffs.
    pub diff: bool,
    /// Directory of the manifest, from which relative paths start. A child manifest has its own.
    pub directory: &'a Path,
    /// Directory for files that outlive the run. In noop nothing is written to it. `None` if there is none.
    pub state_directory: Option<&'a Path>,
    /// Describe the states and the properties of unchanged resources as well. This costs about as much as finding
    /// them unchanged.
    pub describe_unchanged: bool,
    /// Apply only these resources and their dependencies.
    pub only: Option<&'a [ResourceIndex]>,
    /// Skip these resources. The node of a group stands for its members. Dependants run as if these resources
    /// were in their desired state.
    pub skip: &'a [ResourceIndex],
    /// Probe of health checks.
    pub health: &'a dyn HealthProbe,
    /// Gate that decides on every command and every change. [`OpenGate`](crate::OpenGate) allows all of them.
    pub gate: &'a dyn DynGate,
    /// Outcomes of resources that were managed before, which resources without a group depend on.
    pub earlier: EarlierOutcomes<'a>,
    /// Ledger of pending refreshes. Without a ledger no refresh outlives the run.
    pub ledger: Option<&'a Ledger>,
    /// Witness of the decisions. Without one, the states are not put into bytes, which costs time.
    pub witness: Option<&'a dyn DecisionWitness>,
}

impl Run<'_> {
    /// Applies the catalog. Emits the events of the run and returns its summary, both without secrets.
    pub async fn apply(&self, on_event: &mut dyn FnMut(Event)) -> RunSummary {
        let on_event = &mut |event| on_event(shown::event(self.secrets.redact_event(event)));
        let began = self.host.clock.monotonic();
        on_event(Event::SessionStarted(SessionStarted {
            at: self.host.clock.now(),
            noop: self.noop,
            monitor_only: self.monitor_only,
            resources: self.catalog.resources.len(),
            host: String::new(),
            manifest: String::new(),
            run_id: String::new(),
            message: self.catalog.pre_message.clone(),
        }));
        let graph = Graph::of(self.catalog);
        let groups = Groups::new(self);
        let mut walk = Walk::new(self, &graph, &groups);
        walk.apply_all(on_event).await;
        if let Some(checks) = self.catalog.checks.as_deref() {
            walk.check_manifest(checks, on_event).await;
        }
        let summary = RunSummary {
            noop: self.noop,
            duration: self.elapsed(began),
            counts: walk.counts,
            checks: walk.checks,
            monitor_only: self.monitor_only,
            stopped: walk.stopped,
            message: self.catalog.post_message.clone(),
            refreshes: walk.refreshes.into_inner().finish(),
        };
        let summary = self.secrets.redactor().redact_summary(summary);
        on_event(Event::SessionFinished(Box::new(summary.clone())));
        summary
    }

    pub(crate) fn elapsed(&self, since: Duration) -> Duration {
        self.host.clock.monotonic().saturating_sub(since)
    }

    /// Returns `true` if only the health checks of a resource run.
    pub(crate) fn is_monitored(&self, resource: &Resource) -> bool {
        self.monitor_only || resource.is_monitored
    }

    pub(crate) fn resource_type(&self, resource: &Resource) -> Option<&dyn ResourceType> {
        self.types.iter().copied().find(|found| found.name() == &*resource.id.type_name)
    }
}
