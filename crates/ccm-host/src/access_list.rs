//! Users and groups who can write a file besides its owner, by its mode or its access control list.

use std::os::fd::{AsFd, AsRawFd as _};
use std::path::Path;

use rustix::buffer::spare_capacity;
use rustix::fs::getxattr;
use rustix::io::Errno;

use crate::writers::Writer;

/// Attribute with the access control list of a file.
pub(crate) const ACCESS_LIST: &str = "system.posix_acl_access";

const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_ALL: u32 = 0o002;

/// Version of the format in which the kernel shows a list.
const VERSION: u32 = 2;
/// Bit of an entry that lets write.
const WRITE: u16 = 2;
/// Kind of an entry for a user.
const USER: u16 = 2;
/// Kind of the entry for the group of the file.
const OWN_GROUP: u16 = 4;
/// Kind of an entry for another group.
const GROUP: u16 = 8;
/// Maximum size of a list in bytes, which is that of an attribute.
const MAX_LIST: usize = 64 << 10;

/// Returns who can write a file of this mode and group besides its owner.
///
/// With a list, the bits of the group are the limit of all its users and groups, so that a file without the bit to write
/// needs no further look.
pub(crate) fn writers(
    (mode, gid): (u32, u32),
    list: impl FnOnce() -> Result<Option<Vec<u8>>, Errno>,
) -> Result<Vec<Writer>, Errno> {
    if mode & WRITABLE_BY_ALL != 0 {
        return Ok(vec![Writer::Everybody]);
    }
    if mode & WRITABLE_BY_GROUP == 0 {
        return Ok(Vec::new());
    }
    Ok(list()?.map_or_else(|| vec![Writer::Group(gid)], |list| listed(&list, gid)))
}

/// Returns the users and groups that a list lets write.
fn listed(list: &[u8], own_group: u32) -> Vec<Writer> {
    let Some((VERSION, entries)) =
        list.split_first_chunk().map(|(version, entries)| (u32::from_le_bytes(*version), entries))
    else {
        // Nobody knows whom such a list lets write.
        return vec![Writer::Everybody];
    };
    let writer = |entry: &[u8; 8]| {
        let [tag, tag_high, rights, rights_high, id @ ..] = *entry;
        let id = u32::from_le_bytes(id);
        let can_write = u16::from_le_bytes([rights, rights_high]) & WRITE != 0;
        match u16::from_le_bytes([tag, tag_high]) {
            _ if !can_write => None,
            USER => Some(Writer::Listed(id)),
            OWN_GROUP => Some(Writer::Group(own_group)),
            GROUP => Some(Writer::Group(id)),
            _ => None,
        }
    };
    entries.as_chunks().0.iter().filter_map(writer).collect()
}

/// Reads the list of a file by its path, following a link; `None` if the file has none.
pub(crate) fn of_path(path: &Path) -> Result<Option<Vec<u8>>, Errno> {
    let mut list = Vec::with_capacity(256);
    loop {
        match getxattr(path, ACCESS_LIST, spare_capacity(&mut list)) {
            Ok(_) => return Ok(Some(list)),
            Err(Errno::NODATA | Errno::OPNOTSUPP) => return Ok(None),
            Err(Errno::RANGE) if list.capacity() < MAX_LIST => list.reserve(MAX_LIST),
            Err(error) => return Err(error),
        }
    }
}

/// Reads the list of an open file, which may be open only to name it.
pub(crate) fn of_open(file: impl AsFd) -> Result<Option<Vec<u8>>, Errno> {
    // The kernel reads no attribute through a descriptor that only names a file.
    of_path(Path::new(&format!("/proc/self/fd/{}", file.as_fd().as_raw_fd())))
}
