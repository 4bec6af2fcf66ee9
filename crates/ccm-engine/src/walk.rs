//! The walk: every resource in order, each with exactly one outcome.

mod gate;
mod later;

use std::cell::{OnceCell, RefCell};
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

use ccm_graph::Graph;
use ccm_host::Level;
use ccm_model::{
    Artifacts, CatalogNames, Control, Counts, Event, Failure, FailureKind, GroupIndex, Missing, Outcome,
    OutputLine, OwedRefresh, PathKind, ResourceIndex, ResourceStarted, SkipCause, StopCause, Transaction,
};
use tracing::{Instrument as _, debug, debug_span};

use crate::ahead::Later;
use crate::contract::{ResourceType, Trigger, reason};
use crate::groups::{GroupProgress, Groups};
use crate::harness::handle;
use crate::known::Known;
use crate::late::{Progress, Resolved};
use crate::noop_changes::{NoopChange, NoopChanges};
use crate::refreshes::Refreshes;
use crate::run::Run;
use crate::shown;
use crate::step::{ResourceStep, StepHost, StepResult, WouldChange};
use crate::together::Together;

/// What the walk remembers of a resource whose turn is over.
#[derive(Clone, Default)]
struct Done {
    /// Its turn is over.
    finished: bool,
    /// It changed, or in noop would have.
    changed: bool,
    /// It was in noop, with the whole run or with its group.
    noop: bool,
    /// The resources whose failure, or whose noop, keeps what depends on this one from its turn.
    culprits: Option<Rc<[ResourceIndex]>>,
}

/// What triggers a resource.
#[derive(Default)]
struct Triggers {
    /// All of it.
    by: Vec<ResourceIndex>,
    /// What of it is owed from earlier runs.
    owed: Vec<OwedRefresh>,
    /// Nothing of it changed in this run.
    is_only_owed: bool,
}

impl Triggers {
    fn trigger(&self) -> Option<Trigger> {
        let pending = self.owed.first().filter(|_| self.is_only_owed);
        match pending {
            _ if self.by.is_empty() => None,
            Some(first) => Some(Trigger::Pending { first: first.clone(), has_more: self.owed.len() > 1 }),
            None => Some(Trigger::Changed),
        }
    }
}

