//! The system calls, as `x86_64` numbers them, that a fault can meet.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use libc::user_regs_struct;
use nix::errno::Errno;
use nix::unistd::Pid;

use super::Fault;

/// What a call does, as far as a fault is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It writes to what is open.
    Write,
    /// It makes something, or a name for it.
    Make,
    /// It brings something to the disk.
    Sync,
    /// It changes or removes what is there, which needs no space.
    Change,
    /// It starts, reaps or locks.
    Process,
}

/// A call that a thread is about to make.
#[derive(Clone, Debug)]
pub(super) struct Call {
    kind: Kind,
    words: String,
    /// Whether what it works on is kept on a disk.
    on_disk: bool,
}

impl Call {
    /// Reads a call at its entry; none if it is of no interest.
    pub(super) fn read(thread: Pid, registers: &user_regs_struct) -> Option<Self> {
        let number = i64::try_from(registers.orig_rax).ok()?;
        let descriptor = |value: u64| describe(thread, value);
        let text = |address: u64| string(thread, address);
        let (first, second, third, fourth) = (registers.rdi, registers.rsi, registers.rdx, registers.r10);
        let creates = |flags: u64| flags & u64::from(libc::O_CREAT.unsigned_abs()) != 0;
        let (kind, name, what) = match number {
            libc::SYS_write => (Kind::Write, "write", descriptor(first)),
            libc::SYS_writev => (Kind::Write, "writev", descriptor(first)),
            libc::SYS_pwrite64 => (Kind::Write, "pwrite", descriptor(first)),
            libc::SYS_copy_file_range => (Kind::Write, "copy_file_range", descriptor(third)),
            libc::SYS_open if creates(second) => (Kind::Make, "open", text(first)),
            libc::SYS_openat if creates(third) => (Kind::Make, "openat", text(second)),
            libc::SYS_mkdir => (Kind::Make, "mkdir", text(first)),
            libc::SYS_mkdirat => (Kind::Make, "mkdirat", text(second)),
            libc::SYS_rename => (Kind::Make, "rename", text(second)),
            libc::SYS_renameat => (Kind::Make, "renameat", text(fourth)),
            libc::SYS_renameat2 => (Kind::Make, "renameat2", text(fourth)),
            libc::SYS_link => (Kind::Make, "link", text(second)),
            libc::SYS_linkat => (Kind::Make, "linkat", text(fourth)),
            libc::SYS_symlinkat => (Kind::Make, "symlinkat", text(third)),
            libc::SYS_setxattr => (Kind::Make, "setxattr", text(first)),
            libc::SYS_fsetxattr => (Kind::Make, "fsetxattr", descriptor(first)),
            libc::SYS_fsync => (Kind::Sync, "fsync", descriptor(first)),
            libc::SYS_fdatasync => (Kind::Sync, "fdatasync", descriptor(first)),
            libc::SYS_syncfs => (Kind::Sync, "syncfs", descriptor(first)),
            libc::SYS_ftruncate => (Kind::Change, "ftruncate", descriptor(first)),
            libc::SYS_unlink => (Kind::Change, "unlink", text(first)),
            libc::SYS_rmdir => (Kind::Change, "rmdir", text(first)),
            libc::SYS_unlinkat => (Kind::Change, "unlinkat", text(second)),
            libc::SYS_fchmod => (Kind::Change, "fchmod", descriptor(first)),
            libc::SYS_fchmodat => (Kind::Change, "fchmodat", text(second)),
            libc::SYS_chmod => (Kind::Change, "chmod", text(first)),
            libc::SYS_fchown => (Kind::Change, "fchown", descriptor(first)),
            libc::SYS_fchownat => (Kind::Change, "fchownat", text(second)),
            libc::SYS_fork => (Kind::Process, "fork", String::new()),
            libc::SYS_vfork => (Kind::Process, "vfork", String::new()),
            libc::SYS_clone => (Kind::Process, "clone", String::new()),
            libc::SYS_clone3 => (Kind::Process, "clone3", String::new()),
            libc::SYS_wait4 => (Kind::Process, "wait4", String::new()),
            libc::SYS_waitid => (Kind::Process, "waitid", String::new()),
            libc::SYS_flock => (Kind::Process, "flock", descriptor(first)),
            _ => return None,
        };
        // What the runtime wakes itself with is no disk; neither is a pipe, or the null device.
        let on_disk = kind != Kind::Write || what.starts_with('/') && !what.starts_with("/dev/null");
        Some(Self { kind, words: format!("{name}({what})"), on_disk })
    }

    /// Tells whether a fault counts this call.
    pub(super) fn counts_for(&self, fault: Fault) -> bool {
        match fault {
            Fault::None | Fault::KillBefore(_) | Fault::KillAfter(_) => true,
            Fault::NoSpace { .. } => matches!(self.kind, Kind::Write | Kind::Make) && self.on_disk,
            Fault::SyncFails { .. } => self.kind == Kind::Sync,
        }
    }

    /// The call in words: its name, and what it works on.
    pub(super) fn words(&self) -> &str {
        &self.words
    }
}

/// With what a call fails that meets a fault.
pub(super) fn error(fault: Fault) -> Option<Errno> {
    match fault {
        Fault::None | Fault::KillBefore(_) | Fault::KillAfter(_) => None,
        Fault::NoSpace { .. } => Some(Errno::ENOSPC),
        Fault::SyncFails { .. } => Some(Errno::EIO),
    }
}

/// What a descriptor of a thread leads to.
fn describe(thread: Pid, descriptor: u64) -> String {
    let link = std::fs::read_link(format!("/proc/{thread}/fd/{descriptor}"));
    link.map_or_else(|_| format!("{descriptor}"), |path| path.display().to_string())
}

/// The string at an address of a thread.
fn string(thread: Pid, address: u64) -> String {
    let mut bytes = [0; 512];
    let memory = File::open(format!("/proc/{thread}/mem"));
    // A page may end before the buffer does; a short string is enough to recognise a call by.
    let read = |length: usize, bytes: &mut [u8]| match &memory {
        Ok(memory) => memory.read_at(&mut bytes[..length], address).unwrap_or_default(),
        Err(_) => 0,
    };
    let length = match read(bytes.len(), &mut bytes) {
        0 => read(64, &mut bytes),
        length => length,
    };
    let end = bytes[..length].iter().position(|byte| *byte == 0).unwrap_or(length);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
