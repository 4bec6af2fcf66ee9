//! The properties of a hold, as the manifest writes them.

use std::time::Duration;

use ccm_properties::properties;

properties! {
    /// Properties of a hold; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct HoldProperties {
        /// Maximum wait while another program changes packages; `0` does not wait.
        lock_timeout: Duration { default: Some("`5m`") },
    }
}
