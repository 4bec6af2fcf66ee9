//! Lexer: operators and words, one at a time.

use std::borrow::Cow;

use crate::dialect::{ShellDialect, is_name};
use crate::limits::ShellBudget;
use crate::span::{ShellSpan, SpanOrigin};
use crate::tree::{WordNode, WordPart};
use crate::unreadable::{ReadResult, UnreadableText};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellOperator {
    And,
    Or,
    Pipe,
    PipeBoth,
    Background,
    Semicolon,
    DoubleSemicolon,
    SemicolonAnd,
    DoubleSemicolonAnd,
    Open,
    Close,
    Less,
    Greater,
    DoubleGreater,
    LessAnd,
    GreaterAnd,
    LessGreater,
    Clobber,
    AndGreater,
    AndDoubleGreater,
    HereDocument,
    HereDocumentTabs,
    HereString,
}

/// Operators, the longest first.
const OPERATORS: [(&str, ShellOperator); 23] = [
    (";;&", ShellOperator::DoubleSemicolonAnd),
    ("&>>", ShellOperator::AndDoubleGreater),
    ("<<<", ShellOperator::HereString),
    ("<<-", ShellOperator::HereDocumentTabs),
    ("&&", ShellOperator::And),
    ("||", ShellOperator::Or),
    ("|&", ShellOperator::PipeBoth),
    (";;", ShellOperator::DoubleSemicolon),
    (";&", ShellOperator::SemicolonAnd),
    ("&>", ShellOperator::AndGreater),
    ("<<", ShellOperator::HereDocument),
    (">>", ShellOperator::DoubleGreater),
    ("<&", ShellOperator::LessAnd),
    (">&", ShellOperator::GreaterAnd),
    ("<>", ShellOperator::LessGreater),
    (">|", ShellOperator::Clobber),
    ("|", ShellOperator::Pipe),
    ("&", ShellOperator::Background),
    (";", ShellOperator::Semicolon),
    ("(", ShellOperator::Open),
    (")", ShellOperator::Close),
    ("<", ShellOperator::Less),
    (">", ShellOperator::Greater),
];

impl ShellOperator {
    pub(crate) fn is_redirection(self) -> bool {
        matches!(
            self,
            Self::Less
                | Self::Greater
                | Self::DoubleGreater
                | Self::LessAnd
                | Self::GreaterAnd
                | Self::LessGreater
                | Self::Clobber
                | Self::AndGreater
                | Self::AndDoubleGreater
                | Self::HereDocument
                | Self::HereDocumentTabs
                | Self::HereString
        )
    }
}

#[derive(Clone, Debug)]
pub(crate) enum LexedKind {
    Word(WordNode),
    /// Number before a redirection.
    Descriptor(u32),
    Operator(ShellOperator),
    LineEnd,
    End,
}

