//! Files of this machine.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use ccm_model::FileVersion;
use rustix::process::{getegid, geteuid, getgroups};

use super::content::{self, Readable};
use super::labels::FileLabels;
use super::{
    AfterFailure, BackupName, ChangedPart, ClosedDirectory, ExtractionTarget, FileAttributes, FileError,
    Files, InspectOptions, NewContent, NewFile, PathInfo, PathTrust, ReadContent, StagedFile, TreeEntry,
    TreeSize, TrustedPath, UserFile, UserFileContent, WalkStep, attributes, backup, closed, directory,
    inspect, is_absence, link, names, remove, resolve, tree, user_file, version, walk, writable, write,
};
use crate::account::{AccountDatabases, Identity};
use crate::command::Cancellation;

/// Files of this machine.
#[derive(Clone, Debug)]
pub struct SystemFiles {
    cancellation: Cancellation,
    accounts: Arc<AccountDatabases>,
    labels: Arc<FileLabels>,
}

impl SystemFiles {
    /// Makes the files of a run. Its cancellation ends long operations, such as copying a large file.
    pub fn new(cancellation: Cancellation) -> Self {
        let accounts = Arc::new(AccountDatabases::of_this_machine());
        Self { cancellation, accounts, labels: Arc::new(FileLabels::of_this_machine()) }
    }
}

#[cfg(test)]
impl SystemFiles {
    /// Makes the files of a run on a machine with these labels.
    pub(super) fn with_labels(labels: FileLabels) -> Self {
        Self { labels: Arc::new(labels), ..Self::new(Cancellation::never()) }
    }
}

