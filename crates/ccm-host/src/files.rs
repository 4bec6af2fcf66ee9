//! Inspecting and changing files. No reader sees half a change, and links of other users are not followed.

mod attributes;
mod backup;
mod below;
mod beneath;
mod closed;
mod content;
mod create;
mod directory;
mod entry;
mod error;
mod extended;
mod extraction;
mod inspect;
mod labels;
mod link;
mod middleware;
mod names;
mod new_file;
mod parent;
mod pieces;
mod read;
mod regular;
mod remove;
mod resolve;
mod strangers;
mod sync_queue;
mod system;
mod tree;
mod unnamed;
mod user_file;
mod version;
mod walk;
mod writable;
mod write;

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_model::FileVersion;

use crate::account::Identity;

pub use backup::{BACKUP_METADATA_ENDING, BACKUPS, BackupMetadata, backup_stem, slug};
pub use below::files_below;
pub use beneath::read_beneath;
pub use content::sha256;
pub use create::create_file;
pub use entry::{EntryInfo, EntryKind, entry_at};
pub use error::{FileError, FileStep};
pub use extraction::{ExtractionTarget, empty_directory};
use inspect::open_file;
pub use middleware::{ContentUse, FileChange, FilesMiddleware, is_writable_by_others, private_copy};
pub use new_file::{AfterFailure, FileAttributes, NewContent, NewFile};
pub use pieces::read_pieces;
pub use read::{is_transient, read_at_most, unescape};
pub use regular::read_regular;
pub(crate) use remove::empty as remove_all_in;
pub use resolve::is_mount_point;
pub(crate) use resolve::{ResolvedPath, as_io as resolution_error, canonical};
pub use sync_queue::SyncQueue;
pub use system::SystemFiles;
pub use unnamed::unnamed_file;
pub use user_file::{UserFile, UserFileContent};
pub use walk::walk_order;
pub use write::{StagedFile, is_temp_path, temp_name, temp_path};

/// Inspects and changes files. Paths are absolute and canonical unless a method says otherwise. A link among
/// the parents of a path is followed if it belongs to root, to the user who runs ccm or to the owner of the
/// file. Any other link is an error, because its owner could lead ccm to any file.
pub trait Files {
    /// Returns `true` if the path exists, links followed. A path that can't be inspected is an error.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Returns `true` if the path is a directory, links followed.
    fn is_directory(&self, path: &Path) -> io::Result<bool>;

    /// Returns the size of a regular file in bytes, links followed; `None` if the path does not exist.
    fn size(&self, path: &Path) -> io::Result<Option<u64>>;

    /// Returns the time of the last modification, links followed; `None` if the path does not exist.
    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>>;

    /// Returns the version of a file, links followed. `None` if the file does not exist or can't be inspected,
    /// and for a file that changed so recently that a further change could leave its version the same.
    fn version(&self, path: &Path) -> Option<FileVersion> {
        let _ = path;
        None
    }

    /// Returns an existing path without links. The rule for links among parents holds for the last part too.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns an error if a link of a user who is not trusted lies on the way to the path, its last part
    /// included. Other errors are left to the use of the path, which need not be canonical.
    fn check_links(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        Ok(())
    }

    /// Resolves a path that is given to a program of the system, or whose links ccm follows itself. What `trust` forbids
    /// on the way is an error. The default is the path as it is.
    fn trusted_path(&self, path: &Path, trust: PathTrust) -> Result<TrustedPath, FileError> {
        let _ = trust;
        Ok(TrustedPath { path: path.to_owned(), missing: Vec::new(), is_followed: false })
    }

    /// Returns an existing directory without links; `None` if the directory does not exist, and if a stranger could
    /// change where a link on the way leads. A path without links costs one system call.
    fn real_directory(&self, path: &Path) -> Option<PathBuf> {
        let _ = path;
        None
    }

