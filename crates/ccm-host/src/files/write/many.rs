//! Writing several files, with one wait for the disk.

use std::collections::HashSet;
use std::ffi::OsString;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::fstat;
use rustix::io::Errno;

use super::{CompleteFile, FileError, FileLabels, FileStep, NewFile, complete, replaceable, sync_directory};
use crate::command::{Cancellation, CancellationLevel};
use crate::files::resolve::ResolvedPath;
use crate::raw;

/// Maximum number of files that are open at once.
const MAX_FILES: usize = 256;

/// Size of contents from which on they are synced before others are written, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Device and inode of a directory.
type DirectoryId = (u64, u64);

/// Writes files as [`super::write`] does, and returns a result for each. All are completed beside those that they
/// replace, then all are synced, then they are renamed in their order, and each directory is synced once: a disk takes
/// much longer for files that are synced one after the other. After a cancellation, all but the first keep their old content.
pub(in super::super) fn write_many(
    files: &[(&Path, NewFile<'_>)],
    labels: &FileLabels,
    cancellation: &Cancellation,
) -> Vec<Result<String, FileError>> {
    let mut written = Vec::with_capacity(files.len());
    while written.len() < files.len() {
        let complete = complete_some(&files[written.len()..], labels, cancellation);
        let is_first = written.is_empty();
        written.extend(place(complete, is_first, cancellation));
    }
    written
}

/// Completes the first of these files, at least one, beside those that they replace.
fn complete_some(
    files: &[(&Path, NewFile<'_>)],
    labels: &FileLabels,
    cancellation: &Cancellation,
) -> Vec<Result<CompleteFile, FileError>> {
    let mut completed = Vec::new();
    let mut targets: HashSet<(DirectoryId, OsString)> = HashSet::new();
    let mut size = 0;
    for (path, new) in files.iter().take(MAX_FILES) {
        let resolved = replaceable(path, new.attributes);
        let file = match resolved.and_then(|resolved| Ok((directory_id(&resolved)?, resolved))) {
            Ok((directory, resolved)) => {
                // By a link, another path may lead to the same file. The later one replaces the earlier one.
                if !targets.insert((directory, resolved.name.clone())) {
                    break;
                }
                complete(resolved, new, labels, cancellation)
            }
            Err(error) => Err(error),
        };
        // The files that are open are closed before the next attempt.
        if matches!(&file, Err(error) if is_out_of_descriptors(error)) && completed.iter().any(Result::is_ok)
        {
            break;
        }
        size += file.as_ref().map_or(0, |file| file.size);
        completed.push(file);
        if size >= MAX_BYTES {
            break;
        }
    }
    completed
}

fn is_out_of_descriptors(error: &FileError) -> bool {
    matches!(error, FileError::Step { source, .. } if source.raw_os_error() == Some(Errno::MFILE.raw_os_error()))
}

fn directory_id(resolved: &ResolvedPath) -> Result<DirectoryId, FileError> {
    let stat = fstat(&resolved.parent).map_err(FileError::at(&resolved.path, FileStep::Inspect))?;
    Ok((stat.st_dev, stat.st_ino))
}

/// Syncs the files, renames them in their order, and syncs their directories. `is_first` holds for the first file of
/// all, which a cancellation does not keep from its place.
fn place(
    files: Vec<Result<CompleteFile, FileError>>,
    is_first: bool,
    cancellation: &Cancellation,
) -> Vec<Result<String, FileError>> {
    for file in files.iter().flatten() {
        // The sync that follows reports an error.
        let _best_effort = raw::begin_writeback(file.temp.file.as_fd());
    }
    let sync = |file: Result<CompleteFile, FileError>| file.and_then(|file| file.temp.sync().map(|()| file));
    let files: Vec<_> = files.into_iter().map(sync).collect();
    let mut directories = Directories::default();
    let rename = |(position, file): (usize, Result<CompleteFile, FileError>)| {
        let mut file = file?;
        let can_be_cancelled = !is_first || position > 0;
        if can_be_cancelled && cancellation.level() > CancellationLevel::Go {
            return Err(FileError::Cancelled { changed: false });
        }
        let directory = directories.open(&file.temp.resolved)?;
        let name = file.temp.resolved.name.clone();
        file.temp.rename(&name)?;
        Ok((file, directory))
    };
    let renamed: Vec<_> = files.into_iter().enumerate().map(rename).collect();
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

/// Open directories with renamed files.
#[derive(Default)]
struct Directories(Vec<(DirectoryId, OwnedFd)>);

impl Directories {
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