pub(crate) struct Walk<'a> {
    run: &'a Run<'a>,
    graph: &'a Graph,
    groups: &'a Groups<'a>,
    /// All resources, in the order of their turns.
    order: Vec<ResourceIndex>,
    /// How many of them had their turn, or have it now.
    begun: usize,
    selected: Option<Vec<bool>>,
    /// Built when a name is first looked up.
    names: OnceCell<CatalogNames<'a>>,
    known: Known,
    together: Together,
    done: Vec<Done>,
    progress: GroupProgress<'a>,
    noop_changes: NoopChanges,
    pub(crate) counts: Counts,
    pub(crate) stopped: Option<StopCause>,
    pub(crate) refreshes: RefCell<Refreshes<'a>>,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(run: &'a Run<'a>, graph: &'a Graph, groups: &'a Groups<'a>) -> Self {
        let selected = run.only.map(|only| graph.with_requirements(only));
        let done = vec![Done::default(); run.catalog.resources.len()];
        Self {
            run,
            graph,
            groups,
            order: graph.order(),
            begun: 0,
            selected,
            names: OnceCell::new(),
            known: Known::default(),
            together: Together::default(),
            done,
            progress: GroupProgress::new(groups),
            noop_changes: NoopChanges::default(),
            counts: Counts::default(),
            stopped: None,
            refreshes: RefCell::new(Refreshes::new(run, graph, groups)),
        }
    }

    pub(crate) async fn all(&mut self, on_event: &mut dyn FnMut(Event)) {
        while let Some(index) = self.order.get(self.begun).copied() {
            self.begun += 1;
            let span = debug_span!("resource", id = %self.run.catalog.resource(index).id);
            self.step(index, on_event).instrument(span).await;
        }
    }

    /// Takes a resource from its turn to its last event.
    async fn step(&mut self, index: ResourceIndex, on_event: &mut dyn FnMut(Event)) {
        let transaction = self.turn(index, on_event).await;
        // What comes after the last turn finds nothing to end.
        self.notice_stop();
        self.remember(index, &transaction.outcome);
        self.refreshes.get_mut().ended(index, &transaction);
        debug!(outcome = %transaction.outcome.word(), "resource finished");
        on_event(Event::ResourceFinished(Box::new(transaction)));
    }

    /// Remembers why the run is ended from outside, if it is. This outranks a failure: a command that was
    /// ended with the run fails, and the run did not end because of that failure.
    fn notice_stop(&mut self) {
        if self.run.stop.cancellation.level() > Level::Go
            && let Some(cause) = self.run.stop.cause.get()
        {
            self.stopped = Some(cause.clone());
        }
    }

    /// Gives a resource its turn, or finds out why it has none.
    async fn turn(&mut self, index: ResourceIndex, on_event: &mut dyn FnMut(Event)) -> Transaction {
        let resource = self.run.catalog.resource(index);
        let at = self.run.host.clock.now();
        let began = self.run.host.clock.monotonic();
        let (outcome, result, triggers) = match self.gate(index) {
            Some(cause) => {
                self.known.take_ahead(index);
                (Outcome::Skipped { cause }, StepResult::default(), Triggers::default())
            }
            None => self.managed(index, on_event).await,
        };
        let resource_type = self.run.resource_type(resource);
        let table = resource_type.map(|found| found.properties()).unwrap_or_default();
        let requested = match (&resource.ensure, resource_type) {
            (Some(ensure), _) => ensure.value.clone(),
            (None, Some(found)) => found.ensures().first().copied().unwrap_or_default().to_owned(),
            (None, None) => String::new(),
        };
        let (final_ensure, state) =
            result.described.map(|described| (described.ensure, described.state)).unzip();
        // What was not done, and would not be, is not to be seen as a change.
        let diff = result.diff.filter(|_| outcome.is_change());
        Transaction {
            id: resource.id.clone(),
            alias: resource.alias.as_deref().map(str::to_owned),
            at,
            duration: self.run.elapsed(began),
            provider: result.provider.map(Into::into),
            requested_ensure: requested,
            final_ensure,
            outcome: shown::outcome(outcome, &resource.properties),
            properties: shown::properties(table, &resource.properties),
            presentation: shown::presentation(table, &resource.properties),
            reason: result.reason,
            triggered_by: triggers.by.iter().map(|on| self.run.catalog.resource(*on).id.clone()).collect(),
            owed: triggers.owed,
            warnings: result.warnings,
            notes: result.notes,
            state,
            diff,
        }
    }

    async fn managed(
        &self,
        index: ResourceIndex,
        on_event: &mut dyn FnMut(Event),
    ) -> (Outcome, StepResult, Triggers) {
        let run = self.run;
        let resource = run.catalog.resource(index);
        if let Some(group) = resource.node_of {
            let (outcome, result) = self.end_of_group(index, group);
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
        let mut on_line = |stream, line: &str| {
            let line = OutputLine { id: resource.id.clone(), stream, line: line.to_owned() };
            on_event(Event::OutputReceived(line));
        };
        let (outcome, mut result) = handle(&step, &mut on_line).await;
        let files = std::mem::take(&mut result.artifacts);
        if !files.is_empty() {
            let artifacts = Artifacts { id: resource.id.clone(), position: index.get() + 1, files };
            on_event(Event::ArtifactsLeft(Box::new(artifacts)));
        }
        (outcome, result, triggers)
    }

    /// What triggers a resource: what it subscribes to and changed in this run, or in an earlier one that did not
    /// come to refresh it.
    fn triggers(&self, index: ResourceIndex) -> Triggers {
        let owed = self.refreshes.borrow().owed_from_earlier(index);
        // What a run would only have changed sets nothing really in motion, and noop says what a run does.
        let changed =
            |on: &ResourceIndex| self.done[on.get()].changed && !self.groups.is_never_done_for(*on, index);
        let triggers = |on: &ResourceIndex| changed(on) || owed.iter().any(|(source, _)| source == on);
        let by: Vec<ResourceIndex> = self.graph.subscriptions(index).filter(triggers).collect();
        let is_only_owed = !owed.is_empty() && !by.iter().any(changed);
        Triggers { by, owed: owed.into_iter().map(|(_, owed)| owed).collect(), is_only_owed }
    }

    /// The change that a resource in noop would have made.
    fn noop_change(&self, index: ResourceIndex) -> Option<NoopChange<'a>> {
        let resource = self.run.catalog.resource(index);
        let resource_type = self.run.resource_type(resource)?;
        let claims = resource_type.claims(resource);
        if claims.iter().any(|claim| claim.is_path_of(PathKind::Directory)) {
            // A prefetched state does not know the directory that resources below it can rely on.
            self.known.read_singly();
        }
        let is_arbitrary = resource_type.may_provide(resource);
        Some(NoopChange { is_never_made: self.groups.policy(index).is_always_noop, is_arbitrary, claims })
    }

    /// Returns the outcome of the node of a group whose `control` is known only now, if that does not let it be managed.
    fn late_control(&self, index: ResourceIndex) -> Option<Outcome> {
        let resource = self.run.catalog.resource(index);
        if resource.control != Control::Late {
            return None;
        }
        match self.run.late.resolve(index, resource, self) {
            Ok(Resolved::NotManaged { reason }) => {
                Some(Outcome::Skipped { cause: SkipCause::NotManaged { reason } })
            }
            Ok(_) => None,
            Err(failure) => Some(Outcome::Failed(Box::new(failure))),
        }
    }

    /// Returns the outcome of the node of a group, all members having had their turn.
    fn end_of_group(&self, index: ResourceIndex, group: GroupIndex) -> (Outcome, StepResult) {
        if !self.progress.has_failed(group)
            && let Some(outcome) = self.late_control(index)
        {
            return (outcome, StepResult::default());
        }
        let (outcome, rule) = self.progress.outcome(group);
        (outcome, StepResult { reason: rule.as_ref().map(reason), ..StepResult::default() })
    }

    fn remember(&mut self, index: ResourceIndex, outcome: &Outcome) {
        self.counts.add(outcome, self.run.noop);
        self.progress.record(index, outcome);
        let noop = self.groups.policy(index).noop;
        let changed = outcome.is_change();
        let change = if changed && noop { self.noop_change(index) } else { None };
        self.noop_changes.push(index, change, self.graph);
        let done = &mut self.done[index.get()];
        (done.finished, done.changed, done.noop) = (true, changed, noop);
        if done.culprits.is_none() {
            done.culprits = match outcome {
                Outcome::Failed(_) => Some(Rc::from([index])),
                Outcome::Skipped { cause: SkipCause::Undone { noop } } => {
                    let names = self.names.get_or_init(|| self.run.catalog.names());
                    Some(noop.iter().filter_map(|culprit| names.find(culprit)).collect())
                }
                _ => None,
            };
        }
    }
}

