//! YAML text to nodes that remember where and how they were written, and values to YAML text.
//!
//! The parser and its events stay hidden in here; what comes out is the tree of `ccm-model`, with anchors
//! and aliases expanded and keys made unique, or every mistake that could be found, each with its place.
//! Nothing is guessed: a scalar keeps its text, and what it means is for `Scalar::kind` and the loader.
//! Comments are not kept.

mod excerpt;
mod expression;
mod extent;
mod keys;
mod reader;
mod syntax;
mod tags;
mod tree;
mod usual;
mod write;

use ccm_model::{Diagnostic, Node, SourceId};

pub use write::{Written, write};

/// Bounds on what a hostile text can cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How many lists and maps may stand inside each other; more than 512 counts as 512.
    pub depth: usize,
    /// How many scalars, lists and maps the tree may hold once aliases are expanded. A text that an alias
    /// repeats counts once more for every 64 bytes.
    pub nodes: usize,
}

impl Limits {
    /// Trees are dropped, copied and compared by recursion, and that has to fit on any stack.
    fn bounded(self) -> Self {
        const DEEPEST: usize = 512;
        Self { depth: self.depth.min(DEEPEST), ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { depth: 64, nodes: 4_000_000 }
    }
}

/// Parses one document. `None`: the text holds no document, or a null one.
///
/// Spans count bytes of `text`. A span holds the quotes of a quoted scalar, the header of a block, and no
/// blank lines at its end; a value that is missing has an empty span. What an alias stands for has the spans
/// of its anchor. Mistakes come in the order of the text, at most a thousand of them.
pub fn parse(source: SourceId, text: &str, limits: &Limits) -> Result<Option<Node>, Vec<Diagnostic>> {
    match parse_usual(source, text, limits) {
        Some(root) => Ok(Some(root)),
        None => parse_any(source, text, limits),
    }
}

/// Parses a document of the usual shape, in less time. `None`: it is for [`parse_any`].
pub fn parse_usual(source: SourceId, text: &str, limits: &Limits) -> Option<Node> {
    usual::read(source, text, limits.bounded())
}

/// Parses any document, and finds what is wrong with it.
pub fn parse_any(source: SourceId, text: &str, limits: &Limits) -> Result<Option<Node>, Vec<Diagnostic>> {
    let root = reader::read(source, text, limits.bounded())?;
    Ok(root.filter(|node| !node.is_null()))
}
