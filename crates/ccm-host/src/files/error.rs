//! Errors of file operations.

use std::io;
use std::path::{Path, PathBuf};

use ccm_model::{Failure, FailureKind, MissingPrerequisite};
use rustix::io::Errno;

use crate::writers::Writer;

/// Error of a file operation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The parent directory does not exist.
    #[error("the directory \"{}\" does not exist", .0.display())]
    ParentMissing(PathBuf),
    /// A parent is not a directory.
    #[error("\"{}\", on the way to \"{}\", is not a directory", .part.display(), .path.display())]
    NotADirectory {
        /// Path of the file.
        path: PathBuf,
        /// Path of the parent.
        part: PathBuf,
    },
    /// A parent is a link of a user who could lead ccm to any file.
    #[error("the link \"{}\", on the way to \"{}\", belongs to uid {owner} and is not followed", .link.display(), .path.display())]
    UntrustedLink {
        /// Path of the file.
        path: PathBuf,
        /// Path of the link.
        link: PathBuf,
        /// UID of the owner of the link.
        owner: u32,
    },
    /// A parent belongs to a user who could lead a program of the system elsewhere.
    #[error("the directory \"{}\", on the way to \"{}\", belongs to uid {owner}, who could lead ccm elsewhere", .directory.display(), .path.display())]
    StrangersDirectory {
        /// Path of the file.
        path: PathBuf,
        /// Path of the parent.
        directory: PathBuf,
        /// UID of the owner of the parent.
        owner: u32,
    },
    /// Everybody can replace the entries of a parent.
    #[error("everybody can replace what is in the directory \"{}\", on the way to \"{}\"", .directory.display(), .path.display())]
    OpenDirectory {
        /// Path of the file.
        path: PathBuf,
        /// Path of the parent.
        directory: PathBuf,
    },
    /// Members of a group, or a user of an access control list, can replace the entries of a parent.
    #[error("{writer} can replace what is in the directory \"{}\", on the way to \"{}\"", .directory.display(), .path.display())]
    WritableDirectory {
        /// Path of the file.
        path: PathBuf,
        /// Path of the parent.
        directory: PathBuf,
        /// The group or user.
        writer: Writer,
    },
    /// The path is a link, which this operation does not take.
    #[error("\"{}\" is a symbolic link", .0.display())]
    IsLink(PathBuf),
    /// The path is a link to a file in a directory that does not exist.
    #[error("\"{}\" is a dangling symbolic link", .0.display())]
    DanglingLink(PathBuf),
    /// The file may not be the one that the manifest means.
    #[error("the attributes of \"{}\" are not changed: the file belongs to uid {owner}, but its directory to uid {directory_owner}, who could have moved the file there", .path.display())]
    UntrustedDirectory {
        /// Path of the file.
        path: PathBuf,
        /// UID of the owner of the file.
        owner: u32,
        /// UID of the owner of the directory that it is in.
        directory_owner: u32,
    },
    /// The file has several names, and a stranger could have made this one.
    #[error("the attributes of \"{}\" are not changed: the file has {names} names, and {writer} can create names in its directory, also for files that lie elsewhere", .path.display())]
    SeveralNames {
        /// Path of the file.
        path: PathBuf,
        /// Number of its names.
        names: String,
        /// User, or the group, who can create names there.
        writer: Writer,
    },
    /// A stranger could have created the file, because everybody can create files in its directory.
    #[error("\"{}\" is not changed: the file belongs to uid {owner}, and everybody can create files in its directory", .path.display())]
    SharedDirectory {
        /// Path of the file.
        path: PathBuf,
        /// UID of the owner of the file.
        owner: u32,
    },
    /// The path is not a regular file.
    #[error("\"{}\" is {what}", .path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// Kind of the file, with its article.
        what: &'static str,
    },
    /// The path is a mount point.
    #[error("can't replace or remove mount point \"{}\"", .0.display())]
    MountPoint(PathBuf),
    /// The file system of the path is mounted read-only.
    #[error("\"{}\" is on a file system that is mounted read-only", .0.display())]
    ReadOnly(PathBuf),
    /// The path is on a file system whose files the kernel makes.
    #[error("\"{}\" can't be changed: the kernel makes all files on this file system ({file_system})", .path.display())]
    OfKernel {
        /// The path.
        path: PathBuf,
        /// Type of the file system.
        file_system: &'static str,
    },
    /// The path or its directory has a flag that forbids the change.
    #[error("\"{}\" can't be changed: \"{}\" is {}", .path.display(), .part.display(), fixed(*.is_append_only))]
    Fixed {
        /// The path.
        path: PathBuf,
        /// The path or its directory.
        part: PathBuf,
        /// `true` if data can be added.
        is_append_only: bool,
    },
    /// The root directory can't be removed or replaced.
    #[error("\"/\" is never removed or replaced")]
    Root,
    /// Another process replaced the file during the operation.
    #[error("\"{}\" was changed by another process meanwhile", .0.display())]
    Changed(PathBuf),
    /// The content of a file is not the content that was signed.
    #[error("\"{}\" is not the file that was signed with the manifest", .0.display())]
    NotAsSigned(PathBuf),
    /// A file is not among the files that were signed.
    #[error("\"{}\" is not among the files that were signed with the manifest", .0.display())]
    NotSigned(PathBuf),
    /// A tree has too many entries.
    #[error("\"{}\" has more than {entries} entries", .path.display())]
    TreeTooLarge {
        /// Path of the tree.
        path: PathBuf,
        /// Maximum number of entries.
        entries: usize,
    },
    /// A tree has too many levels of directories.
    #[error("\"{}\" has more than {depth} levels of directories", .path.display())]
    TreeTooDeep {
        /// Path of the tree.
        path: PathBuf,
        /// Maximum number of levels.
        depth: usize,
    },
    /// The run was cancelled during the operation.
    #[error("stopped together with the run")]
    Cancelled {
        /// `true` if something was changed before.
        changed: bool,
    },
    /// The system refused a step.
    #[error("{step}", step = .step.of(path))]
    Step {
        /// Path of the file.
        path: PathBuf,
        /// Step that was refused.
        step: FileStep,
        /// `true` if something was changed before.
        changed: bool,
        /// Error of the system.
        source: io::Error,
    },
}

