//! What is known of a file.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

use ccm_engine::Described;
use ccm_host::{FileInfo, FileKind, PathInfo, sha256};
use ccm_model::Fields;
use serde_json::Value;

use super::desired::{DesiredFile, FileContent};

/// What was read, beside what of the wish the machine had to be asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileState {
    /// What is at the path.
    pub found: PathInfo,
    /// The names of owner and group of what was found, where somebody gets to see them.
    pub names: Option<(Rc<str>, Rc<str>)>,
    /// The wish in numbers.
    pub desired: Desired,
    /// What something is mounted on that would have to be replaced or removed.
    pub mount: Option<PathBuf>,
    /// It is or holds what ccm itself needs while it runs.
    pub needed_by_ccm: bool,
    /// There is a place for backups.
    pub can_back_up: bool,
    /// A diff is asked for.
    pub diff: bool,
    /// The content there is or is to be holds something that must not be shown.
    pub holds_secret: bool,
    /// The lines of what is there, and of what is to be there, that a diff must not show.
    pub hidden_lines: (HashSet<usize>, HashSet<usize>),
}

/// What of a wish only the machine knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Desired {
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    /// The sha256 of the wanted content, if content is managed and what is there was not found to be the same.
    pub sha256: Option<String>,
    /// The wanted content, if a diff is asked for and it is not too long.
    pub content: Option<Vec<u8>>,
}

/// Shapes the state for events. It never holds content, and of what is secret not even size and checksum, which
/// would let it be guessed.
pub(crate) fn describe(file: &DesiredFile, state: &FileState) -> Described {
    let target = state.found.target.as_ref();
    let ensure = match target.map(|target| target.kind) {
        Some(FileKind::Directory { .. }) => "directory",
        Some(_) => "present",
        None if state.found.link => "present",
        None => "absent",
    };
    let names = state.names.as_ref();
    let is_secret = file.sensitive || state.holds_secret;
    let is_file = target.is_some_and(|target| target.kind == FileKind::File);
    Described {
        ensure: ensure.to_owned(),
        state: Fields::from([
            ("protocol", Value::from("io.choria.ccm.v1.resource.file.state")),
            ("resource_type", Value::from("file")),
            ("name", Value::from(file.path.to_string_lossy())),
            ("ensure", Value::from(ensure)),
            ("owner", Value::from(names.map(|(owner, _)| &**owner))),
            ("group", Value::from(names.map(|(_, group)| &**group))),
            ("mode", Value::from(target.map(|target| mode(target.mode)))),
            ("size", Value::from(target.filter(|_| is_file && !is_secret).map(|target| target.size))),
            (
                "checksum",
                Value::from(target.filter(|_| !is_secret).and_then(|target| checksum(file, target))),
            ),
        ]),
    }
}

/// What is known to be as it is wanted was not hashed.
fn checksum<'a>(file: &DesiredFile, target: &'a FileInfo) -> Option<Cow<'a, str>> {
    match &file.content {
        Some(FileContent::Text(text)) if target.is_same => Some(sha256(text.as_bytes()).into()),
        _ => target.sha256.as_deref().map(Cow::from),
    }
}

/// A mode as people write it.
pub(crate) fn mode(mode: u32) -> String {
    format!("{mode:04o}")
}
