//! System calls that can have a fault, by their numbers on `x86_64`.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use libc::user_regs_struct;
use nix::errno::Errno;
use nix::unistd::Pid;

use super::Fault;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallKind {
    Write,
    Make,
    Sync,
    /// Changes or removes without needing space.
    Change,
    /// Starts or reaps a process, or takes a lock.
    Process,
}

#[derive(Clone, Debug)]
pub(super) struct SystemCall {
    kind: CallKind,
    words: String,
    /// `true` if it works on a file on a disk.
    on_disk: bool,
}

impl SystemCall {
    /// Reads a call at its beginning; `None` if its effect does not matter.
    pub(super) fn read(thread: Pid, registers: &user_regs_struct) -> Option<Self> {
        let number = i64::try_from(registers.orig_rax).ok()?;
        let descriptor = |value: u64| describe(thread, value);
        let text = |address: u64| string(thread, address);
        let (first, second, third, fourth) = (registers.rdi, registers.rsi, registers.rdx, registers.r10);
        let creates = |flags: u64| flags & u64::from(libc::O_CREAT.unsigned_abs()) != 0;
        let (kind, name, what) = match number {
            libc::SYS_write => (CallKind::Write, "write", descriptor(first)),
            libc::SYS_writev => (CallKind::Write, "writev", descriptor(first)),
            libc::SYS_pwrite64 => (CallKind::Write, "pwrite", descriptor(first)),
            libc::SYS_copy_file_range => (CallKind::Write, "copy_file_range", descriptor(third)),
            libc::SYS_open if creates(second) => (CallKind::Make, "open", text(first)),
            libc::SYS_openat if creates(third) => (CallKind::Make, "openat", text(second)),
            libc::SYS_mkdir => (CallKind::Make, "mkdir", text(first)),
            libc::SYS_mkdirat => (CallKind::Make, "mkdirat", text(second)),
            libc::SYS_rename => (CallKind::Make, "rename", text(second)),
            libc::SYS_renameat => (CallKind::Make, "renameat", text(fourth)),
            libc::SYS_renameat2 => (CallKind::Make, "renameat2", text(fourth)),
            libc::SYS_link => (CallKind::Make, "link", text(second)),
            libc::SYS_linkat => (CallKind::Make, "linkat", text(fourth)),
            libc::SYS_symlinkat => (CallKind::Make, "symlinkat", text(third)),
            libc::SYS_setxattr => (CallKind::Make, "setxattr", text(first)),
            libc::SYS_fsetxattr => (CallKind::Make, "fsetxattr", descriptor(first)),
            libc::SYS_fsync => (CallKind::Sync, "fsync", descriptor(first)),
            libc::SYS_fdatasync => (CallKind::Sync, "fdatasync", descriptor(first)),
            libc::SYS_syncfs => (CallKind::Sync, "syncfs", descriptor(first)),
            libc::SYS_ftruncate => (CallKind::Change, "ftruncate", descriptor(first)),
            libc::SYS_unlink => (CallKind::Change, "unlink", text(first)),
            libc::SYS_rmdir => (CallKind::Change, "rmdir", text(first)),
            libc::SYS_unlinkat => (CallKind::Change, "unlinkat", text(second)),
            libc::SYS_fchmod => (CallKind::Change, "fchmod", descriptor(first)),
            libc::SYS_fchmodat => (CallKind::Change, "fchmodat", text(second)),
            libc::SYS_chmod => (CallKind::Change, "chmod", text(first)),
            libc::SYS_fchown => (CallKind::Change, "fchown", descriptor(first)),
            libc::SYS_fchownat => (CallKind::Change, "fchownat", text(second)),
            libc::SYS_fork => (CallKind::Process, "fork", String::new()),
            libc::SYS_vfork => (CallKind::Process, "vfork", String::new()),
            libc::SYS_clone => (CallKind::Process, "clone", String::new()),
            libc::SYS_clone3 => (CallKind::Process, "clone3", String::new()),
            libc::SYS_wait4 => (CallKind::Process, "wait4", String::new()),
            libc::SYS_waitid => (CallKind::Process, "waitid", String::new()),
            libc::SYS_flock => (CallKind::Process, "flock", descriptor(first)),
            _ => return None,
        };
        // Pipes, event descriptors and the null device are not on a disk.
        let on_disk = kind != CallKind::Write || what.starts_with('/') && !what.starts_with("/dev/null");
        Some(Self { kind, words: format!("{name}({what})"), on_disk })
    }

    /// Returns `true` if a fault counts this call.
    pub(super) fn counts_for(&self, fault: Fault) -> bool {
        match fault {
            Fault::None | Fault::KillBefore(_) | Fault::KillAfter(_) => true,
            Fault::NoSpace { .. } => matches!(self.kind, CallKind::Write | CallKind::Make) && self.on_disk,
            Fault::SyncFails { .. } => self.kind == CallKind::Sync,
        }
    }

    pub(super) fn words(&self) -> &str {
        &self.words
    }
}

pub(super) fn error(fault: Fault) -> Option<Errno> {
    match fault {
        Fault::None | Fault::KillBefore(_) | Fault::KillAfter(_) => None,
        Fault::NoSpace { .. } => Some(Errno::ENOSPC),
        Fault::SyncFails { .. } => Some(Errno::EIO),
    }
}

fn describe(thread: Pid, descriptor: u64) -> String {
    let link = std::fs::read_link(format!("/proc/{thread}/fd/{descriptor}"));
    link.map_or_else(|_| format!("{descriptor}"), |path| path.display().to_string())
}

fn string(thread: Pid, address: u64) -> String {
    let mut bytes = [0; 512];
    let memory = File::open(format!("/proc/{thread}/mem"));
    // The mapped memory may end before the buffer. A short string is enough to recognize a call.
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
