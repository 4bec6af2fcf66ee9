//! Hints for files that can't be written.

use std::error::Error;
use std::io::{self, ErrorKind};

/// Returns what makes the file system of a path writable again; `None` if the file system is not the cause.
pub(crate) fn file_system_hint(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            Some("free space on the file system of this path")
        }
        ErrorKind::ReadOnlyFilesystem => Some("remount the file system of this path read-write"),
        _ => None,
    }
}

/// Returns the same for an error with a cause from the system.
pub(crate) fn file_system_hint_of(error: &dyn Error) -> Option<&'static str> {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.filter_map(|cause| cause.downcast_ref::<io::Error>()).find_map(file_system_hint)
}

/// Returns what lets ccm create or open a file that the user names.
pub(crate) fn named_file_hint(error: &io::Error) -> Option<&'static str> {
    file_system_hint(error).or(match error.kind() {
        ErrorKind::NotFound => Some("create the directory of the file first"),
        ErrorKind::PermissionDenied => {
            Some("run ccm as a user who can write this file, or name one in a directory of yours")
        }
        ErrorKind::IsADirectory => Some("name a file in this directory"),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_or_read_only_file_system_has_a_hint() {
        for (kind, of_system, of_named) in [
            (ErrorKind::StorageFull, Some("free space"), Some("free space")),
            (ErrorKind::QuotaExceeded, Some("free space"), Some("free space")),
            (ErrorKind::ReadOnlyFilesystem, Some("remount"), Some("remount")),
            (ErrorKind::NotFound, None, Some("create the directory")),
            (ErrorKind::BrokenPipe, None, None),
        ] {
            let error = io::Error::from(kind);
            for (hint, expected) in
                [(file_system_hint(&error), of_system), (named_file_hint(&error), of_named)]
            {
                assert_eq!(hint.is_some(), expected.is_some(), "{kind}");
                assert!(
                    hint.unwrap_or_default().starts_with(expected.unwrap_or_default()),
                    "{kind}: {hint:?}"
                );
            }
        }
    }
}
