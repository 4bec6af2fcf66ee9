//! The filter of system calls.
//!
//! Refused calls return errors that programs handle. A program for another kind of processor (32-bit on a
//! 64-bit machine) is killed at its first system call, because its calls have other numbers.

mod bpf_prologue;
mod files;
mod modules;

use std::collections::BTreeMap;
use std::io;

use rustix::thread::{SecureComputingMode, secure_computing_mode};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use crate::Sandbox;

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

// These have the same number on every kind of processor.
const SYS_FCHMODAT2: i64 = 452;
const SYS_SETXATTRAT: i64 = 463;
const SYS_REMOVEXATTRAT: i64 = 466;
const SYS_OPEN_TREE_ATTR: i64 = 467;
const SYS_FILE_SETATTR: i64 = 469;

/// Flags of all kinds of namespaces.
const NAMESPACES: [i32; 8] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    0x80, // CLONE_NEWTIME
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Returns `true` if system calls can be filtered.
pub(super) fn is_available() -> bool {
    matches!(secure_computing_mode(), Ok(SecureComputingMode::Disabled | SecureComputingMode::Filter))
}

/// Puts the filter into force for this process and all processes that it starts.
pub(super) fn install(sandbox: &Sandbox, has_view: bool) -> io::Result<()> {
    apply_filter(&program(sandbox, has_view)?).map_err(io::Error::other)
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Builds one filter of four parts: programs for another kind of processor are killed, calls that programs
/// can do without are unknown, calls without a rule are allowed, and the rules decide about the rest.
///
/// The kernel evaluates a new filter for every number of a call. The third part spares the many numbers
/// without a rule the walk through all rules.
fn program(sandbox: &Sandbox, has_view: bool) -> io::Result<BpfProgram> {
    let rules = rules(sandbox, has_view).map_err(io::Error::other)?;
    let numbers: Vec<u32> = rules.keys().filter_map(|call| u32::try_from(*call).ok()).collect();
    let architecture = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refused, architecture);
    let rules: BpfProgram = filter.and_then(TryInto::try_into).map_err(io::Error::other)?;
    let mut program = bpf_prologue::of_this_processor();
    program.extend(bpf_prologue::unknown(UNKNOWN));
    program.extend(bpf_prologue::allowed_but(&numbers));
    program.extend(rules);
    Ok(program)
}

