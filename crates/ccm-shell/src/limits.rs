//! Limits of a text. Work is counted, and never measured in time, so that a text is read the same way everywhere.

use crate::span::ShellSpan;
use crate::unreadable::{ReadResult, UnreadableKind, UnreadableText};

/// Maximum length of a text in bytes.
pub const MAX_TEXT: usize = 64 << 10;
/// Maximum number of constructs within one another, texts within texts included.
pub const MAX_DEPTH: u32 = 64;
/// Maximum number of commands, words and parts of words in a text and in the texts within.
pub const MAX_NODES: u32 = 10_000;
/// Maximum number of steps for following the variables and directories of a text.
pub const MAX_STEPS: u32 = 2_000_000;

/// Work that may still be done for a text. Texts within the text, such as the operand of `sh -c`, share it.
#[derive(Clone, Debug)]
pub struct ShellBudget {
    depth: u32,
    nodes: u32,
    steps: u32,
}

impl Default for ShellBudget {
    fn default() -> Self {
        Self { depth: MAX_DEPTH, nodes: MAX_NODES, steps: MAX_STEPS }
    }
}

impl ShellBudget {
    /// Enters a text or a construct within another. [`leave`](Self::leave) has to follow.
    pub fn enter(&mut self, span: ShellSpan) -> Result<(), Box<UnreadableText>> {
        spend(&mut self.depth, 1, span, "is nested deeper than 64 levels")
    }

    /// Leaves a construct.
    pub fn leave(&mut self) {
        self.depth += 1;
    }

    pub(crate) fn node(&mut self, span: ShellSpan) -> ReadResult<()> {
        spend(&mut self.nodes, 1, span, "has more than 10000 parts")
    }

    pub(crate) fn steps(&mut self, count: usize, span: ShellSpan) -> ReadResult<()> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        spend(&mut self.steps, count, span, "takes too long to follow")
    }
}

fn spend(left: &mut u32, count: u32, span: ShellSpan, reason: &str) -> ReadResult<()> {
    let Some(rest) = left.checked_sub(count) else {
        let error = UnreadableText::new(UnreadableKind::TooComplex, span, format!("the text {reason}"));
        return Err(error.with_hint("put the text into a script, and run the script"));
    };
    *left = rest;
    Ok(())
}
