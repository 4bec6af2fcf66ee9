//! Where the state directory is when nobody names one.

use std::ffi::OsString;
use std::path::PathBuf;

use super::StateError;
use crate::variable;

/// `/var/lib/ccm` as root, else `ccm` in `$XDG_STATE_HOME`, else in `~/.local/state`.
pub fn default_state_directory() -> Result<PathBuf, StateError> {
    let root = rustix::process::geteuid().is_root();
    place(root, variable("XDG_STATE_HOME"), variable("HOME")).ok_or(StateError::NoPlace)
}

fn place(root: bool, state_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    if root {
        return Some(PathBuf::from("/var/lib/ccm"));
    }
    // A relative path would give each directory that ccm is called from a lock and a history of its own.
    let absolute = |path: OsString| Some(PathBuf::from(path)).filter(|path| path.is_absolute());
    let state_home = state_home.and_then(absolute);
    let parent = state_home.or_else(|| Some(home.and_then(absolute)?.join(".local/state")))?;
    Some(parent.join("ccm"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_depends_on_the_user() {
        for (root, state_home, home, expected) in [
            (true, None, None, Some("/var/lib/ccm")),
            (true, Some("/x"), Some("/root"), Some("/var/lib/ccm")),
            (false, Some("/x"), Some("/home/a"), Some("/x/ccm")),
            (false, Some("x"), Some("/home/a"), Some("/home/a/.local/state/ccm")),
            (false, None, Some("/home/a"), Some("/home/a/.local/state/ccm")),
            (false, None, Some("a"), None),
            (false, Some("x"), None, None),
        ] {
            let found = place(root, state_home.map(OsString::from), home.map(OsString::from));
            assert_eq!(found, expected.map(PathBuf::from), "{root} {state_home:?} {home:?}");
        }
    }
}
