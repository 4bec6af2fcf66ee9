//! Scratch directories.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Fresh directory in the system's directory for temporary files. It is removed with this value.
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

    /// Makes the directory in memory if possible, for tests that sync so often that a disk would be too slow.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::make_in(Path::new("/dev/shm")).map_or_else(|_| Self::new(), |path| Self { path })
    }

    fn make_in(directory: &Path) -> std::io::Result<PathBuf> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!("ccm-test-{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        // Commands see the path without links, so that a test has to compare with it.
        path.canonicalize()
    }

    /// Returns the path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the state directory for ccm. It lies beside the scratch directory, not in it.
    pub fn state(&self) -> PathBuf {
        self.path.with_extension("state")
    }

    /// Returns the path of a file in the directory, as text for a manifest.
    pub fn at(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    /// Writes a file in the directory.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).unwrap_or_else(|error| panic!("{}: {error}", parent.display()));
        }
        fs::write(&path, content).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Writes a program in the directory.
    pub fn write_program(&self, name: &str, content: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.write(name, content);
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&path, mode).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        path
    }

    /// Reads a file in the directory; `None` if it does not exist.
    pub fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path.join(name)).ok()
    }

    /// Returns `true` if a file of this name exists in the directory.
    pub fn has(&self, name: &str) -> bool {
        self.path.join(name).exists()
    }

    /// Returns the names of the files in the directory, sorted.
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
        // A test that dropped its permissions leaves the directory to the cleanup of the system.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_dir_all(self.state());
    }
}
