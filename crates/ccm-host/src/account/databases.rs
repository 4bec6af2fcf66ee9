//! Users and groups of this machine: its files first, then its name services.

use std::collections::BTreeMap;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::entries::{GroupEntry, UserEntry, each_line};
use super::name_services::{Database, Getent, NameServices};
use super::{Account, AccountError, Identity};
use crate::command::base_environment::SEARCH_PATH;

/// Databases of users and groups.
///
/// The files are read for each lookup, because a command may change them. Entries of name services are kept,
/// because a query costs a process, and often a packet to a server; an unknown name is queried again.
#[derive(Debug)]
pub(crate) struct AccountDatabases {
    users: PathBuf,
    groups: PathBuf,
    services: Box<dyn NameServices>,
    kept: Mutex<Kept>,
}

/// Entries of name services.
#[derive(Debug, Default)]
struct Kept {
    users: BTreeMap<String, UserEntry>,
    groups: BTreeMap<String, GroupEntry>,
    memberships: BTreeMap<String, Vec<u32>>,
    /// Error of services that did not answer in time. They are not queried again.
    timeout: Option<String>,
}

impl AccountDatabases {
    /// Returns the databases of this machine. Nothing is read yet.
    pub(crate) fn of_this_machine() -> Self {
        Self {
            users: "/etc/passwd".into(),
            groups: "/etc/group".into(),
            services: Box::new(Getent::of_this_machine(SEARCH_PATH)),
            kept: Mutex::default(),
        }
    }

    /// Looks a user up by its name, or by its number if that is the number of an account.
    pub(crate) fn account(&self, name: &str) -> Result<Account, AccountError> {
        let lookup = |source| AccountError::Lookup { name: name.to_owned(), source };
        let user = match self.user(name).map_err(lookup)? {
            Some(user) => Some(user),
            None => numeric(name).map(|uid| self.user_of(uid)).transpose().map_err(lookup)?.flatten(),
        };
        let user = user.ok_or_else(|| match numeric(name) {
            Some(number) => AccountError::NoEntry { number },
            None => AccountError::NoUser { name: name.to_owned() },
        })?;
        let groups = self.groups_of(&user).map_err(lookup)?;
        Ok(Account {
            name: user.name,
            home: user.home,
            shell: user.shell,
            identity: Identity { uid: user.uid, gid: user.gid, groups },
        })
    }

    /// Looks a group up by its name or its number.
    pub(crate) fn gid(&self, name: &str) -> Result<u32, AccountError> {
        let lookup = |source| AccountError::Lookup { name: name.to_owned(), source };
        let group = self.group(name).map_err(lookup)?.map(|group| group.gid);
        group.or_else(|| numeric(name)).ok_or_else(|| AccountError::NoGroup { name: name.to_owned() })
    }

    /// Returns the user of a name.
    pub(crate) fn user(&self, name: &str) -> io::Result<Option<UserEntry>> {
        if let Some(user) = find(&self.users, |line| UserEntry::parse(line).filter(|user| user.name == name))?
        {
            return Ok(Some(user));
        }
        // Services take digits for a number.
        if numeric(name).is_some() {
            return Ok(None);
        }
        self.user_of_services(name)
    }

    /// Returns the user of a number.
    pub(crate) fn user_of(&self, uid: u32) -> io::Result<Option<UserEntry>> {
        match find(&self.users, |line| UserEntry::parse(line).filter(|user| user.uid == uid))? {
            Some(user) => Ok(Some(user)),
            None => Ok(self.user_of_services(&uid.to_string())?.filter(|user| user.uid == uid)),
        }
    }

    /// Returns the group of a name.
    pub(crate) fn group(&self, name: &str) -> io::Result<Option<GroupEntry>> {
        let is_meant = |group: &GroupEntry| group.name == name;
        match find(&self.groups, |line| GroupEntry::parse(line).filter(is_meant))? {
            Some(group) => Ok(Some(group)),
            None if numeric(name).is_some() => Ok(None),
            None => self.group_of_services(name),
        }
    }

