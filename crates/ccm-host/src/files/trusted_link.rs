//! Target of a link that a change follows.

use std::ffi::OsString;
use std::fs::read_link;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::readlinkat;

use super::resolve::{PathEntry, ResolvedPath};
use super::{FileError, FileStep};

/// Maximum number of links to follow, as in the kernel.
const MAX_LINKS: usize = 40;

/// Returns the path of the file that a change has to replace: the path itself, or what a link there leads to.
pub(super) fn written_path(path: &Path) -> Result<PathBuf, FileError> {
    let mut at = ResolvedPath::find(path)?;
    if !is_link(&at) {
        return Ok(path.to_owned());
    }
    // This checks the owners of all links on the way.
    let target = match ResolvedPath::find_source(path) {
        Err(FileError::ParentMissing(_) | FileError::NotADirectory { .. }) => {
            return Err(FileError::DanglingLink(path.to_owned()));
        }
        target => target?,
    };
    for _ in 0..MAX_LINKS {
        // The owner of the target is trusted, but not with a link in a directory that everybody may write.
        at.check_shared_directory(None)?;
        let text = readlinkat(&at.parent, &at.name, Vec::new());
        let text = OsString::from_vec(text.map_err(FileError::at(path, FileStep::Inspect))?.into_bytes());
        at = ResolvedPath::find(&parent_path(&at)?.join(text))?;
        if !is_link(&at) {
            return Ok(parent_path(&target)?.join(&target.name));
        }
    }
    Err(FileError::Changed(path.to_owned()))
}

fn is_link(resolved: &ResolvedPath) -> bool {
    resolved.entry.as_ref().is_some_and(PathEntry::is_link)
}

/// Returns the path of the parent directory without links. The descriptor is of the directory that was resolved.
fn parent_path(resolved: &ResolvedPath) -> Result<PathBuf, FileError> {
    read_link(format!("/proc/self/fd/{}", resolved.parent.as_raw_fd()))
        .map_err(|error| FileError::step(&resolved.path, FileStep::Inspect, error))
}
