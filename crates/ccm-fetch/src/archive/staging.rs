//! The fresh directory that an archive is extracted to before anything gets into its place.

use std::ffi::{OsStr, OsString};
use std::fs::{File, FileTimes};
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Gid, Mode, OFlags, Uid, chownat, fchmod, fchown, fstat, linkat, mkdirat, openat,
    statat, symlinkat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use ccm_host::{FileError, FileStep, SyncQueue, empty_directory, temp_name};

use super::entry::{ArchiveEntry, EntryKind, check_link, parts_of};
use super::stop::ExtractionStop;
use super::unpack::{ReadPart, Receiver, refused};
use super::{EntryError, ExtractError, ExtractRequest, Extracted, placement};

/// Flags to open a directory that is no link.
pub(super) const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

const NEW_FILE: OFlags =
    OFlags::WRONLY.union(OFlags::CREATE).union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Size of a write.
const CHUNK: usize = 256 << 10;

/// Fresh directory in the target directory. It is removed with everything in it when it is dropped.
pub(super) struct Staging {
    /// Directory that the archive is extracted into.
    pub target: OwnedFd,
    pub target_path: PathBuf,
    pub directory: OwnedFd,
    name: OsString,
    owner: (Option<Uid>, Option<Gid>),
    strip: usize,
    extracted: Extracted,
    entries: u64,
    max_entries: u64,
    /// Directory of the last entry.
    current: Option<(Vec<String>, OwnedFd)>,
    buffer: Vec<u8>,
    /// Files that are complete and not yet synced.
    unsynced: SyncQueue,
    stop: ExtractionStop,
}

impl Staging {
    pub(super) fn make(request: &ExtractRequest, stop: &ExtractionStop) -> Result<Self, ExtractError> {
        let path = request.into.path();
        let target = request.into.open()?;
        let mut name = request.path.file_name().unwrap_or_default().to_owned();
        name.push(".files");
        let name = temp_name(&name);
        let staged = path.join(&name);
        remove_leftover(&target, &name, &staged)?;
        mkdirat(&target, &*name, Mode::RWXU).map_err(FileError::at(&staged, FileStep::Create))?;
        let directory = openat(&target, &*name, DIRECTORY, Mode::empty());
        let directory = directory.map_err(FileError::at(&staged, FileStep::Create))?;
        let stat = fstat(&directory).map_err(FileError::at(&staged, FileStep::Inspect))?;
        if stat.st_uid != geteuid().as_raw() {
            return Err(FileError::Changed(staged).into());
        }
        Ok(Self {
            target,
            target_path: path.to_owned(),
            directory,
            name,
            owner: (request.uid.map(Uid::from_raw), request.gid.map(Gid::from_raw)),
            strip: request.strip_components,
            extracted: Extracted::default(),
            entries: 0,
            max_entries: request.max_entries,
            current: None,
            buffer: vec![0; CHUNK],
            unsynced: SyncQueue::new(),
            stop: stop.clone(),
        })
    }

    pub(super) fn extracted(&self) -> Extracted {
        self.extracted
    }

    /// Syncs everything to the disk.
    pub(super) fn sync(&mut self) -> Result<(), ExtractError> {
        self.unsynced.sync()?;
        Ok(placement::sync_directories(&self.directory, &self.path())?)
    }

    pub(super) fn path(&self) -> PathBuf {
        self.target_path.join(&self.name)
    }

    fn count(&mut self) -> Result<(), ExtractError> {
        self.entries += 1;
        if self.entries > self.max_entries {
            return Err(ExtractError::TooManyEntries { max: self.max_entries });
        }
        Ok(())
    }

    /// Opens a directory, and makes it and those above it with the permissions.
    fn open_directory(
        &mut self,
        parts: &[&str],
        mode: u32,
        entry: &ArchiveEntry,
    ) -> Result<OwnedFd, ExtractError> {
        if let Some((current, directory)) = &self.current
            && current.iter().map(String::as_str).eq(parts.iter().copied())
        {
            return Ok(self.cloned(directory)?);
        }
        let mut at = self.cloned(&self.directory)?;
        for (depth, part) in parts.iter().enumerate() {
            let mode = if depth + 1 == parts.len() { mode } else { 0o755 };
            at = match openat(&at, *part, DIRECTORY, Mode::empty()) {
                Ok(found) => found,
                Err(Errno::NOENT) => {
                    self.count()?;
                    self.make_directory(&at, part, mode)?
                }
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(refused(&entry.name, EntryError::BelowFile)),
                Err(error) => return Err(self.failed(part, FileStep::Inspect, error).into()),
            };
        }
        self.current = Some((parts.iter().map(|part| (*part).to_owned()).collect(), self.cloned(&at)?));
        Ok(at)
    }

    fn make_directory(&mut self, at: &OwnedFd, name: &str, mode: u32) -> Result<OwnedFd, ExtractError> {
        mkdirat(at, name, Mode::RWXU).map_err(|error| self.failed(name, FileStep::Create, error))?;
        let opened = openat(at, name, DIRECTORY, Mode::empty());
        let opened = opened.map_err(|error| self.failed(name, FileStep::Create, error))?;
        self.give(&opened, name)?;
        let mode = Mode::from_raw_mode(mode);
        fchmod(&opened, mode).map_err(|error| self.failed(name, FileStep::Mode, error))?;
        self.extracted.directories += 1;
        Ok(opened)
    }

    /// Gives a new file its owner.
    fn give(&self, file: &OwnedFd, name: &str) -> Result<(), FileError> {
        let (uid, gid) = self.owner;
        if uid.is_none() && gid.is_none() {
            return Ok(());
        }
        fchown(file, uid, gid).map_err(|error| self.failed(name, FileStep::Owner(self.owner_names()), error))
    }

