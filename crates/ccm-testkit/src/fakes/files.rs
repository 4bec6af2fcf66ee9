//! Fake files.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_host::{
    BackupName, FileAttributes, FileError, FileInfo, FileKind, FileStep, Files, HashPolicy, InspectOptions,
    NewContent, NewFile, PathInfo, ReadContent, TreeSize, sha256,
};
use nix::errno::Errno;

/// Files in memory.
#[derive(Clone, Debug, Default)]
pub struct FakeFiles {
    /// Paths of empty files.
    pub files: BTreeSet<PathBuf>,
    /// Paths of directories.
    pub directories: BTreeSet<PathBuf>,
    /// UID and GID that ccm runs as; `None` is root.
    pub runs_as: Option<u32>,
    /// Modification times; the default is the Unix epoch.
    pub modified: BTreeMap<PathBuf, SystemTime>,
    /// Mount points.
    pub mounts: BTreeSet<PathBuf>,
    /// Files with content and attributes. Only these are ever changed.
    pub entries: RefCell<BTreeMap<PathBuf, FakeFile>>,
    /// Directories that links lead to, by the paths of the links. Only [`Files::real_directory`] follows them.
    pub directory_links: BTreeMap<PathBuf, PathBuf>,
    /// Texts of links that lead nowhere.
    pub links: RefCell<BTreeMap<PathBuf, PathBuf>>,
    /// Numbers of users and groups, besides root and names in digits.
    pub names: RefCell<BTreeMap<String, u32>>,
    /// Number of upcoming lookups of users and groups that fail.
    pub failing_lookups: Cell<usize>,
    /// Users and groups that were looked up, in order.
    pub lookups: RefCell<Vec<String>>,
    /// Files whose content [`Files::inspect`] read, in order.
    pub contents_read: RefCell<Vec<PathBuf>>,
    /// Files whose content was asked for as bytes, in order.
    pub contents_kept: RefCell<Vec<PathBuf>>,
}

/// File or directory in [`FakeFiles`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FakeFile {
    /// Content of a regular file; `None` for a directory.
    pub content: Option<Vec<u8>>,
    /// Permissions and special bits.
    pub mode: u32,
    /// UID of the owner.
    pub uid: u32,
    /// GID.
    pub gid: u32,
    /// The path is a link to the file.
    pub is_link: bool,
}

impl FakeFile {
    /// Returns a file of root with mode 0644.
    pub fn of(content: &str) -> Self {
        Self { content: Some(content.into()), mode: 0o644, uid: 0, gid: 0, is_link: false }
    }

    /// Returns a directory of root with mode 0755.
    pub fn directory() -> Self {
        Self { content: None, mode: 0o755, uid: 0, gid: 0, is_link: false }
    }

    fn apply(&mut self, attributes: FileAttributes) {
        self.mode = attributes.mode.unwrap_or(self.mode);
        self.uid = attributes.uid.unwrap_or(self.uid);
        self.gid = attributes.gid.unwrap_or(self.gid);
    }
}

fn step_error(path: &Path, step: FileStep, error: Errno) -> FileError {
    FileError::Step { path: path.to_owned(), step, changed: false, source: error.into() }
}

impl FakeFiles {
    fn entry(&self, path: &Path) -> Option<FakeFile> {
        if let Some(entry) = self.entries.borrow().get(path) {
            return Some(entry.clone());
        }
        if self.files.contains(path) {
            return Some(FakeFile::of(""));
        }
        (path == Path::new("/") || self.directories.contains(path)).then(FakeFile::directory)
    }

    fn entries_below(&self, path: &Path) -> Vec<PathBuf> {
        let entries = self.entries.borrow();
        let all = entries.keys().chain(&self.files).chain(&self.directories);
        all.filter(|other| other.starts_with(path) && *other != path).cloned().collect()
    }

    fn number(&self, kind: &str, name: &str) -> Result<Option<u32>, FileError> {
        self.look_up(kind, name)?;
        let known = self.names.borrow().get(name).copied().or((name == "root").then_some(0));
        Ok(known.or_else(|| name.parse().ok()))
    }

    fn name(&self, kind: &str, number: u32) -> Result<Option<String>, FileError> {
        self.look_up(kind, &number.to_string())?;
        let names = self.names.borrow();
        let known = names.iter().find(|(_, known)| **known == number).map(|(name, _)| name.clone());
        Ok(known.or_else(|| (number == 0).then(|| "root".to_owned())))
    }

