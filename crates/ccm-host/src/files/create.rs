//! Creating a file that must not exist.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

/// Creates a file with this content. An existing file or link is an error of kind [`io::ErrorKind::AlreadyExists`],
/// and stays as it is. A file that can't be written completely is removed.
pub fn create_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    if written.is_err() {
        // The error to report is that of the write.
        let _ = std::fs::remove_file(path);
    }
    written
}
