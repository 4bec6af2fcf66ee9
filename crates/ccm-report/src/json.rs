//! The report for programs: an event, a line of JSON.

mod ids;
mod line_writer;
mod output;
mod properties;

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use ccm_model::{
    Event, FailureLine, Outcome, OutcomeName, OwedCause, PendingRefreshLine, ResourceId, RunSummary,
    SessionStarted, SettledRefresh, SettledRefreshLine, SkipCause, StartLine, StartProtocol, StillOwed,
    StopCause, StopLine, SummaryLine, SummaryProtocol, Transaction, TransactionLine, TransactionProtocol,
};
use serde::Serialize;

use crate::idempotence::changed_again;
use crate::text::{owed_cause, settled_cause, stopped, undone};

pub use ids::Ids;
use line_writer::LineWriter;
pub use output::{JsonDocument, JsonLines};

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
    changed_again: Vec<ResourceId>,
}

/// Kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Start,
    Transaction,
    Summary,
}

/// A line, and how it may be treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonLine<'a> {
    /// Its kind.
    pub(crate) kind: LineKind,
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
        let line = StartLine {
            protocol: StartProtocol::V1,
            event_id: self.ids.next(session.at).into(),
            timestamp: session.at,
            run_id: self.identity.run_id.as_str().into(),
            manifest: self.identity.manifest.as_str().into(),
            version: self.identity.version.into(),
            noop: session.noop,
            resources: session.resources,
            message: session.message.as_deref().map(Cow::from),
            verifies: self.verifies.as_ref().map(|verified| verified.run_id.as_str().into()),
        };
        let text = write(&mut self.buffer, &line);
        JsonLine { kind: LineKind::Start, text, runtime: Duration::ZERO, urgent: true }
    }

    fn summary(&mut self, summary: &RunSummary) -> JsonLine<'_> {
        let at = self.began.checked_add(summary.duration).unwrap_or(self.began);
        let refreshes = &summary.refreshes;
        let line = SummaryLine {
            protocol: SummaryProtocol::V1,
            event_id: self.ids.next(at).into(),
            timestamp: at,
            run_id: self.identity.run_id.as_str().into(),
            manifest: self.identity.manifest.as_str().into(),
            noop: summary.noop,
            duration: summary.duration,
            counts: summary.counts,
            stopped: summary.stopped.as_ref().map(stop_line),
            message: summary.message.as_deref().map(Cow::from),
            owed: refreshes.owed.iter().map(pending).collect(),
            settled: refreshes.settled.iter().map(settled).collect(),
            ledger_damage: refreshes.damage.as_deref().map(Cow::from),
            ledger_error: refreshes.unwritten.as_slice().into(),
            changed_again: self.verifies.as_ref().map(|verified| verified.changed_again.as_slice().into()),
        };
        let text = write(&mut self.buffer, &line);
        JsonLine { kind: LineKind::Summary, text, runtime: Duration::ZERO, urgent: true }
    }

    fn transaction(&mut self, transaction: &Transaction) -> JsonLine<'_> {
        let Transaction { outcome, duration, .. } = transaction;
        if let Some(verified) = self.verifies.as_mut().filter(|_| changed_again(outcome)) {
            verified.changed_again.push(transaction.id.clone());
        }
        let (failure, skip) = match outcome {
            Outcome::Failed(failure) => (Some(&**failure), None),
            Outcome::Skipped { cause } => (None, Some(cause)),
            _ => (None, None),
        };
        let end = transaction.at.checked_add(*duration).unwrap_or(transaction.at);
        let line = TransactionLine {
            protocol: TransactionProtocol::V1,
            event_id: self.ids.next(end).into(),
            timestamp: transaction.at,
            run_id: self.identity.run_id.as_str().into(),
            type_name: Cow::from(&*transaction.id.type_name),
            provider: transaction.provider.as_deref().map(Cow::from),
            name: Cow::from(&*transaction.id.name),
            alias: transaction.alias.as_deref().map(Cow::from),
            requested_ensure: transaction.requested_ensure.as_str().into(),
            final_ensure: transaction.final_ensure.as_deref().map(Cow::from),
            duration: *duration,
            properties: properties::Presented(&transaction.properties, &transaction.presentation),
            status: transaction.state.as_ref().map(Cow::Borrowed),
            noop_message: match outcome {
                Outcome::WouldChange { message } | Outcome::WouldRefresh { message } => {
                    Some(message.as_str().into())
                }
                _ => None,
            },
            error: failure.map_or(&[][..], |failure| &failure.chain).into(),
            changed: failure.map_or(outcome.is_change(), |failure| failure.changed),
            refreshed: matches!(outcome, Outcome::Refreshed | Outcome::WouldRefresh { .. }),
            failed: failure.is_some(),
            skipped: skip.is_some(),
            noop: matches!(outcome, Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. }),
            unmet_requirements: match skip {
                Some(SkipCause::Unmet { culprits: ids } | SkipCause::Undone { noop: ids }) => ids,
                _ => &[][..],
            }
            .into(),
            outcome: OutcomeName::from(outcome),
            reason: transaction.reason_text().map(Cow::from).or_else(|| skip.and_then(skip_reason)),
            triggered_by: transaction.triggered_by.as_slice().into(),
            owed: transaction.owed.as_slice().into(),
            warnings: transaction.warnings.as_slice().into(),
            notes: transaction.notes.as_slice().into(),
            diff: transaction.diff.as_deref().map(Cow::from),
            hints: failure.map_or(&[][..], |failure| &failure.hints).into(),
            location: failure.and_then(|failure| failure.location.as_deref()).map(Cow::Borrowed),
            failure: failure.map(|failure| FailureLine {
                kind: failure.kind,
                property: failure.property.as_deref().map(Cow::from),
                changed: failure.changed,
                intent: failure.intent.as_deref().map(Cow::Borrowed),
            }),
            rule: transaction.reason.as_ref().map(|reason| Cow::from(&*reason.rule)),
            skip: skip.map(Cow::Borrowed),
        };
        let quiet = matches!(outcome, Outcome::Unchanged | Outcome::Skipped { .. });
        let urgent = !quiet || !transaction.warnings.is_empty();
        let text = write(&mut self.buffer, &line);
        JsonLine { kind: LineKind::Transaction, text, runtime: *duration, urgent }
    }
}

