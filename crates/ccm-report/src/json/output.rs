//! Writers of lines of JSON.

use std::io::Write;

use super::{JsonLine, LineKind};
use crate::ReportError;
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
/// the first, a document in the field `verification`.
#[derive(Debug)]
pub struct JsonDocument<W> {
    out: W,
    run: SessionLines,
    verification: Option<SessionLines>,
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
        Self { out, run: SessionLines::default(), verification: None }
    }

    /// Adds a line.
    pub fn accept(&mut self, line: &JsonLine<'_>) {
        let text = line.text.trim_end().to_owned();
        if line.kind == LineKind::Start && self.run.summary.is_some() {
            self.verification = Some(SessionLines::default());
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

impl SessionLines {
    /// Returns the fields of the document. Lines contain no line end.
    fn fields(&self) -> String {
        let events = self.events.iter().map(|event| format!("\n    {event}")).collect::<Vec<_>>().join(",");
        let end = if events.is_empty() { "" } else { "\n  " };
        let line = |line: &Option<String>| line.clone().unwrap_or_else(|| "null".to_owned());
        let (start, summary) = (line(&self.start), line(&self.summary));
        format!("\n  \"start\": {start},\n  \"events\": [{events}{end}],\n  \"summary\": {summary}")
    }
}
