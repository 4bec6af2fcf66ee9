//! Comparison of arbitrarily long numbers in versions.

use std::cmp::Ordering;

/// Splits after the leading bytes for which the predicate is true.
pub(crate) fn split_while(bytes: &[u8], predicate: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|byte| !predicate(byte)).unwrap_or(bytes.len()))
}

/// Compares two numbers of any length.
pub(crate) fn compare_digits(left: &[u8], right: &[u8]) -> Ordering {
    let (_, left) = split_while(left, |byte| *byte == b'0');
    let (_, right) = split_while(right, |byte| *byte == b'0');
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}
