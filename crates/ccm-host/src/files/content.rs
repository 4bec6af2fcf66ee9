//! Reading content in chunks.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::ops::Range;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use ccm_model::hexadecimal;
pub use ccm_model::sha256;
use rustix::buffer::spare_capacity;
use rustix::fs::{SeekFrom, Stat, fstat, fstatvfs, seek};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::{FileError, FileStep, ReadContent};
use crate::command::{Cancellation, CancellationLevel};

const CHUNK: usize = 128 * 1024;

pub(super) struct Readable<'a> {
    pub file: OwnedFd,
    pub path: &'a Path,
    /// Expected length. A file of this length needs no further read to find its end.
    pub expected: Option<u64>,
    /// Maximum length. A file that is longer was changed since it was inspected.
    pub max_length: u64,
}

/// Reads to the end of the file, unless the run is cancelled. Hands each chunk to `each` as well.
pub(super) fn read(
    from: Readable<'_>,
    cancellation: &Cancellation,
    keep_up_to: u64,
    mut each: impl FnMut(&[u8]) -> Result<(), FileError>,
) -> Result<ReadContent, FileError> {
    let Readable { file, path, expected, max_length } = from;
    let mut from = File::from(file);
    let mut hash = Sha256::new();
    let mut size = 0;
    let mut content = Some(Vec::new());
    // A buffer that is one byte longer than the expected size, so that a short read shows the end.
    let expected_chunk = expected.and_then(|size| usize::try_from(size.saturating_add(1)).ok());
    let mut chunk = vec![0; expected_chunk.map_or(CHUNK, |length| length.min(CHUNK))];
    loop {
        check_cancelled(cancellation)?;
        let length = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(FileError::step(path, FileStep::Read, error)),
        };
        let is_short = length < chunk.len();
        let chunk = &chunk[..length];
        hash.update(chunk);
        size += length as u64;
        if size > max_length {
            return Err(FileError::Changed(path.to_owned()));
        }
        if size > keep_up_to {
            content = None;
        } else if let Some(content) = &mut content {
            content.extend_from_slice(chunk);
        }
        each(chunk)?;
        if is_short && expected == Some(size) {
            break;
        }
    }
    Ok(ReadContent { sha256: hexadecimal(&hash.finalize()), size, content })
}

/// Reads like [`read`], and writes what is read to an empty file. Holes stay holes.
pub(super) fn read_to(
    from: Readable<'_>,
    to: &Writable<'_>,
    cancellation: &Cancellation,
) -> Result<ReadContent, FileError> {
    let unwritten = |error: io::Error| FileError::step(to.path, FileStep::Content, error);
    let source = File::from(from.file);
    let data = parts_with_data(&source, from.path, cancellation)?;
    let mut parts = data.iter().flatten().cloned().peekable();
    let mut begin = 0;
    let read = read(Readable { file: source.into(), ..from }, cancellation, 0, |chunk| {
        let end = begin + chunk.len() as u64;
        while parts.next_if(|part| part.end <= begin).is_some() {}
        let has_data = data.is_none() || parts.peek().is_some_and(|part| part.start < end);
        // What was written to a hole meanwhile has been read, and belongs to the checksum.
        if has_data || chunk.iter().any(|byte| *byte != 0) {
            to.file.write_all_at(chunk, begin).map_err(unwritten)?;
        }
        begin = end;
        Ok(())
    })?;
    if data.is_some() {
        // The file may end with a hole.
        to.file.set_len(begin).map_err(unwritten)?;
    }
    Ok(read)
}

/// Returns the parts of a file that are no holes; `None` for a file without holes. The file is at its beginning afterwards.
fn parts_with_data(
    file: &File,
    path: &Path,
    cancellation: &Cancellation,
) -> Result<Option<Vec<Range<u64>>>, FileError> {
    let refused = |error: io::Error| FileError::step(path, FileStep::Read, error);
    let stat = fstat(file).map_err(|error| refused(error.into()))?;
    if !FileSize::of(&stat).has_holes() {
        return Ok(None);
    }
    let mut parts = Vec::new();
    let mut found = 0;
    while let Some(data) = next_data(file, found).map_err(refused)? {
        check_cancelled(cancellation)?;
        found = data.end;
        parts.push(data);
    }
    seek(file, SeekFrom::Start(0)).map_err(|error| refused(error.into()))?;
    Ok(Some(parts))
}

