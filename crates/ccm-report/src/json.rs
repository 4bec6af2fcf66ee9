//! The report for programs: a line of JSON for each event.

mod ids;
mod line_writer;
mod output;

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use ccm_model::{
    Event, Outcome, ResourceId, RunSummary, SessionStarted, SourceVersion, StartLine, StartedBy, SummaryLine,
    Transaction, TransactionLine, escape_json,
};
use serde::Serialize;

use crate::idempotence::changed_again;

pub use ids::Ids;
use line_writer::LineWriter;
pub use output::{JsonDocument, JsonLines};

/// Fields that are the same in every line of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdentity {
    /// Name of the run, a unique id. Later runs have greater ones.
    pub run_id: String,
    /// Absolute path of the manifest, or `standard input`.
    pub manifest: String,
    /// Version of ccm.
    pub version: &'static str,
}

/// Encoder of the events of a run as lines.
#[derive(Debug)]
pub struct LineEncoder {
    identity: RunIdentity,
    ids: Ids,
    began: SystemTime,
    verifies: Option<VerifiedRun>,
    started_by: Option<StartedBy>,
    source: Option<SourceVersion>,
    /// Id of the last line of a resource.
    last_id: String,
    buffer: Vec<u8>,
}

/// Run that a second one verifies, and the resources that the second one changed again.
#[derive(Debug)]
struct VerifiedRun {
    run_id: String,
    changed_again: Vec<ResourceId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKind {
    Start,
    Transaction,
    Summary,
}

/// A line, with its metadata for a writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonLine<'a> {
    pub(crate) kind: LineKind,
    /// The JSON, with a line end.
    pub text: &'a str,
    /// Duration of the resource.
    pub runtime: Duration,
    /// `true` if the line must be written at once. Lines about unchanged and skipped resources may wait.
    pub urgent: bool,
}

impl LineEncoder {
    /// Builds the encoder of a run. The first id names the run.
    pub fn new(mut ids: Ids, began: SystemTime, manifest: String, version: &'static str) -> Self {
        let identity = RunIdentity { run_id: ids.next(began), manifest, version };
        Self {
            identity,
            ids,
            began,
            verifies: None,
            started_by: None,
            source: None,
            last_id: String::new(),
            buffer: Vec::new(),
        }
    }

    /// Adds the origin of the run to its first line.
    #[must_use]
    pub fn started_by(self, started_by: StartedBy) -> Self {
        Self { started_by: Some(started_by), ..self }
    }

    /// Adds the version of the source that the manifest comes from to the first line.
    #[must_use]
    pub fn of_source(self, source: Option<SourceVersion>) -> Self {
        Self { source, ..self }
    }

    /// Begins a second run of the same manifest, which verifies the first one.
    pub fn begin_verification(&mut self, began: SystemTime) {
        let run_id = std::mem::replace(&mut self.identity.run_id, self.ids.next(began));
        self.verifies = Some(VerifiedRun { run_id, changed_again: Vec::new() });
        self.began = began;
    }

    /// Returns the fields that are the same in every line.
    pub fn identity(&self) -> &RunIdentity {
        &self.identity
    }

    /// Returns the line of an event, if it has one.
    pub fn encode(&mut self, event: &Event) -> Option<JsonLine<'_>> {
        match event {
            Event::SessionStarted(session) => Some(self.start(session)),
            Event::ResourceFinished(transaction) => Some(self.transaction(transaction)),
            Event::SessionFinished(summary) => Some(self.summary(summary)),
            // Output can be long and secret, so only the live report shows it.
            Event::ResourceStarted(_) | Event::OutputReceived(_) | Event::ArtifactsLeft(_) => None,
        }
    }

    fn start(&mut self, session: &SessionStarted) -> JsonLine<'_> {
        self.began = session.at;
        let line = StartLine {
            event_id: self.ids.next(session.at).into(),
            run_id: self.identity.run_id.as_str().into(),
            manifest: self.identity.manifest.as_str().into(),
            version: self.identity.version.into(),
            started_by: self.started_by.as_ref().map(Cow::Borrowed),
            source: self.source.as_ref().map(Cow::Borrowed),
            verifies: self.verifies.as_ref().map(|verified| verified.run_id.as_str().into()),
            ..StartLine::from(session)
        };
        let text = write(&mut self.buffer, &line);
        JsonLine { kind: LineKind::Start, text, runtime: Duration::ZERO, urgent: true }
    }

    fn summary(&mut self, summary: &RunSummary) -> JsonLine<'_> {
        let at = self.began.checked_add(summary.duration).unwrap_or(self.began);
        let line = SummaryLine {
            event_id: self.ids.next(at).into(),
            timestamp: Some(at),
            run_id: self.identity.run_id.as_str().into(),
            manifest: self.identity.manifest.as_str().into(),
            changed_again: self.verifies.as_ref().map(|verified| verified.changed_again.as_slice().into()),
            ..SummaryLine::from(summary)
        };
        let text = write(&mut self.buffer, &line);
        JsonLine { kind: LineKind::Summary, text, runtime: Duration::ZERO, urgent: true }
    }

    /// Returns the line of a resource.
    pub fn transaction(&mut self, transaction: &Transaction) -> JsonLine<'_> {
        let Transaction { outcome, at, duration, .. } = transaction;
        if let Some(verified) = self.verifies.as_mut().filter(|_| changed_again(outcome)) {
            verified.changed_again.push(transaction.id.clone());
        }
        self.last_id = self.ids.next(at.checked_add(*duration).unwrap_or(*at));
        self.transaction_again(transaction)
    }

    /// Returns the line of the last resource again, in another form.
    pub fn transaction_again(&mut self, transaction: &Transaction) -> JsonLine<'_> {
        let Transaction { outcome, duration, .. } = transaction;
        let line = TransactionLine {
            event_id: self.last_id.as_str().into(),
            run_id: self.identity.run_id.as_str().into(),
            ..TransactionLine::from(transaction)
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
    // Writing to a buffer can't fail, and all keys are text.
    debug_assert!(written.is_ok(), "{written:?}");
    buffer.push(b'\n');
    // JSON is text.
    if let Cow::Owned(escaped) = escape_json(str::from_utf8(buffer).unwrap_or_default()) {
        *buffer = escaped.into_bytes();
    }
    str::from_utf8(buffer).unwrap_or_default()
}

#[cfg(test)]
mod tests;
