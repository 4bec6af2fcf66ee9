//! Probes that change files, and that make files: attributes, set-id bits, devices.

use std::path::{Path, PathBuf};

use libc::c_int;

use crate::calls::{Attempt, Errno, attempt, open, path, room};
use crate::files::opened;
use crate::ground::Target;
use crate::probe::{Probe, Promise};

const HERE: c_int = libc::AT_FDCWD;

/// Devices whose modes, owners and times stay.
const DEVICES: [&str; 3] = ["/dev/full", "/dev/null", "/dev/urandom"];

pub(crate) fn probes() -> Vec<Probe> {
    let mut probes = changes();
    probes.extend(own_directory_probes());
    probes.extend(set_id());
    probes.extend(devices());
    probes
}

/// Changes of a file, and the changes back.
type Change = fn(PathBuf) -> Attempt;

const CHANGES: [(&str, Change); 21] = [
    ("truncate", |at| attempt(libc::SYS_truncate, &[&path(at.join(file(&at))), &content_length(&at)])),
    ("open for appending", |at| opened(at.join(file(&at)), libc::O_WRONLY | libc::O_APPEND)),
    ("rename", |at| {
        let (old, new) = (path(at.join("doomed")), path(at.join("renamed")));
        attempt(libc::SYS_renameat2, &[&HERE, &old, &HERE, &new, &0])?;
        attempt(libc::SYS_renameat2, &[&HERE, &new, &HERE, &old, &0])
    }),
    ("move into the own directory", |at| moved(&at, "../work/moved")),
    ("move into a writable directory", |at| moved(&at, "../write/moved")),
    ("exchange with an own file", |at| {
        let (one, other) = (path(at.join("doomed")), path(at.join("../work/own")));
        let exchange = || attempt(libc::SYS_renameat2, &[&HERE, &one, &HERE, &other, &2]);
        exchange()?;
        exchange()
    }),
    ("link into the own directory", |at| linked(&at, "../work/hard-link")),
    ("link into a writable directory", |at| linked(&at, "../write/hard-link")),
    ("link beside", |at| linked(&at, "hard-link")),
    ("make a file beside", |at| {
        opened(at.join("new"), libc::O_CREAT | libc::O_WRONLY)?;
        attempt(libc::SYS_unlinkat, &[&HERE, &path(at.join("new")), &0])
    }),
    ("make an unnamed file beside", |at| opened(&at, libc::O_TMPFILE | libc::O_RDWR)),
    ("make a pipe beside", |at| {
        attempt(libc::SYS_mknodat, &[&HERE, &path(at.join("pipe")), &(libc::S_IFIFO | 0o600), &0])?;
        attempt(libc::SYS_unlinkat, &[&HERE, &path(at.join("pipe")), &0])
    }),
    ("make a link beside", |at| {
        attempt(libc::SYS_symlinkat, &[&path("x"), &HERE, &path(at.join("new-link"))])?;
        attempt(libc::SYS_unlinkat, &[&HERE, &path(at.join("new-link")), &0])
    }),
    ("make a directory beside", |at| {
        attempt(libc::SYS_mkdirat, &[&HERE, &path(at.join("new")), &0o700])?;
        attempt(libc::SYS_unlinkat, &[&HERE, &path(at.join("new")), &libc::AT_REMOVEDIR])
    }),
    ("remove a directory beside", |at| {
        attempt(libc::SYS_unlinkat, &[&HERE, &path(at.join("empty")), &libc::AT_REMOVEDIR])?;
        attempt(libc::SYS_mkdirat, &[&HERE, &path(at.join("empty")), &0o755])
    }),
    ("change the mode", |at| attempt(libc::SYS_fchmodat, &[&HERE, &path(at.join("doomed")), &0o644])),
    ("change the mode by the newest call", |at| attempt(452, &[&HERE, &path(at.join("doomed")), &0o644, &0])),
    ("change the owner", |at| attempt(libc::SYS_fchownat, &[&HERE, &path(at.join("doomed")), &-1, &-1, &0])),
    ("change the times", |at| attempt(libc::SYS_utimensat, &[&HERE, &path(at.join("doomed")), &0, &0])),
    ("change an attribute", |at| {
        let name = path("user.new");
        attempt(libc::SYS_setxattr, &[&path(at.join("doomed")), &name, &path("x"), &1, &0])
    }),
    ("change the mode by a descriptor", |at| {
        let file = open(at.join("doomed"), libc::O_RDONLY)?;
        attempt(libc::SYS_fchmod, &[&file, &0o644])
    }),
];

/// Returns the name of the file that a directory is about.
fn file(directory: &Path) -> &'static str {
    if directory.ends_with("outside") { "secret" } else { "file" }
}