    fn owner_names(&self) -> String {
        let (uid, gid) = self.owner;
        let number = |id: Option<u32>| id.map(|id| id.to_string()).unwrap_or_default();
        format!("{}:{}", number(uid.map(Uid::as_raw)), number(gid.map(Gid::as_raw)))
    }

    fn write_file(
        &mut self,
        parent: &OwnedFd,
        name: &str,
        entry: &ArchiveEntry,
        content: &mut ReadPart<'_>,
    ) -> Result<(), ExtractError> {
        let mode = entry.permissions().map_err(|problem| refused(&entry.name, problem))?;
        let file = openat(parent, name, NEW_FILE, Mode::RUSR | Mode::WUSR);
        let file = file.map_err(|error| self.not_made(name, entry, error))?;
        self.give(&file, name)?;
        let mut file = File::from(file);
        let mut size = 0;
        loop {
            self.stop.check()?;
            let length = content(&mut self.buffer)?;
            if length == 0 {
                break;
            }
            let written = file.write_all(&self.buffer[..length]);
            written.map_err(|error| FileError::step(&self.path_of(name), FileStep::Content, error))?;
            size += length as u64;
        }
        self.extracted.bytes += size;
        fchmod(&file, Mode::from_raw_mode(mode)).map_err(|error| self.failed(name, FileStep::Mode, error))?;
        if let Some(modified) = entry.modified() {
            // A time is not worth a failure.
            let _ = file.set_times(FileTimes::new().set_modified(modified));
        }
        let path = self.path_of(name);
        Ok(self.unsynced.add(file.into(), size, path)?)
    }

    fn make_hard_link(
        &mut self,
        parent: &OwnedFd,
        name: &str,
        entry: &ArchiveEntry,
        to: &[u8],
    ) -> Result<(), ExtractError> {
        let problem = |problem| refused(&entry.name, problem);
        let parts = parts_of(to, self.strip).map_err(|_| problem(EntryError::HardLink))?;
        let (last, above) = parts.split_last().ok_or_else(|| problem(EntryError::HardLink))?;
        let mut at = self.cloned(&self.directory)?;
        for part in above {
            at = openat(&at, *part, DIRECTORY, Mode::empty()).map_err(|_| problem(EntryError::HardLink))?;
        }
        let is_file = statat(&at, *last, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
        if !is_file {
            return Err(problem(EntryError::HardLink));
        }
        linkat(&at, *last, parent, name, AtFlags::empty()).map_err(|error| self.not_made(name, entry, error))
    }

    fn not_made(&self, name: &str, entry: &ArchiveEntry, error: Errno) -> ExtractError {
        match error {
            // Nothing else writes here, so the archive has the name twice.
            Errno::EXIST => refused(&entry.name, EntryError::Duplicate),
            Errno::NAMETOOLONG => refused(&entry.name, EntryError::TooLong),
            error => self.failed(name, FileStep::Create, error).into(),
        }
    }

    fn failed(&self, name: &str, step: FileStep, error: Errno) -> FileError {
        FileError::step(&self.path_of(name), step, error)
    }

    fn path_of(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn cloned(&self, descriptor: &OwnedFd) -> Result<OwnedFd, FileError> {
        let cloned = descriptor.as_fd().try_clone_to_owned();
        cloned.map_err(|error| FileError::step(&self.path(), FileStep::Inspect, error))
    }
}

impl Receiver for Staging {
    fn receive(&mut self, entry: &ArchiveEntry, content: &mut ReadPart<'_>) -> Result<(), ExtractError> {
        self.stop.check()?;
        self.count()?;
        let problem = |problem| refused(&entry.name, problem);
        let parts = parts_of(&entry.name, self.strip).map_err(problem)?;
        let mode = entry.permissions().map_err(problem)?;
        // As with tar, what has no name left is not extracted.
        let Some((name, above)) = parts.split_last() else {
            return Ok(());
        };
        if above.first().unwrap_or(name) == &self.name.to_string_lossy() {
            return Err(problem(EntryError::Duplicate));
        }
        if entry.kind == EntryKind::Directory {
            let parts = [above, &[*name]].concat();
            return self.open_directory(&parts, mode, entry).map(drop);
        }
        let parent = self.open_directory(above, 0o755, entry)?;
        match &entry.kind {
            EntryKind::File { .. } => self.write_file(&parent, name, entry, content)?,
            EntryKind::Link(text) => {
                let text = check_link(text, above.len()).map_err(problem)?;
                symlinkat(text, &parent, *name).map_err(|error| self.not_made(name, entry, error))?;
                if self.owner != (None, None) {
                    let (uid, gid) = self.owner;
                    chownat(&parent, *name, uid, gid, AtFlags::SYMLINK_NOFOLLOW)
                        .map_err(|error| self.failed(name, FileStep::Owner(self.owner_names()), error))?;
                }
            }
            EntryKind::HardLink(to) => self.make_hard_link(&parent, name, entry, to)?,
            EntryKind::Directory => {}
        }
        self.extracted.files += 1;
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // The error that led here is the one to report. The next run tries again.
        let _ = remove_leftover(&self.target, &self.name, &self.path());
    }
}

/// Removes a directory of this or an earlier extraction.
fn remove_leftover(target: &OwnedFd, name: &OsStr, path: &Path) -> Result<(), FileError> {
    let refused = |error| FileError::step(path, FileStep::Leftover, error);
    match statat(target, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(refused(error)),
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Directory => {
            let directory = openat(target, name, DIRECTORY, Mode::empty()).map_err(refused)?;
            empty_directory(directory, path)?;
            unlinkat(target, name, AtFlags::REMOVEDIR).map_err(refused)
        }
        Ok(_) => unlinkat(target, name, AtFlags::empty()).map_err(refused),
    }
}
