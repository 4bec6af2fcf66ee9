//! Numbers of bytes.

use ccm_model::{SIZE_PATTERN, escape_control, parse_size};
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Number of bytes, with or without a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteCount(pub u64);

impl TextValue for ByteCount {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::DIGITS.matching(SIZE_PATTERN));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        parse_size(text).map(Self).ok_or_else(|| wrong_bytes(text, "is not a number of bytes"))
    }
}

/// Returns the error in a number of bytes.
pub(crate) fn wrong_bytes(text: &str, reason: &str) -> ValueError {
    let message = format!("`{}` {reason}", escape_control(text));
    ValueError::new(message).with_hint("write a size like `512MiB` or `2GiB`")
}
