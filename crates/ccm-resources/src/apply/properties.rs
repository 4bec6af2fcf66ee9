//! The properties of an applied manifest.

use schemars::JsonSchema;
use serde::Deserialize;

/// What a manifest can say about another one that it applies; its documentation is the reference that users
/// read.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ApplyProperties {
    /// Change nothing in it, and say what would be changed. It can't take noop away. Default: `false`.
    pub noop: Option<bool>,
    /// Look at the health of its resources, and manage none. It can't take that away. Default: `false`.
    pub health_check_only: Option<bool>,
    /// Whether it may apply other manifests. Default: `true`.
    pub allow_apply: Option<bool>,
    /// Values that are laid over its own data.
    pub data: Option<serde_json::Map<String, serde_json::Value>>,
}
