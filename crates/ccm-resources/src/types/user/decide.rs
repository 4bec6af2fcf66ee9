//! The pure decision about a user.

use ccm_engine::{Described, Undescribed};
use ccm_model::{Failure, MissingPrerequisite};

use super::desired::DesiredUser;
use super::expiry::Expiry;
use super::state::{PrimaryGroup, UserState, describe};
use crate::parts::accounts::{name_list, still_known};
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};
use crate::support::values::principal::UNKNOWN_ID;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UserDifference {
    Uid {
        from: Option<u32>,
        to: u32,
    },
    Gid {
        from: Option<u32>,
        to: u32,
    },
    Groups {
        from: Vec<String>,
        to: Vec<String>,
    },
    Home {
        from: Option<String>,
        to: String,
    },
    /// The home directory does not exist.
    NoHome,
    Shell {
        from: Option<String>,
        to: String,
    },
    Comment {
        from: Option<String>,
        to: String,
    },
    Password,
    Locked {
        from: Option<bool>,
        to: bool,
    },
    Expires {
        from: Option<Expiry>,
        to: Expiry,
    },
    /// Number of keys that no resource has.
    Keys(usize),
}

impl ObjectDifference for UserDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Uid { .. } => "uid",
            Self::Gid { .. } => "gid",
            Self::Groups { .. } => "groups",
            Self::Home { .. } => "home",
            Self::NoHome => "home directory",
            Self::Shell { .. } => "shell",
            Self::Comment { .. } => "comment",
            Self::Password => "password",
            Self::Locked { .. } => "locked",
            Self::Expires { .. } => "expires",
            Self::Keys(_) => "keys",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        let shown = |value: &Option<u32>| value.map(|value| value.to_string());
        match self {
            Self::Gid { from, to: UNKNOWN_ID } => (shown(from), Some("that of the new group".to_owned())),
            Self::Uid { from, to } | Self::Gid { from, to } => (shown(from), Some(to.to_string())),
            Self::Groups { from, to } => (Some(name_list(from)), Some(name_list(to))),
            Self::Home { from, to } | Self::Shell { from, to } | Self::Comment { from, to } => {
                (from.clone(), Some(to.clone()))
            }
            Self::NoHome | Self::Password => (None, None),
            Self::Locked { from, to } => (from.map(|from| from.to_string()), Some(to.to_string())),
            Self::Expires { from, to } => (from.map(|from| from.to_string()), Some(to.to_string())),
            Self::Keys(unmanaged) => (Some(format!("{unmanaged} unmanaged")), Some("none".to_owned())),
        }
    }
}

impl ObjectType for DesiredUser {
    type State = UserState;
    type Difference = UserDifference;
    type Effect = ();

    fn plan(&self, state: &UserState) -> ObjectPlan<UserDifference> {
        let exists = state.exists();
        if self.is_absent {
            return match &state.found {
                Some(_) => state.home_refusal.clone().map_or(ObjectPlan::Remove, ObjectPlan::Fail),
                None => ObjectPlan::Keep { exists: false },
            };
        }
        let differences = differences(self, state);
        if exists && differences.is_empty() && state.primary_group != PrimaryGroup::Missing {
            return ObjectPlan::Keep { exists };
        }
        if state.of_service.is_some() {
            return ObjectPlan::Fail(from_service(self));
        }
        match obstacle(self, state, &differences) {
            Some(failure) => ObjectPlan::Fail(failure),
            None if exists => ObjectPlan::Change(differences),
            None => ObjectPlan::Create(differences),
        }
    }

    fn shown(&self) -> String {
        format!("user `{}`", self.name)
    }

    fn warnings(&self, state: &UserState) -> Vec<String> {
        if self.is_absent {
            let service = state.remaining_service.as_deref();
            let is_known = service.is_some() || state.of_service.is_some();
            return is_known.then(|| still_known("user", &self.name, service)).into_iter().collect();
        }
        let shell = self.shell.as_ref().filter(|_| !state.shell_exists);
        let shell =
            shell.map(|shell| format!("the shell \"{shell}\" does not exist, so nobody can log in with it"));
        let expires = self.expires.filter(|expires| expires.has_come(state.now));
        let expires = expires.map(|expires| format!("the user has expired: `expires` is {expires}"));
        let keys = "`purge_keys` removes nothing in this run: the key of an `authorized_key` is known only when it is reached";
        let keys = state.has_late_keys.then(|| keys.to_owned());
        shell.into_iter().chain(expires).chain(keys).chain(home_of_another(self, state)).collect()
    }

