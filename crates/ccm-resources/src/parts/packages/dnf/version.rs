//! Order of rpm versions, `[EPOCH:]VERSION[-RELEASE]`.

use std::cmp::Ordering;

use crate::parts::packages::digits::{compare_digits, split_while};
use crate::parts::packages::evr::Evr;

/// Compares two versions as rpm does. A version without a release is older than the same version with one.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (Evr::of(left), Evr::of(right));
    let releases = || match (left.release, right.release) {
        (Some(left), Some(right)) => compare_segments(left, right),
        (left, right) => left.is_some().cmp(&right.is_some()),
    };
    compare_digits(left.epoch_digits(), right.epoch_digits())
        .then_with(|| compare_segments(left.version, right.version))
        .then_with(releases)
}

/// Strips the epoch, which is not displayed.
pub(crate) fn without_epoch(version: &str) -> &str {
    version.split_once(':').map_or(version, |(_, rest)| rest)
}

/// Compares versions or releases by their segments of digits or letters. Digits are newer than letters, and
/// more segments are newer than fewer. `~` is older than the end, `^` newer than the end and older than the
/// rest.
fn compare_segments(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    loop {
        let separates = |byte: &u8| !byte.is_ascii_alphanumeric() && !matches!(byte, b'~' | b'^');
        left = split_while(left, separates).1;
        right = split_while(right, separates).1;
        match (left.first(), right.first()) {
            (Some(b'~'), Some(b'~')) | (Some(b'^'), Some(b'^')) => {
                (left, right) = (&left[1..], &right[1..]);
                continue;
            }
            (Some(b'~'), _) => return Ordering::Less,
            (_, Some(b'~')) | (Some(_), None) => return Ordering::Greater,
            (None, None) => return Ordering::Equal,
            (None | Some(b'^'), Some(_)) => return Ordering::Less,
            (Some(_), Some(b'^')) => return Ordering::Greater,
            (Some(_), Some(_)) => {}
        }
        let is_number = left[0].is_ascii_digit();
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_in_rpm_order() {
        for (left, expected, right) in [
            ("1.0", Ordering::Equal, "1.0"),
            ("1.0", Ordering::Less, "2.0"),
            ("2.0.1", Ordering::Greater, "2.0"),
            ("2.0.1a", Ordering::Greater, "2.0.1"),
            ("5.5p1", Ordering::Less, "5.5p2"),
            ("5.5p1", Ordering::Less, "5.5p10"),
            ("10xyz", Ordering::Less, "10.1xyz"),
            ("xyz10", Ordering::Less, "xyz10.1"),
            ("xyz.4", Ordering::Less, "8"),
            ("xyz.4", Ordering::Less, "2"),
            ("5.5p2", Ordering::Less, "5.6p1"),
            ("5.6p1", Ordering::Less, "6.5p1"),
            ("6.0.rc1", Ordering::Greater, "6.0"),
            ("10b2", Ordering::Greater, "10a1"),
            ("1.0aa", Ordering::Greater, "1.0a"),
            ("10.0001", Ordering::Equal, "10.1"),
            ("10.0001", Ordering::Less, "10.0039"),
            ("4.999.9", Ordering::Less, "5.0"),
            ("20101121", Ordering::Less, "20101122"),
            ("2_0", Ordering::Equal, "2.0"),
            ("2.0", Ordering::Equal, "2__0"),
            ("a", Ordering::Equal, "a+"),
            ("a+", Ordering::Equal, "a_"),
            ("+a", Ordering::Equal, "_a"),
            ("+", Ordering::Equal, "_"),
            ("1a", Ordering::Less, "1.1"),
            ("1.0~rc1", Ordering::Less, "1.0"),
            ("1.0~rc1", Ordering::Less, "1.0~rc2"),
            ("1.0~rc1~git123", Ordering::Less, "1.0~rc1"),
            ("1.0^", Ordering::Greater, "1.0"),
            ("1.0^git1", Ordering::Greater, "1.0"),
            ("1.0^git1", Ordering::Less, "1.0^git2"),
            ("1.0^git1", Ordering::Less, "1.01"),
            ("1.0^20160101", Ordering::Less, "1.0.1"),
            ("1.0^20160101^git1", Ordering::Greater, "1.0^20160101"),
            ("1.0^20160102", Ordering::Greater, "1.0^20160101^git1"),
            ("1.0~rc1^git1", Ordering::Greater, "1.0~rc1"),
            ("1.0^git1~pre", Ordering::Less, "1.0^git1"),
            ("1.0^git1~pre", Ordering::Greater, "1.0"),
            ("1.0~rc1^git1", Ordering::Less, "1.0"),
            ("1b.fc17", Ordering::Less, "1.fc17"),
            ("1g.fc17", Ordering::Greater, "1.fc17"),
            ("+_", Ordering::Equal, "_+"),
            ("1.1.α", Ordering::Equal, "1.1.ββ"),
            ("~", Ordering::Less, ""),
            ("^", Ordering::Greater, ""),
            ("1.0~", Ordering::Less, "1.0^"),
            ("1~~a", Ordering::Less, "1~a"),
            ("99999999999999999999999999", Ordering::Less, "100000000000000000000000000"),
        ] {
            assert_eq!(compare_segments(left, right), expected, "{left} {right}");
            assert_eq!(compare_segments(right, left), expected.reverse(), "{right} {left}");
        }
    }

    #[test]
    fn epochs_are_compared_first_and_releases_last() {
        for (left, expected, right) in [
            ("1:1-1", Ordering::Greater, "2-1"),
            ("0:1-1", Ordering::Equal, "1-1"),
            ("1-1.el9", Ordering::Less, "1-2.el9"),
            ("1-9.el9", Ordering::Less, "1-10.el9"),
            ("1-9.el9", Ordering::Less, "1.1-1.el9"),
            ("1-9.el9", Ordering::Greater, "1"),
            (":1-1", Ordering::Equal, "0:1-1"),
        ] {
            assert_eq!(compare(left, right), expected, "{left} {right}");
            assert_eq!(compare(right, left), expected.reverse(), "{right} {left}");
        }
    }

    #[test]
    fn epoch_is_not_displayed() {
        assert_eq!(without_epoch("3:5.1.8-6.el9"), "5.1.8-6.el9");
    }
}
