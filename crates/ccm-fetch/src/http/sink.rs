//! File that a download is written to, and its checksum.

use std::fs::File;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use ccm_model::hexadecimal;
use hyper::body::Bytes;
use sha2::{Digest as _, Sha256};

use super::HttpError;

/// Maximum number of parts that wait for the checksum.
const MAX_WAITING: usize = 32;

/// File that receives the parts in their order. The checksum is computed by a thread of its own, beside the
/// transfer.
pub(super) struct DownloadSink {
    file: File,
    received: u64,
    hash: SyncSender<HashStep>,
    digest: JoinHandle<String>,
}

enum HashStep {
    Part(Bytes),
    Restart,
}

impl DownloadSink {
    pub(super) fn new(file: File) -> Result<Self, HttpError> {
        let (hash, steps) = sync_channel(MAX_WAITING);
        let thread = std::thread::Builder::new().name("checksum".to_owned());
        let digest = thread.spawn(move || {
            let mut hash = Sha256::new();
            for step in steps {
                match step {
                    HashStep::Part(part) => hash.update(&part),
                    HashStep::Restart => hash = Sha256::new(),
                }
            }
            hexadecimal(&hash.finalize())
        });
        Ok(Self { file, received: 0, hash, digest: digest.map_err(HttpError::Thread)? })
    }

    /// Number of bytes so far.
    pub(super) fn received(&self) -> u64 {
        self.received
    }

    pub(super) fn push(&mut self, part: Bytes) -> Result<(), HttpError> {
        self.file.write_all(&part).map_err(HttpError::Write)?;
        self.received += part.len() as u64;
        self.step(HashStep::Part(part))
    }

    /// Forgets what was received.
    pub(super) fn restart(&mut self) -> Result<(), HttpError> {
        self.file.set_len(0).map_err(HttpError::Write)?;
        self.file.seek(SeekFrom::Start(0)).map_err(HttpError::Write)?;
        self.received = 0;
        self.step(HashStep::Restart)
    }

    /// Returns the checksum in hexadecimal digits.
    pub(super) fn finish(self) -> Result<String, HttpError> {
        drop(self.hash);
        self.digest.join().map_err(|_| HttpError::Thread(std::io::ErrorKind::Other.into()))
    }

    fn step(&self, step: HashStep) -> Result<(), HttpError> {
        self.hash.send(step).map_err(|_| HttpError::Thread(std::io::ErrorKind::BrokenPipe.into()))
    }
}
