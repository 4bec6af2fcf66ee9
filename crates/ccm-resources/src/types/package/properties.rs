//! The properties of a package, as the manifest writes them.

use std::time::Duration;

use ccm_properties::{PropertyKind, TextValue, ValueError, properties};

use crate::parts::packages::UpdateCache;

impl TextValue for UpdateCache {
    const KIND: PropertyKind =
        PropertyKind::Either(&[PropertyKind::Duration, PropertyKind::Words(&["never"])]);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "never" => Ok(Self::Never),
            _ => Duration::from_text(text).map(Self::Within),
        }
    }
}

properties! {
    /// Properties of a package; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct PackageProperties {
        /// Refresh a package index that is older than this before a change; `0` refreshes the index before every
        /// change, `never` uses the index as it is.
        update_cache: UpdateCache { default: Some("`1d` for `latest`, else `never`") },
        /// Install recommended packages (apt) or weak dependencies (dnf), too.
        recommends: bool { default: Some("`false`") },
        /// Remove the configuration files as well. Only with `ensure: absent` and apt.
        purge: bool { default: Some("`false`") },
        /// Time limit of a call of the package tool that downloads or changes something; `0` means no limit. The
        /// longest limit counts for packages that are changed together.
        timeout: Duration { default: Some("`1h`") },
        /// Maximum wait while another program changes packages; `0` does not wait.
        lock_timeout: Duration { default: Some("`5m`") },
    }
}
