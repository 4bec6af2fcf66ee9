//! Probes of other processes and of privileges.

use libc::{c_int, c_long};

use crate::calls::{Argument, Attempt, address, attempt, call, open, path, read, room};
use crate::ground::{NOBODY, Target};
use crate::probe::{NamedAttempt, NamedClosure, Probe, Promise};

/// Parts of a process in `/proc` that only a tracer may read.
const TRACED: [&str; 14] = [
    "auxv",
    "cwd/",
    "environ",
    "exe",
    "fd/0",
    "fdinfo",
    "io",
    "map_files",
    "maps",
    "mem",
    "pagemap",
    "root/",
    "smaps",
    "syscall",
];
/// Links of a process in `/proc`.
const LINKS: [&str; 5] = ["cwd", "exe", "fd/0", "ns/net", "root"];
/// Parts that every user may read, and the numbers of descriptors, which the same user may list.
const SHOWN: [&str; 7] = ["cmdline", "comm", "fd", "limits", "stat", "status", "statm"];
/// Parts that a process of the same user may write.
const WRITTEN: [&str; 11] = [
    "attr/current",
    "clear_refs",
    "comm",
    "coredump_filter",
    "gid_map",
    "limits",
    "mem",
    "oom_score_adj",
    "setgroups",
    "timerslack_ns",
    "uid_map",
];

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = in_proc();
    probes.extend(calls());
    probes.extend(signals());
    probes.extend(scheduling());
    probes.extend(privileges());
    probes
}

fn in_proc() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (process, number) in [("PID", None), ("1", Some(1))] {
        let at = move |target: &Target, part: &str| format!("/proc/{}/{part}", number.unwrap_or(target.peer));
        let mut add = |name: String, promise, attempt: Box<dyn Fn(&Target) -> Attempt>| {
            probes.push(Probe::new(name, promise, attempt).if_present());
        };
        for part in TRACED {
            let read = move |target: &Target| read(at(target, part));
            add(format!("read /proc/{process}/{part}"), Promise::Closed, Box::new(read));
        }
        for part in LINKS {
            let read = move |target: &Target| {
                let link = path(at(target, part));
                attempt(libc::SYS_readlinkat, &[&libc::AT_FDCWD, &link, &room(), &512])
            };
            add(format!("read the link /proc/{process}/{part}"), Promise::Closed, Box::new(read));
        }
        for part in SHOWN {
            let read = move |target: &Target| read(at(target, part));
            add(format!("read /proc/{process}/{part}"), Promise::HiddenFromRoot, Box::new(read));
        }
        for part in WRITTEN {
            let open = move |target: &Target| open(at(target, part), libc::O_WRONLY).map(drop);
            add(format!("write /proc/{process}/{part}"), Promise::Closed, Box::new(open));
        }
    }
    probes
}

fn pidfd(target: &Target) -> Result<c_long, c_int> {
    call(libc::SYS_pidfd_open, &[&target.peer, &0])
}

/// Calls that look into another process. Their other arguments make a success harmless.
fn calls() -> Vec<Probe> {
    let closed: [NamedAttempt; 13] = [
        ("ptrace", |target| attempt(libc::SYS_ptrace, &[&0x4206, &target.peer, &0, &0])),
        ("ptrace of itself", |_| attempt(libc::SYS_ptrace, &[&0, &0, &0, &0])),
        ("process_vm_readv", |target| transfer(libc::SYS_process_vm_readv, target)),
        ("process_vm_writev", |target| transfer(libc::SYS_process_vm_writev, target)),
        ("pidfd_getfd", |target| attempt(libc::SYS_pidfd_getfd, &[&pidfd(target)?, &0, &0])),
        ("kcmp", |target| attempt(libc::SYS_kcmp, &[&target.peer, &target.peer, &0, &0, &0])),
        ("process_madvise", |target| {
            let ranges = [0_u64; 2];
            attempt(libc::SYS_process_madvise, &[&pidfd(target)?, &ranges, &1, &20, &0])
        }),
        ("move_pages", |target| attempt(libc::SYS_move_pages, &[&target.peer, &0, &0, &0, &0, &0])),
        ("migrate_pages", |target| {
            attempt(libc::SYS_migrate_pages, &[&target.peer, &8, &[1_u64; 2], &[1_u64; 2]])
        }),
        ("prlimit64", |target| {
            attempt(libc::SYS_prlimit64, &[&target.peer, &libc::RLIMIT_CORE, &0, &room()])
        }),
        ("setns", |target| attempt(libc::SYS_setns, &[&pidfd(target)?, &libc::CLONE_NEWUTS])),
        ("perf_event_open", |target| {
            let mut attributes = [0_u32; 32];
            (attributes[0], attributes[1]) = (1, 128);
            attempt(libc::SYS_perf_event_open, &[&attributes, &target.peer, &-1, &-1, &0])
        }),
        ("get_robust_list", |target| attempt(libc::SYS_get_robust_list, &[&target.peer, &room(), &room()])),
    ];
    let probe = |(name, attempt)| {
        let promise = match name {
            // Where only seccomp refuses it.
            "ptrace of itself" | "prlimit64" => Promise::Filtered,
            _ => Promise::Closed,
        };
        Probe::new(format!("look into a process by {name}"), promise, attempt).if_present()
    };
    closed.map(probe).into()
}

