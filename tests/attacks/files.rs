//! Probes of files: the machine's, and detours to a file outside.

use std::path::PathBuf;

use libc::c_int;

use crate::calls::{Attempt, address, attempt, call, open, open_at, path, room};
use crate::ground::Target;
use crate::probe::{NamedAttempt, NamedClosure, Probe, Promise};

const HERE: c_int = libc::AT_FDCWD;

/// Files and directories of the machine that no sandbox reads.
const NEVER_READ: [&str; 48] = [
    "/",
    "/boot",
    "/dev",
    "/dev/block",
    "/dev/console",
    "/dev/fuse",
    "/dev/hugepages",
    "/dev/kmsg",
    "/dev/kvm",
    "/dev/loop-control",
    "/dev/mem",
    "/dev/mqueue",
    "/dev/net/tun",
    "/dev/port",
    "/dev/ptmx",
    "/dev/pts",
    "/dev/sda",
    "/dev/tty1",
    "/dev/vda",
    "/etc",
    "/etc/crontab",
    "/etc/fstab",
    "/etc/gshadow",
    "/etc/hostname",
    "/etc/login.defs",
    "/etc/machine-id",
    "/etc/pam.d",
    "/etc/security",
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/ssh",
    "/etc/sudoers",
    "/home",
    "/media",
    "/mnt",
    "/opt",
    "/root",
    "/run",
    "/srv",
    "/sys",
    "/sys/class",
    "/sys/fs/cgroup",
    "/sys/kernel",
    "/sys/module",
    "/var",
    "/var/lib",
    "/var/log",
    "/var/spool",
];

/// Directories that hold something that is open.
const VIEW: [&str; 5] = ["/", "/dev", "/etc", "/sys", "/var"];

/// Files of the machine that no sandbox writes. Opening them changes nothing.
const NEVER_WRITTEN: [&str; 30] = [
    "/bin/sh",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/proc/self/attr/current",
    "/proc/self/clear_refs",
    "/proc/self/comm",
    "/proc/self/coredump_filter",
    "/proc/self/gid_map",
    "/proc/self/loginuid",
    "/proc/self/mem",
    "/proc/self/oom_score_adj",
    "/proc/self/projid_map",
    "/proc/self/setgroups",
    "/proc/self/timerslack_ns",
    "/proc/self/uid_map",
    "/proc/sys/fs/protected_symlinks",
    "/proc/sys/fs/suid_dumpable",
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/sysrq",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/vm/drop_caches",
    "/proc/sys/vm/stat_interval",
    "/proc/sysrq-trigger",
    "/sys/devices/system/cpu/uevent",
    "/usr/bin/env",
];

/// Directories in which no sandbox makes anything.
const NEVER_GROWN: [&str; 10] =
    ["/", "/bin", "/dev", "/etc", "/proc", "/root", "/run", "/sys", "/usr/lib", "/var/lib"];

/// Files that programs need.
const READABLE: [&str; 8] = [
    "/bin/sh",
    "/etc/passwd",
    "/proc/meminfo",
    "/proc/self/maps",
    "/proc/self/status",
    "/dev/null",
    "/dev/urandom",
    "/dev/zero",
];

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = of_the_machine();
    probes.extend(by_detours());
    probes.extend(hidden());
    probes.extend(links());
    probes
}

pub(crate) fn opened(at: impl AsRef<std::ffi::OsStr>, flags: c_int) -> Attempt {
    open(at, flags).map(drop)
}

