//! Refreshes that are owed, as the walk comes to owe and to pay them.
//!
//! Before a resource executes, what its change would owe to its subscribers is in the [`Ledger`]. It is taken
//! out when the execution turned out to change nothing, and when the subscriber had its turn. What is left
//! then, whatever the reason, is owed to the next run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use ccm_graph::Graph;
use ccm_model::{
    Failure, FailureKind, Outcome, OwedCause, OwedRefresh, Refreshes as Summary, ResourceId, ResourceIndex,
    SettledCause, SettledRefresh, StillOwed, Transaction, error_layers,
};
use ccm_redaction::Redactor;

use crate::groups::Groups;
use crate::ledger::{Debt, Debts, Ledger, Named, Pair, dropped, hash, owed, paid, whole};
use crate::run::Run;

/// A refresh that is owed at this moment of the walk.
struct Standing {
    debt: Debt,
    /// It is owed from an earlier run, whatever this one does.
    is_earlier: bool,
    /// How many executions of this run may ask for it.
    asked: usize,
    /// Why the turn of its subscriber did not end it; none if that has none here.
    cause: Option<OwedCause>,
}

impl Standing {
    fn new(debt: Debt, is_earlier: bool) -> Self {
        Self { debt, is_earlier, asked: 0, cause: None }
    }
}

/// The refreshes that are owed, and the ledger that remembers them.
pub(crate) struct Refreshes<'a> {
    run: &'a Run<'a>,
    graph: &'a Graph,
    groups: &'a Groups<'a>,
    /// None if this run remembers nothing.
    ledger: Option<&'a Ledger>,
    /// Names are written as they are shown: without what was sensitive at the last writing.
    redactor: Arc<Redactor>,
    /// A name in the file holds something that has become sensitive since.
    is_renamed: bool,
    standing: BTreeMap<Subscription, Standing>,
    /// What resources of other manifests of the same name owe.
    of_others: BTreeMap<Pair, Debt>,
    /// What the execution of a resource has asked for.
    asked_by: HashMap<ResourceIndex, Vec<Subscription>>,
    settled: Vec<SettledRefresh>,
}

/// A subscriber, and what it subscribes to.
type Subscription = (ResourceIndex, ResourceIndex);

impl<'a> Refreshes<'a> {
    pub(crate) fn new(run: &'a Run<'a>, graph: &'a Graph, groups: &'a Groups<'a>) -> Self {
        let mut refreshes = Self {
            run,
            graph,
            groups,
            ledger: run.ledger,
            redactor: run.secrets.redactor(),
            is_renamed: false,
            standing: BTreeMap::new(),
            of_others: BTreeMap::new(),
            asked_by: HashMap::new(),
            settled: Vec::new(),
        };
        refreshes.take_over();
        refreshes
    }

