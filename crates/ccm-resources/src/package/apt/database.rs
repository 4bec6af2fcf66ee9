//! The database of dpkg: what is on the machine.

use std::collections::HashMap;

use crate::package::state::{Found, Hold, Presence};

/// All packages that dpkg knows of.
#[derive(Debug, Default)]
pub(crate) struct Database {
    packages: HashMap<Box<str>, Vec<Entry>>,
    /// The architecture of the machine: that of dpkg itself.
    native: Option<Box<str>>,
    /// Packages whose installation has not come to its end.
    unfinished: Vec<Box<str>>,
}

#[derive(Debug, Default)]
struct Entry {
    arch: Box<str>,
    version: Box<str>,
    is_held: bool,
    status: Box<str>,
}

impl Database {
    /// Reads it from what dpkg writes: paragraphs of `Field: value`, an empty line between two.
    pub(crate) fn parse(text: &str) -> Self {
        let mut database = Self::default();
        let mut name = "";
        let mut entry = Entry::default();
        for line in text.lines().chain([""]) {
            if line.is_empty() {
                database.add(name, std::mem::take(&mut entry));
                name = "";
                continue;
            }
            // What begins with a blank goes on with the field above it.
            let Some((field, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match field {
                "Package" => name = value,
                "Architecture" => entry.arch = value.into(),
                "Version" => entry.version = value.into(),
                "Status" => {
                    let mut words = value.split(' ');
                    entry.is_held = words.next() == Some("hold");
                    entry.status = words.next_back().unwrap_or_default().into();
                }
                _ => {}
            }
        }
        database
    }

    fn add(&mut self, name: &str, entry: Entry) {
        if name.is_empty() {
            return;
        }
        if name == "dpkg" {
            self.native = Some(entry.arch.clone());
        }
        if let Presence::Unfinished(_) = presence(&entry) {
            self.unfinished.push(name.into());
        }
        self.packages.entry(name.into()).or_default().push(entry);
    }

    /// What there is of a package. Without an architecture in its name it is that of the machine, or one for all.
    pub(crate) fn find(&self, name: &str) -> Found {
        let (base, arch) = split(name);
        let entries = self.packages.get(base).map(Vec::as_slice).unwrap_or_default();
        let is_meant = |entry: &&Entry| match (arch, &self.native) {
            (Some("all"), _) => &*entry.arch == "all",
            (Some(arch), native) => {
                *entry.arch == *arch || (&*entry.arch == "all" && native.as_deref() == Some(arch))
            }
            (None, Some(native)) => entry.arch == *native || &*entry.arch == "all",
            (None, None) => true,
        };
        let installed = |entry: &&Entry| matches!(presence(entry), Presence::Installed(_));
        let elsewhere = || entries.iter().filter(installed).map(|entry| entry.arch.to_string()).collect();
        let Some(entry) = entries.iter().find(is_meant) else {
            return Found { elsewhere: elsewhere(), ..Found::default() };
        };
        let hold = entry
            .is_held
            .then(|| Hold { by: "dpkg".to_owned(), release: format!("`apt-mark unhold {name}` lets it go") });
        let presence = presence(entry);
        let arch = (presence != Presence::Gone && !entry.arch.is_empty()).then(|| entry.arch.to_string());
        Found { presence, arch, hold, ..Found::default() }
    }

    /// The names of all packages that are installed, in any architecture.
    pub(crate) fn installed(&self) -> impl Iterator<Item = &str> {
        let is_installed = |entry: &Entry| matches!(presence(entry), Presence::Installed(_));
        self.packages
            .iter()
            .filter(move |(_, entries)| entries.iter().any(is_installed))
            .map(|(name, _)| &**name)
    }

    /// The name under which apt tells of a package: with its architecture only if that is a foreign one.
    pub(crate) fn told_as<'a>(&self, name: &'a str) -> &'a str {
        match split(name) {
            (base, Some(arch)) if arch == "all" || self.native.as_deref() == Some(arch) => base,
            (base, None) => base,
            _ => name,
        }
    }

    /// Packages whose installation has not come to its end.
    pub(crate) fn unfinished(&self) -> &[Box<str>] {
        &self.unfinished
    }
}

