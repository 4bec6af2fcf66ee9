//! Sizes as people write them.

use bytesize::ByteSize;

/// Regular expression of the texts that [`parse_size`] reads, for schemas.
pub const SIZE_PATTERN: &str = "^([0-9]+|[0-9]+(\\.[0-9]+)? ?([KMGTPEkmgtpe][Ii]?[Bb]?|[Bb]))$";

/// Reads a size in bytes: `4096`, `64K` (64000 bytes), `64Ki` (65536 bytes), `1.5GiB`. Returns `None` for any other
/// text, and for a size that no number holds.
pub fn parse_size(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|character: char| character.is_ascii_digit() || character == '.');
    let number = &text[..text.len() - unit.len()];
    let is_number = number.starts_with(|first: char| first.is_ascii_digit()) && !number.ends_with('.');
    let has_more_blanks = unit.strip_prefix(' ').unwrap_or(unit).contains(char::is_whitespace);
    let size = text.parse::<ByteSize>().ok().filter(|_| is_number && !has_more_blanks)?;
    // The library returns the largest number for what is larger.
    Some(size.0).filter(|size| *size < u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("64K", 64_000),
            ("64Ki", 65_536),
            ("64kib", 65_536),
            ("64M", 64_000_000),
            ("64 MiB", 64 << 20),
            ("1G", 1_000_000_000),
            ("1.5GiB", 3 << 29),
            ("7B", 7),
        ] {
            assert_eq!(parse_size(text), Some(bytes), "{text}");
        }
        for text in [
            "",
            "M",
            "-1",
            ".5M",
            "5.M",
            "1.5",
            "1.2.3M",
            "5 ",
            "5  M",
            "64Kiiib",
            "64KBB",
            "1X",
            "99999999999999G",
        ] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