impl Files for SystemFiles {
    fn exists(&self, path: &Path) -> io::Result<bool> {
        match path.metadata() {
            Ok(_) => Ok(true),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn is_directory(&self, path: &Path) -> io::Result<bool> {
        match path.metadata() {
            Ok(metadata) => Ok(metadata.is_dir()),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(_) => Err(io::ErrorKind::InvalidInput.into()),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>> {
        match path.metadata().and_then(|metadata| metadata.modified()) {
            Ok(modified) => Ok(Some(modified)),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn version(&self, path: &Path) -> Option<FileVersion> {
        version::of(&path.metadata().ok()?, SystemTime::now())
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        resolve::canonical(path)
    }

    fn check_links(&self, path: &Path) -> io::Result<()> {
        resolve::check_links(path)
    }

    fn trusted_path(&self, path: &Path, trust: PathTrust) -> Result<TrustedPath, FileError> {
        resolve::trusted_path(path, trust)
    }

    fn real_directory(&self, path: &Path) -> Option<PathBuf> {
        resolve::real_directory(path)
    }

    fn inspect(&self, path: &Path, options: InspectOptions<'_>) -> Result<PathInfo, FileError> {
        inspect::inspect(path, options, &self.cancellation)
    }

    fn read(&self, path: &Path, keep_up_to: u64) -> Result<ReadContent, FileError> {
        let source =
            Readable { file: inspect::open_source(path)?, path, expected: None, max_length: u64::MAX };
        content::read(source, &self.cancellation, keep_up_to, |_| Ok(()))
    }

    fn digest(&self, path: &Path, max_length: u64) -> Result<(String, u64), FileError> {
        let (file, length) = inspect::open_source_with_length(path)?;
        if length > max_length {
            return Err(FileError::too_long(path));
        }
        let source = Readable { file, path, expected: None, max_length: u64::MAX };
        let mut left = max_length;
        let read = content::read(source, &self.cancellation, 0, |chunk| {
            let rest = left.checked_sub(chunk.len() as u64);
            left = rest.ok_or_else(|| FileError::too_long(path))?;
            Ok(())
        })?;
        Ok((read.sha256, read.size))
    }

    fn content(&self, path: &Path, max_length: u64) -> Result<Option<Vec<u8>>, FileError> {
        let (file, length) = inspect::open_source_with_length(path)?;
        content::read_bounded(file, length, path, max_length)
    }

    fn write(&self, path: &Path, new: &NewFile<'_>) -> Result<String, FileError> {
        write::write(path, new, &self.labels, &self.cancellation)
    }

    fn write_many(
        &self,
        files: &[(&Path, NewFile<'_>)],
        after_failure: AfterFailure,
    ) -> Vec<Result<String, FileError>> {
        write::write_many(files, after_failure, &self.labels, &self.cancellation)
    }

    fn stage(&self, path: &Path, attributes: FileAttributes) -> Result<StagedFile, FileError> {
        StagedFile::make(path, attributes, Arc::clone(&self.labels))
    }

    fn extraction_target(&self, directory: &Path) -> Result<ExtractionTarget, FileError> {
        Ok(ExtractionTarget::new(directory))
    }

    fn make_directory(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        directory::make(path, attributes, &self.labels)
    }

    fn rename_directory(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        directory::rename(from, to)
    }

    fn set_attributes(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        attributes::set_attributes(path, attributes)
    }

    fn check_attributes(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        attributes::check_attributes(path, attributes)
    }

    fn link_target(&self, path: &Path) -> Result<Option<PathBuf>, FileError> {
        link::target(path)
    }

    fn make_link(&self, path: &Path, target: &Path, replaces_file: bool) -> Result<(), FileError> {
        link::make(path, target, replaces_file, &self.labels)
    }

    fn remove(&self, path: &Path, force: bool) -> Result<(), FileError> {
        remove::remove(path, force, &self.cancellation)
    }

    fn tree_size(&self, path: &Path, max_entries: u64) -> TreeSize {
        tree::size(path, max_entries, &self.cancellation)
    }

    fn walk(
        &self,
        path: &Path,
        step: &dyn Fn(&Path, bool) -> WalkStep,
    ) -> Result<Option<Vec<TreeEntry>>, FileError> {
        walk::walk(path, step, &self.cancellation)
    }

    fn has_content(&self, path: &Path, size: u64, content: NewContent<'_>) -> Result<bool, FileError> {
        let file = inspect::open_unlinked(path)?;
        match content {
            NewContent::Bytes(bytes) => content::has_bytes(file, path, bytes),
            NewContent::CopyOf(other)
            | NewContent::KnownCopyOf { source: other, .. }
            | NewContent::SignedCopyOf { source: other, .. } => {
                let other = Readable {
                    file: inspect::open_source(other)?,
                    path: other,
                    expected: None,
                    max_length: u64::MAX,
                };
                let file = Readable { file, path, expected: None, max_length: u64::MAX };
                content::is_copy(file, other, size, &self.cancellation)
            }
        }
    }

    fn read_user_file(&self, file: UserFile<'_>, limit: u64) -> Result<Option<UserFileContent>, FileError> {
        user_file::read(file, limit)
    }

    fn write_user_file(&self, file: UserFile<'_>, content: &[u8]) -> Result<(), FileError> {
        user_file::write(file, content, &self.labels)
    }

    fn blocking_mount(&self, path: &Path, below: bool) -> Result<Option<PathBuf>, FileError> {
        match remove::check_mounts(path, below) {
            Ok(()) => Ok(None),
            Err(FileError::MountPoint(mount)) => Ok(Some(mount)),
            Err(error) => Err(error),
        }
    }

    fn check_writable(&self, path: &Path, part: ChangedPart) -> Result<(), FileError> {
        writable::check(path, part)
    }

    fn closed_directory(&self, user: &Identity, directory: &Path, writes: bool) -> Option<ClosedDirectory> {
        closed::find(user, directory, writes)
    }

    fn back_up(
        &self,
        path: &Path,
        state: &Path,
        at: SystemTime,
        name: BackupName,
    ) -> Result<PathBuf, FileError> {
        backup::back_up(path, state, at, name, &self.cancellation)
    }

    fn can_chown(&self, uid: Option<u32>, gid: Option<u32>) -> bool {
        let own = geteuid();
        let has_group = |gid| {
            getegid().as_raw() == gid
                || getgroups().is_ok_and(|groups| groups.iter().any(|group| group.as_raw() == gid))
        };
        own.is_root() || (uid.is_none_or(|uid| uid == own.as_raw()) && gid.is_none_or(has_group))
    }

    fn user(&self, name: &str) -> Result<Option<u32>, FileError> {
        names::user(&self.accounts, name)
    }

    fn group(&self, name: &str) -> Result<Option<u32>, FileError> {
        names::group(&self.accounts, name)
    }

    fn user_name(&self, uid: u32) -> Result<Option<String>, FileError> {
        names::user_name(&self.accounts, uid)
    }

    fn group_name(&self, gid: u32) -> Result<Option<String>, FileError> {
        names::group_name(&self.accounts, gid)
    }
}
