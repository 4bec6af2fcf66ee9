//! Versions of files.

/// Version of a file: two versions that are equal have the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// Device of the file system.
    pub device: u64,
    /// Inode number.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the content, in seconds and nanoseconds since the Unix epoch.
    pub modified: (i64, i64),
    /// Time of the last change of content or attributes, in seconds and nanoseconds since the Unix epoch.
    pub changed: (i64, i64),
}
