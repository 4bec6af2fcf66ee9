//! What can go wrong with a file, and at which step.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// Says what went wrong with a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The directory that it would be in is not there.
    #[error("the directory \"{}\" does not exist", .0.display())]
    ParentMissing(PathBuf),
    /// A part of the way to it is not a directory.
    #[error("\"{}\", on the way to \"{}\", is not a directory", .part.display(), .path.display())]
    NotADirectory {
        /// Where it was to go.
        path: PathBuf,
        /// What is no directory.
        part: PathBuf,
    },
    /// A link on the way belongs to somebody who could lead ccm anywhere.
    #[error("the link \"{}\", on the way to \"{}\", belongs to user {owner} and is not followed", .link.display(), .path.display())]
    UntrustedLink {
        /// Where it was to go.
        path: PathBuf,
        /// The link.
        link: PathBuf,
        /// Whose it is.
        owner: u32,
    },
    /// The path itself is a link where none can be.
    #[error("\"{}\" is a symbolic link", .0.display())]
    IsLink(PathBuf),
    /// Something else than a file is there.
    #[error("\"{}\" is {what}", .path.display())]
    InTheWay {
        /// Where it is.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
    },
    /// Something is mounted there.
    #[error("\"{}\" is a mount point", .0.display())]
    MountPoint(PathBuf),
    /// The root directory can't be removed or replaced.
    #[error("\"/\" is never removed or replaced")]
    Root,
    /// It changed between two looks at it.
    #[error("\"{}\" was changed by somebody else in the meantime", .0.display())]
    Changed(PathBuf),
    /// The run was ended while it was at it.
    #[error("it was stopped because the run was")]
    Ended {
        /// Whether something was changed before.
        changed: bool,
    },
    /// The system refused a step.
    #[error("{step}", step = .step.of(path))]
    Step {
        /// What it was done to.
        path: PathBuf,
        /// What was done.
        step: Step,
        /// Whether something was changed before.
        changed: bool,
        /// Why it was refused.
        source: io::Error,
    },
}

/// A step of what is done to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Finding out what is there.
    Look,
    /// Reading its content.
    Read,
    /// Making it.
    Create,
    /// Removing what a run that was killed left beside it.
    Leftover,
    /// Giving it to that owner and group.
    Owner(String),
    /// Giving the new file to the owner and group of the old one.
    KeepOwner(String),
    /// Giving it an extended attribute of the old file.
    Extended(String),
    /// Giving it its mode.
    Mode,
    /// Writing its content.
    Content,
    /// Waiting until it is safe on the disk.
    Sync,
    /// Putting it in the place of the old one.
    Rename,
    /// Removing it.
    Remove,
    /// Looking a user or group up.
    Lookup,
}

impl Step {
    fn of(&self, path: &Path) -> String {
        let path = path.display();
        match self {
            Self::Look => format!("\"{path}\" can't be looked at"),
            Self::Read => format!("\"{path}\" can't be read"),
            Self::Create => format!("\"{path}\" could not be made"),
            Self::Leftover => format!("\"{path}\", left by an earlier run, could not be removed"),
            Self::Owner(owners) => format!("\"{path}\" could not be given to {owners}"),
            Self::KeepOwner(owners) => {
                format!(
                    "\"{path}\" belongs to {owners}, and a new file in its place could not be given to them"
                )
            }
            Self::Extended(name) => format!("\"{path}\" could not be given its attribute `{name}`"),
            Self::Mode => format!("\"{path}\" could not be given its mode"),
            Self::Content => format!("\"{path}\" could not be written"),
            Self::Sync => format!("\"{path}\" could not be synced to the disk"),
            Self::Rename => format!("\"{path}\" could not be put in its place"),
            Self::Remove => format!("\"{path}\" could not be removed"),
            Self::Lookup => format!("the database of users can't be asked for \"{path}\""),
        }
    }
}

impl FileError {
    /// The error of a step before which nothing was changed.
    pub(crate) fn step(path: &Path, step: Step, source: impl Into<io::Error>) -> Self {
        Self::Step { path: path.to_owned(), step, changed: false, source: source.into() }
    }

    /// For `map_err`: the same as a closure.
    pub(crate) fn at(path: &Path, step: Step) -> impl FnOnce(Errno) -> Self {
        move |source| Self::step(path, step, source)
    }

    /// What to do about it, if that is plain.
    pub fn advice(&self) -> Option<&'static str> {
        let Self::Step { source, .. } = self else { return None };
        let error = Errno::from_io_error(source)?;
        match (error, rustix::process::geteuid().is_root()) {
            (Errno::PERM, true) => Some("is it immutable? `lsattr` shows that"),
            (Errno::PERM | Errno::ACCESS, false) => Some("run ccm as a user who may do this"),
            (Errno::NOSPC | Errno::DQUOT, _) => Some("make room on its filesystem"),
            _ => None,
        }
    }

    /// Says that something was changed before it.
    pub(crate) fn after_change(mut self) -> Self {
        if let Self::Step { changed, .. } | Self::Ended { changed } = &mut self {
            *changed = true;
        }
        self
    }

    /// Tells whether something was changed before it.
    pub fn changed(&self) -> bool {
        matches!(self, Self::Step { changed: true, .. } | Self::Ended { changed: true })
    }
}
