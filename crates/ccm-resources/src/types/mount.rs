//! The mount resource: a file system on a directory, in `/etc/fstab` and mounted.

mod decide;
mod desired;
mod export;
mod fstab;
mod mount_options;
mod properties;
mod util_linux;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, DiagnosticKind, Node, Resource, escape_control};
use ccm_properties::{
    CheckInput, FilledExtent, FilledPath, MayProvide, Need, PropertyError, Providers, Release, TypeSpec,
    TypedResource,
};

use crate::support::object_plan::Object;
use crate::support::values::canonical_path::is_canonical;
use desired::DesiredMount;
use fstab::FSTAB;
use properties::MountProperties;
use util_linux::UtilLinux;

/// Packages with the programs that mount a type of file system.
const PACKAGES: &[(&str, &[&str])] = &[
    ("nfs", &["nfs-common", "nfs-utils"]),
    ("nfs4", &["nfs-common", "nfs-utils"]),
    ("cifs", &["cifs-utils"]),
    ("xfs", &["xfsprogs"]),
    ("btrfs", &["btrfs-progs"]),
    ("fuse.sshfs", &["sshfs", "fuse-sshfs"]),
];

#[derive(Debug)]
pub(crate) struct MountType;

impl TypedResource for MountType {
    type Written = MountProperties;
    type Desired = DesiredMount;
    type Provider = dyn DynProvider<Object<DesiredMount>>;

    const NAME: &'static str = "mount";
    const SUMMARY: &'static str =
        "Manages a file system on a directory: its line in `/etc/fstab`, and whether it is mounted.";
    const ENSURES: &'static [&'static str] = &["mounted", "present", "unmounted", "absent"];
    const PROVIDERS: Providers<Self::Provider> = &[("util_linux", &UtilLinux)];

    fn build(resource: &Resource, written: MountProperties) -> Result<DesiredMount, Vec<PropertyError>> {
        DesiredMount::build(resource, written)
    }

    fn warnings(mount: &DesiredMount, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        let resource = checked.resource;
        let warning = misread_device(mount).map(|(message, hint)| {
            let span = resource.properties.get("device").map_or(resource.span, |node| node.span);
            Diagnostic::warning(DiagnosticKind::InvalidValue, span, message).with_hint(hint)
        });
        warning.into_iter().collect()
    }
}

/// File systems of disks.
const OF_DISKS: [&str; 9] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "vfat", "exfat", "ntfs", "f2fs"];

/// Tags of devices.
const TAGS: [&str; 4] = ["UUID", "LABEL", "PARTUUID", "PARTLABEL"];

/// Returns the reason why a device can't be what is meant, with advice.
fn misread_device(mount: &DesiredMount) -> Option<(String, String)> {
    let DesiredMount { device, fstype, .. } = mount;
    let shown = escape_control(device);
    let tag = device.split_once('=').filter(|(tag, _)| !TAGS.contains(tag) && !tag.contains('/'));
    if let Some((tag, value)) = tag {
        let known = TAGS.iter().find(|known| known.eq_ignore_ascii_case(tag))?;
        let message = format!("mount knows no `{}=`, but `{known}=`", escape_control(tag));
        return Some((message, format!("write `{known}={}`", escape_control(value))));
    }
    match fstype.as_str() {
        "nfs" | "nfs4" if !device.contains(':') => {
            Some((format!("`{shown}` names no server"), "write `SERVER:/PATH`".to_owned()))
        }
        "cifs" | "smb3" if !device.starts_with("//") => {
            Some((format!("`{shown}` names no server"), "write `//SERVER/SHARE`".to_owned()))
        }
        disk if OF_DISKS.contains(&disk) && !device.starts_with('/') && !device.contains('=') => Some((
            format!("`{shown}` is no device"),
            format!("write `/dev/{shown}`, or `UUID=…` as `blkid` prints it"),
        )),
        _ => None,
    }
}

impl TypeSpec for MountType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        vec![Claim::exclusive(ClaimKind::MountPoint, &*resource.id.name), Claim::part_of_file(FSTAB)]
    }

    fn needs<'r>(&self, resource: &'r Resource) -> Vec<Need<'r>> {
        let fstype = resource.properties.get("fstype").and_then(Node::as_text).unwrap_or_default();
        let packages = PACKAGES.iter().find(|(known, _)| *known == fstype).map(|(_, packages)| *packages);
        packages.unwrap_or_default().iter().map(|package| (ClaimKind::Package, (*package).into())).collect()
    }

    fn fills<'r>(&self, resource: &'r Resource) -> Vec<FilledPath<'r>> {
        let mount_point = |path| FilledPath { path, extent: FilledExtent::Place };
        self.reaches(resource).into_iter().map(mount_point).collect()
    }

    /// What is mounted stands in place of everything below the directory.
    fn reaches<'r>(&self, resource: &'r Resource) -> Vec<&'r str> {
        (!self.ends(resource)).then_some(&*resource.id.name).into_iter().collect()
    }

    fn ends(&self, resource: &Resource) -> bool {
        resource.ensure.as_ref().is_some_and(|ensure| matches!(&*ensure.value, "absent" | "unmounted"))
    }

    /// A file system that is not mounted needs neither its device nor its kernel module.
    fn releases<'r>(&self, resource: &'r Resource) -> Vec<Release<'r>> {
        if !self.ends(resource) {
            return Vec::new();
        }
        let text = |property| resource.properties.get(property).and_then(Node::as_text);
        let device = text("device").filter(|device| is_canonical(device));
        let device = device.map(|device| (ClaimKind::Path, device.into()));
        let module = text("fstype").map(|fstype| (ClaimKind::KernelModule, fstype.replace('-', "_").into()));
        self.needs(resource).into_iter().chain(device).chain(module).map(Release::Object).collect()
    }

    fn may_provide(&self, _: &Resource) -> MayProvide {
        // Nobody knows the files before the file system is mounted.
        MayProvide::Files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_mount_does_not_know_are_told() {
        for (device, fstype, hint) in [
            ("sdb1", "ext4", Some("write `/dev/sdb1`, or `UUID=…` as `blkid` prints it")),
            ("uuid=12-34", "vfat", Some("write `UUID=12-34`")),
            ("Label=data", "xfs", Some("write `LABEL=data`")),
            ("/export", "nfs", Some("write `SERVER:/PATH`")),
            ("nas/share", "cifs", Some("write `//SERVER/SHARE`")),
            ("/dev/sdb1", "ext4", None),
            ("UUID=12-34", "ext4", None),
            ("nas:/srv", "nfs", None),
            ("//nas/share", "cifs", None),
            ("tmpfs", "tmpfs", None),
            ("/srv/a=b", "none", None),
            ("tank/data", "zfs", None),
            ("ID=x", "ext4", None),
        ] {
            let mount = DesiredMount {
                mount_point: "/mnt".to_owned(),
                ensure: desired::MountEnsure::Mounted,
                device: device.to_owned(),
                fstype: fstype.to_owned(),
                options: None,
                dump: None,
                pass: None,
            };
            assert_eq!(misread_device(&mount).map(|(_, hint)| hint).as_deref(), hint, "{device} {fstype}");
        }
    }
}
