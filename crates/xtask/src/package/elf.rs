//! Libraries that a program is linked with, read from its ELF headers.

use std::collections::{BTreeMap, BTreeSet};

use goblin::elf::Elf;
use goblin::elf::header::EM_X86_64;
use goblin::elf::symver::VER_FLG_WEAK;

/// Libraries that a program is linked with.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Linkage {
    /// Program that loads the libraries; `None` for a static program.
    pub(super) interpreter: Option<String>,
    /// Libraries that must be there.
    pub(super) libraries: BTreeSet<String>,
    /// Versions of symbols that the libraries must have, by library.
    pub(super) versions: BTreeMap<String, BTreeSet<String>>,
}

impl Linkage {
    /// Reads the linkage of a program for `x86_64`.
    pub(super) fn of(program: &[u8]) -> Result<Self, String> {
        let elf = Elf::parse(program).map_err(|error| format!("the program is no ELF file: {error}"))?;
        if elf.header.e_machine != EM_X86_64 || !elf.is_64 {
            return Err("the program is no ELF file for x86_64".to_owned());
        }
        let mut linkage = Self {
            interpreter: elf.interpreter.map(str::to_owned),
            libraries: elf.libraries.iter().map(|&library| library.to_owned()).collect(),
            versions: BTreeMap::new(),
        };
        let name = |at: usize| elf.dynstrtab.get_at(at).map(str::to_owned);
        let damaged = || "the ELF headers of the program are damaged".to_owned();
        for library in elf.verneed.iter().flatten() {
            let versions = linkage.versions.entry(name(library.vn_file).ok_or_else(damaged)?).or_default();
            // The program runs without a version that only weak symbols need.
            for version in library.iter().filter(|version| version.vna_flags & VER_FLG_WEAK == 0) {
                versions.insert(name(version.vna_name).ok_or_else(damaged)?);
            }
        }
        linkage.versions.retain(|_, versions| !versions.is_empty());
        Ok(linkage)
    }

    /// Returns the newest version of glibc that the program needs, such as `2.17`.
    pub(super) fn glibc(&self) -> Option<String> {
        let versions = self.versions.values().flatten().filter_map(|name| name.strip_prefix("GLIBC_"));
        let key =
            |version: &str| version.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<u32>>>();
        versions
            .filter_map(|version| Some((key(version)?, version)))
            .max()
            .map(|(_, version)| version.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linkage_of_this_program_is_found() {
        let program = std::fs::read("/proc/self/exe").expect("this program");
        let linkage = Linkage::of(&program).expect("its linkage");
        assert!(linkage.interpreter.is_some_and(|interpreter| interpreter.contains("ld-")));
        assert!(linkage.libraries.contains("libc.so.6"), "{:?}", linkage.libraries);
        assert!(linkage.versions["libc.so.6"].contains("GLIBC_2.2.5"), "{:?}", linkage.versions);
    }

    #[test]
    fn newest_version_is_compared_by_its_numbers() {
        let versions = ["GLIBC_2.9", "GLIBC_2.17", "GLIBC_2.2.5", "GLIBC_PRIVATE"].map(str::to_owned);
        let versions = BTreeMap::from([("libc.so.6".to_owned(), BTreeSet::from(versions))]);
        let linkage = Linkage { versions, ..Linkage::default() };
        assert_eq!(linkage.glibc().as_deref(), Some("2.17"));
        assert_eq!(Linkage::default().glibc(), None);
    }

    #[test]
    fn anything_else_is_an_error() {
        for bytes in [&b""[..], b"#!/bin/sh\n", b"\x7fELF\x02\x01", &[0; 64]] {
            Linkage::of(bytes).expect_err("an error");
        }
        let program = std::fs::read("/proc/self/exe").expect("this program");
        Linkage::of(&program[..70]).expect_err("a damaged program");
    }
}
