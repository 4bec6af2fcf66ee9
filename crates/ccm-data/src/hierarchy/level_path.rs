//! Paths of data files, from the names of levels.

use ccm_model::escape_control;

/// Ending of the name of a data file.
const ENDING: &str = ".yaml";

/// Maximum length of a part, so that a file can have the name.
const MAX_PART: usize = 255 - ENDING.len();

/// Maximum number of parts.
const MAX_PARTS: usize = 16;

/// Reason why a level has no data file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LevelPathError {
    /// A part is empty.
    #[error("one of its parts is empty")]
    Empty,
    /// A part could lead elsewhere, or can be no name of a file.
    #[error("its part `{}` {reason}", escape_control(part))]
    Part {
        /// The part.
        part: String,
        /// The reason.
        reason: &'static str,
    },
    /// There are too many parts.
    #[error("it has more than {MAX_PARTS} parts")]
    TooMany,
}

/// Returns the path of the data file of a level, below the directory of all data files: `host/web1.yaml` for
/// `host:web1`.
pub fn level_path(name: &str) -> Result<String, LevelPathError> {
    let parts: Vec<&str> = name.split(':').collect();
    if parts.len() > MAX_PARTS {
        return Err(LevelPathError::TooMany);
    }
    for part in &parts {
        check(part)?;
    }
    Ok(parts.join("/") + ENDING)
}

/// Returns the name of the level of a data file, given by its path below the directory of all data files. `None` for a
/// file that no level can have.
pub fn level_of(path: &str) -> Option<String> {
    let name = path.strip_suffix(ENDING)?.replace('/', ":");
    (level_path(&name).as_deref() == Ok(path)).then_some(name)
}

fn check(part: &str) -> Result<(), LevelPathError> {
    let reason = if part.is_empty() {
        return Err(LevelPathError::Empty);
    } else if part.contains('/') {
        "has a `/`"
    } else if part.starts_with('.') {
        "begins with a dot"
    } else if part.contains(char::is_control) {
        "has a control character"
    } else if part.trim() != part {
        "begins or ends with a blank"
    } else if part.len() > MAX_PART {
        "is too long for the name of a file"
    } else {
        return Ok(());
    };
    let part = part.chars().take(60).collect();
    Err(LevelPathError::Part { part, reason })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn parts_are_simple_names() {
        for (name, path) in [
            ("common", "common.yaml"),
            ("host:web1.example.net", "host/web1.example.net.yaml"),
            ("os:Rocky Linux:9.4", "os/Rocky Linux/9.4.yaml"),
            ("a:ä-ö_1", "a/ä-ö_1.yaml"),
            ("a:b..c", "a/b..c.yaml"),
            ("a:\\", "a/\\.yaml"),
        ] {
            assert_eq!(level_path(name).as_deref(), Ok(path));
        }
        for (name, reason) in [
            ("", "one of its parts is empty"),
            (":", "one of its parts is empty"),
            ("host:", "one of its parts is empty"),
            ("a::b", "one of its parts is empty"),
            ("../../etc/shadow", "its part `../../etc/shadow` has a `/`"),
            ("host:/etc/shadow", "its part `/etc/shadow` has a `/`"),
            ("host:..", "its part `..` begins with a dot"),
            ("host:.", "its part `.` begins with a dot"),
            ("host:.git", "its part `.git` begins with a dot"),
            ("host:a\0b", "its part `a\\u{0}b` has a control character"),
            ("host:a\n", "its part `a\\n` has a control character"),
            ("host: a", "its part ` a` begins or ends with a blank"),
        ] {
            assert_eq!(
                level_path(name).map_err(|error| error.to_string()),
                Err(reason.to_owned()),
                "{name:?}"
            );
        }
        assert!(level_path(&"x".repeat(250)).is_ok());
        assert!(level_path(&"x".repeat(251)).is_err());
        assert_eq!(level_path(&"a:".repeat(20)), Err(LevelPathError::TooMany));
    }

    proptest! {
        #[test]
        fn no_name_leads_elsewhere(name in "[a./:\\\\~\0 -]{0,12}|\\PC{0,12}") {
            if let Ok(path) = level_path(&name) {
                let parts: Vec<&str> = path.split('/').collect();
                prop_assert_eq!(parts.len(), name.matches(':').count() + 1);
                prop_assert!(parts.iter().all(|part| !part.is_empty() && *part != "." && *part != ".."));
                prop_assert!(!path.contains('\0') && path.ends_with(ENDING));
            }
        }
    }
}
