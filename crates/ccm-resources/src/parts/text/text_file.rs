//! Text files that ccm shares with others, such as `/etc/hosts`: read as a whole, changed in one step.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::{FileAttributes, FileError, FileStep, Files, InspectOptions, NewContent, NewFile, PathTrust};
use ccm_model::Failure;

use super::text_lines::{TEXT_ENCODING, TextLines, unreadable};
use super::{MAX_FILE, lines};
use crate::support::file_failure::{check_replaceable, file_failure, untrusted_link};
use crate::support::values::canonical_path::directory_of;

/// Modes of a new file and of its directory.
pub(super) const NEW_FILE: u32 = 0o644;
const NEW_DIRECTORY: u32 = 0o755;

/// File as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextFile {
    path: PathBuf,
    /// `None` if the file does not exist.
    content: Option<Rc<Vec<u8>>>,
}

impl TextFile {
    /// Reads a file.
    pub(crate) fn read(path: &Path, context: &Context<'_>) -> Result<Self, Failure> {
        let files = context.host.files;
        let found = match files.content(path, MAX_FILE) {
            Ok(None) => return Err(too_large(path)),
            found => existing(path, found, files)?,
        };
        match &found {
            Some(bytes) => check_encoding(format_args!("\"{}\"", path.display()), bytes)?,
            // A file can't be made behind a link to a directory that does not exist.
            None => drop(written_path(path, files)?),
        }
        Ok(Self::found(path, found.map(Rc::new)))
    }

    /// Returns a file whose content is known.
    pub(crate) fn found(path: &Path, content: Option<Rc<Vec<u8>>>) -> Self {
        Self { path: path.to_owned(), content }
    }

    #[cfg(test)]
    pub(crate) fn of(content: impl Into<Vec<u8>>) -> Self {
        Self::found(Path::new("/f"), Some(Rc::new(content.into())))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn exists(&self) -> bool {
        self.content.is_some()
    }

    /// Returns the content; nothing is in a file that does not exist.
    pub(crate) fn content(&self) -> &[u8] {
        self.content.as_ref().map_or(&[], |content| content.as_slice())
    }

    pub(crate) fn into_content(self) -> Option<Rc<Vec<u8>>> {
        self.content
    }

    /// Returns the lines without their line ends.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        lines(self.content())
    }

    /// Returns the lines to edit.
    pub(crate) fn lines(&self) -> TextLines<'_> {
        TextLines::of(self.content())
    }

    /// Replaces the content in one step, and returns the file as it is then. The directory is made if it does not exist;
    /// the one above it has to exist.
    pub(crate) fn write(&self, new: Vec<u8>, context: &Context<'_>) -> Result<Self, Failure> {
        let files = context.host.files;
        let target = self.unchanged(files)?;
        let directory = directory_of(&target);
        if !files.is_directory(directory).unwrap_or(true) {
            let attributes = FileAttributes { mode: Some(NEW_DIRECTORY), ..FileAttributes::default() };
            files.make_directory(directory, attributes).map_err(|error| file_failure(&error))?;
        }
        let mode = (!self.exists()).then_some(NEW_FILE);
        replace(&target, &new, FileAttributes { mode, ..FileAttributes::default() }, files)?;
        Ok(Self::found(&self.path, Some(Rc::new(new))))
    }

    /// Returns the failure of a write or a removal that a mounted file system or a flag of the file prevents.
    pub(crate) fn check_replaceable(&self, context: &Context<'_>) -> Result<(), Failure> {
        let files = context.host.files;
        check_replaceable(&written_path(&self.path, files)?, files)
    }

    /// Removes the file, or the link in its place.
    pub(crate) fn remove(&self, context: &Context<'_>) -> Result<Self, Failure> {
        if self.exists() {
            context.host.files.remove(&self.path, false).map_err(|error| file_failure(&error))?;
        }
        Ok(Self::found(&self.path, None))
    }

    /// Returns the path to write. An error if the file is no longer as it was read: the state may come from the cache,
    /// and the decision on it may have been approved as it is.
    pub(crate) fn unchanged(&self, files: &dyn Files) -> Result<PathBuf, Failure> {
        let target = written_path(&self.path, files)?;
        let now = match files.content(&target, MAX_FILE) {
            // The file is too large, which it was not when it was read.
            Ok(None) => return Err(self.changed()),
            found => existing(&self.path, found, files)?,
        };
        if now.as_ref() == self.content.as_deref() { Ok(target) } else { Err(self.changed()) }
    }

    fn changed(&self) -> Failure {
        file_failure(&FileError::Changed(self.path.clone()))
    }
}

