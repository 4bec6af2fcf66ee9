//! State of an archive.

use std::path::PathBuf;
use std::rc::Rc;

use ccm_engine::Described;
use ccm_fetch::Extracted;
use ccm_host::{FileKind, PathInfo};

use super::desired::DesiredArchive;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArchiveState {
    pub found: PathInfo,
    /// Names of owner and group.
    pub names: Option<(Rc<str>, Rc<str>)>,
    /// Number of the desired owner.
    pub uid: Option<u32>,
    /// Number of the desired group.
    pub gid: Option<u32>,
    /// Numbers of the user who runs ccm, and of that user's group.
    pub own: (u32, u32),
    /// `true` if the path of `creates` exists.
    pub creates_exists: bool,
    /// Checksum of the file that was extracted last, if it is known.
    pub extracted_checksum: Option<String>,
    /// What is at the path of `extract_parent`, if that is no directory.
    pub obstacle: Option<&'static str>,
    /// Missing directories from the outermost to `extract_parent`.
    pub missing_directories: Vec<PathBuf>,
    /// Mount point that the change would replace or remove.
    pub mount: Option<PathBuf>,
    /// Content that was written by the execution.
    pub written: Option<ArchiveEffect>,
}

/// Effect of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ArchiveEffect {
    /// SHA-256 and length of the file that was downloaded.
    pub downloaded: Option<(String, u64)>,
    pub extracted: Option<Extracted>,
}

pub(crate) fn describe(archive: &DesiredArchive, state: &ArchiveState) -> Described {
    let target = state.found.target.as_ref();
    let ensure = if target.is_some() || state.found.link { "present" } else { "absent" };
    let names = state.names.as_ref();
    let file = target.filter(|target| target.kind == FileKind::File);
    let written = state.written.as_ref().and_then(|written| written.downloaded.as_ref());
    let checksum = file.and_then(|file| file.sha256.as_ref().or(written.map(|(sha256, _)| sha256)));
    let mut described = Described::new(ensure)
        .with("owner", names.map(|(owner, _)| &**owner))
        .with("group", names.map(|(_, group)| &**group))
        .with("mode", target.map(|target| crate::support::values::file_mode::shown_mode(target.mode)))
        .with("size", file.map(|file| file.size))
        .with("checksum", checksum.map(String::as_str));
    if archive.creates.is_some() {
        described.state.push("creates_satisfied", state.creates_exists);
    }
    described
}
