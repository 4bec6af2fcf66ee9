//! Answers about this machine for the analysis of commands.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use ccm_host::{LocatedKind, PathLink, locate_program, located_kind, read_link};
use ccm_policy::{LinkReading, Lookup, LookupPathKind, ProgramLocation};

/// This machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct MachineLookup;

impl Lookup for MachineLookup {
    fn find_program(&self, name: &str, search_path: &str, directory: &str) -> Option<ProgramLocation> {
        let found = locate_program(name, search_path, Path::new(directory))?;
        Some(ProgramLocation {
            path: found.path.to_str()?.to_owned(),
            canonical: found.canonical.to_str()?.to_owned(),
            is_trusted: found.is_trusted,
        })
    }

    fn path_kind(&self, path: &str) -> LookupPathKind {
        match located_kind(Path::new(path)) {
            None => LookupPathKind::Missing,
            Some(LocatedKind::File) => LookupPathKind::File,
            Some(LocatedKind::Directory) => LookupPathKind::Directory,
            Some(LocatedKind::Device) => LookupPathKind::Device,
            Some(LocatedKind::Other) => LookupPathKind::Other,
        }
    }

    fn read_link(&self, path: &str) -> LinkReading {
        match read_link(Path::new(path)) {
            PathLink::None => LinkReading::NoLink,
            PathLink::Target(target) => {
                target.to_str().map_or(LinkReading::Unknown, |target| LinkReading::Link(target.to_owned()))
            }
            PathLink::Unreadable => LinkReading::Unknown,
        }
    }
}

/// This machine, whose answers are kept. It must not outlive the analyses of a moment.
#[derive(Debug, Default)]
pub struct CachedMachine {
    programs: RefCell<HashMap<String, Option<ProgramLocation>>>,
    kinds: RefCell<HashMap<String, LookupPathKind>>,
    links: RefCell<HashMap<String, LinkReading>>,
}

impl Lookup for CachedMachine {
    fn find_program(&self, name: &str, search_path: &str, directory: &str) -> Option<ProgramLocation> {
        // No part of the key holds NUL.
        let directory = if name.starts_with('/') { "" } else { directory };
        let key = format!("{name}\0{search_path}\0{directory}");
        if let Some(known) = self.programs.borrow().get(&key) {
            return known.clone();
        }
        let found = MachineLookup.find_program(name, search_path, directory);
        self.programs.borrow_mut().insert(key, found.clone());
        found
    }

    fn path_kind(&self, path: &str) -> LookupPathKind {
        if let Some(known) = self.kinds.borrow().get(path) {
            return *known;
        }
        let found = MachineLookup.path_kind(path);
        self.kinds.borrow_mut().insert(path.to_owned(), found);
        found
    }

    fn read_link(&self, path: &str) -> LinkReading {
        if let Some(known) = self.links.borrow().get(path) {
            return known.clone();
        }
        let found = MachineLookup.read_link(path);
        self.links.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }
}

/// Machine of a container, whose files are not looked at: programs are judged by their names.
#[derive(Clone, Copy, Debug)]
pub struct UnseenMachine;

impl Lookup for UnseenMachine {
    fn find_program(&self, _: &str, _: &str, _: &str) -> Option<ProgramLocation> {
        None
    }

    fn path_kind(&self, _: &str) -> LookupPathKind {
        LookupPathKind::Missing
    }

    fn read_link(&self, _: &str) -> LinkReading {
        LinkReading::NoLink
    }
}