    /// Returns the group of a number.
    pub(crate) fn group_of(&self, gid: u32) -> io::Result<Option<GroupEntry>> {
        match find(&self.groups, |line| GroupEntry::parse(line).filter(|group| group.gid == gid))? {
            Some(group) => Ok(Some(group)),
            None => Ok(self.group_of_services(&gid.to_string())?.filter(|group| group.gid == gid)),
        }
    }

    /// Returns `true` if the files know a member of a group who is none of these users.
    pub(crate) fn has_other_member(&self, gid: u32, users: &[u32]) -> bool {
        let is_other = |user: &UserEntry| !users.contains(&user.uid);
        let by_primary =
            |line: &[u8]| UserEntry::parse(line).filter(|user| user.gid == gid && is_other(user));
        if find(&self.users, by_primary).is_ok_and(|found| found.is_some()) {
            return true;
        }
        let members = find(&self.groups, |line| GroupEntry::members_of(line, gid));
        let members = members.ok().flatten().unwrap_or_default();
        let is_member = |line: &[u8]| {
            UserEntry::parse(line).filter(|user| is_other(user) && members.contains(&user.name))
        };
        find(&self.users, is_member).is_ok_and(|found| found.is_some())
    }

    /// Returns all groups of a user, the primary one first.
    pub(super) fn groups_of(&self, user: &UserEntry) -> io::Result<Vec<u32>> {
        let mut groups = vec![user.gid];
        each_line(&self.groups, |line| {
            groups.extend(GroupEntry::of_member(line, &user.name).map(|group| group.gid));
            ControlFlow::Continue(())
        })?;
        groups.extend(self.memberships_of_services(&user.name)?);
        let mut seen = std::collections::HashSet::new();
        groups.retain(|group| seen.insert(*group));
        Ok(groups)
    }

    fn user_of_services(&self, key: &str) -> io::Result<Option<UserEntry>> {
        if let Some(user) = self.kept().users.get(key) {
            return Ok(Some(user.clone()));
        }
        let user = self.query(Database::Passwd, key)?.and_then(|line| UserEntry::parse(&line));
        if let Some(user) = &user {
            self.kept().users.insert(key.to_owned(), user.clone());
        }
        Ok(user)
    }

    fn group_of_services(&self, key: &str) -> io::Result<Option<GroupEntry>> {
        if let Some(group) = self.kept().groups.get(key) {
            return Ok(Some(group.clone()));
        }
        let group = self.query(Database::Group, key)?.and_then(|line| GroupEntry::parse(&line));
        if let Some(group) = &group {
            self.kept().groups.insert(key.to_owned(), group.clone());
        }
        Ok(group)
    }

    fn memberships_of_services(&self, user: &str) -> io::Result<Vec<u32>> {
        if let Some(groups) = self.kept().memberships.get(user) {
            return Ok(groups.clone());
        }
        let Some(line) = self.query(Database::InitGroups, user)? else { return Ok(Vec::new()) };
        // The name of the user, blanks, and the numbers of the groups.
        let line = String::from_utf8_lossy(&line);
        let numbers = line.lines().next().unwrap_or_default().split_ascii_whitespace().rev();
        let mut groups: Vec<u32> = numbers.map_while(numeric).collect();
        groups.reverse();
        self.kept().memberships.insert(user.to_owned(), groups.clone());
        Ok(groups)
    }

    fn query(&self, database: Database, key: &str) -> io::Result<Option<Vec<u8>>> {
        if let Some(timeout) = &self.kept().timeout {
            return Err(io::Error::new(io::ErrorKind::TimedOut, timeout.clone()));
        }
        let result = self.services.query(database, key);
        if let Err(error) = &result
            && error.kind() == io::ErrorKind::TimedOut
        {
            self.kept().timeout = Some(error.to_string());
        }
        result
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Each change is complete in itself.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the first entry of a file that a function picks.
fn find<T>(path: &Path, pick: impl Fn(&[u8]) -> Option<T>) -> io::Result<Option<T>> {
    let mut found = None;
    each_line(path, |line| {
        found = pick(line);
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    Ok(found)
}

/// Parses the number of a user or group. The largest one means no user to the kernel.
pub(crate) fn numeric(name: &str) -> Option<u32> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|number| is_number && *number != u32::MAX)
}

#[cfg(test)]
mod tests;
