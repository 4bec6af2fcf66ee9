//! Writing the contents of several files of a manifest together.

use std::path::{Path, PathBuf};

use ccm_engine::Context;
use ccm_host::{AfterFailure, FileError, NewContent, NewFile};
use ccm_model::{Failure, FailureKind};

use super::decide::{FileEffect, FilePlan, plan};
use super::desired::{DesiredFile, FileContent};
use super::posix::{attributes, prepare_update};
use super::state::FileState;
use crate::support::file_failure::file_failure;

/// Maximum number of files that are written together.
pub(super) const MAX_FILES: usize = 256;

/// Returns `true` if a plan writes content that no other file of a batch can change: another one may write the `source`
/// of this file, or what a command of `validate` reads.
pub(super) fn can_write(file: &DesiredFile, plan: &FilePlan, context: &Context<'_>) -> bool {
    let is_fixed = || match &file.content {
        None | Some(FileContent::Text(_)) => true,
        Some(FileContent::Source(source)) => {
            let source = context.host.files.canonical(&context.directory.join(source));
            source.is_ok_and(|source| !context.is_claimed(&source))
        }
        #[cfg(feature = "archive")]
        Some(FileContent::Web(_)) => false,
    };
    plan.writes_content() && file.validators.is_empty() && is_fixed()
}

/// Writes the files, and returns an effect for each.
pub(super) fn write(
    changes: &[(&DesiredFile, &FileState)],
    context: &mut Context<'_>,
) -> Vec<Result<FileEffect, Failure>> {
    let stops = context.ends_on_failure();
    let sources: Vec<PathBuf> = changes.iter().map(|(file, _)| source_of(file, context)).collect();
    let mut new_files: Vec<(&Path, NewFile<'_>)> = Vec::with_capacity(changes.len());
    let mut prepared = Vec::with_capacity(changes.len());
    for (&(file, state), source) in changes.iter().zip(&sources) {
        let result = match plan(file, state) {
            FilePlan::Update(_) => prepare_update(file, state, context),
            _ => Ok(()),
        };
        let is_last = stops && result.is_err();
        if result.is_ok() {
            let attributes = attributes(file, state);
            new_files.push((&file.path, NewFile { content: content_of(file, state, source), attributes }));
        }
        prepared.push(result);
        if is_last {
            break;
        }
    }
    let after_failure = if stops { AfterFailure::Stop } else { AfterFailure::Continue };
    let mut written = context.host.files.write_many(&new_files, after_failure).into_iter();
    let finish = |(&(file, state), prepared): (&(&DesiredFile, &FileState), Result<(), Failure>)| {
        prepared?;
        let missing = || Failure::new(FailureKind::Internal, "internal error: a file was not written");
        let sha256 = written.next().ok_or_else(missing)?.map_err(|error| file_failure(&error))?;
        let sha256 = file.content.is_some().then_some(sha256);
        Ok(FileEffect { sha256, size: state.desired.size, parents: 0 })
    };
    let mut effects: Vec<Result<FileEffect, Failure>> = changes.iter().zip(prepared).map(finish).collect();
    if let Some(first) = effects.iter().position(Result::is_err).filter(|_| stops) {
        effects.truncate(first + 1);
    }
    effects.resize_with(changes.len(), || Err(file_failure(&FileError::Cancelled { changed: false })));
    effects
}

/// Returns the path of the `source` of a file; an empty path if it has none.
fn source_of(file: &DesiredFile, context: &Context<'_>) -> PathBuf {
    match &file.content {
        Some(FileContent::Source(source)) => context.directory.join(source),
        _ => PathBuf::new(),
    }
}

fn content_of<'a>(file: &'a DesiredFile, state: &'a FileState, source: &'a Path) -> NewContent<'a> {
    match (&file.content, &state.desired.sha256) {
        (Some(FileContent::Text(text)), _) => NewContent::Bytes(text.as_bytes()),
        // What was shown and approved is what is copied.
        (Some(FileContent::Source(_)), Some(sha256)) => NewContent::KnownCopyOf { source, sha256 },
        (Some(FileContent::Source(_)), None) => NewContent::CopyOf(source),
        _ => NewContent::Bytes(&[]),
    }
}
