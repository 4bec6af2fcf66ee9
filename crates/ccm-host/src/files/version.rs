//! Versions of files, from their metadata.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime};

use ccm_model::FileVersion;

/// Coarsest time stamp of a file system: two changes within this time may have the same stamp.
const MAX_GRANULARITY: Duration = Duration::from_secs(2);

/// Returns the version of a file. `None` if a change after `now` could leave the version the same.
pub(super) fn of(metadata: &Metadata, now: SystemTime) -> Option<FileVersion> {
    let version = FileVersion {
        device: metadata.dev(),
        inode: metadata.ino(),
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    };
    is_settled(version, now).then_some(version)
}

/// Returns `true` if the last change is so old that any later change has another time stamp.
fn is_settled(version: FileVersion, now: SystemTime) -> bool {
    let Ok(now) = now.duration_since(SystemTime::UNIX_EPOCH) else { return false };
    let Some(before) = now.checked_sub(MAX_GRANULARITY) else { return false };
    let last = version.modified.max(version.changed);
    u64::try_from(last.0).is_ok_and(|seconds| seconds < before.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_a_recent_change_does_not_count() {
        let version = |modified, changed| FileVersion {
            device: 1,
            inode: 2,
            size: 3,
            modified: (modified, 0),
            changed: (changed, 0),
        };
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        for (modified, changed, expected) in [
            (10, 10, true),
            (10, 97, true),
            (10, 98, false),
            (98, 10, false),
            (10, 100, false),
            // The clock was set back.
            (200, 200, false),
            (-1, -1, false),
        ] {
            let settled = is_settled(version(modified, changed), now);
            assert_eq!(settled, expected, "{modified} {changed}");
        }
    }
}
