//! Mounts of local file systems and their space. File systems on devices of this machine and ZFS are listed;
//! those of the kernel (`proc`, `tmpfs`, `overlay` and others) and of a network (`nfs`, `cifs`, `9p`, `ceph`
//! and others) are not.
//!
//! Querying the space of a file system resolves its path, which blocks if a server on the way does not
//! respond. So mounts are listed but not queried if a process (`fuseblk`) serves them, if other machines
//! share them (`gfs2`, `ocfs2`), or if they are below one of these, a network file system or an automount
//! point (`autofs`).

use std::path::Path;

use serde_json::{Value, json};

use crate::Warning;
use crate::reader::{FactReader, unescape};
use crate::share::percent;

const MOUNTS: &str = "/proc/self/mountinfo";
const KINDS: &str = "/proc/filesystems";

/// File systems on devices that depend on a process or on other machines.
const SHARED: [&str; 5] = ["fuseblk", "gfs", "gfs2", "ocfs2", "lustre"];

/// File systems without devices that depend only on the kernel.
const KERNEL: [&str; 23] = [
    "aufs",
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "overlay",
    "proc",
    "pstore",
    "ramfs",
    "rootfs",
    "securityfs",
    "selinuxfs",
    "sysfs",
    "tmpfs",
    "tracefs",
];

/// Mounts, read once.
#[derive(Debug, Default)]
pub(crate) struct Mounts(Option<Vec<Mount>>);

#[derive(Clone, Debug)]
struct Mount {
    id: String,
    parent: String,
    device: String,
    point: String,
    kind: String,
    options: Vec<String>,
    /// `true` if the file system is on a device of this machine.
    local: bool,
}

impl Mounts {
    fn read(&mut self, reader: &mut FactReader<'_>) -> &[Mount] {
        self.0.get_or_insert_with(|| {
            let Some(text) = reader.text(MOUNTS) else { return Vec::new() };
            let kinds = reader.text(KINDS).unwrap_or_default();
            let kinds: Vec<&str> = kinds.lines().filter_map(kind_on_devices).collect();
            let mounts: Vec<Mount> = text.lines().filter_map(|line| parse(reader, line, &kinds)).collect();
            if mounts.is_empty() {
                reader.unexpected(MOUNTS, "mount");
            }
            mounts
        })
    }
}

pub(crate) fn list(reader: &mut FactReader<'_>, mounts: &mut Mounts) -> Value {
    let show = |mount: &Mount| {
        json!({
            "device": mount.device,
            "mountpoint": mount.point,
            "fstype": mount.kind,
            "opts": mount.options,
        })
    };
    mounts.read(reader).iter().filter(|mount| mount.local).map(show).collect()
}

pub(crate) fn usage(reader: &mut FactReader<'_>, mounts: &mut Mounts) -> Value {
    let mounts = mounts.read(reader);
    let slow: Vec<&Mount> = mounts.iter().filter(|mount| may_hang(mount)).collect();
    let quick = |mount: &&Mount| mount.local && !slow.iter().any(|slow| passes_through(mount, slow));
    mounts.iter().filter(quick).filter_map(|mount| space_of(reader, mount)).collect()
}

/// Returns `true` if the path of a mount leads into another mount. A mount directly on top hides the other.
fn passes_through(mount: &Mount, slow: &Mount) -> bool {
    let on_top = mount.point == slow.point && mount.parent == slow.id;
    // Paths are compared by components: `/data` does not contain `/database`.
    Path::new(&mount.point).starts_with(&slow.point) && !on_top
}

fn may_hang(mount: &Mount) -> bool {
    let kind = mount.kind.as_str();
    SHARED.contains(&kind) || !(mount.local || KERNEL.contains(&kind))
}

