//! Decompression of tar files, within a limit.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::rc::Rc;

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use liblzma::read::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use super::{ArchiveFormat, ExtractError, MAX_ARCHIVE_RATIO};

/// Size of a read of the archive.
const BUFFER: usize = 256 << 10;

/// Maximum memory of xz. The strongest level needs 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// Logarithm of the maximum window of Zstandard: 128 MiB, as of the command.
const ZSTD_WINDOW: u32 = 27;

/// What comes out of an archive whose ratio is not looked at.
const SMALL: u64 = 1 << 20;

/// Limit of what comes out of an archive, and what is left of it.
#[derive(Clone, Debug)]
pub(super) struct OutputBudget {
    left: Rc<Cell<u64>>,
    max_size: u64,
    is_of_ratio: bool,
}

impl OutputBudget {
    /// Returns the limit for an archive of this length.
    pub(super) fn new(max_size: u64, length: u64) -> Self {
        let of_ratio = length.saturating_mul(MAX_ARCHIVE_RATIO).max(SMALL);
        let left = Rc::new(Cell::new(max_size.min(of_ratio)));
        Self { left, max_size, is_of_ratio: of_ratio < max_size }
    }

    /// Takes bytes from what is left.
    pub(super) fn take(&self, bytes: u64) -> Result<(), ExtractError> {
        let left = self.left.get().checked_sub(bytes).ok_or_else(|| self.exceeded())?;
        self.left.set(left);
        Ok(())
    }

    pub(super) fn exceeded(&self) -> ExtractError {
        if self.is_of_ratio {
            ExtractError::Ratio { ratio: MAX_ARCHIVE_RATIO }
        } else {
            ExtractError::TooLarge { max: self.max_size }
        }
    }
}

/// Opens the content of a tar file.
pub(super) fn open(archive: File, format: ArchiveFormat) -> io::Result<Box<dyn Read>> {
    let file = BufReader::with_capacity(BUFFER, archive);
    Ok(match format {
        ArchiveFormat::Tar | ArchiveFormat::Zip => Box::new(file),
        ArchiveFormat::TarGz => Box::new(Members::new(file, 0x1f, GzDecoder::new, GzDecoder::into_inner)),
        ArchiveFormat::TarBz2 => Box::new(Members::new(file, b'B', BzDecoder::new, BzDecoder::into_inner)),
        ArchiveFormat::TarXz => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)?;
            Box::new(XzDecoder::new_stream(file, stream))
        }
        ArchiveFormat::TarZst => {
            let mut decoder = zstd::Decoder::with_buffer(file)?;
            decoder.window_log_max(ZSTD_WINDOW)?;
            Box::new(decoder)
        }
    })
}

/// Content of several compressed files in a row, which may be padded with zeros, as tapes and some programs do it.
struct Members<D> {
    /// Decoder of the present one; `None` at the end.
    decoder: Option<D>,
    /// First byte of each.
    first: u8,
    open: fn(BufReader<File>) -> D,
    close: fn(D) -> BufReader<File>,
}

impl<D: Read> Members<D> {
    fn new(
        file: BufReader<File>,
        first: u8,
        open: fn(BufReader<File>) -> D,
        close: fn(D) -> BufReader<File>,
    ) -> Self {
        Self { decoder: Some(open(file)), first, open, close }
    }
}

impl<D: Read> Read for Members<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(decoder) = &mut self.decoder {
            let length = decoder.read(buffer)?;
            if length > 0 || buffer.is_empty() {
                return Ok(length);
            }
            let Some(mut file) = self.decoder.take().map(self.close) else { break };
            let is_padded = skip_zeros(&mut file)?;
            if let Some(next) = file.fill_buf()?.first() {
                if is_padded || *next != self.first {
                    let reason = "there is something else behind the compressed content";
                    return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
                }
                self.decoder = Some((self.open)(file));
            }
        }
        Ok(0)
    }
}

/// Skips zeros; returns `true` if there are any.
fn skip_zeros(file: &mut BufReader<File>) -> io::Result<bool> {
    let mut is_padded = false;
    loop {
        let buffered = file.fill_buf()?;
        let zeros = buffered.iter().take_while(|byte| **byte == 0).count();
        if zeros == 0 {
            return Ok(is_padded);
        }
        is_padded = true;
        file.consume(zeros);
    }
}
