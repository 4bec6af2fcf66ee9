//! Finding a program, and the reason why one could not be started.

use std::fs::{File, Metadata, metadata};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, StatVfs, StatVfsMountFlags, accessat, statvfs};

use super::StartError;
use crate::account::{self, Identity};
use crate::files::is_absence;
use crate::script::script_interpreter;

/// Finds a program by name, as a shell would.
pub(super) fn find(name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
    let not_found = || StartError::NotFound { name: name.to_owned(), path: path.to_owned() };
    if name.contains('/') {
        let written = cwd.join(name);
        // Without `.` parts, for messages. `metadata` has seen a slash at the end, which demands a directory.
        let program: PathBuf = written.components().collect();
        return match metadata(&written) {
            Ok(found) => executable(&program, &found).map(|()| program),
            Err(error) if is_absence(&error) => Err(not_found()),
            Err(source) => Err(StartError::Spawn { program, source }),
        };
    }
    let directories = path.split(':').map(Path::new);
    let directories = directories.filter(|directory| directory.is_absolute() && !name.is_empty());
    let mut first_error = None;
    for program in directories.map(|directory| directory.join(name)) {
        let Ok(found) = metadata(&program) else { continue };
        match executable(&program, &found) {
            Ok(()) => return Ok(program),
            Err(error) if found.is_file() => drop(first_error.get_or_insert(error)),
            Err(_) => {}
        }
    }
    Err(first_error.unwrap_or_else(not_found))
}

/// Returns the reason why a program can't be run that a shell did not find; `None` if there is none, or no program.
pub(super) fn why_not_found(name: &str, path: &str, cwd: &Path) -> Option<StartError> {
    let error = match find(name, path, cwd) {
        Ok(program) => diagnose(&program, cwd, path, io::Error::from_raw_os_error(libc::ENOENT)),
        Err(error) => error,
    };
    let is_in_the_way = matches!(
        error,
        StartError::InterpreterMissing { .. }
            | StartError::NotExecutable { .. }
            | StartError::MountedNoexec { .. }
            | StartError::IsDirectory { .. }
    );
    is_in_the_way.then_some(error)
}

/// Finds a program with the file permissions of another user.
pub(super) fn find_as(
    identity: &Identity,
    name: &str,
    path: &str,
    cwd: &Path,
) -> Result<PathBuf, StartError> {
    if nix::unistd::geteuid().as_raw() == identity.uid {
        return find(name, path, cwd);
    }
    let seen = account::seeing_as(identity, || find(name, path, cwd));
    seen.unwrap_or_else(|source| Err(StartError::Spawn { program: name.into(), source }))
}

/// Returns the reason why a program could not be started in a directory. `path` is the search path, for the
/// message.
pub(crate) fn diagnose(program: &Path, cwd: &Path, path: &str, source: io::Error) -> StartError {
    if let Err(source) = enterable(cwd) {
        return StartError::WorkingDirectory { path: cwd.to_owned(), source };
    }
    let program = program.to_owned();
    let found = metadata(&program);
    match source.raw_os_error() {
        Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::ELOOP) => {}
        Some(libc::ENOEXEC) => return StartError::NoInterpreter { program },
        _ => return StartError::Spawn { program, source },
    }
    let found = match found {
        Ok(found) => found,
        Err(error) if is_absence(&error) => {
            return StartError::NotFound { name: program.display().to_string(), path: path.to_owned() };
        }
        Err(source) => return StartError::Spawn { program, source },
    };
    if let Err(error) = executable(&program, &found) {
        return error;
    }
    // The program itself is executable, so the error concerns its interpreter.
    match interpreter(&program).map(|name| name.escape_debug().to_string()) {
        Some(interpreter) if is_absence(&source) => StartError::InterpreterMissing { program, interpreter },
        Some(interpreter) => {
            let source =
                io::Error::new(source.kind(), format!("its interpreter \"{interpreter}\": {source}"));
            StartError::Spawn { program, source }
        }
        None if is_absence(&source) => StartError::LoaderMissing { program },
        None => StartError::Spawn { program, source },
    }
}

/// Returns the interpreter of a script, from the part of its first line that the kernel reads. A carriage
/// return at the end of the line is part of the name.
fn interpreter(program: &Path) -> Option<String> {
    let (interpreter, _) = script_interpreter(&File::open(program).ok()?)?;
    Some(interpreter.to_string_lossy().into_owned())
}

/// Checks that an existing file is a program that this user may run.
fn executable(program: &Path, found: &Metadata) -> Result<(), StartError> {
    let program = program.to_owned();
    if found.is_dir() {
        return Err(StartError::IsDirectory { program });
    }
    if found.is_file() && may_execute(&program).is_ok() {
        return Ok(());
    }
    let is_meant_to_be = found.is_file() && found.permissions().mode() & 0o111 != 0;
    let is_noexec = |mount: StatVfs| mount.f_flag.contains(StatVfsMountFlags::NOEXEC);
    if is_meant_to_be && statvfs(&program).is_ok_and(is_noexec) {
        return Err(StartError::MountedNoexec { program });
    }
    Err(StartError::NotExecutable { program })
}

fn enterable(directory: &Path) -> io::Result<()> {
    if !metadata(directory)?.is_dir() {
        return Err(io::Error::from_raw_os_error(libc::ENOTDIR));
    }
    may_execute(directory)
}

fn may_execute(path: &Path) -> io::Result<()> {
    Ok(accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS)?)
}
