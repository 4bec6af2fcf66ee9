//! Accounts of this machine, and the numbers that the kernel has for them.

mod accounts;
mod databases;
mod entries;
mod name_services;

use std::io;
use std::path::PathBuf;

use nix::unistd::{Gid, Uid, getegid, geteuid, setfsgid, setfsuid};
use rustix::process::getgroups;
use serde::{Deserialize, Serialize};

pub use accounts::Accounts;
pub(crate) use databases::{AccountDatabases, numeric};
pub use entries::UserEntry;

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
        let groups = own_groups()?;
        Ok(Self { uid: geteuid().as_raw(), gid: getegid().as_raw(), groups })
    }
}

/// Returns the supplementary groups of this process.
fn own_groups() -> io::Result<Vec<u32>> {
    Ok(getgroups()?.into_iter().map(rustix::process::Gid::as_raw).collect())
}

/// Returns the number of a user of this machine; `None` if there is none of this name.
pub fn uid_of(name: &str) -> Option<u32> {
    AccountDatabases::of_this_machine().user(name).ok().flatten().map(|user| user.uid)
}

/// Returns the number of a group of this machine; `None` if there is none of this name.
pub fn gid_of(name: &str) -> Option<u32> {
    AccountDatabases::of_this_machine().gid(name).ok().filter(|_| numeric(name).is_none())
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

/// Runs a function in a thread of its own that takes on another user for file access only: with the full
/// identity, that user could send signals to this process meanwhile.
pub(crate) fn seeing_as<T: Send>(identity: &Identity, run: impl FnOnce() -> T + Send) -> io::Result<T> {
    let run_as = || {
        take_on(identity)?;
        Ok(run())
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, run_as)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Runs a function that looks at files as another user does, on this thread: what the user may not see is not seen. Only
/// the identity for file access is another one, so that the user can send no signals to this process meanwhile. A
/// process that is not root, which has one identity, runs the function as it is.
pub fn viewing_as<T>(identity: &Identity, run: impl FnOnce() -> T) -> io::Result<T> {
    if !geteuid().is_root() || identity.uid == 0 {
        return Ok(run());
    }
    let own = own_groups()?;
    let _view = View::take(identity, own)?;
    Ok(run())
}

/// Identity for file access of this thread, until it is dropped.
struct View {
    own: Vec<u32>,
}

impl View {
    fn take(identity: &Identity, own: Vec<u32>) -> io::Result<Self> {
        let view = Self { own };
        take_on(identity)?;
        Ok(view)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        setfsuid(geteuid());
        setfsgid(getegid());
        // The effective identity is still that of root, which may set its groups.
        let _set = set_groups(&self.own);
    }
}

/// Takes on an identity for the file access of this thread.
fn take_on(identity: &Identity) -> io::Result<()> {
    set_groups(&identity.groups)?;
    let (gid, uid) = (Gid::from_raw(identity.gid), Uid::from_raw(identity.uid));
    setfsgid(gid);
    setfsuid(uid);
    // The calls return the number from before, so that a second call shows whether the first one worked.
    if (setfsgid(gid), setfsuid(uid)) == (gid, uid) {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

fn set_groups(groups: &[u32]) -> io::Result<()> {
    let groups: Vec<_> = groups.iter().map(|gid| rustix::fs::Gid::from_raw(*gid)).collect();
    Ok(rustix::thread::set_thread_groups(&groups)?)
}
