//! Users and groups, looked up one by one on any thread.

use std::io;

use super::Identity;
use super::databases::AccountDatabases;
use super::entries::UserEntry;

/// Users and groups of this machine. A lookup may wait for a name service.
#[derive(Debug)]
pub struct Accounts(AccountDatabases);

impl Accounts {
    /// Returns the users and groups of this machine. Nothing is read yet.
    pub fn of_this_machine() -> Self {
        Self(AccountDatabases::of_this_machine())
    }

    /// Returns the user of a name; `None` if there is none.
    pub fn user(&self, name: &str) -> io::Result<Option<UserEntry>> {
        self.0.user(name)
    }

    /// Returns the user of a number; `None` if there is none.
    pub fn user_of(&self, uid: u32) -> io::Result<Option<UserEntry>> {
        self.0.user_of(uid)
    }

    /// Returns the numbers of all groups of a user, the primary one first.
    pub fn groups_of(&self, user: &UserEntry) -> io::Result<Vec<u32>> {
        self.0.groups_of(user)
    }

    /// Returns the number of a group; `None` if there is none of this name.
    pub fn gid(&self, name: &str) -> io::Result<Option<u32>> {
        Ok(self.0.group(name)?.map(|group| group.gid))
    }

    /// Returns the name of a group; `None` if no group has this number.
    pub fn group_name(&self, gid: u32) -> io::Result<Option<String>> {
        Ok(self.0.group_of(gid)?.map(|group| group.name))
    }

    /// Returns the user who runs this process; `None` if no user has its number.
    pub fn own_user(&self) -> io::Result<Option<UserEntry>> {
        self.user_of(Identity::own()?.uid)
    }
}
