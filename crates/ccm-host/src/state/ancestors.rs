//! Processes above this one.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;

/// Maximum number of processes above this one to look at.
const MAX_DEPTH: usize = 64;
/// Maximum number of open files of one process to look at.
const MAX_FILES: usize = 1024;

/// Returns `true` if a process above this one has a file open. The files of processes of other users are not known.
pub(super) fn any_has_open(file: &File) -> bool {
    let Ok(wanted) = file.metadata() else { return false };
    let wanted = (wanted.dev(), wanted.ino());
    let has_open = |pid: u32| {
        let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
        let mut found = open.take(MAX_FILES).flatten().filter_map(|entry| fs::metadata(entry.path()).ok());
        found.any(|found| (found.dev(), found.ino()) == wanted)
    };
    let mut above = std::iter::successors(parent(std::process::id()), |pid| parent(*pid));
    above.by_ref().take(MAX_DEPTH).any(has_open)
}

/// Returns the parent of a process; `None` for the first one, and for one that can't be read.
fn parent(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before may hold blanks and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok().filter(|pid| *pid != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_parents() {
        let parent_of_this = parent(std::process::id()).expect("a parent");
        assert!(fs::exists(format!("/proc/{parent_of_this}")).expect("a test"));
        assert_eq!(parent(u32::MAX), None);
    }
}
