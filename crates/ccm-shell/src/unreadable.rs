//! Reasons for which a text can't be read.

use crate::span::ShellSpan;

/// Result of reading a part of a text.
pub(crate) type ReadResult<T> = Result<T, Box<UnreadableText>>;

/// Text that can't be read with certainty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UnreadableText {
    /// Kind of the reason.
    pub kind: UnreadableKind,
    /// The reason, as a clause in lower case.
    pub message: String,
    /// A way to write the text differently, as an imperative.
    pub hint: Option<&'static str>,
    /// Part of the text that the message is about.
    pub span: ShellSpan,
}

/// Kind of a reason for which a text can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnreadableKind {
    /// The bytes are no UTF-8, or hold NUL.
    NotText,
    /// The text is longer than [`MAX_TEXT`](crate::MAX_TEXT).
    TooLong,
    /// The text nests too deep, or has too many parts.
    TooComplex,
    /// A character that is invisible, or that changes the display of others.
    Hidden,
    /// The text is incomplete or has a part in the wrong place. Probably every shell refuses the text.
    Syntax,
    /// Shells read the text in different ways.
    Ambiguous,
    /// A construct outside the grammar that is read here.
    Unsupported,
}

impl UnreadableText {
    pub(crate) fn new(kind: UnreadableKind, span: ShellSpan, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { kind, message: message.into(), hint: None, span })
    }

    pub(crate) fn syntax(span: ShellSpan, message: impl Into<String>) -> Box<Self> {
        Self::new(UnreadableKind::Syntax, span, message)
    }

    pub(crate) fn ambiguous(span: ShellSpan, message: impl Into<String>) -> Box<Self> {
        Self::new(UnreadableKind::Ambiguous, span, message)
    }

    pub(crate) fn unsupported(span: ShellSpan, message: impl Into<String>) -> Box<Self> {
        Self::new(UnreadableKind::Unsupported, span, message)
    }

    pub(crate) fn with_hint(mut self: Box<Self>, hint: &'static str) -> Box<Self> {
        self.hint = Some(hint);
        self
    }
}
