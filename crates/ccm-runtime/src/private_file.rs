//! Files that may hold what only their owner may see.

use std::io::{self, Write as _};
use std::path::Path;

use ccm_host::state::AppendFile;
use ccm_host::{
    Cancellation, FileAttributes, FileError, Files as _, NewContent, NewFile, SystemFiles, absolute,
};

/// Writes a file for its owner alone. A new file takes the place of an existing one, which has to belong to root or to this
/// user, and which nobody else may read or write; a link is an error. A pipe or a device is written as it is.
pub fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    match AppendFile::existing(path)? {
        Some(mut file) if !file.is_regular()? => return file.write_all(content),
        _ => {}
    }
    let attributes = FileAttributes { mode: Some(0o600), ..FileAttributes::default() };
    let new = NewFile { content: NewContent::Bytes(content), attributes };
    let written = SystemFiles::new(Cancellation::never()).write(&absolute(path)?, &new);
    written.map(drop).map_err(|error| match error {
        FileError::ParentMissing(_) => io::ErrorKind::NotFound.into(),
        FileError::Step { source, .. } => source,
        error => io::Error::other(error),
    })
}
