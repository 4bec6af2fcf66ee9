//! Reading content, a piece at a time: its sha256, and as much of it as is asked for.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;

use sha2::{Digest as _, Sha256};

use super::ReadContent;

const PIECE: usize = 128 * 1024;

/// Reads to the end. Each piece goes through `each` as well.
pub(super) fn read(
    from: OwnedFd,
    keep_up_to: u64,
    mut each: impl FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<ReadContent> {
    let mut from = File::from(from);
    let mut hash = Sha256::new();
    let mut size = 0;
    let mut content = Some(Vec::new());
    let mut piece = vec![0; PIECE];
    loop {
        let length = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let piece = &piece[..length];
        hash.update(piece);
        size += length as u64;
        if size > keep_up_to {
            content = None;
        } else if let Some(content) = &mut content {
            content.extend_from_slice(piece);
        }
        each(piece)?;
    }
    Ok(ReadContent { sha256: hexadecimal(&hash.finalize()), size, content })
}

/// The sha256 of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        // A `String` takes everything.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