    /// Takes over what earlier runs have left.
    fn take_over(&mut self) {
        let Some(ledger) = self.ledger else { return };
        if ledger.damage().is_some() {
            for subscriber in self.run.catalog.indices() {
                for source in self.subscriptions(subscriber) {
                    let debt = Debt { is_assumed: true, ..self.debt(ledger) };
                    self.standing.insert((subscriber, source), Standing::new(debt, true));
                }
            }
            // What goes wrong is told by who next has to write, and at the end.
            let _told_later = self.remember(ledger, &BTreeMap::new());
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
                    .find(self.real(subscriber), self.real(source))
                    .or_else(|| earlier.find_alike(self.pair((subscriber, source))));
                if let Some((before, debt)) = before {
                    self.standing.insert((subscriber, source), Standing::new(debt.clone(), true));
                    found.insert(before);
                }
            }
        }
        for (pair, debt) in ledger.earlier() {
            if !found.contains(pair) {
                self.settle(ledger, pair.clone(), debt.clone());
            }
        }
    }

    /// Settles what no resource of this manifest has to do, unless another manifest of the same name has to.
    fn settle(&mut self, ledger: &Ledger, pair: Pair, debt: Debt) {
        let is_ours = debt.manifest == ledger.run().manifest;
        // A manifest that can't be looked for is not known to be gone.
        if !is_ours && self.run.host.files.exists(Path::new(&debt.manifest)).unwrap_or(true) {
            self.of_others.insert(pair, debt);
        } else {
            let is = |id: &ResourceId, named: &Named| match &named.hash {
                Some(expected) => hash(id, ledger.salt()) == *expected,
                None => *id == named.shown,
            };
            let has = |named| self.run.catalog.indices().any(|index| is(self.real(index), named));
            let cause = match (has(&pair.subscriber), has(&pair.source)) {
                (false, _) => SettledCause::NoSubscriber,
                (true, false) => SettledCause::NoSource,
                (true, true) => SettledCause::NoSubscription,
            };
            let refresh = refresh(&pair, &debt);
            self.settled.push(SettledRefresh { subscriber: pair.subscriber.shown, refresh, cause });
        }
    }

    /// The name of a resource, with whatever is sensitive in it.
    fn real(&self, index: ResourceIndex) -> &'a ResourceId {
        &self.run.catalog.resource(index).id
    }

    fn named(&self, index: ResourceIndex) -> Named {
        let id = self.real(index);
        Named::new(id, &self.redactor.redact(&id.name), self.ledger.map_or("", Ledger::salt))
    }

    /// The names of both, as they are written.
    fn pair(&self, (subscriber, source): Subscription) -> Pair {
        Pair { subscriber: self.named(subscriber), source: self.named(source) }
    }

    /// To whom a subscriber can owe something. The node of a group has nothing of its own to refresh.
    fn subscriptions(&self, subscriber: ResourceIndex) -> Vec<ResourceIndex> {
        if self.run.catalog.resource(subscriber).node_of.is_some() {
            return Vec::new();
        }
        self.graph.subscriptions(subscriber).collect()
    }

    /// What a change of a resource asks for. Who is in noop is asked for nothing.
    fn asked_for(&self, index: ResourceIndex) -> Vec<Subscription> {
        let sources = std::iter::once(index).chain(self.groups.nodes_around(index));
        let is_asked = |index: ResourceIndex| {
            self.run.catalog.resource(index).node_of.is_none() && !self.groups.policy(index).is_always_noop
        };
        sources
            .flat_map(|source| self.graph.subscribers(source).map(move |subscriber| (subscriber, source)))
            .filter(|(subscriber, _)| is_asked(*subscriber))
            .collect()
    }

    fn debt(&self, ledger: &Ledger) -> Debt {
        let run = ledger.run();
        Debt {
            run_id: run.run_id.clone(),
            since: self.run.host.clock.now(),
            manifest: run.manifest.clone(),
            is_assumed: false,
            kept_by: None,
        }
    }

    /// What a resource owes from earlier runs, and to whom.
    pub(crate) fn owed_from_earlier(&self, index: ResourceIndex) -> Vec<(ResourceIndex, OwedRefresh)> {
        if self.standing.is_empty() {
            return Vec::new();
        }
        let owed = |source: ResourceIndex| {
            let standing = self.standing.get(&(index, source)).filter(|standing| standing.is_earlier)?;
            Some((source, refresh(&self.pair((index, source)), &standing.debt)))
        };
        self.graph.subscriptions(index).filter_map(owed).collect()
    }

    /// Remembers, safe on the disk, what the execution of resources is about to owe.
    pub(crate) fn ask(&mut self, executed: &[ResourceIndex]) -> Result<(), Failure> {
        let Some(ledger) = self.ledger else { return Ok(()) };
        let asked = executed.iter().map(|index| (*index, self.asked_for(*index)));
        let asked: Vec<_> = asked.filter(|(_, refreshes)| !refreshes.is_empty()).collect();
        if asked.is_empty() {
            return Ok(());
        }
        self.notice_secrets();
        let mut new: BTreeMap<Subscription, Debt> = BTreeMap::new();
        for refresh in asked.iter().flat_map(|(_, refreshes)| refreshes) {
            if !self.standing.contains_key(refresh) {
                new.entry(*refresh).or_insert_with(|| self.debt(ledger));
            }
        }
        self.remember(ledger, &new).map_err(|error| {
            let failure = Failure::from_error(FailureKind::Ledger, &error).because_of(not_written(ledger));
            failure.because_of("the refreshes that a change of it would owe can't be remembered")
        })?;
        self.standing.extend(new.into_iter().map(|(refresh, debt)| (refresh, Standing::new(debt, false))));
        for refresh in asked.iter().flat_map(|(_, refreshes)| refreshes) {
            if let Some(standing) = self.standing.get_mut(refresh) {
                standing.asked += 1;
            }
        }
        self.asked_by.extend(asked);
        Ok(())
    }

    /// Takes note of the end of a resource's turn.
    pub(crate) fn ended(&mut self, index: ResourceIndex, transaction: &Transaction) {
        let Some(ledger) = self.ledger.filter(|_| !self.standing.is_empty()) else { return };
        self.notice_secrets();
        let mut lines = String::new();
        let asked = self.asked_by.remove(&index).unwrap_or_default();
        if transaction.outcome == Outcome::Unchanged {
            for refresh in asked {
                let Some(standing) = self.standing.get_mut(&refresh) else { continue };
                standing.asked -= 1;
                if standing.asked == 0 && !standing.is_earlier {
                    self.standing.remove(&refresh);
                    lines += &dropped(&self.pair(refresh));
                }
            }
        }
        let noop = if self.groups.policy(index).is_always_noop {
            Some(OwedCause::NoopManifest)
        } else {
            self.run.noop.then_some(OwedCause::Noop)
        };
        let cause = still_owed(transaction, noop.as_ref()).or(noop);
        for source in self.subscriptions(index) {
            let refresh = (index, source);
            let Some(standing) = self.standing.get_mut(&refresh) else { continue };
            if cause.is_some() {
                standing.cause.clone_from(&cause);
            } else {
                self.standing.remove(&refresh);
                lines += &paid(&self.pair(refresh));
            }
        }
        if !lines.is_empty() || self.is_renamed {
            self.note(ledger, &lines);
        }
    }

    /// Takes note of what has become sensitive. If a name in the file holds it, the file has to be written anew.
    fn notice_secrets(&mut self) {
        let now = self.run.secrets.redactor();
        if Arc::ptr_eq(&now, &self.redactor) {
            return;
        }
        let before = std::mem::replace(&mut self.redactor, now);
        let is_renamed = |index: ResourceIndex| {
            let name = &self.real(index).name;
            before.redact(name) != self.redactor.redact(name)
        };
        self.is_renamed |=
            self.standing.keys().any(|(subscriber, source)| is_renamed(*subscriber) || is_renamed(*source));
    }

    /// Writes what is about to be owed, safe on the disk.
    fn remember(&mut self, ledger: &Ledger, new: &BTreeMap<Subscription, Debt>) -> std::io::Result<()> {
        let Some(file) = ledger.file() else { return Ok(()) };
        let mut file = file.borrow_mut();
        let lines: String = new.iter().map(|(refresh, debt)| owed(&self.pair(*refresh), debt)).collect();
        if !file.grows() || self.is_renamed {
            // What was read is as safe then as what is new: who wrote it may not have come to that.
            file.rewrite(&(self.content(ledger) + &lines))?;
            self.is_renamed = false;
            Ok(())
        } else if lines.is_empty() {
            Ok(())
        } else {
            file.grow(&lines, true)
        }
    }

    /// Writes what is owed no more. That it is lost repeats a refresh and does no other harm, so nobody waits
    /// for the disk; and if it can't be written, all is written once more at the end, which tells of it.
    fn note(&mut self, ledger: &Ledger, lines: &str) {
        let Some(file) = ledger.file() else { return };
        let mut file = file.borrow_mut();
        if file.grows() && !self.is_renamed {
            let _told_at_the_end = file.grow(lines, false);
        } else if file.rewrite(&self.content(ledger)).is_ok() {
            self.is_renamed = false;
        }
    }

    fn content(&self, ledger: &Ledger) -> String {
        let standing: Vec<(Pair, &Debt)> =
            self.standing.iter().map(|(refresh, standing)| (self.pair(*refresh), &standing.debt)).collect();
        let standing = standing.iter().map(|(pair, debt)| (pair, *debt));
        whole(&ledger.run().key, ledger.salt(), standing.chain(&self.of_others))
    }

    /// Enters what keeps further runs from doing what is owed; tells whether that is news.
    fn note_what_keeps(&mut self) -> bool {
        let mut has_news = false;
        for Standing { debt, cause, .. } in self.standing.values_mut() {
            let kept_by = match cause {
                Some(cause) if cause.kept_by().is_some() => cause.kept_by(),
                // Of what had no turn for another reason nothing new is known.
                None | Some(OwedCause::Skipped(_) | OwedCause::OtherManifest(_)) => continue,
                Some(_) => None,
            };
            has_news |= kept_by != debt.kept_by;
            debt.kept_by = kept_by;
        }
        has_news
    }

    /// Leaves in the ledger what is still owed.
    pub(crate) fn finish(mut self) -> Summary {
        let Some(ledger) = self.ledger else { return Summary::default() };
        self.notice_secrets();
        let has_news = self.note_what_keeps() || self.is_renamed;
        let written = match ledger.file() {
            None => Ok(()),
            Some(file) => {
                let mut file = file.borrow_mut();
                if has_news || !self.settled.is_empty() {
                    file.touch();
                }
                let is_owed = !self.standing.is_empty() || !self.of_others.is_empty();
                file.finish(&self.content(ledger), is_owed)
            }
        };
        let unwritten = written.err().map_or_else(Vec::new, |error| {
            let mut layers = error_layers(&error);
            layers.insert(0, not_written(ledger));
            layers
        });
        let still = |pair: Pair, debt: Debt, cause: Option<OwedCause>| {
            let refresh = refresh(&pair, &debt);
            let cause = cause.unwrap_or(OwedCause::OtherManifest(debt.manifest));
            StillOwed { subscriber: pair.subscriber.shown, refresh, cause }
        };
        let damage = ledger.damage().map(|damage| match ledger.file() {
            Some(_) => format!("{damage}; it is kept as {}", damage.kept_as),
            None => damage.to_string(),
        });
        let standing = std::mem::take(&mut self.standing).into_iter();
        let standing = standing.map(|(refresh, of)| still(self.pair(refresh), of.debt, of.cause));
        let mut owed: Vec<StillOwed> = standing.collect();
        owed.extend(self.of_others.into_iter().map(|(pair, debt)| still(pair, debt, None)));
        owed.sort_by(|one, other| {
            (&one.subscriber, &one.refresh.source).cmp(&(&other.subscriber, &other.refresh.source))
        });
        Summary { owed, settled: self.settled, damage, unwritten }
    }
}

