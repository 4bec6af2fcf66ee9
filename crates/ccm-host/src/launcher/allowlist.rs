//! Paths that a sandbox opens to its command: those that programs need to run, and those that it names.

use std::fs::read_link;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, lstat, openat, openat2, stat};
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
    /// Is in the view already.
    pub(super) is_mounted: bool,
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

const CONFIGURATION_DIRECTORY: &str = "/etc";

/// Configuration that programs need only with a network.
const NETWORK: [&str; 7] =
    ["gai.conf", "host.conf", "hosts", "networks", "protocols", "resolv.conf", "services"];

/// Devices without data of the machine.
const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];

impl Allowlist {
    /// Opens the paths of the system that exist.
    pub(super) fn of_system() -> Self {
        let mut allowlist = Self { paths: Vec::new(), links: Vec::new() };
        for path in system_paths() {
            allowlist.open_of_system(&path);
        }
        for path in DEVICES.map(PathBuf::from) {
            if let Ok(file) = openat(CWD, &path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
                allowlist.push(path, file, PathAccess::Device, false);
            }
        }
        allowlist
    }

    /// Returns `true` if [`Allowlist::of_system`] would return the same files and links.
    pub(super) fn is_current(&self) -> bool {
        let (mut paths, mut links) = (self.paths.iter().peekable(), self.links.iter().peekable());
        let devices = DEVICES.iter().map(PathBuf::from);
        let is_current = |path: PathBuf| {
            if let Some(allowed) = paths.next_if(|allowed| allowed.path == path) {
                // Its descriptor keeps the file, so that no other one has its number.
                let same = |is: Stat| fstat(&allowed.file).is_ok_and(|was| identity(&was) == identity(&is));
                return stat(&path).is_ok_and(same);
            }
            match links.next_if(|(link, _)| *link == path) {
                Some((_, target)) => read_link(&path).is_ok_and(|is| is == *target),
                None => is_left_out(&path),
            }
        };
        system_paths().chain(devices).all(is_current)
    }

    /// Opens all paths of a sandbox, beyond those of the system. Those of the network that do not exist are left out; those
    /// that the sandbox names have to exist.
    pub(super) fn open(mut self, sandbox: &Sandbox) -> Result<Self, StartError> {
        if sandbox.network {
            for path in NETWORK.map(|name| Path::new(CONFIGURATION_DIRECTORY).join(name)) {
                self.open_of_system(&path);
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
                self.push(path.clone(), file, access, is_directory);
            }
        }
        // A path comes after those above it. Of a path that is named twice, the writable one comes last.
        self.paths.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(self)
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
        self.push(path.to_owned(), file, PathAccess::Read, found.is_dir());
    }

    fn push(&mut self, path: PathBuf, file: OwnedFd, access: PathAccess, is_directory: bool) {
        self.paths.push(AllowedPath { path, file, access, is_directory, is_mounted: false });
    }
}

/// Returns the paths of the system that every sandbox opens, without the devices.
fn system_paths() -> impl Iterator<Item = PathBuf> {
    let configuration = CONFIGURATION.iter().map(|name| Path::new(CONFIGURATION_DIRECTORY).join(name));
    SYSTEM.iter().map(PathBuf::from).chain(configuration)
}

/// Returns `true` if a path of the system does not exist, or is a link to something outside that does not.
fn is_left_out(path: &Path) -> bool {
    let leads_outside = |path| read_link(path).is_ok_and(|target| !leads_into_system(path, &target));
    lstat(path).is_err() || (leads_outside(path) && stat(path).is_err())
}

fn identity(file: &Stat) -> (u64, u64) {
    (file.st_dev, file.st_ino)
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
