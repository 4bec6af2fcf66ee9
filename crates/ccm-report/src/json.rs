//! The report for programs: an event, a line of JSON.

mod ids;
mod output;
mod properties;
mod words;

use std::time::{Duration, SystemTime};

use ccm_model::{Event, Outcome, RunSummary, SessionStarted, Transaction, display_timestamp};
use serde::Serialize;
use serde_json::Value;

use crate::idempotence::changed_again;

pub use ids::Ids;
pub use output::{JsonDocument, JsonLines};
use words::outcome_name;
pub(crate) use words::{read_stop_cause, stop_cause};

pub(crate) const START: &str = "io.choria.ccm.v1.session.start";
pub(crate) const TRANSACTION: &str = "io.choria.ccm.v1.transaction.event";
pub(crate) const SUMMARY: &str = "io.choria.ccm.v1.session.summary";

/// What is the same in every line of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdentity {
    /// The name of the run, unlike that of any other; later runs have greater ones.
    pub run_id: String,
    /// What is applied: the manifest's absolute path, or `standard input`.
    pub manifest: String,
    /// The version of ccm.
    pub version: &'static str,
}

/// Turns the events of a run into lines.
#[derive(Debug)]
pub struct Encoder {
    identity: RunIdentity,
    ids: Ids,
    began: SystemTime,
    verifies: Option<Verified>,
}

/// The run that another one verifies by changing nothing again, and what that one did change.
#[derive(Debug)]
struct Verified {
    run_id: String,
    changed_again: Vec<String>,
}

/// A line, and how it may be treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonLine {
    /// The JSON, with a line end.
    pub text: String,
    /// How much time it tells of.
    pub runtime: Duration,
    /// Whether it tells of more than of something that did not happen.
    pub urgent: bool,
}

impl Encoder {
    /// Begins a run, which is named by the first of its ids.
    pub fn new(mut ids: Ids, began: SystemTime, manifest: String, version: &'static str) -> Self {
        let identity = RunIdentity { run_id: ids.next(began), manifest, version };
        Self { identity, ids, began, verifies: None }
    }

    /// Begins another run of the same manifest, which verifies this one by changing nothing again.
    pub fn begin_verification(&mut self, began: SystemTime) {
        let run_id = std::mem::replace(&mut self.identity.run_id, self.ids.next(began));
        self.verifies = Some(Verified { run_id, changed_again: Vec::new() });
        self.began = began;
    }

    /// What is the same in every line.
    pub fn identity(&self) -> &RunIdentity {
        &self.identity
    }

    /// The line of an event; some have none.
    pub fn encode(&mut self, event: &Event) -> Option<JsonLine> {
        match event {
            Event::SessionStarted(session) => Some(self.start(session)),
            Event::ResourceFinished(transaction) => Some(self.transaction(transaction)),
            Event::SessionFinished(summary) => Some(self.summary(summary)),
            // Output can be long and secret; only people who watch get to see it.
            Event::ResourceStarted(_) | Event::OutputReceived(_) | Event::ArtifactsLeft(_) => None,
        }
    }

    fn start(&mut self, session: &SessionStarted) -> JsonLine {
        self.began = session.at;
        let line = StartLine {
            head: self.head(START, session.at, session.at),
            manifest: &self.identity.manifest,
            version: self.identity.version,
            noop: session.noop,
            resources: session.resources,
            message: session.message.as_deref(),
            verifies: self.verifies.as_ref().map(|verified| &*verified.run_id),
        };
        urgent(&line)
    }

    fn summary(&mut self, summary: &RunSummary) -> JsonLine {
        let at = self.began.checked_add(summary.duration).unwrap_or(self.began);
        let line = SummaryLine {
            head: self.head(SUMMARY, at, at),
            manifest: &self.identity.manifest,
            noop: summary.noop,
            duration: nanoseconds(summary.duration),
            counts: serde_json::to_value(summary.counts).unwrap_or_default(),
            stopped: summary.stopped.as_ref().map(stop_cause),
            message: summary.message.as_deref(),
            owed: summary.refreshes.owed.iter().map(words::still_owed).collect(),
            settled: summary.refreshes.settled.iter().map(words::settled).collect(),
            ledger_damage: summary.refreshes.damage.as_deref(),
            ledger_error: &summary.refreshes.unwritten,
            changed_again: self.verifies.as_ref().map(|verified| &*verified.changed_again),
        };
        urgent(&line)
    }

