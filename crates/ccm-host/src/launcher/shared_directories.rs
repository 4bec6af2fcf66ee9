//! Directories of the system that the views of many commands have in common.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::{io, mem};

use rustix::mount::{OpenTreeFlags, open_tree};

use super::allowlist::{AllowedPath, Allowlist};
use super::mount_view::{failed, mount_inside, mount_private, open};
use super::root::{Root, inside};
use crate::StartError;

/// Directory of the system in a view.
#[derive(Debug)]
pub(super) struct SharedDirectory {
    pub(super) path: PathBuf,
    /// Directory of the view that it covers. `None` if it is an allowed path: nothing has to be made in it.
    covered: Option<OwnedFd>,
    /// Number of links of the system when the directory was made. Later ones are not in it.
    links: usize,
}

/// Mounts the directories with the allowed paths of the system in a view that is mounted nowhere.
pub(super) fn mount(
    root: &Root,
    system: &Root,
    allowlist: &Allowlist,
) -> Result<Vec<SharedDirectory>, StartError> {
    let mut shared: Vec<SharedDirectory> = Vec::new();
    for allowed in &allowlist.paths {
        let Some(path) = top_level(&allowed.path) else { continue };
        if shared.iter().all(|shared| shared.path != path) {
            let covered = mount_one(root, system, path, path == allowed.path).map_err(failed(path))?;
            shared.push(SharedDirectory { path: path.to_owned(), covered, links: allowlist.links.len() });
        }
    }
    Ok(shared)
}

/// Returns the directory directly below the root that a path is in, or the path itself if it is there.
fn top_level(path: &Path) -> Option<&Path> {
    path.ancestors().filter(|above| above.parent().is_some()).last()
}

/// Mounts a directory, and returns the directory of the view that it covers if it is no allowed path.
fn mount_one(root: &Root, system: &Root, path: &Path, is_allowed: bool) -> io::Result<Option<OwnedFd>> {
    let inside = root.make_place(path, true)?;
    let covered = (!is_allowed).then(|| open(root, inside)).transpose()?;
    mount_inside(root, inside, &copy(system, inside)?)?;
    Ok(covered)
}

/// Mounts an own directory of the view over each one in which a place has to be made for another path, and returns the
/// mounts. Adds the mounts of the other paths in the directory to those that are still to be mounted.
///
/// The root has to be mounted: the kernel copies no other mounts. The handles of the allowed paths can't be used, because they
/// are of the mounts that this process has left.
pub(super) fn replace(
    root: &Root,
    shared: &mut Vec<SharedDirectory>,
    allowlist: &Allowlist,
    trees: &mut [Option<OwnedFd>],
) -> Result<Vec<OwnedFd>, StartError> {
    let mut own = Vec::new();
    for directory in mem::take(shared) {
        let is_inside = |allowed: &AllowedPath| allowed.path.starts_with(&directory.path);
        let lacks_link =
            allowlist.links[directory.links..].iter().any(|(link, _)| link.starts_with(&directory.path));
        let lacks_place =
            lacks_link || allowlist.paths.iter().any(|allowed| !allowed.is_mounted && is_inside(allowed));
        let Some(covered) = directory.covered.as_ref().filter(|_| lacks_place) else {
            shared.push(directory);
            continue;
        };
        let mounted = allowlist.paths.iter().zip(&mut *trees);
        for (allowed, tree) in mounted.filter(|(allowed, _)| allowed.is_mounted && is_inside(allowed)) {
            *tree = Some(copy(root, inside(&allowed.path)).map_err(failed(&allowed.path))?);
        }
        own.push(cover(root, &directory.path, covered).map_err(failed(&directory.path))?);
        mount_private(root, &directory.path)?;
    }
    Ok(own)
}

/// Copies the mounts at and below a path.
fn copy(root: &Root, inside: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(root, inside, flags | OpenTreeFlags::OPEN_TREE_CLOEXEC)?)
}

fn cover(root: &Root, path: &Path, covered: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(covered, "", flags | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    mount_inside(root, inside(path), &tree)?;
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_below_the_root_is_found() {
        for (path, expected) in [("/etc/ssl/certs", Some("/etc")), ("/usr", Some("/usr")), ("/", None)] {
            assert_eq!(top_level(Path::new(path)), expected.map(Path::new), "{path}");
        }
    }
}
