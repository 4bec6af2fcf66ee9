//! Rights of a user on the directory with the keys: ccm reads and writes keys with these rights.

use std::io;
use std::path::Path;

use ccm_host::{Account, ClosedDirectory, FileError, Files};
use ccm_model::{Failure, MissingPrerequisite};

use super::key_file::file;
use crate::support::file_failure::file_failure;

/// Returns the failure of writing keys of a user who lacks the rights.
pub(crate) fn check_rights(account: &Account, files: &dyn Files) -> Result<(), Failure> {
    closed_directory(account, files).map_or(Ok(()), |closed| Err(closed_failure(&closed, account, files)))
}

/// Returns the failure of reading or writing keys, with the directory that the user may not use.
pub(crate) fn without_rights(error: &FileError, account: &Account, files: &dyn Files) -> Failure {
    let is_denied =
        matches!(error, FileError::Step { source, .. } if source.kind() == io::ErrorKind::PermissionDenied);
    match closed_directory(account, files).filter(|_| is_denied) {
        Some(closed) => closed_failure(&closed, account, files),
        None => file_failure(error),
    }
}

/// Finds the directory that keeps a user from writing keys. The directory of keys is made in the home directory.
fn closed_directory(account: &Account, files: &dyn Files) -> Option<ClosedDirectory> {
    let path = file(account).path();
    let keys = path.parent().filter(|keys| files.is_directory(keys).unwrap_or(false));
    files.closed_directory(&account.identity, keys.unwrap_or(&account.home), true)
}

fn closed_failure(closed: &ClosedDirectory, account: &Account, files: &dyn Files) -> Failure {
    let Account { name, home, .. } = account;
    let directory = closed.path.display();
    let path = file(account).path();
    let hint = match path.parent() {
        Some(keys) if keys == closed.path => {
            format!("run `chown {name}: {directory}` and `chmod 700 {directory}`")
        }
        Some(keys) if *home == closed.path => {
            let made = format!("make \"{}\" with a `file` resource and `owner: {name}`", keys.display());
            // Other homes, such as \"/\" and \"/var/www\", are not those of one user alone.
            let is_own = home.file_name() == Some(name.as_ref()) && home.parent() != Some(Path::new("/"));
            if is_own { format!("run `chown {name}: {directory}`, or {made}") } else { made }
        }
        _ => format!("use a `home` that `{name}` may enter"),
    };
    let owner = files.user_name(closed.owner).ok().flatten().unwrap_or_else(|| closed.owner.to_string());
    let message = if closed.owner == account.identity.uid {
        format!("`{name}` may not write in \"{directory}\", and ccm writes keys with the rights of `{name}`")
    } else {
        format!("\"{directory}\" belongs to `{owner}`, and ccm writes keys with the rights of `{name}`")
    };
    let missing = MissingPrerequisite::Path(closed.path.clone());
    Failure::conflict(message).with_missing(missing).with_hint(hint)
}
