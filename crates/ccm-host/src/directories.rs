//! Directories that depend on who runs ccm, and from where.

use std::io;
use std::path::PathBuf;

/// The current directory.
pub fn current_directory() -> io::Result<PathBuf> {
    std::env::current_dir()
}

/// Where ccm keeps what has to outlive a run, unless it is told otherwise: `/var/lib/ccm` for root, else a
/// place below the home of the user. None if there is no such place.
pub fn default_state_directory() -> Option<PathBuf> {
    if rustix::process::geteuid().is_root() {
        return Some(PathBuf::from("/var/lib/ccm"));
    }
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state = absolute("XDG_STATE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    state.map(|state| state.join("ccm"))
}
