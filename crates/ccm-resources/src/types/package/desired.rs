//! Builds the desired package from its properties.

use std::time::Duration;

use ccm_model::{closest, escape_control};
use ccm_properties::PropertyError;

use super::properties::PackageProperties;
use crate::parts::packages::{Package, PackageEnsure, UpdateCache, name_error, version_error};

/// Values of `ensure` besides versions, the default first.
pub(crate) const ENSURES: [&str; 3] = ["present", "absent", "latest"];

impl Package {
    /// Builds the package, or returns all errors.
    pub(crate) fn build(
        name: &str,
        ensure: Option<&str>,
        provider: Option<&str>,
        written: &PackageProperties,
    ) -> Result<Self, Vec<PropertyError>> {
        let mut errors = Vec::new();
        if let Some((message, hint)) = name_error(name) {
            errors.push(hint.into_iter().fold(PropertyError::of_name(message), PropertyError::with_hint));
        }
        let ensure = read_ensure(ensure).unwrap_or_else(|error| {
            errors.push(error);
            PackageEnsure::Absent
        });
        let purge = written.purge.unwrap_or_default();
        if purge && ensure != PackageEnsure::Absent {
            let message = "`purge` is only allowed with `ensure: absent`";
            let hint = "remove `purge`, which removes configuration files with the package";
            errors.push(PropertyError::conflict("purge", message, hint));
        }
        if purge && provider == Some("dnf") {
            let message = "`purge` is not allowed with `provider: dnf`";
            let hint = "remove `purge`: rpm always removes configuration files, and keeps changed ones as `.rpmsave`";
            errors.push(PropertyError::conflict("purge", message, hint));
        }
        if errors.is_empty() {
            Ok(Self {
                name: name.to_owned(),
                ensure,
                update_cache: written.update_cache.unwrap_or(UpdateCache::Default),
                recommends: written.recommends.unwrap_or_default(),
                purge,
                timeout: Some(written.timeout.unwrap_or(DEFAULT_TIMEOUT))
                    .filter(|timeout| !timeout.is_zero()),
                lock_timeout: written.lock_timeout.unwrap_or(DEFAULT_LOCK_TIMEOUT),
            })
        } else {
            Err(errors)
        }
    }
}

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(3600);
const DEFAULT_LOCK_TIMEOUT: Duration = Duration::from_secs(300);

fn read_ensure(written: Option<&str>) -> Result<PackageEnsure, PropertyError> {
    let written = written.unwrap_or(ENSURES[0]);
    match written {
        "present" => return Ok(PackageEnsure::Present),
        "absent" => return Ok(PackageEnsure::Absent),
        "latest" => return Ok(PackageEnsure::Latest),
        _ => {}
    }
    // A word without a digit was probably not meant as a version.
    if written.contains(|c: char| c.is_ascii_digit()) {
        return match version_error(written) {
            Some(message) => {
                let error = PropertyError::of_ensure(message);
                let is_range = written.contains(['<', '>', '=', '*', ',', '|']);
                Err(if is_range { error.with_hint("write one version, or `latest`") } else { error })
            }
            None => Ok(PackageEnsure::Version(written.to_owned())),
        };
    }
    let shown = escape_control(written);
    let message = format!("expected `present`, `absent`, `latest` or a version, found `{shown}`");
    let hint = match written {
        "installed" => Some("write `ensure: present`".to_owned()),
        "purged" => Some("write `ensure: absent` and `purge: true`".to_owned()),
        "removed" | "uninstalled" => Some("write `ensure: absent`".to_owned()),
        "newest" | "upgraded" | "updated" => Some("did you mean `latest`?".to_owned()),
        "held" => Some("add a `package_hold` resource for the package".to_owned()),
        _ => closest(written, ENSURES).map(|word| format!("did you mean `{word}`?")),
    };
    Err(hint.into_iter().fold(PropertyError::of_ensure(message), PropertyError::with_hint))
}
