//! Reading zip files by their central directory. Local headers have to agree with it.
//!
//! The `zip` crate (9.8) is not used, although it can compare local headers and find overlaps: it keeps some hundred bytes
//! for each record of a directory of any length before a limit can be applied, and if the last end record is not valid, it
//! tries earlier ones, so that an archive could hold something else for ccm than for other programs.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom, Take};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use flate2::Crc;
use flate2::bufread::DeflateDecoder;

use super::decompression::OutputBudget;
use super::entry::{ArchiveEntry, EntryKind, MAX_PATH};
use super::stop::ExtractionStop;
use super::unpack::{Receiver, refused};
use super::{EntryError, ExtractError, MAX_ARCHIVE_ENTRIES};

/// Maximum size of the central directory.
const MAX_DIRECTORY: u64 = 64 << 20;

const END: [u8; 4] = *b"PK\x05\x06";
const END64: [u8; 4] = *b"PK\x06\x06";
const LOCATOR64: [u8; 4] = *b"PK\x06\x07";
const CENTRAL: [u8; 4] = *b"PK\x01\x02";
const LOCAL: [u8; 4] = *b"PK\x03\x04";

/// Length of the fixed part of each record.
const END_LENGTH: usize = 22;
const END64_LENGTH: usize = 56;
const LOCATOR64_LENGTH: usize = 20;
const CENTRAL_LENGTH: usize = 46;
const LOCAL_LENGTH: usize = 30;

const ENCRYPTED: u16 = 1;

/// Version of the format from which on the directory may be encrypted: it then needs a program of that version.
const ENCRYPTED_DIRECTORY: u16 = 62;

/// Zip file, within the limits of the extraction.
pub(super) struct ZipSource {
    pub file: File,
    pub path: PathBuf,
    pub length: u64,
    pub budget: OutputBudget,
    pub stop: ExtractionStop,
}

/// Central directory in the file.
struct Directory {
    count: u64,
    start: u64,
    size: u64,
    /// Length of what lies before the archive, such as the program of one that extracts itself. All offsets lack it.
    prefix: u64,
}

/// Entry of the central directory.
struct Central {
    name: Vec<u8>,
    /// Name in the headers, which may be in another encoding.
    header_name: Vec<u8>,
    is_unix: bool,
    attributes: u32,
    flags: u16,
    method: u16,
    crc: u32,
    compressed: u64,
    size: u64,
    offset: u64,
}

/// Passes each entry to the receiver.
pub(super) fn walk(source: &ZipSource, receiver: &mut dyn Receiver) -> Result<(), ExtractError> {
    let entries = source.central_directory()?;
    let mut parts: Vec<(u64, u64, usize)> = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        source.stop.check()?;
        let start = source.content_start(entry)?;
        let end = start.checked_add(entry.compressed).filter(|end| *end <= source.length);
        parts.push((entry.offset, end.ok_or_else(|| source.damaged("it is cut off"))?, index));
    }
    // Parts that overlap make a small file grow without end.
    parts.sort_unstable();
    if let Some(pair) = parts.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        return Err(refused(&entries[pair[1].2].name, EntryError::Overlap));
    }
    entries.iter().try_for_each(|entry| source.pass(entry, receiver))
}

