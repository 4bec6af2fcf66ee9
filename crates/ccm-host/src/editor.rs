//! The editor of a person, for texts that must never be on a disk.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use nix::sys::signal::{SigSet, SigmaskHow, Signal};
use rustix::fs::{FsWord, statfs};
use thiserror::Error;

use crate::environment::{random_secret, variable};
use crate::programs::locate_program;

/// Maximum length of an edited text, in bytes.
const MAX_LENGTH: u64 = 4 << 20;
/// File systems that are in memory, as the kernel numbers them: tmpfs and ramfs.
const IN_MEMORY: [FsWord; 2] = [0x0102_1994, 0x8584_58f6];
/// Editors that write copies, undo files or registers of their own unless they are told not to.
const VIM: [&str; 2] = ["vim", "nvim"];
const VIM_ARGUMENTS: [&str; 5] = ["-n", "-i", "NONE", "--cmd", "set nobackup nowritebackup noundofile"];

/// Reason why a text was not edited.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EditError {
    /// No directory is in memory.
    #[error("no directory in memory can be used: neither $XDG_RUNTIME_DIR nor /dev/shm is one")]
    NoMemory,
    /// The directory or the file can't be made or read.
    #[error("the text can't be handed to the editor")]
    File(#[source] io::Error),
    /// The words of the variable can't be split.
    #[error("the name of the editor in ${0} has a quote without an end")]
    Words(&'static str),
    /// The editor does not start.
    #[error("the editor `{program}` does not start")]
    Start {
        /// The program.
        program: String,
        /// Error of the system.
        source: io::Error,
    },
    /// The editor ended with an error.
    #[error("the editor ended with {0}; nothing was changed")]
    Failed(ExitStatus),
    /// The text is too long.
    #[error("the text is longer than {} MiB", MAX_LENGTH >> 20)]
    TooLong,
}

/// Directory in memory that only this user can enter. It goes with the value.
struct MemoryDirectory(PathBuf);

impl MemoryDirectory {
    fn make() -> Result<Self, EditError> {
        let of_user = variable("XDG_RUNTIME_DIR").map(PathBuf::from);
        let places = of_user.into_iter().chain([PathBuf::from("/dev/shm")]);
        for place in places.filter(|place| place.is_absolute() && is_in_memory(place)) {
            let name: [u8; 8] = random_secret().map_err(EditError::File)?;
            let path = place.join(format!("ccm-edit-{:016x}", u64::from_ne_bytes(name)));
            if fs::DirBuilder::new().mode(0o700).create(&path).is_ok() {
                return Ok(Self(path));
            }
        }
        Err(EditError::NoMemory)
    }
}

impl Drop for MemoryDirectory {
    fn drop(&mut self) {
        // What can't be removed is gone with the next start of the machine.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_in_memory(path: &Path) -> bool {
    statfs(path).is_ok_and(|found| IN_MEMORY.contains(&found.f_type))
}

/// Signals that wait until the text is gone from the memory. Programs that are started meanwhile get them at once.
struct Uninterrupted(SigSet);

impl Uninterrupted {
    fn begin() -> io::Result<Self> {
        let mut waiting = SigSet::empty();
        for signal in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP] {
            waiting.add(signal);
        }
        Ok(Self(waiting.thread_swap_mask(SigmaskHow::SIG_BLOCK)?))
    }
}

impl Drop for Uninterrupted {
    fn drop(&mut self) {
        // Fails only for a set that is none.
        let _ = self.0.thread_set_mask();
    }
}

/// Lets a person edit a text, with the program that `VISUAL` or `EDITOR` names, else with `vi`. The text is in a private
/// directory in memory, and so is what an editor writes beside it.
pub fn edit_in_memory(name: &str, content: &[u8]) -> Result<Vec<u8>, EditError> {
    // It ends last.
    let _uninterrupted = Uninterrupted::begin().map_err(EditError::File)?;
    let directory = MemoryDirectory::make()?;
    let file = directory.0.join(Path::new(name).file_name().unwrap_or("secret".as_ref()));
    let mut options = fs::OpenOptions::new();
    let written = options.write(true).create_new(true).mode(0o600).open(&file);
    written.and_then(|mut written| written.write_all(content)).map_err(EditError::File)?;
    let (program, arguments) = editor()?;
    let mut command = Command::new(&program);
    command.args(arguments).arg(&file).env("TMPDIR", &directory.0);
    let status = command.status().map_err(|source| EditError::Start { program, source })?;
    if !status.success() {
        return Err(EditError::Failed(status));
    }
    let found = fs::symlink_metadata(&file).map_err(EditError::File)?;
    if !found.is_file() || found.len() > MAX_LENGTH {
        return Err(EditError::TooLong);
    }
    fs::read(&file).map_err(EditError::File)
}

/// Returns the program and its arguments.
fn editor() -> Result<(String, Vec<String>), EditError> {
    let named =
        ["VISUAL", "EDITOR"].iter().find_map(|name| Some((*name, variable(name)?.into_string().ok()?)));
    let mut words = match named {
        Some((name, line)) => shell_words::split(&line).map_err(|_| EditError::Words(name))?,
        None => Vec::new(),
    };
    if words.is_empty() {
        words.push("vi".to_owned());
    }
    let program = words.remove(0);
    if is_vim(&program) {
        words.extend(VIM_ARGUMENTS.map(str::to_owned));
    }
    Ok((program, words))
}

/// Returns `true` for vim, also where it is called `vi`.
fn is_vim(program: &str) -> bool {
    let search_path = variable("PATH").and_then(|path| path.into_string().ok()).unwrap_or_default();
    let located = locate_program(program, &search_path, Path::new("/"));
    let names = [Some(PathBuf::from(program)), located.map(|located| located.canonical)];
    names.iter().flatten().any(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        VIM.iter().any(|vim| name == *vim || name.strip_prefix(vim).is_some_and(|rest| rest.starts_with('.')))
    })
}
