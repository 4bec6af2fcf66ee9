//! Decompression of content that a server has compressed unasked.

use std::io::{self, Write as _};

use flate2::write::MultiGzDecoder;
use hyper::body::Bytes;

/// Length of a piece that is decompressed in memory; at most a thousand times as much comes out.
const PIECE: usize = 4 << 10;

/// Decompression of the content of one answer.
pub(super) struct Gunzip {
    decoder: MultiGzDecoder<Vec<u8>>,
    is_empty: bool,
}

impl Gunzip {
    pub(super) fn new() -> Self {
        Self { decoder: MultiGzDecoder::new(Vec::new()), is_empty: true }
    }

    /// Returns what comes out of a part, piece by piece.
    pub(super) fn pieces<'g>(&'g mut self, part: &'g [u8]) -> impl Iterator<Item = io::Result<Bytes>> + 'g {
        part.chunks(PIECE).map(|piece| {
            self.is_empty = false;
            self.decoder.write_all(piece)?;
            Ok(std::mem::take(self.decoder.get_mut()).into())
        })
    }

    /// Returns the rest. Content that is cut off or has another checksum is an error; no content at all is none.
    pub(super) fn finish(self) -> io::Result<Bytes> {
        if self.is_empty { Ok(Bytes::new()) } else { self.decoder.finish().map(Bytes::from) }
    }
}
