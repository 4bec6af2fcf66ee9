//! Writing several files, with one wait for the disk.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::io::Errno;

use super::{CompleteFile, FileError, FileLabels, FileStep, NewFile, complete, replaceable, sync_directory};
use crate::command::{Cancellation, CancellationLevel};
use crate::files::AfterFailure;
use crate::files::parent::OpenParents;
use crate::files::resolve::ResolvedPath;
use crate::files::sync_queue::{MAX_BYTES, MAX_FILES};
use crate::raw;

/// Device and inode of a directory.
type DirectoryId = (u64, u64);

/// Writes files as [`super::write`] does, and returns a result for each. All are completed beside those that they
/// replace, then all are synced, then they are renamed in their order, and each directory is synced once: a disk takes
/// much longer for files that are synced one after the other. After a cancellation, all but the first keep their old content.
pub(in super::super) fn write_many(
    files: &[(&Path, NewFile<'_>)],
    after_failure: AfterFailure,
    labels: &FileLabels,
    cancellation: &Cancellation,
) -> Vec<Result<String, FileError>> {
    let writer = BatchWriter { stops: after_failure == AfterFailure::Stop, labels, cancellation };
    let mut written = Vec::with_capacity(files.len());
    while written.len() < files.len() && !writer.is_stopped_by(&written) {
        let complete = writer.complete_some(&files[written.len()..]);
        let is_first = written.is_empty();
        written.extend(writer.place(complete, is_first));
    }
    written.resize_with(files.len(), || Err(NOT_WRITTEN));
    written
}

/// Error of a file that keeps its old content because the files before it ended the writing.
const NOT_WRITTEN: FileError = FileError::Cancelled { changed: false };

struct BatchWriter<'a> {
    /// No file is renamed after one that failed.
    stops: bool,
    labels: &'a FileLabels,
    cancellation: &'a Cancellation,
}

impl BatchWriter<'_> {
    fn is_stopped_by<T>(&self, results: &[Result<T, FileError>]) -> bool {
        self.stops && results.iter().any(Result::is_err)
    }

    /// Completes the first of these files, at least one, beside those that they replace.
    fn complete_some(&self, files: &[(&Path, NewFile<'_>)]) -> Vec<Result<CompleteFile, FileError>> {
        let mut completed = Vec::new();
        let mut parents = OpenParents::default();
        let mut targets: HashSet<(DirectoryId, OsString)> = HashSet::new();
        let mut size = 0;
        for (path, new) in files.iter().take(MAX_FILES) {
            let found = ResolvedPath::find_among(path, &mut parents)
                .and_then(|resolved| replaceable(resolved, new.attributes))
                .and_then(|resolved| Ok((directory_id(&resolved)?, resolved)));
            let file = match found {
                Ok((directory, resolved)) => {
                    // By a link, another path may lead to the same file. The later one replaces the earlier one.
                    if !targets.insert((directory, resolved.name.clone())) {
                        break;
                    }
                    complete(resolved, new, self.labels, self.cancellation)
                }
                Err(error) => Err(error),
            };
            // The files that are open are closed before the next attempt.
            if matches!(&file, Err(error) if is_out_of_descriptors(error))
                && completed.iter().any(Result::is_ok)
            {
                break;
            }
            size += file.as_ref().map_or(0, |file| file.size);
            let is_last = size >= MAX_BYTES || self.stops && file.is_err();
            completed.push(file);
            if is_last {
                break;
            }
        }
        completed
    }

    /// Syncs the files, renames them in their order, and syncs their directories. `is_first` holds for the first file
    /// of all, which a cancellation does not keep from its place.
    fn place(
        &self,
        files: Vec<Result<CompleteFile, FileError>>,
        is_first: bool,
    ) -> Vec<Result<String, FileError>> {
        for file in files.iter().flatten() {
            // The sync that follows reports an error.
            let _best_effort = raw::begin_writeback(file.temp.file.as_fd());
        }
        let sync =
            |file: Result<CompleteFile, FileError>| file.and_then(|file| file.temp.sync().map(|()| file));
        let files: Vec<_> = files.into_iter().map(sync).collect();
        let mut directories = Directories::default();
        let mut renamed = Vec::with_capacity(files.len());
        for file in files {
            let can_be_cancelled = !is_first || !renamed.is_empty();
            let is_cancelled = can_be_cancelled && self.cancellation.level() > CancellationLevel::Go;
            renamed.push(match file {
                Ok(_) if is_cancelled || self.is_stopped_by(&renamed) => Err(NOT_WRITTEN),
                file => file.and_then(|file| directories.rename(file)),
            });
        }
        let synced = directories.sync();
        let finish = |renamed: Result<(CompleteFile, usize), FileError>| {
            let (file, directory) = renamed?;
            let path = file.temp.resolved.parent_path();
            let refused = |error| FileError::step(&path, FileStep::Sync, error).after_change();
            synced[directory].map_err(refused)?;
            Ok(file.sha256)
        };
        renamed.into_iter().map(finish).collect()
    }
}

fn is_out_of_descriptors(error: &FileError) -> bool {
    matches!(error, FileError::Step { source, .. } if source.raw_os_error() == Some(Errno::MFILE.raw_os_error()))
}

fn directory_id(resolved: &ResolvedPath) -> Result<DirectoryId, FileError> {
    resolved.parent_stat().map(|stat| (stat.st_dev, stat.st_ino))
}

/// Open directories with renamed files.
#[derive(Default)]
struct Directories(Vec<(DirectoryId, OwnedFd)>);

impl Directories {
    /// Renames a file, and returns the position of its directory.
    fn rename(&mut self, mut file: CompleteFile) -> Result<(CompleteFile, usize), FileError> {
        let directory = self.open(&file.temp.resolved)?;
        let name = file.temp.resolved.name.clone();
        file.temp.rename(&name)?;
        Ok((file, directory))
    }

    /// Opens the directory of a file, unless it is open, and returns its position.
    fn open(&mut self, resolved: &ResolvedPath) -> Result<usize, FileError> {
        let id = directory_id(resolved)?;
        if let Some(position) = self.0.iter().rposition(|(other, _)| *other == id) {
            return Ok(position);
        }
        self.0.push((id, resolved.open_parent()?));
        Ok(self.0.len() - 1)
    }

    fn sync(&self) -> Vec<Result<(), Errno>> {
        self.0.iter().map(|(_, directory)| sync_directory(directory)).collect()
    }
}
