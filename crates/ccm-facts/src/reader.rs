//! Reads of system files, with warnings for the unreadable ones.

use std::io;
use std::path::Path;

use ccm_host::Machine;

use crate::Warning;

/// Maximum number of bytes per file, enough for thousands of processors, mounts or routes.
const MAX_FILE: u64 = 8 * 1024 * 1024;

pub(crate) struct FactReader<'a> {
    pub(crate) machine: &'a dyn Machine,
    pub(crate) warnings: Vec<Warning>,
}

impl<'a> FactReader<'a> {
    pub(crate) fn new(machine: &'a dyn Machine) -> Self {
        Self { machine, warnings: Vec::new() }
    }

    /// Reads a file that every machine has.
    pub(crate) fn text(&mut self, path: &str) -> Option<String> {
        match self.machine.read(Path::new(path), MAX_FILE) {
            Ok(bytes) => Some(lossy(&bytes)),
            Err(source) => {
                self.unreadable(path, source);
                None
            }
        }
    }

    /// Reads a file that may be missing or readable only by root.
    pub(crate) fn optional(&mut self, path: &str) -> Option<String> {
        let result = self.machine.read(Path::new(path), MAX_FILE);
        self.unless_absent(path, result)
    }

    pub(crate) fn start(&mut self, path: &str, length: u64) -> Option<String> {
        let result = self.machine.read_start(Path::new(path), length);
        self.unless_absent(path, result)
    }

    fn unless_absent(&mut self, path: &str, result: io::Result<Vec<u8>>) -> Option<String> {
        match result {
            Ok(bytes) => Some(lossy(&bytes)),
            Err(source) => {
                if !is_expected(path, source.kind()) {
                    self.unreadable(path, source);
                }
                None
            }
        }
    }

    /// Records an unreadable file once, even if several subtrees need it.
    fn unreadable(&mut self, path: &str, source: io::Error) {
        let same = |known: &Warning| match known {
            Warning::Unreadable { path: known, .. } => known == Path::new(path),
            _ => false,
        };
        if !self.warnings.iter().any(same) {
            self.warnings.push(Warning::Unreadable { path: path.into(), source });
        }
    }

    /// Returns the first line of an optional file, trimmed; `None` for an empty one.
    pub(crate) fn line(&mut self, path: &str) -> Option<String> {
        let text = self.optional(path)?;
        text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
    }

    pub(crate) fn exists(&self, path: &str) -> bool {
        self.machine.exists(Path::new(path))
    }

    /// Records a file without the expected content.
    pub(crate) fn unexpected(&mut self, path: &str, expected: &'static str) {
        self.warnings.push(Warning::Unexpected { path: path.into(), expected });
    }
}

/// Returns `true` for errors that only mean that there is nothing to read.
fn is_expected(path: &str, kind: io::ErrorKind) -> bool {
    match kind {
        io::ErrorKind::FileTooLarge => false,
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => true,
        // The kernel restricts some of its files to root, or hides them from containers.
        io::ErrorKind::PermissionDenied => path.starts_with("/proc/") || path.starts_with("/sys/"),
        // Drivers below /sys return many errors for a missing value.
        _ => path.starts_with("/sys/"),
    }
}

/// Converts bytes to text. Invalid UTF-8 is replaced, and so is NUL, which no command and no file name can
/// hold.
fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")
}

/// Resolves the kernel's escapes in a name, such as `\040` for a blank.
pub(crate) fn unescape(name: &str) -> String {
    lossy(&ccm_host::unescape(name.as_bytes()))
}
