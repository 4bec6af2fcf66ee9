//! The walk over all resources in order, each with exactly one outcome.

mod group_node;
mod manifest_checks;
mod selection;
mod skip;
mod step_host;
mod upcoming;

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use ccm_graph::Graph;
use ccm_host::CancellationLevel;
use ccm_model::{
    Artifacts, CatalogNames, CheckCounts, Claim, Counts, Event, Failure, FailureKind, Outcome, OutputLine,
    PathSpellings, PendingRefresh, Properties, ResourceId, ResourceIndex, ResourceStarted, SkipCause,
    StopCause, Stream, Transaction,
};
use ccm_properties::TypeDeclaration;
use tracing::{Instrument as _, debug, debug_span};

use crate::batch::Batch;
use crate::claim_index::ClaimIndex;
use crate::contract::{ResourceType, Trigger};
use crate::groups::{GroupProgress, Groups};
use crate::harness::handle;
use crate::noop_changes::{NoopChange, NoopChanges};
use crate::refreshes::{RefreshTracker, Unchecked};
use crate::run::Run;
use crate::shown;
use crate::state_cache::StateCache;
use crate::step::{ResourceStep, StepHost as _, StepResult};
use selection::WalkSelection;

/// Record of a resource, for the resources that come after it.
#[derive(Clone, Default)]
struct ResourceRecord {
    /// The step of the resource is over.
    is_finished: bool,
    /// The resource changed or, in noop, would have changed.
    has_changed: bool,
    /// The resource was in noop, with the whole run or with its group.
    is_noop: bool,
    /// Resources that failed or are in noop. Dependants of this resource are skipped because of them.
    culprits: Option<Rc<[ResourceIndex]>>,
}

/// Triggers of a resource.
#[derive(Default)]
struct Triggers {
    /// Subscriptions that changed, in this run or an earlier one.
    by: Vec<ResourceIndex>,
    /// Refreshes that are pending from earlier runs.
    pending: Vec<PendingRefresh>,
    /// No subscription changed in this run.
    is_only_pending: bool,
    /// Resources that were managed before the run changed.
    has_earlier: bool,
}

impl Triggers {
    fn trigger(&self) -> Option<Trigger> {
        let pending = self.pending.first().filter(|_| self.is_only_pending);
        match pending {
            _ if self.by.is_empty() && self.has_earlier => Some(Trigger::Changed),
            _ if self.by.is_empty() => None,
            Some(first) => Some(Trigger::Pending { first: first.clone(), has_more: self.pending.len() > 1 }),
            None => Some(Trigger::Changed),
        }
    }

    /// Returns the resources whose changes are the triggers.
    fn ids(&self, run: &Run<'_>) -> Vec<ResourceId> {
        let of_run = self.by.iter().map(|on| run.catalog.resource(*on).id.clone());
        let earlier = if self.has_earlier { run.earlier.changed } else { &[] };
        of_run.chain(earlier.iter().cloned()).collect()
    }
}

/// Returns the receiver of the lines that the commands of a resource print.
fn output_of<'e>(id: &'e ResourceId, on_event: &'e mut dyn FnMut(Event)) -> impl FnMut(Stream, &str) + 'e {
    move |stream, line| {
        on_event(Event::OutputReceived(OutputLine { id: id.clone(), stream, line: line.to_owned() }));
    }
}

