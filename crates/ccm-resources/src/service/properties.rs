//! The properties of a service, as the manifest writes them.

use std::time::Duration;

use ccm_properties::properties;

use super::values::OnRefresh;

properties! {
    /// Properties of a service; their documentation is the reference that users read.
    #[derive(Debug, Default)]
    pub(crate) struct ServiceProperties {
        /// Whether it is started when the machine boots, or whatever else its unit file names.
        enable: bool { default: Some("not managed") },
        /// Whether it is kept from being started by anybody. `true` needs `ensure: stopped`.
        masked: bool { default: Some("not managed") },
        /// What a change of a resource in `subscribe` does to it while it runs; what does not run is started instead.
        on_refresh: OnRefresh { default: Some("`restart`") },
        /// How long it may take to start, to stop, or to end what it is just doing, such as `30s` or `5m`.
        timeout: Duration {
            default: Some("what the unit itself allows, or `90s`; to start and stop, 90 seconds more"),
        },
        /// It belongs to the user who runs ccm, and to that user's own manager of services.
        user: bool { default: Some("`false`") },
    }
}