    /// Reads the state of a path.
    fn inspect(&self, path: &Path, options: InspectOptions<'_>) -> Result<PathInfo, FileError>;

    /// Reads a file to copy it. The path need not be canonical; the link rule holds for its last part too.
    fn read(&self, path: &Path, keep_up_to: u64) -> Result<ReadContent, FileError>;

    /// Returns the sha256 and the size of a file that is read as [`Files::read`] does. A longer file is an error, found
    /// without reading the rest.
    fn digest(&self, path: &Path, max_length: u64) -> Result<(String, u64), FileError> {
        let read = self.read(path, 0)?;
        if read.size > max_length { Err(FileError::too_long(path)) } else { Ok((read.sha256, read.size)) }
    }

    /// Reads a file as [`Files::read`] does, without a checksum; `None` if the file is longer.
    fn content(&self, path: &Path, max_length: u64) -> Result<Option<Vec<u8>>, FileError> {
        self.read(path, max_length).map(|read| read.content)
    }

    /// Reads a file that is copied to another one, as [`Files::content`] does.
    fn source_content(&self, path: &Path, max_length: u64) -> Result<Option<Vec<u8>>, FileError> {
        self.content(path, max_length)
    }

    /// Opens a file to extract it, as [`Files::read`] does.
    fn open(&self, path: &Path) -> Result<OpenFile, FileError> {
        open_file(path)
    }

    /// Replaces a file or a link by a new file, in one step. The new file is synced to the disk before.
    ///
    /// Attributes that are not given are those of the old file: owner, access control list, extended
    /// attributes, capabilities, mode. An attribute that can't be kept is an error, and the old file stays.
    /// Returns the sha256 of the new content.
    ///
    /// In a directory that everybody may write, a file or link is an error if it belongs neither to root nor to
    /// the user who runs ccm nor to the given owner.
    fn write(&self, path: &Path, new: &NewFile<'_>) -> Result<String, FileError>;

    /// Replaces files as [`Files::write`] does, in their order, and returns a result for each. The files may be synced
    /// before the first of them is in its place. After a cancellation of the run, all but the first may stay as they were,
    /// with [`FileError::Cancelled`], and so do those that [`AfterFailure::Stop`] keeps from being written.
    fn write_many(
        &self,
        files: &[(&Path, NewFile<'_>)],
        after_failure: AfterFailure,
    ) -> Vec<Result<String, FileError>> {
        let mut written: Vec<Result<String, FileError>> = Vec::with_capacity(files.len());
        for (path, new) in files {
            let stops = after_failure == AfterFailure::Stop && written.last().is_some_and(Result::is_err);
            written.push(if stops {
                Err(FileError::Cancelled { changed: false })
            } else {
                self.write(path, new)
            });
        }
        written
    }

    /// Makes an empty file beside the one that it will replace. The rules of [`Files::write`] hold for both.
    fn stage(&self, path: &Path, attributes: FileAttributes) -> Result<StagedFile, FileError> {
        let _ = attributes;
        Err(FileError::step(path, FileStep::Create, io::Error::from(io::ErrorKind::Unsupported)))
    }

    /// Returns an existing directory as one to extract archives into.
    fn extraction_target(&self, directory: &Path) -> Result<ExtractionTarget, FileError> {
        Err(FileError::step(directory, FileStep::Create, io::Error::from(io::ErrorKind::Unsupported)))
    }

    /// Makes a directory.
    fn make_directory(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError>;

    /// Renames a directory within its parent. An entry with the new name is an error.
    fn rename_directory(&self, from: &Path, to: &Path) -> Result<(), FileError>;

    /// Changes owner, group and mode of anything but a link. In a directory of a user who is neither root nor
    /// the user who runs ccm, a file of another user is an error if the change gives anybody more rights. The
    /// rule of [`Files::write`] for a directory that everybody may write holds too.
    fn set_attributes(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError>;

    /// Returns the error that [`Files::set_attributes`] would return before a change, as far as it is known.
    fn check_attributes(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        let _ = (path, attributes);
        Ok(())
    }

    /// Returns the text of the link at a path; `None` if there is no link.
    fn link_target(&self, path: &Path) -> Result<Option<PathBuf>, FileError>;

    /// Makes a link with this text, or replaces a link by it in one step; with `replaces_file` also a file. What
    /// else is at the path is an error. The rule of [`Files::write`] for a directory that everybody may write holds
    /// too.
    fn make_link(&self, path: &Path, target: &Path, replaces_file: bool) -> Result<(), FileError>;

    /// Removes a file, a link or an empty directory; with `force` a directory with its content. The root
    /// directory, a mount point and a directory with a mount point in it are errors.
    fn remove(&self, path: &Path, force: bool) -> Result<(), FileError>;

    /// Counts what is in a directory, at most `max_entries` of it. A part that can't be read is left out.
    fn tree_size(&self, path: &Path, max_entries: u64) -> TreeSize;

    /// Lists what is below a directory, each directory before what is in it, in the order of [`walk_order`]. `step`
    /// gets each path relative to the directory, and whether it is a directory. Links below the directory are not
    /// followed, and mount points not entered. Returns `None` if the directory does not exist.
    ///
    /// A link at the path itself, more than 100000 entries, and more than 64 levels of directories are errors.
    fn walk(
        &self,
        path: &Path,
        step: &dyn Fn(&Path, bool) -> WalkStep,
    ) -> Result<Option<Vec<TreeEntry>>, FileError> {
        let _ = (path, step);
        Ok(None)
    }

    /// Returns `true` if a regular file has this content. A link as the last part of the path is an error. `size` is
    /// the length that the file had when it was inspected, equal to that of the content.
    fn has_content(&self, path: &Path, size: u64, content: NewContent<'_>) -> Result<bool, FileError> {
        let _ = (path, size, content);
        Ok(false)
    }

    /// Reads a file of at most `limit` bytes in the home directory of a user; `None` if it does not exist.
    fn read_user_file(&self, file: UserFile<'_>, limit: u64) -> Result<Option<UserFileContent>, FileError> {
        let _ = limit;
        Err(user_file::unsupported(file))
    }

    /// Replaces a file in the home directory of a user in one step. The new file belongs to the user, who alone can
    /// read it. A missing directory is made for the user alone.
    fn write_user_file(&self, file: UserFile<'_>, content: &[u8]) -> Result<(), FileError> {
        let _ = content;
        Err(user_file::unsupported(file))
    }

    /// Finds a mount point that prevents [`Files::write`] or [`Files::remove`]: the path itself, or with
    /// `below` any path below it.
    fn blocking_mount(&self, path: &Path, below: bool) -> Result<Option<PathBuf>, FileError>;

    /// Returns the error of a change that the file system or a flag of the file forbids: a file system that is mounted
    /// read-only, a file that is immutable. Directories above the path need not exist.
    fn check_writable(&self, path: &Path, part: ChangedPart) -> Result<(), FileError> {
        let _ = (path, part);
        Ok(())
    }

    /// Finds the first directory on the way to a directory that a user may not enter; with `writes` also the directory
    /// itself if the user may not write there.
    fn closed_directory(&self, user: &Identity, directory: &Path, writes: bool) -> Option<ClosedDirectory> {
        let _ = (user, directory, writes);
        None
    }

    /// Copies a file to `backups` in the state directory, readable only by the user who runs ccm. Returns the
    /// path of the copy.
    fn back_up(
        &self,
        path: &Path,
        state: &Path,
        at: SystemTime,
        name: BackupName,
    ) -> Result<PathBuf, FileError>;

    /// Returns `true` if ccm may give a file to this owner and group; `None` is the user or group of ccm.
    fn can_chown(&self, uid: Option<u32>, gid: Option<u32>) -> bool;

    /// Returns the number of a user, given by name or in digits.
    fn user(&self, name: &str) -> Result<Option<u32>, FileError>;

    /// Returns the number of a group, given by name or in digits.
    fn group(&self, name: &str) -> Result<Option<u32>, FileError>;

    /// Returns the name of a user; `None` if no user has this number.
    fn user_name(&self, uid: u32) -> Result<Option<String>, FileError>;

    /// Returns the name of a group; `None` if no group has this number.
    fn group_name(&self, gid: u32) -> Result<Option<String>, FileError>;
}

/// Part of the file system that a change needs, for [`Files::check_writable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangedPart {
    /// The entry of the path in its directory: a file or link is made, replaced or removed.
    Entry,
    /// The same for a directory that does not exist.
    NewDirectory,
    /// Owner, group and mode of what is at the path.
    Attributes,
    /// Entries of the directory at the path.
    Inside,
}

/// Directory that a user may not enter or write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClosedDirectory {
    /// Its path.
    pub path: PathBuf,
    /// UID of its owner.
    pub owner: u32,
}

/// Name of a backup up to the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackupName {
    /// The path of the file, with a part of its checksum.
    Path,
    /// The same for every file, because the path holds a secret. Even a checksum of the path could reveal it.
    Anonymous,
}

/// Rules of [`Files::trusted_path`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTrust {
    /// Follow a link at the path itself, as those among the parents.
    pub follow_last: bool,
    /// Trust no link and no parent of a stranger, and no parent in which everybody can replace entries: for a program
    /// that opens the path itself. The path itself is then only looked at if `follow_last` is set. Otherwise links are
    /// followed as by the other methods, which act on what they opened.
    pub directories: bool,
    /// UID of a user who is no stranger, besides root and the user who runs ccm.
    pub user: Option<u32>,
}

/// Path from [`Files::trusted_path`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedPath {
    /// The path without links. What does not exist is as it was written.
    pub path: PathBuf,
    /// Missing directories above the path, the outermost first.
    pub missing: Vec<PathBuf>,
    /// `true` if a link at the path itself was followed.
    pub is_followed: bool,
}

/// Options of [`Files::inspect`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InspectOptions<'a> {
    /// Policy for hashing a regular file.
    pub hash: HashPolicy,
    /// Maximum length of content to keep, in bytes.
    pub keep_up_to: u64,
    /// Content to compare with. If the file is equal and short, only [`FileInfo::is_same`] is set.
    pub compare: Option<&'a [u8]>,
}

