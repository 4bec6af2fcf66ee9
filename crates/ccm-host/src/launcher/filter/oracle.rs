//! The same filter in other words, for tests: lists of conditions, which another library compiles.
//!
//! What is refused is written down here without the tables of the filter.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use crate::Sandbox;

/// Comparison of the lower half of an argument.
#[derive(Clone, Copy, Debug)]
pub(super) enum Comparison {
    Is(u32),
    IsNot(u32),
    /// The bits of the first value are those of the second one.
    Bits(u32, u32),
}
use Comparison::{Bits, Is, IsNot};

/// Conditions that are all met, each with its argument.
pub(super) type Conditions = Vec<(u8, Comparison)>;

/// Conditions under which each call is refused; any of them is enough. None at all means always.
pub(super) type Rules = BTreeMap<i64, Vec<Conditions>>;

/// Compiles rules.
pub(super) fn compile(rules: &Rules) -> BpfProgram {
    let condition = |(argument, comparison): &(u8, Comparison)| {
        let (operator, value) = match *comparison {
            Is(value) => (SeccompCmpOp::Eq, value),
            IsNot(value) => (SeccompCmpOp::Ne, value),
            Bits(mask, value) => (SeccompCmpOp::MaskedEq(mask.into()), value),
        };
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, operator, value.into())
            .expect("a condition")
    };
    let rule = |conditions: &Conditions| {
        SeccompRule::new(conditions.iter().map(condition).collect()).expect("a rule")
    };
    let rules = rules.iter().map(|(call, rules)| (*call, rules.iter().map(rule).collect()));
    let refused = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    let architecture = std::env::consts::ARCH.try_into().expect("a processor");
    let filter = SeccompFilter::new(rules.collect(), SeccompAction::Allow, refused, architecture);
    filter.and_then(TryInto::try_into).expect("a program")
}

/// Returns the rules of a sandbox.
pub(super) fn rules(sandbox: &Sandbox, has_view: bool) -> Rules {
    let mut rules = Rules::new();
    rules.extend(FORBIDDEN.map(|call| (call, Vec::new())));
    set_id(&mut rules);
    for call in [
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
        libc::SYS_prlimit64,
    ] {
        rules.insert(call, vec![vec![(0, IsNot(0))]]);
    }
    rules.insert(libc::SYS_setpriority, vec![vec![(1, IsNot(0))], vec![(0, IsNot(0))]]);
    rules.insert(libc::SYS_ioprio_set, vec![vec![(1, IsNot(0))], vec![(0, IsNot(1))]]);
    rules.insert(libc::SYS_fcntl, vec![vec![(1, Is(1024))], vec![(1, Is(1040))]]);
    let modules = [0x8940, 0x8941, 0x8980, 0x8981, 0x8982, 0x8983, 0x89a0, 0x89a1];
    rules.insert(libc::SYS_ioctl, modules.map(|request| vec![(1, Is(request))]).into());
    if !has_view {
        rules.extend(ATTRIBUTES_AND_MEMORY.iter().map(|call| (*call, Vec::new())));
        rules.entry(libc::SYS_ioctl).or_default().extend(flags());
    }
    if sandbox.programs.is_some() {
        rules.insert(libc::SYS_memfd_create, vec![vec![(1, Bits(8, 0))]]);
    }
    let kinds = [0x0200_0000, 0x0800_0000, 0x4000_0000, 0x0002_0000, 0x2000_0000, 0x1000_0000, 0x0400_0000];
    let new = |kind: u32| vec![(0, Bits(kind, kind))];
    rules.insert(libc::SYS_clone, kinds.map(new).into());
    rules.insert(libc::SYS_unshare, kinds.into_iter().chain([0x80]).map(new).collect());
    sockets(&mut rules, sandbox.network, sandbox.unix_sockets);
    rules
}

const FORBIDDEN: [i64; 29] = [
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
    467, // open_tree_attr
];

const ATTRIBUTES_AND_MEMORY: &[i64] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    452, // fchmodat2
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
    463, // setxattrat
    466, // removexattrat
    469, // file_setattr
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

fn set_id(rules: &mut Rules) {
    let changed = [
        (libc::SYS_fchmod, 1),
        (libc::SYS_fchmodat, 2),
        (452, 2), // fchmodat2
        (libc::SYS_mknodat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_mknod, 1),
    ];
    let opened = [
        (libc::SYS_openat, 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, 1),
    ];
    for bit in [0o4000, 0o2000] {
        for (call, mode) in changed {
            rules.entry(call).or_default().push(vec![(mode, Bits(bit, bit))]);
        }
        for (call, flags) in opened {
            // O_CREAT, and the bit of O_TMPFILE.
            for creates in [0o100, 0o20_000_000] {
                let conditions = vec![(flags, Bits(creates, creates)), (flags + 1, Bits(bit, bit))];
                rules.entry(call).or_default().push(conditions);
            }
        }
    }
}

fn flags() -> Vec<Conditions> {
    let kinds = [b'f', b'v', b'X'].map(|letter| Bits(0xc000_ff00, 0x4000_0000 | u32::from(letter) << 8));
    let requests = [
        0x800c_6613,
        0x4008_941a,
        0x5000_9401,
        0x5000_940e,
        0x5000_940f,
        0x5000_9417,
        0x5000_9418,
        0x5000_943f,
    ];
    kinds.into_iter().chain(requests.map(Is)).map(|comparison| vec![(1, comparison)]).collect()
}

fn sockets(rules: &mut Rules, network: bool, unix_sockets: bool) {
    const UNIX: u32 = 1;
    const INTERNET: [u32; 2] = [2, 10];
    const NETLINK: u32 = 16;
    const PROTOCOLS: [u32; 7] = [0, 1, 6, 17, 58, 136, 262];
    let allowed = [(UNIX, unix_sockets), (INTERNET[0], network), (INTERNET[1], network), (NETLINK, network)];
    let other: Conditions =
        allowed.iter().filter(|(_, is_allowed)| *is_allowed).map(|(family, _)| (0, IsNot(*family))).collect();
    let mut sockets = if other.is_empty() { Vec::new() } else { vec![other] };
    if network {
        sockets.push(vec![(0, Is(NETLINK)), (2, IsNot(0))]);
        for family in INTERNET {
            let others = PROTOCOLS.map(|protocol| (2, IsNot(protocol)));
            sockets.push(others.into_iter().chain([(0, Is(family))]).collect());
            sockets.push(vec![(0, Is(family)), (1, Bits(0xf, 6))]);
        }
    }
    rules.insert(libc::SYS_socket, sockets);
    let mut pairs = vec![vec![(0, IsNot(UNIX))]];
    if !unix_sockets {
        pairs.extend([2, 3].map(|kind| vec![(1, Bits(0xf, kind))]));
    }
    rules.insert(libc::SYS_socketpair, pairs);
}
