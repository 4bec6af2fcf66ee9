//! Accounts of this machine, and the numbers that the kernel has for them.

use std::ffi::CString;
use std::io;
use std::path::PathBuf;

use nix::errno::Errno;
use nix::unistd::{Gid, Group, Uid, User, getegid, geteuid, getgrouplist, getgroups, setfsgid, setfsuid};
use serde::{Deserialize, Serialize};

/// User and groups of a process, as numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Identity {
    /// User.
    pub uid: u32,
    /// Primary group.
    pub gid: u32,
    /// Supplementary groups: these and no other.
    pub groups: Vec<u32>,
}

impl Identity {
    /// Returns the user and groups of this process.
    pub fn own() -> io::Result<Self> {
        let groups = getgroups()?.into_iter().map(Gid::as_raw).collect();
        Ok(Self { uid: geteuid().as_raw(), gid: getegid().as_raw(), groups })
    }
}

/// Account of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Name; the number for a user without an entry.
    pub name: String,
    /// Home directory.
    pub home: PathBuf,
    /// Login shell.
    pub shell: PathBuf,
    /// Numbers of the user, with all of its groups.
    pub identity: Identity,
}

/// Error of looking up an account or a group.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// There is no such user.
    #[error("user \"{name}\" does not exist")]
    NoUser {
        /// Name that was looked up.
        name: String,
    },
    /// The number has no entry, so that its groups and its home are not known.
    #[error("uid {number} has no entry in the user database, so its groups are not known")]
    NoEntry {
        /// Number that was looked up.
        number: u32,
    },
    /// There is no such group.
    #[error("group \"{name}\" does not exist")]
    NoGroup {
        /// Name that was looked up.
        name: String,
    },
    /// The database of users and groups can't be read.
    #[error("the lookup of \"{name}\" in the databases of users and groups failed")]
    Lookup {
        /// Name that was looked up.
        name: String,
        /// Error of the system.
        source: io::Error,
    },
}

/// Looks a user up by its name, or by its number if that is the number of an account.
pub(crate) fn account(name: &str) -> Result<Account, AccountError> {
    let by_number = |number| none_if_unknown(name, User::from_uid(Uid::from_raw(number)));
    let user = match none_if_unknown(name, User::from_name(name))? {
        Some(user) => Some(user),
        None => numeric(name).map(by_number).transpose()?.flatten(),
    };
    let user = user.ok_or_else(|| match numeric(name) {
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
    let group = none_if_unknown(name, Group::from_name(name))?.map(|group| group.gid.as_raw());
    group.or_else(|| numeric(name)).ok_or_else(|| AccountError::NoGroup { name: name.to_owned() })
}

fn none_if_unknown<T>(name: &str, answer: Result<Option<T>, Errno>) -> Result<Option<T>, AccountError> {
    match answer {
        Ok(found) => Ok(found),
        // Some databases return these for an unknown name.
        Err(Errno::ENOENT | Errno::ESRCH | Errno::EBADF | Errno::EPERM) => Ok(None),
        Err(error) => Err(AccountError::Lookup { name: name.to_owned(), source: error.into() }),
    }
}

/// Parses the number of a user or group. The largest one means no user to the kernel.
fn numeric(name: &str) -> Option<u32> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|number| is_number && *number != u32::MAX)
}

/// Runs a function in a thread of its own that takes on another user for file access only: with the full
/// identity, that user could send signals to this process meanwhile.
pub(crate) fn seeing_as<T: Send>(identity: &Identity, run: impl FnOnce() -> T + Send) -> io::Result<T> {
    let run_as = || {
        let groups: Vec<_> = identity.groups.iter().map(|gid| rustix::fs::Gid::from_raw(*gid)).collect();
        rustix::thread::set_thread_groups(&groups)?;
        // The calls return the number from before, so that a second call shows whether the first one worked.
        setfsgid(Gid::from_raw(identity.gid));
        setfsuid(Uid::from_raw(identity.uid));
        let taken = (setfsgid(Gid::from_raw(identity.gid)), setfsuid(Uid::from_raw(identity.uid)));
        if (taken.0.as_raw(), taken.1.as_raw()) != (identity.gid, identity.uid) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        Ok(run())
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, run_as)?;
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
    fn error_names_the_unknown_account() {
        for (error, expected) in [
            (account("no-such-user").expect_err("nobody"), "user \"no-such-user\" does not exist"),
            (
                account("54321").expect_err("nobody"),
                "uid 54321 has no entry in the user database, so its groups are not known",
            ),
            (account("").expect_err("nobody"), "user \"\" does not exist"),
            (group("no-such-group").expect_err("no group"), "group \"no-such-group\" does not exist"),
            (group("4294967295").expect_err("no group"), "group \"4294967295\" does not exist"),
        ] {
            assert_eq!(error.to_string(), expected);
        }
    }
}
