//! Names and versions of packages, each checked before it can become an argument of a package tool.

use ccm_model::escape_control;

/// What is wrong with the name of a package, and what to do about it.
pub(crate) fn name_error(name: &str) -> Option<(String, Option<&'static str>)> {
    let shown = escape_control(name);
    if name.len() > MAX_LENGTH {
        return Some((format!("a name of {} bytes is no name of a package", name.len()), None));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._+:~-".contains(c);
    if let Some(other) = name.chars().find(|c| !is_allowed(*c)) {
        let hint = match other {
            '=' => Some("give the version as `ensure`"),
            '*' | '?' | '[' => Some("each package is named in full"),
            '@' => Some("groups of packages can't be managed: name each package"),
            '/' => Some("name a package of the index: files can't be installed"),
            ' ' | ',' => Some("each package is a resource of its own"),
            _ => None,
        };
        let other = escape_control(&other.to_string()).into_owned();
        return Some((format!("`{shown}` holds `{other}`, which no name of a package does"), hint));
    }
    let begins = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(begins) {
        return Some((format!("`{shown}` does not begin as the name of a package does"), None));
    }
    // To apt it would mean the removal of what stands before it.
    if name.ends_with(['-', ':']) {
        return Some((format!("`{shown}` does not end as the name of a package does"), None));
    }
    if let Some((_, arch @ ("native" | "any"))) = name.rsplit_once(':') {
        return Some((format!("`{arch}` is no architecture"), Some("without one it is that of the machine")));
    }
    None
}

/// What is wrong with a version.
pub(crate) fn version_error(version: &str) -> Option<String> {
    let shown = escape_control(version);
    if version.len() > MAX_LENGTH {
        return Some(format!("a version of {} bytes is none of a package", version.len()));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._+:~^-".contains(c);
    if let Some(other) = version.chars().find(|c| !is_allowed(*c)) {
        let other = escape_control(&other.to_string()).into_owned();
        return Some(format!("`{shown}` holds `{other}`, which no version of a package does"));
    }
    if !version.starts_with(|c: char| c.is_ascii_alphanumeric()) || version.ends_with(['-', ':']) {
        return Some(format!("`{shown}` is not a version of a package"));
    }
    None
}

/// The most bytes of a name or a version.
const MAX_LENGTH: usize = 255;
