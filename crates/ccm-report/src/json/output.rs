//! Where lines of JSON go.

use std::io::Write;

use super::{JsonLine, LineKind};
use crate::ReportError;
use crate::batch::Batch;

/// Writes the lines as they come.
#[derive(Debug)]
pub struct JsonLines<W>(Batch<W>);

impl<W: Write> JsonLines<W> {
    /// Begins to write there.
    pub fn new(out: W) -> Self {
        Self(Batch::new(out))
    }

    /// Writes a line. The first error is kept for the end; after it nothing is written.
    pub fn accept(&mut self, line: &JsonLine<'_>) {
        self.0.push(line.text, line.runtime, line.urgent);
    }

    /// Writes out what waits for more lines.
    pub fn write_out(&mut self) {
        self.0.write_out();
    }

    /// Ends it, and returns where it went if all of it was written.
    pub fn finish(self) -> Result<W, ReportError> {
        self.0.finish().map_err(ReportError::Write)
    }

    /// Tells whether something could not be written.
    pub(crate) fn failed(&self) -> bool {
        self.0.failed()
    }
}

/// Collects the lines, and writes them at the end as one document: `start`, `events`, `summary`. A second run in it, which
/// verifies the first, is a document in itself: `verification`.
#[derive(Debug)]
pub struct JsonDocument<W> {
    out: W,
    run: Session,
    verification: Option<Session>,
}

/// The lines of a run.
#[derive(Debug, Default)]
struct Session {
    start: Option<String>,
    events: Vec<String>,
    summary: Option<String>,
}

impl<W: Write> JsonDocument<W> {
    /// Begins a document to be written there.
    pub fn new(out: W) -> Self {
        Self { out, run: Session::default(), verification: None }
    }

    /// Keeps a line.
    pub fn accept(&mut self, line: &JsonLine<'_>) {
        let text = line.text.trim_end().to_owned();
        if line.kind == LineKind::Start && self.run.summary.is_some() {
            self.verification = Some(Session::default());
        }
        let session = self.verification.as_mut().unwrap_or(&mut self.run);
        match line.kind {
            LineKind::Start => session.start = Some(text),
            LineKind::Transaction => session.events.push(text),
            LineKind::Summary => session.summary = Some(text),
        }
    }

    /// Writes the document.
    pub fn finish(mut self) -> Result<(), ReportError> {
        let verification = self.verification.map(|session| {
            let text = session.fields().replace('\n', "\n  ");
            format!(",\n  \"verification\": {{{text}\n  }}")
        });
        let text = format!("{{{}{}\n}}\n", self.run.fields(), verification.unwrap_or_default());
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        written.map_err(ReportError::Write)
    }
}

impl Session {
    /// The fields of its document; no line has a line end in it.
    fn fields(&self) -> String {
        let events = self.events.iter().map(|event| format!("\n    {event}")).collect::<Vec<_>>().join(",");
        let end = if events.is_empty() { "" } else { "\n  " };
        let line = |line: &Option<String>| line.clone().unwrap_or_else(|| "null".to_owned());
        let (start, summary) = (line(&self.start), line(&self.summary));
        format!("\n  \"start\": {start},\n  \"events\": [{events}{end}],\n  \"summary\": {summary}")
    }
}
