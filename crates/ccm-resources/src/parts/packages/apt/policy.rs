//! Parsers for `apt-cache policy`, and for `apt-cache showpkg` of packages without a version.

use std::collections::{BTreeSet, HashMap};

use crate::parts::packages::Availability;

/// Availability of packages by the names that apt prints.
#[derive(Debug, Default)]
pub(crate) struct AptPolicy(HashMap<String, Availability>);

impl AptPolicy {
    /// Parses paragraphs: name, candidate, then a table of versions, each followed by its sources.
    pub(crate) fn parse(text: &str) -> Self {
        let mut by_name: HashMap<String, Availability> = HashMap::new();
        let mut name = "";
        let mut candidate = None;
        let mut versions = Vec::new();
        let mut finish = |name: &str, candidate: &mut Option<String>, versions: &mut Vec<String>| {
            if !name.is_empty() {
                let (candidate, all) = (candidate.take(), std::mem::take(versions));
                by_name.insert(name.to_owned(), Availability::Versions { candidate, all });
            }
        };
        for line in text.lines() {
            if !line.starts_with(' ') {
                finish(name, &mut candidate, &mut versions);
                name = line.strip_suffix(':').unwrap_or_default();
            } else if let Some(version) = line.strip_prefix("  Candidate: ") {
                candidate = Some(version.trim().to_owned()).filter(|version| version != "(none)");
            } else if let Some(rest) = line.strip_prefix(" *** ").or_else(|| line.strip_prefix("     ")) {
                // Sources are indented further.
                if let Some(version) = rest.split(' ').next().filter(|version| !version.is_empty()) {
                    versions.push(version.to_owned());
                }
            }
        }
        finish(name, &mut candidate, &mut versions);
        Self(by_name)
    }

    pub(crate) fn availability(&self, apt_name: &str) -> Availability {
        self.0
            .get(apt_name)
            .filter(|availability| !has_no_version(availability))
            .cloned()
            .unwrap_or(Availability::Unknown)
    }

    /// Returns `true` if apt knows only the name, because other packages provide or mention it.
    pub(crate) fn is_name_only(&self, apt_name: &str) -> bool {
        self.0.get(apt_name).is_some_and(has_no_version)
    }
}

fn has_no_version(availability: &Availability) -> bool {
    matches!(availability, Availability::Versions { all, .. } if all.is_empty())
}

/// Providers of virtual packages by the names that apt prints.
#[derive(Debug, Default)]
pub(crate) struct VirtualPackages<'t>(HashMap<&'t str, BTreeSet<&'t str>>);

impl<'t> VirtualPackages<'t> {
    /// Parses paragraphs: the name, and after a heading a line for each version of each provider.
    pub(crate) fn parse(text: &'t str) -> Self {
        let mut providers: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        let mut name = "";
        let mut is_list = false;
        for line in text.lines() {
            if let Some(next) = line.strip_prefix("Package: ") {
                (name, is_list) = (next, false);
            } else if line.starts_with("Reverse Provides:") {
                is_list = true;
            } else if is_list && let Some((provider, _)) = line.split_once(' ') {
                providers.entry(name).or_default().insert(provider);
            }
        }
        Self(providers)
    }

    pub(crate) fn availability(&self, apt_name: &str) -> Availability {
        match self.0.get(apt_name) {
            Some(by) => {
                Availability::Virtual { by: by.iter().map(|provider| (*provider).to_owned()).collect() }
            }
            None => Availability::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policy_lists_candidates_and_versions() {
        let policy = AptPolicy::parse(
            "bash:
  Installed: 5.2.15-2+b8
  Candidate: 5.2.15-2+b13
  Version table:
     5.2.15-2+b13 500
        500 http://deb.debian.org/debian bookworm/main amd64 Packages
 *** 5.2.15-2+b8 100
        100 /var/lib/dpkg/status
libc6:i386:
  Installed: (none)
  Candidate: (none)
  Version table:
     1:2.36-9 -1
        -10 http://deb.debian.org/debian bookworm/main i386 Packages
mail-transport-agent:
  Installed: (none)
  Candidate: (none)
  Version table:
zsh:
  Installed: (none)
  Candidate: 5.9-4+b2
  Package pin: 5.9-4+b2
  Version table:
     5.9-4+b2 990
        500 http://deb.debian.org/debian bookworm/main amd64 Packages
",
        );
        let versions = |candidate: Option<&str>, all: &[&str]| Availability::Versions {
            candidate: candidate.map(str::to_owned),
            all: all.iter().map(|version| (*version).to_owned()).collect(),
        };
        for (name, expected) in [
            ("bash", versions(Some("5.2.15-2+b13"), &["5.2.15-2+b13", "5.2.15-2+b8"])),
            ("libc6:i386", versions(None, &["1:2.36-9"])),
            ("mail-transport-agent", Availability::Unknown),
            ("zsh", versions(Some("5.9-4+b2"), &["5.9-4+b2"])),
            ("libc6", Availability::Unknown),
        ] {
            assert_eq!(policy.availability(name), expected, "{name}");
            assert_eq!(policy.is_name_only(name), name == "mail-transport-agent", "{name}");
        }
        assert_eq!(AptPolicy::parse("").availability("bash"), Availability::Unknown);
    }

    #[test]
    fn packages_that_only_mention_a_name_are_no_providers() {
        let providers = VirtualPackages::parse(
            "Package: mail-transport-agent
Versions: 

Reverse Depends: 
  mutt,mail-transport-agent
Dependencies: 
Provides: 
Reverse Provides: 
postfix 3.7.11-0+deb12u1 (= )
dma 0.13-1+b1 (= )
postfix 3.7.10-0+deb12u1 (= )
Package: ca-certificates
Versions: 

Reverse Depends: 
  curl,ca-certificates
Dependencies: 
Provides: 
Reverse Provides: 
",
        );
        let by = vec!["dma".to_owned(), "postfix".to_owned()];
        assert_eq!(providers.availability("mail-transport-agent"), Availability::Virtual { by });
        for name in ["ca-certificates", "nosuch"] {
            assert_eq!(providers.availability(name), Availability::Unknown, "{name}");
        }
    }
}
