//! Absolute paths, in whatever form.

use std::path::PathBuf;

use ccm_model::escape_control;
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AbsolutePath(pub PathBuf);

impl TextValue for AbsolutePath {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::ABSOLUTE_PATH);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        without_nul(text)?;
        if !text.starts_with('/') {
            let error = ValueError::new(format!("`{}` is not an absolute path", escape_control(text)));
            return Err(error.with_hint("write the full path"));
        }
        Ok(Self(PathBuf::from(text)))
    }
}

/// Checks for a NUL character, which no argument, path or variable of a process can hold.
pub(crate) fn without_nul(text: &str) -> Result<(), ValueError> {
    if text.contains('\0') { Err(ValueError::new("the text holds a NUL character")) } else { Ok(()) }
}
