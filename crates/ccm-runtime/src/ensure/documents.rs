//! Documents in a stream of bytes: JSON one after another, or YAML with `---` between.

/// Maximum size of a request, in bytes.
pub const MAX_REQUEST: usize = 4 << 20;

/// Document of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamDocument {
    /// Text of a document.
    Text(Vec<u8>),
    /// A document that was longer than [`MAX_REQUEST`], and was left out.
    TooLong,
}

/// Splits a stream into documents. Memory is bounded, whatever comes.
///
/// A document that begins with `{` ends with its brace. Any other is YAML: it ends before a line that is `---` or `...`,
/// before a line that begins with `{`, and at the end of the stream. A document that is too long is passed on when its limit
/// is reached, because its end may never come.
#[derive(Debug, Default)]
pub struct DocumentStream {
    buffer: Vec<u8>,
    state: StreamState,
    /// The rest of a document that is too long is left out.
    leaves_out: bool,
    /// Bytes of the present line of YAML.
    line: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StreamState {
    /// Between two documents.
    #[default]
    Between,
    /// In JSON, at this depth.
    Json { depth: u64, in_text: bool, is_escaped: bool },
    /// In YAML.
    Yaml,
}

impl DocumentStream {
    /// Takes bytes, and passes on each document that ends in them.
    pub fn accept(&mut self, bytes: &[u8], mut document: impl FnMut(StreamDocument)) {
        for byte in bytes {
            self.byte(*byte, &mut document);
        }
    }

    /// Ends the stream, and passes on the document that it was in.
    pub fn end(&mut self, mut document: impl FnMut(StreamDocument)) {
        if self.state == StreamState::Yaml {
            self.end_line(&mut document);
        }
        self.end_document(&mut document);
    }

    fn byte(&mut self, byte: u8, document: &mut impl FnMut(StreamDocument)) {
        match self.state {
            StreamState::Between if byte.is_ascii_whitespace() => {}
            StreamState::Between if byte == b'{' => {
                self.state = StreamState::Json { depth: 1, in_text: false, is_escaped: false };
                self.push(&[byte], document);
            }
            StreamState::Between => {
                self.state = StreamState::Yaml;
                self.line.push(byte);
            }
            StreamState::Json { depth, in_text, is_escaped } => {
                self.push(&[byte], document);
                let (depth, in_text, is_escaped) = match byte {
                    _ if is_escaped => (depth, in_text, false),
                    b'\\' if in_text => (depth, in_text, true),
                    b'"' => (depth, !in_text, false),
                    b'{' if !in_text => (depth + 1, in_text, false),
                    b'}' if !in_text => (depth - 1, in_text, false),
                    _ => (depth, in_text, false),
                };
                self.state = StreamState::Json { depth, in_text, is_escaped };
                if depth == 0 {
                    self.end_document(document);
                }
            }
            StreamState::Yaml if byte == b'\n' => self.end_line(document),
            StreamState::Yaml if byte == b'{' && self.line.is_empty() => {
                self.end_document(document);
                self.byte(byte, document);
            }
            StreamState::Yaml => {
                if self.line.len() < MAX_REQUEST {
                    self.line.push(byte);
                } else {
                    self.leave_out(document);
                }
            }
        }
    }

    fn end_line(&mut self, document: &mut impl FnMut(StreamDocument)) {
        let mut line = std::mem::take(&mut self.line);
        if matches!(line.trim_ascii_end(), b"---" | b"...") {
            self.end_document(document);
        } else {
            line.push(b'\n');
            self.push(&line, document);
        }
    }

    fn push(&mut self, bytes: &[u8], document: &mut impl FnMut(StreamDocument)) {
        if self.leaves_out {
            return;
        }
        if self.buffer.len() + bytes.len() > MAX_REQUEST {
            self.leave_out(document);
        } else {
            self.buffer.extend_from_slice(bytes);
        }
    }

    fn leave_out(&mut self, document: &mut impl FnMut(StreamDocument)) {
        if !std::mem::replace(&mut self.leaves_out, true) {
            document(StreamDocument::TooLong);
        }
        self.buffer = Vec::new();
    }

    /// Passes on the document, unless there is none.
    fn end_document(&mut self, document: &mut impl FnMut(StreamDocument)) {
        self.state = StreamState::Between;
        let text = std::mem::take(&mut self.buffer);
        if !std::mem::take(&mut self.leaves_out) && !text.trim_ascii().is_empty() {
            document(StreamDocument::Text(text));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the documents of a stream, each shortened to the number of its bytes if it is long.
    fn documents(stream: &[u8], chunk: usize) -> Vec<String> {
        let mut found = Vec::new();
        let mut add = |document: StreamDocument| {
            found.push(match document {
                StreamDocument::Text(text) => String::from_utf8_lossy(&text).trim_end().to_owned(),
                StreamDocument::TooLong => "too long".to_owned(),
            });
        };
        let mut documents = DocumentStream::default();
        for bytes in stream.chunks(chunk) {
            documents.accept(bytes, &mut add);
        }
        documents.end(&mut add);
        found
    }

    #[test]
    fn a_stream_is_split_into_documents() {
        let long = "x".repeat(MAX_REQUEST);
        for (stream, expected) in [
            ("", &[][..]),
            (" \n\n", &[]),
            ("{}", &["{}"]),
            ("{}{\"a\": {}}\n{}", &["{}", "{\"a\": {}}", "{}"]),
            ("{\n  \"a\": \"}\\\"}\"\n}\n", &["{\n  \"a\": \"}\\\"}\"\n}"]),
            ("a: 1\nb: {c: d}\n", &["a: 1\nb: {c: d}"]),
            ("---\na: 1\n---\nb: 2\n...\n", &["a: 1", "b: 2"]),
            ("a: 1\n--- \r\n\nb: 2", &["a: 1", "b: 2"]),
            ("rubbish\n{}\n", &["rubbish", "{}"]),
            ("{\"a\": ", &["{\"a\":"]),
            ("}{}\n{}", &["}{}", "{}"]),
            (&format!("{{\"{long}\"}}{{}}"), &["too long", "{}"]),
            (&format!("{{{long}"), &["too long"]),
            (&format!("a: {long}\n---\nb: 2"), &["too long", "b: 2"]),
            (&format!("{}{{}}", "y\n".repeat(MAX_REQUEST)), &["too long", "{}"]),
            (&format!("{long}{long}\n---\nb"), &["too long", "b"]),
        ] {
            let start: String = stream.chars().take(40).collect();
            assert_eq!(documents(stream.as_bytes(), 7), expected, "{start}");
            assert_eq!(documents(stream.as_bytes(), usize::MAX), expected, "{start}");
        }
    }
}
