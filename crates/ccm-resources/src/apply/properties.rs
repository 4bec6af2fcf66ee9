//! Properties of an applied manifest.

use ccm_properties::{JsonMap, properties};

properties! {
    /// Properties of a manifest that another one applies; their documentation is the reference that users read.
    #[derive(Debug, Default)]
    pub(crate) struct ApplyProperties {
        /// Change nothing in it, and say what would be changed. It can't take noop away.
        noop: bool { default: Some("`false`") },
        /// Look at the health of its resources, and manage none. It can't take that away.
        health_check_only: bool { default: Some("`false`") },
        /// Whether it may apply other manifests.
        allow_apply: bool { default: Some("`true`") },
        /// Values that are laid over its own data.
        data: JsonMap,
    }
}
