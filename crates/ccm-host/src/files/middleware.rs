//! Middleware that sees changes of files.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_model::FileVersion;
use rustix::fs::fstat;
use rustix::process::geteuid;

use super::content::{self, Writable, digest_of_open, sha256};
use super::{
    AfterFailure, BackupName, ChangedPart, ClosedDirectory, ExtractionTarget, FileAttributes, FileError,
    FileStep, Files, InspectOptions, NewContent, NewFile, OpenFile, PathInfo, PathTrust, ReadContent,
    StagedFile, TreeEntry, TreeSize, TrustedPath, UserFile, UserFileContent, WalkStep,
};
use crate::account::Identity;
use crate::command::Cancellation;

/// Change of a file, as a [`FilesMiddleware`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// [`Files::write`] and [`Files::stage`].
    Write,
    /// [`Files::extraction_target`]: what an archive holds is moved into this directory.
    Extract,
    /// [`Files::make_directory`].
    MakeDirectory,
    /// [`Files::make_link`].
    MakeLink,
    /// [`Files::set_attributes`].
    SetAttributes,
    /// [`Files::remove`].
    Remove,
    /// [`Files::back_up`], which leaves the path itself as it is.
    BackUp,
}

/// Use of the content of a file, as a [`FilesMiddleware`] sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentUse {
    /// The content is inspected.
    Read,
    /// The content is copied to another file or extracted.
    Copy,
}

/// Wrapper around other files that sees every change before it is made. Everything else is passed on.
pub trait FilesMiddleware {
    /// Returns the files that are wrapped.
    fn inner(&self) -> &dyn Files;

    /// Sees a change before it is made. An error prevents the change.
    fn before_change(&self, path: &Path, change: FileChange) -> Result<(), FileError>;

    /// Returns the sha256 that a file has to have, in hexadecimal digits; `None` if every content is right. An error
    /// prevents the use of the file.
    fn expected_digest(&self, path: &Path, file_use: ContentUse) -> Result<Option<&str>, FileError> {
        let _ = (path, file_use);
        Ok(None)
    }
}

/// Returns `true` if others than root and the user who runs ccm can write an open file.
pub fn is_writable_by_others(file: &OpenFile) -> bool {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    fstat(file).map_or(true, |found| {
        ![0, geteuid().as_raw()].contains(&found.st_uid) || found.st_mode & WRITABLE_BY_OTHERS != 0
    })
}

/// Copies an open file to one without a name, which only ccm can write. Returns the copy at its beginning.
pub fn private_copy(file: &OpenFile, path: &Path, files: &dyn Files) -> Result<OpenFile, FileError> {
    let refused = |error: io::Error| FileError::step(path, FileStep::Read, error);
    // The name beside the file is removed again at the end of this function.
    let staged = files.stage(path, FileAttributes::default())?;
    let to = Writable { file: staged.open()?, path: staged.path() };
    let from = file.try_clone().map_err(refused)?;
    content::copy(from.into(), path, &to, &Cancellation::never())?;
    staged.open()
}

/// Checks the digest of content that was read.
fn check_digest(path: &Path, expected: &str, found: &str) -> Result<(), FileError> {
    if expected == found { Ok(()) } else { Err(FileError::NotAsSigned(path.to_owned())) }
}

fn checked(
    path: &Path,
    expected: Option<&str>,
    content: Option<Vec<u8>>,
) -> Result<Option<Vec<u8>>, FileError> {
    if let Some((expected, content)) = expected.zip(content.as_deref()) {
        check_digest(path, expected, &sha256(content))?;
    }
    Ok(content)
}

