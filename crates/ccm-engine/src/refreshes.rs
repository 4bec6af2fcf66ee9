//! Pending refreshes during the walk.
//!
//! Before a resource is changed, the refreshes that its change demands of its subscribers are written to the
//! [`Ledger`]. A refresh is dropped if the execution changed nothing, and completed by the step of its
//! subscriber. All other refreshes are pending for the next run.

mod earlier;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use ccm_graph::Graph;
use ccm_model::{
    CancelledCause, CancelledRefresh, Failure, FailureKind, Outcome, PendingCause, PendingRefresh,
    RefreshBlocker, RefreshSummary, ResourceId, ResourceIndex, Transaction, UnfinishedRefresh, error_layers,
};
use ccm_redaction::Redactor;

use crate::groups::Groups;
use crate::ledger::{
    Ledger, LedgerResource, Pair, Pending, completed_line, dropped_line, hash, ledger_text, pending_line,
};
use crate::run::Run;
use earlier::Earlier;

/// A refresh that is pending at this point of the walk.
struct Tracked {
    pending: Pending,
    /// The refresh is pending from an earlier run, whatever this run does.
    is_earlier: bool,
    /// Number of executions of this run that may demand the refresh.
    intents: usize,
    /// Reason why the step of the subscriber did not complete the refresh. `None` before that step.
    cause: Option<PendingCause>,
}

impl Tracked {
    fn new(pending: Pending, is_earlier: bool) -> Self {
        Self { pending, is_earlier, intents: 0, cause: None }
    }
}

/// Pending refreshes of a run, and the ledger that holds them.
pub(crate) struct RefreshTracker<'a> {
    run: &'a Run<'a>,
    graph: &'a Graph,
    groups: &'a Groups<'a>,
    /// `None` if no refresh outlives this run.
    ledger: Option<&'a Ledger>,
    /// Redactor of the names in the file.
    redactor: Arc<Redactor>,
    /// The file has to be rewritten, because a name in it holds a value that has become secret.
    needs_rewrite: bool,
    tracked: BTreeMap<Subscription, Tracked>,
    /// Pending refreshes of other manifests of the same name.
    other_manifests: BTreeMap<Pair, Pending>,
    /// Refreshes that the execution of each resource may demand.
    intents: HashMap<ResourceIndex, Vec<Subscription>>,
    cancelled: Vec<CancelledRefresh>,
}

/// Result of a step without its health checks.
#[derive(Default)]
pub(crate) struct Unchecked {
    /// Outcome, if the checks failed the resource.
    pub outcome: Option<Outcome>,
    /// A failed check leaves the refresh of the resource pending.
    pub retries_refresh: bool,
}

/// A subscriber, and a resource that it subscribes to.
type Subscription = (ResourceIndex, ResourceIndex);

impl<'a> RefreshTracker<'a> {
    pub(crate) fn new(run: &'a Run<'a>, graph: &'a Graph, groups: &'a Groups<'a>) -> Self {
        let mut refreshes = Self {
            run,
            graph,
            groups,
            ledger: run.ledger,
            redactor: run.secrets.redactor(),
            needs_rewrite: false,
            tracked: BTreeMap::new(),
            other_manifests: BTreeMap::new(),
            intents: HashMap::new(),
            cancelled: Vec::new(),
        };
        refreshes.load_earlier();
        refreshes
    }

    /// Loads the refreshes that earlier runs have left.
    fn load_earlier(&mut self) {
        let Some(ledger) = self.ledger else { return };
        if ledger.damage().is_some() {
            for subscriber in self.run.catalog.indices() {
                for source in self.subscriptions(subscriber) {
                    let pending = Pending { is_assumed: true, ..self.new_pending(ledger) };
                    self.tracked.insert((subscriber, source), Tracked::new(pending, true));
                }
            }
            // An error is reported by the next resource that has to write, and at the end.
            let _reported_later = self.write_pending(ledger, &BTreeMap::new());
            return;
        }
        if ledger.earlier().is_empty() {
            return;
        }
        let earlier = Earlier::new(ledger);
        let mut found = BTreeSet::new();
        for subscriber in self.run.catalog.indices() {
            for source in self.subscriptions(subscriber) {
                let before = earlier
                    .find(self.id(subscriber), self.id(source))
                    .or_else(|| earlier.find_alike(self.pair((subscriber, source))));
                if let Some((before, pending)) = before {
                    self.tracked.insert((subscriber, source), Tracked::new(pending.clone(), true));
                    found.insert(before);
                }
            }
        }
        for (pair, pending) in ledger.earlier() {
            if !found.contains(pair) {
                self.cancel(ledger, pair.clone(), pending.clone());
            }
        }
    }

