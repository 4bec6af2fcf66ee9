//! Default path of the state directory.

use std::ffi::OsString;
use std::path::PathBuf;

use super::StateError;
use crate::variable;

/// Returns `/var/lib/ccm` for root, else `ccm` in `$XDG_STATE_HOME` or in `~/.local/state`.
pub fn default_state_directory() -> Result<PathBuf, StateError> {
    let root = rustix::process::geteuid().is_root();
    resolve(root, variable("XDG_STATE_HOME"), variable("HOME")).ok_or(StateError::NoDirectory)
}

fn resolve(root: bool, state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    if root {
        return Some(PathBuf::from("/var/lib/ccm"));
    }
    // With a relative path, the lock and the history would depend on the current directory.
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let state_home = state_home.and_then(absolute);
    let parent = state_home.or_else(|| Some(home.and_then(absolute)?.join(".local/state")))?;
    Some(parent.join("ccm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_depends_on_the_user() {
        for (root, state_home, home, expected) in [
            (true, None, None, Some("/var/lib/ccm")),
            (true, Some("/x"), Some("/root"), Some("/var/lib/ccm")),
            (false, Some("/x"), Some("/home/a"), Some("/x/ccm")),
            (false, Some("x"), Some("/home/a"), Some("/home/a/.local/state/ccm")),
            (false, None, Some("/home/a"), Some("/home/a/.local/state/ccm")),
            (false, None, Some("a"), None),
            (false, Some("x"), None, None),
        ] {
            let found = resolve(root, state_home.map(OsString::from), home.map(OsString::from));
            assert_eq!(found, expected.map(PathBuf::from), "{root} {state_home:?} {home:?}");
        }
    }
}
