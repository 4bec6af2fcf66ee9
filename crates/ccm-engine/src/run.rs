//! A run: what it needs, and its beginning and end.

use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use ccm_graph::Graph;
use ccm_host::{Cancellation, Host};
use ccm_model::{Catalog, Event, Resource, ResourceIndex, RunSummary, SessionStarted, StopCause};
use ccm_redaction::Secrets;

use crate::contract::ResourceType;
use crate::gate::Gate;
use crate::groups::Groups;
use crate::late::LateValues;
use crate::ledger::Ledger;
use crate::walk::Walk;

/// How a run can be ended from outside.
#[derive(Clone, Copy)]
pub struct Stop<'a> {
    /// Says how urgently.
    pub cancellation: &'a Cancellation,
    /// Says why; set before the cancellation is raised.
    pub cause: &'a OnceLock<StopCause>,
}

/// Everything that a run needs.
pub struct Run<'a> {
    /// What to apply.
    pub catalog: &'a Catalog,
    /// The types of its resources.
    pub types: &'a [&'a dyn ResourceType],
    /// The doors to the machine.
    pub host: Host<'a>,
    /// Completes resources when they are reached.
    pub late: &'a dyn LateValues,
    /// What no event may show; providers add what they come to know.
    pub secrets: &'a Secrets,
    /// How it can be ended from outside.
    pub stop: Stop<'a>,
    /// Change nothing, say what would be.
    pub noop: bool,
    /// Stop after the first failed resource; the catalog can ask for it as well.
    pub fail_on_error: bool,
    /// Show changes of content as diffs.
    pub diff: bool,
    /// What relative paths of the manifest start from: the directory it is in. A child has its own.
    pub directory: &'a Path,
    /// Where to keep what has to outlive the run, in noop where that would be; none if there is no such place.
    pub state_directory: Option<&'a Path>,
    /// Describe the state of unchanged resources as well. It costs about as much as to find them unchanged, so
    /// it is for those who write it down.
    pub describe_unchanged: bool,
    /// Apply these and what they depend on, and nothing else.
    pub only: Option<&'a [ResourceIndex]>,
    /// Decides on every command and every change; [`OpenGate`](crate::OpenGate) allows all of them.
    pub gate: &'a dyn Gate,
    /// What earlier runs have left to be refreshed, and where that is remembered; without it, none is.
    pub ledger: Option<&'a Ledger>,
}

impl Run<'_> {
    /// Applies the catalog. Emits the events of the run, and returns what it amounted to. What must not be
    /// shown is in none of them.
    pub async fn apply(&self, on_event: &mut dyn FnMut(Event)) -> RunSummary {
        let on_event = &mut |event| on_event(self.secrets.redact_event(event));
        let began = self.host.clock.monotonic();
        on_event(Event::SessionStarted(SessionStarted {
            at: self.host.clock.now(),
            noop: self.noop,
            resources: self.catalog.resources.len(),
            message: self.catalog.pre_message.clone(),
        }));
        let graph = Graph::of(self.catalog);
        let groups = Groups::new(self);
        let mut walk = Walk::new(self, &graph, &groups);
        walk.all(on_event).await;
        let summary = RunSummary {
            noop: self.noop,
            duration: self.elapsed(began),
            counts: walk.counts,
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

    pub(crate) fn resource_type(&self, resource: &Resource) -> Option<&dyn ResourceType> {
        self.types.iter().copied().find(|found| found.name() == &*resource.id.type_name)
    }
}
