//! Users and groups in properties.

use ccm_host::FileError;
use ccm_model::{Failure, FailureKind, MissingPrerequisite};
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

use crate::support::file_failure::file_failure;

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
            let error = ValueError::new(format!(
                "`{}` contains a character that no user or group name may contain",
                text.escape_debug()
            ));
            return Err(match text.split(':').count() {
                2 => error.with_hint("set user and group with a property each"),
                _ => error,
            });
        }
        if text.trim() != text {
            let shown = text.escape_debug();
            return Err(ValueError::new(format!("the name `{shown}` begins or ends with a blank"))
                .with_hint(format!("write `{}`", text.trim().escape_debug())));
        }
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && !text.parse::<u32>().is_ok_and(|number| number != u32::MAX) {
            return Err(ValueError::new(format!("`{text}` is too large for a user or group ID")));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Number of a user or group that does not exist yet. No user and no group has it.
pub(crate) const UNKNOWN_ID: u32 = u32::MAX;

/// Returns the number of a user or group, who has to exist; [`UNKNOWN_ID`] for one that an earlier resource would make in
/// noop.
pub(crate) fn desired_number(
    name: Option<&str>,
    what: &str,
    find: impl Fn(&str) -> Result<Option<u32>, FileError>,
    would_be: impl Fn(&str) -> bool,
) -> Result<Option<u32>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let number = find(name).map_err(|error| file_failure(&error))?;
    number.or_else(|| would_be(name).then_some(UNKNOWN_ID)).map(Some).ok_or_else(|| {
        Failure::new(FailureKind::Read, format!("{what} `{}` does not exist", name.escape_debug()))
            .with_missing(MissingPrerequisite::Principal(name.to_owned()))
    })
}
