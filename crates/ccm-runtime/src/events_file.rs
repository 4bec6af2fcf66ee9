//! File of events, one line of JSON each.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use ccm_host::NonBlockingWriter;
use ccm_host::state::AppendFile;
use ccm_report::{JsonLine, JsonLines, ReportError};

/// File that the lines of events are appended to.
#[derive(Debug)]
pub struct EventsFile {
    path: PathBuf,
    lines: JsonLines<EventsWriter>,
    /// Writer of a pipe or a device.
    non_blocking: Option<NonBlockingWriter>,
}

/// Writer of the lines. The reader of a pipe may stop, and the run must not stop with it.
#[derive(Debug)]
enum EventsWriter {
    Regular(AppendFile),
    NonBlocking(NonBlockingWriter),
}

impl EventsFile {
    /// Opens the file, which is created if it does not exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = AppendFile::open(path)?;
        let (writer, non_blocking) = if file.is_regular()? {
            (EventsWriter::Regular(file), None)
        } else {
            let writer = NonBlockingWriter::to_file(file);
            (EventsWriter::NonBlocking(writer.clone()), Some(writer))
        };
        Ok(Self { path: path.to_owned(), lines: JsonLines::new(writer), non_blocking })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a line. [`Self::finish`] returns the first error.
    pub fn accept(&mut self, line: &JsonLine<'_>) {
        self.lines.accept(line);
    }

    /// Writes the collected lines.
    pub fn write_out(&mut self) {
        self.lines.write_out();
    }

    /// Waits until the reader of a pipe has read the lines that were written.
    pub async fn drained(&self) {
        if let Some(writer) = &self.non_blocking {
            writer.drained().await;
        }
    }

    /// Writes the rest and syncs the file. Lines that the reader of a pipe has not read are an error.
    pub fn finish(self) -> Result<(), ReportError> {
        let ended = match self.lines.finish()? {
            EventsWriter::Regular(file) => file.sync(),
            EventsWriter::NonBlocking(writer) => writer.result(),
        };
        ended.map_err(ReportError::Write)
    }
}

impl Write for EventsWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Regular(file) => file.write(bytes),
            Self::NonBlocking(writer) => writer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
