//! Making a directory.

use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, mkdirat, unlinkat};
use rustix::process::geteuid;

use super::walk::Place;
use super::write::{give, sync};
use super::{Attributes, FileError, Step};

/// What a new directory may be used for unless it is said otherwise.
const MODE: u32 = 0o755;

const SET_GROUP_ID: u32 = 0o2000;

/// Makes a directory, for its maker alone until it has its attributes.
pub(super) fn make(path: &Path, attributes: Attributes) -> Result<(), FileError> {
    let place = Place::find(path)?;
    mkdirat(&place.parent, &place.name, Mode::RWXU).map_err(FileError::at(path, Step::Create))?;
    let made = finish(&place, attributes);
    if made.is_err() {
        // It is empty and ours; what can't be removed again is told by the error that led here.
        let _ = unlinkat(&place.parent, &place.name, AtFlags::REMOVEDIR);
    }
    made?;
    sync(&place.open_parent()?, &place.parent_path()).map_err(FileError::after_change)
}

fn finish(place: &Place, attributes: Attributes) -> Result<(), FileError> {
    let path = &place.path;
    let entry = place.entry_now()?;
    if entry.kind() != FileType::Directory || entry.stat.st_uid != geteuid().as_raw() {
        return Err(FileError::Changed(path.clone()));
    }
    // A directory whose group goes on to what is in it hands that on to the directories made there.
    let inherited = entry.mode() & SET_GROUP_ID;
    let mode = Some(attributes.mode.unwrap_or(MODE | inherited));
    give(place.hold(&entry)?.as_fd(), path, Attributes { mode, ..attributes })
}
