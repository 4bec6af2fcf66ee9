//! Versions of ccm.

use std::fmt;

/// Version of ccm: three numbers. What follows a hyphen or a plus sign is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramVersion([u32; 3]);

impl ProgramVersion {
    /// Returns the lowest version, which no release needs more than.
    pub fn none() -> Self {
        Self([0; 3])
    }

    /// Reads a version, such as `0.3.0`; `None` if it is none.
    pub fn parse(text: &str) -> Option<Self> {
        let numbers = text.split(['-', '+']).next()?;
        let mut parts = numbers.split('.').map(|part| {
            let is_number = part.bytes().all(|byte| byte.is_ascii_digit()) && !part.is_empty();
            is_number.then(|| part.parse().ok()).flatten()
        });
        let version = [parts.next()??, parts.next()??, parts.next()??];
        parts.next().is_none().then_some(Self(version))
    }
}

impl fmt::Display for ProgramVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [major, minor, patch] = self.0;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        let version = |text| ProgramVersion::parse(text).expect("a version");
        assert!(version("0.10.0") > version("0.9.9"));
        assert_eq!(version("1.2.3-rc.1"), version("1.2.3+build"));
        for text in ["", "1", "1.2", "1.2.3.4", "1.2.x", "1..3", "v1.2.3", "1.2.+3", "1.2.99999999999"] {
            assert_eq!(ProgramVersion::parse(text), None, "{text}");
        }
    }
}
