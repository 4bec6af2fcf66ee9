//! Files to write.

use std::path::Path;

/// Owner, group and mode. `None` leaves the old value, or the default of a new file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileAttributes {
    /// UID of the owner.
    pub uid: Option<u32>,
    /// GID.
    pub gid: Option<u32>,
    /// Permissions and the special bits.
    pub mode: Option<u32>,
}

/// File to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewFile<'a> {
    /// Content of the file.
    pub content: NewContent<'a>,
    /// Attributes that may differ from those of the old file.
    pub attributes: FileAttributes,
}

/// What becomes of files that are written together after one of them that fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// Each is written, whatever happens to the others.
    Continue,
    /// Those after it keep their old content, with [`FileError::Cancelled`](super::FileError::Cancelled).
    Stop,
}

/// Content of a file to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewContent<'a> {
    /// The given bytes.
    Bytes(&'a [u8]),
    /// Content of another file, read as [`Files::read`](super::Files::read) does.
    CopyOf(&'a Path),
    /// Content of another file, which had this sha256 when it was compared with the present content.
    KnownCopyOf {
        /// The file.
        source: &'a Path,
        /// The sha256 in hexadecimal digits.
        sha256: &'a str,
    },
    /// Content of another file, which has to have this sha256. The digest is that of the bytes that are copied.
    SignedCopyOf {
        /// The file.
        source: &'a Path,
        /// The sha256 in hexadecimal digits.
        sha256: &'a str,
    },
}