/// Step of a file operation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileStep {
    /// Inspecting the path.
    Inspect,
    /// Reading the content.
    Read,
    /// Creating the file.
    Create,
    /// Removing the temporary file of a killed run.
    Leftover,
    /// Setting the owner and group that the manifest names.
    Owner(String),
    /// Setting the owner and group of the old file.
    KeepOwner(String),
    /// Setting an extended attribute of the old file.
    ExtendedAttributes(String),
    /// Setting the mode.
    Mode,
    /// Writing the content.
    Content,
    /// Syncing the file to the disk.
    Sync,
    /// Replacing the old file by the temporary file.
    Rename,
    /// Removing the file.
    Remove,
    /// Looking up a user or group.
    Lookup,
}

fn fixed(is_append_only: bool) -> &'static str {
    if is_append_only { "append-only" } else { "immutable" }
}

impl FileStep {
    fn of(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Inspect => format!("\"{path}\" can't be inspected"),
            Self::Read => format!("\"{path}\" can't be read"),
            Self::Create => format!("\"{path}\" could not be created"),
            Self::Leftover => format!("\"{path}\", left by an earlier run, could not be removed"),
            Self::Owner(owner_names) => format!("\"{path}\" could not be given to {owner_names}"),
            Self::KeepOwner(owner_names) => {
                format!(
                    "\"{path}\" belongs to {owner_names}, and a new file in its place could not be given to them"
                )
            }
            Self::ExtendedAttributes(name) => format!("\"{path}\" could not be given its attribute `{name}`"),
            Self::Mode => format!("\"{path}\" could not be given its mode"),
            Self::Content => format!("\"{path}\" could not be written"),
            Self::Sync => format!("\"{path}\" could not be synced to the disk"),
            Self::Rename => format!("\"{path}\" could not be moved into place"),
            Self::Remove => format!("\"{path}\" could not be removed"),
            Self::Lookup => format!("the lookup of \"{path}\" in the databases of users and groups failed"),
        }
    }
}