/// Replaces the content of a buffer by a line.
fn write<'b>(buffer: &'b mut Vec<u8>, line: &impl Serialize) -> &'b str {
    let written = line.serialize(LineWriter(buffer));
    // Keys are text and the buffer takes everything.
    debug_assert!(written.is_ok(), "{written:?}");
    buffer.push(b'\n');
    // JSON is text.
    str::from_utf8(buffer).unwrap_or_default()
}

/// Returns the text for a skipped resource for which no rule has one.
fn skip_reason(cause: &SkipCause) -> Option<Cow<'static, str>> {
    let names = |ids: &[ResourceId]| ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Some(match cause {
        SkipCause::Unmet { culprits } => format!("{} failed", names(culprits)).into(),
        SkipCause::Undone { noop } => undone(&names(noop), noop.len()).into(),
        SkipCause::NotManaged { reason } => format!("not managed: {reason}").into(),
        SkipCause::NotSelected => "not selected".into(),
        SkipCause::ManifestEnded { culprit } => format!("its manifest ended because {culprit} failed").into(),
        SkipCause::Stopped { by } => stopped(by).into(),
        SkipCause::Unknown => return None,
    })
}

fn pending(pending: &StillOwed) -> PendingRefreshLine<'_> {
    let message = match &pending.cause {
        OwedCause::Noop { kept_by: None } => "it is in noop".into(),
        cause => owed_cause(cause).into(),
    };
    PendingRefreshLine { pending: Cow::Borrowed(pending), message }
}

fn settled(settled: &SettledRefresh) -> SettledRefreshLine<'_> {
    SettledRefreshLine { settled: Cow::Borrowed(settled), message: settled_cause(settled).into() }
}

/// Returns the cause for which a run ended early, with its text.
pub(crate) fn stop_line(cause: &StopCause) -> StopLine {
    StopLine { cause: cause.clone(), message: stopped(cause) }
}

#[cfg(test)]
mod tests;
