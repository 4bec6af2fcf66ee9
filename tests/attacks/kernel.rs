//! Probes of mounts, namespaces, and other parts of the kernel.

use libc::{c_int, c_long};

use crate::calls::{Argument, Attempt, attempt, call, end, open, path, room};
use crate::ground::Target;
use crate::probe::{NamedClosure, Probe, Promise};

const NAMESPACES: [(&str, c_int); 8] = [
    ("cgroup", libc::CLONE_NEWCGROUP),
    ("ipc", libc::CLONE_NEWIPC),
    ("mnt", libc::CLONE_NEWNS),
    ("net", libc::CLONE_NEWNET),
    ("pid", libc::CLONE_NEWPID),
    ("time", 0x80),
    ("user", libc::CLONE_NEWUSER),
    ("uts", libc::CLONE_NEWUTS),
];

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = namespaces();
    probes.extend(mounts());
    probes.extend(administration());
    probes.extend(interfaces());
    probes
}

fn namespaces() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (name, flag) in NAMESPACES {
        let own = format!("/proc/self/ns/{name}");
        let set = move |_: &Target| attempt(libc::SYS_setns, &[&open(&own, libc::O_RDONLY)?, &0]);
        let set = Probe::new(format!("enter its own namespace {name}"), Promise::Filtered, set);
        probes.push(set.if_present());
        let unshare = move |_: &Target| attempt(libc::SYS_unshare, &[&flag]);
        let unshare = Probe::new(format!("unshare {name}"), Promise::Filtered, unshare);
        probes.push(unshare.if_present());
        // The signal of a new process takes the bit of the time namespace.
        if name != "time" {
            let clone = move |_: &Target| {
                let child = call(libc::SYS_clone, &[&(flag | libc::SIGCHLD), &0, &0, &0, &0])?;
                if child == 0 { end(0) } else { Ok(()) }
            };
            probes.push(Probe::new(format!("clone into {name}"), Promise::Filtered, clone));
        }
    }
    probes.push(
        Probe::new("clone3", Promise::Filtered, |_| {
            let mut arguments = [0_u64; 11];
            arguments[4] = 17;
            let child = call(libc::SYS_clone3, &[&arguments, &88])?;
            if child == 0 { end(0) } else { Ok(()) }
        })
        .if_present(),
    );
    probes
}

/// Calls that mount, with arguments that no mount fits.
fn mounts() -> Vec<Probe> {
    let work = |target: &Target| path(target.work());
    let attempts: [NamedClosure; 15] = [
        ("mount", Box::new(move |target| mounted(target, libc::MS_REMOUNT | libc::MS_BIND))),
        ("remount", Box::new(move |target| mounted(target, libc::MS_REMOUNT))),
        ("move a mount", Box::new(move |target| mounted(target, libc::MS_MOVE))),
        ("share mounts", Box::new(move |target| mounted(target, libc::MS_SHARED))),
        ("umount2", Box::new(move |target| attempt(libc::SYS_umount2, &[&path(target.read("")), &0]))),
        (
            "pivot_root",
            Box::new(move |target| attempt(libc::SYS_pivot_root, &[&work(target), &work(target)])),
        ),
        ("chroot", Box::new(move |target| attempt(libc::SYS_chroot, &[&work(target)]))),
        ("fsopen", Box::new(|_| attempt(libc::SYS_fsopen, &[&path("tmpfs"), &0]))),
        ("fspick", Box::new(|_| attempt(libc::SYS_fspick, &[&libc::AT_FDCWD, &path("/"), &0]))),
        ("fsconfig", Box::new(|_| attempt(libc::SYS_fsconfig, &[&-1, &6, &0, &0, &0]))),
        ("fsmount", Box::new(|_| attempt(libc::SYS_fsmount, &[&-1, &0, &0]))),
        (
            "open_tree",
            Box::new(move |target| attempt(libc::SYS_open_tree, &[&libc::AT_FDCWD, &work(target), &1])),
        ),
        (
            "open_tree_attr",
            Box::new(move |target| attempt(467, &[&libc::AT_FDCWD, &work(target), &1, &[0_u64; 4], &32])),
        ),
        ("move_mount", Box::new(|_| attempt(libc::SYS_move_mount, &[&-1, &path(""), &-1, &path(""), &0x44]))),
        (
            "mount_setattr",
            Box::new(move |target| {
                let attributes = [0_u64, 1, 0, 0];
                attempt(
                    libc::SYS_mount_setattr,
                    &[&libc::AT_FDCWD, &path(target.outside("")), &0, &attributes, &32],
                )
            }),
        ),
    ];
    let probe = |(name, attempt): (&str, _)| {
        // A descriptor that is none fails before any right is asked for.
        let promise =
            if matches!(name, "fsconfig" | "fsmount") { Promise::Filtered } else { Promise::Closed };
        let probe = Probe::new(format!("mounts: {name}"), promise, attempt);
        if name.ends_with("attr") { probe.if_present() } else { probe }
    };
    attempts.map(probe).into()
}

fn mounted(target: &Target, flags: libc::c_ulong) -> Attempt {
    let at = path(target.read(""));
    let flags = c_long::try_from(flags).expect("a small number");
    attempt(libc::SYS_mount, &[&at, &at, &path("none"), &flags, &0])
}

