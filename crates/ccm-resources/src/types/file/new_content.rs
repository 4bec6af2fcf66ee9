//! New content of a file: read, downloaded and checked before the file is touched.

use std::borrow::Cow;
use std::path::PathBuf;

use ccm_engine::Context;
use ccm_host::{FileAttributes, FileError, FileStep, NewContent, NewFile, sha256};
use ccm_model::{Failure, MissingPrerequisite};

use super::decide::FileEffect;
use super::desired::{DesiredFile, FileContent};
use super::state::FileState;
use crate::parts::validator::{NewText, validate};
use crate::support::file_failure::file_failure;

#[cfg(feature = "archive")]
use super::download::{self, DownloadedFile};
#[cfg(feature = "archive")]
use super::posix::{attributes, check_takeover};
#[cfg(feature = "archive")]
use crate::parts::validator::{VALIDATE, private_directory, remove as remove_private};

/// Maximum size of content that `validate` checks.
const MAX_VALIDATED: u64 = 64 << 20;

/// Content that is ready to be written.
pub(super) enum ReadyContent {
    /// As it is declared.
    Declared,
    /// As it was checked by `validate`: a source may have changed since.
    Checked(Vec<u8>),
    #[cfg(feature = "archive")]
    Downloaded(Box<DownloadedFile>),
}

/// Downloads the content, if it comes from a web server, and checks it with the commands of `validate`.
pub(super) async fn prepare(
    file: &DesiredFile,
    state: &FileState,
    context: &mut Context<'_>,
) -> Result<ReadyContent, Failure> {
    #[cfg(feature = "archive")]
    if let Some(FileContent::Web(web)) = &file.content {
        check_takeover(file, state, context.host.files)?;
        let downloaded = download::stage(file, web, attributes(file, state), context).await?;
        validate_staged(file, &downloaded, context).await?;
        return Ok(ReadyContent::Downloaded(downloaded.into()));
    }
    let checked = validate_content(file, context).await?;
    if let (Some(bytes), Some(FileContent::Source(source)), Some(shown)) =
        (&checked, &file.content, &state.desired.sha256)
        && sha256(bytes) != *shown
    {
        return Err(source_failure(&FileError::Changed(context.directory.join(source))));
    }
    Ok(checked.map_or(ReadyContent::Declared, ReadyContent::Checked))
}

/// Checks the new content with the commands of `validate`, and changes nothing but private directories.
pub(super) async fn preview(file: &DesiredFile, context: &mut Context<'_>) -> Result<(), Failure> {
    #[cfg(feature = "archive")]
    if let Some(FileContent::Web(web)) = &file.content {
        let directory = private_directory(VALIDATE, context.host)?;
        let copy = directory.path().join("download");
        let staged = context.host.files.stage(&copy, FileAttributes::default());
        let staged = staged.map_err(|error| file_failure(&error))?;
        let downloaded = download::fetch(file, web, staged, context).await?;
        validate_staged(file, &downloaded, context).await?;
        drop(downloaded);
        remove_private(VALIDATE, directory, context);
        return Ok(());
    }
    validate_content(file, context).await.map(drop)
}

#[cfg(feature = "archive")]
async fn validate_staged(
    file: &DesiredFile,
    downloaded: &DownloadedFile,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    if file.validators.is_empty() {
        return Ok(());
    }
    let bytes = downloaded.staged.content(MAX_VALIDATED).map_err(|error| file_failure(&error))?;
    let bytes = bytes.ok_or_else(|| too_large_to_validate("the download"))?;
    let new = NewText { path: &file.path, content: &bytes, sensitive: file.sensitive };
    validate(&file.validators, new, context).await
}

fn too_large_to_validate(what: &str) -> Failure {
    Failure::conflict(format!("{what} is larger than {} MiB", MAX_VALIDATED >> 20))
        .because_of("`validate` can't be run")
        .of_property("validate")
        .with_hint("remove `validate`, and check such a large file with an `exec`")
}

/// Checks the new content with the commands of `validate`, and returns the content that was checked.
async fn validate_content(file: &DesiredFile, context: &mut Context<'_>) -> Result<Option<Vec<u8>>, Failure> {
    if file.validators.is_empty() {
        return Ok(None);
    }
    let bytes = match &file.content {
        Some(FileContent::Text(text)) => text.clone().into_bytes(),
        Some(FileContent::Source(source)) => {
            let source = context.directory.join(source);
            let read = context.host.files.source_content(&source, MAX_VALIDATED);
            read.map_err(|error| source_failure(&error))?
                .ok_or_else(|| too_large_to_validate(&format!("\"{}\"", source.display())))?
        }
        #[cfg(feature = "archive")]
        Some(FileContent::Web(_)) => return Ok(None),
        None => return Ok(None),
    };
    let new = NewText { path: &file.path, content: &bytes, sensitive: file.sensitive };
    validate(&file.validators, new, context).await?;
    Ok(Some(bytes))
}

/// Writes the content. A download takes its place with the attributes with which it was staged.
pub(super) fn write(
    file: &DesiredFile,
    ready: ReadyContent,
    attributes: FileAttributes,
    done: &mut FileEffect,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let source: PathBuf;
    let bytes = match (ready, &file.content) {
        #[cfg(feature = "archive")]
        (ReadyContent::Downloaded(downloaded), _) => {
            // Its checksum was compared with the declared one.
            done.size = downloaded.size;
            return downloaded.staged.place().map_err(|error| file_failure(&error));
        }
        (ReadyContent::Checked(checked), _) => Cow::Owned(checked),
        (ReadyContent::Declared, Some(FileContent::Text(text))) => Cow::Borrowed(text.as_bytes()),
        (ReadyContent::Declared, Some(FileContent::Source(written))) => {
            source = context.directory.join(written);
            // What was shown and approved is what is copied.
            let known = done.sha256.clone();
            let copy = known.as_deref().map_or(NewContent::CopyOf(&source), |sha256| {
                NewContent::KnownCopyOf { source: &source, sha256 }
            });
            return write_content(file, copy, attributes, done, context);
        }
        (ReadyContent::Declared, _) => Cow::Borrowed(&[][..]),
    };
    write_content(file, NewContent::Bytes(&bytes), attributes, done, context)
}

fn write_content(
    file: &DesiredFile,
    new: NewContent<'_>,
    attributes: FileAttributes,
    done: &mut FileEffect,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let written = context.host.files.write(&file.path, &NewFile { content: new, attributes });
    done.sha256 = Some(written.map_err(|error| file_failure(&error))?);
    Ok(())
}

pub(super) fn source_failure(error: &FileError) -> Failure {
    if let FileError::Cancelled { .. } = error {
        return file_failure(error);
    }
    let mut failure = file_failure(error).because_of("cannot read `source`");
    if let FileError::Step { path, step: FileStep::Read, source, .. } = error
        && matches!(source.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
    {
        failure.missing = Some(MissingPrerequisite::Path(path.clone()).into());
    }
    failure
}
