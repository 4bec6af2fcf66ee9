//! Who a command runs as: accounts of this machine, and the numbers that the kernel goes by.

use std::ffi::CString;
use std::io;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::unistd::{Gid, Group, Uid, User, getegid, geteuid, getgrouplist, getgroups, setfsgid, setfsuid};
use serde::{Deserialize, Serialize};

/// The numbers that a process runs under.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// The user.
    pub uid: u32,
    /// The primary group.
    pub gid: u32,
    /// The supplementary groups: these and no other.
    pub groups: Vec<u32>,
}

impl Identity {
    /// The one that this process has.
    pub fn own() -> io::Result<Self> {
        let groups = getgroups()?.into_iter().map(Gid::as_raw).collect();
        Ok(Self { uid: geteuid().as_raw(), gid: getegid().as_raw(), groups })
    }
}

/// An account of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name; of a number without an entry, the number.
    pub name: String,
    /// Its home directory.
    pub home: PathBuf,
    /// Its shell.
    pub shell: PathBuf,
    /// Its numbers, with every group that it belongs to.
    pub identity: Identity,
}

/// Says why an account or a group is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// There is no such user.
    #[error("user \"{name}\" does not exist")]
    NoUser {
        /// As it was asked for.
        name: String,
    },
    /// There is no entry for the number, and so no groups and no home.
    #[error("user {number} has no entry among the users, which would tell its groups")]
    NoEntry {
        /// As it was asked for.
        number: u32,
    },
    /// There is no such group.
    #[error("group \"{name}\" does not exist")]
    NoGroup {
        /// As it was asked for.
        name: String,
    },
    /// The database of users and groups can't be asked.
    #[error("\"{name}\" can't be looked up among users and groups")]
    Lookup {
        /// As it was asked for.
        name: String,
        /// Why not.
        source: io::Error,
    },
}

/// Looks a user up by its name, or by its number if that is the number of an account.
pub(crate) fn account(name: &str) -> Result<Account, AccountError> {
    let by_number = |number| found(name, User::from_uid(Uid::from_raw(number)));
    let user = match found(name, User::from_name(name))? {
        Some(user) => Some(user),
        None => in_digits(name).map(by_number).transpose()?.flatten(),
    };
    let user = user.ok_or_else(|| match in_digits(name) {
        Some(number) => AccountError::NoEntry { number },
        None => AccountError::NoUser { name: name.to_owned() },
    })?;
    let lookup = |source| AccountError::Lookup { name: name.to_owned(), source };
    let c_name = CString::new(user.name.as_str()).map_err(|error| lookup(error.into()))?;
    let groups = getgrouplist(&c_name, user.gid).map_err(|error| lookup(error.into()))?;
    let groups = groups.into_iter().map(Gid::as_raw).collect();
    Ok(Account {
        name: user.name,
        home: user.dir,
        shell: user.shell,
        identity: Identity { uid: user.uid.as_raw(), gid: user.gid.as_raw(), groups },
    })
}

/// Looks a group up by its name or its number.
pub(crate) fn group(name: &str) -> Result<u32, AccountError> {
    let group = found(name, Group::from_name(name))?.map(|group| group.gid.as_raw());
    group.or_else(|| in_digits(name)).ok_or_else(|| AccountError::NoGroup { name: name.to_owned() })
}

fn found<T>(name: &str, answer: Result<Option<T>, Errno>) -> Result<Option<T>, AccountError> {
    match answer {
        Ok(found) => Ok(found),
        // Some databases answer with these that there is no such name.
        Err(Errno::ENOENT | Errno::ESRCH | Errno::EBADF | Errno::EPERM) => Ok(None),
        Err(error) => Err(AccountError::Lookup { name: name.to_owned(), source: error.into() }),
    }
}

/// The largest number means "nobody in particular" to the kernel.
fn in_digits(name: &str) -> Option<u32> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|number| is_number && *number != u32::MAX)
}

/// Looks at files with the eyes of somebody else.
///
/// It happens in a thread of its own, and only what the file system asks for changes there: with the user's
/// own number, the user could send signals to this process meanwhile.
pub(crate) fn with_eyes_of<T: Send>(identity: &Identity, look: impl FnOnce() -> T + Send) -> io::Result<T> {
    let looking = || {
        let groups: Vec<_> = identity.groups.iter().map(|gid| rustix::fs::Gid::from_raw(*gid)).collect();
        rustix::thread::set_thread_groups(&groups)?;
        // The calls answer with the number before; asked again, they tell whether it was taken on.
        setfsgid(Gid::from_raw(identity.gid));
        setfsuid(Uid::from_raw(identity.uid));
        let taken = (setfsgid(Gid::from_raw(identity.gid)), setfsuid(Uid::from_raw(identity.uid)));
        if (taken.0.as_raw(), taken.1.as_raw()) != (identity.gid, identity.uid) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(look())
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, looking)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_has_its_home_shell_and_groups() {
        let root = account("root").expect("root");
        assert_eq!((root.name.as_str(), root.identity.uid, root.identity.gid), ("root", 0, 0));
        assert!(root.identity.groups.contains(&0), "{root:?}");
        assert_eq!(account("0").expect("root"), root);
        assert_eq!(group("0").expect("a number"), 0);
    }

    #[test]
    fn what_is_not_there_is_named() {
        for (error, expected) in [
            (account("no-such-user").expect_err("nobody"), "user \"no-such-user\" does not exist"),
            (
                account("54321").expect_err("nobody"),
                "user 54321 has no entry among the users, which would tell its groups",
            ),
            (account("").expect_err("nobody"), "user \"\" does not exist"),
            (group("no-such-group").expect_err("no group"), "group \"no-such-group\" does not exist"),
            (group("4294967295").expect_err("no group"), "group \"4294967295\" does not exist"),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }
}
