//! Numbers of bytes.

use bytesize::ByteSize;
use ccm_model::escape_control;
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Number of bytes, with or without a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ByteCount(pub u64);

impl TextValue for ByteCount {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::DIGITS.matching("^[0-9]+(\\.[0-9]+)? ?([KMGT]i?)?B?$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let bytes = text.parse::<ByteSize>().map(|bytes| Self(bytes.0));
        bytes.map_err(|_| wrong_bytes(text, "is not a number of bytes"))
    }
}

/// Returns the error in a number of bytes.
pub(crate) fn wrong_bytes(text: &str, reason: &str) -> ValueError {
    let message = format!("`{}` {reason}", escape_control(text));
    ValueError::new(message).with_hint("write a size like `512MiB` or `2GiB`")
}