/// Policy for hashing the content of a regular file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HashPolicy {
    /// Does not hash it.
    #[default]
    Never,
    /// Hashes it if it has at most this many bytes and can be read.
    UpTo(u64),
    /// Hashes it if it has at most this many bytes. A file that can't be read is an error.
    Required(u64),
}

/// State of a path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathInfo {
    /// The path itself is a symbolic link.
    pub link: bool,
    /// Owner of the link, if it is not followed because this owner is not trusted.
    pub untrusted_owner: Option<u32>,
    /// State of the file, or of the target of a link that is followed. `None` if it does not exist.
    pub target: Option<FileInfo>,
    /// The parent directory does not exist.
    pub parent_missing: bool,
}

/// State of an existing file of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileInfo {
    /// Kind of the file.
    pub kind: FileKind,
    /// Permissions and special bits.
    pub mode: u32,
    /// UID of the owner.
    pub uid: u32,
    /// GID.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
    /// The sha256 of a regular file in hexadecimal digits, if it was read.
    pub sha256: Option<String>,
    /// Content of a regular file, if it was read and is at most [`InspectOptions::keep_up_to`] long.
    pub content: Option<Vec<u8>>,
    /// The content is equal to [`InspectOptions::compare`].
    pub is_same: bool,
}

/// Kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory {
        /// `true` if the directory is empty; `None` if it can't be read.
        empty: Option<bool>,
    },
    /// A device, a pipe or a socket, with its article: `a pipe`.
    Special(&'static str),
}

