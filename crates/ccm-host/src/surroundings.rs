//! What surrounds the process: variables, the current directory, chance, a terminal.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::rand::{GetRandomFlags, getrandom};
use rustix::termios::tcgetwinsize;

/// A variable of the environment; none if it is empty.
pub fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// All variables of the environment, in the order of their names; those that are no text are left out.
pub fn environment() -> Vec<(String, String)> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let mut variables: Vec<(String, String)> = std::env::vars_os().filter_map(text).collect();
    variables.sort();
    variables
}

/// A path as it is seen from the root, its links left as they are.
pub fn absolute(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}

/// A number that no other process has drawn.
pub fn random() -> u128 {
    let mut bytes = [0; 16];
    if getrandom(&mut bytes[..], GetRandomFlags::empty()) == Ok(bytes.len()) {
        return u128::from_ne_bytes(bytes);
    }
    // Only a kernel that forbids the call comes here.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() << 32 | u128::from(std::process::id())
}

/// The terminal behind standard error, if there is one on which a line can be written over.
#[derive(Clone, Copy, Debug)]
pub struct Terminal(());

impl Terminal {
    /// Finds it.
    pub fn on_standard_error() -> Option<Self> {
        let capable = variable("TERM").is_some_and(|kind| kind != "dumb");
        (capable && io::stderr().is_terminal()).then_some(Self(()))
    }

    /// How many characters fit on a line.
    pub fn width(self) -> usize {
        const USUAL: usize = 80;
        let columns = tcgetwinsize(io::stderr()).map_or(0, |size| usize::from(size.ws_col));
        if columns == 0 { USUAL } else { columns }
    }
}
