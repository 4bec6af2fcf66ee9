//! Extended attributes: access control lists, labels, capabilities, attributes of users and inode flags.

use std::ffi::{CStr, CString};
use std::os::fd::AsFd;

use rustix::fs::{
    IFlags, XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr, ioctl_getflags, ioctl_setflags,
    removexattr,
};
use rustix::io::Errno;

use crate::access_list::ACCESS_LIST as ACL;

/// Attribute for capabilities. A change of owner or content removes it, so it is set last.
const CAPABILITY: &str = "security.capability";

/// Attributes that the kernel computes from the content. Those of the old file would be wrong.
const KERNEL_ATTRIBUTES: [&str; 2] = ["security.ima", "security.evm"];

/// Access control list that what is created in a directory inherits.
const DEFAULT_ACL: &str = "system.posix_acl_default";

/// Inode flags that `chattr` sets and that a new file keeps. Of the others, the filesystem sets some, and the
/// rest prevent ccm from replacing the file.
const KEPT_FLAGS: IFlags = IFlags::NOATIME
    .union(IFlags::NODUMP)
    .union(IFlags::SYNC)
    .union(IFlags::COMPRESSED)
    .union(IFlags::NOCOW)
    .union(IFlags::JOURNALING);

/// Extended attributes of a file.
#[derive(Debug)]
pub(super) struct ExtendedAttributes {
    first: Vec<(CString, Vec<u8>)>,
    capability: Option<(CString, Vec<u8>)>,
    flags: IFlags,
}

/// Name of an attribute that could not be set, and the error.
pub(super) type AttributeError = (String, Errno);

impl ExtendedAttributes {
    pub(super) fn of(file: impl AsFd) -> Result<Self, AttributeError> {
        // Many filesystems have no flags.
        let flags = ioctl_getflags(&file).unwrap_or(IFlags::empty()) & KEPT_FLAGS;
        let mut extended = Self { first: Vec::new(), capability: None, flags };
        for name in names(&file)? {
            let text = name.to_string_lossy().into_owned();
            if KERNEL_ATTRIBUTES.contains(&&*text) {
                continue;
            }
            let value = match value(&file, &name) {
                Ok(value) => value,
                // The attribute was removed after it was listed.
                Err(Errno::NODATA) => continue,
                Err(error) => return Err((text, error)),
            };
            if text == CAPABILITY {
                extended.capability = Some((name, value));
            } else {
                extended.first.push((name, value));
            }
        }
        Ok(extended)
    }

    /// Sets the attributes of a new file, except for capabilities, which a change of content would remove. The
    /// file must be empty, because some flags decide how its content is stored.
    pub(super) fn apply(&self, file: impl AsFd) -> Result<(), AttributeError> {
        if !self.flags.is_empty()
            && let Ok(inherited) = ioctl_getflags(&file)
        {
            // Flags are hints. Not every user may set each of them.
            let _ = ioctl_setflags(&file, inherited | self.flags);
        }
        for (name, value) in &self.first {
            set(&file, name, value)?;
        }
        if self.first.iter().any(|(name, _)| name.to_bytes() == ACL.as_bytes()) {
            return Ok(());
        }
        remove_acl(file)
    }

    /// Drops the access control list, so that a new file does not get it.
    pub(super) fn drop_acl(&mut self) {
        self.first.retain(|(name, _)| name.to_bytes() != ACL.as_bytes());
    }

    /// Drops the capabilities, so that a new file does not get them.
    pub(super) fn drop_capability(&mut self) {
        self.capability = None;
    }

    pub(super) fn apply_capability(&self, file: impl AsFd) -> Result<(), AttributeError> {
        self.capability.iter().try_for_each(|(name, value)| set(&file, name, value))
    }
}

pub(super) fn remove_acl(file: impl AsFd) -> Result<(), AttributeError> {
    unless_absent(ACL, fremovexattr(file, ACL))
}

/// Removes the access control lists of the file or directory at a path.
pub(super) fn remove_acls_at(path: &str) -> Result<(), AttributeError> {
    [ACL, DEFAULT_ACL].into_iter().try_for_each(|name| unless_absent(name, removexattr(path, name)))
}

fn unless_absent(name: &str, removed: Result<(), Errno>) -> Result<(), AttributeError> {
    match removed {
        Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
        Err(error) => Err((name.to_owned(), error)),
    }
}

pub(super) fn set(file: impl AsFd, name: &CStr, value: &[u8]) -> Result<(), AttributeError> {
    // An attribute that was inherited is not set again, because only root may set some of them.
    if self::value(&file, name).is_ok_and(|present| present == value) {
        return Ok(());
    }
    fsetxattr(file, name, value, XattrFlags::empty())
        .map_err(|error| (name.to_string_lossy().into_owned(), error))
}

fn names(file: impl AsFd) -> Result<Vec<CString>, AttributeError> {
    match read_growing(|buffer| flistxattr(&file, buffer)) {
        Ok(list) => {
            let names = list.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            Ok(names.filter_map(|name| CString::new(name).ok()).collect())
        }
        // The filesystem has none.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(Vec::new()),
        Err(error) => Err(("*".to_owned(), error)),
    }
}

fn value(file: impl AsFd, name: &CStr) -> Result<Vec<u8>, Errno> {
    read_growing(|buffer| fgetxattr(&file, name, buffer))
}

/// Reads with a buffer that grows until the value fits.
fn read_growing(mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
    let mut buffer = vec![0; 1024];
    loop {
        match read(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                return Ok(buffer);
            }
            Err(Errno::RANGE) if buffer.len() < 1 << 20 => buffer.resize(buffer.len() * 4, 0),
            Err(error) => return Err(error),
        }
    }
}
