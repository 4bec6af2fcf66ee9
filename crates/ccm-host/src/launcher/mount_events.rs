//! Notice of changes to the mounts of this process.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

/// Mounts since the moment of [`MountEvents::begin`].
#[derive(Debug)]
pub(super) struct MountEvents(File);

impl MountEvents {
    pub(super) fn begin() -> io::Result<Self> {
        Ok(Self(File::open("/proc/self/mountinfo")?))
    }

    /// Returns `true` if something was mounted or unmounted since.
    pub(super) fn are_there(&self) -> bool {
        const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut changed = [PollFd::new(&self.0, PollFlags::PRI)];
        retry_on_intr(|| poll(&mut changed, Some(&AT_ONCE))).map_or(true, |changed| changed > 0)
    }

    /// Returns `true` if there is a mount below one of the directories.
    pub(super) fn is_mount_below(&mut self, directories: &[&Path]) -> io::Result<bool> {
        let mut mounts = String::new();
        self.0.read_to_string(&mut mounts)?;
        Ok(mounts.lines().any(|mount| is_below(mount, directories)))
    }
}

/// Returns `true` if a line of `mountinfo` is of a mount below one of the directories.
fn is_below(mount: &str, directories: &[&Path]) -> bool {
    const MOUNT_POINT: usize = 4;
    let Some(mount_point) = mount.split(' ').nth(MOUNT_POINT) else { return false };
    directories.iter().any(|directory| {
        Path::new(mount_point).strip_prefix(directory).is_ok_and(|below| below.components().next().is_some())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_below_directories_are_found() {
        let directories = [Path::new("/usr"), Path::new("/sys/devices/system/cpu")];
        for (mount, expected) in [
            ("25 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw", false),
            ("26 25 254:1 / /usr ro shared:2 - ext4 /dev/vdb ro", false),
            ("27 26 254:2 / /usr/local rw shared:3 - ext4 /dev/vdc rw", true),
            (r"28 26 254:2 / /usr/my\040files rw shared:3 - ext4 /dev/vdc rw", true),
            ("29 25 0:30 / /usrlocal rw - tmpfs tmpfs rw", false),
            ("30 25 0:31 / /sys rw - sysfs sysfs rw", false),
            ("", false),
        ] {
            assert_eq!(is_below(mount, &directories), expected, "{mount}");
        }
    }
}
