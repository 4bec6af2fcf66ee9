//! Absolute paths in their shortest form, which are keys of claims.

use std::path::{Path, PathBuf};

use ccm_properties::{PropertyError, PropertyKind, TextKind, TextValue, ValueError};

/// Path of a file as a property: absolute, and without `.`, `..`, `//` and a slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CanonicalPath(pub PathBuf);

impl TextValue for CanonicalPath {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::ABSOLUTE_PATH);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match path_error(text, "file") {
            None => Ok(Self(PathBuf::from(text))),
            Some((message, hint)) => {
                Err(hint.into_iter().fold(ValueError::new(message), ValueError::with_hint))
            }
        }
    }
}

/// Returns the error in a name that is the path of something that is managed. `what` is a word for that.
pub(crate) fn name_error(name: &str, what: &str) -> Option<PropertyError> {
    let (message, hint) = path_error(name, what)?;
    Some(hint.into_iter().fold(PropertyError::of_name(message), PropertyError::with_hint))
}

/// Returns the error in the path of something that is managed, with advice.
pub(crate) fn path_error(path: &str, what: &str) -> Option<(String, Option<String>)> {
    let shown = path.escape_debug();
    Some(if !path.starts_with('/') {
        (format!("`{shown}` is not an absolute path"), Some("write the full path".to_owned()))
    } else if path.trim_matches('/').is_empty() {
        (format!("`/` cannot be managed as a {what}"), None)
    } else if path.contains('\0') {
        ("the path contains a NUL character".to_owned(), None)
    } else if path.ends_with('/') {
        (format!("the path `{shown}` ends with a slash"), Some("remove the slash".to_owned()))
    } else {
        let part = redundant_part(path)?;
        let what = if part.is_empty() { "`//`".to_owned() } else { format!("the part `{part}`") };
        (
            format!("the path `{shown}` contains {what}"),
            Some("write the shortest form of the path".to_owned()),
        )
    })
}

/// Returns `true` for an absolute path in its shortest form.
pub(crate) fn is_canonical(path: &str) -> bool {
    path.starts_with('/') && path_error(path, "file").is_none()
}

/// Returns the first part of an absolute path that can be omitted.
pub(crate) fn redundant_part(path: &str) -> Option<&str> {
    // Comparing bytes is faster than searching for characters.
    let odd =
        path.as_bytes()[1..].split(|byte| *byte == b'/').find(|part| matches!(*part, b"" | b"." | b".."))?;
    str::from_utf8(odd).ok()
}

/// Returns the directory of a path.
pub(crate) fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
