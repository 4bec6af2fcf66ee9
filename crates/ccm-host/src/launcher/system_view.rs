//! View of the file system that begins with directories of the system made before the sandbox of the command is known.
//!
//! The launch server makes the directories once. Each copy of it mounts them in a view of its own, which is mounted nowhere
//! until the command begins; this can be done since Linux 6.15. The directories hold the very files that were there when they
//! were made, so that they are given up if one of the files was replaced since, or if something was mounted or unmounted. They are not made
//! where something is mounted below them: they would keep these mounts in use.

use std::io;
use std::path::Path;

use super::allowlist::Allowlist;
use super::mount_events::MountEvents;
use super::mount_view::{self, BegunView};
use super::namespaces::is_linux_since;
use super::root::Root;
use crate::Sandbox;

/// Directories of the system, as the view of every command has them.
#[derive(Debug)]
pub(super) struct SystemDirectories {
    /// Root that the directories are in. It can't be written.
    root: Root,
    allowlist: Allowlist,
    mounts: MountEvents,
}

/// View of a command to come, with the directories of the system.
#[derive(Debug)]
pub(super) struct SystemView {
    view: BegunView,
    allowlist: Allowlist,
    mounts: MountEvents,
    /// The view has the directories of the server, and not new ones.
    pub(super) were_current: bool,
}

impl SystemDirectories {
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

    /// Returns `true` if nothing has changed since they were made. Mounts are reported once.
    fn are_current(&self) -> bool {
        !self.mounts.are_there() && self.allowlist.is_current()
    }
}

impl SystemView {
    /// Begins a view with these directories, or with new ones if something has changed.
    pub(super) fn begin(former: SystemDirectories) -> io::Result<Self> {
        // Changes are noticed from here on.
        let mounts = MountEvents::begin()?;
        let were_current = former.are_current();
        let directories = if were_current { former } else { SystemDirectories::make()? };
        let view = mount_view::begin(&directories.root, &directories.allowlist).map_err(io::Error::other)?;
        Ok(Self { view, allowlist: directories.allowlist, mounts, were_current })
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

    /// Returns the view, and the paths that are mounted there.
    pub(super) fn into_parts(self) -> (BegunView, Allowlist) {
        (self.view, self.allowlist)
    }
}
