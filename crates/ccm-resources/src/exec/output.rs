//! What a command printed, as whatever becomes of it: the end that a person reads, a text, JSON.
//!
//! Nothing that a command printed leaves an exec but through here, the lines that are shown while they come
//! aside.

use ccm_host::{Captured, Finished};
use ccm_model::{Stream, StreamTail};
use serde_json::Value;

use super::command::Exec;
use crate::printed::tail;

/// More than this is not read as JSON.
const LONGEST_JSON: u64 = 1 << 20;

/// Why standard output is not read as JSON.
#[derive(Debug)]
pub(crate) enum Unread {
    /// It is longer than 1 MiB.
    TooLong,
    /// There is nothing.
    Empty,
    /// It is something else.
    NotJson(serde_json::Error),
}

/// The last lines of both streams, unless the exec is sensitive; a stream that printed nothing is left out.
pub(crate) fn tails(exec: &Exec, finished: &Finished) -> Vec<StreamTail> {
    if exec.sensitive {
        return Vec::new();
    }
    let both = [(Stream::Stdout, &finished.stdout), (Stream::Stderr, &finished.stderr)];
    both.into_iter().filter_map(|(stream, captured)| tail(stream, captured)).collect()
}

/// All that is kept of a stream, with a line in the place of what is not.
pub(crate) fn kept(captured: &Captured) -> Vec<u8> {
    let gap = match captured.dropped {
        0 => String::new(),
        dropped => format!("\n... ({dropped} bytes are not kept)\n"),
    };
    [&captured.head[..], gap.as_bytes(), &captured.tail[..]].concat()
}

/// A stream read as JSON.
pub(crate) fn json(captured: &Captured) -> Result<Value, Unread> {
    if captured.total() > LONGEST_JSON {
        return Err(Unread::TooLong);
    }
    if captured.head.trim_ascii().is_empty() {
        return Err(Unread::Empty);
    }
    serde_json::from_slice(&captured.head).map_err(Unread::NotJson)
}

/// A key as a part of a path: dots and backslashes in it get a backslash.
pub(crate) fn escaped(key: &str) -> String {
    key.replace('\\', "\\\\").replace('.', "\\.")
}