/// Size of a file, and the part of it that is on the disk.
struct FileSize {
    length: u64,
    allocated: u64,
}

impl FileSize {
    fn of(stat: &Stat) -> Self {
        /// Unit of the number of blocks of a file.
        const BLOCK: u64 = 512;
        Self {
            length: u64::try_from(stat.st_size).unwrap_or_default(),
            allocated: u64::try_from(stat.st_blocks).unwrap_or_default().saturating_mul(BLOCK),
        }
    }

    fn has_holes(&self) -> bool {
        self.allocated < self.length
    }
}

/// Returns the sha256 of an open file, which is then at its beginning again.
pub(super) fn digest_of_open(file: &mut File, path: &Path) -> Result<String, FileError> {
    let refused = |error| FileError::step(path, FileStep::Read, error);
    let mut hash = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match read_full(file, &mut chunk).map_err(refused)? {
            0 => break,
            length => hash.update(&chunk[..length]),
        }
    }
    file.rewind().map_err(refused)?;
    Ok(hexadecimal(&hash.finalize()))
}

/// File that a copy is written to.
pub(super) struct Writable<'a> {
    pub file: File,
    /// Path, for messages.
    pub path: &'a Path,
}

/// Copies a file to an empty one, unless the run is cancelled. Holes stay holes, because the owner of a file can
/// make it longer than the disk. A copy for which there is no space is not begun.
pub(super) fn copy(
    from: OwnedFd,
    from_path: &Path,
    to: &Writable<'_>,
    cancellation: &Cancellation,
) -> Result<(), FileError> {
    let unread = |error: io::Error| FileError::step(from_path, FileStep::Read, error);
    let unwritten = |error: io::Error| FileError::step(to.path, FileStep::Content, error);
    let stat = fstat(&from).map_err(|error| unread(error.into()))?;
    let size = FileSize::of(&stat);
    let FileSize { length, allocated } = size;
    let disk = fstatvfs(&to.file).map_err(|error| unwritten(error.into()))?;
    // Some filesystems do not report their size.
    if disk.f_blocks > 0 && length.min(allocated) > disk.f_bavail.saturating_mul(disk.f_frsize) {
        return Err(unwritten(Errno::NOSPC.into()));
    }
    let from = File::from(from);
    let mut chunk = vec![0; CHUNK];
    let mut copy_part = |part: Range<u64>| {
        let mut at = part.start;
        while at < part.end {
            check_cancelled(cancellation)?;
            let most = usize::try_from(part.end - at).map_or(CHUNK, |length| length.min(CHUNK));
            match from.read_at(&mut chunk[..most], at) {
                Ok(0) => break,
                Ok(length) => {
                    to.file.write_all_at(&chunk[..length], at).map_err(unwritten)?;
                    at += length as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unread(error)),
            }
        }
        Ok(())
    };
    if !size.has_holes() {
        return copy_part(0..u64::MAX);
    }
    let mut copied = 0;
    while let Some(data) = next_data(&from, copied).map_err(unread)? {
        copied = data.end;
        copy_part(data)?;
    }
    // The file may end with a hole.
    to.file.set_len(length).map_err(unwritten)
}