/// Reads a text that ccm never writes, such as a file of the kernel; `None` if it does not exist.
pub(crate) fn read_text(path: &Path, context: &Context<'_>) -> Result<Option<String>, Failure> {
    let Some(bytes) = TextFile::read(path, context)?.into_content() else { return Ok(None) };
    String::from_utf8(Rc::unwrap_or_clone(bytes)).map(Some).map_err(|_| {
        Failure::conflict(format!("\"{}\" is not UTF-8 text", path.display()))
            .with_hint("convert the file to UTF-8")
    })
}

/// Replaces a file at the path that [`TextFile::unchanged`] returned.
pub(crate) fn replace(
    target: &Path,
    content: &[u8],
    attributes: FileAttributes,
    files: &dyn Files,
) -> Result<(), Failure> {
    let new = NewFile { content: NewContent::Bytes(content), attributes };
    files.write(target, &new).map(drop).map_err(|error| file_failure(&error))
}

/// Returns the path that a change of a file replaces: that of the target if the path is a trusted link.
pub(super) fn written_path(path: &Path, files: &dyn Files) -> Result<PathBuf, Failure> {
    let trust = PathTrust { follow_last: true, ..PathTrust::default() };
    let dangling = || Err(file_failure(&FileError::DanglingLink(path.to_owned())));
    let is_in_directory = || path.parent().is_some_and(|parent| files.is_directory(parent).unwrap_or(false));
    match files.trusted_path(path, trust) {
        Ok(found) if found.is_followed => Ok(found.path),
        Err(FileError::ParentMissing(_) | FileError::NotADirectory { .. }) if is_in_directory() => dangling(),
        // A backup has the name of the path as it is written.
        Ok(_) | Err(FileError::ParentMissing(_)) => Ok(path.to_owned()),
        Err(error) => Err(link_failure(path, &error, files)),
    }
}

/// Checks that the lines of a text can be found.
pub(crate) fn check_encoding(name: std::fmt::Arguments<'_>, content: &[u8]) -> Result<(), Failure> {
    match unreadable(content) {
        None => Ok(()),
        Some(what) => Err(Failure::conflict(format!("{name} is {what}")).with_hint(TEXT_ENCODING)),
    }
}

/// Returns the result of reading a file, with `None` for one that does not exist.
pub(super) fn existing<T>(
    path: &Path,
    found: Result<Option<T>, FileError>,
    files: &dyn Files,
) -> Result<Option<T>, Failure> {
    match found {
        Ok(found) => Ok(found),
        Err(FileError::ParentMissing(_)) => Ok(None),
        Err(FileError::Step { step: FileStep::Read, source, .. })
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(link_failure(path, &error, files)),
    }
}

pub(super) fn too_large(path: &Path) -> Failure {
    let message = format!("\"{}\" is larger than {} MiB", path.display(), MAX_FILE >> 20);
    Failure::conflict(message)
        .with_hint("manage the file with `file` and `source`: parts of such large files are not managed")
}

/// Returns the failure of an error, with the words of `file` if the path is a link that is not followed.
fn link_failure(path: &Path, error: &FileError, files: &dyn Files) -> Failure {
    let inspected = matches!(error, FileError::UntrustedLink { .. })
        .then(|| files.inspect(path, InspectOptions::default()).ok()?.untrusted_owner)
        .flatten();
    inspected.map_or_else(|| file_failure(error), |owner| untrusted_link(path, owner))
}
