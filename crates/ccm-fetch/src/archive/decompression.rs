//! Decompression of tar files, within a limit.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use bzip2::read::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
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
        ArchiveFormat::TarGz => Box::new(MultiGzDecoder::new(file)),
        ArchiveFormat::TarBz2 => Box::new(MultiBzDecoder::new(file)),
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