impl FileError {
    /// Builds the error of a step before which nothing was changed.
    pub fn step(path: &Path, step: FileStep, source: impl Into<io::Error>) -> Self {
        Self::Step { path: path.to_owned(), step, changed: false, source: source.into() }
    }

    /// Builds the error of a file that can't be read.
    pub fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::step(path, FileStep::Read, source)
    }

    /// Builds the error of a file that is longer than may be read.
    pub(crate) fn too_long(path: &Path) -> Self {
        Self::step(path, FileStep::Read, io::Error::from(io::ErrorKind::FileTooLarge))
    }

    /// Returns `true` if a directory stands in place of the file.
    pub fn is_of_directory(&self) -> bool {
        matches!(self, Self::NotAFile { what: "a directory", .. })
    }

    /// Returns [`FileError::step`] as a closure for `map_err`.
    pub fn at(path: &Path, step: FileStep) -> impl FnOnce(Errno) -> Self {
        move |source| Self::step(path, step, source)
    }

    /// Builds the failure of a resource whose file could not be read or changed.
    pub fn failure(&self) -> Failure {
        let kind = match self {
            Self::Cancelled { .. } => FailureKind::Stopped,
            Self::Step { step: FileStep::Inspect | FileStep::Read | FileStep::Lookup, .. } => {
                FailureKind::Read
            }
            Self::Step { .. } => FailureKind::Change,
            _ => FailureKind::Conflict,
        };
        let mut failure = Failure { changed: self.changed(), ..Failure::from_error(kind, self) };
        if let Self::ParentMissing(path) | Self::NotADirectory { part: path, .. } = self {
            failure.missing = Some(MissingPrerequisite::Path(path.clone()).into());
        }
        if let Self::ReadOnly(path) | Self::Fixed { path, .. } | Self::OfKernel { path, .. } = self {
            failure.missing = Some(MissingPrerequisite::Writable(path.clone()).into());
        }
        if let Self::Fixed { part, is_append_only, .. } = self {
            let flag = if *is_append_only { "a" } else { "i" };
            failure.hints.push(format!("run `chattr -{flag} {}` if ccm may change it", part.display()));
        }
        failure.hints.extend(self.hint().map(str::to_owned));
        failure
    }

    fn hint(&self) -> Option<&'static str> {
        let source = match self {
            Self::Step { source, .. } => source,
            Self::UntrustedLink { .. } => {
                return Some(
                    "change the owner of the link to root, to the user who runs ccm, or to the owner of the target",
                );
            }
            Self::ReadOnly(_) => return Some("remount the file system of this path read-write"),
            Self::OfKernel { .. } => {
                return Some(
                    "use `sysctl` for a parameter below /proc/sys, or write to the file with an `exec`",
                );
            }
            Self::StrangersDirectory { .. } | Self::OpenDirectory { .. } | Self::WritableDirectory { .. } => {
                return Some(
                    "use a path whose directories all belong to root, and that nobody else can change",
                );
            }
            Self::SeveralNames { .. } => {
                return Some(
                    "run `find FILESYSTEM -samefile PATH` to see its other names, and remove this one if it is not meant",
                );
            }
            _ => return None,
        };
        let error = Errno::from_io_error(source)?;
        match (error, rustix::process::geteuid().is_root()) {
            (Errno::PERM, true) => Some("check with `lsattr` whether the file or its directory is immutable"),
            (Errno::PERM | Errno::ACCESS, false) => {
                Some("run ccm as root, or as a user with access to this path")
            }
            (Errno::ROFS, _) => Some("remount the file system of this path read-write"),
            (Errno::NOSPC | Errno::DQUOT, _) => Some("free space on the file system of this path"),
            _ => None,
        }
    }

    /// Marks that something was changed before the error.
    #[must_use]
    pub fn after_change(mut self) -> Self {
        if let Self::Step { changed, .. } | Self::Cancelled { changed } = &mut self {
            *changed = true;
        }
        self
    }

    /// Returns `true` if something was changed before the error.
    pub fn changed(&self) -> bool {
        matches!(self, Self::Step { changed: true, .. } | Self::Cancelled { changed: true })
    }
}
