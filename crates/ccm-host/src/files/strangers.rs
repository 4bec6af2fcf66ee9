//! Directories in which strangers could have put what lies at a path.

use rustix::fs::{AtFlags, CWD, Stat, statat};
use rustix::process::geteuid;

use super::resolve::ResolvedPath;
use super::{FileError, FileStep};
use crate::access_list;
use crate::account::AccountDatabases;
use crate::trusted::{HIDDEN_OWNER, shows_all_owners};
use crate::writers::Writer;

/// Returns an error for a directory above the parent, or above a link on the way, that belongs to a stranger, who could
/// have moved another directory to the path. The owner of the file and that of its directory are no strangers here.
pub(super) fn check_above(resolved: &ResolvedPath) -> Result<(), FileError> {
    let Some(entry) = &resolved.entry else { return Ok(()) };
    let trusted = [0, geteuid().as_raw(), entry.stat.st_uid, resolved.directory_owner()?];
    for directory in resolved.directories_above() {
        let found = statat(CWD, directory, AtFlags::SYMLINK_NOFOLLOW);
        let owner = found.map_err(FileError::at(&resolved.path, FileStep::Inspect))?.st_uid;
        // A process can't tell root from others among the owners that its user namespace hides.
        if !trusted.contains(&owner) && (owner != HIDDEN_OWNER || shows_all_owners()) {
            return Err(FileError::StrangersDirectory {
                path: resolved.path.clone(),
                directory: directory.to_owned(),
                owner,
            });
        }
    }
    Ok(())
}

/// Returns an error for a file with several names in a directory where strangers make entries: one of them could have
/// made this name for a file that lies elsewhere. The sticky bit keeps nobody from that.
pub(super) fn check_names(resolved: &ResolvedPath, file: &Stat) -> Result<(), FileError> {
    let directory = resolved.parent_stat()?;
    let trusted = [0, geteuid().as_raw()];
    let list = || access_list::of_open(&resolved.parent);
    let writers = access_list::writers((directory.st_mode, directory.st_gid), list)
        .map_err(FileError::at(&resolved.path, FileStep::Inspect))?;
    let is_stranger = |writer: &Writer| match writer {
        Writer::Everybody => true,
        Writer::Owner(uid) | Writer::Listed(uid) => !trusted.contains(uid),
        Writer::Group(gid) => {
            *gid != 0 && AccountDatabases::of_this_machine().has_other_member(*gid, &trusted)
        }
    };
    match writers.into_iter().find(is_stranger) {
        // The type of the number differs between machines.
        Some(writer) => Err(FileError::SeveralNames {
            path: resolved.path.clone(),
            names: file.st_nlink.to_string(),
            writer,
        }),
        None => Ok(()),
    }
}
