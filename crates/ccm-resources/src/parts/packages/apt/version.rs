//! Order of Debian versions, `[EPOCH:]UPSTREAM[-REVISION]`.

use std::cmp::Ordering;

use crate::parts::packages::digits::{compare_digits, split_while};

/// Compares two versions as dpkg does.
pub(crate) fn compare(left: &str, right: &str) -> Ordering {
    let (left, right) = (DebianVersion::of(left), DebianVersion::of(right));
    let epochs = compare_digits(left.epoch.as_bytes(), right.epoch.as_bytes());
    epochs
        .then_with(|| compare_part(left.upstream, right.upstream))
        .then_with(|| compare_part(left.revision, right.revision))
}

/// Returns `true` if `desired` stands for `version`; a missing epoch or revision stands for all.
pub(crate) fn satisfies(desired: &str, version: &str) -> bool {
    let (desired, found) = (DebianVersion::of(desired), DebianVersion::of(version));
    let epoch =
        !desired.has_epoch || compare_digits(desired.epoch.as_bytes(), found.epoch.as_bytes()).is_eq();
    let revision = !desired.has_revision || desired.revision == found.revision;
    // A version without a revision may also be that of a native package, which has no revisions.
    epoch && desired.upstream == found.upstream && revision
}

struct DebianVersion<'a> {
    has_epoch: bool,
    epoch: &'a str,
    upstream: &'a str,
    has_revision: bool,
    revision: &'a str,
}

impl<'a> DebianVersion<'a> {
    fn of(version: &'a str) -> Self {
        let (has_epoch, epoch, rest) = match version.split_once(':') {
            Some((epoch, rest)) => (true, epoch, rest),
            None => (false, "", version),
        };
        // A missing revision equals the revision 0.
        let (has_revision, upstream, revision) = match rest.rsplit_once('-') {
            Some((upstream, revision)) => (true, upstream, revision),
            None => (false, rest, ""),
        };
        Self { has_epoch, epoch, upstream, has_revision, revision }
    }
}

/// Compares upstream versions or revisions: runs of non-digits as text, runs of digits as numbers.
fn compare_part(left: &str, right: &str) -> Ordering {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    while !left.is_empty() || !right.is_empty() {
        let (left_text, left_rest) = split_while(left, |byte| !byte.is_ascii_digit());
        let (right_text, right_rest) = split_while(right, |byte| !byte.is_ascii_digit());
        let (left_digits, left_rest) = split_while(left_rest, u8::is_ascii_digit);
        let (right_digits, right_rest) = split_while(right_rest, u8::is_ascii_digit);
        let ordering =
            compare_text(left_text, right_text).then_with(|| compare_digits(left_digits, right_digits));
        if ordering.is_ne() {
            return ordering;
        }
        (left, right) = (left_rest, right_rest);
    }
    Ordering::Equal
}

/// Compares text: a tilde sorts before the end, the end before letters, letters before the rest.
fn compare_text(left: &[u8], right: &[u8]) -> Ordering {
    let weight = |byte: Option<&u8>| match byte {
        Some(b'~') => -1,
        None => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(byte) => i32::from(*byte) + 256,
    };
    (0..left.len().max(right.len()))
        .map(|at| weight(left.get(at)).cmp(&weight(right.get(at))))
        .find(|ordering| ordering.is_ne())
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_debian_order() {
        for (left, expected, right) in [
            ("1", Ordering::Equal, "1"),
            ("1.0", Ordering::Less, "1.1"),
            ("1.9", Ordering::Less, "1.10"),
            ("1.09", Ordering::Equal, "1.9"),
            ("5.9", Ordering::Less, "5.9-1"),
            ("5.9", Ordering::Equal, "5.9-0"),
            ("5.9-4", Ordering::Less, "5.9-4+b1"),
            ("5.9-4", Ordering::Less, "5.9-4ubuntu1"),
            ("5.9-4+b9", Ordering::Less, "5.9-4+b10"),
            ("0:5.9", Ordering::Equal, "5.9"),
            ("1:1", Ordering::Greater, "2"),
            ("2:1", Ordering::Greater, "1:9"),
            ("10:1", Ordering::Greater, "9:1"),
            ("1.0~rc1", Ordering::Less, "1.0"),
            ("1.0~rc1-1", Ordering::Less, "1.0-1"),
            ("1.0~~", Ordering::Less, "1.0~"),
            ("1.0~~a", Ordering::Less, "1.0~"),
            ("1.0~", Ordering::Less, "1.0"),
            ("1.0", Ordering::Less, "1.0a"),
            ("1.0a", Ordering::Less, "1.0b"),
            ("1.0a", Ordering::Less, "1.0+"),
            ("1.0+b", Ordering::Greater, "1.0-b+"),
            ("1.0Z", Ordering::Less, "1.0a"),
            ("1.0a9", Ordering::Less, "1.0a10"),
            ("1.0.", Ordering::Greater, "1.0"),
            ("1-2-3", Ordering::Greater, "1-2-2"),
            ("1-2-3", Ordering::Greater, "1-1-9"),
            ("20230101", Ordering::Less, "1:0"),
            ("99999999999999999999999999", Ordering::Less, "100000000000000000000000000"),
            ("1.2.3+dfsg-1", Ordering::Greater, "1.2.3-9"),
            ("0", Ordering::Equal, "00"),
            ("0:0-0", Ordering::Equal, "0"),
            ("1.2.3", Ordering::Equal, "1.2.3-0"),
            ("009", Ordering::Equal, "9"),
            ("009ab5", Ordering::Equal, "09ab5"),
            ("1.2.3-1", Ordering::Less, "1.2.3-1+b1"),
            ("1.0~~", Ordering::Less, "1.0~~a"),
            ("1.0~~a", Ordering::Less, "1.0~"),
            ("1.0~", Ordering::Less, "1.0"),
            ("1.0", Ordering::Less, "1.0a"),
            ("1.0a", Ordering::Less, "1.0+"),
            ("1.0+", Ordering::Greater, "1.0-0+"),
            ("0-a", Ordering::Less, "0-b"),
            ("0-0a", Ordering::Less, "0-0+"),
            ("2:1", Ordering::Greater, "1:9999"),
            ("2.36-9+deb12u4", Ordering::Less, "2.36-9+deb12u13"),
        ] {
            assert_eq!(compare(left, right), expected, "{left} {right}");
            assert_eq!(compare(right, left), expected.reverse(), "{right} {left}");
        }
    }

    #[test]
    fn upstream_version_stands_for_every_revision() {
        for (desired, version, is_so) in [
            ("5.9", "5.9-4", true),
            ("5.9", "5.9-4+b1", true),
            ("5.9", "5.9", true),
            ("5.9", "5.9.1-1", false),
            ("5.9", "5.90-1", false),
            ("5.9", "5.9+dfsg-1", false),
            ("5.9-4", "5.9-4", true),
            ("5.9-4", "5.9-4+b1", false),
            ("5.9-4", "5.9", false),
            ("5.9", "1:5.9-4", true),
            ("5.9-4", "1:5.9-4", true),
            ("0:5.9", "1:5.9-4", false),
            ("0:5.9", "5.9-4", true),
            ("1:5.9", "1:5.9-4", true),
            ("2:5.9", "1:5.9-4", false),
            ("1-2", "1-2-3", false),
            ("1-2-3", "1-2-3", true),
        ] {
            assert_eq!(satisfies(desired, version), is_so, "{desired} {version}");
        }
    }
}