impl Progress for Walk<'_> {
    fn would_change(&self, index: ResourceIndex) -> bool {
        let done = &self.done[index.get()];
        done.changed && done.noop
    }
}

impl StepHost for Walk<'_> {
    fn run(&self) -> &Run<'_> {
        self.run
    }

    fn known(&self) -> &Known {
        &self.known
    }

    fn together(&self) -> &Together {
        &self.together
    }

    fn would_be_directories(&self) -> &HashSet<PathBuf> {
        &self.noop_changes.directories
    }

    fn later(&self, of: ResourceIndex, distance: usize) -> Option<Later<'_>> {
        self.later_at(self.run.catalog.resource(of), distance)
    }

    fn is_never_done_for(&self, on: ResourceIndex, index: ResourceIndex) -> bool {
        self.groups.is_never_done_for(on, index)
    }

    fn record_intents(&self, executed: &[ResourceIndex]) -> Result<(), Failure> {
        self.refreshes.borrow_mut().ask(executed)
    }

    fn would_change_before(&self, of: ResourceIndex, missing: &Missing) -> Option<WouldChange> {
        let is_never_made = self.groups.policy(of).is_always_noop;
        let change = self.noop_changes.nearest(of, missing, is_never_made, self.graph)?;
        let resource = self.run.catalog.resource(change.resource).id.clone();
        Some(WouldChange { resource, is_related: change.is_related })
    }
}
