//! Names and numbers of users and groups, read from the system's databases on every call.

use std::path::Path;

use nix::errno::Errno;
use nix::unistd::{Gid, Group, Uid, User};

use super::{FileError, FileStep};

pub(super) fn user(name: &str) -> Result<Option<u32>, FileError> {
    number_of(name, User::from_name(name).map(|user| user.map(|user| user.uid.as_raw())))
}

pub(super) fn group(name: &str) -> Result<Option<u32>, FileError> {
    number_of(name, Group::from_name(name).map(|group| group.map(|group| group.gid.as_raw())))
}

pub(super) fn user_name(uid: u32) -> Result<Option<String>, FileError> {
    none_if_unknown(
        &uid.to_string(),
        User::from_uid(Uid::from_raw(uid)).map(|user| user.map(|user| user.name)),
    )
}

pub(super) fn group_name(gid: u32) -> Result<Option<String>, FileError> {
    none_if_unknown(
        &gid.to_string(),
        Group::from_gid(Gid::from_raw(gid)).map(|group| group.map(|group| group.name)),
    )
}

/// Returns owner and group by name, or by number where there is no name.
pub(super) fn owner_names(uid: u32, gid: u32) -> String {
    let user = user_name(uid).ok().flatten().unwrap_or_else(|| uid.to_string());
    let group = group_name(gid).ok().flatten().unwrap_or_else(|| gid.to_string());
    format!("{user}:{group}")
}

/// Returns the number of a name. A name may consist of digits, so the name is looked up first.
fn number_of(name: &str, number: Result<Option<u32>, Errno>) -> Result<Option<u32>, FileError> {
    match (none_if_unknown(name, number), parse_id(name)) {
        (Ok(None) | Err(_), Some(number)) => Ok(Some(number)),
        (found, _) => found,
    }
}

fn none_if_unknown<T>(what: &str, result: Result<Option<T>, Errno>) -> Result<Option<T>, FileError> {
    match result {
        Ok(found) => Ok(found),
        // Some databases return these for an unknown name.
        Err(Errno::ENOENT | Errno::ESRCH | Errno::EBADF | Errno::EPERM) => Ok(None),
        Err(error) => Err(FileError::step(Path::new(what), FileStep::Lookup, error)),
    }
}

/// Parses the number of a user or group. The largest number means "unchanged" to `chown`.
fn parse_id(name: &str) -> Option<u32> {
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    name.parse().ok().filter(|number| is_number && *number != u32::MAX)
}