impl ZipSource {
    fn central_directory(&self) -> Result<Vec<Central>, ExtractError> {
        let Directory { count, start, size, prefix } = self.find_directory()?;
        if count > MAX_ARCHIVE_ENTRIES {
            return Err(ExtractError::TooManyEntries { max: MAX_ARCHIVE_ENTRIES });
        }
        if size > MAX_DIRECTORY {
            return Err(self.damaged("its directory is damaged"));
        }
        let bytes = self.bytes_at(start, usize::try_from(size).unwrap_or(usize::MAX))?;
        let mut rest = &bytes[..];
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let damaged = || self.damaged("its directory is damaged");
            let (mut entry, after) = parse_central(rest).ok_or_else(damaged)?;
            entry.offset = entry.offset.checked_add(prefix).ok_or_else(damaged)?;
            rest = after;
            entries.push(entry);
        }
        if entries.len() as u64 != count {
            return Err(self.damaged("its directory does not have the number of entries that it names"));
        }
        Ok(entries)
    }

    /// Finds the directory by the last end record, as other programs do. Bytes behind it, such as a signature, do not matter.
    fn find_directory(&self) -> Result<Directory, ExtractError> {
        let tail = self.length.min((END_LENGTH + usize::from(u16::MAX)) as u64);
        let tail_start = self.length - tail;
        let bytes = self.bytes_at(tail_start, usize::try_from(tail).unwrap_or_default())?;
        let at = (0..bytes.len().saturating_sub(END_LENGTH - 1)).rev().find(|at| {
            let comment = u16_at(&bytes, at + 20).map(usize::from);
            bytes[*at..].starts_with(&END)
                && comment.is_some_and(|comment| comment <= bytes.len() - at - END_LENGTH)
        });
        let damaged = || self.damaged("it is no zip file, or it is cut off");
        let at = at.ok_or_else(damaged)?;
        let field = |offset| u32_at(&bytes, at + offset).map(u64::from);
        let count = u16_at(&bytes, at + 10).map(u64::from);
        let (count, size, start) =
            (count.ok_or_else(damaged)?, field(12).ok_or_else(damaged)?, field(16).ok_or_else(damaged)?);
        let locator = at.checked_sub(LOCATOR64_LENGTH).map(|locator| &bytes[locator..]);
        let Some(locator) = locator.filter(|locator| locator.starts_with(&LOCATOR64)) else {
            return self.directory(count, start, size, tail_start + at as u64);
        };
        let named = u64_at(locator, 8).ok_or_else(damaged)?;
        let beside = (tail_start + at as u64).checked_sub((LOCATOR64_LENGTH + END64_LENGTH) as u64);
        for end64_start in [Some(named), beside].into_iter().flatten() {
            let Ok(end64) = self.bytes_at(end64_start, END64_LENGTH) else { continue };
            if end64.starts_with(&END64) {
                if u16_at(&end64, 14).is_some_and(|version| version >= ENCRYPTED_DIRECTORY) {
                    return Err(self.damaged("its directory is encrypted"));
                }
                let field = |offset| u64_at(&end64, offset).ok_or_else(damaged);
                return self.directory(field(32)?, field(48)?, field(40)?, end64_start);
            }
        }
        Err(damaged())
    }

    /// Returns the directory, which ends at its end record, wherever the record says that the directory starts. Some programs
    /// write something between both.
    fn directory(&self, count: u64, named: u64, size: u64, end: u64) -> Result<Directory, ExtractError> {
        let before_end = end.checked_sub(size).filter(|start| *start >= named);
        let as_named = named.checked_add(size).is_some_and(|named_end| named_end <= end).then_some(named);
        for start in before_end.into_iter().chain(as_named) {
            let is_there = count == 0 && size == 0
                || size >= CENTRAL.len() as u64 && self.bytes_at(start, CENTRAL.len())? == CENTRAL;
            if is_there {
                return Ok(Directory { count, start, size, prefix: start - named });
            }
        }
        Err(self.damaged("its directory is damaged"))
    }

    /// Returns where the content begins, after the local header, which has to have the same name.
    fn content_start(&self, entry: &Central) -> Result<u64, ExtractError> {
        let header = self.bytes_at(entry.offset, LOCAL_LENGTH)?;
        let contradicted = || refused(&entry.name, EntryError::Header);
        let lengths = u16_at(&header, 26).zip(u16_at(&header, 28));
        let (name, extra) = lengths.filter(|_| header.starts_with(&LOCAL)).ok_or_else(contradicted)?;
        let name_start = entry.offset + LOCAL_LENGTH as u64;
        let bytes = self.bytes_at(name_start, usize::from(name) + usize::from(extra))?;
        let (name, extra) = bytes.split_at(usize::from(name));
        // Some programs only look here for the name.
        if name != entry.header_name || unicode_name(extra, name).is_some_and(|name| name != entry.name) {
            return Err(contradicted());
        }
        Ok(name_start + bytes.len() as u64)
    }

    fn pass(&self, central: &Central, receiver: &mut dyn Receiver) -> Result<(), ExtractError> {
        let problem = |problem| refused(&central.name, problem);
        if central.flags & ENCRYPTED != 0 {
            return Err(problem(EntryError::Encrypted));
        }
        if central.name.contains(&b'\\') {
            return Err(problem(EntryError::Character));
        }
        self.budget.take(central.size)?;
        let kind = kind_of(central).map_err(problem)?;
        let mode = central.is_unix.then_some(central.attributes >> 16 & 0o7777).filter(|mode| *mode != 0);
        let mut content = self.open(central)?;
        if matches!(kind, EntryKind::Link(_)) {
            let mut text = vec![0; usize::try_from(central.size).unwrap_or_default().min(MAX_PATH)];
            let mut filled = 0;
            while filled < text.len() {
                match content.read(&mut text[filled..])? {
                    0 => break,
                    length => filled += length,
                }
            }
            content.finish()?;
            text.truncate(filled);
            let entry = ArchiveEntry {
                name: central.name.clone(),
                kind: EntryKind::Link(text),
                mode,
                modified: None,
            };
            return receiver.receive(&entry, &mut |_| Ok(0));
        }
        let entry = ArchiveEntry { name: central.name.clone(), kind, mode, modified: None };
        receiver.receive(&entry, &mut |buffer| content.read(buffer))?;
        content.finish()
    }

    fn open<'s>(&'s self, central: &'s Central) -> Result<ZipContent<'s>, ExtractError> {
        let start = self.content_start(central)?;
        let unreadable = |source| self.unreadable(source);
        let mut file = self.file.try_clone().map_err(unreadable)?;
        file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let raw = BufReader::with_capacity(64 << 10, file.take(central.compressed));
        let content = match central.method {
            0 => ZipMethod::Stored(raw),
            8 => ZipMethod::Deflated(Box::new(DeflateDecoder::new(raw))),
            _ => return Err(refused(&central.name, EntryError::Method)),
        };
        Ok(ZipContent { source: self, central, content, crc: Crc::new(), read: 0 })
    }

    fn bytes_at(&self, start: u64, length: usize) -> Result<Vec<u8>, ExtractError> {
        let is_inside = start.checked_add(length as u64).is_some_and(|end| end <= self.length);
        if !is_inside {
            return Err(self.damaged("it is cut off"));
        }
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, start).map_err(|source| self.unreadable(source))?;
        Ok(bytes)
    }

    fn unreadable(&self, source: io::Error) -> ExtractError {
        ExtractError::Read { path: self.path.clone(), source }
    }

    fn damaged(&self, reason: &'static str) -> ExtractError {
        self.unreadable(io::Error::new(io::ErrorKind::InvalidData, reason))
    }
}

