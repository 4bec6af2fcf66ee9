//! Looking at files, and changing them so that nobody sees a half and no stranger leads the way.

mod backup;
mod content;
mod directory;
mod error;
mod extended;
mod look;
mod middleware;
mod names;
mod read;
mod remove;
mod system;
mod walk;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use backup::slug;
pub use content::sha256;
pub use error::{FileError, Step};
pub use middleware::{FileChange, FilesMiddleware};
pub use read::{read_at_most, unescape};
pub(crate) use remove::empty as empty_directory;
pub use system::SystemFiles;

/// Looks at files, and changes them.
///
/// Paths are absolute and canonical unless it is said otherwise. Links among the parents of a path are
/// followed if root, the user ccm runs as or the owner of what is at the path owns them; others are an error,
/// because whoever owns a link leads who follows it.
pub trait Files {
    /// Tells whether something is at that path, links followed. What can't be looked at is an error.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Tells whether that path is a directory, links followed.
    fn is_directory(&self, path: &Path) -> io::Result<bool>;

    /// When what is at that path was last modified, links followed; none if nothing is there.
    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>>;

    /// The same path without a link in it, which has to be there. Links on the way and at its end are followed by
    /// the rule for those among parents.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Reads the state of a path.
    fn look(&self, path: &Path, look: Look<'_>) -> Result<PathInfo, FileError>;

    /// Reads a file that is to be copied. Its path may be any; links on the way and at its end are followed by the
    /// rule for those among parents.
    fn read(&self, path: &Path, keep_up_to: u64) -> Result<ReadContent, FileError>;

    /// Reads a file in the same way for its content alone, without a checksum; none if it is longer than that.
    fn content(&self, path: &Path, longest: u64) -> Result<Option<Vec<u8>>, FileError> {
        self.read(path, longest).map(|read| read.content)
    }

    /// Puts a file in the place of what is there, a link included: in one step, and safe on the disk before.
    ///
    /// What the new file does not say it has of the old one: owner, access control list, extended attributes,
    /// capabilities, mode. What can't be kept is an error, found while the old file is still there. Returns
    /// the sha256 of what was written.
    fn write(&self, path: &Path, new: &NewFile<'_>) -> Result<String, FileError>;

    /// Makes a directory.
    fn make_directory(&self, path: &Path, attributes: Attributes) -> Result<(), FileError>;

    /// Changes owner, group and mode of what is at the path, which may be anything but a link.
    fn set_attributes(&self, path: &Path, attributes: Attributes) -> Result<(), FileError>;

    /// Removes a file, a link or an empty directory; with `force` a directory and everything in it. Never `/`,
    /// and nothing that is or holds a mount point.
    fn remove(&self, path: &Path, force: bool) -> Result<(), FileError>;

    /// Finds what would keep [`Files::write`] or [`Files::remove`] from a path because something is mounted: there,
    /// or with `below` anywhere below it.
    fn mount_in_the_way(&self, path: &Path, below: bool) -> Result<Option<PathBuf>, FileError>;

    /// Copies a file to `backups` below that directory, for nobody but the user ccm runs as, and returns
    /// where it is.
    fn back_up(&self, path: &Path, state: &Path, at: SystemTime) -> Result<PathBuf, FileError>;

    /// Tells whether ccm may give a file that it makes to that owner and group; none is who ccm runs as.
    fn may_give(&self, uid: Option<u32>, gid: Option<u32>) -> bool;

    /// Finds the number of a user, by name or in digits.
    fn user(&self, name: &str) -> Result<Option<u32>, FileError>;

    /// Finds the number of a group, by name or in digits.
    fn group(&self, name: &str) -> Result<Option<u32>, FileError>;

    /// Finds the name of a user; none if no user has that number.
    fn user_name(&self, uid: u32) -> Result<Option<String>, FileError>;

    /// Finds the name of a group; none if no group has that number.
    fn group_name(&self, gid: u32) -> Result<Option<String>, FileError>;
}

/// How closely to look at a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look<'a> {
    /// What is to happen to the content of a regular file.
    pub hash: Hash,
    /// Keep the content itself if it has at most this many bytes.
    pub keep_up_to: u64,
    /// If a regular file holds this, and it is short, that is all that is said of its content:
    /// [`FileInfo::is_same`]. It is neither hashed nor kept then.
    pub compare: Option<&'a [u8]>,
}

/// Whether the content of a regular file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hash {
    /// It is not.
    #[default]
    Never,
    /// It is if it has at most this many bytes and may be read.
    UpTo(u64),
    /// It has to be: what can't be read is an error.
    Always,
}

/// What is at a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathInfo {
    /// The path itself is a symbolic link.
    pub link: bool,
    /// The link is not followed, because it belongs to this stranger.
    pub untrusted_owner: Option<u32>,
    /// What is there, behind the link if it is one and is followed.
    pub target: Option<FileInfo>,
    /// The directory it would be in does not exist.
    pub parent_missing: bool,
}

/// The state of something that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// What it is.
    pub kind: FileKind,
    /// Permissions and the special bits.
    pub mode: u32,
    /// Number of the owner.
    pub uid: u32,
    /// Number of the group.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
    /// The sha256 of a regular file in hexadecimal digits, if it was read.
    pub sha256: Option<String>,
    /// The content of a regular file, if it was asked for and is not too long.
    pub content: Option<Vec<u8>>,
    /// The content of a regular file is the one that it was compared with.
    pub is_same: bool,
}

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory; it may be `empty`, or hold something.
    Directory {
        /// Nothing is in it; none if that may not be read.
        empty: Option<bool>,
    },
    /// A device, a pipe or a socket, in these words.
    Special(&'static str),
}

/// What was read of a file that is to be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadContent {
    /// The sha256 in hexadecimal digits.
    pub sha256: String,
    /// Length in bytes.
    pub size: u64,
    /// The content, if it is not longer than was asked for.
    pub content: Option<Vec<u8>>,
}

/// Owner, group and mode; none leaves it as it is, or as it is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Number of the owner.
    pub uid: Option<u32>,
    /// Number of the group.
    pub gid: Option<u32>,
    /// Permissions and the special bits.
    pub mode: Option<u32>,
}

/// A file to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewFile<'a> {
    /// What is in it.
    pub content: NewContent<'a>,
    /// What differs from the old file.
    pub attributes: Attributes,
}

/// The content of a file to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewContent<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// What is in that file, found as [`Files::read`] does.
    CopyOf(&'a Path),
}

/// Nothing is there, or a part of the way to it is a file.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