    fn removed_with(&self, state: &UserState) -> Option<String> {
        let (user, size) = state.found.as_ref().zip(state.removed_home)?;
        let (files, bytes) = (count(size.files, "file"), count(size.bytes, "byte"));
        let more = if size.is_partial { "more than " } else { "" };
        Some(format!("home directory {} with {more}{files}, {bytes}", user.home))
    }

    fn undescribed(&self, state: &UserState) -> Undescribed {
        Undescribed::found(&(state.password.as_text(), &state.of_service, &state.expires))
    }

    fn describe(&self, state: &UserState) -> Described {
        describe(self, state)
    }
}

/// Returns the warning that a home directory belongs to somebody else.
fn home_of_another(user: &DesiredUser, state: &UserState) -> Option<String> {
    let (home, owner) = user.home.as_ref().zip(state.desired_home_owner.as_ref())?;
    let name = &user.name;
    let old = state.found.as_ref().filter(|_| state.home_exists).map(|found| &found.home);
    let stay = old.map(|old| format!(", and the files in \"{old}\" stay behind")).unwrap_or_default();
    Some(format!(
        "the home directory \"{home}\" exists and belongs to `{owner}`, so that user `{name}` can't write there{stay}; give \
         it to `{name}` with a `file` resource"
    ))
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn differences(user: &DesiredUser, state: &UserState) -> Vec<UserDifference> {
    let mut found = Vec::new();
    let (local, service) = (state.found.as_ref(), state.of_service.as_ref());
    let uid = local.map(|user| user.uid).or(service.map(|user| user.identity.uid));
    if let Some(to) = user.uid.filter(|to| Some(*to) != uid) {
        found.push(UserDifference::Uid { from: uid, to });
    }
    let gid = local.map(|user| user.gid).or(service.map(|user| user.identity.gid));
    if let PrimaryGroup::Found(to) = state.primary_group
        && Some(to) != gid
    {
        found.push(UserDifference::Gid { from: gid, to });
    }
    found.extend(groups(user, state));
    let path = |path: &std::path::Path| path.to_string_lossy().into_owned();
    let home = local.map(|user| user.home.clone()).or(service.map(|user| path(&user.home)));
    if let Some(to) = user.home.clone().filter(|to| Some(to) != home.as_ref()) {
        found.push(UserDifference::Home { from: home, to });
    } else if user.manage_home && state.exists() && !state.home_exists {
        found.push(UserDifference::NoHome);
    }
    let shell = local.map(|user| user.shell.clone()).or(service.map(|user| path(&user.shell)));
    if let Some(to) = user.shell.clone().filter(|to| Some(to) != shell.as_ref()) {
        found.push(UserDifference::Shell { from: shell, to });
    }
    let comment = local.map(|user| user.comment.clone());
    if let Some(to) = user.comment.clone().filter(|to| Some(to) != comment.as_ref()) {
        // A new user has an empty comment.
        if local.is_some() || service.is_some() || !to.is_empty() {
            found.push(UserDifference::Comment { from: comment, to });
        }
    }
    found.extend(login(user, state));
    if user.purge_keys && !state.has_late_keys && state.unmanaged_keys > 0 {
        found.push(UserDifference::Keys(state.unmanaged_keys));
    }
    found
}

/// Returns the differences of password, lock and expiry. A name service does not tell them, so whatever is desired counts
/// as different.
fn login(user: &DesiredUser, state: &UserState) -> Vec<UserDifference> {
    let mut found = Vec::new();
    let (exists, is_unknown) = (state.found.is_some(), state.of_service.is_some());
    if user.password.as_ref().is_some_and(|hash| !state.password.has(hash)) {
        found.push(UserDifference::Password);
    }
    // A new user is locked until it gets a password.
    let is_locked = if exists { state.password.is_locked() } else { user.password.is_none() };
    let from = exists.then_some(is_locked);
    let is_locked_by_password = user.password.as_ref().is_some_and(|hash| hash.0 == "!");
    let is_other = |to: &bool| is_unknown || *to != is_locked && !(is_locked_by_password && *to);
    if let Some(to) = user.locked.filter(is_other) {
        // A password that is replaced takes away the lock of a user who had none.
        let is_replaced = exists && user.password.is_some() && state.password.is_only_locked();
        if !is_replaced || to {
            found.push(UserDifference::Locked { from, to });
        }
    }
    let never = Expiry(None);
    let expires = if exists { state.expires.unwrap_or(never) } else { never };
    if let Some(to) = user.expires.filter(|to| is_unknown || *to != expires) {
        found.push(UserDifference::Expires { from: exists.then_some(expires), to });
    }
    found
}

fn groups(user: &DesiredUser, state: &UserState) -> Option<UserDifference> {
    let desired = user.groups.as_ref()?;
    let mut to = if user.groups_exclusive { Vec::new() } else { state.groups.clone() };
    // Every user is a member of the primary group.
    let is_primary = |group: &String| user.gid.as_ref() == Some(group) || state.primary_names.contains(group);
    for group in desired.iter().filter(|group| !is_primary(group)) {
        if !to.contains(group) {
            to.push(group.clone());
        }
    }
    let is_same = to.len() == state.groups.len() && to.iter().all(|group| state.groups.contains(group));
    (!is_same).then(|| UserDifference::Groups { from: state.groups.clone(), to })
}

/// Returns the failure if something prevents the change.
fn obstacle(user: &DesiredUser, state: &UserState, differences: &[UserDifference]) -> Option<Failure> {
    if let (Some(group), PrimaryGroup::Missing) = (&user.gid, state.primary_group) {
        return Some(missing_group(group, "gid"));
    }
    if let Some(refusal) = &state.home_refusal {
        return Some(refusal.clone());
    }
    differences.iter().find_map(|difference| match difference {
        UserDifference::Uid { from, to } => uid_obstacle(user, state, *from, *to),
        UserDifference::Groups { from, to } => {
            let is_new = |group: &&String| to.contains(group) && !from.contains(group);
            let missing =
                state.missing_groups.iter().find(is_new).map(|group| missing_group(group, "groups"));
            let of_service = state.service_groups.iter().find(is_new).map(|group| {
                Failure::conflict(format!("group `{group}` comes from a name service, not from /etc/group"))
                    .of_property("groups")
                    .with_hint("add the member where the group is managed")
            });
            missing.or(of_service)
        }
        UserDifference::Locked { to: false, .. } if user.password.is_none() => {
            let has_none = state.password.unlocked().is_empty();
            has_none.then(|| {
                Failure::conflict(format!("user `{}` has no password that could be unlocked", user.name))
                    .of_property("locked")
                    .with_hint("write `password_hash`, or `locked: true`")
            })
        }
        _ => None,
    })
}

fn uid_obstacle(user: &DesiredUser, state: &UserState, from: Option<u32>, to: u32) -> Option<Failure> {
    if let Some(owner) = &state.uid_owner {
        let failure =
            Failure::conflict(format!("uid {to} belongs to user `{owner}`")).of_property("uid").with_hint(
                format!("use another `uid`, or change the number of `{owner}` with an earlier resource"),
            );
        return Some(failure.with_missing(MissingPrerequisite::Principal(owner.clone())));
    }
    let process = state.process.filter(|_| from.is_some())?;
    let message = format!("user `{}` is logged in or has running processes, such as {process}", user.name);
    let hint = "end the processes of the user, then run ccm again to change the number";
    let hint = state.process_hint.as_deref().unwrap_or(hint);
    // An earlier service may be the one to stop.
    let missing = MissingPrerequisite::Principal(user.name.clone());
    Some(Failure::conflict(message).of_property("uid").with_missing(missing).with_hint(hint))
}

fn missing_group(group: &str, property: &'static str) -> Failure {
    Failure::conflict(format!("group `{group}` does not exist"))
        .of_property(property)
        .with_missing(MissingPrerequisite::Principal(group.to_owned()))
        .with_hint(format!("add a `group` resource for `{group}`"))
}

fn from_service(user: &DesiredUser) -> Failure {
    Failure::conflict(format!("user `{}` comes from a name service, not from /etc/passwd", user.name))
        .with_hint("change the user where it is managed, or remove the properties that differ")
}

#[cfg(test)]
mod tests;