fn of_the_machine() -> Vec<Probe> {
    // What the tests open is below the directory for temporary files.
    let temporary = std::env::temp_dir().canonicalize().unwrap_or_default();
    let read = |at| {
        let is_above_open_paths = VIEW.contains(&at) || temporary.starts_with(at);
        let promise = if is_above_open_paths { Promise::Listed } else { Promise::Closed };
        Probe::new(format!("read {at}"), promise, move |_| opened(at, libc::O_RDONLY)).if_present()
    };
    let write = |at| {
        Probe::new(format!("write {at}"), Promise::Closed, move |_| opened(at, libc::O_WRONLY)).if_present()
    };
    let grow = |directory| {
        let create = move |target: &Target| {
            let new = PathBuf::from(directory).join(format!(".{}", target.name()));
            opened(&new, libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL)?;
            attempt(libc::SYS_unlinkat, &[&HERE, &path(&new), &0])
        };
        Probe::new(format!("make a file in {directory}"), Promise::Closed, create).only_inside()
    };
    let allowed =
        |at| Probe::new(format!("read {at} as all do"), Promise::Open, move |_| opened(at, libc::O_RDONLY));
    let probes = NEVER_READ.into_iter().map(read).chain(NEVER_WRITTEN.into_iter().map(write));
    probes.chain(NEVER_GROWN.into_iter().map(grow)).chain(READABLE.into_iter().map(allowed)).collect()
}

type Detour = fn(&Target) -> PathBuf;

/// Paths that lead to the secret outside.
const DETOURS: [(&str, Detour); 12] = [
    ("its path", |target| target.outside("secret")),
    ("a path with ..", |target| target.root.join("work/../outside/secret")),
    ("a relative path", |_| "../outside/secret".into()),
    ("the path from an open directory", |target| target.root.join("read/../outside/secret")),
    ("/proc/self/root", |target| secret_below("/proc/self/root", target)),
    ("/proc/thread-self/root", |target| secret_below("/proc/thread-self/root", target)),
    ("/proc/self/cwd", |_| "/proc/self/cwd/../outside/secret".into()),
    ("/proc/1/root", |target| secret_below("/proc/1/root", target)),
    ("/proc/PID/root", |target| secret_below(&format!("/proc/{}/root", target.peer), target)),
    ("/proc/PID/cwd", |target| format!("/proc/{}/cwd/outside/secret", target.peer).into()),
    ("a link in a readable directory", |target| target.read("link")),
    ("a link in a writable directory", |target| target.write("link")),
];

fn secret_below(root: &str, target: &Target) -> PathBuf {
    format!("{root}{}", target.outside("secret").display()).into()
}

fn by_detours() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (name, detour) in DETOURS {
        for (does, flags) in [("read", libc::O_RDONLY), ("write", libc::O_WRONLY)] {
            let attempt = move |target: &Target| opened(detour(target), flags);
            let probe = Probe::new(format!("{does} the secret by {name}"), Promise::Closed, attempt);
            // The first process may be in another container.
            probes.push(if name == "/proc/1/root" { probe.if_present() } else { probe });
        }
    }
    let closed: [NamedAttempt; 6] = [
        ("read the secret by a descriptor of a directory", |target| {
            let directory = open(target.work(), libc::O_PATH)?;
            open_at(directory, "../outside/secret", libc::O_RDONLY).map(drop)
        }),
        ("read the secret by a descriptor of its path", |target| {
            let file = open(target.outside("secret"), libc::O_PATH)?;
            opened(format!("/proc/self/fd/{file}"), libc::O_RDONLY)
        }),
        ("read the secret from its directory", |target| {
            attempt(libc::SYS_chdir, &[&path(target.outside(""))])?;
            opened("secret", libc::O_RDONLY)
        }),
        ("read the secret by a new link", |target| {
            let link = target.root.join("work/new-link");
            attempt(libc::SYS_symlinkat, &[&path(target.outside("secret")), &HERE, &path(&link)])?;
            let read = opened(&link, libc::O_RDONLY);
            attempt(libc::SYS_unlinkat, &[&HERE, &path(&link), &0])?;
            read
        }),
        ("write a readable file by its descriptor", |target| {
            let file = open(target.read("file"), libc::O_RDONLY)?;
            opened(format!("/proc/self/fd/{file}"), libc::O_RDWR)
        }),
        ("execute a program outside", |target| {
            let tool = path(target.outside("tool"));
            let arguments = [address(tool.as_ptr()), 0];
            attempt(libc::SYS_execve, &[&tool, &arguments, &0])
        }),
    ];
    probes.extend(closed.map(|(name, attempt)| Probe::new(name, Promise::Closed, attempt)));
    let name = "write a readable file in a writable directory";
    probes
        .push(Probe::new(name, Promise::Hidden, |target| opened(target.write("fixed/file"), libc::O_WRONLY)));
    probes
}

