//! Order of pacman's versions, `[EPOCH:]VERSION[-RELEASE]`, as `vercmp` prints it.

use std::cmp::Ordering;

use crate::parts::packages::digits::{compare_digits, split_while};
use crate::parts::packages::evr::Evr;

/// Compares two versions as pacman does. Releases count only if both versions have one.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (Evr::of(left), Evr::of(right));
    let releases = || match (left.release, right.release) {
        (Some(left), Some(right)) => compare_segments(left, right),
        _ => Ordering::Equal,
    };
    compare_digits(left.epoch_digits(), right.epoch_digits())
        .then_with(|| compare_segments(left.version, right.version))
        .then_with(releases)
}

/// Compares versions or releases by their segments of digits or letters. Digits are newer than letters, and a longer
/// separator is newer than a shorter one. Letters at the end are older than the end, anything else is newer.
fn compare_segments(left: &str, right: &str) -> Ordering {
    let separates = |byte: &u8| !byte.is_ascii_alphanumeric();
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while !left.is_empty() && !right.is_empty() {
        let (left_separator, left_rest) = split_while(left, separates);
        let (right_separator, right_rest) = split_while(right, separates);
        (left, right) = (left_rest, right_rest);
        let Some(first) = left.first().filter(|_| !right.is_empty()) else { break };
        let separators = left_separator.len().cmp(&right_separator.len());
        if separators.is_ne() {
            return separators;
        }
        let is_number = first.is_ascii_digit();
        let belongs = |byte: &u8| {
            if is_number { byte.is_ascii_digit() } else { byte.is_ascii_alphabetic() }
        };
        let (left_segment, left_rest) = split_while(left, belongs);
        let (right_segment, right_rest) = split_while(right, belongs);
        if right_segment.is_empty() {
            return if is_number { Ordering::Greater } else { Ordering::Less };
        }
        let ordering = if is_number {
            compare_digits(left_segment, right_segment)
        } else {
            left_segment.cmp(right_segment)
        };
        if ordering.is_ne() {
            return ordering;
        }
        (left, right) = (left_rest, right_rest);
    }
    match (left.first(), right.first()) {
        (None, None) => Ordering::Equal,
        (Some(byte), _) if byte.is_ascii_alphabetic() => Ordering::Less,
        (None, Some(byte)) if !byte.is_ascii_alphabetic() => Ordering::Less,
        _ => Ordering::Greater,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_the_order_of_vercmp() {
        for (left, expected, right) in [
            ("1.5.0", Ordering::Equal, "1.5.0"),
            ("1.5.1", Ordering::Greater, "1.5.0"),
            ("1.5.1", Ordering::Greater, "1.5"),
            ("1.5.0-1", Ordering::Less, "1.5.0-2"),
            ("1.5.0-1", Ordering::Less, "1.5.1-1"),
            ("1.5.0-2", Ordering::Less, "1.5.1-1"),
            // A missing release stands for any.
            ("1.5-1", Ordering::Equal, "1.5"),
            ("1.5", Ordering::Equal, "1.5-1"),
            ("1.5-1", Ordering::Less, "1.6"),
            ("1.6", Ordering::Greater, "1.5-1"),
            ("1:1-1", Ordering::Equal, "1:1"),
            // Letters.
            ("1.5b-1", Ordering::Less, "1.5-1"),
            ("1.5b", Ordering::Less, "1.5"),
            ("1.5b-1", Ordering::Less, "1.5"),
            ("1.5b", Ordering::Less, "1.5.1"),
            ("1.0a", Ordering::Less, "1.0alpha"),
            ("1.0alpha", Ordering::Less, "1.0b"),
            ("1.0b", Ordering::Less, "1.0beta"),
            ("1.0beta", Ordering::Less, "1.0rc"),
            ("1.0rc", Ordering::Less, "1.0"),
            ("1.0rc1", Ordering::Less, "1.0"),
            ("1.0beta1", Ordering::Less, "1.0rc1"),
            ("1.0pre1", Ordering::Less, "1.0.1"),
            // Letters behind a dot.
            ("1.5.a", Ordering::Greater, "1.5"),
            ("1.5.b", Ordering::Greater, "1.5.a"),
            ("1.5.1", Ordering::Greater, "1.5.b"),
            ("1.5.b-1", Ordering::Equal, "1.5.b"),
            // Separators of different length, and at the end.
            ("2.0", Ordering::Equal, "2_0"),
            ("2.0_a", Ordering::Equal, "2_0.a"),
            ("2.0a", Ordering::Less, "2.0.a"),
            ("2___a", Ordering::Greater, "2_a"),
            ("1..2", Ordering::Greater, "1.2"),
            ("1.0.", Ordering::Greater, "1.0"),
            ("1.", Ordering::Greater, "1.a"),
            (".1", Ordering::Greater, "1"),
            ("_", Ordering::Equal, "."),
            // Epochs.
            ("0:1.0", Ordering::Equal, "1.0"),
            (":1.0", Ordering::Equal, "1.0"),
            ("0:1.0", Ordering::Less, "0:1.1"),
            ("1:1.0", Ordering::Greater, "0:1.1"),
            ("1:1.0", Ordering::Greater, "2.0"),
            ("1:1.0", Ordering::Less, "2:1.1"),
            ("010:1", Ordering::Greater, "9:1"),
            ("1:1.0-1", Ordering::Less, "1:1.0-2"),
            // Numbers.
            ("1.01", Ordering::Equal, "1.1"),
            ("1.10", Ordering::Greater, "1.9"),
            ("000", Ordering::Equal, "0"),
            ("20230101", Ordering::Less, "1:0"),
            ("99999999999999999999999999", Ordering::Less, "100000000000000000000000000"),
            ("r9.gabc", Ordering::Less, "r10.gabb"),
            ("a", Ordering::Less, "1"),
            ("1~rc1", Ordering::Greater, "1"),
            ("1.0-1.1", Ordering::Greater, "1.0-1"),
        ] {
            assert_eq!(compare(left, right), expected, "{left} {right}");
            assert_eq!(compare(right, left), expected.reverse(), "{right} {left}");
        }
    }
}
