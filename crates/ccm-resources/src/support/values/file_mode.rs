//! Modes of files.

use ccm_model::{Diagnostic, Node, ScalarStyle};
use ccm_properties::{PropertyKind, PropertyValue, TextKind, ValueError, octal};

/// Permissions of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileMode(pub u32);

impl FileMode {
    /// Returns the mode for a directory: users who may read or write it may enter it.
    pub(crate) fn for_directory(self) -> u32 {
        [0, 3, 6]
            .into_iter()
            .filter(|shift| self.0 >> shift & 0o6 != 0)
            .fold(self.0, |mode, shift| mode | 1 << shift)
    }
}

/// Returns `true` if every user can read a file with this mode.
pub(crate) fn is_world_readable(mode: u32) -> bool {
    mode & 0o004 != 0
}

impl PropertyValue for FileMode {
    const KIND: PropertyKind = PropertyKind::Text(TextKind::DIGITS.matching("^(0o)?[0-7]+$"));

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let is_plain = node.as_scalar().is_some_and(|scalar| scalar.style == ScalarStyle::Plain);
        if let Some((text, mode)) = node.as_text().filter(|_| is_plain).and_then(decimal_mode) {
            let error = ValueError::new(format!("`{text}` is the mode {mode:04o} as a decimal number"));
            let hint = format!("write `{mode:04o}`, or `\"{text:0>4}\"` for a mode with these octal digits");
            errors.push(error.with_hint(hint).at(node.span));
            return None;
        }
        octal(node, ("mode", "0644"), errors, parse)
    }
}

/// Returns a number that is a usual mode in decimal digits, and that mode. As octal digits the number is a mode that
/// nobody wants, because others may do what the owner may not.
fn decimal_mode(text: &str) -> Option<(&str, u32)> {
    const MODES: [u32; 7] = [0o400, 0o555, 0o640, 0o644, 0o660, 0o664, 0o770];
    let number: u32 = text.parse().ok().filter(|_| !text.starts_with(['0', '+']))?;
    MODES.contains(&number).then_some((text, number))
}

fn parse(text: &str) -> Result<FileMode, ValueError> {
    let shown = text.escape_debug();
    let digits = text.strip_prefix("0o").unwrap_or(text);
    let is_octal = !digits.is_empty() && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7'));
    if !is_octal {
        let error = ValueError::new(format!("`{shown}` is not a mode in octal digits"));
        let number = text.strip_prefix("0x").map(|digits| u32::from_str_radix(digits, 16));
        if let Some(octal) = number.and_then(Result::ok).filter(|number| *number <= 0o7777) {
            return Err(error.with_hint(format!("write `{octal:04o}`")));
        }
        // 493 is 0755, and 384 is 0600: languages without octal numbers write modes so.
        let decimal =
            text.parse::<u32>().ok().filter(|number| *number <= 0o777 && !text.starts_with(['0', '+']));
        if let Some(mode) = decimal {
            return Err(
                error.with_hint(format!("write `{mode:04o}`, if the decimal number {shown} is meant"))
            );
        }
        let symbolic = text.contains(['+', '=', ',']) || text.contains(['r', 'w', 'x']);
        let hint = if symbolic {
            "write an octal mode like `0644`: symbolic modes are not supported"
        } else {
            "write a mode like `0644`"
        };
        return Err(error.with_hint(hint));
    }
    match u32::from_str_radix(digits, 8) {
        Ok(mode) if mode <= 0o7777 => Ok(FileMode(mode)),
        _ => {
            let error = ValueError::new(format!("`{shown}` is too large for a mode; the maximum is `7777`"));
            // As git and stat write the mode of a file.
            let rest = digits.strip_prefix("100").filter(|rest| rest.len() == 3);
            Err(match rest {
                Some(rest) => {
                    error.with_hint(format!("write `0{rest}`: `100` in front says that it is a file"))
                }
                None => error,
            })
        }
    }
}

/// Returns a mode as reports show it.
pub(crate) fn shown_mode(mode: u32) -> String {
    format!("{mode:04o}")
}

#[cfg(test)]
mod tests {
    use super::{FileMode, decimal_mode};

    #[test]
    fn usual_modes_in_decimal_digits_are_recognised() {
        for (text, mode) in [("420", Some(0o644)), ("416", Some(0o640)), ("365", Some(0o555))] {
            assert_eq!(decimal_mode(text).map(|(_, mode)| mode), mode, "{text}");
        }
        for text in ["644", "755", "600", "640", "0420", "511", "444", "1777", "700", "4755", "775", "0"] {
            assert_eq!(decimal_mode(text), None, "{text}");
        }
    }

    #[test]
    fn directories_get_x_wherever_r_or_w_is_set() {
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
            assert_eq!(FileMode(file).for_directory(), directory, "{file:o}");
        }
    }
}
