//! Reading a text that ccm itself was given.

use std::io::{self, Read as _};
use std::path::Path;

/// Reads at most `limit` bytes of a file, or of standard input if there is no path.
///
/// A longer text is an error of kind [`io::ErrorKind::FileTooLarge`], found without reading the rest.
pub fn read_at_most(path: Option<&Path>, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read =
        |from: &mut dyn io::Read, bytes: &mut Vec<u8>| from.take(limit.saturating_add(1)).read_to_end(bytes);
    match path {
        Some(path) => {
            let mut file = std::fs::File::open(path)?;
            let metadata = file.metadata()?;
            if metadata.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            // One more, so that the end shows without another buffer.
            let expected = usize::try_from(metadata.len().min(limit)).unwrap_or_default();
            bytes.reserve_exact(expected.saturating_add(1));
            read(&mut file, &mut bytes)?;
        }
        None => {
            read(&mut io::stdin().lock(), &mut bytes)?;
        }
    }
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}
