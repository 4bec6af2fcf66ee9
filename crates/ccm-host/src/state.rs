//! What ccm remembers between runs: a directory that nobody else can write, and the lock on it.

mod append;
mod directory;
mod lock;
mod place;

use std::io;
use std::path::PathBuf;

pub use append::AppendFile;
pub use directory::Directory;
pub use lock::{Lock, LockError, LockHolder};
pub use place::default_state_directory;

/// Says why a state directory can't be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Nothing says where it should be.
    #[error("there is no place for a state directory: HOME is not an absolute path")]
    NoPlace,
    /// It is not there and can't be made.
    #[error("state directory {path:?} can't be made")]
    Make {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It can't be looked at.
    #[error("state directory {path:?} can't be opened")]
    Open {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Something else has its name.
    #[error("state directory {path:?} is not a directory")]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// Somebody else owns it, or the link that leads to it.
    #[error("state directory {path:?} belongs to another user (uid {owner})")]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// The number of that user.
        owner: u32,
    },
    /// Others than its owner can write it.
    #[error("state directory {path:?} can be written by others (mode {mode:04o})")]
    Exposed {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

impl StateError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::NoPlace => "set HOME, or name a directory with --state-dir".to_owned(),
            Self::Make { .. } | Self::Open { .. } => {
                "name a directory that you can write with --state-dir".to_owned()
            }
            Self::NotADirectory { .. } => "move it away, or name another with --state-dir".to_owned(),
            Self::Foreign { .. } => {
                "run ccm as that user, or name a directory of your own with --state-dir".to_owned()
            }
            Self::Exposed { path, .. } => format!("run `chmod go-w {}`", path.display()),
        }
    }
}

/// Says plainly what the kernel calls too many levels of symbolic links.
fn not_a_link(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => {
            io::Error::other("it is a symbolic link, which is not followed here")
        }
        _ => error,
    }
}