    fn transaction(&mut self, transaction: &Transaction) -> JsonLine {
        let Transaction { outcome, duration, .. } = transaction;
        let end = transaction.at.checked_add(*duration).unwrap_or(transaction.at);
        let words = words::Words::of(transaction);
        let line = TransactionLine {
            head: self.head(TRANSACTION, transaction.at, end),
            kind: &transaction.id.type_name,
            provider: transaction.provider,
            name: &transaction.id.name,
            alias: transaction.alias.as_deref(),
            requested_ensure: &transaction.requested_ensure,
            final_ensure: transaction.final_ensure.as_deref(),
            duration: nanoseconds(*duration),
            properties: properties::shown(&transaction.properties),
            status: transaction.state.as_ref(),
            noop_message: words.noop_message,
            error: words.error,
            changed: words.changed,
            refreshed: matches!(outcome, Outcome::Refreshed | Outcome::WouldRefresh { .. }),
            failed: matches!(outcome, Outcome::Failed(_)),
            skipped: matches!(outcome, Outcome::Skipped { .. }),
            noop: matches!(outcome, Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. }),
            unmet_requirements: words.unmet,
            outcome: outcome_name(outcome),
            reason: words.reason,
            triggered_by: transaction.triggered_by.iter().map(ToString::to_string).collect(),
            owed: transaction.owed.iter().map(words::owed).collect(),
            warnings: &transaction.warnings,
            notes: &transaction.notes,
            diff: transaction.diff.as_deref(),
        };
        if let Some(verified) = self.verifies.as_mut().filter(|_| changed_again(outcome)) {
            verified.changed_again.push(transaction.id.to_string());
        }
        let quiet = matches!(outcome, Outcome::Unchanged | Outcome::Skipped { .. });
        let urgent = !quiet || !transaction.warnings.is_empty();
        JsonLine { text: text(&line), runtime: *duration, urgent }
    }

    /// `at` is the moment that the line tells of, `written` about when that is.
    fn head(&mut self, protocol: &'static str, at: SystemTime, written: SystemTime) -> Head {
        Head {
            protocol,
            event_id: self.ids.next(written),
            timestamp: display_timestamp(at, 2),
            run_id: self.identity.run_id.clone(),
        }
    }
}

/// The fields that every line begins with.
#[derive(Serialize)]
struct Head {
    protocol: &'static str,
    event_id: String,
    timestamp: String,
    run_id: String,
}

#[derive(Serialize)]
struct StartLine<'a> {
    #[serde(flatten)]
    head: Head,
    manifest: &'a str,
    version: &'static str,
    noop: bool,
    resources: usize,
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verifies: Option<&'a str>,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    #[serde(flatten)]
    head: Head,
    manifest: &'a str,
    noop: bool,
    duration: u64,
    counts: Value,
    stopped: Option<Value>,
    message: Option<&'a str>,
    owed: Vec<Value>,
    settled: Vec<Value>,
    ledger_damage: Option<&'a str>,
    ledger_error: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    changed_again: Option<&'a [String]>,
}

#[derive(Serialize)]
struct TransactionLine<'a> {
    #[serde(flatten)]
    head: Head,
    #[serde(rename = "type")]
    kind: &'a str,
    provider: Option<&'static str>,
    name: &'a str,
    alias: Option<&'a str>,
    requested_ensure: &'a str,
    final_ensure: Option<&'a str>,
    duration: u64,
    properties: Value,
    status: Option<&'a Value>,
    noop_message: Option<&'a str>,
    error: &'a [String],
    changed: bool,
    refreshed: bool,
    failed: bool,
    skipped: bool,
    noop: bool,
    unmet_requirements: Vec<String>,
    outcome: &'static str,
    reason: Option<String>,
    triggered_by: Vec<String>,
    owed: Vec<Value>,
    warnings: &'a [String],
    notes: &'a [String],
    diff: Option<&'a str>,
}

fn urgent(line: &impl Serialize) -> JsonLine {
    JsonLine { text: text(line), runtime: Duration::ZERO, urgent: true }
}

fn text(line: &impl Serialize) -> String {
    // Keys are text and nothing here fails to serialise.
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