/// Returns a new file as the inner files get it, unless the change is prevented.
fn passed_on<'a>(
    middleware: &'a impl FilesMiddleware,
    path: &Path,
    new: &NewFile<'a>,
) -> Result<NewFile<'a>, FileError> {
    middleware.before_change(path, FileChange::Write)?;
    let (source, known) = match new.content {
        NewContent::CopyOf(source) => (source, None),
        NewContent::KnownCopyOf { source, sha256 } => (source, Some(sha256)),
        _ => return Ok(*new),
    };
    let Some(sha256) = middleware.expected_digest(source, ContentUse::Copy)? else { return Ok(*new) };
    if let Some(known) = known {
        check_digest(source, sha256, known)?;
    }
    Ok(NewFile { content: NewContent::SignedCopyOf { source, sha256 }, ..*new })
}

impl<T: FilesMiddleware> Files for T {
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.inner().exists(path)
    }

    fn is_directory(&self, path: &Path) -> io::Result<bool> {
        self.inner().is_directory(path)
    }

    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        self.inner().size(path)
    }

    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>> {
        self.inner().modified(path)
    }

    fn version(&self, path: &Path) -> Option<FileVersion> {
        self.inner().version(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.inner().canonical(path)
    }

    fn check_links(&self, path: &Path) -> io::Result<()> {
        self.inner().check_links(path)
    }

    fn trusted_path(&self, path: &Path, trust: PathTrust) -> Result<TrustedPath, FileError> {
        self.inner().trusted_path(path, trust)
    }

    fn real_directory(&self, path: &Path) -> Option<PathBuf> {
        self.inner().real_directory(path)
    }

    fn inspect(&self, path: &Path, options: InspectOptions<'_>) -> Result<PathInfo, FileError> {
        self.inner().inspect(path, options)
    }

    fn read(&self, path: &Path, keep_up_to: u64) -> Result<ReadContent, FileError> {
        let expected = self.expected_digest(path, ContentUse::Read)?;
        let read = self.inner().read(path, keep_up_to)?;
        if let Some(expected) = expected {
            check_digest(path, expected, &read.sha256)?;
        }
        Ok(read)
    }

    fn content(&self, path: &Path, max_length: u64) -> Result<Option<Vec<u8>>, FileError> {
        let expected = self.expected_digest(path, ContentUse::Read)?;
        checked(path, expected, self.inner().content(path, max_length)?)
    }

    fn source_content(&self, path: &Path, max_length: u64) -> Result<Option<Vec<u8>>, FileError> {
        let expected = self.expected_digest(path, ContentUse::Copy)?;
        checked(path, expected, self.inner().source_content(path, max_length)?)
    }

    fn open(&self, path: &Path) -> Result<OpenFile, FileError> {
        let expected = self.expected_digest(path, ContentUse::Copy)?;
        let mut file = self.inner().open(path)?;
        let Some(expected) = expected else { return Ok(file) };
        if is_writable_by_others(&file) {
            // Whoever can write the file could write it between the comparison and its use.
            file = private_copy(&file, path, self.inner())?;
        }
        check_digest(path, expected, &digest_of_open(&mut file, path)?)?;
        Ok(file)
    }

    fn write(&self, path: &Path, new: &NewFile<'_>) -> Result<String, FileError> {
        self.inner().write(path, &passed_on(self, path, new)?)
    }

    fn write_many(
        &self,
        files: &[(&Path, NewFile<'_>)],
        after_failure: AfterFailure,
    ) -> Vec<Result<String, FileError>> {
        let stops = after_failure == AfterFailure::Stop;
        let mut passed = Vec::with_capacity(files.len());
        let mut results = Vec::with_capacity(files.len());
        for (path, new) in files {
            let result = passed_on(self, path, new).map(|new| {
                passed.push((*path, new));
                String::new()
            });
            let is_last = stops && result.is_err();
            results.push(result);
            if is_last {
                break;
            }
        }
        let written = self.inner().write_many(&passed, after_failure);
        for (result, written) in results.iter_mut().filter(|result| result.is_ok()).zip(written) {
            *result = written;
        }
        if let Some(first) = results.iter().position(Result::is_err).filter(|_| stops) {
            results.truncate(first + 1);
        }
        results.resize_with(files.len(), || Err(FileError::Cancelled { changed: false }));
        results
    }

    fn stage(&self, path: &Path, attributes: FileAttributes) -> Result<StagedFile, FileError> {
        self.before_change(path, FileChange::Write)?;
        self.inner().stage(path, attributes)
    }

    fn extraction_target(&self, directory: &Path) -> Result<ExtractionTarget, FileError> {
        self.before_change(directory, FileChange::Extract)?;
        self.inner().extraction_target(directory)
    }

    fn make_directory(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        self.before_change(path, FileChange::MakeDirectory)?;
        self.inner().make_directory(path, attributes)
    }

    fn rename_directory(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        self.before_change(from, FileChange::Remove)?;
        self.before_change(to, FileChange::MakeDirectory)?;
        self.inner().rename_directory(from, to)
    }

    fn set_attributes(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        self.before_change(path, FileChange::SetAttributes)?;
        self.inner().set_attributes(path, attributes)
    }

    fn check_attributes(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        self.inner().check_attributes(path, attributes)
    }

    fn link_target(&self, path: &Path) -> Result<Option<PathBuf>, FileError> {
        self.inner().link_target(path)
    }

    fn make_link(&self, path: &Path, target: &Path, replaces_file: bool) -> Result<(), FileError> {
        self.before_change(path, FileChange::MakeLink)?;
        self.inner().make_link(path, target, replaces_file)
    }

    fn remove(&self, path: &Path, force: bool) -> Result<(), FileError> {
        self.before_change(path, FileChange::Remove)?;
        self.inner().remove(path, force)
    }

    fn tree_size(&self, path: &Path, max_entries: u64) -> TreeSize {
        self.inner().tree_size(path, max_entries)
    }

    fn walk(
        &self,
        path: &Path,
        step: &dyn Fn(&Path, bool) -> WalkStep,
    ) -> Result<Option<Vec<TreeEntry>>, FileError> {
        self.inner().walk(path, step)
    }

    fn has_content(&self, path: &Path, size: u64, content: NewContent<'_>) -> Result<bool, FileError> {
        self.inner().has_content(path, size, content)
    }

    fn read_user_file(&self, file: UserFile<'_>, limit: u64) -> Result<Option<UserFileContent>, FileError> {
        self.inner().read_user_file(file, limit)
    }

    fn write_user_file(&self, file: UserFile<'_>, content: &[u8]) -> Result<(), FileError> {
        self.before_change(&file.path(), FileChange::Write)?;
        self.inner().write_user_file(file, content)
    }

    fn blocking_mount(&self, path: &Path, below: bool) -> Result<Option<PathBuf>, FileError> {
        self.inner().blocking_mount(path, below)
    }

    fn check_writable(&self, path: &Path, part: ChangedPart) -> Result<(), FileError> {
        self.inner().check_writable(path, part)
    }

    fn closed_directory(&self, user: &Identity, directory: &Path, writes: bool) -> Option<ClosedDirectory> {
        self.inner().closed_directory(user, directory, writes)
    }

    fn back_up(
        &self,
        path: &Path,
        state: &Path,
        at: SystemTime,
        name: BackupName,
    ) -> Result<PathBuf, FileError> {
        self.before_change(path, FileChange::BackUp)?;
        self.inner().back_up(path, state, at, name)
    }

    fn can_chown(&self, uid: Option<u32>, gid: Option<u32>) -> bool {
        self.inner().can_chown(uid, gid)
    }

    fn user(&self, name: &str) -> Result<Option<u32>, FileError> {
        self.inner().user(name)
    }

    fn group(&self, name: &str) -> Result<Option<u32>, FileError> {
        self.inner().group(name)
    }

    fn user_name(&self, uid: u32) -> Result<Option<String>, FileError> {
        self.inner().user_name(uid)
    }

    fn group_name(&self, gid: u32) -> Result<Option<String>, FileError> {
        self.inner().group_name(gid)
    }
}
