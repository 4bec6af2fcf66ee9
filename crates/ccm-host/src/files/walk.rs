//! Walking the tree below a directory.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use super::content::check_cancelled;
use super::resolve::{PathEntry, ResolvedPath, is_mount_point};
use super::{FileError, FileStep, TreeEntry, TreeEntryKind, WalkStep};
use crate::command::Cancellation;

/// Maximum number of entries of a tree.
const MAX_ENTRIES: usize = 100_000;

/// Maximum depth of directories.
const MAX_DEPTH: usize = 64;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

struct TreeWalk<'a> {
    root: &'a Path,
    step: &'a dyn Fn(&Path, bool) -> WalkStep,
    cancellation: &'a Cancellation,
    entries: Vec<TreeEntry>,
}

/// Lists what is below a directory, with descriptors of directories alone. Links in it are not followed, and mount
/// points not entered.
pub(super) fn walk(
    path: &Path,
    step: &dyn Fn(&Path, bool) -> WalkStep,
    cancellation: &Cancellation,
) -> Result<Option<Vec<TreeEntry>>, FileError> {
    let resolved = match ResolvedPath::find(path) {
        Err(FileError::ParentMissing(_)) => return Ok(None),
        resolved => resolved?,
    };
    let Some(entry) = &resolved.entry else { return Ok(None) };
    match entry.kind() {
        FileType::Directory => {}
        FileType::Symlink => return Err(FileError::IsLink(path.to_owned())),
        _ => return Err(FileError::NotADirectory { path: path.to_owned(), part: path.to_owned() }),
    }
    let refused = |error: Errno| FileError::step(path, FileStep::Read, error);
    let top = openat(&resolved.parent, resolved.entry_name(), DIRECTORY, Mode::empty()).map_err(refused)?;
    let stat = fstat(&top).map_err(refused)?;
    if !entry.is_same_file(&stat) {
        return Err(FileError::Changed(path.to_owned()));
    }
    let mut walk = TreeWalk { root: path, step, cancellation, entries: Vec::new() };
    walk.directory(&top, &stat, Path::new(""), 0)?;
    Ok(Some(walk.entries))
}

