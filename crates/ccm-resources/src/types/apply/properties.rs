//! Properties of an applied manifest.

use ccm_properties::{JsonMap, Text, properties};

properties! {
    /// Properties of a manifest that another one applies; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct ApplyProperties {
        /// Path of the child. A relative path starts from the directory of this manifest.
        manifest: Text { default: Some("the name") },
        /// Change nothing in the child, and report what would be changed. `false` does not end the noop of a parent.
        noop: bool { default: Some("`false`") },
        /// Manage none of the child's resources, and run only their health checks. `false` does not end this mode of a parent.
        health_check_only: bool { default: Some("`false`") },
        /// Let the child apply other manifests.
        allow_apply: bool { default: Some("`true`") },
        /// Values that are merged over the child's own data.
        data: JsonMap,
    }
}
