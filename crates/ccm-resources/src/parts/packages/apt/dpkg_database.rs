//! The database of dpkg.

use std::collections::HashMap;
use std::ops::Range;

use memchr::memchr_iter;

use crate::parts::packages::{Hold, Installation, Presence};

#[derive(Debug, Default)]
pub(crate) struct DpkgDatabase {
    /// Fields of all packages in one buffer, which saves an allocation per field.
    text: String,
    /// Sorted by name; entries of one name keep their order.
    packages: Vec<DpkgEntry>,
    /// Architecture of the machine: that of dpkg itself.
    native: Option<Box<str>>,
    /// Names of partially installed packages.
    unfinished: Vec<Box<str>>,
}

#[derive(Debug, Default)]
struct DpkgEntry {
    name: Range<usize>,
    arch: Range<usize>,
    version: Range<usize>,
    status: Range<usize>,
    provides: Range<usize>,
    is_held: bool,
}

impl DpkgDatabase {
    /// Parses dpkg's format: paragraphs of `Field: value` lines, separated by empty lines.
    pub(crate) fn parse(written: &[u8]) -> Self {
        let mut database = Self::default();
        let mut entry = DpkgEntry::default();
        let mut start = 0;
        for end in memchr_iter(b'\n', written).chain([written.len()]) {
            let line = &written[start..end];
            start = end + 1;
            // The first letter skips most lines quickly.
            match line.first() {
                None => database.add(std::mem::take(&mut entry)),
                Some(b'P') => {
                    database.keep(line, b"Package:", &mut entry.name);
                    database.keep(line, b"Provides:", &mut entry.provides);
                }
                Some(b'A') => database.keep(line, b"Architecture:", &mut entry.arch),
                Some(b'V') => database.keep(line, b"Version:", &mut entry.version),
                Some(b'S') => database.keep(line, b"Status:", &mut entry.status),
                Some(_) => {}
            }
        }
        database.add(entry);
        let text = &database.text;
        database.packages.sort_by(|left, right| text[left.name.clone()].cmp(&text[right.name.clone()]));
        database
    }

    /// Appends the value of a line to the buffer if the line holds `field`.
    fn keep(&mut self, line: &[u8], field: &[u8], position: &mut Range<usize>) {
        if let Some(value) = line.strip_prefix(field) {
            let start = self.text.len();
            self.text += &String::from_utf8_lossy(value.trim_ascii());
            *position = start..self.text.len();
        }
    }

    fn add(&mut self, mut entry: DpkgEntry) {
        if entry.name.is_empty() {
            return;
        }
        // The three words are the desired state, an error flag and the present state.
        let status = &self.text[entry.status.clone()];
        entry.is_held = status.split(' ').next() == Some("hold");
        let word = status.rfind(' ').map_or(0, |space| space + 1);
        entry.status.start += word;
        if self.text[entry.name.clone()] == *"dpkg" {
            self.native = Some(self.text[entry.arch.clone()].into());
        }
        if let Presence::Unfinished(_) = self.presence(&entry) {
            self.unfinished.push(self.text[entry.name.clone()].into());
        }
        self.packages.push(entry);
    }

    fn named(&self, name: &str) -> &[DpkgEntry] {
        let behind =
            &self.packages[self.packages.partition_point(|entry| self.text[entry.name.clone()] < *name)..];
        &behind[..behind.partition_point(|entry| self.text[entry.name.clone()] == *name)]
    }

    fn presence(&self, entry: &DpkgEntry) -> Presence {
        match &self.text[entry.status.clone()] {
            "installed" => Presence::Installed(self.text[entry.version.clone()].to_owned()),
            "config-files" => Presence::ConfigFiles,
            "not-installed" | "" => Presence::Gone,
            unfinished => Presence::Unfinished(unfinished.to_owned()),
        }
    }

    fn is_installed(&self, entry: &DpkgEntry) -> bool {
        self.text[entry.status.clone()] == *"installed"
    }

    /// Looks up a package. A name without architecture means that of the machine or `all`.
    pub(crate) fn find(&self, name: &str) -> Installation {
        let (base, arch) = split(name);
        let entries = self.named(base);
        let arch_of = |entry: &DpkgEntry| &self.text[entry.arch.clone()];
        let satisfies = |entry: &&DpkgEntry| match (arch, self.native.as_deref()) {
            (Some("all"), _) => arch_of(entry) == "all",
            (Some(arch), native) => {
                arch_of(entry) == arch || (arch_of(entry) == "all" && native == Some(arch))
            }
            (None, Some(native)) => arch_of(entry) == native || arch_of(entry) == "all",
            (None, None) => true,
        };
        let Some(entry) = entries.iter().find(satisfies) else {
            let elsewhere = entries.iter().filter(|entry| self.is_installed(entry));
            let elsewhere = elsewhere.map(|entry| arch_of(entry).to_owned()).collect();
            return Installation { elsewhere, ..Installation::default() };
        };
        let hold = entry.is_held.then(|| Hold {
            by: "dpkg".to_owned(),
            release: format!("release the hold with `apt-mark unhold {name}`"),
        });
        let presence = self.presence(entry);
        let arch = (presence != Presence::Gone && !entry.arch.is_empty()).then(|| arch_of(entry).to_owned());
        Installation { presence, arch, hold, ..Installation::default() }
    }

