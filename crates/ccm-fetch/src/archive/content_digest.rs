//! Digest of what comes out of a compressed archive.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use ccm_model::hexadecimal;
use sha2::{Digest as _, Sha256};

/// Reader that keeps the digest of all bytes that were read. A clone reads on where the other one stands.
#[derive(Clone)]
pub(super) struct DigestedReader(Rc<RefCell<(Box<dyn Read>, Sha256)>>);

impl DigestedReader {
    pub(super) fn new(reader: Box<dyn Read>) -> Self {
        Self(Rc::new(RefCell::new((reader, Sha256::new()))))
    }

    /// Returns the digest of what was read, in hexadecimal digits.
    pub(super) fn digest(&self) -> String {
        hexadecimal(&self.0.borrow().1.clone().finalize())
    }
}

impl Read for DigestedReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (reader, digest) = &mut *self.0.borrow_mut();
        let length = reader.read(buffer)?;
        digest.update(buffer.get(..length).unwrap_or_default());
        Ok(length)
    }
}
