//! Groups of hosts whose changes are the same.

use ccm_model::{Failure, Outcome, Transaction, sha256};
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::transcript::ResourceOutput;

/// Changes and failures of a run.
#[derive(Clone, Debug, Default)]
pub struct HostChanges {
    /// Changed, failed and depending resources, in their order; those of the first host.
    pub transactions: Vec<Transaction>,
    /// Output of commands, if it is wanted.
    pub outputs: Vec<ResourceOutput>,
    /// The run ended before its last resource.
    pub ended_early: bool,
}

/// Changes and failures that several hosts share.
#[derive(Clone, Debug, Default)]
pub struct ChangeSet {
    /// The changes.
    pub changes: HostChanges,
    /// Positions of the hosts, in their order.
    pub hosts: Vec<usize>,
}

/// All sets of changes. Each is kept once, however many hosts it has.
#[derive(Debug, Default)]
pub struct ChangeSets(IndexMap<String, ChangeSet>);

impl ChangeSets {
    /// Adds the changes of a host, and returns the number of their set.
    pub fn add(&mut self, host: usize, changes: HostChanges) -> usize {
        let entry = self.0.entry(digest(&changes));
        let number = entry.index();
        let set = entry.or_insert_with(|| ChangeSet { changes, hosts: Vec::new() });
        // Hosts end in any order.
        set.hosts.insert(set.hosts.partition_point(|before| *before < host), host);
        number
    }

    /// Returns all sets by their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &ChangeSet> {
        self.0.values()
    }

    /// Returns all sets, that with the most hosts first.
    pub fn by_size(&self) -> Vec<&ChangeSet> {
        let mut sets: Vec<_> = self.0.values().collect();
        sets.sort_by_key(|set| (std::cmp::Reverse(set.hosts.len()), set.hosts.first().copied()));
        sets
    }
}

/// Returns a digest of what is the same on two hosts: no times, no durations, no paths of backups.
fn digest(changes: &HostChanges) -> String {
    let outputs = changes.outputs.iter().map(|output| json!([output.lines, output.bytes_before]));
    let transactions = changes.transactions.iter().map(change);
    let parts = transactions.chain(outputs).chain([json!(changes.ended_early)]);
    sha256(parts.collect::<Value>().to_string().as_bytes())
}

fn change(transaction: &Transaction) -> Value {
    let outcome = match &transaction.outcome {
        Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => json!(message),
        Outcome::Skipped { cause } => json!(cause.to_string()),
        Outcome::Failed(failure) => failed(failure),
        Outcome::Unchanged | Outcome::Changed | Outcome::Refreshed => Value::Null,
    };
    json!([
        transaction.id,
        transaction.outcome.word(),
        outcome,
        transaction.action,
        transaction.diff,
        transaction.final_ensure,
        transaction.warnings,
    ])
}

fn failed(failure: &Failure) -> Value {
    // The code of a request for an approval differs between hosts.
    let chain =
        if failure.intent.is_some() { &failure.chain[..failure.chain.len().min(1)] } else { &failure.chain };
    json!([failure.kind, chain, failure.location, failure.output, failure.intent.is_some()])
}

#[cfg(test)]
mod tests;
