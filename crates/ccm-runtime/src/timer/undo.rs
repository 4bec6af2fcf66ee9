//! Files that an installation or a migration writes, and how they were before.

use std::path::{Path, PathBuf};

use ccm_host::{FileAttributes, Files, NewContent, NewFile};
use ccm_resources::systemd::write_unit;

use super::{PlannedUnit, TimerError, Timers};

/// Maximum size of a file that is replaced. ccm writes shorter ones.
const MAX_FILE: u64 = 1 << 20;

/// Path that was changed, with what was there before.
enum Before {
    /// A file of this content and mode, or nothing.
    File { path: PathBuf, content: Option<Vec<u8>>, mode: u32 },
    /// Nothing, and now a directory.
    NoDirectory(PathBuf),
    /// A link with this text.
    Link { path: PathBuf, target: PathBuf },
}

/// What was changed so far, in order.
pub(super) struct Undo<'t> {
    timers: &'t Timers<'t>,
    changes: Vec<Before>,
}

impl<'t> Undo<'t> {
    pub(super) fn new(timers: &'t Timers<'t>) -> Self {
        Self { timers, changes: Vec::new() }
    }

    /// Returns `true` if a file or link was changed.
    pub(super) fn has_changes(&self) -> bool {
        self.changes.iter().any(|change| !matches!(change, Before::NoDirectory(_)))
    }

    /// Returns `true` for a file that did not exist before.
    pub(super) fn is_new(&self, path: &Path) -> bool {
        let is_new = |change: &Before| matches!(change, Before::File { path: written, content: None, .. } if written == path);
        self.changes.iter().any(is_new)
    }

    /// Makes a directory with its parents.
    pub(super) fn make_directory(&mut self, path: &Path, mode: u32) -> Result<(), TimerError> {
        let files = &self.timers.session.doors.files;
        let failed = |source| TimerError::Directory { path: path.to_owned(), source };
        let missing: Vec<&Path> =
            path.ancestors().take_while(|path| !files.exists(path).unwrap_or(true)).collect();
        for directory in missing.into_iter().rev() {
            let parent = directory.parent().unwrap_or(Path::new("/"));
            let parent = files.canonical(parent).map_err(failed)?;
            let canonical = parent.join(directory.file_name().unwrap_or_default());
            let attributes = FileAttributes { mode: Some(mode), ..FileAttributes::default() };
            files.make_directory(&canonical, attributes)?;
            self.changes.push(Before::NoDirectory(canonical));
        }
        Ok(())
    }

    /// Writes a unit.
    pub(super) fn write(&mut self, unit: &PlannedUnit) -> Result<(), TimerError> {
        let files = &self.timers.session.doors.files;
        let content = self.timers.unit_file(&unit.name)?.own().map(|own| own.text.clone().into_bytes());
        let path = self.timers.path(&unit.name);
        write_unit(&path, &unit.text, &**files)?;
        self.changes.push(Before::File { path, content, mode: 0o644 });
        Ok(())
    }

    /// Writes another file.
    pub(super) fn write_file(&mut self, path: &Path, text: &str, mode: u32) -> Result<(), TimerError> {
        let files = &self.timers.session.doors.files;
        let found = files.inspect(path, ccm_host::InspectOptions::default())?.target;
        let content = if found.is_some() { files.content(path, MAX_FILE)? } else { None };
        replace(path, text.as_bytes(), mode, &**files)?;
        let mode = found.map_or(mode, |found| found.mode);
        self.changes.push(Before::File { path: path.to_owned(), content, mode });
        Ok(())
    }

    /// Removes a link.
    pub(super) fn remove_link(&mut self, path: &Path) -> Result<(), TimerError> {
        let files = &self.timers.session.doors.files;
        let Some(target) = files.link_target(path)? else { return Ok(()) };
        files.remove(path, false)?;
        self.changes.push(Before::Link { path: path.to_owned(), target });
        Ok(())
    }

    /// Restores everything, and returns the paths that could not be restored.
    pub(super) fn restore(self) -> Vec<PathBuf> {
        let files = &*self.timers.session.doors.files;
        let mut left = Vec::new();
        for change in self.changes.into_iter().rev() {
            let (path, restored) = match change {
                Before::File { path, content: Some(content), mode } => {
                    let restored = replace(&path, &content, mode, files);
                    (path, restored)
                }
                Before::File { path, content: None, .. } | Before::NoDirectory(path) => {
                    let removed = files.remove(&path, false).map_err(TimerError::from);
                    (path, removed)
                }
                Before::Link { path, target } => {
                    let made = files.make_link(&path, &target, false).map_err(TimerError::from);
                    (path, made)
                }
            };
            if restored.is_err() {
                left.push(path);
            }
        }
        left
    }
}

fn replace(path: &Path, content: &[u8], mode: u32, files: &dyn Files) -> Result<(), TimerError> {
    let attributes = FileAttributes { mode: Some(mode), ..FileAttributes::default() };
    files.write(path, &NewFile { content: NewContent::Bytes(content), attributes })?;
    Ok(())
}