impl TreeWalk<'_> {
    /// Lists a directory in the order of the names, each directory before what is in it.
    fn directory(
        &mut self,
        directory: &OwnedFd,
        stat: &Stat,
        below: &Path,
        depth: usize,
    ) -> Result<(), FileError> {
        for name in self.names(directory, below)? {
            check_cancelled(self.cancellation)?;
            let path = below.join(OsStr::from_bytes(name.to_bytes()));
            let refused = |error: Errno| FileError::step(&self.root.join(&path), FileStep::Inspect, error);
            let found = match statat(directory, &*name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => PathEntry { stat },
                // It was removed meanwhile.
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(refused(error)),
            };
            let is_directory = found.kind() == FileType::Directory;
            let step = (self.step)(&path, is_directory);
            if step == WalkStep::Skip {
                continue;
            }
            if self.entries.len() == MAX_ENTRIES {
                return Err(FileError::TreeTooLarge { path: self.root.to_owned(), entries: MAX_ENTRIES });
            }
            let (kind, opened) = match opened(directory, &name, &found, stat) {
                Ok(Some(opened)) => opened,
                Ok(None) => return Err(FileError::Changed(self.root.join(&path))),
                // It was removed meanwhile, or is of a process that ended.
                Err(Errno::NOENT | Errno::SRCH) => continue,
                Err(error) => return Err(refused(error)),
            };
            let is_entered = step == WalkStep::Enter && kind == TreeEntryKind::Directory { is_mount: false };
            self.entries.push(TreeEntry {
                path: path.clone(),
                kind,
                mode: found.mode(),
                uid: found.stat.st_uid,
                gid: found.stat.st_gid,
                size: u64::try_from(found.stat.st_size).unwrap_or_default(),
            });
            if let Some(opened) = opened.filter(|_| is_entered) {
                if depth == MAX_DEPTH {
                    return Err(FileError::TreeTooDeep { path: self.root.to_owned(), depth: MAX_DEPTH });
                }
                self.directory(&opened, &found.stat, &path, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Returns the names in a directory, sorted.
    fn names(&self, directory: &OwnedFd, below: &Path) -> Result<Vec<CString>, FileError> {
        let refused = |error: Errno| FileError::step(&self.root.join(below), FileStep::Read, error);
        let mut names = Vec::new();
        for entry in Dir::read_from(directory).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            if matches!(entry.file_name().to_bytes(), b"." | b"..") {
                continue;
            }
            if self.entries.len() + names.len() > MAX_ENTRIES {
                return Err(FileError::TreeTooLarge { path: self.root.to_owned(), entries: MAX_ENTRIES });
            }
            names.push(entry.file_name().to_owned());
        }
        names.sort_unstable();
        Ok(names)
    }
}

/// Returns the kind of an entry, and its descriptor if it is a directory; `None` of a directory that became another one.
fn opened(
    directory: &OwnedFd,
    name: &CStr,
    found: &PathEntry,
    above: &Stat,
) -> Result<Option<(TreeEntryKind, Option<OwnedFd>)>, Errno> {
    let kind = match found.kind() {
        FileType::Directory => {
            let opened = openat(directory, name, DIRECTORY, Mode::empty())?;
            let inner = fstat(&opened)?;
            if !found.is_same_file(&inner) {
                return Ok(None);
            }
            let is_mount = is_mount_point(&opened, &inner, above)?;
            return Ok(Some((TreeEntryKind::Directory { is_mount }, Some(opened))));
        }
        FileType::Symlink => {
            let text = readlinkat(directory, name, Vec::new())?;
            TreeEntryKind::Link(OsString::from_vec(text.into_bytes()).into())
        }
        _ => found.kind_with_article().map_or(TreeEntryKind::File, TreeEntryKind::Special),
    };
    Ok(Some((kind, None)))
}

/// Returns `true` if the first path comes before the second one in a walk: components are compared one by one.
pub fn walk_order(one: &Path, other: &Path) -> std::cmp::Ordering {
    // The separator is before every other byte of a name.
    let key = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
    let (one, other) = (one.as_os_str().as_bytes(), other.as_os_str().as_bytes());
    one.iter().map(key).cmp(other.iter().map(key))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    use ccm_testkit::Scratch;

    use super::*;

    fn listed(scratch: &Scratch, step: &dyn Fn(&Path, bool) -> WalkStep) -> Vec<String> {
        let found = walk(scratch.path(), step, &Cancellation::never()).expect("a walk").expect("a directory");
        found
            .into_iter()
            .map(|entry| {
                let kind = match entry.kind {
                    TreeEntryKind::File => format!("{}", entry.size),
                    TreeEntryKind::Directory { is_mount } => format!("directory, mount {is_mount}"),
                    TreeEntryKind::Link(to) => format!("to {}", to.display()),
                    TreeEntryKind::Special(what) => what.to_owned(),
                };
                format!("{}: {kind}", entry.path.display())
            })
            .collect()
    }

    fn scratch() -> Scratch {
        let scratch = Scratch::new();
        for (name, content) in [("b/x", "12"), ("b/deep/y", "1"), ("b.conf", ""), (".hidden", "123")] {
            scratch.write(name, content);
        }
        symlink("b/deep", scratch.path().join("c")).expect("a link");
        scratch
    }

    #[test]
    fn entries_come_in_order_and_links_are_not_followed() {
        let all = listed(&scratch(), &|_, _| WalkStep::Enter);
        let expected = [
            ".hidden: 3",
            "b: directory, mount false",
            "b/deep: directory, mount false",
            "b/deep/y: 1",
            "b/x: 2",
            "b.conf: 0",
            "c: to b/deep",
        ];
        // Each directory is followed by what is in it.
        let mut sorted: Vec<&str> = expected.to_vec();
        sorted.sort_by(|one, other| {
            let path = |text: &&str| PathBuf::from(text.split(':').next().unwrap_or_default());
            walk_order(&path(one), &path(other))
        });
        assert_eq!(all, sorted);
        assert_eq!(sorted[1..5], expected[1..5]);
    }

    #[test]
    fn steps_decide_what_is_listed_and_entered() {
        let step = |path: &Path, is_directory: bool| match path.to_str() {
            Some("b/deep") => WalkStep::List,
            Some(".hidden" | "c") => WalkStep::Skip,
            _ => {
                assert_eq!(is_directory, path == Path::new("b"));
                WalkStep::Enter
            }
        };
        let listed = listed(&scratch(), &step);
        assert_eq!(
            listed,
            ["b: directory, mount false", "b/deep: directory, mount false", "b/x: 2", "b.conf: 0"]
        );
    }

    #[test]
    fn only_a_directory_is_walked() {
        let scratch = scratch();
        let walk = |name: &str| {
            walk(&scratch.path().join(name), &|_, _| WalkStep::Enter, &Cancellation::never())
                .map(|found| found.map(|found| found.len()))
                .map_err(|error| error.to_string().replace(&scratch.at(""), ""))
        };
        assert_eq!(walk("gone"), Ok(None));
        assert_eq!(walk("gone/deep"), Ok(None));
        assert_eq!(walk("b"), Ok(Some(3)));
        assert_eq!(walk("c"), Err("\"c\" is a symbolic link".to_owned()));
        assert_eq!(
            walk("b.conf"),
            Err("\"b.conf\", on the way to \"b.conf\", is not a directory".to_owned())
        );
    }

    #[test]
    fn a_tree_that_is_too_deep_is_an_error() {
        let scratch = Scratch::new();
        scratch.write(&format!("{}x", "d/".repeat(MAX_DEPTH + 2)), "");
        let error =
            walk(scratch.path(), &|_, _| WalkStep::Enter, &Cancellation::never()).expect_err("too deep");
        assert!(error.to_string().ends_with("has more than 64 levels of directories"), "{error}");
    }

    #[test]
    fn what_goes_away_during_a_walk_is_left_out() {
        let scratch = Scratch::new();
        for file in ["tree/a/one", "tree/b/two", "tree/c"] {
            scratch.write(file, "x");
        }
        let tree = scratch.path().join("tree");
        let step = |path: &Path, _| {
            if path == Path::new("a") {
                std::fs::remove_dir_all(tree.join("a")).expect("removed");
            }
            WalkStep::Enter
        };
        let found = walk(&tree, &step, &Cancellation::never()).expect("a tree").expect("a directory");
        let paths: Vec<&Path> = found.iter().map(|entry| &*entry.path).collect();
        assert_eq!(paths, ["b", "b/two", "c"].map(Path::new));
    }
}
