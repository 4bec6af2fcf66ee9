//! Comparison of arbitrarily long numbers in versions.

use std::cmp::Ordering;

/// Splits at the first byte for which `is_so` is false.
pub(crate) fn split(bytes: &[u8], is_so: impl Fn(&u8) -> bool) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().position(|byte| !is_so(byte)).unwrap_or(bytes.len()))
}

/// Compares two numbers of any length.
pub(crate) fn compare_digits(left: &[u8], right: &[u8]) -> Ordering {
    let (_, left) = split(left, |byte| *byte == b'0');
    let (_, right) = split(right, |byte| *byte == b'0');
    left.len().cmp(&right.len()).then_with(|| left.cmp(right))
}
