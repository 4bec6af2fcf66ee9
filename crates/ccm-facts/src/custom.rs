//! Files of custom facts, written by users.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ccm_host::{ConfigurationDirectory, ConfigurationError, variable};
use ccm_model::InvalidByte;
use tracing::debug;

use crate::Warning;

const MAX_FILE: u64 = 1024 * 1024;

const MAX_TOTAL: u64 = 16 * 1024 * 1024;

const MAX_NAMES: usize = 1000;

/// Directories of custom facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomFacts {
    /// System directory.
    pub system: PathBuf,
    /// User directory, if any.
    pub user: Option<PathBuf>,
}

/// File of custom facts, not parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomFile {
    /// Path.
    pub path: PathBuf,
    /// Text.
    pub text: String,
}

impl CustomFacts {
    /// Returns `/etc/ccm`, and `ccm` in `$XDG_CONFIG_HOME` or else in `~/.config`.
    pub fn of_this_user() -> Self {
        // Relative paths would make the facts depend on the working directory.
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
        Self { system: PathBuf::from("/etc/ccm"), user: user.map(|directory| directory.join("ccm")) }
    }

    /// Reads the files, in order of increasing precedence.
    ///
    /// Each directory holds `facts.json`, `facts.yaml`, `facts.yml`, and in `facts.d` files that end in `.json`, `.yaml` or
    /// `.yml`, sorted by name; hidden files are ignored, and no file is ever run. Not read, with a warning, are files with other
    /// endings, links and special files, files of more than 1 MiB, and for root files that another user
    /// owns or may write.
    pub fn read(&self) -> (Vec<CustomFile>, Vec<Warning>) {
        let mut reader = CustomFactReader { files: Vec::new(), warnings: Vec::new(), left: MAX_TOTAL };
        for directory in [Some(&self.system), self.user.as_ref()].into_iter().flatten() {
            if let Err(error) = reader.directory(directory) {
                reader.warnings.push(error.into());
            }
        }
        (reader.files, reader.warnings)
    }
}

struct CustomFactReader {
    files: Vec<CustomFile>,
    warnings: Vec<Warning>,
    left: u64,
}

impl CustomFactReader {
    fn directory(&mut self, path: &Path) -> Result<(), ConfigurationError> {
        let Some(directory) = ConfigurationDirectory::open(path)? else { return Ok(()) };
        for name in ["facts.json", "facts.yaml", "facts.yml"] {
            self.file(&directory, OsStr::new(name));
        }
        let Some(parts) = directory.enter(OsStr::new("facts.d"))? else { return Ok(()) };
        let names = parts.names(MAX_NAMES)?;
        let (read, others): (Vec<_>, Vec<_>) =
            names.iter().filter(|name| !is_hidden(name)).partition(|name| holds_facts(name));
        for name in read {
            self.file(&parts, name);
        }
        if let Some((first, rest)) = others.split_first() {
            let path = parts.path().join(first);
            self.warnings.push(Warning::OtherEndings { path, others: rest.len() });
        }
        Ok(())
    }

    fn file(&mut self, directory: &ConfigurationDirectory, name: &OsStr) {
        let path = directory.path().join(name);
        let bytes = match directory.read(name, MAX_FILE) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return self.warnings.push(error.into()),
        };
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            return self.warnings.push(Warning::TooMuch { path, limit: MAX_TOTAL });
        };
        self.left = left;
        debug!(path = %path.display(), bytes = bytes.len(), "read custom facts");
        match String::from_utf8(bytes) {
            Ok(text) => self.files.push(CustomFile { path, text }),
            Err(error) => {
                let byte = InvalidByte::find(error.as_bytes());
                self.warnings.push(Warning::NotText { path, byte });
            }
        }
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn holds_facts(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    [&b".json"[..], b".yaml", b".yml"].iter().any(|ending| name.ends_with(ending))
}