/// State of a run between two steps.
pub(crate) struct Walk<'a> {
    run: &'a Run<'a>,
    graph: &'a Graph,
    groups: &'a Groups<'a>,
    /// All resources, in the order of their steps.
    order: Vec<ResourceIndex>,
    /// Number of resources whose step has begun.
    begun: usize,
    selection: WalkSelection,
    /// Built when a name is first looked up.
    names: OnceCell<CatalogNames<'a>>,
    spellings: PathSpellings<'a>,
    /// Built when a resource first asks for the claims of others.
    claim_index: OnceCell<ClaimIndex<'a>>,
    state_cache: StateCache,
    batch: Batch,
    records: Vec<ResourceRecord>,
    progress: GroupProgress<'a>,
    noop_changes: NoopChanges,
    pub(crate) counts: Counts,
    pub(crate) checks: CheckCounts,
    pub(crate) stopped: Option<StopCause>,
    pub(crate) refreshes: RefCell<RefreshTracker<'a>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(run: &'a Run<'a>, graph: &'a Graph, groups: &'a Groups<'a>) -> Self {
        Self {
            run,
            graph,
            groups,
            order: graph.order(),
            begun: 0,
            selection: WalkSelection::new(run, graph),
            names: OnceCell::new(),
            spellings: PathSpellings::new(|directory| run.host.files.real_directory(directory)),
            claim_index: OnceCell::new(),
            state_cache: StateCache::default(),
            batch: Batch::default(),
            records: vec![ResourceRecord::default(); run.catalog.resources.len()],
            progress: GroupProgress::new(groups),
            noop_changes: NoopChanges::default(),
            counts: Counts::default(),
            checks: CheckCounts::default(),
            stopped: None,
            refreshes: RefCell::new(RefreshTracker::new(run, graph, groups)),
        }
    }

    /// Processes all resources in order.
    pub(crate) async fn apply_all(&mut self, on_event: &mut dyn FnMut(Event)) {
        while let Some(index) = self.order.get(self.begun).copied() {
            self.begun += 1;
            let span = debug_span!("resource", id = %self.run.catalog.resource(index).id);
            self.step(index, on_event).instrument(span).await;
        }
    }

    /// Processes a resource, and emits its last event.
    async fn step(&mut self, index: ResourceIndex, on_event: &mut dyn FnMut(Event)) {
        let (transaction, unchecked) = self.process(index, on_event).await;
        // A stop after the last step ends nothing, so no later check is needed.
        self.notice_stop();
        self.record(index, &transaction.outcome);
        self.refreshes.get_mut().end_step(index, &transaction, &unchecked);
        debug!(outcome = %transaction.outcome.word(), "resource finished");
        on_event(Event::ResourceFinished(Box::new(transaction)));
    }

    /// Records the cause if the run was ended from outside. This cause outranks a failure: a command that is
    /// ended with the run fails, and the run does not end because of that failure.
    fn notice_stop(&mut self) {
        if self.run.stop.cancellation.level() > CancellationLevel::Go
            && let Some(cause) = self.run.stop.cause.get()
        {
            self.stopped = Some(cause.clone());
        }
    }

    /// Processes a resource, or skips it with a cause.
    async fn process(
        &mut self,
        index: ResourceIndex,
        on_event: &mut dyn FnMut(Event),
    ) -> (Transaction, Unchecked) {
        let resource = self.run.catalog.resource(index);
        let at = self.run.host.clock.now();
        let began = self.run.host.clock.monotonic();
        let (outcome, mut result, triggers) = match self.skip_cause(index) {
            Some(cause) => {
                self.state_cache.take_prefetched(index);
                (Outcome::Skipped { cause }, StepResult::default(), Triggers::default())
            }
            None => self.perform(index, on_event).await,
        };
        result.health_checks.iter().for_each(|check| self.checks.add(check.status));
        self.checks.not_run += result.checks_not_run;
        let (outcome_unchecked, retries_refresh) = (result.unchecked.take(), result.retries_refresh);
        let unchecked = Unchecked { outcome: outcome_unchecked, retries_refresh };
        let resource_type = self.run.resource_type(resource);
        let table = resource_type.map(TypeDeclaration::properties).unwrap_or_default();
        let requested = match (&resource.ensure, resource_type) {
            (Some(ensure), _) => ensure.value.clone(),
            (None, Some(found)) => found.ensures().first().copied().unwrap_or_default().to_owned(),
            (None, None) => String::new(),
        };
        let (final_ensure, state) =
            result.described.map(|described| (described.ensure, described.state)).unzip();
        // The report of a failure shows what was tried.
        let (is_failure, is_verified) = match &outcome {
            Outcome::Failed(failure) => (true, failure.verified),
            _ => (false, false),
        };
        // A diff of a change that was not made would look like a change.
        let diff = result.diff.filter(|_| outcome.is_change() || is_verified);
        let action = result.action.filter(|_| outcome.is_change() || is_failure);
        let is_skipped = matches!(outcome, Outcome::Skipped { .. });
        let is_described = self.run.describe_unchanged || !matches!(outcome, Outcome::Unchanged);
        let given = if is_described { &resource.properties } else { &Properties::default() };
        let transaction = Transaction {
            id: resource.id.clone(),
            alias: resource.aliases.first().map(ToString::to_string),
            at,
            duration: self.run.elapsed(began),
            provider: result.provider.map(Into::into),
            requested_ensure: requested,
            final_ensure,
            outcome: shown::outcome(outcome, &resource.properties),
            noop: self.groups.policy(index).noop && !is_skipped,
            would_fail: result.would_fail,
            action,
            properties: shown::properties(table, given),
            presentation: shown::presentation(table, given),
            reason: result.reason,
            guards: result.guards,
            health_checks: result.health_checks,
            triggered_by: triggers.ids(self.run),
            pending_refreshes: triggers.pending,
            warnings: result.warnings,
            notes: result.notes,
            state,
            diff,
        };
        (transaction, unchecked)
    }

    async fn perform(
        &self,
        index: ResourceIndex,
        on_event: &mut dyn FnMut(Event),
    ) -> (Outcome, StepResult, Triggers) {
        let run = self.run;
        let resource = run.catalog.resource(index);
        if let Some(group) = resource.node_of {
            let (outcome, result) = self.end_of_group(index, group);
            let (outcome, result) = self.check_node(index, outcome, result, on_event).await;
            return (outcome, result, Triggers::default());
        }
        let triggers = self.triggers(index);
        let Some(binder) = run.resource_type(resource).and_then(ResourceType::binder) else {
            let message = format!("internal error: no type `{}`", resource.id.type_name);
            let failure = Failure::new(FailureKind::Internal, message);
            return (Outcome::Failed(Box::new(failure)), StepResult::default(), triggers);
        };
        on_event(Event::ResourceStarted(ResourceStarted { id: resource.id.clone() }));
        let step = ResourceStep::new(self, index, binder, self.groups.policy(index), triggers.trigger());
        let (outcome, mut result) = handle(&step, &mut output_of(&resource.id, on_event)).await;
        let files = std::mem::take(&mut result.artifacts);
        if !files.is_empty() {
            let artifacts = Artifacts { id: resource.id.clone(), position: index.get() + 1, files };
            on_event(Event::ArtifactsLeft(Box::new(artifacts)));
        }
        (outcome, result, triggers)
    }

    /// Returns the triggers of a resource: subscriptions that changed in this run, or in an earlier one that
    /// did not refresh the resource.
    fn triggers(&self, index: ResourceIndex) -> Triggers {
        let pending = self.refreshes.borrow().pending_from_earlier(index);
        // A change that no run makes triggers nothing, and noop shows the effects of a real run.
        let changed =
            |on: &ResourceIndex| self.records[on.get()].has_changed && !self.is_never_done_for(*on, index);
        let triggers = |on: &ResourceIndex| changed(on) || pending.iter().any(|(source, _)| source == on);
        let by: Vec<ResourceIndex> = self.graph.subscriptions(index).filter(triggers).collect();
        let has_earlier =
            !self.run.earlier.changed.is_empty() && self.run.catalog.resource(index).group.is_none();
        let is_only_pending = !pending.is_empty() && !has_earlier && !by.iter().any(changed);
        Triggers {
            has_earlier,
            by,
            pending: pending.into_iter().map(|(_, pending)| pending).collect(),
            is_only_pending,
        }
    }

    /// Returns the change that a resource in noop would have made.
    fn noop_change(&self, index: ResourceIndex) -> Option<NoopChange<'a>> {
        let resource = self.run.catalog.resource(index);
        let resource_type = self.run.resource_type(resource)?;
        let claims = self.spellings.claims(resource_type.claims(resource));
        if claims.iter().any(Claim::holds_paths) {
            // A prefetched state was read without the directory that resources below it can rely on.
            self.state_cache.disable_prefetching();
        }
        let may_provide = resource_type.may_provide(resource);
        let is_never_made = self.groups.policy(index).is_always_noop;
        let is_removal = resource_type.ends(resource);
        Some(NoopChange { is_never_made, may_provide, is_removal, claims })
    }

    /// Records the outcome of a resource for the resources that come after it.
    fn record(&mut self, index: ResourceIndex, outcome: &Outcome) {
        self.counts.add(outcome, self.run.noop);
        self.progress.record(index, outcome);
        let is_noop = self.groups.policy(index).noop;
        let has_changed = outcome.is_change();
        let change = if has_changed && is_noop { self.noop_change(index) } else { None };
        self.noop_changes.push(index, change, self.graph);
        let record = &mut self.records[index.get()];
        (record.is_finished, record.has_changed, record.is_noop) = (true, has_changed, is_noop);
        if record.culprits.is_none() {
            record.culprits = match outcome {
                Outcome::Failed(_) => Some(Rc::from([index])),
                Outcome::Skipped { cause: SkipCause::DependsOnNoop { noop } } => {
                    let names = self.names.get_or_init(|| self.run.catalog.names());
                    Some(noop.iter().filter_map(|culprit| names.find(culprit)).collect())
                }
                _ => None,
            };
        }
    }
}
