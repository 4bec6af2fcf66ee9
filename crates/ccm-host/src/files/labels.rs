//! Labels that the SELinux policy gives to new files.
//!
//! A new file inherits the type of its directory, but the policy may have another one for its name. A file that is
//! written beside its path and renamed has to be given that label, because the kernel only sees the other name.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::fs::{CWD, XattrFlags, getxattr, lgetxattr, lsetxattr, readlinkat, setxattr};
use rustix::io::Errno;
use tracing::debug;

use super::extended;
use super::resolve::ResolvedPath;
use crate::command::base_environment::SEARCH_PATH;
use crate::query_program::QueryProgram;

/// Attribute for labels of SELinux.
const ATTRIBUTE: &CStr = c"security.selinux";

/// Program of SELinux that looks a path up in the policy.
const PROGRAM: &str = "matchpathcon";

/// Label of a path to which the policy gives none.
const NO_LABEL: &[u8] = b"<<none>>";

/// Maximum time for an answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum length of a label that is kept of a link.
const MAX_LABEL: usize = 4096;

/// Kind of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LabelledKind {
    File,
    Directory,
    Link,
}

impl LabelledKind {
    /// Returns the name that `matchpathcon` has for the kind.
    fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Directory => "dir",
            Self::Link => "lnk_file",
        }
    }
}

/// Labels of the SELinux policy of this machine.
#[derive(Debug)]
pub(super) struct FileLabels {
    /// File that exists if SELinux is enabled.
    enforce: PathBuf,
    search_path: String,
    timeout: Duration,
    /// No label was found for a reason that holds for all files.
    is_unavailable: AtomicBool,
}

/// Label for a new file, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileLabel(CString);

impl FileLabels {
    pub(super) fn of_this_machine() -> Self {
        Self::new("/sys/fs/selinux/enforce".into(), SEARCH_PATH, TIMEOUT)
    }

    fn new(enforce: PathBuf, search_path: &str, timeout: Duration) -> Self {
        Self { enforce, search_path: search_path.to_owned(), timeout, is_unavailable: AtomicBool::new(false) }
    }

    /// Returns the label of the policy for a new file at a path; `None` without SELinux, without its tools, and if the
    /// policy has none.
    pub(super) fn of_new(&self, resolved: &ResolvedPath, kind: LabelledKind) -> Option<FileLabel> {
        if self.is_unavailable.load(Ordering::Relaxed) {
            return None;
        }
        if !self.enforce.exists() {
            self.is_unavailable.store(true, Ordering::Relaxed);
            return None;
        }
        self.of_policy(&real_path(resolved), kind).unwrap_or_else(|reason| {
            // The reason holds for the next file too, and a timeout must not be waited for again.
            self.is_unavailable.store(true, Ordering::Relaxed);
            debug!(%reason, "new files keep the SELinux labels that they inherit");
            None
        })
    }

    fn of_policy(&self, path: &Path, kind: LabelledKind) -> io::Result<Option<FileLabel>> {
        let program = QueryProgram::find(PROGRAM, &self.search_path, self.timeout);
        let program = program.ok_or_else(|| io::Error::other(format!("{PROGRAM} is not installed")))?;
        let arguments: [&OsStr; 4] = ["-n".as_ref(), "-m".as_ref(), kind.name().as_ref(), path.as_ref()];
        let (status, answer) = program.run(&arguments)?;
        if !status.success() {
            return Err(io::Error::other(format!("{PROGRAM} failed: {status}")));
        }
        Ok(FileLabel::parse(&answer))
    }
}

impl FileLabel {
    /// Parses the line that `matchpathcon` prints.
    fn parse(answer: &[u8]) -> Option<Self> {
        let label = answer.split(|byte| *byte == b'\n').next()?.trim_ascii();
        let is_label = label.contains(&b':') && label.iter().all(u8::is_ascii_graphic) && label != NO_LABEL;
        is_label.then(|| CString::new(label).ok().map(Self))?
    }

    /// Returns the label of an existing link.
    pub(super) fn of_link(parent: BorrowedFd<'_>, name: &OsStr) -> Option<Self> {
        Self::read(|buffer| lgetxattr(path_in(parent, name), ATTRIBUTE, buffer))
    }

    fn read(get: impl FnOnce(&mut [u8]) -> Result<usize, Errno>) -> Option<Self> {
        let mut buffer = vec![0; MAX_LABEL];
        let length = get(&mut buffer).ok()?;
        let label = buffer[..length].strip_suffix(b"\0").unwrap_or(&buffer[..length]);
        CString::new(label).ok().map(Self)
    }

    /// Gives a new file the label.
    pub(super) fn set(&self, file: impl AsFd) {
        let stored = self.0.to_bytes_with_nul();
        self.check(extended::set(file, ATTRIBUTE, stored).map_err(|(_, error)| error));
    }

    /// Gives a new directory, which a descriptor only names, the label.
    pub(super) fn set_on_named(&self, named: BorrowedFd<'_>) {
        let path = format!("/proc/self/fd/{}", named.as_raw_fd());
        // A label that was inherited is not set again, because a user may not set each.
        if Self::read(|buffer| getxattr(&path, ATTRIBUTE, buffer)).as_ref() != Some(self) {
            self.check(setxattr(&path, ATTRIBUTE, self.0.to_bytes_with_nul(), XattrFlags::empty()));
        }
    }

    /// Gives a new link the label.
    pub(super) fn set_on_link(&self, parent: BorrowedFd<'_>, name: &OsStr) {
        if Self::of_link(parent, name).as_ref() != Some(self) {
            let stored = self.0.to_bytes_with_nul();
            self.check(lsetxattr(path_in(parent, name), ATTRIBUTE, stored, XattrFlags::empty()));
        }
    }

    /// Reports an error. The file keeps the label that it inherited: its filesystem may have no labels, and a user
    /// may not set each.
    fn check(&self, result: Result<(), Errno>) {
        if let Err(error) = result {
            debug!(label = %self.0.to_string_lossy(), %error, "the SELinux label can't be set");
        }
    }
}

/// Returns the path of a file in a directory that a descriptor names.
fn path_in(parent: BorrowedFd<'_>, name: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd").join(parent.as_raw_fd().to_string()).join(name)
}

/// Returns the path without links among its parents, because the policy only has such paths.
fn real_path(resolved: &ResolvedPath) -> PathBuf {
    let parent = format!("/proc/self/fd/{}", resolved.parent.as_raw_fd());
    match readlinkat(CWD, parent, Vec::new()) {
        Ok(parent) => PathBuf::from(OsString::from_vec(parent.into_bytes())).join(&resolved.name),
        Err(_) => resolved.path.clone(),
    }
}

#[cfg(test)]
mod tests;
