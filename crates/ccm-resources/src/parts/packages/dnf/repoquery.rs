//! Parser for `dnf repoquery`.

use std::collections::HashMap;

use super::rpm_database::{fields, split_arch};
use super::version::compare;
use crate::parts::packages::Availability;

/// Output format; version 5 does not end lines by itself, version 4 does.
pub(crate) const FORMAT: &str = "%{name} %{epoch} %{version} %{release} %{arch}\n";

/// Available versions and architectures by name.
#[derive(Debug, Default)]
pub(crate) struct RepoqueryOutput(HashMap<String, Vec<(String, String)>>);

impl RepoqueryOutput {
    /// Parses output in [`FORMAT`].
    pub(crate) fn parse(text: &str) -> Self {
        let mut packages: HashMap<String, Vec<(String, String)>> = HashMap::new();
        for (name, version, arch) in text.lines().filter_map(fields).filter(|(_, _, arch)| *arch != "src") {
            packages.entry(name.to_owned()).or_default().push((version, arch.to_owned()));
        }
        Self(packages)
    }

    /// Names of the packages, sorted.
    pub(crate) fn into_names(self) -> Vec<String> {
        let mut names: Vec<String> = self.0.into_keys().collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn availability(&self, name: &str) -> Availability {
        let (base, arch) = split_arch(name);
        let Some(versions) = self.0.get(base) else { return Availability::Unknown };
        let meant = versions.iter().filter(|(_, found)| arch.is_none_or(|arch| found == arch));
        let all: Vec<String> = meant.map(|(version, _)| version.clone()).collect();
        match all.iter().max_by(|left, right| compare(left, right)).cloned() {
            Some(newest) => Availability::Versions { candidate: Some(newest), all },
            None => Availability::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn newest_version_is_the_candidate() {
        let available = RepoqueryOutput::parse(
            "bash 0 5.1.8 9.el9 x86_64\n\nbash 0 5.1.8 10.el9 x86_64\nbash 0 5.1.8 11.el9 src\n\
             glibc 0 2.34 60.el9 i686\nwarning of some kind\n",
        );
        let versions = |candidate: &str, all: &[&str]| Availability::Versions {
            candidate: Some(candidate.to_owned()),
            all: all.iter().map(|version| (*version).to_owned()).collect(),
        };
        for (name, expected) in [
            ("bash", versions("0:5.1.8-10.el9", &["0:5.1.8-9.el9", "0:5.1.8-10.el9"])),
            ("bash.x86_64", versions("0:5.1.8-10.el9", &["0:5.1.8-9.el9", "0:5.1.8-10.el9"])),
            ("bash.i686", Availability::Unknown),
            ("glibc.i686", versions("0:2.34-60.el9", &["0:2.34-60.el9"])),
            ("nosuch", Availability::Unknown),
        ] {
            assert_eq!(available.availability(name), expected, "{name}");
        }
    }
}
