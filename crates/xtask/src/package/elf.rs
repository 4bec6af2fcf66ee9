//! Libraries that a program is linked with, read from its ELF headers.

use std::collections::{BTreeMap, BTreeSet};

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const DT_NEEDED: u64 = 1;
const DT_STRTAB: u64 = 5;
const DT_VERNEED: u64 = 0x6fff_fffe;
const DT_VERNEEDNUM: u64 = 0x6fff_ffff;
/// Mark of a version that only weak symbols need: the program runs without it.
const VER_FLG_WEAK: u16 = 2;

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
        const X86_64: u16 = 62;
        let bytes = Bytes(program);
        if !program.starts_with(b"\x7fELF\x02\x01") || bytes.u16(18) != Some(X86_64) {
            return Err("the program is no ELF file for x86_64".to_owned());
        }
        read(bytes).ok_or_else(|| "the ELF headers of the program are damaged".to_owned())
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

#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn array<const N: usize>(self, at: u64) -> Option<[u8; N]> {
        let at = usize::try_from(at).ok()?;
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(self, at: u64) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    fn u32(self, at: u64) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn u64(self, at: u64) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    /// Returns the text up to the next zero byte.
    fn text(self, at: u64) -> Option<String> {
        let text = self.0.get(usize::try_from(at).ok()?..)?.split(|byte| *byte == 0).next()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

/// Part of the file that is mapped at an address.
struct Segment {
    kind: u32,
    offset: u64,
    address: u64,
    length: u64,
}

fn segments(bytes: Bytes<'_>) -> Option<Vec<Segment>> {
    let (table, size, count) = (bytes.u64(32)?, bytes.u16(54)?, bytes.u16(56)?);
    let segment = |number: u16| {
        let at = table.checked_add(u64::from(size) * u64::from(number))?;
        Some(Segment {
            kind: bytes.u32(at)?,
            offset: bytes.u64(at + 8)?,
            address: bytes.u64(at + 16)?,
            length: bytes.u64(at + 32)?,
        })
    };
    (0..count).map(segment).collect()
}

fn read(bytes: Bytes<'_>) -> Option<Linkage> {
    let segments = segments(bytes)?;
    let of_kind = |kind: u32| segments.iter().find(|segment| segment.kind == kind);
    let offset = |address: u64| {
        let holds = |segment: &&Segment| {
            segment.kind == PT_LOAD && (segment.address..segment.address + segment.length).contains(&address)
        };
        segments.iter().find(holds).map(|segment| address - segment.address + segment.offset)
    };
    let mut linkage = Linkage::default();
    if let Some(segment) = of_kind(PT_INTERP) {
        linkage.interpreter = Some(bytes.text(segment.offset)?);
    }
    let Some(dynamic) = of_kind(PT_DYNAMIC) else { return Some(linkage) };
    let entries = (0..dynamic.length / 16).map_while(|number| {
        let at = dynamic.offset + number * 16;
        Some((bytes.u64(at)?, bytes.u64(at + 8)?)).filter(|(tag, _)| *tag != 0)
    });
    let entries: Vec<(u64, u64)> = entries.collect();
    let value = |tag: u64| entries.iter().find(|(found, _)| *found == tag).map(|(_, value)| *value);
    let strings = offset(value(DT_STRTAB)?)?;
    for (_, name) in entries.iter().filter(|(tag, _)| *tag == DT_NEEDED) {
        linkage.libraries.insert(bytes.text(strings + name)?);
    }
    let (Some(needs), Some(count)) = (value(DT_VERNEED), value(DT_VERNEEDNUM)) else { return Some(linkage) };
    let mut need = offset(needs)?;
    for _ in 0..count {
        let library = bytes.text(strings + u64::from(bytes.u32(need + 4)?))?;
        let mut version = need + u64::from(bytes.u32(need + 8)?);
        for _ in 0..bytes.u16(need + 2)? {
            if bytes.u16(version + 4)? & VER_FLG_WEAK == 0 {
                let name = bytes.text(strings + u64::from(bytes.u32(version + 8)?))?;
                linkage.versions.entry(library.clone()).or_default().insert(name);
            }
            version += u64::from(bytes.u32(version + 12)?);
        }
        need += u64::from(bytes.u32(need + 12)?);
    }
    Some(linkage)
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
