//! Outlines of messages that can't be parsed.

use rmcp::model::RequestId;

/// Maximum length of a field in bytes, as JSON. A longer one counts as missing.
const MAX_FIELD: usize = 256;

/// Fields of a message that tell what it is about, found without a parse: a message may be longer or deeper than a parser
/// takes, or have a text or number that no parser takes.
#[derive(Debug, Default)]
pub(crate) struct MessageOutline {
    /// Number of open objects and lists.
    depth: usize,
    is_in_text: bool,
    is_escaped: bool,
    /// The message is whole.
    has_ended: bool,
    /// What was read is no object, or more than one.
    is_broken: bool,
    /// Beginning of the text or number that was read last.
    token: Vec<u8>,
    /// Field of the message that is being read, and field within that.
    fields: [Vec<u8>; 2],
    id: Vec<u8>,
    method: Vec<u8>,
    tool: Vec<u8>,
}

impl MessageOutline {
    /// Returns the outline of a line.
    pub(crate) fn of(line: &[u8]) -> Self {
        let mut outline = Self::default();
        outline.read(line);
        outline
    }

    /// Reads the next bytes of the line.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.read_byte(*byte);
        }
    }

    /// Returns `true` if the line is one object. What is in it may still be wrong.
    pub(crate) fn is_object(&self) -> bool {
        self.has_ended && !self.is_broken
    }

    /// Returns the id of a request.
    pub(crate) fn id(&self) -> Option<RequestId> {
        serde_json::from_slice(&self.id).ok()
    }

    pub(crate) fn method(&self) -> Option<String> {
        serde_json::from_slice(&self.method).ok()
    }

    /// Returns the name of the tool that a request calls.
    pub(crate) fn tool(&self) -> Option<String> {
        serde_json::from_slice(&self.tool).ok()
    }

    fn read_byte(&mut self, byte: u8) {
        if self.is_in_text {
            self.keep(byte);
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = true,
                b'"' => self.is_in_text = false,
                _ => {}
            }
            return;
        }
        if byte.is_ascii_whitespace() {
            return;
        }
        if self.depth == 0 && (self.has_ended || byte != b'{') {
            self.is_broken = true;
        }
        match byte {
            b'{' | b'[' => {
                self.depth += 1;
                self.token.clear();
            }
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
                self.has_ended = self.depth == 0;
            }
            b':' => {
                if let Some(field) = self.depth.checked_sub(1).and_then(|at| self.fields.get_mut(at)) {
                    *field = std::mem::take(&mut self.token);
                }
            }
            b',' => self.end_value(),
            b'"' => {
                self.is_in_text = true;
                self.keep(byte);
            }
            other => self.keep(other),
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.token.len() < MAX_FIELD {
            self.token.push(byte);
        }
    }

    /// Keeps the value that has ended, if it is one of the fields.
    fn end_value(&mut self) {
        let value = std::mem::take(&mut self.token);
        let [field, inner] = &self.fields;
        let kept = match (self.depth, &**field, &**inner) {
            (1, b"\"id\"", _) => &mut self.id,
            (1, b"\"method\"", _) => &mut self.method,
            (2, b"\"params\"", b"\"name\"") => &mut self.tool,
            _ => return,
        };
        *kept = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns id, method and tool of a line that is an object.
    fn outline(line: &str) -> Option<(Option<RequestId>, Option<String>, Option<String>)> {
        let outline = MessageOutline::of(line.as_bytes());
        outline.is_object().then(|| (outline.id(), outline.method(), outline.tool()))
    }

    #[test]
    fn fields_are_found_wherever_they_are() {
        let (id, method, tool) =
            (Some(RequestId::Number(7)), Some("tools/call".to_owned()), Some("exec".to_owned()));
        let deep = format!("{}{}", "[".repeat(500), "]".repeat(500));
        for line in [
            r#"{"id":7,"method":"tools/call","params":{"name":"exec"}}"#.to_owned(),
            r#" { "params" : { "arguments": {"name": "x", "id": 9}, "name" : "exec" } , "method" : "tools/call" , "id" : 7 } "#
                .to_owned(),
            format!(r#"{{"id":7,"method":"tools/call","params":{{"arguments":{deep},"name":"exec"}}}}"#),
            r#"{"id":7,"x":"{\"id\":8,","method":"tools\/call","params":{"a":"\\","name":"exec","b":1e999}}"#.to_owned(),
        ] {
            assert_eq!(outline(&line), Some((id.clone(), method.clone(), tool.clone())), "{line}");
        }
    }

    #[test]
    fn what_is_not_there_or_too_long_is_missing() {
        let long = "x".repeat(MAX_FIELD);
        for line in [
            "{}".to_owned(),
            r#"{"id":null,"method":7,"params":{"name":["exec"]}}"#.to_owned(),
            r#"{"id":1.5,"method":{},"params":[{"name":"exec"}]}"#.to_owned(),
            format!(r#"{{"id":"{long}","method":"{long}","params":{{"name":"{long}"}}}}"#),
        ] {
            assert_eq!(outline(&line), Some((None, None, None)), "{line}");
        }
    }

    #[test]
    fn only_one_whole_object_counts() {
        for line in ["", "garbage", "{", "{\"a\":\"}", "[]", "null", "{}{}", "{} x", "}", "[[[[", "\"{}\""] {
            assert_eq!(outline(line), None, "{line}");
        }
    }
}
