//! What this process must not print, wherever it prints something.

use std::io::{self, Write};
use std::sync::LazyLock;

use ccm_redaction::Secrets;

static SECRETS: LazyLock<Secrets> = LazyLock::new(Secrets::new);

/// All that is known to be secret by now.
pub(crate) fn secrets() -> &'static Secrets {
    &SECRETS
}

/// Hides secrets in what is written to it, each time by itself.
pub(crate) struct Hiding<W>(pub(crate) W);

impl<W: Write> Write for Hiding<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(secrets().redact(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_written_without_secrets() {
        secrets().add(["only-in-this-test-5d1"]);
        let mut written = Hiding(Vec::new());
        written.write_all(b"DEBUG read only-in-this-test-5d1\n").expect("a vector takes all");
        assert_eq!(written.0, b"DEBUG read [redacted]\n");
    }
}
