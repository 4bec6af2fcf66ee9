//! Property values that are more than text: each is checked where it is read.

use ccm_model::Text;
use schemars::json_schema;
use serde::de::{Deserialize, Deserializer, Error};

use crate::inline_schema::inline_schema;

/// Permissions and special bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode(pub u32);

impl Mode {
    /// The mode of a directory: who may read or write it may enter it.
    pub(crate) fn for_directory(self) -> u32 {
        [0, 3, 6]
            .into_iter()
            .filter(|shift| self.0 >> shift & 0o6 != 0)
            .fold(self.0, |mode, shift| mode | 1 << shift)
    }
}

impl<'de> Deserialize<'de> for Mode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        let shown = text.escape_debug();
        let digits = text.strip_prefix("0o").unwrap_or(&text);
        let is_octal = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
        if !is_octal {
            let symbolic = text.contains(['+', '=', ',']) || text.contains(['r', 'w', 'x']);
            let number = text.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16));
            let octal = number.and_then(Result::ok).filter(|number| *number <= 0o7777);
            if let Some(octal) = octal {
                let message =
                    format!("`{shown}` is not a mode in octal digits\nhint: write it like `{octal:04o}`");
                return Err(D::Error::custom(message));
            }
            let hint = if symbolic { "symbolic modes are not supported: write" } else { "write" };
            let message = format!("`{shown}` is not a mode in octal digits\nhint: {hint} it like `0644`");
            return Err(D::Error::custom(message));
        }
        match u32::from_str_radix(digits, 8) {
            Ok(mode) if mode <= 0o7777 => Ok(Self(mode)),
            _ => Err(D::Error::custom(format!("`{shown}` is not a mode: the largest is `7777`"))),
        }
    }
}

/// The path of a local file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePath(pub String);

impl<'de> Deserialize<'de> for SourcePath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?.0;
        if text.is_empty() {
            return Err(D::Error::custom("the path is empty"));
        }
        if text.contains('\0') {
            return Err(D::Error::custom("the text holds a NUL character"));
        }
        if text.starts_with('~') {
            let message = "`~` is not expanded\nhint: write the whole path";
            return Err(D::Error::custom(message));
        }
        if text.contains("://") {
            let message = "a URL as `source` is not supported in this version\nhint: name a local file";
            return Err(D::Error::custom(message));
        }
        Ok(Self(text))
    }
}

inline_schema! {
    Mode => |_generator| json_schema!({ "type": ["string", "number"], "pattern": "^(0o)?[0-7]+$" });
    SourcePath => |_generator| json_schema!({ "type": ["string", "number", "boolean"], "minLength": 1 });
}

#[cfg(test)]
mod tests {
    use super::Mode;

    #[test]
    fn a_directory_can_be_entered_by_who_may_read_or_write_it() {
        for (file, directory) in [
            (0o644, 0o755),
            (0o600, 0o700),
            (0o640, 0o750),
            (0o000, 0o000),
            (0o222, 0o333),
            (0o1777, 0o1777),
            (0o2660, 0o2770),
            (0o711, 0o711),
        ] {
            assert_eq!(Mode(file).for_directory(), directory, "{file:o}");
        }
    }
}
