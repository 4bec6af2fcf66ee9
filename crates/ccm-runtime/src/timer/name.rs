//! Names of timers.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

const MAX_LENGTH: usize = 64;

/// Name of a timer, which is a part of the names of its units.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimerName(String);

/// Reason why a text is no name of a timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name has 1 to 64 letters, digits, `-`, `_` and `.`, and begins with a letter or a digit")]
pub struct TimerNameError;

impl TimerName {
    /// Returns the name that a manifest gives to its timer: that of its file without the ending.
    pub fn of_manifest(path: &Path) -> Result<Self, TimerNameError> {
        path.file_stem().and_then(|name| name.to_str()).ok_or(TimerNameError)?.parse()
    }
}

impl FromStr for TimerName {
    type Err = TimerNameError;

    fn from_str(text: &str) -> Result<Self, TimerNameError> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let begins_well = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let is_name = begins_well && text.len() <= MAX_LENGTH && text.bytes().all(is_part);
        if is_name { Ok(Self(text.to_owned())) } else { Err(TimerNameError) }
    }
}

impl fmt::Display for TimerName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_units_have_few_characters() {
        for (text, is_name) in [
            ("site", true),
            ("web-1.example_2", true),
            ("1", true),
            (&"a".repeat(64), true),
            (&"a".repeat(65), false),
            ("", false),
            ("-x", false),
            (".hidden", false),
            ("a/b", false),
            ("../x", false),
            ("50%", false),
            ("a b", false),
            ("a@b", false),
            ("a\n", false),
            ("größe", false),
        ] {
            assert_eq!(text.parse::<TimerName>().is_ok(), is_name, "{text}");
        }
    }

    #[test]
    fn a_manifest_gives_its_name_to_its_timer() {
        for (path, name) in [
            ("/etc/ccm/site.yaml", Some("site")),
            ("site", Some("site")),
            ("/srv/web.example.yaml", Some("web.example")),
            ("/srv/my site.yaml", None),
            ("/srv/.yaml", None),
            ("/", None),
        ] {
            let found = TimerName::of_manifest(Path::new(path)).ok().map(|name| name.to_string());
            assert_eq!(found.as_deref(), name, "{path}");
        }
    }
}