/// Takes the architecture off a name.
fn split(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((base, "native")) => (base, None),
        Some((base, arch)) => (base, Some(arch)),
        None => (name, None),
    }
}

fn presence(entry: &Entry) -> Presence {
    match &*entry.status {
        "installed" => Presence::Installed(entry.version.to_string()),
        "config-files" => Presence::ConfigFiles,
        "not-installed" | "" => Presence::Gone,
        unfinished => Presence::Unfinished(unfinished.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "\
Package: dpkg
Essential: yes
Status: install ok installed
Architecture: amd64
Multi-Arch: foreign
Version: 1.21.22
Conffiles:
 /etc/alternatives/README 7be88b21f7e386c8d5a8790c2461c92b
Description: Debian package management system
 Status: not a field
 .
 Package: nor this

Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36-9

Package: libc6
Status: install ok installed
Architecture: i386
Version: 2.36-8

Package: adduser
Status: hold ok installed
Architecture: all
Version: 3.134

Package: wine32
Status: install ok installed
Architecture: i386
Version: 8.0

Package: left
Status: deinstall ok config-files
Architecture: amd64
Version: 1:1.0

Package: half
Status: install ok half-configured
Architecture: amd64
Version: 1.0

Package: pending
Status: install ok triggers-pending
Architecture: amd64
Version: 1.0

Package: never
Status: purge ok not-installed
Architecture: amd64
";

    fn shown(found: &Found) -> String {
        let presence = match &found.presence {
            Presence::Gone => "gone",
            Presence::ConfigFiles => "config-files",
            Presence::Unfinished(text) | Presence::Installed(text) => text,
        };
        format!(
            "{presence} {}{}",
            found.arch.as_deref().unwrap_or("-"),
            if found.hold.is_some() { " held" } else { "" }
        )
    }

    #[test]
    fn what_is_there_is_found() {
        let database = Database::parse(STATUS);
        for (name, expected) in [
            ("dpkg", "1.21.22 amd64"),
            ("libc6", "2.36-9 amd64"),
            ("libc6:amd64", "2.36-9 amd64"),
            ("libc6:native", "2.36-9 amd64"),
            ("libc6:i386", "2.36-8 i386"),
            ("libc6:arm64", "gone -"),
            ("libc6:all", "gone -"),
            ("adduser", "3.134 all held"),
            ("adduser:all", "3.134 all held"),
            ("adduser:amd64", "3.134 all held"),
            ("adduser:i386", "gone -"),
            ("wine32", "gone -"),
            ("wine32:i386", "8.0 i386"),
            ("left", "config-files amd64"),
            ("half", "half-configured amd64"),
            ("pending", "triggers-pending amd64"),
            ("never", "gone -"),
            ("nosuch", "gone -"),
        ] {
            assert_eq!(shown(&database.find(name)), expected, "{name}");
        }
        assert_eq!(database.unfinished(), ["half".into(), "pending".into()]);
        assert_eq!(database.find("wine32").elsewhere, ["i386"]);
        let mut installed: Vec<&str> = database.installed().collect();
        installed.sort_unstable();
        assert_eq!(installed, ["adduser", "dpkg", "libc6", "wine32"]);
    }

    #[test]
    fn apt_names_the_architecture_of_foreign_packages_only() {
        let database = Database::parse(STATUS);
        for (name, expected) in
            [("bash", "bash"), ("bash:amd64", "bash"), ("bash:all", "bash"), ("bash:i386", "bash:i386")]
        {
            assert_eq!(database.told_as(name), expected);
        }
    }

    #[test]
    fn a_database_may_be_empty_or_broken() {
        for text in ["", "\n\n\n", "no field\n", "Package: a", "Status: x\n\nVersion: 1"] {
            assert_eq!(Database::parse(text).find("a").presence, Presence::Gone, "{text}");
        }
        let without_dpkg =
            Database::parse("Package: a\nStatus: install ok installed\nArchitecture: arm64\nVersion: 1\n");
        assert_eq!(shown(&without_dpkg.find("a")), "1 arm64");
    }
}
