//! Paths of what is copied.

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Path of a local file or directory to copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePath(pub String);

impl TextValue for SourcePath {
    const KIND: PropertyKind = PropertyKind::Text(TextKind { min_length: 1, ..TextKind::ANY });

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "" => Err(ValueError::new("the path is empty")),
            _ if text.contains('\0') => Err(ValueError::new("the path contains a NUL character")),
            _ if text.starts_with('~') => {
                Err(ValueError::new("`~` is not expanded").with_hint("write the full path"))
            }
            _ if text.contains("://") => {
                let error = ValueError::unsupported("this URL is not supported as `source`");
                Err(error.with_hint("use a local path; a `file` can also have a URL with `https` or `http`"))
            }
            _ => Ok(Self(text.to_owned())),
        }
    }
}
