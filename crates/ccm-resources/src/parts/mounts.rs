//! File systems that are mounted, read once until something is executed.

use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use ccm_engine::Context;
use ccm_host::{read_at_most, unescape};
use ccm_model::{Failure, FailureKind};

const MOUNTS: &str = "/proc/self/mountinfo";
/// Maximum size of the table.
const MAX_TABLE: u64 = 64 << 20;
/// It stands before what the file system says of itself.
const SEPARATOR: &str = " - ";

/// File systems in the order in which they were mounted. A line is taken apart when its file system is asked for: a
/// machine may have thousands.
#[derive(Debug, Default)]
pub(crate) struct MountTable {
    text: String,
    /// By the directory that they are mounted on.
    on: HashMap<String, MountLayers>,
}

/// File systems on one directory.
#[derive(Clone, Debug, Default)]
struct MountLayers {
    /// Line of the one that is mounted over the others.
    last: Range<usize>,
    count: usize,
}

/// File system that is mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MountedFilesystem {
    pub mount_point: String,
    /// Number of the device in the kernel, as `8:1`.
    pub number: String,
    pub fstype: String,
    /// Device, or whatever the file system has in its place.
    pub source: String,
    /// Options of the mount, with commas between.
    pub options: String,
    /// Options of the file system, with commas between.
    pub super_options: String,
}

impl MountTable {
    /// Returns the table, which is read again after a command was executed.
    pub(crate) async fn of(context: &Context<'_>) -> Result<Rc<Self>, Failure> {
        context.state_cache(async || Self::read()).await
    }

    /// Reads the table of this process.
    pub(crate) fn read() -> Result<Self, Failure> {
        match read_at_most(Some(Path::new(MOUNTS)), MAX_TABLE) {
            // No manifest names a directory whose name is not text.
            Ok(bytes) => Ok(Self::new(String::from_utf8_lossy(&bytes).into_owned())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(Failure::from_error(FailureKind::Read, &error)
                .because_of(format!("the mounted file systems can't be read from {MOUNTS}"))),
        }
    }

    fn new(text: String) -> Self {
        let mut on: HashMap<String, MountLayers> = HashMap::new();
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let last = start..start + line.len();
            start = last.end;
            if let Some(mount_point) = mount_point(line).filter(|_| line.contains(SEPARATOR)) {
                let layers = on.entry(mount_point).or_default();
                *layers = MountLayers { last, count: layers.count + 1 };
            }
        }
        Self { text, on }
    }

    fn last(&self, layers: &MountLayers) -> Option<MountedFilesystem> {
        MountedFilesystem::parse(self.text[layers.last.clone()].trim_end_matches('\n'))
    }

    /// Returns the file system that is mounted on a directory, the last one if there are several.
    pub(crate) fn on(&self, mount_point: &str) -> Option<MountedFilesystem> {
        self.last(self.on.get(mount_point)?)
    }

    /// Returns the number of file systems that are mounted on a directory, one over the other.
    pub(crate) fn layers(&self, mount_point: &str) -> usize {
        self.on.get(mount_point).map_or(0, |layers| layers.count)
    }

    /// Returns the file system that a path is in.
    pub(crate) fn containing(&self, path: &str) -> Option<MountedFilesystem> {
        Path::new(path).ancestors().find_map(|directory| self.on(directory.to_str()?))
    }
}

impl MountedFilesystem {
    fn parse(line: &str) -> Option<Self> {
        let (mount, filesystem) = line.split_once(SEPARATOR)?;
        let mut mount = mount.split(' ').skip(2);
        let number = mount.next()?.to_owned();
        let mut mount = mount.skip(1);
        let mut filesystem = filesystem.split(' ');
        let text = |field: Option<&str>| field.map(unescaped);
        Some(Self {
            mount_point: text(mount.next())?,
            number,
            options: text(mount.next())?,
            fstype: text(filesystem.next())?,
            source: text(filesystem.next())?,
            super_options: text(filesystem.next()).unwrap_or_default(),
        })
    }

    /// Returns `true` if nothing can be written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.options.split(',').chain(self.super_options.split(',')).any(|option| option == "ro")
    }
}

/// Returns the directory that the file system of a line is mounted on.
fn mount_point(line: &str) -> Option<String> {
    line.split(' ').nth(4).map(unescaped)
}

/// Decodes a field of the table.
fn unescaped(field: &str) -> String {
    if field.contains('\\') {
        String::from_utf8_lossy(&unescape(field.as_bytes())).into_owned()
    } else {
        field.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n\
        22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        23 22 0:21 /sys /proc/sys ro,relatime - proc proc rw\n\
        68 27 0:40 / /mnt/a\\040b rw,nosuid,relatime - tmpfs tmpfs rw,size=32768k\n\
        69 27 0:41 / /mnt/a\\040b rw - tmpfs other rw\n\
        half a line\n";

    #[test]
    fn last_filesystem_on_a_directory_counts() {
        let table = MountTable::new(TABLE.to_owned());
        assert_eq!(table.on("/mnt/a b").map(|mounted| mounted.source).as_deref(), Some("other"));
        assert_eq!(table.layers("/mnt/a b"), 2);
        assert_eq!(table.on("/mnt"), None);
        let root = table.on("/").expect("the root");
        assert_eq!((&*root.source, &*root.fstype, &*root.options), ("/dev/vda", "ext4", "rw,relatime"));
    }

    #[test]
    fn paths_are_in_the_nearest_filesystem() {
        let table = MountTable::new(TABLE.to_owned());
        let is_read_only = |path: &str| table.containing(path).is_some_and(|mounted| mounted.is_read_only());
        assert!(is_read_only("/proc/sys/net") && !is_read_only("/proc/1") && !is_read_only("/procs"));
    }
}
