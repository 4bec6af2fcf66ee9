//! State directory, which no other user can write, and the lock on it.

mod ancestors;
mod append;
mod default_directory;
mod directory;
mod lock;
mod write_lock;

use std::io;
use std::path::{Path, PathBuf};

pub use append::AppendFile;
pub use default_directory::default_state_directory;
pub use directory::Directory;
pub use lock::{Lock, LockError, LockHolder};
pub use write_lock::WriteLock;

use crate::files::{FileError, FileStep, resolution_error};

/// Bit of a directory in which only the owner of an entry can rename or remove it.
const STICKY: u32 = 0o1000;

/// Error of using a state directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// No directory is named, and there is no default.
    #[error("there is no default state directory: HOME is not set to an absolute path")]
    NoDirectory,
    /// The directory does not exist and can't be created.
    #[error("state directory {path:?} can't be created")]
    Make {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The directory can't be opened.
    #[error("state directory {path:?} can't be opened")]
    Open {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The path is not a directory.
    #[error("state directory {path:?} is not a directory")]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// The directory, or the link to it, belongs to another user.
    #[error("state directory {path:?} belongs to another user (uid {owner})")]
    Foreign {
        /// Path of the directory.
        path: PathBuf,
        /// UID of the owner.
        owner: u32,
    },
    /// A link of another user leads to the directory.
    #[error("state directory {path:?} lies behind the link {link:?} of another user (uid {owner})")]
    UntrustedLink {
        /// Path of the directory.
        path: PathBuf,
        /// Path of the link.
        link: PathBuf,
        /// UID of the owner of the link.
        owner: u32,
    },
    /// A directory above belongs to a third user, who could exchange the state directory.
    #[error("state directory {path:?} lies below {parent:?} of another user (uid {owner})")]
    ForeignParent {
        /// Path of the directory.
        path: PathBuf,
        /// Path of the directory above, without links.
        parent: PathBuf,
        /// UID of its owner.
        owner: u32,
    },
    /// Others can write a directory above, and so exchange the state directory.
    #[error(
        "state directory {path:?} lies below {parent:?}, which can be written by others (mode {mode:04o})"
    )]
    ExposedParent {
        /// Path of the directory.
        path: PathBuf,
        /// Path of the directory above, without links.
        parent: PathBuf,
        /// Mode of the directory above.
        mode: u32,
    },
    /// Users other than the owner can write the directory.
    #[error("state directory {path:?} can be written by others (mode {mode:04o})")]
    Exposed {
        /// Path of the directory.
        path: PathBuf,
        /// Mode of the directory.
        mode: u32,
    },
}

impl StateError {
    /// Converts the error of resolving the path or of making a directory.
    fn of_path(path: &Path, error: FileError) -> Self {
        let path = path.to_owned();
        match error {
            FileError::UntrustedLink { link, owner, .. } => Self::UntrustedLink { path, link, owner },
            FileError::Step { step: FileStep::Inspect, source, .. } => Self::Open { path, source },
            error => Self::Make { path, source: resolution_error(error) },
        }
    }

    /// Returns the hint.
    pub fn hint(&self) -> String {
        match self {
            Self::NoDirectory => "set HOME, or use --state-dir to name a directory".to_owned(),
            Self::Make { .. } | Self::Open { .. } => {
                "use --state-dir to name a directory that you can write".to_owned()
            }
            Self::NotADirectory { .. } => {
                "move this file away, or use --state-dir to name another directory".to_owned()
            }
            Self::UntrustedLink { .. } => {
                "use --state-dir to name the directory that the link leads to, or one of your own".to_owned()
            }
            Self::Foreign { .. } => {
                "run ccm as that user, or use --state-dir to name a directory of your own".to_owned()
            }
            Self::ForeignParent { .. } | Self::ExposedParent { .. } => {
                "use --state-dir to name a directory below which only you and root can rename directories"
                    .to_owned()
            }
            // In a directory such as /tmp, others can't exchange a directory of this user.
            Self::Exposed { path, mode } if mode & STICKY != 0 => {
                format!(
                    "use a directory that only you can write, such as --state-dir {}",
                    path.join("ccm").display()
                )
            }
            Self::Exposed { .. } => "use --state-dir to name a directory that only you can write".to_owned(),
        }
    }
}

/// Replaces the kernel's error "too many levels of symbolic links" by a plainer one.
fn not_a_link(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => {
            io::Error::other("it is a symbolic link, which is not followed here")
        }
        _ => error,
    }
}
