//! Files without a name.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, openat, unlinkat};
use rustix::io::Errno;

use crate::random;

/// Makes an empty file without a name on the file system of a directory, for what is gone with the process. Only this
/// user can open it.
pub fn unnamed_file(directory: &Path) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    match openat(CWD, directory, flags | OFlags::TMPFILE, mode) {
        // Not every file system has such files.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {}
        opened => return Ok(File::from(opened?)),
    }
    let path = directory.join(format!(".ccm-unnamed-{:032x}", random()));
    let opened = openat(CWD, &path, flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW, mode)?;
    unlinkat(CWD, &path, AtFlags::empty())?;
    Ok(File::from(opened))
}