fn content_length(directory: &Path) -> c_int {
    if directory.ends_with("outside") { 14 } else { 9 }
}

fn moved(at: &Path, to: &str) -> Attempt {
    let (old, new) = (path(at.join("doomed")), path(at.join(to)));
    attempt(libc::SYS_renameat2, &[&HERE, &old, &HERE, &new, &0])?;
    attempt(libc::SYS_renameat2, &[&HERE, &new, &HERE, &old, &0])
}

fn linked(at: &Path, to: &str) -> Attempt {
    let (old, new) = (path(at.join("doomed")), path(at.join(to)));
    attempt(libc::SYS_linkat, &[&HERE, &old, &HERE, &new, &0])?;
    attempt(libc::SYS_unlinkat, &[&HERE, &new, &0])
}

fn changes() -> Vec<Probe> {
    let mut probes = Vec::new();
    for directory in ["outside", "read"] {
        for (name, change) in CHANGES {
            let attempt = move |target: &Target| change(target.root.join(directory));
            let probe = Probe::new(format!("{name} in {directory}"), Promise::Closed, attempt);
            // Not every kernel has the newest calls, and not every file system has attributes.
            let is_new = name.contains("newest") || name.contains("attribute") || name.contains("unnamed");
            probes.push(if is_new { probe.if_present() } else { probe });
        }
    }
    // Flags of inodes: the present ones, so that a success would have no effect. Verity, encryption.
    for request in [0x4008_6602_i64, 0x401c_5820, 0x4008_7602, 0x4004_7602, 0x4080_6685, 0x800c_6613] {
        let attempt = move |target: &Target| {
            let file = open(target.read("file"), libc::O_RDONLY)?;
            attempt(libc::SYS_ioctl, &[&file, &request, &room()]).map_err(unless_unsupported)
        };
        let name = format!("change flags of a readable file by request {request:x}");
        probes.push(Probe::new(name, Promise::Closed, attempt).if_present());
    }
    for (command, kind) in [(1024, libc::F_RDLCK), (1024, libc::F_WRLCK), (1040, libc::F_RDLCK)] {
        for name in ["read/file", "work/own"] {
            let attempt = move |target: &Target| {
                let file = open(target.root.join(name), libc::O_RDONLY)?;
                attempt(libc::SYS_fcntl, &[&file, &command, &c_int::from(kind)])
            };
            let name = format!("lease {name} by command {command} of kind {kind}");
            probes.push(Probe::new(name, Promise::Filtered, attempt).if_present());
        }
    }
    probes
}

/// Counts a request that the file system does not know as refused.
fn unless_unsupported(errno: Errno) -> Errno {
    if matches!(errno, libc::ENOTTY | libc::EOPNOTSUPP) { libc::EPERM } else { errno }
}

/// Attempts that a sandbox allows in its own directory and where it may write.
fn own_directory_probes() -> Vec<Probe> {
    let open: [(&str, Change); 6] = [
        ("read", |at| opened(at, libc::O_RDONLY)),
        ("make a file", |at| opened(at.join("file-1"), libc::O_CREAT | libc::O_RDWR)),
        ("make a directory", |at| attempt(libc::SYS_mkdirat, &[&HERE, &path(at.join("directory")), &0o700])),
        ("make a pipe", |at| {
            attempt(libc::SYS_mknodat, &[&HERE, &path(at.join("pipe")), &(libc::S_IFIFO | 0o600), &0])
        }),
        ("link and unlink", |at| {
            let (old, new) = (path(at.join("file-1")), path(at.join("file-2")));
            attempt(libc::SYS_linkat, &[&HERE, &old, &HERE, &new, &0])?;
            attempt(libc::SYS_unlinkat, &[&HERE, &new, &0])
        }),
        ("rename", |at| {
            let (old, new) = (path(at.join("file-1")), path(at.join("file-3")));
            attempt(libc::SYS_renameat2, &[&HERE, &old, &HERE, &new, &0])
        }),
    ];
    let attributes: [(&str, Change); 3] = [
        ("change a mode", |at| attempt(libc::SYS_fchmodat, &[&HERE, &path(at.join("file-3")), &0o600])),
        ("change times", |at| attempt(libc::SYS_utimensat, &[&HERE, &path(at.join("file-3")), &0, &0])),
        ("change an owner", |at| {
            attempt(libc::SYS_fchownat, &[&HERE, &path(at.join("file-3")), &-1, &-1, &0])
        }),
    ];
    let mut probes = Vec::new();
    for directory in ["work", "write"] {
        for (promise, (name, change)) in open
            .map(|open| (Promise::Open, open))
            .into_iter()
            .chain(attributes.map(|attribute| (Promise::OwnWithNamespaces, attribute)))
        {
            let attempt = move |target: &Target| change(target.root.join(directory));
            probes.push(Probe::new(format!("{name} in {directory}, as it may"), promise, attempt));
        }
    }
    for directory in ["/tmp", "/dev/shm", "/var/tmp"] {
        let create = move |target: &Target| {
            let new = PathBuf::from(directory).join(format!("own-{}", target.name()));
            opened(&new, libc::O_CREAT | libc::O_EXCL | libc::O_RDWR)?;
            attempt(libc::SYS_unlinkat, &[&HERE, &path(&new), &0])
        };
        let name = format!("make a file in its own {directory}");
        probes.push(Probe::new(name, Promise::OwnWithNamespaces, create));
    }
    probes.push(Probe::new("read a readable file", Promise::Open, |target| {
        opened(target.read("file"), libc::O_RDONLY)
    }));
    probes
}

