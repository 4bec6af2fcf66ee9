//! Parts of a sandbox that are the same for every command. The launch server and a waiting copy of it prepare them.

use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;

use super::system_view::{SystemDirectories, SystemView};

/// Parts of a sandbox that exist already.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub(super) view: Option<SystemView>,
    /// This process has a shared memory of its own.
    pub(super) has_own_memory: bool,
    /// No program gets a capability in the namespace of users that this process began in.
    pub(super) forbids_capabilities: bool,
}

impl Prepared {
    /// Makes what can be made, a view with the directories of the system if there are any. An ordinary user needs a namespace
    /// of users first, which the command decides on. What is missing is made later, and its failure is reported then.
    pub(super) fn make(forbids_capabilities: bool, directories: Option<SystemDirectories>) -> Self {
        if !geteuid().is_root() {
            return Self { forbids_capabilities, ..Self::default() };
        }
        Self {
            view: directories.and_then(|directories| SystemView::begin(directories).ok()),
            has_own_memory: unshare(CloneFlags::CLONE_NEWIPC).is_ok(),
            forbids_capabilities,
        }
    }
}