/// Returns the next part of a file that is no hole; `None` after the last one.
fn next_data(file: &File, from: u64) -> io::Result<Option<Range<u64>>> {
    match seek(file, SeekFrom::Data(from)) {
        Ok(start) => Ok(Some(start..seek(file, SeekFrom::Hole(start))?)),
        Err(Errno::NXIO) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Reads the content without a checksum; `None` if it is longer than `max_length`. `length` is the length that the
/// file had when it was opened, which is 0 for the tables of the kernel.
pub(super) fn read_bounded(
    file: OwnedFd,
    length: u64,
    path: &Path,
    max_length: u64,
) -> Result<Option<Vec<u8>>, FileError> {
    /// Size of the first read of a file without a length.
    const UNKNOWN: usize = 16 << 10;
    if length > max_length {
        return Ok(None);
    }
    let refused = |error: io::Error| FileError::step(path, FileStep::Read, error);
    // With one byte more, the end is found without another read.
    let room = usize::try_from(length).unwrap_or_default().saturating_add(1);
    let mut content = Vec::with_capacity(if length == 0 { UNKNOWN } else { room });
    match rustix::io::read(&file, spare_capacity(&mut content)) {
        Ok(read) if length > 0 && read as u64 == length => {}
        Ok(0) => {}
        Ok(_) | Err(Errno::INTR) => {
            let left = max_length.saturating_add(1).saturating_sub(content.len() as u64);
            File::from(file).take(left).read_to_end(&mut content).map_err(refused)?;
        }
        Err(error) => return Err(refused(error.into())),
    }
    Ok((content.len() as u64 <= max_length).then_some(content))
}

/// Returns `true` if one read shows that the content is equal to `bytes`. Content that needs several reads
/// counts as different. The position in the file stays at its beginning.
pub(super) fn is_equal(file: &OwnedFd, bytes: &[u8]) -> bool {
    if bytes.len() >= CHUNK {
        return false;
    }
    let mut read = Vec::with_capacity(bytes.len() + 1);
    rustix::io::pread(file, spare_capacity(&mut read), 0).is_ok() && read == bytes
}

/// Returns `true` if a file has exactly these bytes.
pub(super) fn has_bytes(file: OwnedFd, path: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    let refused = |error: io::Error| FileError::step(path, FileStep::Read, error);
    let mut file = File::from(file);
    let mut rest = bytes;
    // One byte more shows the end of the file.
    let mut chunk = vec![0; (bytes.len() + 1).min(CHUNK)];
    loop {
        match read_full(&mut file, &mut chunk).map_err(refused)? {
            0 => return Ok(rest.is_empty()),
            length => match rest.strip_prefix(&chunk[..length]) {
                Some(left) if length < chunk.len() => return Ok(left.is_empty()),
                Some(left) => rest = left,
                None => return Ok(false),
            },
        }
    }
}

/// Returns `true` if two files have the same content. `size` is the length that both had when they were inspected.
pub(super) fn is_copy(
    one: Readable<'_>,
    other: Readable<'_>,
    size: u64,
    cancellation: &Cancellation,
) -> Result<bool, FileError> {
    let buffer = usize::try_from(size.saturating_add(1)).unwrap_or(CHUNK).min(CHUNK);
    let mut chunks = [vec![0; buffer], vec![0; buffer]];
    let mut files = [(File::from(one.file), one.path), (File::from(other.file), other.path)];
    loop {
        check_cancelled(cancellation)?;
        let mut lengths = [0; 2];
        for (((file, path), chunk), length) in files.iter_mut().zip(&mut chunks).zip(&mut lengths) {
            *length = read_full(file, chunk).map_err(|error| FileError::step(path, FileStep::Read, error))?;
        }
        let [one, other] = lengths;
        if chunks[0][..one] != chunks[1][..other] {
            return Ok(false);
        }
        if one < buffer {
            return Ok(true);
        }
    }
}

/// Fills the buffer as far as the file has content. A short read of a regular file is its end.
fn read_full(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Returns an error if the run is cancelled. Long operations call this at each step.
pub(super) fn check_cancelled(cancellation: &Cancellation) -> Result<(), FileError> {
    match cancellation.level() {
        CancellationLevel::Go => Ok(()),
        CancellationLevel::Stop | CancellationLevel::Kill => Err(FileError::Cancelled { changed: false }),
    }
}
