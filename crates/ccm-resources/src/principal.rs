//! Users and groups in properties.

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// User or group, by name or in digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Principal(pub String);

impl TextValue for Principal {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::ANY.matching("^[^:/\\n]*[^:/\\s][^:/\\n]*$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        if text.trim().is_empty() {
            return Err(ValueError::new("the name of a user or group is empty"));
        }
        if text.contains([':', '/', '\0', '\n']) {
            let error =
                ValueError::new(format!("`{}` holds a character that no name can", text.escape_debug()));
            return Err(match text.split(':').count() {
                2 => error.with_hint("give user and group apart, each as a property of its own"),
                _ => error,
            });
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !text.parse::<u32>().is_ok_and(|number| number != u32::MAX) {
            return Err(ValueError::new(format!("`{text}` is too large for a number of a user or group")));
        }
        Ok(Self(text.to_owned()))
    }
}
