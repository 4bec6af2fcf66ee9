//! The properties of a service, as the manifest writes them.

use std::time::Duration;

use ccm_properties::properties;

use super::values::OnRefresh;

properties! {
    /// Properties of a service; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct ServiceProperties {
        /// Start the service at boot, or at the other events that its unit file names.
        enable: bool { default: Some("not managed") },
        /// Keep everybody from starting the service. `true` needs `ensure: stopped`.
        masked: bool { default: Some("not managed") },
        /// Action on a running service after a change of a resource in `subscribe`; a service that does not run is started.
        on_refresh: OnRefresh { default: Some("`restart`") },
        /// Time limit to start, to stop, or to finish what the service is doing, such as `30s` or `5m`.
        timeout: Duration {
            default: Some("the unit's own limit, else `90s`; plus 90 seconds for dependencies at a start or stop"),
        },
        /// Use the service manager of the user who runs ccm.
        user: bool { default: Some("`false`") },
    }
}