/// Size of what is in a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeSize {
    /// Number of files of any kind but directories.
    pub files: u64,
    /// Length of the regular files in bytes.
    pub bytes: u64,
    /// `true` if there is more than was counted.
    pub is_partial: bool,
}

/// Step of a walk at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkStep {
    /// List the path and, if it is a directory, what is in it.
    Enter,
    /// List the path alone.
    List,
    /// Leave out the path and what is in it.
    Skip,
}

/// Entry below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeEntry {
    /// Path, relative to the directory.
    pub path: PathBuf,
    /// Kind of the entry.
    pub kind: TreeEntryKind,
    /// Permissions and special bits.
    pub mode: u32,
    /// UID of the owner.
    pub uid: u32,
    /// GID.
    pub gid: u32,
    /// Length in bytes.
    pub size: u64,
}

/// Kind of an entry below a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeEntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory {
        /// A file system is mounted there.
        is_mount: bool,
    },
    /// A symbolic link with this text.
    Link(PathBuf),
    /// A device, a pipe or a socket, with its article: `a pipe`.
    Special(&'static str),
}

/// Result of [`Files::read`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadContent {
    /// The sha256 in hexadecimal digits.
    pub sha256: String,
    /// Length in bytes.
    pub size: u64,
    /// Content, if it is not longer than the caller keeps.
    pub content: Option<Vec<u8>>,
}

/// Open file, to read a part of it, or for functions that take one.
pub type OpenFile = std::fs::File;

/// Returns `true` if the error means that the path does not exist, or that a parent is a file.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
