//! Packages that dnf must not change.

use ccm_model::{Glob, GlobKind};

use crate::parts::packages::Hold;

#[derive(Debug, Default)]
pub(crate) struct Locks {
    /// Names in the lists of the plugin versionlock.
    locked: Vec<String>,
    /// Names and patterns that the configuration excludes.
    excluded: Vec<String>,
}

impl Locks {
    /// Parses the list of dnf 4, the list of dnf 5 and the main configuration; each may be empty.
    pub(crate) fn parse(list: &str, toml: &str, configuration: &str) -> Self {
        let of_list = list.lines().filter_map(locked_name).map(str::to_owned);
        let of_toml = toml.lines().filter_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "name").then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        Self { locked: of_list.chain(of_toml).collect(), excluded: excluded(configuration) }
    }

    /// Returns `true` if the plugin versionlock has an entry of this name.
    pub(crate) fn is_locked(&self, name: &str) -> bool {
        self.locked.iter().any(|locked| locked == name)
    }

    /// Returns the hold on a package. An exclusion prevents even an installation, a lock does not.
    pub(crate) fn hold(&self, name: &str, is_installed: bool) -> Option<Hold> {
        if is_installed && self.is_locked(name) {
            let release = format!("release the lock with `dnf versionlock delete {name}`");
            return Some(Hold { by: "the plugin versionlock of dnf".to_owned(), release });
        }
        let pattern = self.excluded.iter().find(|pattern| matches(pattern, name))?;
        Some(Hold {
            by: format!("the exclusion `{pattern}` in /etc/dnf/dnf.conf"),
            release: "remove the exclusion".to_owned(),
        })
    }
}

/// Returns the name in `NAME-EPOCH:VERSION-RELEASE.ARCH`; `!` excludes one version and holds nothing.
fn locked_name(line: &str) -> Option<&str> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['#', '!']) {
        return None;
    }
    let (rest, _release) = line.rsplit_once('-')?;
    rest.rsplit_once('-').map(|(name, _version)| name)
}

/// Returns the exclusions of the section `main`. An indented line continues the value above it.
fn excluded(configuration: &str) -> Vec<String> {
    let mut is_main = false;
    let mut is_value = false;
    let mut found = Vec::new();
    for line in configuration.lines() {
        let is_continuation = line.starts_with([' ', '\t']);
        let value = if line.starts_with('[') {
            is_main = line.trim() == "[main]";
            is_value = false;
            continue;
        } else if is_continuation && is_value {
            line
        } else {
            let Some((key, value)) = line.split_once('=') else { continue };
            is_value = is_main && matches!(key.trim(), "exclude" | "excludepkgs");
            value
        };
        if is_value {
            let names = value.split([',', ' ', '\t']).filter(|name| !name.is_empty());
            found.extend(names.map(str::to_owned));
        }
    }
    found
}

/// Matches the name of a package. dnf and pacman know the patterns of fnmatch(3), and compare anything else as it is.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    Glob::parse(pattern, GlobKind::Text).map_or(pattern == name, |glob| glob.matches(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_packages_are_found() {
        let locks = Locks::parse(
            "# Added lock on Mon\nbash-0:5.1.8-6.el9.*\nbind-utils-32:9.16.23-11.el9.*\n!zsh-0:5.9-1.el9.*\n",
            "version = \"1.0\"\n[[packages]]\nname = \"nginx\"\n[[packages.conditions]]\nkey = \"evr\"\n",
            "[main]\ngpgcheck=1\nexcludepkgs = kernel*, vim-?\n more\ninstallonly_limit=3\n other\n[repo]\nexclude=curl\n",
        );
        for (name, is_held) in [
            ("bash", true),
            ("bind-utils", true),
            ("bind", false),
            ("zsh", false),
            ("nginx", true),
            ("kernel", true),
            ("kernel-core", true),
            ("vim-x", true),
            ("vim-xy", false),
            ("more", true),
            ("other", false),
            ("curl", false),
        ] {
            assert_eq!(locks.hold(name, true).is_some(), is_held, "{name}");
        }
        assert_eq!(Locks::parse("", "", "").hold("bash", true), None);
        assert_eq!(locks.hold("bash", false), None);
        assert!(locks.hold("kernel-core", false).is_some());
    }

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, fits) in [
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("*a", "bba", true),
            ("*a", "bab", false),
            ("a", "ab", false),
            ("?", "", false),
            ("kernel-[[:lower:]]*", "kernel-core", true),
            ("kernel-[a", "kernel-a", false),
            ("kernel-[a", "kernel-[a", true),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
