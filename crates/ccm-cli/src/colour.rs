//! Removal of colours from text.

use std::io::{self, Write};

use anstream::ColorChoice;

/// Returns a writer of the text report that keeps or removes colours.
pub(crate) fn coloured(output: impl Write + Send + 'static, choice: ColorChoice) -> Box<dyn Write + Send> {
    match choice {
        ColorChoice::Never => Box::new(Colourless { output, pending: Vec::new(), in_code: false }),
        _ => Box::new(output),
    }
}

/// Writer that removes colour codes from a text without other control characters, such as the report.
///
/// `anstream` removes every code and parses each byte, which took a twentieth of a run without changes. Text
/// is passed on in one piece at each flush, because every write wakes the thread of the receiver.
struct Colourless<W> {
    output: W,
    pending: Vec<u8>,
    in_code: bool,
}

impl<W: Write> Write for Colourless<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let end = if self.in_code { b'm' } else { b'\x1b' };
            let found = rest.iter().position(|byte| *byte == end);
            let (part, behind) = rest.split_at(found.unwrap_or(rest.len()));
            if !self.in_code {
                self.pending.extend_from_slice(part);
            }
            self.in_code ^= found.is_some();
            rest = behind.get(1..).unwrap_or_default();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = self.output.write_all(&self.pending);
        self.pending.clear();
        written.and_then(|()| self.output.flush())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use super::*;

    /// Passes each write on.
    struct Pieces(Sender<String>);

    impl Write for Pieces {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(String::from_utf8_lossy(bytes).into_owned()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn text_is_passed_on_in_one_piece_with_or_without_its_colours() {
        let text = "\u{1b}[1m\u{1b}[31mERROR\u{1b}[0m exec#a \u{1b}[32mm\u{1b}[0m: größer\n".repeat(2);
        let plain = "ERROR exec#a m: größer\n".repeat(2);
        for (choice, expected) in [(ColorChoice::Never, &plain), (ColorChoice::Always, &text)] {
            let (sender, pieces) = channel();
            let mut output = coloured(Pieces(sender), choice);
            output.write_all(text.as_bytes()).expect("a write");
            output.flush().expect("a flush");
            assert_eq!(pieces.try_iter().collect::<Vec<_>>(), std::slice::from_ref(expected));
        }
    }

    #[test]
    fn a_code_may_be_split_between_writes() {
        let (sender, pieces) = channel();
        let mut output = coloured(Pieces(sender), ColorChoice::Never);
        for byte in "\u{1b}[32mINFO\u{1b}[0m  é\n".bytes() {
            output.write_all(&[byte]).expect("a write");
        }
        output.flush().expect("a flush");
        assert_eq!(pieces.try_iter().collect::<Vec<_>>(), ["INFO  é\n"]);
    }
}