fn space_of(reader: &mut FactReader<'_>, mount: &Mount) -> Option<Value> {
    let space = match reader.machine.space(Path::new(&mount.point)) {
        Ok(space) => space,
        // Another mount hides this one.
        Err(source) if source.kind() == std::io::ErrorKind::NotFound => return None,
        Err(source) => {
            reader.warnings.push(Warning::NoSpace { path: (&mount.point).into(), source });
            return None;
        }
    };
    let used = space.total.saturating_sub(space.free);
    let inodes_used = space.inodes.saturating_sub(space.inodes_free);
    Some(json!({
        "path": mount.point,
        "fstype": mount.kind,
        "total": space.total,
        "free": space.available,
        "used": used,
        // The reserve for root counts as neither used nor free.
        "usedPercent": percent(used, used.saturating_add(space.available)),
        "inodesTotal": space.inodes,
        "inodesUsed": inodes_used,
        "inodesFree": space.inodes_free,
        "inodesUsedPercent": percent(inodes_used, space.inodes),
    }))
}

/// Returns the type of a file system on devices from a line of `/proc/filesystems`, where ZFS is `nodev`.
fn kind_on_devices(line: &str) -> Option<&str> {
    match line.split_once('\t') {
        Some(("", kind)) => Some(kind.trim()),
        Some(("nodev", "zfs")) => Some("zfs"),
        _ => None,
    }
}

