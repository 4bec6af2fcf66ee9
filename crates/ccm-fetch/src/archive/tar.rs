//! Reading tar files: ustar, the extensions of GNU, and pax.
//!
//! The `tar` crate (0.4.46) is not used: it reads a long name or pax records of any length into memory, and expands sparse
//! files. Its raw mode leaves names, pax and sparse files to the caller, so that little more than the fields of a header
//! would come from the crate.

use std::io::{self, Read};
use std::path::PathBuf;

use super::decompression::OutputBudget;
use super::entry::{ArchiveEntry, EntryKind};
use super::format::BLOCK;
use super::stop::ExtractionStop;
use super::unpack::{ReadPart, Receiver, refused};
use super::{EntryError, ExtractError};

/// Maximum length of a long name or of pax records.
const MAX_EXTENSION: u64 = 1 << 20;

/// Content of a tar file, within the limits of the extraction.
pub(super) struct TarSource {
    pub reader: Box<dyn Read>,
    pub path: PathBuf,
    pub budget: OutputBudget,
    pub stop: ExtractionStop,
}

impl TarSource {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ExtractError> {
        self.stop.check()?;
        loop {
            match self.reader.read(buffer) {
                Ok(length) => {
                    self.budget.take(length as u64)?;
                    return Ok(length);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.unreadable(source)),
            }
        }
    }

    /// Fills a buffer; returns fewer bytes at the end.
    fn fill(&mut self, buffer: &mut [u8]) -> Result<usize, ExtractError> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read(&mut buffer[filled..])? {
                0 => break,
                length => filled += length,
            }
        }
        Ok(filled)
    }

    /// Reads a block; `None` at the end. What is left of one, if that may be.
    fn read_block(&mut self, may_be_cut_off: bool) -> Result<Option<[u8; BLOCK]>, ExtractError> {
        let mut block = [0; BLOCK];
        match self.fill(&mut block)? {
            0 => Ok(None),
            length if length == BLOCK || may_be_cut_off => Ok(Some(block)),
            _ => Err(self.damaged("it is cut off")),
        }
    }

    fn read_extension(&mut self, size: u64) -> Result<Vec<u8>, ExtractError> {
        let length = usize::try_from(size).ok().filter(|_| size <= MAX_EXTENSION);
        let length = length.ok_or_else(|| self.damaged("an extension of a name is too long"))?;
        let mut bytes = vec![0; length];
        if self.fill(&mut bytes)? < length {
            return Err(self.damaged("it is cut off"));
        }
        self.skip(padding(size))?;
        Ok(bytes)
    }

    fn skip(&mut self, mut bytes: u64) -> Result<(), ExtractError> {
        let mut buffer = [0; 8 << 10];
        while bytes > 0 {
            let length = usize::try_from(bytes).map_or(buffer.len(), |bytes| bytes.min(buffer.len()));
            match self.read(&mut buffer[..length])? {
                0 => return Err(self.damaged("it is cut off")),
                length => bytes -= length as u64,
            }
        }
        Ok(())
    }

    /// Reads to the end, so that checksums of the compression are verified.
    fn drain(&mut self) -> Result<(), ExtractError> {
        let mut buffer = [0; 8 << 10];
        while self.read(&mut buffer)? > 0 {}
        Ok(())
    }

    fn unreadable(&self, source: io::Error) -> ExtractError {
        ExtractError::Read { path: self.path.clone(), source }
    }

    fn damaged(&self, reason: &'static str) -> ExtractError {
        self.unreadable(io::Error::new(io::ErrorKind::InvalidData, reason))
    }
}

/// Names and lengths that apply to the next entry in place of those in its header.
#[derive(Default)]
struct Extensions {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    size: Option<u64>,
    modified: Option<u64>,
    is_sparse: bool,
}

/// Passes each entry to the receiver.
pub(super) fn walk(mut source: TarSource, receiver: &mut dyn Receiver) -> Result<(), ExtractError> {
    let mut extensions = Extensions::default();
    let mut has_end = false;
    while let Some(block) = source.read_block(has_end)? {
        if has_end {
            // One block of zeros is the end for other programs, too. No entry is lost behind it.
            if block != [0; BLOCK] && has_valid_checksum(&block) {
                return Err(source.damaged("there are entries behind a block of zeros"));
            }
            return source.drain();
        }
        if block == [0; BLOCK] {
            has_end = true;
            continue;
        }
        if !has_valid_checksum(&block) {
            return Err(source.damaged("it is no tar file, or it is damaged"));
        }
        let header = TarHeader(&block);
        let Some(size) = header.number(124, 12) else {
            return Err(source.damaged("the length of an entry is not a number"));
        };
        match header.kind() {
            b'L' => extensions.name = Some(trimmed(source.read_extension(size)?)),
            b'K' => extensions.link = Some(trimmed(source.read_extension(size)?)),
            // Label of a volume.
            b'V' => {}
            // Access control list of Solaris.
            b'A' => source.skip(size.saturating_add(padding(size)))?,
            b'x' | b'X' => {
                let records = source.read_extension(size)?;
                if parse_pax(&records, &mut extensions).is_none() {
                    return Err(source.damaged("its pax records are damaged"));
                }
            }
            // Defaults for all entries, such as the commit that `git archive` names.
            b'g' => drop(source.read_extension(size)?),
            _ => pass_entry(&mut source, header, std::mem::take(&mut extensions), size, receiver)?,
        }
    }
    if has_end {
        Ok(())
    } else {
        Err(source.damaged("the blocks of zeros at its end are missing: it may be cut off"))
    }
}

