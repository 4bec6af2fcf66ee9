//! A machine for tests.

use std::collections::BTreeMap;

use crate::links::{self, LinkDestination};
use crate::lookup::{LinkReading, Lookup, LookupPathKind, ProgramLocation};

/// Machine that holds what a test puts there. Programs in `/bin`, `/usr/bin`, `/sbin`, `/usr/sbin` and
/// `/usr/local/bin` are trusted.
#[derive(Clone, Debug, Default)]
pub struct PolicyMachine {
    paths: BTreeMap<String, LookupPathKind>,
    links: BTreeMap<String, String>,
    closed: Vec<String>,
}

impl PolicyMachine {
    /// Builds an empty machine.
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a machine with the directories and devices of a Debian server, and some programs.
    pub fn debian() -> Self {
        let mut machine = Self::new();
        for directory in [
            "/",
            "/bin",
            "/boot",
            "/dev",
            "/etc",
            "/home",
            "/home/agent",
            "/lib",
            "/media",
            "/mnt",
            "/opt",
            "/proc",
            "/root",
            "/run",
            "/sbin",
            "/srv",
            "/sys",
            "/tmp",
            "/usr",
            "/usr/bin",
            "/usr/local",
            "/usr/local/bin",
            "/usr/sbin",
            "/var",
            "/w",
        ] {
            machine = machine.with(directory, LookupPathKind::Directory);
        }
        for device in ["/dev/null", "/dev/zero", "/dev/sda", "/dev/sda1", "/dev/mem", "/dev/tty"] {
            machine = machine.with(device, LookupPathKind::Device);
        }
        for program in ["sh", "bash", "ls", "cat", "git", "rm", "env", "curl", "python3", "systemctl", "sudo"]
        {
            machine = machine.with(&format!("/usr/bin/{program}"), LookupPathKind::File);
        }
        machine.with("/etc/passwd", LookupPathKind::File)
    }

    /// Adds a path.
    #[must_use]
    pub fn with(mut self, path: &str, kind: LookupPathKind) -> Self {
        self.paths.insert(path.to_owned(), kind);
        self
    }

    /// Adds a link with this text.
    #[must_use]
    pub fn with_link(mut self, path: &str, target: &str) -> Self {
        self.links.insert(path.to_owned(), target.to_owned());
        self
    }

    /// Makes everything that begins so unreadable.
    #[must_use]
    pub fn with_closed(mut self, start: &str) -> Self {
        self.closed.push(start.to_owned());
        self
    }

    fn resolve(&self, path: &str) -> String {
        if self.links.is_empty() {
            return path.to_owned();
        }
        match links::follow(self, path) {
            LinkDestination::Path(target) => target,
            LinkDestination::Same | LinkDestination::Unknown => path.to_owned(),
        }
    }
}

impl Lookup for PolicyMachine {
    fn find_program(&self, name: &str, search_path: &str, directory: &str) -> Option<ProgramLocation> {
        let is_file = |path: &String| self.path_kind(path) == LookupPathKind::File;
        let path = match name {
            _ if name.starts_with('/') => Some(name.to_owned()).filter(is_file),
            _ if name.contains('/') => {
                Some(format!("{directory}/{}", name.trim_start_matches("./"))).filter(is_file)
            }
            _ => search_path.split(':').map(|part| [part, "/", name].concat()).find(is_file),
        }?;
        let canonical = self.resolve(&path);
        let trusted = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/"];
        let is_trusted = trusted.iter().any(|directory| canonical.starts_with(directory));
        Some(ProgramLocation { path, canonical, is_trusted })
    }

    fn path_kind(&self, path: &str) -> LookupPathKind {
        self.paths.get(&self.resolve(path)).copied().unwrap_or(LookupPathKind::Missing)
    }

    fn read_link(&self, path: &str) -> LinkReading {
        if self.closed.iter().any(|start| path.starts_with(&**start)) {
            return LinkReading::Unknown;
        }
        self.links.get(path).map_or(LinkReading::NoLink, |target| LinkReading::Link(target.clone()))
    }
}
