//! Entries of archives, and what makes one of them unacceptable.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum number of parts of a name.
const MAX_DEPTH: usize = 100;

/// Maximum length of a name or of the text of a link, as in the kernel.
pub(super) const MAX_PATH: usize = 4096;

const SET_ID: u32 = 0o6000;

/// Permissions that remain: nobody but the owner may write.
const PERMITTED: u32 = 0o755;

/// Reason why an entry of an archive is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// The name is empty.
    #[error("its name is empty")]
    Empty,
    /// The name is an absolute path.
    #[error("its name is absolute")]
    Absolute,
    /// The name contains `..`.
    #[error("its name contains `..`")]
    Parent,
    /// The name or the text of a link is not UTF-8.
    #[error("its name is not valid UTF-8")]
    NotUtf8,
    /// The name contains a NUL character, or a backslash in a zip file.
    #[error("its name contains a character that is not allowed")]
    Character,
    /// The name is too long or has too many parts.
    #[error("its name is too long or too deep")]
    TooLong,
    /// The entry is a device.
    #[error("it is a device")]
    Device,
    /// The entry is a pipe or a socket.
    #[error("it is a pipe or a socket")]
    Pipe,
    /// The entry is of a kind that is not supported.
    #[error("it is of a kind that is not supported")]
    Kind,
    /// The entry is a file with holes.
    #[error("it is a sparse file")]
    Sparse,
    /// The entry is the rest of a file that begins in another archive.
    #[error("it continues a file of another volume")]
    Continued,
    /// The entry has a set-user-ID or set-group-ID bit.
    #[error("it has a set-user-ID or set-group-ID bit")]
    SetId,
    /// The link leads to an absolute path.
    #[error("it is a link to an absolute path")]
    AbsoluteLink,
    /// The link leads out of the directory, or could.
    #[error("it is a link that could lead out of the directory")]
    LinkOut,
    /// The hard link is not to an earlier file of the archive.
    #[error("it is a hard link to something that is not an earlier file of the archive")]
    HardLink,
    /// The archive has the name twice, or twice on a file system that ignores case.
    #[error("the archive has this name twice")]
    Duplicate,
    /// The entry is below a file or link of the archive.
    #[error("it is below something that is not a directory")]
    BelowFile,
    /// The entry is encrypted.
    #[error("it is encrypted")]
    Encrypted,
    /// The entry is compressed with a method that is not supported.
    #[error("it is compressed with a method that is not supported")]
    Method,
    /// The content does not have the length or the checksum that the archive names.
    #[error("its content is damaged")]
    Damaged,
    /// The header before the content is missing, or has another name than the directory of the archive.
    #[error("its header contradicts the directory of the archive")]
    Header,
    /// The parts of the archive overlap.
    #[error("it overlaps another entry")]
    Overlap,
}

/// Kind of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File {
        size: u64,
    },
    Directory,
    /// Symbolic link with its text.
    Link(Vec<u8>),
    /// Hard link to another name of the archive.
    HardLink(Vec<u8>),
}

/// Entry as the archive describes it; nothing is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ArchiveEntry {
    pub name: Vec<u8>,
    pub kind: EntryKind,
    /// Permissions; `None` if the archive has none.
    pub mode: Option<u32>,
    /// Time of the last modification, in seconds.
    pub modified: Option<u64>,
}

impl ArchiveEntry {
    /// Returns the permissions of a new file or directory.
    pub(super) fn permissions(&self) -> Result<u32, EntryError> {
        match (self.mode, &self.kind) {
            (_, EntryKind::Link(_) | EntryKind::HardLink(_)) => Ok(0o777),
            (Some(mode), _) if mode & SET_ID != 0 => Err(EntryError::SetId),
            // Without these, ccm could not fill the directory.
            (Some(mode), EntryKind::Directory) => Ok(mode & PERMITTED | 0o700),
            (None, EntryKind::Directory) => Ok(PERMITTED),
            (Some(mode), EntryKind::File { .. }) => Ok(mode & PERMITTED),
            (None, EntryKind::File { .. }) => Ok(0o644),
        }
    }

    pub(super) fn modified(&self) -> Option<SystemTime> {
        self.modified.and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
    }
}

/// Returns the parts of a name without the leading ones. As for tar, a part that stays where it is, such as `.`, counts
/// as one; what remains holds none of them.
pub(super) fn parts_of(name: &[u8], strip_components: usize) -> Result<Vec<&str>, EntryError> {
    let name = str::from_utf8(name).map_err(|_| EntryError::NotUtf8)?;
    if name.is_empty() {
        return Err(EntryError::Empty);
    }
    if name.contains('\0') {
        return Err(EntryError::Character);
    }
    if name.starts_with('/') {
        return Err(EntryError::Absolute);
    }
    let parts = name.split('/').filter(|part| !part.is_empty());
    if parts.clone().any(|part| part == "..") {
        return Err(EntryError::Parent);
    }
    let is_name = |part: &&str| *part != ".";
    if name.len() > MAX_PATH || parts.clone().filter(is_name).count() > MAX_DEPTH {
        return Err(EntryError::TooLong);
    }
    Ok(parts.skip(strip_components).filter(is_name).collect())
}

/// Checks the text of a link in a directory of the given depth. `..` is only allowed at its beginning: after a
/// name it could start from wherever another link leads to.
pub(super) fn check_link(text: &[u8], depth: usize) -> Result<&str, EntryError> {
    let text = str::from_utf8(text).map_err(|_| EntryError::NotUtf8)?;
    if text.is_empty() || text.len() >= MAX_PATH {
        return Err(EntryError::LinkOut);
    }
    if text.contains('\0') {
        return Err(EntryError::Character);
    }
    if text.starts_with('/') {
        return Err(EntryError::AbsoluteLink);
    }
    let mut parts = text.split('/').filter(|part| !matches!(*part, "" | ".")).peekable();
    let mut up = 0;
    while parts.next_if_eq(&"..").is_some() {
        up += 1;
    }
    if up > depth || parts.any(|part| part == "..") {
        return Err(EntryError::LinkOut);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_or_refused() {
        let long = "a/".repeat(MAX_DEPTH + 1);
        for (name, parts) in [
            (&b"a/b"[..], Ok(&["a", "b"][..])),
            (b"./a//b/./", Ok(&["a", "b"])),
            (b"./", Ok(&[])),
            (b"a/...", Ok(&["a", "..."])),
            (b"", Err(EntryError::Empty)),
            (b"/a", Err(EntryError::Absolute)),
            (b"a/../b", Err(EntryError::Parent)),
            (b"..", Err(EntryError::Parent)),
            (b"a\0b", Err(EntryError::Character)),
            (b"a\xff", Err(EntryError::NotUtf8)),
            (long.as_bytes(), Err(EntryError::TooLong)),
        ] {
            assert_eq!(parts_of(name, 0).as_deref(), parts.as_ref().map(|parts| *parts), "{name:?}");
        }
    }

    #[test]
    fn links_stay_inside() {
        for (text, depth, result) in [
            ("b", 0, Ok("b")),
            ("../b", 1, Ok("../b")),
            ("./../b/c", 1, Ok("./../b/c")),
            ("..", 0, Err(EntryError::LinkOut)),
            ("../../b", 1, Err(EntryError::LinkOut)),
            ("b/..", 3, Err(EntryError::LinkOut)),
            ("/b", 3, Err(EntryError::AbsoluteLink)),
            ("", 3, Err(EntryError::LinkOut)),
        ] {
            assert_eq!(check_link(text.as_bytes(), depth), result, "{text}");
        }
    }
}
