//! The properties of a kernel parameter, as the manifest writes them.

use ccm_properties::{Exposure, PropertyKind, TextValue, ValueError, properties};

use crate::support::values::canonical_path::CanonicalPath;

properties! {
    /// Properties of a kernel parameter; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct SysctlProperties {
        /// Value of the parameter, now and after a boot. Blanks and tabs between numbers are equal, and so are `0x10`, `020`
        /// and `16` where the kernel has a number.
        value: ParameterValue { exposure: Exposure::File("leave the value out: every user can read kernel parameters"), required: true },
        /// File from which the value is set at boot.
        file: CanonicalPath { default: Some("`/etc/sysctl.d/90-ccm.conf`"), foreign_names: &["target", "sysctl_file"] },
    }
}

/// Value of a kernel parameter, with one blank between its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ParameterValue(pub String);

impl TextValue for ParameterValue {
    const KIND: PropertyKind = PropertyKind::TEXT;

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let value = normalized(text);
        if matches!(&*value, "true" | "false") {
            let number = u8::from(value == "true");
            return Err(ValueError::new(format!("the kernel knows no `{value}`"))
                .with_hint(format!("write {number}")));
        }
        if text.trim().chars().any(|c| c.is_control() && c != '\t') {
            return Err(ValueError::new("the value contains a control character or more than one line"));
        }
        Ok(Self(value))
    }
}

/// Returns `true` if the kernel reports a value after it was given another text for it: numbers may be hexadecimal, or
/// octal with a zero in front.
pub(super) fn is_same(reported: &str, given: &str) -> bool {
    reported == given || {
        let mut reported = reported.split(' ');
        given.split(' ').all(|given| reported.next().is_some_and(|reported| is_same_number(reported, given)))
            && reported.next().is_none()
    }
}

/// Returns `true` for two texts with which the kernel gets one value.
pub(super) fn are_equal(one: &str, other: &str) -> bool {
    let words = |text: &str| {
        text.split(' ').map(|word| number(word).ok_or_else(|| word.to_owned())).collect::<Vec<_>>()
    };
    one == other || words(one) == words(other)
}

fn is_same_number(reported: &str, given: &str) -> bool {
    let as_number = || Some(reported.parse::<i128>().ok()? == number(given)?);
    reported == given || as_number() == Some(true)
}

/// Returns the number that the kernel reads.
fn number(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let number = match (hexadecimal, digits.strip_prefix('0')) {
        (Some(digits), _) if !digits.starts_with(['+', '-']) => i128::from_str_radix(digits, 16),
        (None, Some(octal)) if !octal.is_empty() => i128::from_str_radix(octal, 8),
        _ => digits.parse(),
    };
    number.ok().map(|number| sign * number)
}

/// Returns a number with a zero in front, and its value, which is another one in decimal digits.
pub(super) fn octal(value: &str) -> Option<(&str, i128)> {
    let is_octal = |text: &&str| {
        text.len() > 1 && text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let text = value.split(' ').find(is_octal)?;
    let number = number(text)?;
    (text.parse() != Ok(number)).then_some((text, number))
}

/// Returns a value with one blank between its parts.
pub(super) fn normalized(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{is_same, octal};

    #[test]
    fn numbers_are_compared_as_the_kernel_reads_them() {
        for (reported, given, expected) in [
            ("24", "030", true),
            ("30", "030", false),
            ("4096", "0x1000", true),
            ("4096 0", "0X1000 00", true),
            ("-16", "-0x10", true),
            ("030", "030", true),
            ("", "", true),
            ("0", "", false),
            ("1 2", "1", false),
            ("1", "1 2", false),
            ("8", "08", false),
            ("a", "0xa", false),
            ("0x10", "16", false),
            ("5", "+5", false),
        ] {
            assert_eq!(is_same(reported, given), expected, "{reported} {given}");
        }
    }

    #[test]
    fn octal_numbers_are_found() {
        assert_eq!(octal("1 030"), Some(("030", 24)));
        for value in ["0", "00", "07", "0x10", "30", "08", "core.%p", ""] {
            assert_eq!(octal(value), None, "{value}");
        }
    }
}
