//! Users and groups, and the names of the owners of files.

use std::collections::HashMap;

use ccm_check::{Attribute, Fact, FactError};
use ccm_host::UserEntry;

use super::observation::{no_attribute, unreadable};

/// Databases of users and groups. What several rules need is looked up once.
pub(super) struct Accounts {
    databases: ccm_host::Accounts,
    users: HashMap<String, Result<Option<UserEntry>, FactError>>,
    owners: HashMap<u32, Result<String, FactError>>,
    groups: HashMap<u32, Result<String, FactError>>,
}

impl Default for Accounts {
    fn default() -> Self {
        Self {
            databases: ccm_host::Accounts::of_this_machine(),
            users: HashMap::new(),
            owners: HashMap::new(),
            groups: HashMap::new(),
        }
    }
}

impl Accounts {
    /// Returns a value about a user.
    pub(super) fn user_fact(&mut self, name: &str, attribute: Attribute) -> Result<Fact, FactError> {
        let user = self.user(name)?;
        if attribute == Attribute::Exists {
            return Ok(user.is_some().into());
        }
        let user = user.ok_or_else(|| unreadable(format!("there is no user {name}")))?;
        match attribute {
            Attribute::Uid => Ok(i64::from(user.uid).into()),
            Attribute::Gid => Ok(i64::from(user.gid).into()),
            Attribute::Home => Ok((&*user.home.to_string_lossy()).into()),
            Attribute::Shell => Ok((&*user.shell.to_string_lossy()).into()),
            Attribute::Groups => {
                let groups = self.databases.groups_of(&user);
                let groups = groups.map_err(|error| unreadable(format!("the groups of {name}: {error}")))?;
                groups.into_iter().map(|gid| self.group_name(gid)).collect()
            }
            other => Err(no_attribute(other)),
        }
    }

    /// Returns a value about a group.
    pub(super) fn group_fact(&mut self, name: &str, attribute: Attribute) -> Result<Fact, FactError> {
        let gid = self.databases.gid(name);
        let gid = gid.map_err(|error| unreadable(format!("the group {name}: {error}")))?;
        match (attribute, gid) {
            (Attribute::Exists, gid) => Ok(gid.is_some().into()),
            (Attribute::Gid, Some(gid)) => Ok(i64::from(gid).into()),
            (Attribute::Gid, None) => Err(unreadable(format!("there is no group {name}"))),
            (other, _) => Err(no_attribute(other)),
        }
    }

    /// Returns the name of the owner of a file.
    pub(super) fn owner_name(&mut self, uid: u32) -> Result<String, FactError> {
        let find = || match self.databases.user_of(uid) {
            Ok(Some(user)) => Ok(user.name),
            Ok(None) => Err(unreadable(format!("no user has the number {uid}"))),
            Err(error) => Err(unreadable(format!("the user with the number {uid}: {error}"))),
        };
        self.owners.entry(uid).or_insert_with(find).clone()
    }

    /// Returns the name of a group.
    pub(super) fn group_name(&mut self, gid: u32) -> Result<String, FactError> {
        let find = || match self.databases.group_name(gid) {
            Ok(Some(name)) => Ok(name),
            Ok(None) => Err(unreadable(format!("no group has the number {gid}"))),
            Err(error) => Err(unreadable(format!("the group with the number {gid}: {error}"))),
        };
        self.groups.entry(gid).or_insert_with(find).clone()
    }

    /// Returns the home directory of a user; that of the user who runs ccm for an empty name.
    pub(super) fn home_of(&mut self, name: &str) -> Result<std::path::PathBuf, FactError> {
        let user = if name.is_empty() {
            self.databases.own_user().map_err(|error| unreadable(format!("the own user: {error}")))?
        } else {
            self.user(name)?
        };
        let user = user.ok_or_else(|| unreadable(format!("there is no user `{name}` for `~{name}`")))?;
        Ok(user.home)
    }

    fn user(&mut self, name: &str) -> Result<Option<UserEntry>, FactError> {
        let find = || {
            let found = self.databases.user(name);
            found.map_err(|error| unreadable(format!("the user {name}: {error}")))
        };
        self.users.entry(name.to_owned()).or_insert_with(find).clone()
    }
}
