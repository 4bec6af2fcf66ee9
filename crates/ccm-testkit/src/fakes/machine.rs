//! Fake machine.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{Interface, Kernel, Machine, Space};

/// Machine with facts that a test sets.
#[derive(Clone, Debug, Default)]
pub struct FakeMachine {
    /// Content of files.
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// Files that exist and can't be read.
    pub denied: Vec<PathBuf>,
    /// Targets of links.
    pub links: BTreeMap<PathBuf, PathBuf>,
    /// Number of processes.
    pub processes: u64,
    /// Kernel and host name.
    pub kernel: Kernel,
    /// Time since the machine was started.
    pub since_boot: Duration,
    /// Space of file systems, by path.
    pub space: BTreeMap<PathBuf, Space>,
    /// Network interfaces.
    pub interfaces: Vec<Interface>,
    /// Paths that were read, in order.
    pub reads: RefCell<Vec<PathBuf>>,
}

impl FakeMachine {
    /// Adds a file.
    #[must_use]
    pub fn with(mut self, path: impl Into<PathBuf>, content: impl Into<Vec<u8>>) -> Self {
        self.files.insert(path.into(), content.into());
        self
    }

    fn record_read(&self, path: impl Into<PathBuf>) {
        self.reads.borrow_mut().push(path.into());
    }
}

impl Machine for FakeMachine {
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        let bytes = self.read_start(path, u64::MAX)?;
        if bytes.len() as u64 > limit { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }

    fn read_start(&self, path: &Path, length: u64) -> io::Result<Vec<u8>> {
        self.record_read(path);
        if self.denied.iter().any(|denied| denied == path) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut bytes = self.files.get(path).cloned().ok_or(io::ErrorKind::NotFound)?;
        bytes.truncate(usize::try_from(length).unwrap_or(usize::MAX));
        Ok(bytes)
    }

    fn exists(&self, path: &Path) -> bool {
        self.record_read(path);
        self.files.keys().chain(&self.denied).any(|known| known.starts_with(path))
    }

    fn link(&self, path: &Path) -> io::Result<PathBuf> {
        self.record_read(path);
        self.links.get(path).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn processes(&self) -> io::Result<u64> {
        self.record_read("/proc");
        Ok(self.processes)
    }

    fn kernel(&self) -> Kernel {
        self.kernel.clone()
    }

    fn since_boot(&self) -> Duration {
        self.since_boot
    }

    fn page_size(&self) -> u64 {
        4096
    }

    fn space(&self, path: &Path) -> io::Result<Space> {
        self.record_read(path);
        self.space.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn interfaces(&self) -> io::Result<Vec<Interface>> {
        self.record_read("interfaces");
        Ok(self.interfaces.clone())
    }
}
