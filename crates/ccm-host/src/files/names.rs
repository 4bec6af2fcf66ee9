//! Names and numbers of users and groups.

use std::io;
use std::path::Path;

use super::{FileError, FileStep};
use crate::account::{AccountDatabases, numeric};

pub(super) fn user(databases: &AccountDatabases, name: &str) -> Result<Option<u32>, FileError> {
    number_of(name, databases.user(name).map(|user| user.map(|user| user.uid)))
}

pub(super) fn group(databases: &AccountDatabases, name: &str) -> Result<Option<u32>, FileError> {
    number_of(name, databases.group(name).map(|group| group.map(|group| group.gid)))
}

pub(super) fn user_name(databases: &AccountDatabases, uid: u32) -> Result<Option<String>, FileError> {
    databases.user_of(uid).map(|user| user.map(|user| user.name)).map_err(lookup_error(&uid.to_string()))
}

pub(super) fn group_name(databases: &AccountDatabases, gid: u32) -> Result<Option<String>, FileError> {
    databases.group_of(gid).map(|group| group.map(|group| group.name)).map_err(lookup_error(&gid.to_string()))
}

/// Returns owner and group by name, or by number where there is no name.
pub(super) fn owner_names(uid: u32, gid: u32) -> String {
    let databases = AccountDatabases::of_this_machine();
    let user = user_name(&databases, uid).ok().flatten().unwrap_or_else(|| uid.to_string());
    let group = group_name(&databases, gid).ok().flatten().unwrap_or_else(|| gid.to_string());
    format!("{user}:{group}")
}

/// Returns the number of a name. A name may consist of digits, so the name is looked up first.
fn number_of(name: &str, number: io::Result<Option<u32>>) -> Result<Option<u32>, FileError> {
    match (number, numeric(name)) {
        (Ok(None) | Err(_), Some(number)) => Ok(Some(number)),
        (found, _) => found.map_err(lookup_error(name)),
    }
}

fn lookup_error(name: &str) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError::step(Path::new(name), FileStep::Lookup, source)
}
