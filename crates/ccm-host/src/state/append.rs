//! A file that only grows.

use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// A file that only grows, by whole pieces.
///
/// Each write is one piece; one that can't be written whole is taken back, so that a full disk leaves no part
/// of it behind.
#[derive(Debug)]
pub struct AppendFile(File);

impl AppendFile {
    /// Opens a file at its end, or makes it for its owner alone. A link at the path is not followed.
    pub fn open(path: &Path) -> io::Result<Self> {
        // Without `NONBLOCK`, a pipe that nobody reads would hold ccm up before it has said anything.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = File::options().append(true).create(true).mode(0o600).custom_flags(flags).open(path);
        let file = file.map_err(super::not_a_link)?;
        let status = fcntl_getfl(&file)?;
        fcntl_setfl(&file, status.difference(OFlags::NONBLOCK))?;
        Ok(Self(file))
    }

    pub(super) fn new(file: File) -> Self {
        Self(file)
    }

    /// Brings what was written to the disk.
    pub fn sync(&self) -> io::Result<()> {
        match self.0.sync_data() {
            // A pipe or a device has no disk below it.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            result => result,
        }
    }

    /// Takes the beginning of a piece back, unless somebody else has written behind it.
    fn take_back(&mut self, written: u64) -> io::Result<()> {
        let end = self.0.stream_position()?;
        let metadata = self.0.metadata()?;
        if written > 0 && metadata.is_file() && metadata.len() == end {
            self.0.set_len(end - written)?;
        }
        Ok(())
    }
}

impl Write for AppendFile {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let mut rest = piece;
        while !rest.is_empty() {
            let error = match self.0.write(rest) {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(count) => {
                    rest = &rest[count..];
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            // The error that is told is the first one.
            let _ = self.take_back((piece.len() - rest.len()) as u64);
            return Err(error);
        }
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
