//! Extraction of a file that is there or was downloaded.

use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use ccm_engine::Context;
use ccm_fetch::{ExtractError, ExtractRequest, Extracted, MAX_ARCHIVE_ENTRIES, extract};
use ccm_host::{FileAttributes, Files, OpenFile, is_writable_by_others, private_copy};
use ccm_model::{Failure, FailureKind};

use super::decide::stranger;
use super::desired::{DesiredArchive, Extraction};
use super::extracted::remember;
use super::state::{ArchiveEffect, ArchiveState};
use crate::parts::path_walk::{make_parents, parents_note};
use crate::support::file_failure::file_failure;

/// Extracts the file that is there, and gives it its attributes.
pub(super) async fn extract_present(
    archive: &DesiredArchive,
    state: &ArchiveState,
    context: &mut Context<'_>,
) -> Result<ArchiveEffect, Failure> {
    let Some(extraction) = &archive.extraction else { return Ok(ArchiveEffect::default()) };
    let files = context.host.files;
    let mut file = files.open(&archive.path).map_err(|error| file_failure(&error))?;
    let opened = file.metadata().map_err(|source| changed_meanwhile(archive, &source.to_string()))?;
    if let Some(stranger) = stranger(archive, state, (opened.uid(), opened.gid(), opened.mode() & 0o7777)) {
        return Err(changed_meanwhile(archive, &stranger.to_string()));
    }
    let expected = archive.origin.as_ref().and_then(|origin| origin.checksum.as_ref());
    if expected.is_some() && is_writable_by_others(&file) {
        if opened.len() > archive.max_size {
            return Err(changed_meanwhile(archive, "it has become larger than `max_size`"));
        }
        // Whoever can write the file could write it between the comparison and the extraction.
        file = private_copy(&file, &archive.path, files).map_err(|error| file_failure(&error))?;
    }
    let archived = ArchiveFile { file, sha256: expected.cloned() };
    let extracted = extract_file(archived, archive, extraction, state, context).await?;
    let checksum = state.found.target.as_ref().and_then(|target| target.sha256.as_deref());
    remember(archive, checksum, context);
    let changed = if archive.cleanup {
        files.remove(&archive.path, false)
    } else {
        let attributes = FileAttributes { uid: state.uid, gid: state.gid, mode: archive.mode };
        if attributes == FileAttributes::default() {
            Ok(())
        } else {
            files.set_attributes(&archive.path, attributes)
        }
    };
    changed.map_err(|error| after(true, file_failure(&error)))?;
    Ok(ArchiveEffect { downloaded: None, extracted: Some(extracted) })
}

/// Open archive, with the checksum that is compared with its content before the extraction.
pub(super) struct ArchiveFile {
    pub file: OpenFile,
    pub sha256: Option<String>,
}

pub(super) async fn extract_file(
    archived: ArchiveFile,
    archive: &DesiredArchive,
    extraction: &Extraction,
    state: &ArchiveState,
    context: &mut Context<'_>,
) -> Result<Extracted, Failure> {
    let files = context.host.files;
    let (leaf, above) = match state.missing_directories.split_last() {
        Some((leaf, above)) => (Some(leaf), above),
        None => (None, &[][..]),
    };
    let mut made = make_parents(above, files)?;
    if let Some(leaf) = leaf {
        let attributes = FileAttributes { uid: state.uid, gid: state.gid, mode: None };
        files.make_directory(leaf, attributes).map_err(|error| after(made > 0, file_failure(&error)))?;
        made += 1;
    }
    let made = &state.missing_directories[..made];
    let extracted = extract_into(archived, archive, extraction, state, context).await;
    if extracted.is_ok()
        && let Some(note) = parents_note(made)
    {
        context.note(note);
    }
    // What was refused leaves no directory that was made for it.
    extracted.map_err(|failure| after(!are_removed(made, files), failure))
}

/// Removes directories that were made, the innermost first; returns `false` if one is left.
fn are_removed(made: &[PathBuf], files: &dyn Files) -> bool {
    made.iter().rev().all(|directory| files.remove(directory, false).is_ok())
}

async fn extract_into(
    archived: ArchiveFile,
    archive: &DesiredArchive,
    extraction: &Extraction,
    state: &ArchiveState,
    context: &Context<'_>,
) -> Result<Extracted, Failure> {
    let into = context.host.files.extraction_target(&extraction.into);
    let into = into.map_err(|error| file_failure(&error))?;
    let request = ExtractRequest {
        archive: archived.file,
        sha256: archived.sha256,
        content_sha256: None,
        path: archive.path.clone(),
        format: extraction.format,
        into,
        strip_components: extraction.strip_components,
        uid: state.uid,
        gid: state.gid,
        max_size: archive.max_size,
        max_entries: MAX_ARCHIVE_ENTRIES,
        last: archive.creates.clone(),
        timeout: archive.timeout,
    };
    let last_line = context.host.executor.last_line();
    if let Some(last_line) = last_line {
        last_line.set("extracting");
    }
    let extracted = extract(request, context.cancellation).await;
    if let Some(last_line) = last_line {
        last_line.clear();
    }
    extracted.map_err(|error| extract_failure(&error))
}

fn extract_failure(error: &ExtractError) -> Failure {
    if let ExtractError::File(error) = error {
        return file_failure(error);
    }
    let kind = match error {
        ExtractError::Cancelled => FailureKind::Stopped,
        ExtractError::TimedOut { .. } => FailureKind::Timeout,
        ExtractError::Read { .. } | ExtractError::Thread(_) => FailureKind::Read,
        _ => FailureKind::Conflict,
    };
    let failure = Failure { changed: error.changed(), ..Failure::from_error(kind, error) };
    error.hint().into_iter().fold(failure, Failure::with_hint)
}

/// Returns the failure for a file that is another one than the one that was inspected.
fn changed_meanwhile(archive: &DesiredArchive, what: &str) -> Failure {
    let path = archive.path.display();
    Failure::conflict(what)
        .because_of(format!("\"{path}\" was exchanged while ccm looked at it"))
        .with_hint("use a directory that only root can change")
}

/// Marks that something was changed before a failure.
pub(super) fn after(changed: bool, failure: Failure) -> Failure {
    Failure { changed: failure.changed || changed, ..failure }
}
