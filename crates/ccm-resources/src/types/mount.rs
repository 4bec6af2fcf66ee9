//! The mount resource: a file system on a directory, in `/etc/fstab` and mounted.

mod decide;
mod desired;
mod fstab;
mod mount_options;
mod properties;
mod util_linux;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Node, Resource};
use ccm_properties::{
    FilledExtent, FilledPath, Need, PropertyError, Providers, Release, TypeSpec, TypedResource,
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

    fn may_provide(&self, _: &Resource) -> bool {
        // A file system brings files that nobody knows before it is mounted.
        true
    }
}
