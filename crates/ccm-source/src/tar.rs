//! Writer of the tar archives of bundles.
//!
//! The bytes are part of what is signed: the same entries give the same bytes in every version of ccm. Therefore this is
//! no library, which may pad or order a header in another way tomorrow.

use std::io::{self, Write};

use ccm_model::hexadecimal;
use ccm_release::BundleDigest;
use sha2::{Digest as _, Sha256};

const BLOCK: usize = 512;
/// Maximum length of a name in a header.
const MAX_NAME: usize = 100;

/// Archive that is written in the format of POSIX 1003.1-2001 (pax), without times and owners.
pub(crate) struct TarWriter<W> {
    out: W,
    hash: Sha256,
    size: u64,
}

/// Kind of an entry, as a header has it.
#[derive(Clone, Copy)]
enum EntryType {
    File = b'0' as isize,
    Link = b'2' as isize,
    Directory = b'5' as isize,
    Extended = b'x' as isize,
}

impl<W: Write> TarWriter<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, hash: Sha256::new(), size: 0 }
    }

    /// Returns the number of bytes so far.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Adds a directory.
    pub(crate) fn directory(&mut self, path: &str) -> io::Result<()> {
        self.entry(&format!("{path}/"), EntryType::Directory, 0o755, "", b"")
    }

    /// Adds a file.
    pub(crate) fn file(&mut self, path: &str, is_executable: bool, content: &[u8]) -> io::Result<()> {
        let mode = if is_executable { 0o755 } else { 0o644 };
        self.entry(path, EntryType::File, mode, "", content)
    }

    /// Adds a symbolic link.
    pub(crate) fn link(&mut self, path: &str, target: &str) -> io::Result<()> {
        self.entry(path, EntryType::Link, 0o777, target, b"")
    }

    /// Ends the archive with two empty blocks, and returns its digest.
    pub(crate) fn finish(mut self) -> io::Result<(BundleDigest, W)> {
        self.write(&[0; 2 * BLOCK])?;
        let digest = BundleDigest { sha256: hexadecimal(&self.hash.finalize()), size: self.size };
        Ok((digest, self.out))
    }

    fn entry(
        &mut self,
        path: &str,
        entry_type: EntryType,
        mode: u32,
        target: &str,
        content: &[u8],
    ) -> io::Result<()> {
        let mut records = String::new();
        for (key, value) in [("path", path), ("linkpath", target)] {
            if value.len() > MAX_NAME {
                records += &record(key, value);
            }
        }
        if !records.is_empty() {
            self.write(&header("pax", EntryType::Extended, 0o644, "", records.len()))?;
            self.padded(records.as_bytes())?;
        }
        self.write(&header(path, entry_type, mode, target, content.len()))?;
        self.padded(content)
    }

    fn padded(&mut self, content: &[u8]) -> io::Result<()> {
        self.write(content)?;
        self.write(&[0; BLOCK][..content.len().next_multiple_of(BLOCK) - content.len()])
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        self.out.write_all(bytes)
    }
}

/// Returns a record of pax, which begins with its own length.
fn record(key: &str, value: &str) -> String {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len() + 1;
    while length.to_string().len() + rest.len() != length {
        length = length.to_string().len() + rest.len();
    }
    format!("{length}{rest}")
}

fn header(path: &str, entry_type: EntryType, mode: u32, target: &str, length: usize) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
    // A longer name is in the record before this entry.
    put(0, &path.as_bytes()[..path.len().min(MAX_NAME)]);
    put(100, format!("{mode:07o}").as_bytes());
    put(108, b"0000000");
    put(116, b"0000000");
    put(124, format!("{length:011o}").as_bytes());
    put(136, b"00000000000");
    put(148, b"        ");
    put(156, &[entry_type as u8]);
    put(157, &target.as_bytes()[..target.len().min(MAX_NAME)]);
    put(257, b"ustar\x0000");
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_counts_its_own_length() {
        for length in [1, 80, 89, 90, 91, 92, 93, 990, 991, 992, 993] {
            let record = record("path", &"x".repeat(length));
            let (written, _) = record.split_once(' ').expect("a blank");
            assert_eq!(written.parse(), Ok(record.len()));
        }
    }

    #[test]
    fn the_bytes_of_an_archive_never_change() {
        let mut archive = TarWriter::new(io::sink());
        archive.directory("files").expect("written");
        archive.file("files/motd", false, b"Welcome\n").expect("written");
        archive.file("files/run", true, b"#!/bin/sh\n").expect("written");
        archive.link("files/link", "motd").expect("written");
        archive.file(&format!("files/{}", "ä".repeat(100)), false, b"").expect("written");
        let (digest, _) = archive.finish().expect("written");
        assert_eq!(digest.size, 5632);
        assert_eq!(digest.sha256, "04405e15720a4a09dd67dbc85cb4f53879d2d012c9346a1de30f24706ed10fb2");
    }
}
