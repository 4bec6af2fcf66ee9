//! A directory of a test's own.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A fresh directory below the system's directory for temporary files; it goes with this value.
#[derive(Debug)]
pub struct Scratch {
    path: PathBuf,
}

impl Scratch {
    /// Makes the directory.
    #[must_use]
    pub fn new() -> Self {
        let path = Self::make_in(&std::env::temp_dir());
        Self { path: path.unwrap_or_else(|error| panic!("{}: {error}", std::env::temp_dir().display())) }
    }

    /// Makes it in memory where there is such a place: for tests that sync so often that a disk would hold them up.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::make_in(Path::new("/dev/shm")).map_or_else(|_| Self::new(), |path| Self { path })
    }

    fn make_in(directory: &Path) -> std::io::Result<PathBuf> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("ccm-test-{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        // Commands see the directory without its links, and so must what the test compares with.
        path.canonicalize()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where ccm keeps its state: beside the directory, so that it is not among what a test finds in it.
    pub fn state(&self) -> PathBuf {
        self.path.with_extension("state")
    }

    /// Where something in it is, as text for a manifest.
    pub fn at(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
        }
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Writes a program in it.
    pub fn write_program(&self, name: &str, content: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(name, content);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Reads a file in it; none if it is not there.
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path.join(name)).ok()
    }

    /// Tells whether something is in it.
    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// What is in it, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A test that took its own permissions away leaves the directory to the system's cleaning.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_dir_all(self.state());
    }
}
