//! Writing the contents of several files of a manifest together.

use std::path::Path;

use ccm_engine::Context;
use ccm_host::{NewContent, NewFile};
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
pub(super) fn can_write(file: &DesiredFile, plan: &FilePlan) -> bool {
    plan.writes_content()
        && file.validators.is_empty()
        && matches!(file.content, None | Some(FileContent::Text(_)))
}

/// Writes the files, and returns an effect for each.
pub(super) fn write(
    changes: &[(&DesiredFile, &FileState)],
    context: &mut Context<'_>,
) -> Vec<Result<FileEffect, Failure>> {
    let mut new_files: Vec<(&Path, NewFile<'_>)> = Vec::with_capacity(changes.len());
    let mut prepared = Vec::with_capacity(changes.len());
    for &(file, state) in changes {
        let result = match plan(file, state) {
            FilePlan::Update(_) => prepare_update(file, state, context),
            _ => Ok(()),
        };
        if result.is_ok() {
            let text = match &file.content {
                Some(FileContent::Text(text)) => text.as_bytes(),
                _ => &[],
            };
            let new = NewFile { content: NewContent::Bytes(text), attributes: attributes(file, state) };
            new_files.push((&file.path, new));
        }
        prepared.push(result);
    }
    let mut written = context.host.files.write_many(&new_files).into_iter();
    let mut finish = |(&(file, state), prepared): (&(&DesiredFile, &FileState), Result<(), Failure>)| {
        prepared?;
        let missing = || Failure::new(FailureKind::Internal, "internal error: a file was not written");
        let sha256 = written.next().ok_or_else(missing)?.map_err(|error| file_failure(&error))?;
        let sha256 = file.content.is_some().then_some(sha256);
        Ok(FileEffect { sha256, size: state.desired.size, parents: 0 })
    };
    changes.iter().zip(prepared).map(&mut finish).collect()
}
