//! The desired mount, complete and checked.

use std::path::{Path, PathBuf};

use ccm_model::Resource;
use ccm_properties::PropertyError;

use super::fstab::{DEFAULTS, FstabLine};
use super::mount_options::is_bind;
use super::properties::{MountField, MountNumber, MountProperties};
use crate::support::values::canonical_path::name_error as path_name_error;

/// Directory with a link for each device, by what it is called after.
const DEVICE_NAMES: &[(&str, &str)] = &[
    ("UUID", "/dev/disk/by-uuid"),
    ("LABEL", "/dev/disk/by-label"),
    ("PARTUUID", "/dev/disk/by-partuuid"),
    ("PARTLABEL", "/dev/disk/by-partlabel"),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredMount {
    pub mount_point: String,
    pub ensure: MountEnsure,
    /// Empty if the mount is to be absent, as is the type.
    pub device: String,
    pub fstype: String,
    pub options: Option<String>,
    pub dump: Option<u8>,
    pub pass: Option<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MountEnsure {
    /// In `/etc/fstab`, and mounted.
    Mounted,
    /// In `/etc/fstab`, mounted or not.
    Present,
    /// In `/etc/fstab`, and not mounted.
    Unmounted,
    /// Neither.
    Absent,
}

impl MountEnsure {
    pub(super) fn of(resource: &Resource) -> Self {
        match resource.ensure.as_ref().map(|ensure| &*ensure.value) {
            Some("present") => Self::Present,
            Some("unmounted") => Self::Unmounted,
            Some("absent") => Self::Absent,
            _ => Self::Mounted,
        }
    }
}

/// Returns the error of a file system that does not exist.
fn fstype_error(fstype: &str) -> Option<PropertyError> {
    let is_misspelt =
        fstype.strip_prefix("ext").is_some_and(|number| number.len() == 1 && !"234".contains(number));
    let message = || format!("there is no file system `{fstype}`");
    is_misspelt.then(|| PropertyError::invalid("fstype", message(), "use `ext2`, `ext3` or `ext4`"))
}

impl DesiredMount {
    pub(super) fn build(resource: &Resource, written: MountProperties) -> Result<Self, Vec<PropertyError>> {
        let mount_point = resource.id.name.to_string();
        let ensure = MountEnsure::of(resource);
        let is_absent = ensure == MountEnsure::Absent;
        let mut errors: Vec<PropertyError> = name_error(&mount_point, ensure).into_iter().collect();
        let given = [("device", &written.device), ("fstype", &written.fstype), ("options", &written.options)];
        for (property, value) in given {
            match (value, is_absent) {
                (None, false) if property != "options" => {
                    let hint = match property {
                        "device" => "write `device`, what is to be mounted",
                        _ => "write `fstype`, such as `ext4`, `nfs` or `tmpfs`; `none` for a bind mount",
                    };
                    errors.push(PropertyError::missing(property, hint));
                }
                (Some(_), true) => {
                    errors.push(PropertyError::not_with_absent(property, format!("remove `{property}`")));
                }
                _ => {}
            }
        }
        if written.fstype.as_ref().is_some_and(|fstype| fstype.0 == "swap") {
            errors.push(PropertyError::invalid(
                "fstype",
                "swap space is not mounted",
                "use `line` for /etc/fstab, and `exec` with `swapon` and a guard",
            ));
        }
        errors.extend(written.fstype.as_ref().and_then(|fstype| fstype_error(&fstype.0)));
        if !errors.is_empty() {
            return Err(errors);
        }
        let text = |field: Option<MountField>| field.map(|field| field.0);
        Ok(Self {
            mount_point,
            ensure,
            device: text(written.device).unwrap_or_default(),
            fstype: text(written.fstype).unwrap_or_default(),
            options: text(written.options),
            dump: written.dump.map(|MountNumber(number)| number),
            pass: written.pass.map(|MountNumber(number)| number),
        })
    }

    /// Returns the line that the mount is to have in `/etc/fstab`. The old line keeps the spelling of its mount point.
    pub(super) fn line(&self, old: Option<&FstabLine>) -> FstabLine {
        FstabLine {
            device: self.device.clone().into(),
            mount_point: old.map_or_else(|| self.mount_point.clone().into(), |old| old.mount_point.clone()),
            fstype: self.fstype.clone().into(),
            options: self.options(old).to_owned(),
            dump: self.dump.or(old.map(|old| old.dump)).unwrap_or_default(),
            pass: self.pass.or(old.map(|old| old.pass)).unwrap_or_default(),
        }
    }

    /// Returns the options that the line is to have.
    pub(super) fn options<'a>(&'a self, old: Option<&'a FstabLine>) -> &'a [u8] {
        let given = self.options.as_deref().map(str::as_bytes);
        given.or(old.map(|old| &*old.options)).unwrap_or(DEFAULTS.as_bytes())
    }

    pub(super) fn is_bind(&self) -> bool {
        self.options.as_deref().is_some_and(|options| is_bind(options.as_bytes()))
    }

    /// Returns `true` if the device is named by its label or number. Without udev there are no links to such devices, but
    /// mount finds them.
    pub(super) fn is_named(&self) -> bool {
        !self.device.starts_with('/')
    }

    /// Returns the path of the device, which may be a link; `None` if it has none, as that of a server or of memory.
    pub(super) fn device_path(&self) -> Option<PathBuf> {
        if self.device.starts_with('/') {
            return Some(PathBuf::from(&self.device));
        }
        let (kind, name) = self.device.split_once('=')?;
        let (_, directory) = DEVICE_NAMES.iter().find(|(known, _)| *known == kind)?;
        Some(Path::new(directory).join(encoded(name.trim_matches('"'))))
    }
}

/// Returns a name as udev encodes it for a link.
fn encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            c if !c.is_ascii() || c.is_ascii_alphanumeric() || "#+-.:=@_".contains(c) => encoded.push(c),
            c => encoded.push_str(&format!("\\x{:02x}", u32::from(c))),
        }
    }
    encoded
}

fn name_error(mount_point: &str, ensure: MountEnsure) -> Option<PropertyError> {
    if mount_point == "/" {
        let is_kept = matches!(ensure, MountEnsure::Mounted | MountEnsure::Present);
        return (!is_kept).then(|| {
            PropertyError::of_name("the root directory can't be unmounted")
                .with_hint("use `ensure: mounted` or `ensure: present`")
        });
    }
    if mount_point.chars().any(char::is_control) {
        return Some(PropertyError::of_name("the path of the directory contains a control character"));
    }
    path_name_error(mount_point, "mount")
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn labels_are_encoded_as_udev_does() {
        assert_eq!(encoded("my data"), "my\\x20data");
        assert_eq!(encoded("a/b-c_d.e"), "a\\x2fb-c_d.e");
    }
}
