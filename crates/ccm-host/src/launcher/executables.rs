//! Files that a sandbox with [`AllowedPrograms`](crate::AllowedPrograms) may execute.

mod headers;

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, FileType, Mode, OFlags, accessat, fstat, openat};
use rustix::io::Errno;

use crate::command::launch_protocol::LaunchRequest;
use crate::{AllowedPrograms, StartError};
use headers::ProgramHeader;

/// Maximum number of scripts of which each is the interpreter of the one before, as in the kernel.
const MAX_INTERPRETERS: u32 = 5;

/// Opens all files that may be executed: the command, the allowed programs, their interpreters and loaders.
///
/// This happens in the view and with the rights of the command, so that each name leads to the file that the command
/// would execute.
pub(super) fn open(allowed: &AllowedPrograms, request: &LaunchRequest) -> Result<Vec<OwnedFd>, StartError> {
    let path = request.environment.iter().find_map(|variable| variable.to_bytes().strip_prefix(b"PATH="));
    let path = path.map(|path| std::ffi::OsStr::from_bytes(path).to_owned()).unwrap_or_default();
    let directories: Vec<PathBuf> =
        std::env::split_paths(&path).filter(|directory| directory.is_absolute()).collect();
    let mut executables = Executables { directories, seen: HashSet::new(), files: Vec::new() };
    // A command that can't be executed has an error of its own.
    let _own_error = executables.add(&request.cwd.join(&request.program), 0);
    for program in &allowed.programs {
        if let Err(source) = executables.add_program(program, 0) {
            let is_missing =
                matches!(source.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::EACCES));
            if !(allowed.are_analysed && is_missing) {
                return Err(StartError::SandboxPath {
                    property: "programs".to_owned(),
                    path: program.clone(),
                    source,
                });
            }
        }
    }
    Ok(executables.files)
}

struct Executables {
    /// Directories in which names are looked up.
    directories: Vec<PathBuf>,
    seen: HashSet<(u64, u64)>,
    files: Vec<OwnedFd>,
}

impl Executables {
    /// Adds a program by its name or its absolute path.
    fn add_program(&mut self, program: &Path, depth: u32) -> io::Result<()> {
        if program.is_absolute() {
            return self.add(program, depth);
        }
        if program.components().count() != 1 {
            return Err(Errno::INVAL.into());
        }
        let candidates = self.directories.iter().map(|directory| directory.join(program));
        let found = candidates.into_iter().find(|path| is_program(path)).ok_or(Errno::NOENT)?;
        self.add(&found, depth)
    }

    /// Adds a file with its interpreter or loader.
    fn add(&mut self, path: &Path, depth: u32) -> io::Result<()> {
        if depth > MAX_INTERPRETERS {
            return Ok(());
        }
        let (file, is_readable) = open_program(path)?;
        let found = fstat(&file)?;
        if !FileType::from_raw_mode(found.st_mode).is_file() {
            return Err(Errno::ACCESS.into());
        }
        if !self.seen.insert((found.st_dev, found.st_ino)) {
            return Ok(());
        }
        let header = if is_readable { ProgramHeader::read(&file) } else { ProgramHeader::Other };
        self.files.push(file.into());
        // What does not exist can't be executed; starting the program says so.
        let _left_out = match header {
            ProgramHeader::Script { interpreter, argument } => {
                let is_env = interpreter.file_name().is_some_and(|name| name == "env");
                let program =
                    argument.filter(|_| is_env).map(|argument| self.add_program(&argument, depth + 1));
                let interpreter = self.add(&interpreter, depth + 1);
                program.unwrap_or(Ok(())).and(interpreter)
            }
            ProgramHeader::Elf { loader: Some(loader) } => self.add(&loader, depth + 1),
            ProgramHeader::Elf { loader: None } | ProgramHeader::Other => Ok(()),
        };
        Ok(())
    }
}

/// Returns `true` if a shell would start this file.
fn is_program(path: &Path) -> bool {
    accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok() && path.is_file()
}

/// Opens a program. One that may be executed but not read is opened as a mere handle; then the second value is `false`.
fn open_program(path: &Path) -> io::Result<(File, bool)> {
    // A named pipe in place of a program must not block.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    match openat(CWD, path, OFlags::RDONLY | flags, Mode::empty()) {
        Ok(file) => Ok((file.into(), true)),
        Err(Errno::ACCESS) => {
            let file = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            Ok((file.into(), false))
        }
        Err(error) => Err(error.into()),
    }
}

/// Reads the first bytes of a file, at most `max`.
fn beginning(file: &File, max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    // A file that can't be read has no header.
    let _read = file.take(max).read_to_end(&mut bytes);
    bytes
}
