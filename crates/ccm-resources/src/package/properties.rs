//! The properties of a package, as the manifest writes them.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::length::Length;

/// What a manifest can say about a package; its documentation is the reference that users read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PackageProperties {
    /// Refresh the index of packages before something is looked up in it for a change, if it is older than this; `0`
    /// refreshes it whenever a change is due. Default: the index is used as it is.
    pub update_cache: Option<Length>,
    /// Install what the package recommends, too: recommended packages of apt, weak dependencies of dnf.
    /// Default: `false`.
    pub recommends: Option<bool>,
    /// Remove the configuration files as well. Only with `ensure: absent`, and with apt. Default: `false`.
    pub purge: Option<bool>,
    /// How long a call of the package tool may take that fetches or changes something; `0` means for ever. Of packages that
    /// are changed together the longest counts. Default: `1h`.
    pub timeout: Option<Length>,
    /// How long to wait while another program works on the packages of the machine; `0` does not wait.
    /// Default: `5m`.
    pub lock_timeout: Option<Length>,
}