fn rules(sandbox: &Sandbox, has_view: bool) -> Result<Rules, seccompiler::BackendError> {
    let always = |calls: &[i64]| calls.iter().map(|call| (*call, Vec::new())).collect::<Rules>();
    let mut rules = always(FORBIDDEN);
    rules.insert(SYS_OPEN_TREE_ATTR, Vec::new());
    rules.extend(files::set_id()?);
    rules.extend(scheduling()?);
    rules.insert(libc::SYS_fcntl, files::leases()?);
    rules.insert(libc::SYS_ioctl, modules::requests()?);
    if !has_view {
        rules.extend(always(ATTRIBUTES));
        rules.extend(always(SHARED_MEMORY));
        rules.entry(libc::SYS_ioctl).or_default().extend(files::flags()?);
    }

    if sandbox.programs.is_some() {
        rules.insert(libc::SYS_memfd_create, files::executable_memory()?);
    }

    // Limits of other processes of the same user: without processor time, they would be killed.
    let of_another = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![of_another])?]);

    let mut new_namespaces = Vec::new();
    for flag in NAMESPACES {
        let flag = u64::from(flag.unsigned_abs());
        let is_set = SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?;
        new_namespaces.push(SeccompRule::new(vec![is_set])?);
    }
    // In the flags of a new process, the bit of CLONE_NEWTIME belongs to the number of its exit signal.
    let mut for_processes = new_namespaces.clone();
    for_processes.remove(5);
    rules.insert(libc::SYS_unshare, new_namespaces);
    rules.insert(libc::SYS_clone, for_processes);

    let unix = sandbox.unix_sockets.then_some(libc::AF_UNIX);
    let network = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let network = if sandbox.network { &network[..] } else { &[] };
    let allowed: Vec<i32> = network.iter().copied().chain(unix).collect();
    let mut sockets = none_of(&allowed)?;
    if sandbox.network {
        sockets.push(netlink_but_routes()?);
        sockets.extend(modules::protocols()?);
    }
    rules.insert(libc::SYS_socket, sockets);
    let mut pairs = none_of(&[libc::AF_UNIX])?;
    if !sandbox.unix_sockets {
        pairs.extend(datagrams()?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    Ok(rules)
}

/// Matches calls that change the scheduling of other processes; number 0 is the caller itself. Threads of the
/// caller are refused too, because their numbers look like those of processes.
fn scheduling() -> Result<Rules, seccompiler::BackendError> {
    /// Value of the first argument that means a process, and not a group or a user.
    const PROCESS: [(i64, u64); 2] = [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];
    let by_number = [
        (libc::SYS_sched_setaffinity, 0),
        (libc::SYS_sched_setattr, 0),
        (libc::SYS_sched_setparam, 0),
        (libc::SYS_sched_setscheduler, 0),
        (libc::SYS_setpriority, 1),
        (libc::SYS_ioprio_set, 1),
    ];
    let is_other = |argument, value| {
        SeccompRule::new(vec![SeccompCondition::new(
            argument,
            SeccompCmpArgLen::Dword,
            SeccompCmpOp::Ne,
            value,
        )?])
    };
    let mut rules = Rules::new();
    for (call, number) in by_number {
        rules.entry(call).or_default().push(is_other(number, 0)?);
    }
    for (call, process) in PROCESS {
        rules.entry(call).or_default().push(is_other(0, process)?);
    }
    Ok(rules)
}

/// Matches pairs of datagram sockets, which can be connected to other sockets. A pair of another kind is a
/// pipe in two directions for good.
fn datagrams() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    const KIND: u64 = 0xf;
    // The kernel treats SOCK_RAW as SOCK_DGRAM.
    let kinds = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| u64::from(kind.unsigned_abs()));
    let of_kind =
        |kind| SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(KIND), kind);
    kinds.into_iter().map(|kind| SeccompRule::new(vec![of_kind(kind)?])).collect()
}

/// Matches netlink sockets except those for addresses and routes, which name lookups need.
fn netlink_but_routes() -> Result<SeccompRule, seccompiler::BackendError> {
    const ROUTES: u64 = 0;
    let netlink = u64::from(libc::AF_NETLINK.unsigned_abs());
    SeccompRule::new(vec![
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, netlink)?,
        SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, ROUTES)?,
    ])
}

