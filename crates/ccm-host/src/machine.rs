//! Facts that the kernel provides: its own files, the host name, network interfaces, file systems.

mod system;

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use system::SystemMachine;

/// Reads facts of the machine. Except for [`Machine::space`], no method blocks.
pub trait Machine {
    /// Reads a file of the kernel or of the system, links followed. More than `limit` bytes are an error of
    /// kind [`io::ErrorKind::FileTooLarge`].
    fn read(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>>;

    /// Reads the first bytes of a file, at most `length`. The kernel then generates no more than these.
    fn read_start(&self, path: &Path, length: u64) -> io::Result<Vec<u8>>;

    /// Returns `true` if the path exists, links followed, and `false` if it can't be inspected.
    fn exists(&self, path: &Path) -> bool;

    /// Returns the target of a link, as it is written in the link.
    fn link(&self, path: &Path) -> io::Result<PathBuf>;

    /// Returns the number of processes.
    fn processes(&self) -> io::Result<u64>;

    /// Returns the kernel and the host name.
    fn kernel(&self) -> Kernel;

    /// Returns the time since the machine was started, sleep included.
    fn since_boot(&self) -> Duration;

    /// Returns the size of a page of memory in bytes.
    fn page_size(&self) -> u64;

    /// Returns the space of the file system at a path. A dead network file system can block this for ever.
    fn space(&self, path: &Path) -> io::Result<Space>;

    /// Returns the network interfaces with their addresses, in the order of the kernel.
    fn interfaces(&self) -> io::Result<Vec<Interface>>;
}

/// Kernel and host name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Host name.
    pub hostname: String,
    /// Release of the kernel, such as `6.1.0-18-amd64`.
    pub release: String,
    /// Architecture of the machine, such as `x86_64`.
    pub architecture: String,
}

/// Space of a file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    /// Size of the file system in bytes.
    pub total: u64,
    /// Free bytes.
    pub free: u64,
    /// Free bytes that every user may use; the rest is for root.
    pub available: u64,
    /// Number of inodes.
    pub inodes: u64,
    /// Number of free inodes.
    pub inodes_free: u64,
}

/// Network interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interface {
    /// Name.
    pub name: String,
    /// Number; 0 if it is not known.
    pub index: u64,
    /// Hardware address; `None` if there is none, or if its length is not six bytes.
    pub hardware: Option<[u8; 6]>,
    /// Properties of the interface.
    pub flags: Vec<InterfaceFlag>,
    /// Addresses, each with the length of its network's prefix.
    pub addresses: Vec<(IpAddr, u8)>,
}

/// Property of a network interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterfaceFlag {
    /// The interface is enabled.
    Up,
    /// The interface can broadcast.
    Broadcast,
    /// The interface connects the machine with itself.
    Loopback,
    /// The interface connects two machines.
    PointToPoint,
    /// The interface can multicast.
    Multicast,
}
