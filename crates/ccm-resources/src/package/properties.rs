//! The properties of a package, as the manifest writes them.

use std::time::Duration;

use ccm_properties::properties;

properties! {
    /// Properties of a package; their documentation is the reference that users read.
    #[derive(Debug, Default)]
    pub(crate) struct PackageProperties {
        /// Refresh the index of packages before something is looked up in it for a change, if it is older than this; `0`
        /// refreshes it whenever a change is due.
        update_cache: Duration { default: Some("the index is used as it is") },
        /// Install what the package recommends, too: recommended packages of apt, weak dependencies of dnf.
        recommends: bool { default: Some("`false`") },
        /// Remove the configuration files as well. Only with `ensure: absent`, and with apt.
        purge: bool { default: Some("`false`") },
        /// How long a call of the package tool may take that fetches or changes something; `0` means for ever. Of packages that
        /// are changed together the longest counts.
        timeout: Duration { default: Some("`1h`") },
        /// How long to wait while another program works on the packages of the machine; `0` does not wait.
        lock_timeout: Duration { default: Some("`5m`") },
    }
}
