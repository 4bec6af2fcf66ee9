//! Beginning of a program: the interpreter of a script, and the loader of an ELF file.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use super::beginning;
use crate::script::{FIRST_LINE, interpreter_in};

/// Maximum length of the path of a loader, and number of headers of segments that are looked at.
const MAX_LOADER: u64 = 4096;
const MAX_SEGMENTS: u16 = 128;
/// Type of the segment that holds the path of the loader.
const PT_INTERP: u32 = 3;

/// What the kernel starts a program with.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProgramHeader {
    /// A script: its interpreter, and the program that `env` would start as an interpreter.
    Script { interpreter: PathBuf, argument: Option<PathBuf> },
    /// A program for a processor: its loader, if it has one.
    Elf { loader: Option<PathBuf> },
    /// Neither. A shell runs it as a script of its own.
    Other,
}

impl ProgramHeader {
    pub(super) fn read(file: &File) -> Self {
        let start = beginning(file, FIRST_LINE as u64);
        if start.starts_with(b"#!") {
            return match interpreter_in(&start) {
                Some((interpreter, argument)) => Self::Script { interpreter, argument },
                None => Self::Other,
            };
        }
        if start.starts_with(b"\x7fELF") { Self::Elf { loader: loader(file, &start) } } else { Self::Other }
    }
}

/// Returns the loader of a program for this processor.
fn loader(file: &File, header: &[u8]) -> Option<PathBuf> {
    let is_64 = *header.get(4)? == 2;
    let is_little = *header.get(5)? == 1;
    let number = |bytes: &[u8], at: usize, length: usize| -> Option<u64> {
        let field = bytes.get(at..at + length)?;
        let add = |number: u64, byte: &u8| (number << 8) | u64::from(*byte);
        Some(if is_little { field.iter().rev().fold(0, add) } else { field.iter().fold(0, add) })
    };
    let (table, size, count) = if is_64 {
        (number(header, 32, 8)?, number(header, 54, 2)?, number(header, 56, 2)?)
    } else {
        (number(header, 28, 4)?, number(header, 42, 2)?, number(header, 44, 2)?)
    };
    let mut segment = [0; 56];
    let segment = &mut segment[..if is_64 { 56 } else { 32 }];
    for index in 0..count.min(u64::from(MAX_SEGMENTS)) {
        file.read_exact_at(segment, table.checked_add(index * size)?).ok()?;
        if number(segment, 0, 4)? != u64::from(PT_INTERP) {
            continue;
        }
        let (offset, length) = if is_64 {
            (number(segment, 8, 8)?, number(segment, 32, 8)?)
        } else {
            (number(segment, 4, 4)?, number(segment, 16, 4)?)
        };
        let mut path = vec![0; usize::try_from(length.min(MAX_LOADER)).ok()?];
        file.read_exact_at(&mut path, offset).ok()?;
        let path = path.split(|byte| *byte == 0).next().filter(|path| !path.is_empty())?;
        return Some(PathBuf::from(OsStr::from_bytes(path)));
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io::{Seek as _, Write as _};

    use super::*;

    fn header(content: &[u8]) -> ProgramHeader {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(content).expect("to write");
        file.rewind().expect("its beginning");
        ProgramHeader::read(&file)
    }

    #[test]
    fn interpreters_are_those_of_the_kernel() {
        let script = |interpreter: &str, argument: Option<&str>| ProgramHeader::Script {
            interpreter: interpreter.into(),
            argument: argument.map(Into::into),
        };
        for (content, expected) in [
            ("#!/bin/sh\nrm x\n", script("/bin/sh", None)),
            ("#! /bin/sh -eu\n", script("/bin/sh", None)),
            ("#!/usr/bin/env python3\n", script("/usr/bin/env", Some("python3"))),
            ("#!/usr/bin/env -S A=1 perl -w\n", script("/usr/bin/env", Some("perl"))),
            ("#!\n/bin/sh", ProgramHeader::Other),
            ("rm x\n", ProgramHeader::Other),
            ("", ProgramHeader::Other),
            ("\x7fELF", ProgramHeader::Elf { loader: None }),
        ] {
            assert_eq!(header(content.as_bytes()), expected, "{content:?}");
        }
    }

    #[test]
    fn loader_of_a_program_is_found_and_no_cut_header_fails() {
        let program = std::fs::read("/bin/sh").expect("a program");
        let ProgramHeader::Elf { loader: Some(loader) } = header(&program) else {
            unreachable!("a shell has a loader")
        };
        assert!(loader.is_absolute() && loader.exists(), "{loader:?}");
        for length in 0..1200 {
            let cut = header(&program[..length]);
            assert!(!matches!(cut, ProgramHeader::Script { .. }), "{length}");
        }
    }
}