/// Matches calls whose first argument is none of these; all calls if there are none.
fn none_of(allowed: &[i32]) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let is_other = |family: &i32| {
        let family = u64::from(family.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)
    };
    let conditions = allowed.iter().map(is_other).collect::<Result<Vec<_>, _>>()?;
    if conditions.is_empty() { Ok(Vec::new()) } else { Ok(vec![SeccompRule::new(conditions)?]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sandbox(network: bool, unix_sockets: bool) -> Sandbox {
        Sandbox { network, unix_sockets, ..Sandbox::new("/work") }
    }

    #[test]
    fn sockets_are_refused_by_their_family() {
        for (network, unix_sockets, expected) in
            [(false, false, 0), (false, true, 1), (true, false, 6), (true, true, 6)]
        {
            let rules = rules(&sandbox(network, unix_sockets), true).expect("rules");
            // An empty list of rules matches every call.
            assert_eq!(rules[&libc::SYS_socket].len(), expected, "{network} {unix_sockets}");
        }
    }

    #[test]
    fn attributes_and_shared_memory_are_refused_where_nothing_else_guards_them() {
        for (has_view, expected) in [(true, false), (false, true)] {
            let rules = rules(&sandbox(false, false), has_view).expect("rules");
            for call in [libc::SYS_fchownat, libc::SYS_utimensat, libc::SYS_shmget] {
                assert_eq!(rules.contains_key(&call), expected, "{call}");
            }
        }
    }

    #[test]
    fn the_whole_filter_says_what_its_rules_say() {
        use bpf_prologue::tests::{FilterResult, evaluate};
        for (network, has_view) in [(false, true), (false, false), (true, true), (true, false)] {
            let sandbox = sandbox(network, false);
            let program = program(&sandbox, has_view).expect("a program");
            let rules = rules(&sandbox, has_view).expect("rules");
            for number in (0..700).chain([0x4000_0000, 0x4000_0029]) {
                // No rule is about arguments that are all zero but those of sockets and of priorities: no
                // family has that number, and no kind of process.
                const NEVER_ZERO: [i64; 3] = [libc::SYS_socket, libc::SYS_socketpair, libc::SYS_ioprio_set];
                let is_refused = rules
                    .get(&i64::from(number))
                    .is_some_and(|rules| rules.is_empty() || NEVER_ZERO.contains(&i64::from(number)));
                let is_x32 = cfg!(target_arch = "x86_64") && number >= 0x4000_0000;
                let expected = match number {
                    _ if is_x32 || UNKNOWN.contains(&i64::from(number)) => FilterResult::Error(libc::ENOSYS),
                    _ if is_refused => FilterResult::Error(libc::EPERM),
                    _ => FilterResult::Allow,
                };
                assert_eq!(evaluate(&program, bpf_prologue::PROCESSOR, number, &[]), expected, "{number}");
                assert_eq!(
                    evaluate(&program, bpf_prologue::PROCESSOR ^ 1, number, &[]),
                    FilterResult::Kill,
                    "{number}"
                );
            }
            let clone = u32::try_from(libc::SYS_clone).expect("a number");
            let new_user = u64::from(libc::CLONE_NEWUSER.unsigned_abs());
            assert_eq!(
                evaluate(&program, bpf_prologue::PROCESSOR, clone, &[new_user]),
                FilterResult::Error(libc::EPERM)
            );
            let socket = u32::try_from(libc::SYS_socket).expect("a number");
            let internet = u64::from(libc::AF_INET.unsigned_abs());
            let expected = if network { FilterResult::Allow } else { FilterResult::Error(libc::EPERM) };
            assert_eq!(evaluate(&program, bpf_prologue::PROCESSOR, socket, &[internet, 1]), expected);
        }
    }

    #[test]
    fn calls_that_load_modules_are_refused() {
        use bpf_prologue::tests::{FilterResult, evaluate};
        let internet = [libc::AF_INET, libc::AF_INET6].map(|family| u64::from(family.unsigned_abs()));
        for (network, has_view) in [(false, true), (false, false), (true, true), (true, false)] {
            let program = program(&sandbox(network, false), has_view).expect("a program");
            let result = |call: i64, arguments: &[u64]| {
                let number = u32::try_from(call).expect("a number");
                evaluate(&program, bpf_prologue::PROCESSOR, number, arguments)
            };
            let refused = FilterResult::Error(libc::EPERM);
            let if_network = if network { FilterResult::Allow } else { refused };
            for (request, expected) in
                [(0x8940, refused), (0x89a1, refused), (0x8983, refused), (0x8912, FilterResult::Allow)]
            {
                assert_eq!(result(libc::SYS_ioctl, &[3, request]), expected, "{request:x} {has_view}");
            }
            for family in internet {
                // Types have flags beside them.
                for (kind, protocol, expected) in [
                    (0x8_0001, 0, if_network),
                    (0x8_0001, 6, if_network),
                    (0x8_0001, 262, if_network),
                    (2, 17, if_network),
                    (2, 1, if_network),
                    (2, 115, refused),
                    (5, 132, refused),
                    (6, 33, refused),
                    (0x8_0006, 0, refused),
                ] {
                    let arguments = [family, kind, protocol];
                    assert_eq!(result(libc::SYS_socket, &arguments), expected, "{arguments:?} {network}");
                }
            }
        }
    }
}
