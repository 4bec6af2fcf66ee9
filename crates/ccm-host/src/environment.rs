//! Environment of the process: variables, the current directory, random numbers, a terminal.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::stat;
use rustix::rand::{GetRandomFlags, getrandom};
use rustix::termios::tcgetwinsize;

/// Returns a variable of the environment; `None` if it is empty.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns all variables of the environment, sorted by name. Those that are not UTF-8 are left out.
pub fn environment() -> Vec<(String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let mut variables: Vec<(String, String)> = std::env::vars_os().filter_map(text).collect();
    variables.sort();
    variables
}

/// Returns `true` if the value of a variable of the environment is not UTF-8 text.
pub fn is_not_utf8(name: &str) -> bool {
    variable(name).is_some_and(|value| value.to_str().is_none())
}

/// Returns the absolute path, with links as they are. For a relative path, this includes the links through which
/// the shell entered the working directory.
pub fn absolute(path: &Path) -> io::Result<PathBuf> {
    match entered_directory().filter(|_| path.is_relative()) {
        Some(directory) => std::path::absolute(directory.join(path)),
        None => std::path::absolute(path),
    }
}

/// Returns the working directory as the shell entered it, from the variable `PWD`; `None` if the variable names
/// another directory.
fn entered_directory() -> Option<PathBuf> {
    let named = variable("PWD")?;
    let is_normal = named.as_bytes().split(|byte| *byte == b'/').all(|name| name != b"." && name != b"..");
    let (entered, working) = (stat(&*named).ok()?, stat(".").ok()?);
    let is_same = (entered.st_dev, entered.st_ino) == (working.st_dev, working.st_ino);
    let path = PathBuf::from(named);
    (path.is_absolute() && is_normal && is_same).then_some(path)
}

/// Returns a random number.
pub fn random() -> u128 {
    let mut bytes = [0; 16];
    if getrandom(&mut bytes[..], GetRandomFlags::empty()) == Ok(bytes.len()) {
        return u128::from_ne_bytes(bytes);
    }
    // Fallback for a kernel that forbids the call.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() << 32 | u128::from(std::process::id())
}

/// Terminal behind standard error on which a line can be overwritten.
#[derive(Clone, Copy, Debug)]
pub struct Terminal(());

impl Terminal {
    /// Returns the terminal, if there is one.
    pub fn on_standard_error() -> Option<Self> {
        let capable = variable("TERM").is_some_and(|kind| kind != "dumb");
        (capable && io::stderr().is_terminal()).then_some(Self(()))
    }

    /// Returns the number of characters on a line.
    pub fn width(self) -> usize {
        const DEFAULT: usize = 80;
        let columns = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { DEFAULT } else { columns }
    }
}
