//! Answers about this machine for the analysis of commands.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use ccm_host::{LocatedKind, canonical_path, locate_program, located_kind};
use ccm_policy::{Lookup, LookupPathKind, ProgramLocation};

/// This machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MachineLookup;

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

    fn canonical_path(&self, path: &str) -> Option<String> {
        canonical_path(Path::new(path))?.to_str().map(str::to_owned)
    }
}

/// This machine, whose answers are kept. It must not outlive the analyses of a moment.
#[derive(Debug, Default)]
pub(crate) struct CachedMachine {
    programs: RefCell<HashMap<String, Option<ProgramLocation>>>,
    kinds: RefCell<HashMap<String, LookupPathKind>>,
    canonical: RefCell<HashMap<String, Option<String>>>,
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

    fn canonical_path(&self, path: &str) -> Option<String> {
        if let Some(known) = self.canonical.borrow().get(path) {
            return known.clone();
        }
        let found = MachineLookup.canonical_path(path);
        self.canonical.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }
}

/// Machine of a container, whose files are not looked at: programs are judged by their names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnseenMachine;

impl Lookup for UnseenMachine {
    fn find_program(&self, _: &str, _: &str, _: &str) -> Option<ProgramLocation> {
        None
    }

    fn path_kind(&self, _: &str) -> LookupPathKind {
        LookupPathKind::Missing
    }

    fn canonical_path(&self, _: &str) -> Option<String> {
        None
    }
}
