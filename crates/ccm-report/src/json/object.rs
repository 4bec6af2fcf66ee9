//! Writing a map of JSON, a field after the other.

use std::fmt::Display;
use std::io::Write as _;

use serde::Serialize;

/// A map of JSON on its way into a buffer, without anything in between.
pub(super) struct Object<'t>(&'t mut Vec<u8>);

impl<'t> Object<'t> {
    /// Begins one, in place of what was in the buffer.
    pub(super) fn begin(buffer: &'t mut Vec<u8>) -> Self {
        buffer.clear();
        buffer.push(b'{');
        Self(buffer)
    }

    /// Adds a field.
    pub(super) fn field(&mut self, name: &'static str, value: &(impl Serialize + ?Sized)) {
        self.name(name);
        let written = serde_json::to_writer(&mut *self.0, value);
        // Keys are text and the buffer takes everything.
        debug_assert!(written.is_ok());
    }

    /// Adds a text that holds nothing that has to be escaped, such as a number or a moment.
    pub(super) fn plain(&mut self, name: &'static str, value: impl Display) {
        self.name(name);
        let written = write!(self.0, "\"{value}\"");
        debug_assert!(written.is_ok());
    }

    /// Begins a field. Its name is one of ours, so there is nothing in it to escape.
    fn name(&mut self, name: &'static str) {
        self.0.extend_from_slice(if self.0.len() > 1 { b",\"" } else { b"\"" });
        self.0.extend_from_slice(name.as_bytes());
        self.0.extend_from_slice(b"\":");
    }

    /// Ends it, as a line.
    pub(super) fn end(self) -> &'t str {
        self.0.extend_from_slice(b"}\n");
        // JSON is text.
        str::from_utf8(self.0).unwrap_or_default()
    }
}
