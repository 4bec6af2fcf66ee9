//! What the kernel tells about the machine: its own files, its name, its interfaces, its file systems.

mod system;

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use system::SystemMachine;

/// Tells about the machine. Nothing here changes it or waits for anybody.
pub trait Machine {
    /// Reads a file of the kernel or of the system, links followed.
    ///
    /// One with more than `limit` bytes is an error of kind [`io::ErrorKind::FileTooLarge`].
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Reads the first bytes of a file, at most `length`: the kernel makes up no more than what is read.
    fn read_start(&self, path: &Path, length: u64) -> io::Result<Vec<u8>>;

    /// Tells whether something is at that path, links followed. What can't be looked at is taken for nothing.
    fn exists(&self, path: &Path) -> bool;

    /// Where a link leads, as it is written in it.
    fn link(&self, path: &Path) -> io::Result<PathBuf>;

    /// How many processes there are.
    fn processes(&self) -> io::Result<u64>;

    /// The kernel, and the name the machine has.
    fn kernel(&self) -> Kernel;

    /// The time since the machine was started, sleep included.
    fn since_boot(&self) -> Duration;

    /// How many bytes a page of memory has.
    fn page_size(&self) -> u64;

    /// How much room the file system at that path has.
    ///
    /// On the way to a file system whose server does not answer this waits, maybe for ever.
    fn space(&self, path: &Path) -> io::Result<Space>;

    /// The network interfaces with their addresses, in the order of the kernel.
    fn interfaces(&self) -> io::Result<Vec<Interface>>;
}

/// The kernel, and the name the machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// The name of the machine.
    pub hostname: String,
    /// The kernel's release, `6.1.0-18-amd64`.
    pub release: String,
    /// What it runs on, `x86_64`.
    pub architecture: String,
}

/// How much room a file system has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// All of it, in bytes.
    pub total: u64,
    /// What nobody uses, in bytes.
    pub free: u64,
    /// What of that anybody may use, in bytes; the rest is for root.
    pub available: u64,
    /// How many inodes there are.
    pub inodes: u64,
    /// How many of them nobody uses.
    pub inodes_free: u64,
}

/// A network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Its number; 0 if it is not known.
    pub index: u64,
    /// Its hardware address. None if it has none, or one of no six bytes.
    pub hardware: Option<[u8; 6]>,
    /// What it is and can do.
    pub flags: Vec<InterfaceFlag>,
    /// Its addresses, each with the length of its network's prefix.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// What an interface is and can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceFlag {
    /// It is switched on.
    Up,
    /// It reaches all of its network at once.
    Broadcast,
    /// It leads back to the machine.
    Loopback,
    /// There is one other end.
    PointToPoint,
    /// It reaches groups.
    Multicast,
}