    fn look_up(&self, kind: &str, what: &str) -> Result<(), FileError> {
        self.lookups.borrow_mut().push(format!("{kind} {what}"));
        match self.failing_lookups.get().checked_sub(1) {
            None => Ok(()),
            Some(left) => {
                self.failing_lookups.set(left);
                Err(step_error(Path::new(what), FileStep::Lookup, Errno::ECONNREFUSED))
            }
        }
    }

    fn note_kept(&self, path: &Path, keep_up_to: u64) {
        if keep_up_to > 0 {
            self.contents_kept.borrow_mut().push(path.to_owned());
        }
    }

    fn parent_is_missing(&self, path: &Path) -> bool {
        path.parent().is_some_and(|parent| self.entry(parent).is_none())
    }
}

impl Files for FakeFiles {
    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.entry(path).is_some())
    }

    fn is_directory(&self, path: &Path) -> io::Result<bool> {
        Ok(self.entry(path).is_some_and(|entry| entry.content.is_none()))
    }

    fn size(&self, path: &Path) -> io::Result<Option<u64>> {
        let Some(entry) = self.entry(path) else { return Ok(None) };
        let content = entry.content.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(Some(content.len() as u64))
    }

    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>> {
        let modified = self.modified.get(path).copied().unwrap_or(SystemTime::UNIX_EPOCH);
        Ok(self.exists(path)?.then_some(modified))
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        if self.exists(path)? { Ok(path.components().collect()) } else { Err(Errno::ENOENT.into()) }
    }

    fn real_directory(&self, path: &Path) -> Option<PathBuf> {
        let leads =
            |(link, directory): (&PathBuf, &PathBuf)| Some(directory.join(path.strip_prefix(link).ok()?));
        let is_asked = !self.directory_links.is_empty();
        // The longest path comes first.
        is_asked.then(|| self.directory_links.iter().rev().find_map(leads).unwrap_or_else(|| path.to_owned()))
    }

    fn inspect(&self, path: &Path, options: InspectOptions<'_>) -> Result<PathInfo, FileError> {
        let Some(entry) = self.entry(path) else {
            return Ok(PathInfo { parent_missing: self.parent_is_missing(path), ..PathInfo::default() });
        };
        let FakeFile { content, mode, uid, gid, is_link } = entry;
        let size = content.as_ref().map_or(0, Vec::len) as u64;
        let kind = match content {
            Some(_) => FileKind::File,
            None => FileKind::Directory { empty: Some(self.entries_below(path).is_empty()) },
        };
        if options.hash != HashPolicy::Never && content.is_some() {
            self.contents_read.borrow_mut().push(path.to_owned());
        }
        let is_same =
            options.hash != HashPolicy::Never && content.is_some() && content.as_deref() == options.compare;
        let read = content.filter(|_| !is_same);
        let sha256 =
            read.as_ref().filter(|_| options.hash != HashPolicy::Never).map(|content| sha256(content));
        self.note_kept(path, options.keep_up_to);
        let content = read.filter(|_| size <= options.keep_up_to);
        let target = Some(FileInfo { kind, mode, uid, gid, size, sha256, content, is_same });
        Ok(PathInfo { link: is_link, target, ..PathInfo::default() })
    }

    fn read(&self, path: &Path, keep_up_to: u64) -> Result<ReadContent, FileError> {
        match self.entry(path).map(|entry| entry.content) {
            None => Err(step_error(path, FileStep::Read, Errno::ENOENT)),
            Some(None) => Err(FileError::NotAFile { path: path.to_owned(), what: "a directory" }),
            Some(Some(content)) => {
                self.note_kept(path, keep_up_to);
                let size = content.len() as u64;
                let sha256 = sha256(&content);
                Ok(ReadContent { sha256, size, content: (size <= keep_up_to).then_some(content) })
            }
        }
    }

    fn write(&self, path: &Path, new: &NewFile<'_>) -> Result<String, FileError> {
        if self.parent_is_missing(path) {
            return Err(FileError::ParentMissing(path.parent().unwrap_or(path).to_owned()));
        }
        let content = match new.content {
            NewContent::Bytes(bytes) => bytes.to_owned(),
            NewContent::CopyOf(source)
            | NewContent::KnownCopyOf { source, .. }
            | NewContent::SignedCopyOf { source, .. } => {
                self.read(source, u64::MAX)?.content.unwrap_or_default()
            }
        };
        let sha256 = sha256(&content);
        let mut entry = self.entry(path).unwrap_or_else(|| FakeFile::of(""));
        entry.content = Some(content);
        entry.is_link = false;
        entry.apply(new.attributes);
        self.entries.borrow_mut().insert(path.to_owned(), entry);
        Ok(sha256)
    }

    fn make_directory(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        let mut entry = FakeFile::directory();
        entry.apply(attributes);
        self.entries.borrow_mut().insert(path.to_owned(), entry);
        Ok(())
    }

    fn rename_directory(&self, from: &Path, to: &Path) -> Result<(), FileError> {
        let mut entries = self.entries.borrow_mut();
        let moved: Vec<PathBuf> = entries.keys().filter(|path| path.starts_with(from)).cloned().collect();
        for path in moved {
            let (Some(entry), Ok(below)) = (entries.remove(&path), path.strip_prefix(from)) else { continue };
            let place = if below == Path::new("") { to.to_owned() } else { to.join(below) };
            entries.insert(place, entry);
        }
        Ok(())
    }

    fn set_attributes(&self, path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
        let Some(mut entry) = self.entry(path) else {
            return Err(step_error(path, FileStep::Inspect, Errno::ENOENT));
        };
        entry.apply(attributes);
        self.entries.borrow_mut().insert(path.to_owned(), entry);
        Ok(())
    }

    fn link_target(&self, path: &Path) -> Result<Option<PathBuf>, FileError> {
        Ok(self.links.borrow().get(path).cloned())
    }

    fn make_link(&self, path: &Path, target: &Path, replaces_file: bool) -> Result<(), FileError> {
        if self.entry(path).is_some() && !replaces_file {
            return Err(FileError::Changed(path.to_owned()));
        }
        self.entries.borrow_mut().remove(path);
        self.links.borrow_mut().insert(path.to_owned(), target.to_owned());
        Ok(())
    }

    fn remove(&self, path: &Path, force: bool) -> Result<(), FileError> {
        let below = self.entries_below(path);
        if !below.is_empty() && !force {
            return Err(step_error(path, FileStep::Remove, Errno::ENOTEMPTY));
        }
        let mut entries = self.entries.borrow_mut();
        below.iter().chain([&path.to_owned()]).for_each(|path| drop(entries.remove(path)));
        Ok(())
    }

    fn tree_size(&self, path: &Path, max_entries: u64) -> TreeSize {
        let below: Vec<FakeFile> =
            self.entries_below(path).iter().filter_map(|path| self.entry(path)).collect();
        let counted = below.iter().zip(0..max_entries).filter_map(|(entry, _)| entry.content.as_ref());
        let (files, bytes) =
            counted.fold((0, 0), |(files, bytes), content| (files + 1, bytes + content.len() as u64));
        TreeSize { files, bytes, is_partial: below.len() as u64 > max_entries }
    }

    fn blocking_mount(&self, path: &Path, below: bool) -> Result<Option<PathBuf>, FileError> {
        let mut mounts = self.mounts.iter();
        Ok(mounts.find(|mount| *mount == path || (below && mount.starts_with(path))).cloned())
    }

    fn back_up(&self, path: &Path, state: &Path, _: SystemTime, _: BackupName) -> Result<PathBuf, FileError> {
        let kept = state.join("backups").join(path.file_name().unwrap_or_default());
        if let Some(entry) = self.entry(path) {
            self.entries.borrow_mut().insert(kept.clone(), entry);
        }
        Ok(kept)
    }

    fn can_chown(&self, uid: Option<u32>, gid: Option<u32>) -> bool {
        self.runs_as.is_none_or(|own| [uid, gid].into_iter().flatten().all(|number| number == own))
    }

    fn user(&self, name: &str) -> Result<Option<u32>, FileError> {
        self.number("user", name)
    }

    fn group(&self, name: &str) -> Result<Option<u32>, FileError> {
        self.number("group", name)
    }

    fn user_name(&self, uid: u32) -> Result<Option<String>, FileError> {
        self.name("user", uid)
    }

    fn group_name(&self, gid: u32) -> Result<Option<String>, FileError> {
        self.name("group", gid)
    }
}