    /// Names of all installed packages, sorted, once for each architecture.
    pub(crate) fn installed(&self) -> impl Iterator<Item = &str> {
        let installed = self.packages.iter().filter(|entry| self.is_installed(entry));
        installed.map(|entry| &self.text[entry.name.clone()])
    }

    /// Returns the name that apt prints for a package: with its architecture only if that is a foreign one.
    pub(crate) fn apt_name<'a>(&self, name: &'a str) -> &'a str {
        match split(name) {
            (base, Some(arch)) if arch == "all" || self.native.as_deref() == Some(arch) => base,
            (base, None) => base,
            _ => name,
        }
    }

    /// Returns the installed packages that provide each of these names, other than those of that name.
    pub(crate) fn providers(&self, names: &[&str]) -> HashMap<String, Vec<String>> {
        let mut providers: HashMap<String, Vec<String>> = HashMap::new();
        let installed = self.packages.iter().filter(|entry| self.is_installed(entry));
        for entry in installed.filter(|entry| !entry.provides.is_empty()) {
            let own = &self.text[entry.name.clone()];
            for provided in self.text[entry.provides.clone()].split(',') {
                // A version or an architecture may follow the name.
                let provided = provided.trim_start().split([' ', '(', ':']).next().unwrap_or_default();
                for name in names.iter().filter(|name| split(name).0 == provided && provided != own) {
                    let by = providers.entry((*name).to_owned()).or_default();
                    if by.last().is_none_or(|last| last != own) {
                        by.push(own.to_owned());
                    }
                }
            }
        }
        providers
    }

    pub(crate) fn unfinished(&self) -> &[Box<str>] {
        &self.unfinished
    }
}

fn split(name: &str) -> (&str, Option<&str>) {
    match name.split_once(':') {
        Some((base, "native")) => (base, None),
        Some((base, arch)) => (base, Some(arch)),
        None => (name, None),
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

    fn shown(found: &Installation) -> String {
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
    fn packages_are_found_by_name_and_architecture() {
        let database = DpkgDatabase::parse(STATUS.as_bytes());
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
        let installed: Vec<&str> = database.installed().collect();
        assert_eq!(installed, ["adduser", "dpkg", "libc6", "libc6", "wine32"]);
    }

    #[test]
    fn apt_name_holds_only_foreign_architectures() {
        let database = DpkgDatabase::parse(STATUS.as_bytes());
        for (name, expected) in
            [("bash", "bash"), ("bash:amd64", "bash"), ("bash:all", "bash"), ("bash:i386", "bash:i386")]
        {
            assert_eq!(database.apt_name(name), expected);
        }
    }

    #[test]
    fn providers_are_installed_and_have_another_name() {
        let paragraph = |name: &str, status: &str, provides: &str| {
            format!(
                "Package: {name}\nStatus: install ok {status}\nArchitecture: amd64\nVersion: 1\nProvides: {provides}\n\n"
            )
        };
        let status = paragraph("b", "installed", "mta, b-api (= 1.2), libb:amd64 (= 1)")
            + &paragraph("a", "installed", "mta,mta (= 3)")
            + &paragraph("gone", "config-files", "mta")
            + &paragraph("mta-tool", "installed", "mta-x, xmta")
            + &paragraph("self", "installed", "self")
            + &paragraph("none", "installed", "");
        let database = DpkgDatabase::parse(status.as_bytes());
        for (name, expected) in [
            ("mta", &["a", "b"][..]),
            ("mta:i386", &["a", "b"]),
            ("b-api", &["b"]),
            ("libb", &["b"]),
            ("self", &[]),
            ("nosuch", &[]),
        ] {
            let found = database.providers(&["other", name]).remove(name).unwrap_or_default();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn database_may_be_empty_or_broken() {
        for text in ["", "\n\n\n", "no field\n", "Package: a", "Status: x\n\nVersion: 1"] {
            assert_eq!(DpkgDatabase::parse(text.as_bytes()).find("a").presence, Presence::Gone, "{text}");
        }
        let without_dpkg = DpkgDatabase::parse(
            b"Package: a\nStatus: install ok installed\nArchitecture: arm64\nVersion: 1\n",
        );
        assert_eq!(shown(&without_dpkg.find("a")), "1 arm64");
    }
}
