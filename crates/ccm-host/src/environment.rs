//! Environment of the process: variables, the current directory, random numbers, a terminal.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{fstat, stat};
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

/// Returns the arguments of this process that are text.
pub fn own_arguments() -> Vec<String> {
    std::env::args_os().skip(1).filter_map(|argument| argument.into_string().ok()).collect()
}

/// Returns the path of the program of this process.
pub fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
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

/// Returns random bytes for a key. The kernel waits until it has collected enough of them.
pub fn random_secret<const LENGTH: usize>() -> io::Result<[u8; LENGTH]> {
    let mut bytes = [0; LENGTH];
    let mut filled = 0;
    while filled < LENGTH {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(bytes)
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
        columns(io::stderr())
    }
}

/// Returns the number of characters on a line of the terminal behind standard output, or the one that `COLUMNS` sets
/// instead. `None` if there is no terminal.
pub fn output_width() -> Option<usize> {
    let set = || variable("COLUMNS")?.to_str()?.parse().ok().filter(|columns| *columns > 0);
    io::stdout().is_terminal().then(|| set().unwrap_or_else(|| columns(io::stdout())))
}

fn columns(terminal: impl AsFd) -> usize {
    const DEFAULT: usize = 80;
    let columns = tcgetwinsize(terminal).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { DEFAULT } else { columns }
}

/// Returns `true` if the locale of the environment has UTF-8, as terminals and pagers expect then.
pub fn is_utf8_locale() -> bool {
    let named = |name| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(named);
    locale.is_some_and(|locale| has_utf8(&locale.to_string_lossy()))
}

fn has_utf8(locale: &str) -> bool {
    let charset = locale.split_once('.').map_or("", |(_, charset)| charset);
    let charset = charset.split('@').next().unwrap_or_default();
    ["utf-8", "utf8"].iter().any(|name| charset.eq_ignore_ascii_case(name))
}

/// Returns `true` if systemd passes standard output on to its journal.
pub fn output_is_journal() -> bool {
    let named = variable("JOURNAL_STREAM").unwrap_or_default();
    let Ok(found) = fstat(io::stdout()) else { return false };
    named.to_str() == Some(&format!("{}:{}", found.st_dev, found.st_ino))
}

#[cfg(test)]
mod tests {
    use super::has_utf8;

    #[test]
    fn a_locale_names_its_charset() {
        for (locale, expected) in [
            ("C.UTF-8", true),
            ("en_GB.utf8", true),
            ("de_DE.UTF-8@euro", true),
            ("C", false),
            ("POSIX", false),
            ("de_DE", false),
            ("de_DE.ISO-8859-15@euro", false),
            ("utf8", false),
        ] {
            assert_eq!(has_utf8(locale), expected, "{locale}");
        }
    }
}
