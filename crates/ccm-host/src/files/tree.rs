//! Counting what is in a directory.

use std::fs::read_dir;
use std::path::Path;

use super::TreeSize;
use super::content::check_cancelled;
use crate::command::Cancellation;

/// Counts files and their bytes, without following links.
pub(super) fn size(path: &Path, max_entries: u64, cancellation: &Cancellation) -> TreeSize {
    let mut size = TreeSize::default();
    let mut entries = 0;
    let mut ahead = vec![path.to_owned()];
    while let Some(directory) = ahead.pop() {
        let Ok(found) = read_dir(directory) else {
            size.is_partial = true;
            continue;
        };
        for entry in found {
            if entries == max_entries || check_cancelled(cancellation).is_err() {
                return TreeSize { is_partial: true, ..size };
            }
            entries += 1;
            match entry.and_then(|entry| Ok((entry.metadata()?, entry))) {
                Ok((metadata, entry)) if metadata.is_dir() => ahead.push(entry.path()),
                Ok((metadata, _)) => {
                    size.files += 1;
                    size.bytes += if metadata.is_file() { metadata.len() } else { 0 };
                }
                Err(_) => size.is_partial = true,
            }
        }
    }
    size
}
