//! The database of rpm.

use std::collections::HashMap;

use super::version::compare;
use crate::parts::packages::{Installation, Presence};

/// Output format for rpm.
pub(crate) const FORMAT: &str = "%{NAME} %{EPOCHNUM} %{VERSION} %{RELEASE} %{ARCH}\n";

/// Output format for queries of providers: a mark, the name of the package, and what it provides.
pub(crate) const PROVIDES: &str = "= %{NAME}[ %{PROVIDENAME}]\n";

/// Parses output in [`PROVIDES`], among which rpm prints sentences about what nothing provides.
pub(crate) fn providers(text: &str, names: &[&str]) -> HashMap<String, Vec<String>> {
    let mut providers: HashMap<String, Vec<String>> = HashMap::new();
    for line in text.lines().filter_map(|line| line.strip_prefix("= ")) {
        let Some((package, provided)) = line.split_once(' ') else { continue };
        for name in names {
            let base = split_arch(name).0;
            if base != package && provided.split(' ').any(|provided| provided == base) {
                providers.entry((*name).to_owned()).or_default().push(package.to_owned());
            }
        }
    }
    for by in providers.values_mut() {
        by.sort_unstable();
        by.dedup();
    }
    providers
}

#[derive(Debug, Default)]
pub(crate) struct RpmDatabase(HashMap<Box<str>, Vec<RpmEntry>>);

#[derive(Debug)]
struct RpmEntry {
    /// Version with its epoch.
    version: String,
    arch: Box<str>,
}

impl RpmDatabase {
    /// Parses output in [`FORMAT`].
    pub(crate) fn parse(text: &str) -> Self {
        let mut packages: HashMap<Box<str>, Vec<RpmEntry>> = HashMap::new();
        for line in text.lines() {
            let Some((name, version, arch)) = fields(line) else { continue };
            packages.entry(name.into()).or_default().push(RpmEntry { version, arch: arch.into() });
        }
        Self(packages)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(|name| &**name)
    }

    /// Architecture of the machine: that of rpm itself.
    pub(crate) fn native(&self) -> Option<&str> {
        self.0.get("rpm").and_then(|entries| entries.first()).map(|entry| &*entry.arch)
    }

    /// Looks up a package, whose name may end in an architecture. Of several installed versions the newest
    /// counts.
    pub(crate) fn find(&self, name: &str) -> Installation {
        let (base, arch) = split_arch(name);
        let Some(entries) = self.0.get(base) else { return Installation::default() };
        let meant = entries.iter().filter(|entry| arch.is_none_or(|arch| *entry.arch == *arch));
        let Some(newest) = meant.max_by(|left, right| compare(&left.version, &right.version)) else {
            return Installation::default();
        };
        Installation {
            presence: Presence::Installed(newest.version.clone()),
            arch: Some(newest.arch.to_string()),
            ..Installation::default()
        }
    }
}

pub(super) fn split_arch(name: &str) -> (&str, Option<&str>) {
    const ARCHITECTURES: [&str; 11] = [
        "x86_64",
        "i686",
        "i586",
        "i386",
        "noarch",
        "aarch64",
        "armv7hl",
        "ppc64le",
        "s390x",
        "riscv64",
        "loongarch64",
    ];
    match name.rsplit_once('.') {
        Some((base, arch)) if ARCHITECTURES.contains(&arch) => (base, Some(arch)),
        _ => (name, None),
    }
}

/// Splits a line into name, version with epoch, and architecture.
pub(super) fn fields(line: &str) -> Option<(&str, String, &str)> {
    let [name, epoch, version, release, arch] =
        line.split_whitespace().collect::<Vec<_>>().try_into().ok()?;
    let epoch = if epoch == "(none)" { "0" } else { epoch };
    Some((name, format!("{epoch}:{version}-{release}"), arch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_found_by_name_and_architecture() {
        let database = RpmDatabase::parse(
            "bash 0 5.1.8 6.el9 x86_64
glibc 0 2.34 60.el9 x86_64
glibc 0 2.34 59.el9 i686
kernel 0 5.14.0 9.el9 x86_64
kernel 0 5.14.0 10.el9 x86_64
python3.11 0 3.11.2 2.el9 x86_64
bind-utils 32 9.16.23 11.el9 x86_64
gpg-pubkey (none) 8483c65d 5ccc5b19 (none)
broken line
",
        );
        for (name, expected) in [
            ("bash", Some(("0:5.1.8-6.el9", "x86_64"))),
            ("bash.x86_64", Some(("0:5.1.8-6.el9", "x86_64"))),
            ("bash.i686", None),
            ("glibc.i686", Some(("0:2.34-59.el9", "i686"))),
            ("glibc", Some(("0:2.34-60.el9", "x86_64"))),
            ("kernel", Some(("0:5.14.0-10.el9", "x86_64"))),
            ("python3.11", Some(("0:3.11.2-2.el9", "x86_64"))),
            ("python3", None),
            ("bind-utils", Some(("32:9.16.23-11.el9", "x86_64"))),
            ("broken", None),
        ] {
            let found = database.find(name);
            let expected = expected.map(|(version, arch)| (version.to_owned(), arch.to_owned()));
            let found = match found.presence {
                Presence::Installed(version) => Some((version, found.arch.unwrap_or_default())),
                _ => None,
            };
            assert_eq!(found, expected, "{name}");
        }
    }
}
