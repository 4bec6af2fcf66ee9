//! Questions about programs and paths of this machine, for judging a command before it starts.

use std::io::ErrorKind;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::trusted::is_of_root;

/// Program that a command would start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedProgram {
    /// Path at which the program was found.
    pub path: PathBuf,
    /// The path with all links resolved.
    pub canonical: PathBuf,
    /// Root alone can have written the program, and every directory above it.
    pub is_trusted: bool,
}

/// Finds a program as the kernel and a shell do: a name on a search path, or a path. Relative parts begin at
/// `directory`.
pub fn locate_program(name: &str, search_path: &str, directory: &Path) -> Option<LocatedProgram> {
    if name.is_empty() {
        return None;
    }
    let found = if name.contains('/') {
        Some(directory.join(name)).filter(|path| is_program(path))
    } else {
        let candidates = search_path.split(':').map(|part| directory.join(part).join(name));
        candidates.into_iter().find(|path| is_program(path))
    };
    let path = found?;
    let canonical = path.canonicalize().ok()?;
    // A path without links has the directories of the canonical one.
    let is_trusted =
        is_of_root(&canonical) && (path == canonical || path.parent().is_some_and(is_directory_of_root));
    Some(LocatedProgram { path, canonical, is_trusted })
}

/// Returns `true` if root alone can change what lies in a directory. Its path may hold links of root, such as `/bin`.
fn is_directory_of_root(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|canonical| is_of_root(&canonical))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file()) && access(path, Access::EXEC_OK).is_ok()
}

/// Returns the path with all links resolved, if it exists.
pub fn canonical_path(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Result of reading a path as a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathLink {
    /// Nothing is there, or it is no link.
    None,
    /// Text of the link.
    Target(PathBuf),
    /// The path can't be looked at.
    Unreadable,
}

/// Reads the last part of a path as a symbolic link.
pub fn read_link(path: &Path) -> PathLink {
    match path.read_link() {
        Ok(target) => PathLink::Target(target),
        Err(error) => match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::NotFound | ErrorKind::NotADirectory => PathLink::None,
            _ => PathLink::Unreadable,
        },
    }
}

/// Kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocatedKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A block or character device.
    Device,
    /// A pipe, a socket or something else.
    Other,
}

/// Returns the kind of a path; links are followed. `None` if nothing is there.
pub fn located_kind(path: &Path) -> Option<LocatedKind> {
    let found = path.metadata().ok()?.file_type();
    Some(match found {
        _ if found.is_file() => LocatedKind::File,
        _ if found.is_dir() => LocatedKind::Directory,
        _ if found.is_block_device() || found.is_char_device() => LocatedKind::Device,
        _ => LocatedKind::Other,
    })
}

/// Returns the UID that the process acts as.
pub fn current_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn programs_are_found_on_the_search_path() {
        let sh = locate_program("sh", "/nonexistent:/usr/bin:/bin", Path::new("/")).expect("a shell");
        assert!(sh.path.ends_with("bin/sh") && sh.is_trusted, "{sh:?}");
        assert_eq!(locate_program("sh", "/nonexistent", Path::new("/")), None);
        assert_eq!(locate_program("", "/bin", Path::new("/")), None);
        assert!(locate_program("bin/sh", "", Path::new("/")).is_some());
    }

    #[test]
    fn a_program_that_others_can_replace_is_not_trusted() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("git");
        std::fs::write(&path, "#!/bin/sh\n").expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o757)).expect("a mode");
        let search = directory.path().to_str().expect("a path in UTF-8");
        let found = locate_program("git", search, Path::new("/")).expect("a program");
        assert!(!found.is_trusted);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).expect("a mode");
        assert_eq!(locate_program("git", search, Path::new("/")), None);
    }

    #[test]
    fn a_link_that_others_can_replace_is_not_trusted() {
        let directory = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink("/bin/sh", directory.path().join("shell")).expect("a link");
        std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o777)).expect("a mode");
        let search = directory.path().to_str().expect("a path in UTF-8");
        let found = locate_program("shell", search, Path::new("/")).expect("a program");
        assert!(is_of_root(&found.canonical) && !found.is_trusted, "{found:?}");
    }

    #[test]
    fn links_are_read_and_other_paths_are_none() {
        let directory = tempfile::tempdir().expect("a directory");
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("file"), "").expect("a file");
        std::os::unix::fs::symlink("nowhere", at("link")).expect("a link");
        std::os::unix::fs::symlink("loop", at("loop")).expect("a link");
        for (path, expected) in [
            ("link", PathLink::Target("nowhere".into())),
            ("loop", PathLink::Target("loop".into())),
            ("file", PathLink::None),
            ("file/below", PathLink::None),
            ("missing/below", PathLink::None),
            ("loop/below", PathLink::Unreadable),
        ] {
            assert_eq!(read_link(&at(path)), expected, "{path}");
        }
        assert_eq!(read_link(Path::new("/")), PathLink::None);
    }
}
