//! Paths that a sandbox opens to its command: those that programs need to run, and those that it names.

use std::fs::read_link;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

use crate::{Sandbox, StartError, never_opened};

/// Access to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathAccess {
    /// Read and execute.
    Read,
    /// Read, execute and write.
    Write,
    /// Read, execute and write what nobody else sees.
    Private,
    /// Read and write a device.
    Device,
}

/// Path that is opened to the command, with everything below it.
#[derive(Debug)]
pub(super) struct AllowedPath {
    pub(super) path: PathBuf,
    /// Handle of the very file or directory, whatever has its path later.
    pub(super) file: OwnedFd,
    pub(super) access: PathAccess,
    pub(super) is_directory: bool,
}

/// All paths that are opened to the command.
#[derive(Debug)]
pub(super) struct Allowlist {
    pub(super) paths: Vec<AllowedPath>,
    /// Symbolic links of the system, and their targets.
    pub(super) links: Vec<(PathBuf, PathBuf)>,
}

/// Directories of programs and libraries, and of information about processors and processes.
const SYSTEM: [&str; 10] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/proc",
    "/sys/devices/system/cpu",
];

/// Configuration that programs read and that is not secret. `/etc` as a whole is not opened, because root
/// without any capability still owns `/etc/shadow`. Each entry costs some microseconds, so that only common
/// ones are listed.
const CONFIGURATION: [&str; 20] = [
    "alternatives",
    "crypto-policies",
    "debian_version",
    "group",
    "ld.so.cache",
    "ld.so.preload",
    "locale.alias",
    "locale.conf",
    "localtime",
    "mime.types",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "perl",
    "pki/ca-trust",
    "pki/tls/certs",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
];

/// Configuration that programs need only with a network.
const NETWORK: [&str; 7] =
    ["gai.conf", "host.conf", "hosts", "networks", "protocols", "resolv.conf", "services"];

/// Devices without data of the machine.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

impl Allowlist {
    /// Opens all paths. Those of the system that do not exist are left out; those that the sandbox names have
    /// to exist.
    pub(super) fn open(sandbox: &Sandbox) -> Result<Self, StartError> {
        let mut allowlist = Self { paths: Vec::new(), links: Vec::new() };
        let network = if sandbox.network { &NETWORK[..] } else { &[] };
        let configuration = CONFIGURATION.iter().chain(network).map(|name| Path::new("/etc").join(name));
        for path in SYSTEM.iter().map(PathBuf::from).chain(configuration) {
            allowlist.open_of_system(&path);
        }
        for path in DEVICES.map(PathBuf::from) {
            if let Ok(file) = openat(CWD, &path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
                allowlist.paths.push(AllowedPath {
                    path,
                    file,
                    access: PathAccess::Device,
                    is_directory: false,
                });
            }
        }
        let named = [
            ("read", &sandbox.read[..], PathAccess::Read),
            ("write", &sandbox.write, PathAccess::Write),
            ("workdir", std::slice::from_ref(&sandbox.workdir), PathAccess::Write),
        ];
        for (property, paths, access) in named {
            for path in paths {
                let refuse = |source| StartError::SandboxPath {
                    property: property.to_owned(),
                    path: path.clone(),
                    source,
                };
                let opened = open_named(path, access == PathAccess::Write, property == "workdir");
                let (file, is_directory) = opened.map_err(refuse)?;
                let access =
                    if sandbox.private.as_ref() == Some(path) { PathAccess::Private } else { access };
                allowlist.paths.push(AllowedPath { path: path.clone(), file, access, is_directory });
            }
        }
        // A path comes after those above it. Of a path that is named twice, the writable one comes last.
        allowlist.paths.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(allowlist)
    }

    /// Opens a path of the system, if it exists.
    fn open_of_system(&mut self, path: &Path) {
        let open = |flags| openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC | flags, Mode::empty());
        let kind = |file: &OwnedFd| fstat(file).map(|found| FileType::from_raw_mode(found.st_mode));
        let Ok(mut file) = open(OFlags::NOFOLLOW) else { return };
        let Ok(mut found) = kind(&file) else { return };
        if found.is_symlink() {
            // A link into a directory that is opened anyway stays a link: programs read its target.
            let target = read_link(path).unwrap_or_default();
            if leads_into_system(path, &target) {
                self.links.push((path.to_owned(), target));
                return;
            }
            let Ok(followed) = open(OFlags::empty()) else { return };
            let Ok(followed_kind) = kind(&followed) else { return };
            (file, found) = (followed, followed_kind);
        }
        let is_directory = found.is_dir();
        self.paths.push(AllowedPath { path: path.to_owned(), file, access: PathAccess::Read, is_directory });
    }
}

fn leads_into_system(link: &Path, target: &Path) -> bool {
    let mut leads = PathBuf::new();
    for part in link.parent().unwrap_or(Path::new("/")).join(target).components() {
        match part {
            Component::ParentDir => drop(leads.pop()),
            other => leads.push(other),
        }
    }
    leads.starts_with("/usr") || leads.starts_with("/proc")
}

/// Opens a path that a sandbox names. The path has to be absolute, must not lead over links, and must not be
/// one that no sandbox opens.
fn open_named(path: &Path, to_write: bool, must_be_directory: bool) -> io::Result<(OwnedFd, bool)> {
    let refuse = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason.to_owned());
    if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
        return Err(refuse("it is not an absolute path without \"..\""));
    }
    if let Some(reason) = never_opened(path, to_write) {
        return Err(refuse(reason));
    }
    let no_links = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), no_links);
    let file = opened.map_err(|error| match error {
        Errno::LOOP => refuse("it leads through a symbolic link; use the path that the link leads to"),
        other => other.into(),
    })?;
    let is_directory = FileType::from_raw_mode(fstat(&file)?.st_mode).is_dir();
    if must_be_directory && !is_directory {
        return Err(Errno::NOTDIR.into());
    }
    Ok((file, is_directory))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_system_stay_links_where_they_lead_inside() {
        for (link, target, expected) in [
            ("/bin", "usr/bin", true),
            ("/etc/os-release", "../usr/lib/os-release", true),
            ("/etc/localtime", "/usr/share/zoneinfo/Etc/UTC", true),
            ("/etc/resolv.conf", "../run/systemd/resolve/stub-resolv.conf", false),
            ("/etc/resolv.conf", "/usr/../run/x", false),
            ("/lib", "../../usr/lib", true),
        ] {
            assert_eq!(leads_into_system(Path::new(link), Path::new(target)), expected, "{link}");
        }
    }

    #[test]
    fn what_a_sandbox_names_is_checked() {
        for (path, cause) in [
            ("relative", "it is not an absolute path"),
            ("/usr/../etc", "it is not an absolute path"),
            ("/", "it is the whole file system"),
            ("/proc/1", "a sandbox has its own /proc"),
            ("/no/such", "No such file"),
            ("/proc/self/cwd", "it leads through a symbolic link"),
        ] {
            let error =
                open_named(Path::new(path), false, false).expect_err("a path that is refused").to_string();
            assert!(error.starts_with(cause), "{path}: {error}");
        }
        let error = open_named(Path::new("/etc/passwd"), true, true).expect_err("no directory").to_string();
        assert!(error.starts_with("Not a directory"), "{error}");
    }
}
