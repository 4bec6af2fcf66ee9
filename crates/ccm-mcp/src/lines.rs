//! Lines of a client.

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use crate::outline::MessageOutline;

/// Line that was read.
#[derive(Debug)]
pub(crate) enum ClientLine {
    /// The bytes of the line, without its end.
    Whole(Vec<u8>),
    /// A line that is longer than the limit. Its bytes are gone.
    TooLong {
        /// Number of its bytes.
        length: u64,
        outline: Box<MessageOutline>,
    },
}

/// Reader of lines, which keeps no more of a line than the limit.
pub(crate) struct ClientLines<R> {
    reader: BufReader<R>,
    limit: usize,
    line: Vec<u8>,
    /// Length and outline of a line that is too long, while the rest of it is read.
    skipped: Option<(u64, Box<MessageOutline>)>,
}

impl<R: AsyncRead + Unpin> ClientLines<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        Self { reader: BufReader::new(reader), limit, line: Vec::new(), skipped: None }
    }

    /// Reads the next line; `None` at the end. The rest of a line without an end is left out.
    ///
    /// The library drops this future whenever it has something to send, so that what was read is kept in `self`.
    pub(crate) async fn next(&mut self) -> Option<ClientLine> {
        loop {
            // An error ends the connection as the end of the input does.
            let bytes = self.reader.fill_buf().await.ok().filter(|bytes| !bytes.is_empty())?;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            match &mut self.skipped {
                Some((length, outline)) => {
                    *length += part.len() as u64;
                    outline.read(part);
                }
                None if self.line.len() + part.len() > self.limit => {
                    let mut outline = Box::new(MessageOutline::of(&self.line));
                    outline.read(part);
                    self.skipped = Some(((self.line.len() + part.len()) as u64, outline));
                    self.line = Vec::new();
                }
                None => self.line.extend_from_slice(part),
            }
            let consumed = end.map_or(bytes.len(), |end| end + 1);
            self.reader.consume(consumed);
            if end.is_none() {
                continue;
            }
            return Some(match self.skipped.take() {
                Some((length, outline)) => ClientLine::TooLong { length, outline },
                None => ClientLine::Whole(std::mem::take(&mut self.line)),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::RequestId;

    use super::*;

    #[test]
    fn a_line_over_the_limit_keeps_its_outline_alone() {
        let long = format!(r#"{{"method":"ping","x":"{}","id":3}}"#, "x".repeat(20_000));
        let input = format!("{{}}\n{long}\n\nshort\r\nthe rest");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(async {
            let mut lines = ClientLines::new(input.as_bytes(), 10_000);
            let mut seen = Vec::new();
            while let Some(line) = lines.next().await {
                seen.push(match line {
                    ClientLine::Whole(line) => String::from_utf8(line).expect("a text"),
                    ClientLine::TooLong { length, outline } => {
                        assert_eq!((length, outline.is_object()), (long.len() as u64, true));
                        assert_eq!(outline.id(), Some(RequestId::Number(3)));
                        "too long".to_owned()
                    }
                });
            }
            assert_eq!(seen, ["{}", "too long", "", "short\r"]);
        });
    }
}
