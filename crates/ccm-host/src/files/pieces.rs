//! Reading a file piece by piece.

use std::fs::File;
use std::io::{ErrorKind, Read as _};
use std::ops::ControlFlow;
use std::path::Path;

use super::inspect::open_source;
use super::{FileError, FileStep};

/// Length of a piece.
const PIECE: usize = 64 << 10;

/// Hands on the content of a regular file piece by piece, until `step` breaks. The rules of [`Files::read`](super::Files::read)
/// hold for the path.
pub fn read_pieces(path: &Path, step: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), FileError> {
    let mut file = File::from(open_source(path)?);
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(length) if step(&piece[..length]).is_break() => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(FileError::step(path, FileStep::Read, error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use ccm_testkit::Scratch;

    use super::*;

    #[test]
    fn pieces_are_the_whole_file_or_its_beginning() {
        let scratch = Scratch::new();
        let content = "0123456789".repeat(20_000);
        let path = scratch.write("file", &content);
        let mut read = Vec::new();
        let mut step = |piece: &[u8]| {
            read.extend_from_slice(piece);
            ControlFlow::Continue(())
        };
        read_pieces(&path, &mut step).expect("a file");
        assert!(read == content.as_bytes());
        let mut pieces = 0;
        let mut first = |_: &[u8]| {
            pieces += 1;
            ControlFlow::Break(())
        };
        read_pieces(&path, &mut first).expect("a file");
        assert_eq!(pieces, 1);
        let pipe = scratch.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
        for path in [&*pipe, scratch.path(), &scratch.path().join("missing")] {
            assert!(read_pieces(path, &mut |_| ControlFlow::Continue(())).is_err(), "{}", path.display());
        }
    }
}
