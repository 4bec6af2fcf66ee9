//! The properties of a service, as the manifest writes them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::values::OnRefresh;
use crate::length::Length;

/// What a manifest can say about a service; its documentation is the reference that users read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServiceProperties {
    /// Whether it is started when the machine boots, or whatever else its unit file names. Default: not managed.
    pub enable: Option<bool>,
    /// Whether it is kept from being started by anybody. `true` needs `ensure: stopped`. Default: not managed.
    pub masked: Option<bool>,
    /// What a change of a resource in `subscribe` does to it while it runs; what does not run is started instead.
    /// Default: `restart`.
    pub on_refresh: Option<OnRefresh>,
    /// How long it may take to start, to stop, or to end what it is just doing, such as `30s` or `5m`.
    /// Default: what the unit itself allows, or `90s`; to start and stop, 90 seconds more.
    pub timeout: Option<Length>,
    /// It belongs to the user who runs ccm, and to that user's own manager of services. Default: `false`.
    pub user: Option<bool>,
}