enum ZipMethod {
    Stored(BufReader<Take<File>>),
    Deflated(Box<DeflateDecoder<BufReader<Take<File>>>>),
}

/// Content of an entry, whose length and checksum are verified.
struct ZipContent<'s> {
    source: &'s ZipSource,
    central: &'s Central,
    content: ZipMethod,
    crc: Crc,
    read: u64,
}

impl ZipContent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ExtractError> {
        self.source.stop.check()?;
        let read = match &mut self.content {
            ZipMethod::Stored(content) => content.read(buffer),
            ZipMethod::Deflated(content) => content.read(buffer),
        };
        let length = read.map_err(|_| self.damaged())?;
        self.crc.update(&buffer[..length]);
        self.read += length as u64;
        // The directory has named the length, and the limit was checked with that.
        if self.read > self.central.size { Err(self.damaged()) } else { Ok(length) }
    }

    fn finish(mut self) -> Result<(), ExtractError> {
        let mut rest = [0; 512];
        while self.read(&mut rest)? > 0 {}
        let is_whole = self.read == self.central.size && self.crc.sum() == self.central.crc;
        if is_whole { Ok(()) } else { Err(self.damaged()) }
    }

    fn damaged(&self) -> ExtractError {
        refused(&self.central.name, EntryError::Damaged)
    }
}

