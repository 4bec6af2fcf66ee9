//! Writers of lines of JSON.

use std::io::Write;
use std::time::Duration;

use ccm_model::{Event, OutputLine, escape_json};

use super::{JsonLine, LineKind};
use crate::ReportError;
use crate::manifests::ManifestResult;
use crate::output_buffer::OutputBuffer;

/// Writer of lines as they come.
#[derive(Debug)]
pub struct JsonLines<W>(OutputBuffer<W>);

impl<W: Write> JsonLines<W> {
    /// Builds a writer of lines.
    pub fn new(out: W) -> Self {
        Self(OutputBuffer::new(out))
    }

    /// Writes a line. The first error is returned at the end. After an error nothing is written.
    pub fn accept(&mut self, line: &JsonLine<'_>) {
        self.0.push(line.text, line.runtime, line.urgent);
    }

    /// Writes a line of output of a command, which no record has.
    pub fn accept_output(&mut self, output: &OutputLine) {
        let line = serde_json::to_string(&Event::OutputReceived(output.clone()));
        if let Ok(line) = line {
            self.0.push(&format!("{}\n", escape_json(&line)), Duration::ZERO, false);
        }
    }

    /// Writes the buffered lines.
    pub fn write_out(&mut self) {
        self.0.write_out();
    }

    /// Writes the buffered lines. Returns the underlying writer if all lines were written.
    pub fn finish(self) -> Result<W, ReportError> {
        self.0.finish().map_err(ReportError::Write)
    }

    pub(crate) fn failed(&self) -> bool {
        self.0.failed()
    }
}

/// Writer of one document with all lines: `start`, `events`, `summary`, and for a second run, which verifies
/// the first, a document in the field `verification`. The runs of several manifests are a list of such documents in
/// the field `runs`.
#[derive(Debug)]
pub struct JsonDocument<W> {
    out: W,
    is_list: bool,
    /// Runs, each with the run that verifies it.
    runs: Vec<(SessionLines, Option<SessionLines>)>,
    /// The next run verifies the previous one.
    verifies: bool,
    not_run: Vec<String>,
}

#[derive(Debug, Default)]
struct SessionLines {
    start: Option<String>,
    events: Vec<String>,
    summary: Option<String>,
}

impl<W: Write> JsonDocument<W> {
    /// Builds a writer of a document.
    pub fn new(out: W) -> Self {
        Self { out, is_list: false, runs: Vec::new(), verifies: false, not_run: Vec::new() }
    }

    /// Builds a writer of the document of several manifests.
    pub fn of_several(out: W) -> Self {
        Self { is_list: true, ..Self::new(out) }
    }

    /// Announces a run that verifies the previous one.
    pub fn begin_verification(&mut self) {
        self.verifies = true;
    }

    /// Adds the manifests that were not run.
    pub fn end_manifests(&mut self, results: &[ManifestResult]) {
        let not_run = results.iter().filter(|result| result.outcome.is_none());
        self.not_run = not_run.map(|result| result.manifest.clone()).collect();
    }

    /// Adds a line.
    pub fn accept(&mut self, line: &JsonLine<'_>) {
        let text = line.text.trim_end().to_owned();
        if line.kind == LineKind::Start || self.runs.is_empty() {
            match self.runs.last_mut().filter(|_| std::mem::take(&mut self.verifies)) {
                Some((_, verification)) => *verification = Some(SessionLines::default()),
                None => self.runs.push((SessionLines::default(), None)),
            }
        }
        let Some((run, verification)) = self.runs.last_mut() else { return };
        let session = verification.as_mut().unwrap_or(run);
        match line.kind {
            LineKind::Start => session.start = Some(text),
            LineKind::Transaction => session.events.push(text),
            LineKind::Summary => session.summary = Some(text),
        }
    }

    /// Writes the document.
    pub fn finish(mut self) -> Result<(), ReportError> {
        let text = if self.is_list {
            let indented = |(run, verification): &(SessionLines, Option<SessionLines>)| {
                format!("\n    {}", run.document(verification.as_ref()).replace('\n', "\n    "))
            };
            let runs: Vec<String> = self.runs.iter().map(indented).collect();
            let end = if runs.is_empty() { "" } else { "\n  " };
            let not_run = escape_json(&serde_json::json!(self.not_run).to_string()).into_owned();
            format!("{{\n  \"runs\": [{}{end}],\n  \"not_run\": {not_run}\n}}\n", runs.join(","))
        } else {
            let (run, verification) = self.runs.pop().unwrap_or_default();
            format!("{}\n", run.document(verification.as_ref()))
        };
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        written.map_err(ReportError::Write)
    }
}

impl SessionLines {
    /// Returns the document of the run, with that of the run that verifies it.
    fn document(&self, verification: Option<&Self>) -> String {
        let verification = verification.map(|session| {
            let text = session.fields().replace('\n', "\n  ");
            format!(",\n  \"verification\": {{{text}\n  }}")
        });
        format!("{{{}{}\n}}", self.fields(), verification.unwrap_or_default())
    }

    /// Returns the fields of the document. Lines contain no line end.
    fn fields(&self) -> String {
        let events = self.events.iter().map(|event| format!("\n    {event}")).collect::<Vec<_>>().join(",");
        let end = if events.is_empty() { "" } else { "\n  " };
        let line = |line: &Option<String>| line.clone().unwrap_or_else(|| "null".to_owned());
        let (start, summary) = (line(&self.start), line(&self.summary));
        format!("\n  \"start\": {start},\n  \"events\": [{events}{end}],\n  \"summary\": {summary}")
    }
}