/// Attempts to learn about a file outside.
fn hidden() -> Vec<Probe> {
    let at = |target: &Target| path(target.outside("secret"));
    let attempts: [NamedClosure; 9] = [
        (
            "its size",
            Box::new(move |target| attempt(libc::SYS_statx, &[&HERE, &at(target), &0, &0xfff, &room()])),
        ),
        ("its presence", Box::new(move |target| attempt(libc::SYS_faccessat, &[&HERE, &at(target), &0]))),
        ("its descriptor", Box::new(|target| opened(target.outside("secret"), libc::O_PATH))),
        (
            "the target of a link",
            Box::new(|target| {
                let link = path(target.outside("link"));
                attempt(libc::SYS_readlinkat, &[&HERE, &link, &room(), &512])
            }),
        ),
        ("its directory", Box::new(|target| attempt(libc::SYS_chdir, &[&path(target.outside(""))]))),
        ("its file system", Box::new(move |target| attempt(libc::SYS_statfs, &[&at(target), &room()]))),
        (
            "its changes",
            Box::new(move |target| {
                let watch = call(libc::SYS_inotify_init1, &[&0])?;
                attempt(libc::SYS_inotify_add_watch, &[&watch, &at(target), &libc::IN_ALL_EVENTS])
            }),
        ),
        (
            "its attributes",
            Box::new(move |target| attempt(libc::SYS_listxattr, &[&at(target), &room(), &512])),
        ),
        (
            "the value of its attribute",
            Box::new(move |target| {
                let name = path("user.secret");
                attempt(libc::SYS_getxattr, &[&at(target), &name, &room(), &512])
            }),
        ),
    ];
    let probe =
        |(name, attempt)| Probe::new(format!("learn about the secret: {name}"), Promise::Hidden, attempt);
    attempts.map(probe).into_iter().map(Probe::if_present).collect()
}

fn links() -> Vec<Probe> {
    let closed: [NamedAttempt; 3] = [
        ("link an open file of a readable directory", |target| {
            let file = open(target.read("file"), libc::O_RDONLY)?;
            let new = path(target.write("by-descriptor"));
            attempt(libc::SYS_linkat, &[&file, &path(""), &HERE, &new, &libc::AT_EMPTY_PATH])?;
            attempt(libc::SYS_unlinkat, &[&HERE, &new, &0])
        }),
        ("link an open file by its name in /proc", |target| {
            let file = open(target.read("file"), libc::O_RDONLY)?;
            let new = path(target.write("by-name"));
            let old = path(format!("/proc/self/fd/{file}"));
            attempt(libc::SYS_linkat, &[&HERE, &old, &HERE, &new, &libc::AT_SYMLINK_FOLLOW])?;
            attempt(libc::SYS_unlinkat, &[&HERE, &new, &0])
        }),
        ("read a file by its handle", |target| {
            let mut handle = [0_u32; 64];
            handle[0] = 128;
            let own = path(target.root.join("work/own"));
            let (found, mut mount) = (address(handle.as_mut_ptr()), 0);
            let mount = address(&raw mut mount);
            attempt(libc::SYS_name_to_handle_at, &[&HERE, &own, &found, &mount, &0])?;
            let directory = open(target.work(), libc::O_RDONLY)?;
            attempt(libc::SYS_open_by_handle_at, &[&directory, &found, &libc::O_RDONLY])
        }),
    ];
    closed.map(|(name, attempt)| Probe::new(name, Promise::Closed, attempt)).into()
}
