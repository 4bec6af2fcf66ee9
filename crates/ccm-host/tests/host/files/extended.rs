//! Extended attributes of test files.

use std::path::Path;

use ccm_testkit::skipped;
use rustix::fs::{XattrFlags, getxattr, setxattr};

pub(crate) const ACL: &str = "system.posix_acl_access";

pub(crate) fn extended(path: &Path, name: &str) -> Option<Vec<u8>> {
    let mut buffer = [0; 256];
    let length = getxattr(path, name, &mut buffer[..]).ok()?;
    Some(buffer[..length].to_vec())
}

/// Sets an attribute. Returns `false`, and records a skip, if the file system has none.
pub(crate) fn set_extended(path: &Path, name: &str, value: &[u8]) -> bool {
    match setxattr(path, name, value, XattrFlags::empty()) {
        Ok(()) => true,
        Err(error) => {
            skipped(&format!("`{name}` can't be set here: {error}"));
            false
        }
    }
}

/// Returns an access control list for the owner, one more user who reads, the group, the mask and others.
pub(crate) fn acl(user: u32) -> Vec<u8> {
    acl_of([(1, 6, u32::MAX), (2, 4, user), (4, 4, u32::MAX), (0x10, 4, u32::MAX), (0x20, 0, u32::MAX)])
}

/// Returns an access control list with these entries: kind, rights, user or group.
pub(crate) fn acl_of<const N: usize>(entries: [(u16, u16, u32); N]) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(rights.to_le_bytes());
        bytes.extend(id.to_le_bytes());
    }
    bytes
}

/// Returns the capability `CAP_NET_BIND_SERVICE`, effective, in version 2 of the format.
pub(crate) fn capability() -> Vec<u8> {
    let mut bytes = 0x0200_0001_u32.to_le_bytes().to_vec();
    bytes.extend([1 << 10, 0, 0, 0].iter().flat_map(|word: &u32| word.to_le_bytes()));
    bytes
}
