//! Extended attributes: access control lists, labels, capabilities and what users attach.

use std::ffi::{CStr, CString};
use std::os::fd::AsFd;

use rustix::fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr, getxattr, setxattr};
use rustix::io::Errno;

/// Lost with every change of owner or content, so it is set last.
const CAPABILITY: &str = "security.capability";

/// What the kernel itself computes from the content; that of the old file would be wrong.
const OF_THE_KERNEL: [&str; 2] = ["security.ima", "security.evm"];

/// What a new file gets from its directory without being asked.
const INHERITED: &str = "system.posix_acl_access";

/// The extended attributes of a file.
#[derive(Debug, Default)]
pub(super) struct Extended {
    first: Vec<(CString, Vec<u8>)>,
    capability: Option<(CString, Vec<u8>)>,
}

/// An attribute that could not be set, and why.
pub(super) type Refused = (String, Errno);

impl Extended {
    /// Reads them.
    pub(super) fn of(file: impl AsFd) -> Result<Self, Refused> {
        let mut extended = Self::default();
        for name in names(&file)? {
            let text = name.to_string_lossy().into_owned();
            if OF_THE_KERNEL.contains(&&*text) {
                continue;
            }
            let value = match value(&file, &name) {
                Ok(value) => value,
                // It was taken away since it was listed.
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

    /// Gives them to a new file, all but what a change of content would take away again.
    pub(super) fn give(&self, file: impl AsFd) -> Result<(), Refused> {
        for (name, value) in &self.first {
            set(&file, name, value)?;
        }
        let inherited = CString::new(INHERITED).unwrap_or_default();
        if self.first.iter().any(|(name, _)| *name == inherited) {
            return Ok(());
        }
        match fremovexattr(&file, &*inherited) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => Ok(()),
            Err(error) => Err((INHERITED.to_owned(), error)),
        }
    }

    /// Gives the rest.
    pub(super) fn give_capability(&self, file: impl AsFd) -> Result<(), Refused> {
        self.capability.iter().try_for_each(|(name, value)| set(&file, name, value))
    }
}

/// Reads what capabilities the file at a path has, if it has any.
pub(super) fn capability(path: &str) -> Result<Option<Vec<u8>>, Refused> {
    match grown(|buffer| getxattr(path, CAPABILITY, buffer)) {
        Ok(value) => Ok(Some(value)),
        Err(Errno::NODATA | Errno::OPNOTSUPP | Errno::NOSYS) => Ok(None),
        Err(error) => Err((CAPABILITY.to_owned(), error)),
    }
}

/// Gives the file at a path these capabilities.
pub(super) fn give_capability(path: &str, value: &[u8]) -> Result<(), Refused> {
    setxattr(path, CAPABILITY, value, XattrFlags::empty()).map_err(|error| (CAPABILITY.to_owned(), error))
}

fn set(file: impl AsFd, name: &CStr, value: &[u8]) -> Result<(), Refused> {
    // What it inherited or was labelled with already need not be set, which only root might do.
    if self::value(&file, name).is_ok_and(|present| present == value) {
        return Ok(());
    }
    fsetxattr(file, name, value, XattrFlags::empty())
        .map_err(|error| (name.to_string_lossy().into_owned(), error))
}

fn names(file: impl AsFd) -> Result<Vec<CString>, Refused> {
    match grown(|buffer| flistxattr(&file, buffer)) {
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
    grown(|buffer| fgetxattr(&file, name, buffer))
}

/// Reads with a buffer that grows until everything fits.
fn grown(mut read: impl FnMut(&mut [u8]) -> Result<usize, Errno>) -> Result<Vec<u8>, Errno> {
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
