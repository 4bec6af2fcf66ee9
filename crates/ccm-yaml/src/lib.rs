//! YAML text to nodes that keep their spans and styles, and values to YAML text. The result is the tree of
//! `ccm-model`, with aliases expanded and unique keys, or every error with its span. Scalars keep their text:
//! `Scalar::kind` and the loader interpret them. Comments are dropped.
//!
//! [`parse`] reads a text within [`Limits`], and [`write`](write()) writes a [`YamlValue`]. [`typographic`] has warnings about
//! characters that look like plain ones.
//!
//! This crate must never decide what a scalar means, or guess at a text that has an error.

mod excerpt;
mod expression;
mod extent;
mod fast_path;
mod keys;
mod reader;
mod syntax;
mod tags;
mod tree;
pub mod typographic;
mod write;

use ccm_model::{Diagnostic, Node, SourceId};

pub use write::{YamlValue, write};

/// Limits on the cost of a hostile text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum nesting of lists and maps; at most 512.
    pub depth: usize,
    /// Maximum number of scalars, lists and maps in the tree after aliases are expanded.
    pub nodes: usize,
    /// Maximum number of values that aliases repeat, so that a small text can't fill the memory. Every 64
    /// bytes of a repeated text count as one more.
    pub repeated: usize,
}

impl Limits {
    /// Trees are dropped, copied and compared by recursion, which has to fit on any stack.
    fn bounded(self) -> Self {
        const MAX_DEPTH: usize = 512;
        Self { depth: self.depth.min(MAX_DEPTH), ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 64, nodes: 4_000_000, repeated: 250_000 }
    }
}

/// Parses one document; `None` for a text without a document, or with a null document. Spans count bytes of
/// `text`: with the quotes of a quoted scalar and the header of a block, but no trailing blank lines, and
/// empty for a missing value. The nodes of an alias have the spans of its anchor. Errors are sorted by
/// position, at most a thousand of them.
pub fn parse(source: SourceId, text: &str, limits: &Limits) -> Result<Option<Node>, Vec<Diagnostic>> {
    let (root, duplicates) = parse_with_duplicates(source, text, limits)?;
    if duplicates.is_empty() { Ok(root) } else { Err(duplicates) }
}

/// Parses like [`parse`], but returns the errors of duplicate keys beside the tree. The lists and maps of a
/// duplicate key are joined; of its other values, the first is kept.
pub fn parse_with_duplicates(
    source: SourceId,
    text: &str,
    limits: &Limits,
) -> Result<(Option<Node>, Vec<Diagnostic>), Vec<Diagnostic>> {
    if let Some(root) = parse_fast(source, text, limits) {
        return Ok((Some(root), Vec::new()));
    }
    let (root, duplicates) = reader::read(source, text, limits.bounded())?;
    Ok((root.filter(|node| !node.is_null()), duplicates))
}

/// Parses a document of common syntax in less time; `None` if [`parse_any`] has to parse the text.
pub fn parse_fast(source: SourceId, text: &str, limits: &Limits) -> Option<Node> {
    fast_path::read(source, text, limits.bounded())
}

/// Parses any document, and reports its errors.
pub fn parse_any(source: SourceId, text: &str, limits: &Limits) -> Result<Option<Node>, Vec<Diagnostic>> {
    let (root, duplicates) = reader::read(source, text, limits.bounded())?;
    if duplicates.is_empty() { Ok(root.filter(|node| !node.is_null())) } else { Err(duplicates) }
}
