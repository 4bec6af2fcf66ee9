//! The properties of a reboot, as the manifest writes them.

use std::time::Duration;

use ccm_properties::{PropertyKind, Text, TextValue, ValueError, properties};

properties! {
    /// Properties of a reboot; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct RebootProperties {
        /// `pending` reboots when the system waits for a reboot, for example after a new kernel. `always` reboots whenever a
        /// resource in `subscribe` changed, and needs `subscribe`.
        when: RebootCause,
        /// Time between the end of the run and the reboot, in whole minutes.
        delay: Duration { default: Some("`1m`"), foreign_names: &["timeout"] },
        /// Message for users who are logged in.
        message: Text { default: Some("`ccm reboots this machine`") },
    }
}

/// Cause of a reboot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RebootCause {
    Pending,
    Always,
}

impl TextValue for RebootCause {
    const KIND: PropertyKind = PropertyKind::Words(&["pending", "always"]);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "pending" => Ok(Self::Pending),
            "always" => Ok(Self::Always),
            _ => Err(ValueError::not_one_of(text, &["pending", "always"])),
        }
    }
}