/// Way to make a file, with its name.
type NamedMake = (&'static str, Box<dyn Fn(PathBuf) -> Attempt>);
/// Change of a device, with its name.
type DeviceChange = (&'static str, fn(&str) -> Attempt);

/// Attempts to leave a program behind that runs as its owner.
fn set_id() -> Vec<Probe> {
    let mut probes = Vec::new();
    for mode in [0o6755_u32, 0o4755, 0o2755] {
        let attempts: [NamedMake; 5] = [
            (
                "openat",
                Box::new(move |at| {
                    let flags = libc::O_CREAT | libc::O_WRONLY;
                    attempt(libc::SYS_openat, &[&HERE, &path(at), &flags, &mode])
                }),
            ),
            (
                "openat of an unnamed file",
                Box::new(move |at| {
                    let flags = libc::O_TMPFILE | libc::O_WRONLY;
                    let directory = path(at.parent().expect("a directory"));
                    attempt(libc::SYS_openat, &[&HERE, &directory, &flags, &mode])
                }),
            ),
            (
                "mknodat",
                Box::new(move |at| {
                    attempt(libc::SYS_mknodat, &[&HERE, &path(at), &(libc::S_IFREG | mode), &0])
                }),
            ),
            (
                "fchmodat",
                Box::new(move |at| {
                    opened(&at, libc::O_CREAT | libc::O_WRONLY)?;
                    attempt(libc::SYS_fchmodat, &[&HERE, &path(at), &mode])
                }),
            ),
            (
                "fchmod",
                Box::new(move |at| {
                    let file = open(&at, libc::O_CREAT | libc::O_WRONLY)?;
                    attempt(libc::SYS_fchmod, &[&file, &mode])
                }),
            ),
        ];
        for (call, make) in attempts {
            let name = format!("make a file of mode {mode:o} by {call}");
            let file = name.replace(' ', "-");
            probes.push(Probe::new(name, Promise::Filtered, move |target| make(target.write(&file))));
        }
    }
    probes
}

fn devices() -> Vec<Probe> {
    let mut probes = Vec::new();
    for (kind, name, major, minor) in [
        (libc::S_IFCHR, "null", 1, 3),
        (libc::S_IFCHR, "mem", 1, 1),
        (libc::S_IFBLK, "disk", 8, 0),
        (libc::S_IFBLK, "loop", 7, 0),
    ] {
        for directory in ["work", "write"] {
            let make = move |target: &Target| {
                let at = path(target.root.join(directory).join(name));
                let device = libc::c_long::from(major << 8 | minor);
                attempt(libc::SYS_mknodat, &[&HERE, &at, &(kind | 0o600), &device])
            };
            probes.push(Probe::new(format!("make the device {name} in {directory}"), Promise::Closed, make));
        }
    }
    for device in DEVICES {
        let changes: [DeviceChange; 4] = [
            ("mode", |at| attempt(libc::SYS_fchmodat, &[&HERE, &path(at), &0o666])),
            ("owner", |at| attempt(libc::SYS_fchownat, &[&HERE, &path(at), &-1, &-1, &0])),
            ("times", |at| attempt(libc::SYS_utimensat, &[&HERE, &path(at), &0, &0])),
            ("mode by a descriptor", |at| attempt(libc::SYS_fchmod, &[&open(at, libc::O_RDONLY)?, &0o666])),
        ];
        for (name, change) in changes {
            let attempt = move |_: &Target| change(device);
            probes.push(
                Probe::new(format!("change the {name} of {device}"), Promise::Closed, attempt).only_inside(),
            );
        }
        probes
            .push(Probe::new(format!("use {device}"), Promise::Open, move |_| opened(device, libc::O_RDWR)));
    }
    // Standard input is the null device.
    probes.push(
        Probe::new("change the mode of standard input", Promise::Closed, |_| {
            attempt(libc::SYS_fchmod, &[&0, &0o666])
        })
        .only_inside(),
    );
    probes
}
