//! The files in which users write facts of their own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ccm_host::{ConfigurationDirectory, ConfigurationError, variable};
use tracing::debug;

use crate::Warning;

/// How many bytes a file may have.
const FILE_LIMIT: u64 = 1024 * 1024;

/// How many bytes all files may have together.
const TOTAL_LIMIT: u64 = 16 * 1024 * 1024;

/// How many names there may be in `facts.d`.
const NAMES_LIMIT: usize = 1000;

/// Where the files with custom facts are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomFacts {
    /// The directory of the system.
    pub system: PathBuf,
    /// The directory of the user, if there is one.
    pub user: Option<PathBuf>,
}

/// A file with custom facts, not yet understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomFile {
    /// Where it is.
    pub path: PathBuf,
    /// What is in it.
    pub text: String,
}

impl CustomFacts {
    /// `/etc/ccm`, and `ccm` in `$XDG_CONFIG_HOME` or else in `~/.config`.
    pub fn of_this_user() -> Self {
        // A relative path would make the facts depend on where ccm was called.
        let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
        Self { system: PathBuf::from("/etc/ccm"), user: user.map(|directory| directory.join("ccm")) }
    }

    /// Reads the files, in the order in which later ones win over earlier ones.
    ///
    /// In each directory these are `facts.json`, `facts.yaml`, and then what `facts.d` holds of files that
    /// end in `.json` or `.yaml`, sorted by name. Everything else is left alone, hidden files too. No file is
    /// ever run. What is not read although its name fits is a warning: links, what is no regular file, files
    /// of more than 1 MiB, and as root whatever somebody else owns or everybody may write.
    pub fn read(&self) -> (Vec<CustomFile>, Vec<Warning>) {
        let mut found = Found { files: Vec::new(), warnings: Vec::new(), left: TOTAL_LIMIT };
        for directory in [Some(&self.system), self.user.as_ref()].into_iter().flatten() {
            if let Err(error) = found.directory(directory) {
                found.warnings.push(error.into());
            }
        }
        (found.files, found.warnings)
    }
}

struct Found {
    files: Vec<CustomFile>,
    warnings: Vec<Warning>,
    /// How many bytes there may still be.
    left: u64,
}

impl Found {
    fn directory(&mut self, path: &Path) -> Result<(), ConfigurationError> {
        let Some(directory) = ConfigurationDirectory::open(path)? else { return Ok(()) };
        for name in ["facts.json", "facts.yaml"] {
            self.file(&directory, OsStr::new(name));
        }
        let Some(parts) = directory.enter(OsStr::new("facts.d"))? else { return Ok(()) };
        for name in parts.names(NAMES_LIMIT)?.iter().filter(|name| holds_facts(name)) {
            self.file(&parts, name);
        }
        Ok(())
    }

    fn file(&mut self, directory: &ConfigurationDirectory, name: &OsStr) {
        let path = directory.path().join(name);
        let bytes = match directory.read(name, FILE_LIMIT) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(error) => return self.warnings.push(error.into()),
        };
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            return self.warnings.push(Warning::TooMuch { path, limit: TOTAL_LIMIT });
        };
        self.left = left;
        debug!(path = %path.display(), bytes = bytes.len(), "read custom facts");
        match String::from_utf8(bytes) {
            Ok(text) => self.files.push(CustomFile { path, text }),
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                self.warnings.push(Warning::NotText { path, offset });
            }
        }
    }
}

fn holds_facts(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    !name.starts_with(b".") && (name.ends_with(b".json") || name.ends_with(b".yaml"))
}