/// Parses a line of `/proc/self/mountinfo`: `36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/sda1 rw`.
fn parse(reader: &FactReader<'_>, line: &str, kinds: &[&str]) -> Option<Mount> {
    let (mount, system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ');
    let (id, parent) = (mount.next()?.to_owned(), mount.next()?.to_owned());
    let (number, root, point, options) = (mount.next()?, mount.next()?, mount.next()?, mount.next()?);
    let mut system = system.split(' ');
    let (kind, device) = (system.next()?, system.next()?);
    let mut options: Vec<String> = options.split(',').map(str::to_owned).collect();
    if root != "/" {
        options.push("bind".to_owned());
    }
    let local = device != "none" && kinds.contains(&kind);
    let device = unescape(device);
    let device = if local { real_device(reader, &device, number).unwrap_or(device) } else { device };
    Some(Mount { id, parent, device, point: unescape(point), kind: kind.to_owned(), options, local })
}

/// Returns the kernel's name of a device with another name in the table.
fn real_device(reader: &FactReader<'_>, device: &str, number: &str) -> Option<String> {
    let link = if device == "/dev/root" {
        format!("/sys/dev/block/{number}")
    } else if device.starts_with("/dev/mapper/") {
        device.to_owned()
    } else {
        return None;
    };
    let target = reader.machine.link(Path::new(&link)).ok()?;
    Some(format!("/dev/{}", target.file_name()?.to_str()?))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use ccm_host::Space;
    use ccm_testkit::FakeMachine;

    use super::*;

    const TABLE: &str = "\
        22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw,discard\n\
        28 27 0:30 / /tank rw - zfs tank rw\n\
        29 27 253:1 / /var/my\\040data rw,noatime - xfs /dev/mapper/vg-data rw\n\
        30 27 254:0 /etc/hosts /etc/hosts ro - ext4 /dev/vda ro\n\
        31 27 0:40 / /srv/share rw - nfs4 server:/share rw,hard\n\
        32 31 254:16 / /srv/share/disk rw - ext4 /dev/vdb rw\n\
        33 27 254:32 / /srv/shared rw - ext4 /dev/vdc rw\n\
        34 27 254:48 / /media/usb rw - fuseblk /dev/sda1 rw\n\
        35 27 254:64 / /media/usb/inner rw - ext4 /dev/sdb1 rw\n\
        36 27 0:41 / /run rw - tmpfs tmpfs rw\n\
        37 36 254:80 / /run/disk rw - vfat /dev/sdc1 rw\n\
        38 27 0:42 / /auto rw - autofs systemd-1 rw\n\
        39 38 254:96 / /auto/disk rw - ext4 /dev/sdd1 rw\n\
        40 27 0:43 / /boot rw - autofs systemd-1 rw\n\
        41 40 254:97 / /boot rw - vfat /dev/sdd2 rw\n\
        42 27 254:98 / /covered rw - ext4 /dev/sdd3 rw\n\
        43 42 0:44 / /covered rw - nfs4 server:/covered rw\n\
        nonsense\n";

    const KINDS_HERE: &str =
        "nodev\ttmpfs\nnodev\tproc\n\text4\n\txfs\n\tvfat\n\tfuseblk\nnodev\tnfs4\nnodev\tzfs\n";

    fn machine() -> FakeMachine {
        let space = Space { total: 1000, free: 400, available: 300, inodes: 10, inodes_free: 4 };
        let mut machine = FakeMachine::default().with(MOUNTS, TABLE).with(KINDS, KINDS_HERE);
        machine.links.insert("/dev/mapper/vg-data".into(), "../dm-1".into());
        machine.links.insert("/sys/dev/block/254:0".into(), "../../devices/virtio/block/vda".into());
        for point in ["/", "/tank", "/var/my data", "/etc/hosts", "/srv/shared", "/run/disk", "/boot"] {
            machine.space.insert(point.into(), space);
        }
        machine
    }

    #[test]
    fn local_file_systems_are_listed() {
        let machine = machine();
        let mut reader = FactReader::new(&machine);
        let listed = list(&mut reader, &mut Mounts::default());
        let shown: Vec<String> = listed
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| {
                let text = |key: &str| one[key].as_str().expect("a text").to_owned();
                format!("{} {} {} {}", text("device"), text("mountpoint"), text("fstype"), one["opts"])
            })
            .collect();
        assert_eq!(
            shown,
            [
                r#"/dev/vda / ext4 ["rw","relatime"]"#,
                r#"tank /tank zfs ["rw"]"#,
                r#"/dev/dm-1 /var/my data xfs ["rw","noatime"]"#,
                r#"/dev/vda /etc/hosts ext4 ["ro","bind"]"#,
                r#"/dev/vdb /srv/share/disk ext4 ["rw"]"#,
                r#"/dev/vdc /srv/shared ext4 ["rw"]"#,
                r#"/dev/sda1 /media/usb fuseblk ["rw"]"#,
                r#"/dev/sdb1 /media/usb/inner ext4 ["rw"]"#,
                r#"/dev/sdc1 /run/disk vfat ["rw"]"#,
                r#"/dev/sdd1 /auto/disk ext4 ["rw"]"#,
                r#"/dev/sdd2 /boot vfat ["rw"]"#,
                r#"/dev/sdd3 /covered ext4 ["rw"]"#,
            ]
        );
    }

    #[test]
    fn file_systems_that_may_hang_are_not_queried() {
        let machine = machine();
        let mut reader = FactReader::new(&machine);
        let usages = usage(&mut reader, &mut Mounts::default());
        let paths: Vec<&str> =
            usages.as_array().expect("a list").iter().filter_map(|one| one["path"].as_str()).collect();
        assert_eq!(paths, ["/", "/tank", "/var/my data", "/etc/hosts", "/srv/shared", "/run/disk", "/boot"]);
        let asked = machine.reads.borrow();
        for path in [
            "/srv/share",
            "/srv/share/disk",
            "/media/usb",
            "/media/usb/inner",
            "/auto",
            "/auto/disk",
            "/covered",
        ] {
            assert!(!asked.contains(&PathBuf::from(path)), "{path} was asked");
        }
        let first = &usages[0];
        let numbers = ["total", "free", "used", "inodesTotal", "inodesUsed", "inodesFree"]
            .map(|key| first[key].as_u64());
        assert_eq!(numbers, [1000, 300, 600, 10, 6, 4].map(Some));
        let shares = ["usedPercent", "inodesUsedPercent"].map(|key| first[key].as_f64().expect("a share"));
        assert!((shares[0] - 200.0 / 3.0).abs() < 1e-9 && (shares[1] - 60.0).abs() < 1e-9, "{shares:?}");
        assert!(reader.warnings.is_empty(), "{:?}", reader.warnings);
    }
}
