//! State of a user.

use std::rc::Rc;

use ccm_engine::Described;
use ccm_host::{Account, TreeSize};
use ccm_model::Failure;

use super::desired::DesiredUser;
use super::expiry::Expiry;
use crate::parts::accounts::{PasswdLine, PasswordField};

/// State of a user, with the obstacles to a change.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UserState {
    /// The user in `/etc/passwd`.
    pub found: Option<Rc<PasswdLine>>,
    /// The user, if only a name service has it.
    pub of_service: Option<Account>,
    /// Name service that has a user who is to be absent.
    pub remaining_service: Option<String>,
    /// Groups that list the user, without the primary one.
    pub groups: Vec<String>,
    /// Password and expiry, if they are managed.
    pub password: PasswordField,
    pub expires: Option<Expiry>,
    pub primary_group: PrimaryGroup,
    /// Names of the primary group, as it is to be: the kernel knows only its number.
    pub primary_names: Vec<String>,
    /// Desired groups that do not exist, and those that only a name service has.
    pub missing_groups: Vec<String>,
    pub service_groups: Vec<String>,
    /// Another user with the desired number.
    pub uid_owner: Option<String>,
    /// Process of a user who is to be renumbered.
    pub process: Option<u32>,
    /// Advice that names the unit of the process.
    pub process_hint: Option<String>,
    /// True if a group with the name of the user exists.
    pub has_own_group: bool,
    /// Existence of the home directory and of the desired one, if it is managed.
    pub home_exists: bool,
    pub desired_home_exists: bool,
    /// Owner of a desired home directory that exists and belongs to somebody else.
    pub desired_home_owner: Option<String>,
    /// Home directory that is removed with the user.
    pub removed_home: Option<TreeSize>,
    /// Failure of making, moving or removing the home directory, because a stranger could lead ccm or the tools elsewhere.
    pub home_refusal: Option<Failure>,
    pub shell_exists: bool,
    /// Number of keys to remove.
    pub unmanaged_keys: usize,
    /// True if not all managed keys are known before the run reaches them.
    pub has_late_keys: bool,
    /// Time of reading since 1970, in seconds.
    pub now: u64,
}

/// Desired primary group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum PrimaryGroup {
    #[default]
    NotManaged,
    Found(u32),
    Missing,
}

impl UserState {
    pub(crate) fn exists(&self) -> bool {
        self.found.is_some() || self.of_service.is_some()
    }

    /// Returns `true` if a change of the home directory moves it. A directory that exists is left as it is.
    pub(crate) fn moves_home(&self, user: &DesiredUser) -> bool {
        user.manage_home && self.home_exists && !self.desired_home_exists
    }
}

pub(crate) fn describe(user: &DesiredUser, state: &UserState) -> Described {
    let ensure = if state.exists() { "present" } else { "absent" };
    let mut described = Described::new(ensure).with("groups", state.groups.clone());
    if let Some(found) = &state.found {
        described.state.push("uid", found.uid);
        described.state.push("gid", found.gid);
        described.state.push("home", found.home.as_str());
        described.state.push("shell", found.shell.as_str());
        described.state.push("comment", found.comment.as_str());
    }
    if user.locked.is_some() {
        described.state.push("locked", state.password.is_locked());
    }
    if let Some(expires) = state.expires {
        described.state.push("expires", expires.to_string());
    }
    described
}