fn pass_entry(
    source: &mut TarSource,
    header: TarHeader<'_>,
    extensions: Extensions,
    size: u64,
    receiver: &mut dyn Receiver,
) -> Result<(), ExtractError> {
    let name = extensions.name.unwrap_or_else(|| header.name());
    // Old programs know no other directories.
    let is_old_directory = matches!(header.kind(), b'0' | b'\0' | b'7') && name.ends_with(b"/");
    // No content follows these, whatever length is named.
    let has_content = !is_old_directory && !matches!(header.kind(), b'1'..=b'6');
    let size = if has_content { extensions.size.unwrap_or(size) } else { 0 };
    let link = || extensions.link.clone().unwrap_or_else(|| header.text(157, 100).to_vec());
    let kind = match header.kind() {
        b'0' | b'\0' | b'7' if extensions.is_sparse => Err(EntryError::Sparse),
        b'S' => Err(EntryError::Sparse),
        b'M' => Err(EntryError::Continued),
        _ if is_old_directory => Ok(EntryKind::Directory),
        b'0' | b'\0' | b'7' => Ok(EntryKind::File { size }),
        b'1' => Ok(EntryKind::HardLink(link())),
        b'2' => Ok(EntryKind::Link(link())),
        b'3' | b'4' => Err(EntryError::Device),
        // The names in the directory of an incremental backup are not needed.
        b'5' | b'D' => Ok(EntryKind::Directory),
        b'6' => Err(EntryError::Pipe),
        _ => Err(EntryError::Kind),
    };
    let kind = kind.map_err(|problem| refused(&name, problem))?;
    let mode = header.number(100, 8).and_then(|mode| u32::try_from(mode & 0o7777).ok());
    let modified = extensions.modified.or_else(|| header.number(136, 12));
    let entry = ArchiveEntry { name, kind, mode, modified };
    let mut left = size;
    let mut read: Box<ReadPart<'_>> = Box::new(|buffer: &mut [u8]| {
        let length = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        if length == 0 {
            return Ok(0);
        }
        match source.read(&mut buffer[..length])? {
            0 => Err(source.damaged("it is cut off")),
            length => {
                left -= length as u64;
                Ok(length)
            }
        }
    });
    receiver.receive(&entry, &mut *read)?;
    drop(read);
    source.skip(left)?;
    source.skip(padding(size))
}

/// Number of bytes up to the next block.
fn padding(size: u64) -> u64 {
    let block = BLOCK as u64;
    (block - size % block) % block
}

#[derive(Clone, Copy)]
struct TarHeader<'b>(&'b [u8; BLOCK]);

impl<'b> TarHeader<'b> {
    fn kind(self) -> u8 {
        self.0[156]
    }

    /// Returns the text of a field, which ends with the first NUL.
    fn text(self, start: usize, length: usize) -> &'b [u8] {
        let field = &self.0[start..start + length];
        field.split(|byte| *byte == 0).next().unwrap_or_default()
    }

    fn name(self) -> Vec<u8> {
        let name = self.text(0, 100);
        let prefix = if self.0[257..263] == *b"ustar\0" { self.text(345, 155) } else { &[] };
        match prefix {
            [] => name.to_vec(),
            prefix => [prefix, b"/", name].concat(),
        }
    }

    /// Returns a number in octal digits, or in the binary form of GNU.
    fn number(self, start: usize, length: usize) -> Option<u64> {
        let field = &self.0[start..start + length];
        if field[0] == 0x80 {
            let digits = field[1..].iter();
            return digits
                .copied()
                .try_fold(0_u64, |number, byte| number.checked_mul(256)?.checked_add(u64::from(byte)));
        }
        let text = self.text(start, length).trim_ascii();
        if text.is_empty() {
            return Some(0);
        }
        text.iter().copied().try_fold(0_u64, |number, byte| match byte {
            b'0'..=b'7' => number.checked_mul(8)?.checked_add(u64::from(byte - b'0')),
            _ => None,
        })
    }
}

/// Returns `true` if the sum of all bytes, with blanks in its own field, is the one in the header.
fn has_valid_checksum(block: &[u8; BLOCK]) -> bool {
    let byte = |(at, byte): (usize, &u8)| if (148..156).contains(&at) { b' ' } else { *byte };
    let sum: u64 = block.iter().enumerate().map(byte).map(u64::from).sum();
    TarHeader(block).number(148, 8) == Some(sum)
}

fn trimmed(mut text: Vec<u8>) -> Vec<u8> {
    let end = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
    text.truncate(end);
    text
}

/// Parses records such as `20 path=a/long/name\n`.
fn parse_pax(mut records: &[u8], extensions: &mut Extensions) -> Option<()> {
    while !records.is_empty() {
        let blank = records.iter().position(|byte| *byte == b' ')?;
        let length: usize = str::from_utf8(&records[..blank]).ok()?.parse().ok()?;
        let record = records.get(blank + 1..length)?.strip_suffix(b"\n")?;
        records = &records[length..];
        let equals = record.iter().position(|byte| *byte == b'=')?;
        let (key, value) = (&record[..equals], &record[equals + 1..]);
        let number = || str::from_utf8(value).ok()?.split('.').next()?.parse::<u64>().ok();
        match key {
            b"path" => extensions.name = Some(value.to_vec()),
            b"linkpath" => extensions.link = Some(value.to_vec()),
            b"size" => extensions.size = Some(number()?),
            // A time before 1970 is not kept.
            b"mtime" => extensions.modified = number(),
            _ if key.starts_with(b"GNU.sparse.") => extensions.is_sparse = true,
            _ => {}
        }
    }
    Some(())
}