fn kind_of(entry: &Central) -> Result<EntryKind, EntryError> {
    const TYPE: u32 = 0o17_0000;
    const DOS_DIRECTORY: u32 = 0x10;
    let is_directory = entry.name.ends_with(b"/");
    match entry.attributes >> 16 & TYPE {
        0o12_0000 if entry.is_unix => Ok(EntryKind::Link(Vec::new())),
        0o02_0000 | 0o06_0000 if entry.is_unix => Err(EntryError::Device),
        0o01_0000 | 0o14_0000 if entry.is_unix => Err(EntryError::Pipe),
        _ if is_directory => Ok(EntryKind::Directory),
        0o04_0000 if entry.is_unix => Ok(EntryKind::Directory),
        // Attribute of DOS.
        _ if !entry.is_unix && entry.attributes & DOS_DIRECTORY != 0 && entry.size == 0 => {
            Ok(EntryKind::Directory)
        }
        _ => Ok(EntryKind::File { size: entry.size }),
    }
}

/// Parses the first entry, and returns what follows.
fn parse_central(bytes: &[u8]) -> Option<(Central, &[u8])> {
    if !bytes.starts_with(&CENTRAL) {
        return None;
    }
    let lengths = [28, 30, 32].map(|at| u16_at(bytes, at).map(usize::from));
    let [name, extra, comment] = [lengths[0]?, lengths[1]?, lengths[2]?];
    let extra_start = CENTRAL_LENGTH + name;
    let end = extra_start + extra + comment;
    let header_name = bytes.get(CENTRAL_LENGTH..extra_start)?;
    let extra = bytes.get(extra_start..extra_start + extra)?;
    let mut entry = Central {
        name: unicode_name(extra, header_name).unwrap_or(header_name).to_vec(),
        header_name: header_name.to_vec(),
        // Unix, and macOS, whose files have the permissions of Unix.
        is_unix: matches!(bytes.get(5)?, 3 | 19),
        attributes: u32_at(bytes, 38)?,
        flags: u16_at(bytes, 8)?,
        method: u16_at(bytes, 10)?,
        crc: u32_at(bytes, 16)?,
        compressed: u32_at(bytes, 20)?.into(),
        size: u32_at(bytes, 24)?.into(),
        offset: u32_at(bytes, 42)?.into(),
    };
    apply_zip64(extra, &mut entry)?;
    Some((entry, bytes.get(end..)?))
}

/// Replaces numbers that do not fit into 32 bits.
fn apply_zip64(extra: &[u8], entry: &mut Central) -> Option<()> {
    const ZIP64: u16 = 1;
    const IS_LONG: u64 = u32::MAX as u64;
    for mut field in extra_fields(extra).filter(|(id, _)| *id == ZIP64).map(|(_, field)| field) {
        for number in [&mut entry.size, &mut entry.compressed, &mut entry.offset] {
            if *number == IS_LONG {
                *number = u64_at(field, 0)?;
                field = &field[8..];
            }
        }
    }
    Some(())
}

/// Returns the name in UTF-8 that Info-ZIP writes beside one in another encoding. It counts if it was written for the name
/// in the header, which a program that does not know the field may have changed since.
fn unicode_name<'f>(extra: &'f [u8], header_name: &[u8]) -> Option<&'f [u8]> {
    const UNICODE_PATH: u16 = 0x7075;
    const VERSION: u8 = 1;
    let (_, field) = extra_fields(extra).find(|(id, _)| *id == UNICODE_PATH)?;
    let (name, mut crc) = (field.get(5..)?, Crc::new());
    crc.update(header_name);
    let is_of_header = field[0] == VERSION && u32_at(field, 1)? == crc.sum();
    (is_of_header && !name.is_empty() && str::from_utf8(name).is_ok()).then_some(name)
}

/// Returns the extra fields of a header by their numbers. As with other programs, one that is longer than what is left is
/// none. ccm needs none of times or users.
fn extra_fields(mut extra: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (id, length) = (u16_at(extra, 0)?, u16_at(extra, 2)?);
        let (field, rest) = extra[4..].split_at_checked(usize::from(length))?;
        extra = rest;
        Some((id, field))
    })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}