/// What earlier runs have left, to be found by the names of resources, however these were shown then.
struct Earlier<'l> {
    debts: &'l Debts,
    salt: &'l str,
    /// Where a name is hidden: both of them, each by its hash if it has one.
    hidden: HashMap<(String, String), &'l Pair>,
}

impl<'l> Earlier<'l> {
    fn new(ledger: &'l Ledger) -> Self {
        let debts = ledger.earlier();
        let is_hidden = |pair: &&Pair| pair.subscriber.hash.is_some() || pair.source.hash.is_some();
        let by = |named: &Named| named.hash.clone().unwrap_or_else(|| hash(&named.shown, ledger.salt()));
        let hidden = debts.keys().filter(is_hidden);
        let hidden = hidden.map(|pair| ((by(&pair.subscriber), by(&pair.source)), pair)).collect();
        Self { debts, salt: ledger.salt(), hidden }
    }

    fn find(&self, subscriber: &ResourceId, source: &ResourceId) -> Option<(&'l Pair, &'l Debt)> {
        let plain = |id: &ResourceId| Named { shown: id.clone(), hash: None };
        let pair = Pair { subscriber: plain(subscriber), source: plain(source) };
        self.debts.get_key_value(&pair).or_else(|| {
            if self.hidden.is_empty() {
                return None;
            }
            let pair = self.hidden.get(&(hash(subscriber, self.salt), hash(source, self.salt)))?;
            self.debts.get_key_value(*pair)
        })
    }

