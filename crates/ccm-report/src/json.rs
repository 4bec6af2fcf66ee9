//! The report for programs: an event, a line of JSON.

mod ids;
mod object;
mod output;
mod properties;
mod words;

use std::time::{Duration, SystemTime};

use ccm_model::{Event, Outcome, RunSummary, SessionStarted, Transaction, timestamp};
use serde_json::Value;

use crate::idempotence::changed_again;

pub use ids::Ids;
use object::Object;
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
    /// The line that was made last.
    buffer: Vec<u8>,
}

/// The run that another one verifies by changing nothing again, and what that one did change.
#[derive(Debug)]
struct Verified {
    run_id: String,
    changed_again: Vec<String>,
}

/// A line, and how it may be treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonLine<'a> {
    /// The JSON, with a line end.
    pub text: &'a str,
    /// How much time it tells of.
    pub runtime: Duration,
    /// Whether it tells of more than of something that did not happen.
    pub urgent: bool,
}

impl Encoder {
    /// Begins a run, which is named by the first of its ids.
    pub fn new(mut ids: Ids, began: SystemTime, manifest: String, version: &'static str) -> Self {
        let identity = RunIdentity { run_id: ids.next(began), manifest, version };
        Self { identity, ids, began, verifies: None, buffer: Vec::new() }
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
    pub fn encode(&mut self, event: &Event) -> Option<JsonLine<'_>> {
        match event {
            Event::SessionStarted(session) => Some(self.start(session)),
            Event::ResourceFinished(transaction) => Some(self.transaction(transaction)),
            Event::SessionFinished(summary) => Some(self.summary(summary)),
            // Output can be long and secret; only people who watch get to see it.
            Event::ResourceStarted(_) | Event::OutputReceived(_) | Event::ArtifactsLeft(_) => None,
        }
    }

    fn start(&mut self, session: &SessionStarted) -> JsonLine<'_> {
        self.began = session.at;
        let id = self.ids.next(session.at);
        let mut line = head(&mut self.buffer, START, &id, session.at, &self.identity.run_id);
        line.field("manifest", &self.identity.manifest);
        line.field("version", self.identity.version);
        line.field("noop", &session.noop);
        line.field("resources", &session.resources);
        line.field("message", &session.message);
        if let Some(verified) = &self.verifies {
            line.field("verifies", &verified.run_id);
        }
        JsonLine { text: line.end(), runtime: Duration::ZERO, urgent: true }
    }

    fn summary(&mut self, summary: &RunSummary) -> JsonLine<'_> {
        let at = self.began.checked_add(summary.duration).unwrap_or(self.began);
        let refreshes = &summary.refreshes;
        let id = self.ids.next(at);
        let mut line = head(&mut self.buffer, SUMMARY, &id, at, &self.identity.run_id);
        line.field("manifest", &self.identity.manifest);
        line.field("noop", &summary.noop);
        line.field("duration", &nanoseconds(summary.duration));
        line.field("counts", &summary.counts);
        line.field("stopped", &summary.stopped.as_ref().map(stop_cause));
        line.field("message", &summary.message);
        line.field("owed", &refreshes.owed.iter().map(words::still_owed).collect::<Value>());
        line.field("settled", &refreshes.settled.iter().map(words::settled).collect::<Value>());
        line.field("ledger_damage", &refreshes.damage);
        line.field("ledger_error", &refreshes.unwritten);
        if let Some(verified) = &self.verifies {
            line.field("changed_again", &verified.changed_again);
        }
        JsonLine { text: line.end(), runtime: Duration::ZERO, urgent: true }
    }

    fn transaction(&mut self, transaction: &Transaction) -> JsonLine<'_> {
        let Transaction { outcome, duration, .. } = transaction;
        if let Some(verified) = self.verifies.as_mut().filter(|_| changed_again(outcome)) {
            verified.changed_again.push(transaction.id.to_string());
        }
        let words = words::Words::of(transaction);
        let end = transaction.at.checked_add(*duration).unwrap_or(transaction.at);
        let id = self.ids.next(end);
        let mut line = head(&mut self.buffer, TRANSACTION, &id, transaction.at, &self.identity.run_id);
        line.field("type", &*transaction.id.type_name);
        line.field("provider", &transaction.provider);
        line.field("name", &*transaction.id.name);
        line.field("alias", &transaction.alias);
        line.field("requested_ensure", &transaction.requested_ensure);
        line.field("final_ensure", &transaction.final_ensure);
        line.field("duration", &nanoseconds(*duration));
        line.field("properties", &properties::Shown(&transaction.properties));
        line.field("status", &transaction.state);
        line.field("noop_message", &words.noop_message);
        line.field("error", words.error);
        line.field("changed", &words.changed);
        line.field("refreshed", &matches!(outcome, Outcome::Refreshed | Outcome::WouldRefresh { .. }));
        line.field("failed", &matches!(outcome, Outcome::Failed(_)));
        line.field("skipped", &matches!(outcome, Outcome::Skipped { .. }));
        line.field("noop", &matches!(outcome, Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. }));
        line.field("unmet_requirements", &words.unmet);
        line.plain("outcome", outcome_name(outcome));
        line.field("reason", &words.reason);
        line.field(
            "triggered_by",
            &transaction.triggered_by.iter().map(ToString::to_string).collect::<Value>(),
        );
        line.field("owed", &transaction.owed.iter().map(words::owed).collect::<Value>());
        line.field("warnings", &transaction.warnings);
        line.field("notes", &transaction.notes);
        line.field("diff", &transaction.diff);
        let quiet = matches!(outcome, Outcome::Unchanged | Outcome::Skipped { .. });
        let urgent = !quiet || !transaction.warnings.is_empty();
        JsonLine { text: line.end(), runtime: *duration, urgent }
    }
}

/// Begins a line with the fields that every line begins with. `at` is the moment that it tells of.
fn head<'b>(
    buffer: &'b mut Vec<u8>,
    protocol: &'static str,
    event_id: &str,
    at: SystemTime,
    run_id: &str,
) -> Object<'b> {
    let mut line = Object::begin(buffer);
    line.plain("protocol", protocol);
    line.plain("event_id", event_id);
    line.plain("timestamp", timestamp(at, 2));
    line.plain("run_id", run_id);
    line
}

pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