/// Transfers one byte that is not mapped.
fn transfer(number: c_long, target: &Target) -> Attempt {
    let byte = [0_u8; 1];
    let here = [address(byte.as_ptr()), 1];
    let there: [c_long; 2] = [1, 1];
    attempt(number, &[&target.peer, &here, &1, &there, &1, &0])
}

/// Signals without an effect.
fn signals() -> Vec<Probe> {
    let signals: [NamedAttempt; 8] = [
        ("kill with 0", |target| attempt(libc::SYS_kill, &[&target.peer, &0])),
        ("kill", |target| attempt(libc::SYS_kill, &[&target.peer, &libc::SIGCONT])),
        ("kill of its group", |target| attempt(libc::SYS_kill, &[&-group(target)?, &0])),
        ("tkill", |target| attempt(libc::SYS_tkill, &[&target.peer, &libc::SIGCONT])),
        ("tgkill", |target| attempt(libc::SYS_tgkill, &[&target.peer, &target.peer, &libc::SIGCONT])),
        ("rt_sigqueueinfo", |target| {
            attempt(libc::SYS_rt_sigqueueinfo, &[&target.peer, &libc::SIGCONT, &information()])
        }),
        ("rt_tgsigqueueinfo", |target| {
            let arguments: [&dyn Argument; 4] = [&target.peer, &target.peer, &libc::SIGCONT, &information()];
            attempt(libc::SYS_rt_tgsigqueueinfo, &arguments)
        }),
        ("pidfd_send_signal", |target| {
            attempt(libc::SYS_pidfd_send_signal, &[&pidfd(target)?, &libc::SIGCONT, &0, &0])
        }),
    ];
    signals.map(|(name, attempt)| Probe::new(format!("signal by {name}"), Promise::Signal, attempt)).into()
}

/// Returns the group of the process outside.
fn group(target: &Target) -> Result<c_int, c_int> {
    let group = call(libc::SYS_getpgid, &[&target.peer])?;
    Ok(c_int::try_from(group).expect("a number"))
}

/// Returns information of a signal that a process queued.
fn information() -> [c_int; 32] {
    let mut information = [0; 32];
    (information[0], information[2]) = (libc::SIGCONT, libc::SI_QUEUE);
    information
}

/// Changes of limits, priorities and processors of another process, to the present or to invalid ones.
fn scheduling() -> Vec<Probe> {
    let attempts: [NamedAttempt; 9] = [
        ("prlimit64", |target| {
            let limit = [0_u64; 2];
            attempt(libc::SYS_prlimit64, &[&target.peer, &libc::RLIMIT_CORE, &limit, &limit])
        }),
        ("setpriority", |target| attempt(libc::SYS_setpriority, &[&0, &target.peer, &0])),
        ("setpriority of its group", |target| attempt(libc::SYS_setpriority, &[&1, &group(target)?, &0])),
        ("setpriority of its user", |_| {
            attempt(libc::SYS_setpriority, &[&2, &call(libc::SYS_getuid, &[])?, &0])
        }),
        ("ioprio_set", |target| attempt(libc::SYS_ioprio_set, &[&1, &target.peer, &0x4004])),
        ("sched_setaffinity", |target| {
            attempt(libc::SYS_sched_setaffinity, &[&target.peer, &128, &[u64::MAX; 16]])
        }),
        ("sched_setscheduler", |target| {
            attempt(libc::SYS_sched_setscheduler, &[&target.peer, &0, &[0_u32; 2]])
        }),
        ("sched_setparam", |target| attempt(libc::SYS_sched_setparam, &[&target.peer, &[0_u32; 2]])),
        ("sched_setattr", |target| {
            let mut attributes = [0_u32; 14];
            attributes[0] = 48;
            attempt(libc::SYS_sched_setattr, &[&target.peer, &attributes, &0])
        }),
    ];
    let probe = |(name, attempt)| {
        Probe::new(format!("schedule a process by {name}"), Promise::Filtered, attempt).only_inside()
    };
    let mut probes: Vec<Probe> = attempts.map(probe).into();
    probes.push(Probe::new("schedule itself", Promise::Open, |_| {
        attempt(libc::SYS_sched_setaffinity, &[&0, &128, &[u64::MAX; 16]])?;
        // The kernel returns 20 less the priority. A test may run with a low one.
        let own = 20 - call(libc::SYS_getpriority, &[&0, &0])?;
        attempt(libc::SYS_setpriority, &[&0, &0, &own])
    }));
    probes
}

