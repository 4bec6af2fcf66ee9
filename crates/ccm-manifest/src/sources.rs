//! Access to files, facts and environment, which the caller provides.

use std::io;
use std::path::{Path, PathBuf};

use ccm_expr::{Timestamp, Value};
use ccm_model::{Diagnostic, FileVersion, SourceMap};

/// Path of a fact, such as `host`, `info`, `os`. The empty path means all facts.
pub type FactPath = Vec<String>;

/// Error in shell text, in the words of the shell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellTextError {
    /// Message of the shell.
    pub message: String,
    /// Line of the text, from 1, if the shell names it.
    pub line: Option<usize>,
}

/// Error of reading a credential, or of opening an encrypted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretFault {
    /// Message, in lower case and without a full stop.
    pub message: String,
    /// Advice on what to do about it.
    pub hint: Option<String>,
    /// Place where the secret can be read.
    pub reach: SecretReach,
}

/// Reach of a secret that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretReach {
    /// It should have been readable here.
    Here,
    /// It exists and can't be read here. What uses it is not checked, which is no error.
    Elsewhere,
    /// Nobody can read it.
    Nowhere,
}

/// File that a resource copies as it is.
#[derive(Clone, Copy, Debug)]
pub struct CopiedFile<'a> {
    /// Path of the file.
    pub path: &'a Path,
    /// The path is one of the machine, and not one beside the manifest.
    pub is_absolute: bool,
    /// Copy that an earlier run may have made. If it has the size of the file, the content is not needed.
    pub copy: Option<&'a Path>,
    /// Maximum size of a content that is needed, in bytes.
    pub max_bytes: u64,
}

/// Content of a file that a resource copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CopiedContent {
    /// The file does not exist.
    Missing,
    /// The whole content.
    Read(Vec<u8>),
    /// The content is not needed, or can't be read, or nothing is known about it.
    Unread,
}

/// Inputs of a manifest beside its own text. The loader opens nothing itself.
pub trait Sources {
    /// Reads a file that a manifest refers to: another manifest, a template, any other file.
    fn read(&self, path: &Path) -> io::Result<String>;

    /// Reads a file below a directory, without leaving the directory: `name` is relative and has no `..`, and no link
    /// on the way may lead out. Returns `None` if the file does not exist, and an error of kind
    /// [`io::ErrorKind::NotFound`] if the directory does not exist.
    fn read_below(&self, directory: &Path, name: &Path) -> io::Result<Option<String>> {
        match self.read(&directory.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the paths of the regular files below a directory, relative to the directory and sorted. Links in it are
    /// not followed. A directory that does not exist is an error of kind [`io::ErrorKind::NotFound`].
    fn files_below(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        let _ = directory;
        Ok(Vec::new())
    }

    /// Returns the names in a directory, for hints; none if the directory can't be read.
    fn names_in(&self, _directory: &Path) -> Vec<String> {
        Vec::new()
    }

    /// Returns `true` if there is a file at a path. For hints: what can't be inspected does not exist.
    fn exists(&self, _path: &Path) -> bool {
        false
    }

    /// Returns `true` if a file that a resource copies does not exist on the machine. A path that can't be inspected is
    /// not missing. `is_absolute` tells a path of the machine from one beside the manifest.
    fn is_missing(&self, _path: &Path, _is_absolute: bool) -> bool {
        false
    }

    /// Returns the content of a file that a resource copies.
    fn copied_content(&self, file: &CopiedFile<'_>) -> CopiedContent {
        let is_missing = self.is_missing(file.path, file.is_absolute);
        if is_missing { CopiedContent::Missing } else { CopiedContent::Unread }
    }

    /// Returns an existing directory of the machine without links. `None` if it does not exist, if a stranger could change
    /// where a link on the way leads, and if nothing is known about the machine.
    fn real_directory(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// Returns `true` if expressions may not name the directory of a manifest, because somebody has chosen it who may not
    /// choose what the manifest does.
    fn hides_directory(&self, _directory: &Path) -> bool {
        false
    }

    /// Returns `true` if nothing more is to be evaluated before the run, because the time for it is over.
    fn is_over(&self) -> bool {
        false
    }

    /// Returns the version of a file, or `None` if it can't tell a later content from this one.
    fn version(&self, path: &Path) -> Option<FileVersion> {
        let _ = path;
        None
    }

    /// Returns the facts, at least those at or below these paths that exist. Called again when more facts are
    /// needed; the result then includes the earlier ones. Texts with errors are added to `texts`.
    fn facts(&self, needed: &[FactPath], texts: &mut SourceMap) -> Result<Value, Vec<Diagnostic>>;

    /// Returns the environment, including the variables of the `.env` file. Called at most once.
    fn environment(&self, texts: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>>;

    /// Reads a credential of the process, which counts as a secret.
    fn credential(&self, _name: &str) -> Result<String, SecretFault> {
        Err(SecretFault {
            message: "there are no credentials".to_owned(),
            hint: None,
            reach: SecretReach::Here,
        })
    }

    /// Opens a text that is encrypted in the format of age, with the key of this machine or one that the caller names.
    fn open_encrypted(&self, _text: &str) -> Result<String, SecretFault> {
        Err(SecretFault {
            message: "this program opens no encrypted values".to_owned(),
            hint: None,
            reach: SecretReach::Here,
        })
    }

    /// Returns `true` if a variable is missing in the environment because its value is not UTF-8 text.
    fn is_not_utf8(&self, _variable: &str) -> bool {
        false
    }

    /// Parses shell texts as the shell of this machine does, and runs nothing. Returns the error in each text; `None`
    /// for a valid text, and if nothing is known about it.
    fn parse_shell(&self, texts: &[&str]) -> Vec<Option<ShellTextError>> {
        vec![None; texts.len()]
    }

    /// Returns the time of `now()` in expressions, the same for each call.
    fn now(&self) -> Timestamp;
}
