//! Time limits.

use std::time::Duration;

use ccm_properties::{PropertyKind, TextValue, ValueError};

/// Time limit; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeout(pub Option<Duration>);

impl TextValue for Timeout {
    const KIND: PropertyKind = PropertyKind::Duration;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        Ok(Self(Some(Duration::from_text(text)?).filter(|duration| !duration.is_zero())))
    }
}
