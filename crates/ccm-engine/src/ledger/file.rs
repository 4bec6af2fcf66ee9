//! File of a ledger.
//!
//! The first write of a run replaces the whole file. This syncs what a killed run did not sync, and removes a
//! torn end. Later writes append. After a failed write the next one replaces the whole file again, because
//! the content of a file that could not be synced is unknown.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::PathBuf;

use ccm_host::state::{AppendFile, Directory};
use ccm_host::{sha256, slug};
use tracing::debug;

/// Directory of all ledgers.
pub(crate) const DIRECTORY: &str = "refreshes";
/// Ending of the names of ledgers.
pub(crate) const ENDING: &str = ".ledger";
/// Maximum length of a ledger in bytes. A longer file is not read.
const MAX_LENGTH: u64 = 64 << 20;
/// Maximum number of characters of a key in the name of its file.
const MAX_SLUG: usize = 40;

/// Returns the name of the file of a ledger: a readable part of the key, and its hash.
pub(crate) fn name(key: &str) -> String {
    let slug = slug(key, MAX_SLUG);
    let slug = slug.trim_matches(['.', '-']);
    let hash = &sha256(key.as_bytes())[..8];
    if slug.is_empty() { format!("{hash}{ENDING}") } else { format!("{slug}-{hash}{ENDING}") }
}

/// Reads a whole ledger. Returns `None` if it does not exist.
pub(crate) fn read(directory: &Directory, name: &str) -> io::Result<Option<Vec<u8>>> {
    let file = match directory.read(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(MAX_LENGTH + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_LENGTH {
        return Err(io::Error::other(format!("it is longer than {MAX_LENGTH} bytes")));
    }
    Ok(Some(bytes))
}

/// File of a ledger, as a run writes it.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    state: Directory,
    /// `None` if the directory did not exist, until the first write.
    directory: Option<Directory>,
    name: String,
    /// New name for the existing file, because it is damaged.
    set_aside: Option<String>,
    /// The file, once this run has written it.
    appender: Option<AppendFile>,
    /// Lines were appended, or the final content will differ.
    has_changed: bool,
    is_touched: bool,
}

impl LedgerFile {
    pub(crate) fn new(
        state: Directory,
        directory: Option<Directory>,
        name: String,
        set_aside: Option<String>,
    ) -> Self {
        Self { state, directory, name, set_aside, appender: None, has_changed: false, is_touched: false }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.state.path().join(DIRECTORY).join(&self.name)
    }

    /// Returns `true` if this run has written the file, so that lines can be appended.
    pub(crate) fn is_written(&self) -> bool {
        self.appender.is_some()
    }

    /// Makes [`Self::finish`] write the whole file.
    pub(crate) fn touch(&mut self) {
        self.is_touched = true;
        self.has_changed = true;
    }

    /// Replaces the whole file, and syncs it.
    pub(crate) fn rewrite(&mut self, content: &str) -> io::Result<()> {
        debug!(path = %self.path().display(), bytes = content.len(), "rewriting the refresh ledger");
        let is_first = !std::mem::replace(&mut self.is_touched, true);
        self.appender = None;
        let is_new = self.directory.is_none();
        let directory = match &mut self.directory {
            Some(directory) => directory,
            none => none.insert(self.state.make(DIRECTORY)?),
        };
        if is_first || is_new {
            // A killed run may have made the directory without syncing it.
            self.state.sync()?;
        }
        if let Some(aside) = &self.set_aside {
            match directory.set_aside(&self.name, aside) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        directory.replace(&self.name, content.as_bytes())?;
        self.set_aside = None;
        self.has_changed = false;
        self.appender = Some(directory.append(&self.name)?);
        Ok(())
    }

    /// Appends lines, and syncs them with `sync`.
    pub(crate) fn append(&mut self, lines: &str, sync: bool) -> io::Result<()> {
        let Some(file) = &mut self.appender else { return Err(ErrorKind::NotFound.into()) };
        debug!(bytes = lines.len(), sync, "appending to the refresh ledger");
        self.has_changed = true;
        let written = file.write_all(lines.as_bytes());
        let written = written.and_then(|()| if sync { file.sync() } else { Ok(()) });
        if written.is_err() {
            self.appender = None;
        }
        written
    }

    /// Writes the final content, or removes the file if no refresh is pending. A file that this run has not
    /// written stays unchanged.
    pub(crate) fn finish(&mut self, content: &str, is_pending: bool) -> io::Result<()> {
        if !self.is_touched {
            return Ok(());
        }
        // A damaged file is set aside, not removed.
        if self.set_aside.is_some() || is_pending && (self.has_changed || !self.is_written()) {
            self.rewrite(content)?;
        }
        if is_pending { Ok(()) } else { self.remove() }
    }

    fn remove(&mut self) -> io::Result<()> {
        self.appender = None;
        let Some(directory) = &self.directory else { return Ok(()) };
        debug!("removing the refresh ledger");
        match directory.remove_file(&self.name) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            result => result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_and_tells_keys_apart() {
        for (key, expected) in [
            ("site", "site-"),
            ("/etc/ccm/site.yaml", "etc-ccm-site.yaml-"),
            ("../../x", "x-"),
            ("..", ""),
            ("grün & gut", "gr-n---gut-"),
        ] {
            let name = name(key);
            assert_eq!(name, format!("{expected}{}{ENDING}", &sha256(key.as_bytes())[..8]));
        }
        assert_ne!(name("a b"), name("a-b"));
        assert!(name(&"x/".repeat(5_000)).len() < 64);
    }
}
