//! The filter of system calls.
//!
//! Refused calls return errors that programs handle. A program for another kind of processor (32-bit on a
//! 64-bit machine) is killed at its first system call, because its calls have other numbers.

mod assembler;
mod checks;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;

use libc::sock_filter;
use rustix::thread::{SecureComputingMode, secure_computing_mode};

use crate::{Sandbox, raw};
use assembler::{Assembler, FilterVerdict, Next};

/// Calls that act on other processes, on keys that no namespace separates or on the kernel, and calls that
/// would undo the sandbox. Calls that need a privilege (loading a module, swap, a restart) are not listed: the
/// command has no privilege.
const FORBIDDEN: &[i64] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_fanotify_init,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    SYS_OPEN_TREE_ATTR,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_userfaultfd,
];

/// Calls that programs can do without on an older kernel. Their flags and modes can't be checked by a filter.
const UNKNOWN: &[i64] = &[
    libc::SYS_clone3,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_openat2,
];

/// Calls that change modes, owners, times and attributes, which Landlock does not check.
const ATTRIBUTES: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

/// Calls that reach memory and queues that all processes share, also by a guessed number.
const SHARED_MEMORY: &[i64] = &[
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_msgrcv,
    libc::SYS_msgsnd,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmget,
];

/// Calls whose second argument is the mode of a file.
const MODE_SECOND: &[i64] = &[
    libc::SYS_fchmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
];

/// Calls whose third argument is the mode of a file.
const MODE_THIRD: &[i64] = &[libc::SYS_fchmodat, SYS_FCHMODAT2, libc::SYS_mknodat];

/// Calls whose first argument is a process: its scheduling, or its limits. Without processor time, another process
/// of the same user would be killed.
const OF_A_PROCESS: &[i64] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// Values of the first argument of calls about priorities that mean a process, and not a group or a user.
const PRIO_PROCESS: u32 = 0;
const IOPRIO_WHO_PROCESS: u32 = 1;

/// Flags of all kinds of namespaces.
const NAMESPACES: u32 = CLONE_NEWTIME
    | (libc::CLONE_NEWCGROUP
        | libc::CLONE_NEWIPC
        | libc::CLONE_NEWNET
        | libc::CLONE_NEWNS
        | libc::CLONE_NEWPID
        | libc::CLONE_NEWUSER
        | libc::CLONE_NEWUTS)
        .cast_unsigned();
/// In the flags of a new process, this bit belongs to the number of its exit signal.
const CLONE_NEWTIME: u32 = 0x80;

// These have the same number on every kind of processor.
const SYS_FCHMODAT2: i64 = 452;
const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;
const SYS_OPEN_TREE_ATTR: i64 = 467;
const SYS_FILE_SETATTR: i64 = 469;

/// Returns `true` if system calls can be filtered.
pub(super) fn is_available() -> bool {
    matches!(secure_computing_mode(), Ok(SecureComputingMode::Disabled | SecureComputingMode::Filter))
}

/// Puts the filter into force for this process and all processes that it starts.
pub(super) fn install(sandbox: &Sandbox, has_view: bool) -> io::Result<()> {
    raw::filter_system_calls(&program(sandbox, has_view))
}

/// Builds the filter. Programs for another kind of processor are killed, calls that programs can do without are
/// unknown, and calls that are not listed are allowed.
fn program(sandbox: &Sandbox, has_view: bool) -> Vec<sock_filter> {
    let mut calls = Calls::default();
    let to = &mut Assembler::default();
    calls.add(MODE_SECOND, checks::set_id(to, 1));
    calls.add(MODE_THIRD, checks::set_id(to, 2));
    #[cfg(target_arch = "x86_64")]
    calls.add(&[libc::SYS_open], checks::opens_set_id(to, 1));
    calls.add(&[libc::SYS_openat], checks::opens_set_id(to, 2));
    calls.add(&[libc::SYS_fcntl], checks::leases(to));
    calls.add(&[libc::SYS_ioctl], checks::requests(to, has_view));
    if sandbox.programs.is_some() {
        calls.add(&[libc::SYS_memfd_create], checks::executable_memory(to));
    }
    calls.add(OF_A_PROCESS, checks::other_process(to));
    calls.add(&[libc::SYS_setpriority], checks::other_priority(to, PRIO_PROCESS));
    calls.add(&[libc::SYS_ioprio_set], checks::other_priority(to, IOPRIO_WHO_PROCESS));
    calls.add(&[libc::SYS_clone], checks::new_namespaces(to, NAMESPACES & !CLONE_NEWTIME));
    calls.add(&[libc::SYS_unshare], checks::new_namespaces(to, NAMESPACES));
    calls.add(&[libc::SYS_socket], checks::sockets(to, sandbox.network, sandbox.unix_sockets));
    calls.add(&[libc::SYS_socketpair], checks::pairs(to, sandbox.unix_sockets));
    // The later rule of a call counts: one that is always refused is refused whatever its arguments are.
    calls.add(FORBIDDEN, FilterVerdict::Refuse.into());
    if !has_view {
        calls.add(ATTRIBUTES, FilterVerdict::Refuse.into());
        calls.add(SHARED_MEMORY, FilterVerdict::Refuse.into());
    }
    calls.add(UNKNOWN, FilterVerdict::Unknown.into());
    std::mem::take(to).finish(calls.0)
}

/// Calls that are not simply allowed, by their numbers.
#[derive(Default)]
struct Calls(BTreeMap<u32, Next>);

impl Calls {
    fn add(&mut self, calls: &[i64], next: Next) {
        let numbers = calls.iter().filter_map(|call| u32::try_from(*call).ok());
        self.0.extend(numbers.map(|number| (number, next)));
    }
}