/// Calls of an administrator, each with an argument that is refused after the privilege was found.
fn administration() -> Vec<Probe> {
    let own = |target: &Target| path(target.root.join("work/own"));
    let attempts: [NamedClosure; 17] = [
        ("acct", Box::new(|target| attempt(libc::SYS_acct, &[&path(target.work())]))),
        ("adjtimex", Box::new(|_| attempt(libc::SYS_adjtimex, &[&wrong_tick()]))),
        ("clock_adjtime", Box::new(|_| attempt(libc::SYS_clock_adjtime, &[&0, &wrong_tick()]))),
        ("delete_module", Box::new(|_| attempt(libc::SYS_delete_module, &[&1, &0]))),
        ("finit_module", Box::new(|_| attempt(libc::SYS_finit_module, &[&-1, &path(""), &0]))),
        ("init_module", Box::new(|_| attempt(libc::SYS_init_module, &[&[0_u8; 8], &8, &path("")]))),
        ("kexec_file_load", Box::new(|_| attempt(libc::SYS_kexec_file_load, &[&-1, &-1, &0, &0, &0]))),
        ("kexec_load", Box::new(|_| attempt(libc::SYS_kexec_load, &[&0, &0, &0, &0xff]))),
        ("reboot", Box::new(|_| attempt(libc::SYS_reboot, &[&0, &0, &0, &0]))),
        ("sethostname", Box::new(|_| attempt(libc::SYS_sethostname, &[&path(""), &-1]))),
        ("setdomainname", Box::new(|_| attempt(libc::SYS_setdomainname, &[&path(""), &-1]))),
        ("swapoff", Box::new(move |target| attempt(libc::SYS_swapoff, &[&own(target)]))),
        ("swapon", Box::new(move |target| attempt(libc::SYS_swapon, &[&own(target), &0]))),
        ("syslog", Box::new(|_| attempt(libc::SYS_syslog, &[&3, &room(), &64]))),
        (
            "settimeofday",
            Box::new(|_| {
                let mut zone = [0_i32; 2];
                let room = crate::calls::address(zone.as_mut_ptr());
                attempt(libc::SYS_gettimeofday, &[&0, &room])?;
                attempt(libc::SYS_settimeofday, &[&0, &room])
            }),
        ),
        ("vhangup", Box::new(|_| attempt(libc::SYS_vhangup, &[]))),
        #[cfg(target_arch = "x86_64")]
        ("ioperm", Box::new(|_| attempt(libc::SYS_ioperm, &[&0x80, &1, &1]))),
        #[cfg(not(target_arch = "x86_64"))]
        ("quotactl", Box::new(|_| attempt(libc::SYS_quotactl, &[&0x8000_0200_u32, &path("none"), &0, &0]))),
    ];
    let probe = |(name, attempt): (&str, _)| {
        let probe = Probe::new(format!("administration: {name}"), Promise::Closed, attempt);
        if matches!(name, "settimeofday" | "vhangup") { probe.only_inside() } else { probe.if_present() }
    };
    attempts.map(probe).into()
}

/// Returns a length of a tick that no clock has.
fn wrong_tick() -> [u32; 64] {
    let mut change = [0; 64];
    change[0] = 0x4000;
    change
}

/// Large interfaces, in which errors are found most often.
fn interfaces() -> Vec<Probe> {
    let keys = |number: c_long, arguments: &[&dyn Argument]| attempt(number, arguments);
    let attempts: [NamedClosure; 16] = [
        (
            "add_key",
            Box::new(move |_| keys(libc::SYS_add_key, &[&path("user"), &path("x"), &path("y"), &1, &-1])),
        ),
        ("bpf of a map", Box::new(|_| attempt(libc::SYS_bpf, &[&0, &[0_u64; 16], &128]))),
        ("bpf of a program", Box::new(|_| attempt(libc::SYS_bpf, &[&5, &[0_u64; 16], &128]))),
        ("fanotify_init", Box::new(|_| attempt(libc::SYS_fanotify_init, &[&0x200, &0]))),
        ("io_uring_enter", Box::new(|_| attempt(libc::SYS_io_uring_enter, &[&-1, &0, &0, &0, &0, &0]))),
        ("io_uring_register", Box::new(|_| attempt(libc::SYS_io_uring_register, &[&-1, &0, &0, &0]))),
        ("io_uring_setup", Box::new(|_| attempt(libc::SYS_io_uring_setup, &[&1, &room()]))),
        ("keyctl of the session", Box::new(move |_| keys(libc::SYS_keyctl, &[&0, &-3, &0]))),
        ("keyctl of the user", Box::new(move |_| keys(libc::SYS_keyctl, &[&0, &-4, &0]))),
        ("keyctl that joins a session", Box::new(move |_| keys(libc::SYS_keyctl, &[&1, &0]))),
        (
            "openat2",
            Box::new(|_| {
                let how = [0_u64; 3];
                attempt(libc::SYS_openat2, &[&libc::AT_FDCWD, &path("/usr"), &how, &24])
            }),
        ),
        (
            "perf_event_open",
            Box::new(|_| {
                let mut attributes = [0_u32; 32];
                (attributes[0], attributes[1]) = (1, 128);
                attempt(libc::SYS_perf_event_open, &[&attributes, &0, &-1, &-1, &0])
            }),
        ),
        (
            "request_key",
            Box::new(move |_| keys(libc::SYS_request_key, &[&path("no-such-kind"), &path("x"), &0, &0])),
        ),
        ("userfaultfd", Box::new(|_| attempt(libc::SYS_userfaultfd, &[&1]))),
        ("a call of x32", Box::new(|_| attempt(0x4000_0000 + 39, &[]))),
        ("a socket of x32", Box::new(|_| attempt(0x4000_0000 + 41, &[&2, &1, &0]))),
    ];
    let probe =
        |(name, attempt)| Probe::new(format!("kernel: {name}"), Promise::Filtered, attempt).if_present();
    attempts.map(probe).into()
}
