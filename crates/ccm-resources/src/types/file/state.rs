//! State of a file.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

use ccm_engine::{Described, Undescribed};
use ccm_host::{FileInfo, FileKind, PathInfo, TreeSize, sha256};

use super::desired::{DesiredFile, FileContent};
use crate::parts::tree::TreeState;
use crate::support::values::file_mode::shown_mode;

/// State of a path, with the desired values that depend on the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileState {
    pub found: PathInfo,
    /// Text of the link at the path; only read for a link.
    pub link: Option<PathBuf>,
    /// Names of owner and group, if they are reported.
    pub names: Option<(Rc<str>, Rc<str>)>,
    /// Names of owner and group of a file that is to be made.
    pub new_names: Option<(Rc<str>, Rc<str>)>,
    pub desired: Desired,
    /// Missing directories above a directory that is to be made, the outermost first.
    pub missing_parents: Vec<PathBuf>,
    /// True if the path is a directory directly below `/`.
    pub is_top_level: bool,
    /// Size of a directory that is to be removed with its content.
    pub tree: Option<TreeSize>,
    /// Mount point that the change would replace or remove.
    pub mount: Option<PathBuf>,
    /// True if the path is or contains the state directory of the run.
    pub needed_by_ccm: bool,
    /// True if a change writes content that no other resource of a batch can change, so that it can be written with others.
    pub is_written_with_others: bool,
    /// True if backups can be stored.
    pub can_back_up: bool,
    /// Content of the directory, if that is managed.
    pub inside: Option<TreeState>,
    pub diff: bool,
    /// True if the old or new content holds a secret.
    pub holds_secret: bool,
    /// Lines of the old and the new content that a diff must redact.
    pub hidden_lines: (HashSet<usize>, HashSet<usize>),
}

/// Desired values that only the machine knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Desired {
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    /// SHA-256 of the desired content, unless the present content was found to be equal.
    pub sha256: Option<String>,
    /// Length of the desired content; 0 if none is managed.
    pub size: u64,
    /// Desired content, if a diff is requested or lines are counted, and the content is short enough.
    pub content: Option<Vec<u8>>,
}

/// Returns the state for events, without content; size and checksum of secret content are left out too,
/// because it could be guessed from them.
pub(crate) fn describe(file: &DesiredFile, state: &FileState) -> Described {
    let target = state.found.target.as_ref();
    let ensure = match target.map(|target| target.kind) {
        _ if state.link.is_some() => "link",
        Some(FileKind::Directory { .. }) => "directory",
        Some(_) => "present",
        None if state.found.link => "present",
        None => "absent",
    };
    let names = state.names.as_ref();
    let is_secret = file.sensitive || state.holds_secret;
    let is_file = target.is_some_and(|target| target.kind == FileKind::File);
    let mut described = Described::new(ensure)
        .with("owner", names.map(|(owner, _)| &**owner))
        .with("group", names.map(|(_, group)| &**group))
        .with("mode", target.map(|target| shown_mode(target.mode)))
        .with("size", target.filter(|_| is_file && !is_secret).map(|target| target.size))
        .with("checksum", target.filter(|_| !is_secret).and_then(|target| checksum(file, target)));
    if let Some(inside) = &state.inside {
        described.state.push("entries", inside.found.len());
    }
    if let Some(link) = &state.link {
        described.state.push("target", link.to_string_lossy());
    }
    described
}

/// Returns the state and the desired content as bytes, with what the description leaves out.
pub(crate) fn undescribed(file: &DesiredFile, state: &FileState) -> Undescribed {
    let target = state.found.target.as_ref();
    let content = target.and_then(|target| {
        let of_content = || target.content.as_deref().map(|content| sha256(content).into());
        checksum(file, target).or_else(of_content)
    });
    let attributes = target.map(|target| (target.kind, target.mode, target.uid, target.gid, target.size));
    let Desired { uid, gid, sha256, size, content: _ } = &state.desired;
    let inside = state.inside.as_ref();
    let found = inside.map(|inside| &inside.found);
    let desired = inside.map(|inside| (&inside.desired, inside.uid, inside.gid));
    Undescribed::found(&(attributes, content, &state.link, state.found.untrusted_owner, found))
        .desired(&(uid, gid, sha256, size, desired))
}

/// Returns the checksum; content that was compared as text has not been hashed yet.
fn checksum<'a>(file: &DesiredFile, target: &'a FileInfo) -> Option<Cow<'a, str>> {
    match &file.content {
        Some(FileContent::Text(text)) if target.is_same => Some(sha256(text.as_bytes()).into()),
        _ => target.sha256.as_deref().map(Cow::from),
    }
}
