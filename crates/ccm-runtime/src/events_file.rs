//! File of events, one line of JSON each.

use std::io;
use std::path::{Path, PathBuf};

use ccm_host::state::AppendFile;
use ccm_report::{JsonLine, JsonLines, ReportError};

/// File that the lines of events are appended to.
#[derive(Debug)]
pub struct EventsFile {
    path: PathBuf,
    lines: JsonLines<AppendFile>,
}

impl EventsFile {
    /// Opens the file, which is created if it does not exist.
    pub fn open(path: &Path) -> io::Result<Self> {
        let lines = JsonLines::new(AppendFile::open(path)?);
        Ok(Self { path: path.to_owned(), lines })
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

    /// Writes the rest and syncs the file.
    pub fn finish(self) -> Result<(), ReportError> {
        self.lines.finish()?.sync().map_err(ReportError::Write)
    }
}
