//! View of the paths of the system that is made before the sandbox of the command is known.
//!
//! The view is mounted nowhere until the command begins, and can be made since Linux 6.15. It holds the very files that
//! were there when it was made, so that it is given up if one of them was replaced since, or if something was mounted. It
//! is not made of directories with mounts below them: it would keep these mounts in use.

use std::io;
use std::path::Path;

use super::allowlist::Allowlist;
use super::mount_events::MountEvents;
use super::mount_view;
use super::namespaces::is_linux_since;
use super::root::Root;
use crate::Sandbox;

/// View of the paths of the system.
#[derive(Debug)]
pub(super) struct SystemView {
    root: Root,
    allowlist: Allowlist,
    mounts: MountEvents,
}

impl SystemView {
    pub(super) fn make() -> io::Result<Self> {
        // Older ones do not mount into a root that is mounted nowhere itself.
        if !is_linux_since(6, 15) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // Changes are noticed from here on.
        let mut mounts = MountEvents::begin()?;
        let mut allowlist = Allowlist::of_system();
        // The view has a /proc of its own.
        let paths = allowlist.paths.iter().map(|path| path.path.as_path());
        let paths: Vec<&Path> = paths.filter(|path| *path != Path::new(mount_view::PROCESSES)).collect();
        if mounts.is_mount_below(&paths)? {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let root = mount_view::of_system(&allowlist).map_err(io::Error::other)?;
        allowlist.paths.iter_mut().for_each(|path| path.is_mounted = true);
        Ok(Self { root, allowlist, mounts })
    }

    /// Returns `true` if the view of a sandbox begins like this one, and nothing has changed since.
    pub(super) fn suits(&self, sandbox: &Sandbox) -> bool {
        let mut named = sandbox.read.iter().chain(&sandbox.write).chain([&sandbox.workdir]);
        // What is above a path of the system is mounted before it, and what is below /proc before the secrets are hidden.
        let is_before = |named: &Path| {
            let is_above = |path: &Path| path != named && path.starts_with(named);
            named.starts_with(mount_view::PROCESSES)
                || self.allowlist.paths.iter().any(|path| is_above(&path.path))
        };
        !named.any(|named| is_before(named)) && !self.mounts.are_there() && self.allowlist.is_current()
    }

    /// Returns its root, and the paths that are mounted there.
    pub(super) fn into_parts(self) -> (Root, Allowlist) {
        (self.root, self.allowlist)
    }
}
