//! One extraction, from the open archive to the files in their places.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use ccm_model::hexadecimal;
use sha2::{Digest as _, Sha256};

use super::content_digest::DigestedReader;
use super::decompression::{OutputBudget, open};
use super::entry::ArchiveEntry;
use super::format::BLOCK;
use super::staging::Staging;
use super::stop::ExtractionStop;
use super::tar::TarSource;
use super::zip::ZipSource;
use super::{ArchiveFormat, EntryError, ExtractError, ExtractRequest, Extracted, placement, tar, zip};

/// Maximum length of a name in a message.
const MAX_SHOWN: usize = 200;

/// Number of bytes that are hashed at once.
const HASHED_AT_ONCE: usize = 256 << 10;

/// Reads the next part of the content of an entry; 0 at its end.
pub(super) type ReadPart<'a> = dyn FnMut(&mut [u8]) -> Result<usize, ExtractError> + 'a;

/// Receives the entries of an archive in their order.
pub(super) trait Receiver {
    fn receive(&mut self, entry: &ArchiveEntry, content: &mut ReadPart<'_>) -> Result<(), ExtractError>;
}

/// Returns the error of an entry.
pub(super) fn refused(name: &[u8], problem: EntryError) -> ExtractError {
    let name = String::from_utf8_lossy(name);
    let mut entry: String = name.chars().take(MAX_SHOWN).collect::<String>().escape_debug().to_string();
    if name.chars().nth(MAX_SHOWN).is_some() {
        entry.push('…');
    }
    ExtractError::Entry { entry, problem }
}

/// Returns the SHA-256 of an open file in hexadecimal digits, and goes back to its beginning.
fn sha256(
    mut file: &File,
    stop: &ExtractionStop,
    unreadable: impl Fn(io::Error) -> ExtractError,
) -> Result<String, ExtractError> {
    let mut hash = Sha256::new();
    let mut part = vec![0; HASHED_AT_ONCE];
    loop {
        stop.check()?;
        match file.read(&mut part).map_err(&unreadable)? {
            0 => break,
            read => hash.update(&part[..read]),
        }
    }
    file.rewind().map_err(unreadable)?;
    Ok(hexadecimal(&hash.finalize()))
}

/// Extracts an archive. Before files are moved into place, an error leaves nothing behind.
pub(super) fn unpack(request: ExtractRequest, stop: &ExtractionStop) -> Result<Extracted, ExtractError> {
    let mut beginning = [0; BLOCK];
    let length = request.archive.read_at(&mut beginning, 0).unwrap_or_default();
    let format = request.format;
    unpack_readable(request, stop).map_err(|error| match error {
        ExtractError::Read { path, source } => {
            let contradiction = format.contradiction(&beginning[..length]);
            ExtractError::Read { path, source: contradiction.map_or(source, io::Error::other) }
        }
        other => other,
    })
}

fn unpack_readable(request: ExtractRequest, stop: &ExtractionStop) -> Result<Extracted, ExtractError> {
    let unreadable = |source| ExtractError::Read { path: request.path.clone(), source };
    let length = request.archive.metadata().map_err(unreadable)?.len();
    if let Some(expected) = &request.sha256 {
        let found = sha256(&request.archive, stop, unreadable)?;
        if found != *expected {
            return Err(ExtractError::Checksum { path: request.path });
        }
    }
    let budget = OutputBudget::new(request.max_size, length);
    let mut staging = Staging::make(&request, stop)?;
    let path: PathBuf = request.path.clone();
    if request.format == ArchiveFormat::Zip {
        let source = ZipSource { file: request.archive, path, length, budget, stop: stop.clone() };
        zip::walk(&source, &mut staging)?;
    } else {
        let reader = open(request.archive, request.format)
            .map_err(|source| ExtractError::Read { path: path.clone(), source })?;
        let (reader, digested): (Box<dyn Read>, _) = match request.content_sha256 {
            None => (reader, None),
            Some(expected) => {
                let reader = DigestedReader::new(reader);
                (Box::new(reader.clone()), Some((reader, expected)))
            }
        };
        let source = TarSource { reader, path: path.clone(), budget, stop: stop.clone() };
        tar::walk(source, &mut staging)?;
        if digested.is_some_and(|(reader, expected)| reader.digest() != expected) {
            return Err(ExtractError::Content { path });
        }
    }
    let extracted = staging.extracted();
    if extracted.files + extracted.directories == 0 {
        return Err(ExtractError::Empty { stripped: request.strip_components > 0 });
    }
    placement::check(&staging)?;
    staging.sync()?;
    stop.check()?;
    placement::place(&staging, request.last.as_deref())?;
    Ok(extracted)
}
