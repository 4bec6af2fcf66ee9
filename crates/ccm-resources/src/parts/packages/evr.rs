//! Versions `[EPOCH:]VERSION[-RELEASE]`, which rpm and pacman split alike.

use crate::parts::packages::digits::{compare_digits, split_while};

pub(crate) struct Evr<'a> {
    pub epoch: Option<&'a str>,
    pub version: &'a str,
    pub release: Option<&'a str>,
}

impl<'a> Evr<'a> {
    /// Splits a version. The epoch is the number before a colon, the release follows the last dash.
    pub(crate) fn of(version: &'a str) -> Self {
        let (digits, behind) = split_while(version.as_bytes(), u8::is_ascii_digit);
        let (epoch, rest) = match behind.first() {
            Some(b':') => (Some(&version[..digits.len()]), &version[digits.len() + 1..]),
            _ => (None, version),
        };
        let (version, release) = match rest.rsplit_once('-') {
            Some((version, release)) => (version, Some(release)),
            None => (rest, None),
        };
        Self { epoch, version, release }
    }

    /// Digits of the epoch; a missing epoch is 0.
    pub(crate) fn epoch_digits(&self) -> &'a [u8] {
        self.epoch.unwrap_or_default().as_bytes()
    }
}

/// Returns `true` if `desired` stands for `version`; a missing epoch or release stands for all.
pub(crate) fn satisfies(desired: &str, version: &str) -> bool {
    let (desired, found) = (Evr::of(desired), Evr::of(version));
    let has_epoch =
        desired.epoch.is_none() || compare_digits(desired.epoch_digits(), found.epoch_digits()).is_eq();
    has_epoch
        && desired.version == found.version
        && (desired.release.is_none() || desired.release == found.release)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_stands_for_every_release() {
        for (desired, version, is_so) in [
            ("5.1.8", "0:5.1.8-6.el9", true),
            ("5.1.8-6.el9", "0:5.1.8-6.el9", true),
            ("5.1.8-6", "0:5.1.8-6.el9", false),
            ("5.1", "0:5.1.8-6.el9", false),
            ("0:5.1.8", "0:5.1.8-6.el9", true),
            ("1:5.1.8", "0:5.1.8-6.el9", false),
            ("5.1.8", "3:5.1.8-6.el9", true),
            ("2.0", "1:2.0-3", true),
            ("01:2.0", "1:2.0-3", true),
            ("0:2.0", "2.0-3", true),
            ("2.0-3", "2.0-3.1", false),
            ("2_0", "2.0-3", false),
        ] {
            assert_eq!(satisfies(desired, version), is_so, "{desired} {version}");
        }
    }
}