    /// Cancels a refresh without resources in this manifest, unless another manifest of the same name has
    /// them.
    fn cancel(&mut self, ledger: &Ledger, pair: Pair, pending: Pending) {
        let is_ours = pending.manifest == ledger.run().manifest;
        // A manifest whose existence can't be checked may still exist.
        if !is_ours && self.run.host.files.exists(Path::new(&pending.manifest)).unwrap_or(true) {
            self.other_manifests.insert(pair, pending);
        } else {
            let is = |id: &ResourceId, named: &LedgerResource| match &named.hash {
                Some(expected) => hash(id, ledger.salt()) == *expected,
                None => *id == named.shown,
            };
            let has = |named| self.run.catalog.indices().any(|index| is(self.id(index), named));
            let cause = match (has(&pair.subscriber), has(&pair.source)) {
                (false, _) => CancelledCause::NoSubscriber,
                (true, false) => CancelledCause::NoSource,
                (true, true) => CancelledCause::NoSubscription,
            };
            let refresh = refresh(&pair, &pending);
            self.cancelled.push(CancelledRefresh { subscriber: pair.subscriber.shown, refresh, cause });
        }
    }

    /// Returns the type and name of a resource. The name may hold a secret.
    fn id(&self, index: ResourceIndex) -> &'a ResourceId {
        &self.run.catalog.resource(index).id
    }

    fn ledger_resource(&self, index: ResourceIndex) -> LedgerResource {
        let id = self.id(index);
        LedgerResource::new(id, &self.redactor.redact(&id.name), self.ledger.map_or("", Ledger::salt))
    }

    /// Returns both names in the form of the ledger.
    fn pair(&self, (subscriber, source): Subscription) -> Pair {
        Pair { subscriber: self.ledger_resource(subscriber), source: self.ledger_resource(source) }
    }

    /// Returns the resources whose changes refresh a subscriber. The node of a group has nothing to refresh.
    fn subscriptions(&self, subscriber: ResourceIndex) -> Vec<ResourceIndex> {
        if self.run.catalog.resource(subscriber).node_of.is_some() {
            return Vec::new();
        }
        self.graph.subscriptions(subscriber).collect()
    }

    /// Returns the refreshes that a change of a resource demands. Subscribers that are always in noop are
    /// left out.
    fn demanded_by(&self, index: ResourceIndex) -> Vec<Subscription> {
        let sources = std::iter::once(index).chain(self.groups.nodes_around(index));
        let can_refresh = |index: ResourceIndex| {
            self.run.catalog.resource(index).node_of.is_none() && !self.groups.policy(index).is_always_noop
        };
        sources
            .flat_map(|source| self.graph.subscribers(source).map(move |subscriber| (subscriber, source)))
            .filter(|(subscriber, _)| can_refresh(*subscriber))
            .collect()
    }

    fn new_pending(&self, ledger: &Ledger) -> Pending {
        let run = ledger.run();
        Pending {
            run_id: run.run_id.clone(),
            since: self.run.host.clock.now(),
            manifest: run.manifest.clone(),
            is_assumed: false,
            blocked_by: None,
        }
    }

    /// Returns the refreshes of a subscriber that are pending from earlier runs, each with its source.
    pub(crate) fn pending_from_earlier(&self, index: ResourceIndex) -> Vec<(ResourceIndex, PendingRefresh)> {
        if self.tracked.is_empty() {
            return Vec::new();
        }
        let pending = |source: ResourceIndex| {
            let tracked = self.tracked.get(&(index, source)).filter(|tracked| tracked.is_earlier)?;
            Some((source, refresh(&self.pair((index, source)), &tracked.pending)))
        };
        self.graph.subscriptions(index).filter_map(pending).collect()
    }

    /// Writes the refreshes that the execution of these resources may demand, and syncs them.
    pub(crate) fn record_intents(&mut self, executed: &[ResourceIndex]) -> Result<(), Failure> {
        let Some(ledger) = self.ledger else { return Ok(()) };
        let intents = executed.iter().map(|index| (*index, self.demanded_by(*index)));
        let intents: Vec<_> = intents.filter(|(_, refreshes)| !refreshes.is_empty()).collect();
        if intents.is_empty() {
            return Ok(());
        }
        self.update_redactor();
        let mut new: BTreeMap<Subscription, Pending> = BTreeMap::new();
        for refresh in intents.iter().flat_map(|(_, refreshes)| refreshes) {
            if !self.tracked.contains_key(refresh) {
                new.entry(*refresh).or_insert_with(|| self.new_pending(ledger));
            }
        }
        self.write_pending(ledger, &new).map_err(|error| {
            let failure = Failure::from_error(FailureKind::Ledger, &error).because_of(not_written(ledger));
            failure.because_of("the refreshes that its change would trigger can't be recorded")
        })?;
        self.tracked
            .extend(new.into_iter().map(|(refresh, pending)| (refresh, Tracked::new(pending, false))));
        for refresh in intents.iter().flat_map(|(_, refreshes)| refreshes) {
            if let Some(tracked) = self.tracked.get_mut(refresh) {
                tracked.intents += 1;
            }
        }
        self.intents.extend(intents);
        Ok(())
    }

    /// Drops the refreshes that the step of a resource did not demand after all, and completes those that the
    /// step has done.
    pub(crate) fn end_step(
        &mut self,
        index: ResourceIndex,
        transaction: &Transaction,
        unchecked: &Unchecked,
    ) {
        let Some(ledger) = self.ledger.filter(|_| !self.tracked.is_empty()) else { return };
        self.update_redactor();
        let mut lines = String::new();
        let intents = self.intents.remove(&index).unwrap_or_default();
        let outcome = unchecked.outcome.as_ref().unwrap_or(&transaction.outcome);
        // One that was to be changed with others, and is skipped because the run ended meanwhile, was not executed.
        if matches!(outcome, Outcome::Unchanged | Outcome::Skipped { .. }) {
            for refresh in intents {
                let Some(tracked) = self.tracked.get_mut(&refresh) else { continue };
                tracked.intents -= 1;
                if tracked.intents == 0 && !tracked.is_earlier {
                    self.tracked.remove(&refresh);
                    lines += &dropped_line(&self.pair(refresh));
                }
            }
        }
        let noop = if self.groups.policy(index).is_always_noop {
            Some(PendingCause::Noop { blocked_by: Some(RefreshBlocker::NoopManifest) })
        } else {
            self.run.noop.then_some(PendingCause::Noop { blocked_by: None })
        };
        // A refresh was done even if the resource is not healthy afterwards.
        let outcome = if unchecked.retries_refresh { &transaction.outcome } else { outcome };
        let cause = pending_cause(outcome, transaction.provider.is_some(), noop.as_ref()).or(noop);
        for source in self.subscriptions(index) {
            let refresh = (index, source);
            let Some(tracked) = self.tracked.get_mut(&refresh) else { continue };
            if cause.is_some() {
                tracked.cause.clone_from(&cause);
            } else {
                self.tracked.remove(&refresh);
                lines += &completed_line(&self.pair(refresh));
            }
        }
        if !lines.is_empty() || self.needs_rewrite {
            self.write_completed(ledger, &lines);
        }
    }

    /// Switches to the current redactor. If a name in the file holds a new secret, the file has to be
    /// rewritten.
    fn update_redactor(&mut self) {
        let now = self.run.secrets.redactor();
        if Arc::ptr_eq(&now, &self.redactor) {
            return;
        }
        let before = std::mem::replace(&mut self.redactor, now);
        let needs_rewrite = |index: ResourceIndex| {
            let name = &self.id(index).name;
            before.redact(name) != self.redactor.redact(name)
        };
        self.needs_rewrite |= self
            .tracked
            .keys()
            .any(|(subscriber, source)| needs_rewrite(*subscriber) || needs_rewrite(*source));
    }

    /// Writes new pending refreshes, and syncs them.
    fn write_pending(
        &mut self,
        ledger: &Ledger,
        new: &BTreeMap<Subscription, Pending>,
    ) -> std::io::Result<()> {
        let Some(file) = ledger.file() else { return Ok(()) };
        let mut file = file.borrow_mut();
        let lines: String =
            new.iter().map(|(refresh, pending)| pending_line(&self.pair(*refresh), pending)).collect();
        if !file.is_written() || self.needs_rewrite {
            // The rewrite also syncs the lines of earlier runs, which may not have been synced.
            file.rewrite(&(self.content(ledger) + &lines))?;
            self.needs_rewrite = false;
            Ok(())
        } else if lines.is_empty() {
            Ok(())
        } else {
            file.append(&lines, true)
        }
    }

    /// Writes that refreshes are no longer pending. The lines are not synced, because losing them only
    /// repeats a refresh. After an error, the whole file is rewritten at the end, which reports the error.
    fn write_completed(&mut self, ledger: &Ledger, lines: &str) {
        let Some(file) = ledger.file() else { return };
        let mut file = file.borrow_mut();
        if file.is_written() && !self.needs_rewrite {
            let _reported_at_the_end = file.append(lines, false);
        } else if file.rewrite(&self.content(ledger)).is_ok() {
            self.needs_rewrite = false;
        }
    }

    fn content(&self, ledger: &Ledger) -> String {
        let tracked: Vec<(Pair, &Pending)> =
            self.tracked.iter().map(|(refresh, tracked)| (self.pair(*refresh), &tracked.pending)).collect();
        let tracked = tracked.iter().map(|(pair, pending)| (pair, *pending));
        ledger_text(&ledger.run().key, ledger.salt(), tracked.chain(&self.other_manifests))
    }

    /// Records the settings that block pending refreshes. Returns `true` if one of them has changed.
    fn update_blockers(&mut self) -> bool {
        let mut has_changed = false;
        for Tracked { pending, cause, .. } in self.tracked.values_mut() {
            let blocked_by = match cause {
                Some(cause) if cause.blocked_by().is_some() => cause.blocked_by(),
                // A subscriber without a step shows nothing new.
                None | Some(PendingCause::Skipped { .. } | PendingCause::OtherManifest { .. }) => continue,
                Some(_) => None,
            };
            has_changed |= blocked_by != pending.blocked_by;
            pending.blocked_by = blocked_by;
        }
        has_changed
    }

    /// Writes the refreshes that are still pending to the ledger, and returns them.
    pub(crate) fn finish(mut self) -> RefreshSummary {
        let Some(ledger) = self.ledger else { return RefreshSummary::default() };
        self.update_redactor();
        let has_changed = self.update_blockers() || self.needs_rewrite;
        let written = match ledger.file() {
            None => Ok(()),
            Some(file) => {
                let mut file = file.borrow_mut();
                if has_changed || !self.cancelled.is_empty() {
                    file.touch();
                }
                let is_pending = !self.tracked.is_empty() || !self.other_manifests.is_empty();
                file.finish(&self.content(ledger), is_pending)
            }
        };
        let unwritten = written.err().map_or_else(Vec::new, |error| {
            let mut layers = error_layers(&error);
            layers.insert(0, not_written(ledger));
            layers
        });
        let unfinished = |pair: Pair, pending: Pending, cause: Option<PendingCause>| {
            let refresh = refresh(&pair, &pending);
            let cause = cause.unwrap_or(PendingCause::OtherManifest { manifest: pending.manifest });
            UnfinishedRefresh { subscriber: pair.subscriber.shown, refresh, cause }
        };
        let damage = ledger.damage().map(|damage| match ledger.file() {
            Some(_) => format!("{damage}; it is kept as {}", damage.kept_as),
            None => damage.to_string(),
        });
        let tracked = std::mem::take(&mut self.tracked).into_iter();
        let tracked = tracked.map(|(refresh, of)| unfinished(self.pair(refresh), of.pending, of.cause));
        let mut pending: Vec<UnfinishedRefresh> = tracked.collect();
        pending
            .extend(self.other_manifests.into_iter().map(|(pair, pending)| unfinished(pair, pending, None)));
        pending.sort_by(|one, other| {
            (&one.subscriber, &one.refresh.source).cmp(&(&other.subscriber, &other.refresh.source))
        });
        RefreshSummary { pending, cancelled: self.cancelled, damage, unwritten }
    }
}

fn not_written(ledger: &Ledger) -> String {
    let path = ledger.file().map(|file| file.borrow().path()).unwrap_or_default();
    format!("the ledger {} can't be written", path.display())
}

fn refresh(pair: &Pair, pending: &Pending) -> PendingRefresh {
    PendingRefresh {
        source: pair.source.shown.clone(),
        run_id: pending.run_id.clone(),
        since: pending.since,
        is_assumed: pending.is_assumed,
    }
}

/// Returns the reason why the step of a subscriber did not complete its refreshes. `None` if the subscriber
/// was refreshed, or its own rules declined the refresh.
fn pending_cause(outcome: &Outcome, has_provider: bool, noop: Option<&PendingCause>) -> Option<PendingCause> {
    match outcome {
        Outcome::Changed | Outcome::Refreshed => None,
        // Without a provider the type did not decide: a late value was missing.
        Outcome::Unchanged if has_provider => None,
        Outcome::Unchanged => Some(PendingCause::NoValue),
        Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. } => noop.cloned(),
        Outcome::Skipped { cause } => Some(cause.clone().into()),
        Outcome::Failed(_) => Some(PendingCause::Failed),
    }
}