#[derive(Clone, Debug)]
pub(crate) struct LexedToken {
    pub(crate) kind: LexedKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Heredoc whose body comes after the next line end.
#[derive(Debug)]
pub(crate) struct PendingBody {
    pub(crate) number: usize,
    pub(crate) delimiter: String,
    pub(crate) is_literal: bool,
    pub(crate) strips_tabs: bool,
    pub(crate) start: usize,
}

/// Reader of a text. Lexer, words, heredocs and grammar are parts of it, because each needs the others.
pub(crate) struct TextParser<'t, 'b> {
    pub(crate) text: &'t str,
    pub(crate) at: usize,
    /// End of the text, or of the part that is being read.
    pub(crate) end: usize,
    pub(crate) dialect: ShellDialect,
    pub(crate) origin: SpanOrigin,
    pub(crate) budget: &'b mut ShellBudget,
    pub(crate) peeked: Option<LexedToken>,
    /// Heredocs of the current line.
    pub(crate) pending: Vec<PendingBody>,
    /// Number of heredocs of the current line that are outside the substitution that is being read.
    pub(crate) pending_outside: usize,
    pub(crate) bodies: Vec<WordNode>,
    /// Start of the last heredoc of the substitution that is being read, and end of its body.
    pub(crate) last_heredoc: Option<(usize, usize)>,
    /// The text is the body of a heredoc.
    pub(crate) is_body: bool,
    /// The text is an expression that is the value of a variable, in which bash reads subscripts.
    pub(crate) is_value: bool,
}

impl<'t, 'b> TextParser<'t, 'b> {
    pub(crate) fn new(
        text: &'t str,
        dialect: ShellDialect,
        origin: SpanOrigin,
        budget: &'b mut ShellBudget,
    ) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            dialect,
            origin,
            budget,
            peeked: None,
            pending: Vec::new(),
            pending_outside: 0,
            bodies: Vec::new(),
            last_heredoc: None,
            is_body: false,
            is_value: false,
        }
    }

    pub(crate) fn is_bash(&self) -> bool {
        self.dialect == ShellDialect::Bash
    }

    pub(crate) fn span(&self, start: usize, end: usize) -> ShellSpan {
        self.origin.span(start, end)
    }

    /// Returns the span from an offset to the end of the next character.
    pub(crate) fn span_with_next(&self, start: usize) -> ShellSpan {
        self.span(start, self.at + self.character().map_or(0, char::len_utf8))
    }

    pub(crate) fn byte(&self, ahead: usize) -> Option<u8> {
        let at = self.at + ahead;
        if at < self.end { self.text.as_bytes().get(at).copied() } else { None }
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.at..self.end).unwrap_or_default()
    }

    pub(crate) fn character(&self) -> Option<char> {
        self.rest().chars().next()
    }

    pub(crate) fn depth<T>(
        &mut self,
        span: ShellSpan,
        read: impl FnOnce(&mut Self) -> ReadResult<T>,
    ) -> ReadResult<T> {
        self.budget.enter(span)?;
        let result = read(self)?;
        self.budget.leave();
        Ok(result)
    }

    /// Returns the next token without taking it.
    pub(crate) fn peek(&mut self) -> ReadResult<&LexedToken> {
        let token = match self.peeked.take() {
            Some(token) => token,
            None => self.lex()?,
        };
        Ok(self.peeked.insert(token))
    }

    /// Takes the next token.
    pub(crate) fn next(&mut self) -> ReadResult<LexedToken> {
        match self.peeked.take() {
            Some(token) => Ok(token),
            None => self.lex(),
        }
    }

    pub(crate) fn peek_operator(&mut self) -> ReadResult<Option<ShellOperator>> {
        Ok(match self.peek()?.kind {
            LexedKind::Operator(operator) => Some(operator),
            _ => None,
        })
    }

    /// Takes an operator if it is next.
    pub(crate) fn take(&mut self, operator: ShellOperator) -> ReadResult<bool> {
        let is_next = self.peek_operator()? == Some(operator);
        if is_next {
            self.peeked = None;
        }
        Ok(is_next)
    }

    fn lex(&mut self) -> ReadResult<LexedToken> {
        self.skip_blanks()?;
        let start = self.at;
        self.budget.steps(1, self.span(start, start))?;
        let kind = match self.byte(0) {
            None => LexedKind::End,
            Some(b'\n') => {
                self.at += 1;
                self.read_bodies(start)?;
                LexedKind::LineEnd
            }
            Some(b'<' | b'>') if self.byte(1) == Some(b'(') => self.process_word(start)?,
            Some(byte) if is_operator_byte(byte) => self.operator(start)?,
            Some(_) => self.word_or_descriptor(start)?,
        };
        Ok(LexedToken { kind, start, end: self.at })
    }

    /// Skips blanks, continued lines and a comment.
    pub(crate) fn skip_blanks(&mut self) -> ReadResult<()> {
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => {
                    if !self.pending.is_empty() {
                        let span = self.span(self.at, self.at + 2);
                        let message = "a line with a heredoc is continued";
                        return Err(UnreadableText::unsupported(span, message));
                    }
                    self.at += 2;
                }
                Some(b'#') => {
                    let length = self.rest().find('\n').unwrap_or(self.end - self.at);
                    self.at += length;
                }
                _ => return Ok(()),
            }
        }
    }

    fn operator(&mut self, start: usize) -> ReadResult<LexedKind> {
        let rest = self.rest();
        let found = OPERATORS.iter().find(|(text, _)| rest.starts_with(text));
        let Some((text, operator)) = found else {
            return Err(UnreadableText::syntax(self.span(start, start + 1), "this operator is unknown"));
        };
        self.at += text.len();
        if self.byte(0) == Some(b'\\') && self.byte(1) == Some(b'\n') {
            let message = "a continued line splits an operator";
            return Err(UnreadableText::ambiguous(self.span(start, self.at + 2), message)
                .with_hint("put a blank before the backslash"));
        }
        let (other, hint): (Cow<'static, str>, _) = match operator {
            _ if self.is_bash() => return Ok(LexedKind::Operator(*operator)),
            ShellOperator::AndGreater | ShellOperator::AndDoubleGreater => {
                ("dash runs the command in the background".into(), "write `>FILE 2>&1`")
            }
            ShellOperator::PipeBoth => ("it is an error in dash".into(), "write `2>&1 |`"),
            ShellOperator::HereString => ("it is an error in dash".into(), "use a heredoc, `<<'END'`"),
            ShellOperator::SemicolonAnd | ShellOperator::DoubleSemicolonAnd => {
                ("it is an error in dash".into(), "repeat the commands in each arm")
            }
            _ => return Ok(LexedKind::Operator(*operator)),
        };
        let message = format!("`{text}` has a meaning in bash alone: {other}");
        Err(UnreadableText::ambiguous(self.span(start, self.at), message).with_hint(hint))
    }

    fn word_or_descriptor(&mut self, start: usize) -> ReadResult<LexedKind> {
        let word = self.word()?;
        if opens_subscript(&word) {
            let message = "bash reads on to the `]` of this subscript";
            return Err(
                UnreadableText::ambiguous(self.span(start, self.at), message).with_hint("quote the `[`")
            );
        }
        let is_before_redirection = matches!(self.byte(0), Some(b'<' | b'>'));
        let Some(text) = word.bare().filter(|_| is_before_redirection) else {
            return Ok(LexedKind::Word(word));
        };
        if text.starts_with('{') && text.ends_with('}') && text.len() > 2 {
            let message = "`{name}` before a redirection is a descriptor in bash and a word in dash";
            return Err(UnreadableText::ambiguous(self.span(start, self.at), message)
                .with_hint("put a blank before the redirection, or name a descriptor by its number"));
        }
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Ok(LexedKind::Word(word));
        }
        if word.is_continued || (text.len() > 1 && !self.is_bash()) {
            let message = "dash takes this number for a word, and bash for a descriptor";
            return Err(UnreadableText::ambiguous(self.span(start, self.at), message)
                .with_hint("use a descriptor below 10, or put a blank before the redirection"));
        }
        match text.parse() {
            Ok(number) if text.len() <= 4 => Ok(LexedKind::Descriptor(number)),
            _ => {
                let message = "this number of a descriptor is too large";
                Err(UnreadableText::unsupported(self.span(start, self.at), message))
            }
        }
    }
}

pub(crate) fn is_operator_byte(byte: u8) -> bool {
    matches!(byte, b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')')
}

/// Returns `true` for a name with a `[` behind that no `]` closes within the word.
fn opens_subscript(word: &WordNode) -> bool {
    let Some(WordPart::Literal(first)) = word.parts.first() else { return false };
    if !first.split_once('[').is_some_and(|(name, _)| is_name(name)) {
        return false;
    }
    let mut open = 0_i32;
    for part in &word.parts {
        let WordPart::Literal(text) = part else { continue };
        for byte in text.bytes() {
            match byte {
                b'[' => open += 1,
                b']' => open -= 1,
                _ => {}
            }
        }
    }
    open > 0
}

/// Returns `true` for a byte that ends a word without quotes.
pub(crate) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n') || is_operator_byte(byte)
}