/// Attempts to gain a privilege.
fn privileges() -> Vec<Probe> {
    let nobody = NOBODY + 1;
    let attempts: [NamedClosure; 17] = [
        ("setuid", Box::new(|_| number(libc::SYS_setuid, &[&other_user()?]))),
        ("setresuid", Box::new(|_| number(libc::SYS_setresuid, &[&-1, &other_user()?, &-1]))),
        ("setreuid", Box::new(|_| number(libc::SYS_setreuid, &[&-1, &other_user()?]))),
        ("setgid", Box::new(move |_| number(libc::SYS_setgid, &[&nobody]))),
        ("setresgid", Box::new(move |_| number(libc::SYS_setresgid, &[&-1, &nobody, &-1]))),
        ("setgroups", Box::new(|_| attempt(libc::SYS_setgroups, &[&1, &[0_u32; 1]]))),
        ("setgroups without groups", Box::new(|_| attempt(libc::SYS_setgroups, &[&0, &0]))),
        ("capset", Box::new(|_| attempt(libc::SYS_capset, &[&[0x2008_0522_u32, 0], &[1_u32; 6]]))),
        ("securebits", Box::new(|_| attempt(libc::SYS_prctl, &[&libc::PR_SET_SECUREBITS, &0]))),
        ("an ambient capability", Box::new(|_| attempt(libc::SYS_prctl, &[&47, &2, &1, &0, &0]))),
        (
            "a raised limit",
            Box::new(|_| {
                let mut limit = [0_u64; 2];
                call(libc::SYS_prlimit64, &[&0, &libc::RLIMIT_NICE, &0, &address(limit.as_mut_ptr())])?;
                limit = limit.map(|limit| limit + 1);
                attempt(libc::SYS_prlimit64, &[&0, &libc::RLIMIT_NICE, &limit, &0])
            }),
        ),
        ("a higher priority", Box::new(|_| attempt(libc::SYS_setpriority, &[&0, &0, &-5]))),
        (
            "real-time scheduling",
            Box::new(|_| attempt(libc::SYS_sched_setscheduler, &[&0, &libc::SCHED_FIFO, &[1_u32; 2]])),
        ),
        ("real-time input and output", Box::new(|_| attempt(libc::SYS_ioprio_set, &[&1, &0, &0x2000]))),
        ("new privileges of programs", Box::new(|_| status_is("NoNewPrivs:", "1"))),
        ("effective capabilities", Box::new(|_| status_is("CapEff:", "0000000000000000"))),
        ("permitted capabilities", Box::new(|_| status_is("CapPrm:", "0000000000000000"))),
    ];
    let probe = |(name, attempt)| Probe::new(format!("gain {name}"), Promise::Closed, attempt).if_present();
    attempts.map(probe).into()
}

/// Takes on a number. One that the user namespace does not have can't be taken on either.
fn number(call: c_long, arguments: &[&dyn Argument]) -> Attempt {
    attempt(call, arguments).map_err(|errno| if errno == libc::EINVAL { libc::EPERM } else { errno })
}

/// Returns another user than that of this process.
fn other_user() -> Result<c_long, c_int> {
    Ok(call(libc::SYS_getuid, &[])? ^ 1)
}

/// Fails, as if it were refused, if the status of this process has that value.
fn status_is(name: &str, value: &str) -> Attempt {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|_| libc::EIO)?;
    let line = status.lines().find_map(|line| line.strip_prefix(name)).ok_or(libc::EIO)?;
    if line.trim() == value { Err(libc::EPERM) } else { Ok(()) }
}
