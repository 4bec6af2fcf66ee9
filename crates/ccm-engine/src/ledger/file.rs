//! The file of a ledger.
//!
//! Its first writing in a run replaces it as a whole, which also brings to the disk what a killed run had not
//! brought there, and leaves a torn end behind. After that it grows. What fails makes the next writing a whole
//! one again: of a file that could not be synced nobody knows what is on the disk.

use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::PathBuf;

use ccm_host::state::{AppendFile, Directory};
use ccm_host::{sha256, slug};
use tracing::debug;

/// The directory of all ledgers.
pub(crate) const DIRECTORY: &str = "refreshes";
/// What the name of a ledger ends with.
pub(crate) const ENDING: &str = ".ledger";
/// No ledger is longer, and nothing that is longer is read.
const LONGEST: u64 = 64 << 20;
/// How much of a key is seen in the name of its file.
const SLUG: usize = 40;

/// The name of the file of a ledger: what it is to the eye, and what makes it unlike any other.
pub(crate) fn name(key: &str) -> String {
    let slug = slug(key, SLUG);
    let slug = slug.trim_matches(['.', '-']);
    let hash = &sha256(key.as_bytes())[..8];
    if slug.is_empty() { format!("{hash}{ENDING}") } else { format!("{slug}-{hash}{ENDING}") }
}

/// Reads a ledger whole; none if it is not there.
pub(crate) fn read(directory: &Directory, name: &str) -> io::Result<Option<Vec<u8>>> {
    let file = match directory.read(name) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LONGEST {
        return Err(io::Error::other(format!("it is longer than {LONGEST} bytes")));
    }
    Ok(Some(bytes))
}

/// The file of a ledger, as a run writes it.
#[derive(Debug)]
pub(crate) struct LedgerFile {
    state: Directory,
    /// None until the first writing, if it was not there.
    directory: Option<Directory>,
    name: String,
    /// The name under which what is there now is kept, because it is damaged.
    set_aside: Option<String>,
    /// The file after its first writing.
    growing: Option<AppendFile>,
    /// Something has grown behind what was written as a whole, or is to be said otherwise.
    has_grown: bool,
    is_touched: bool,
}

impl LedgerFile {
    pub(crate) fn new(
        state: Directory,
        directory: Option<Directory>,
        name: String,
        set_aside: Option<String>,
    ) -> Self {
        Self { state, directory, name, set_aside, growing: None, has_grown: false, is_touched: false }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.state.path().join(DIRECTORY).join(&self.name)
    }

    /// Tells whether it was written in this run and grows.
    pub(crate) fn grows(&self) -> bool {
        self.growing.is_some()
    }

    /// Has it written at the end as a whole, whatever else happens.
    pub(crate) fn touch(&mut self) {
        self.is_touched = true;
        self.has_grown = true;
    }

    /// Writes all of it, and brings it to the disk.
    pub(crate) fn rewrite(&mut self, content: &str) -> io::Result<()> {
        debug!(path = %self.path().display(), bytes = content.len(), "rewriting the refresh ledger");
        let is_first = !std::mem::replace(&mut self.is_touched, true);
        self.growing = None;
        let is_new = self.directory.is_none();
        let directory = match &mut self.directory {
            Some(directory) => directory,
            none => none.insert(self.state.make(DIRECTORY)?),
        };
        if is_first || is_new {
            // A run that was killed may have made the directory without coming to this.
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
        self.has_grown = false;
        self.growing = Some(directory.append(&self.name)?);
        Ok(())
    }

    /// Adds lines to it; `sync` brings them to the disk, which who needs them there waits for.
    pub(crate) fn grow(&mut self, lines: &str, sync: bool) -> io::Result<()> {
        let Some(file) = &mut self.growing else { return Err(ErrorKind::NotFound.into()) };
        debug!(bytes = lines.len(), sync, "appending to the refresh ledger");
        self.has_grown = true;
        let written = file.write_all(lines.as_bytes());
        let written = written.and_then(|()| if sync { file.sync() } else { Ok(()) });
        if written.is_err() {
            self.growing = None;
        }
        written
    }

    /// Leaves that much in it, or removes it if nothing is owed. What was not touched stays as it is.
    pub(crate) fn finish(&mut self, content: &str, is_owed: bool) -> io::Result<()> {
        if !self.is_touched {
            return Ok(());
        }
        // What is damaged is not removed but set aside.
        if self.set_aside.is_some() || is_owed && (self.has_grown || !self.grows()) {
            self.rewrite(content)?;
        }
        if is_owed { Ok(()) } else { self.remove() }
    }

    fn remove(&mut self) -> io::Result<()> {
        self.growing = None;
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
