//! Names of users and groups.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::thread::LocalKey;

use nix::errno::Errno;
use nix::unistd::{Gid, Group, Uid, User};

use super::{FileError, Step};

pub(super) fn user(name: &str) -> Result<Option<u32>, FileError> {
    number_of(name, User::from_name(name).map(|user| user.map(|user| user.uid.as_raw())))
}

pub(super) fn group(name: &str) -> Result<Option<u32>, FileError> {
    number_of(name, Group::from_name(name).map(|group| group.map(|group| group.gid.as_raw())))
}

/// A name may consist of digits, so it is looked for first.
fn number_of(name: &str, found: Result<Option<u32>, Errno>) -> Result<Option<u32>, FileError> {
    let number = in_digits(name);
    match found {
        Ok(found) => Ok(found.or(number)),
        Err(_) if number.is_some() => Ok(number),
        // Some databases answer with these that there is no such name.
        Err(Errno::ENOENT | Errno::ESRCH | Errno::EBADF | Errno::EPERM) => Ok(None),
        Err(error) => Err(FileError::step(Path::new(name), Step::Lookup, error)),
    }
}

/// The largest number means "nobody in particular" to the calls that change owners.
fn in_digits(name: &str) -> Option<u32> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|number| is_number && *number != u32::MAX)
}

pub(super) fn user_name(uid: u32) -> Rc<str> {
    let name = || User::from_uid(Uid::from_raw(uid)).ok().flatten().map(|user| user.name);
    remembered(&USERS, uid, name).unwrap_or_else(|| uid.to_string().into())
}

pub(super) fn group_name(gid: u32) -> Rc<str> {
    let name = || Group::from_gid(Gid::from_raw(gid)).ok().flatten().map(|group| group.name);
    remembered(&GROUPS, gid, name).unwrap_or_else(|| gid.to_string().into())
}

/// They are few, and a small tree is searched faster than a number is hashed.
type Names = RefCell<BTreeMap<u32, Rc<str>>>;

thread_local! {
    static USERS: Names = const { RefCell::new(BTreeMap::new()) };
    static GROUPS: Names = const { RefCell::new(BTreeMap::new()) };
}

/// Asks for a name once: it is only shown, and to ask for each file would cost more than to read the file. What
/// has no name yet is asked for again, because an earlier resource may have made it.
fn remembered(
    names: &'static LocalKey<Names>,
    number: u32,
    ask: impl FnOnce() -> Option<String>,
) -> Option<Rc<str>> {
    names.with_borrow_mut(|names| {
        if let Some(name) = names.get(&number) {
            return Some(Rc::clone(name));
        }
        let name: Rc<str> = ask()?.into();
        names.insert(number, Rc::clone(&name));
        Some(name)
    })
}
