//! The warning about manifests that other users can change: they decide what ccm does.

use std::path::PathBuf;

use ccm_host::{OtherWriters, Writer, started_by, uid_of};

use crate::manifest::LoadedManifest;
use crate::session::{Notice, Session};
use crate::statement::CopyKind;

/// Warns of the files that manifests were read from, and of those that they copy, that somebody else can change than root, the user who runs ccm, and
/// the one who called sudo. A signed manifest is as its approver has seen it.
pub(crate) fn warn_of_writers(session: &Session, manifests: &[&LoadedManifest<'_>]) {
    let by = started_by();
    let mut trusted = vec![0, by.uid];
    trusted.extend(by.sudo_user.as_deref().and_then(uid_of));
    let others = OtherWriters::than(&trusted);
    let mut open: Vec<(PathBuf, Writer)> = Vec::new();
    for manifest in manifests.iter().filter(|manifest| manifest.input.reads().signed().is_none()) {
        let copied = manifest.copied_paths().into_iter().filter(|copied| copied.kind != CopyKind::Extracted);
        let copied: Vec<PathBuf> = copied.map(|copied| copied.path).collect();
        for found in manifest.input.reads().paths().iter().chain(&copied).filter_map(|path| others.of(path)) {
            // Several files may be in one open directory.
            if !open.contains(&found) {
                open.push(found);
            }
        }
    }
    if !open.is_empty() {
        session.notices.report(&Notice::Changeable(&open));
    }
}
