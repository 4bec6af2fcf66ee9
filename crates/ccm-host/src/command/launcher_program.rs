//! The program of the launchers of sandboxes, in a form that no sandbox can change.
//!
//! `/proc/PID/exe` leads from a launcher to its program, past the view of the file system. A command reaches
//! it if it looks into the launcher of another sandbox, or if it is a script whose interpreter is
//! `/proc/self/exe`. Where it owns the program, it could then change its mode or its content, and with ccm
//! itself as the launcher, the next run of ccm would execute what a sandbox wrote.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::unistd::geteuid;
use rustix::fs::{Access, AtFlags, CWD, MemfdFlags, SealFlags, accessat, fcntl_add_seals, memfd_create};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::mount::{OpenTreeFlags, open_tree};

use super::launch_protocol::LOWEST_OWN_DESCRIPTOR;
use crate::raw;

/// Program of the launchers of a run.
#[derive(Debug)]
pub(super) struct LauncherProgram {
    /// Path to start it by.
    pub(super) path: CString,
    /// Reason why a sandbox could change the program; `None` if none can.
    pub(super) exposed: Option<String>,
    /// Descriptor that the path leads to, if the program is not started by its own path.
    _file: Option<OwnedFd>,
}

impl LauncherProgram {
    /// Opens the program at a path in the cheapest form that a sandbox can't change: through a read-only
    /// mount, which only root can make; by its own path, if this user can't change the program; as a sealed
    /// copy in memory.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let by_path = |exposed| -> io::Result<Self> {
            Ok(Self { path: CString::new(path.as_os_str().as_bytes())?, exposed, _file: None })
        };
        if let Ok(mount) = read_only_mount(path) {
            return Self::from_file(&mount);
        }
        if !may_change(path) {
            return by_path(None);
        }
        match sealed_copy(path).and_then(|copy| Self::from_file(&copy)) {
            Ok(copy) => Ok(copy),
            Err(error) => by_path(Some(error.to_string())),
        }
    }

    fn from_file(file: &OwnedFd) -> io::Result<Self> {
        let file = fcntl_dupfd_cloexec(file, LOWEST_OWN_DESCRIPTOR)?;
        let path = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        Ok(Self { path, exposed: None, _file: Some(file) })
    }
}

/// Mounts the program read-only and nowhere.
fn read_only_mount(path: &Path) -> io::Result<OwnedFd> {
    let mount = open_tree(CWD, path, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    raw::add_mount_flags(mount.as_fd(), libc::MOUNT_ATTR_RDONLY)?;
    Ok(mount)
}

/// Returns `true` if this user can change the program. For one that does not exist, starting it is an error.
fn may_change(path: &Path) -> bool {
    let is_own = path.metadata().is_ok_and(|found| found.uid() == geteuid().as_raw());
    is_own || accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// Copies the program into a file in memory that nobody can change.
fn sealed_copy(path: &Path) -> io::Result<OwnedFd> {
    let create = |flags| memfd_create(c"launcher", flags | MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    // Kernels before 6.3 do not know the flag, and all their files in memory can be executed.
    let copy = create(MemfdFlags::EXEC).or_else(|_| create(MemfdFlags::empty()))?;
    let mut copy = File::from(copy);
    io::copy(&mut File::open(path)?, &mut copy)?;
    let content = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
    // Kernels before 6.3 can't seal the mode.
    fcntl_add_seals(&copy, content | SealFlags::EXEC).or_else(|_| fcntl_add_seals(&copy, content))?;
    // The kernel executes no file that is open for writing.
    let copy = File::open(format!("/proc/self/fd/{}", copy.as_raw_fd()))?;
    Ok(copy.into())
}

#[cfg(test)]
mod tests {
    use std::fs::{OpenOptions, copy, metadata, read, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    use std::process::{Child, Command, Stdio};

    use rustix::fs::{Mode, OFlags, open};

    use super::*;

    fn start(path: &std::ffi::CStr) -> Child {
        let mut command = Command::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
        command.arg("99").stdin(Stdio::null()).spawn().expect("a process")
    }

    /// Tries to change the program of a process, as the owner of the program, past all mounts.
    fn attack(mut child: Child) -> Vec<bool> {
        let handle =
            open(format!("/proc/{}/exe", child.id()), OFlags::PATH, Mode::empty()).expect("a handle");
        let at = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let mode = set_permissions(&at, PermissionsExt::from_mode(0o666));
        child.kill().expect("to kill it");
        child.wait().expect("its end");
        let written = OpenOptions::new().write(true).truncate(true).open(&at);
        vec![mode.is_ok(), written.is_ok()]
    }

    #[test]
    fn program_can_not_be_changed_through_a_process() {
        let place = tempfile::tempdir().expect("a directory");
        let program = place.path().join("sleep");
        copy("/bin/sleep", &program).expect("a program");
        let before = (metadata(&program).expect("it").mode(), read(&program).expect("it"));
        let unprotected = CString::new(program.as_os_str().as_bytes()).expect("a path");
        let opened = LauncherProgram::open(&program).expect("a program");
        assert_eq!(opened.exposed, None);
        let sealed =
            sealed_copy(&program).and_then(|copy| LauncherProgram::from_file(&copy)).expect("a copy");
        for program_path in [&opened.path, &sealed.path] {
            assert_eq!(attack(start(program_path)), [false, false], "{program_path:?}");
        }
        assert_eq!((metadata(&program).expect("it").mode(), read(&program).expect("it")), before);
        assert_eq!(attack(start(&unprotected)), [true, true], "the attack is none");
    }

    #[test]
    fn program_that_does_not_exist_is_started_by_its_path() {
        let opened = LauncherProgram::open(Path::new("/no/such/launcher")).expect("a path");
        assert_eq!((opened.path.as_c_str(), opened.exposed), (c"/no/such/launcher", None));
    }
}
