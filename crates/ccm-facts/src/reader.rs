//! Reading the files of the kernel and the system, and remembering what could not be read.

use std::io;
use std::path::Path;

use ccm_host::Machine;

use crate::Warning;

/// Enough for thousands of processors, mounts or routes; nothing that the kernel tells comes near it.
const LIMIT: u64 = 8 * 1024 * 1024;

/// Reads for one gathering.
pub(crate) struct Reader<'a> {
    pub(crate) machine: &'a dyn Machine,
    pub(crate) warnings: Vec<Warning>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(machine: &'a dyn Machine) -> Self {
        Self { machine, warnings: Vec::new() }
    }

    /// Reads a file that every machine has.
    pub(crate) fn text(&mut self, path: &str) -> Option<String> {
        match self.machine.read(Path::new(path), LIMIT) {
            Ok(bytes) => Some(lossy(&bytes)),
            Err(source) => {
                self.unreadable(path, source);
                None
            }
        }
    }

    /// Reads a file that many machines don't have or show to root only.
    pub(crate) fn optional(&mut self, path: &str) -> Option<String> {
        let result = self.machine.read(Path::new(path), LIMIT);
        self.unless_absent(path, result)
    }

    /// Reads the first bytes of such a file.
    pub(crate) fn start(&mut self, path: &str, length: u64) -> Option<String> {
        let result = self.machine.read_start(Path::new(path), length);
        self.unless_absent(path, result)
    }

    fn unless_absent(&mut self, path: &str, result: io::Result<Vec<u8>>) -> Option<String> {
        match result {
            Ok(bytes) => Some(lossy(&bytes)),
            Err(source) => {
                if !is_usual(path, source.kind()) {
                    self.unreadable(path, source);
                }
                None
            }
        }
    }

    /// Remembers that a file can't be read; once, even if several subtrees need it.
    fn unreadable(&mut self, path: &str, source: io::Error) {
        let same = |known: &Warning| match known {
            Warning::Unreadable { path: known, .. } => known == Path::new(path),
            _ => false,
        };
        if !self.warnings.iter().any(same) {
            self.warnings.push(Warning::Unreadable { path: path.into(), source });
        }
    }

    /// The first line of an optional file, trimmed. None if it is empty.
    pub(crate) fn line(&mut self, path: &str) -> Option<String> {
        let text = self.optional(path)?;
        text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.machine.exists(Path::new(path))
    }

    /// Remembers that a file has not what it should have.
    pub(crate) fn unexpected(&mut self, path: &str, expected: &'static str) {
        self.warnings.push(Warning::Unexpected { path: path.into(), expected });
    }
}

/// Tells whether that error says no more than that there is nothing to read.
fn is_usual(path: &str, kind: io::ErrorKind) -> bool {
    match kind {
        io::ErrorKind::FileTooLarge => false,
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => true,
        // The kernel shows some of its files to root only, or to nobody in a container.
        io::ErrorKind::PermissionDenied => path.starts_with("/proc/") || path.starts_with("/sys/"),
        // Below /sys it has many more words for "there is none".
        _ => path.starts_with("/sys/"),
    }
}

/// Facts are text. A byte that is none becomes a replacement character; a NUL, which no command and no file
/// name can hold, goes the same way.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

/// The name that the kernel wrote with `\040` and the like for blanks.
pub(crate) fn unescape(name: &str) -> String {
    lossy(&ccm_host::unescape(name.as_bytes()))
}