    /// Finds what was written without a hash, which is owed by all that look like it.
    fn find_alike(&self, mut pair: Pair) -> Option<(&'l Pair, &'l Debt)> {
        if pair.subscriber.hash.take().is_none() & pair.source.hash.take().is_none() {
            return None;
        }
        self.debts.get_key_value(&pair)
    }
}

fn not_written(ledger: &Ledger) -> String {
    let path = ledger.file().map(|file| file.borrow().path()).unwrap_or_default();
    format!("the ledger {} can't be written", path.display())
}

fn refresh(pair: &Pair, debt: &Debt) -> OwedRefresh {
    OwedRefresh {
        source: pair.source.shown.clone(),
        run_id: debt.run_id.clone(),
        since: debt.since,
        is_assumed: debt.is_assumed,
    }
}

/// Why the turn of a subscriber has not paid what it owes; none if it has: it was refreshed, or its own rules
/// declined that.
fn still_owed(transaction: &Transaction, noop: Option<&OwedCause>) -> Option<OwedCause> {
    match &transaction.outcome {
        Outcome::Changed | Outcome::Refreshed => None,
        // Without a provider it did not come to its rules: a late value was missing.
        Outcome::Unchanged if transaction.provider.is_some() => None,
        Outcome::Unchanged => Some(OwedCause::NoValue),
        Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. } => noop.cloned(),
        Outcome::Skipped { cause } => Some(OwedCause::Skipped(cause.clone())),
        Outcome::Failed(_) => Some(OwedCause::Failed),
    }
}
