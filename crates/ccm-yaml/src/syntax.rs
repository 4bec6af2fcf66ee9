//! Messages for the parser's errors, with a hint on how to fix the text.

mod brackets;
mod colon;
mod indentation;
mod quotes;

use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span};
use granit_parser::ErrorKind;

use crate::excerpt::{line_around, quote_it, rest_of_line, shown, word_length};
use crate::tree::too_deep;
use crate::{Limits, expression, tags};

/// Scalar directly before an error.
#[derive(Clone, Copy)]
pub(crate) struct PrecedingScalar {
    pub(crate) span: Span,
    /// `true` for the value of a key.
    pub(crate) is_value: bool,
}

pub(crate) struct SyntaxError<'a> {
    pub(crate) source: SourceId,
    pub(crate) text: &'a str,
    pub(crate) limits: &'a Limits,
    pub(crate) kind: &'a ErrorKind,
    /// Offset where the parser stopped; for some errors the start of the enclosing syntax.
    pub(crate) at: usize,
    /// End of the text read without an error.
    pub(crate) read: usize,
    pub(crate) bracket: Option<Span>,
    pub(crate) last_scalar: Option<PrecedingScalar>,
}

impl SyntaxError<'_> {
    pub(crate) fn explain(&self) -> Diagnostic {
        if let Some(diagnostic) = self.control_character() {
            return diagnostic;
        }
        if let Some(span) = self.tab() {
            return tab(span);
        }
        if let Some(start) = expression::unquoted_before(self.text, self.at) {
            return expression::unquoted(self.source, self.text, start, self.bracket_before(start));
        }
        self.bracket_error().unwrap_or_else(|| self.by_kind())
    }

    fn by_kind(&self) -> Diagnostic {
        match self.kind {
            ErrorKind::RecursionLimitExceeded => too_deep(self.character(), self.limits),

            ErrorKind::MappingValueNotAllowed => self.colon(),
            ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => self.key_without_colon(),

            ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::ExpectedBlockSequenceEntry
            | ErrorKind::ExpectedDocumentStart
            | ErrorKind::InvalidIndentation
            | ErrorKind::InvalidFlowScalarIndent => self.misplaced(),
            ErrorKind::BlockSequenceEntryNotAllowed => {
                self.error("a list can't begin on this line").with_hint(format!(
                    "put the `-` on a line of its own, or, if it is text, {}",
                    quote_it(self.rest())
                ))
            }
            ErrorKind::InvalidBlockScalarIndent => self
                .indentation("an empty line above is indented deeper than this first line of the block")
                .with_hint("remove the blanks on the empty line"),
            ErrorKind::InvalidBlockScalarHeader => self
                .error(format!("unexpected text after `{}`", self.first_character()))
                .with_hint("begin the text of the block on the next line")
                .with_hint(quote_it(self.rest())),
            ErrorKind::ZeroBlockScalarIndent => self.indentation("a block can't be indented by 0"),

            ErrorKind::UnclosedQuotedScalar => self.unclosed_quote(self.at),
            ErrorKind::InvalidQuotedScalarIndent => self.unfinished_quote(),
            ErrorKind::DocumentIndicatorInQuotedScalar => Diagnostic::error(
                DiagnosticKind::Syntax,
                self.character(),
                "a quoted text can't hold a line that begins with `---` or `...`",
            )
            .with_hint("close the quote before this line"),
            ErrorKind::InvalidTrailingSingleQuotedScalar | ErrorKind::InvalidTrailingDoubleQuotedScalar => {
                self.text_after_quote()
            }
            ErrorKind::UnknownQuotedScalarEscape
            | ErrorKind::InvalidQuotedScalarHexEscape
            | ErrorKind::InvalidLowSurrogateHexEscape
            | ErrorKind::InvalidLowSurrogate
            | ErrorKind::MissingLowSurrogate
            | ErrorKind::UnpairedLowSurrogate
            | ErrorKind::InvalidUnicodeEscape => self.escape(),

            ErrorKind::UnexpectedCharacter { character } => self.begins_value(*character),
            ErrorKind::MissingAnchorOrAliasName => self.begins_value(self.first_character()),
            ErrorKind::MappingKeyNotAllowed => self.begins_value('?'),
            ErrorKind::PlainScalarStartsWithDashFlowIndicator => self.begins_value('-'),
            ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::UnexpectedEofBlockSequence
            | ErrorKind::UnexpectedEofBlockMapping
            | ErrorKind::UnexpectedEof
            | ErrorKind::ExpectedNodeContent
            | ErrorKind::UnexpectedEndOfPlainScalar => self.no_value(),

            ErrorKind::UndeclaredTagHandle
            | ErrorKind::ExpectedTagBang
            | ErrorKind::InvalidTagTerminator
            | ErrorKind::MissingTagUri
            | ErrorKind::UnclosedVerbatimTag
            | ErrorKind::InvalidTagEscape
            | ErrorKind::InvalidTagUtf8LeadingByte
            | ErrorKind::InvalidTagUtf8TrailingByte
            | ErrorKind::InvalidTagUtf8 => {
                let span = self.word();
                tags::unsupported(span, &self.text[span.range()])
            }

            ErrorKind::CommentInterceptedScalar => self
                .error("a comment is not allowed inside a text of several lines")
                .with_hint("put the comment above the text, or put the text in quotes or after `|`"),
            ErrorKind::CommentNotSeparated => self
                .error("a comment needs a blank before its `#`")
                .with_hint("quote the text if `#` is part of it"),
            ErrorKind::InvalidDocumentEnd => self.error("unexpected text after the end of the document"),
            ErrorKind::BomInsideDocument => self.error("a byte order mark is not allowed inside the text"),
            ErrorKind::UnsupportedYamlMajorVersion => {
                Diagnostic::error(DiagnosticKind::Unsupported, self.word(), "only YAML 1 is supported")
            }
            ErrorKind::MissingDocumentEndBeforeDirective
            | ErrorKind::MissingDirectiveName
            | ErrorKind::InvalidDirectiveName
            | ErrorKind::InvalidDirectiveTerminator
            | ErrorKind::MissingYamlVersion
            | ErrorKind::MissingYamlVersionSeparator => self.directive(line_around(self.text, self.at).0),
            // The remaining kinds concern directives, and the parser's messages for them are plain.
            other => self.error(other.to_string()),
        }
    }

    /// Finds a control character at the error, or after it if the parser names one.
    fn control_character(&self) -> Option<Diagnostic> {
        let after = &self.text[self.at..];
        let is_control = |character: char| {
            (character.is_control() && !matches!(character, '\t' | '\n' | '\r'))
                || matches!(character, '\u{fffe}' | '\u{ffff}')
        };
        let (offset, character) = match self.kind {
            ErrorKind::UnexpectedCharacter { character } if is_control(*character) => {
                (after.find(*character)?, *character)
            }
            _ => after.char_indices().take(2).find(|(_, character)| is_control(*character))?,
        };
        let start = self.at + offset;
        let code = u32::from(character);
        let escape = if code <= 0xff { format!("\\x{code:02x}") } else { format!("\\u{code:04x}") };
        let message = format!("the control character U+{code:04X} is not allowed in YAML");
        Some(
            Diagnostic::error(
                DiagnosticKind::Syntax,
                self.span(start, start + character.len_utf8()),
                message,
            )
            .with_hint(format!("write the character as `{escape}` in double quotes")),
        )
    }

    fn begins_value(&self, character: char) -> Diagnostic {
        let shown = if character == '`' { "a backtick".to_owned() } else { format!("`{character}`") };
        self.error(format!("a value can't begin with {shown}")).with_hint(self.quote_rest())
    }

    fn no_value(&self) -> Diagnostic {
        match self.text[self.at..].chars().next() {
            None => self.error("the text ends too early"),
            Some(found) => self
                .error(format!("expected a value, found `{}`", found.escape_debug()))
                .with_hint(self.quote_rest()),
        }
    }

    /// Hint to quote the value that begins at the error.
    fn quote_rest(&self) -> String {
        // In brackets, a value may end before its line.
        quote_it(if self.bracket.is_some() { "" } else { self.rest() })
    }

    fn rest(&self) -> &str {
        rest_of_line(self.text, self.at)
    }

    fn first_character(&self) -> char {
        self.text[self.at..].chars().next().unwrap_or('\n')
    }

    /// Builds an error at the word where the parser stopped.
    fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(DiagnosticKind::Syntax, self.word(), message)
    }

    /// Builds an error of the indentation at the word where the parser stopped.
    fn indentation(&self, message: &str) -> Diagnostic {
        Diagnostic::error(DiagnosticKind::Indentation, self.word(), message)
    }

    fn word(&self) -> Span {
        self.span(self.at, self.at + word_length(self.text, self.at))
    }

    fn character(&self) -> Span {
        let length = self.text[self.at..].chars().next().map_or(0, char::len_utf8);
        self.span(self.at, self.at + length)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start, end)
    }
}

pub(crate) fn tab(span: Span) -> Diagnostic {
    Diagnostic::error(DiagnosticKind::Indentation, span, "a tab is used as indentation")
        .with_hint("indent with spaces: YAML allows no tabs")
}

/// Error of an alias without an anchor before it.
pub(crate) fn unknown_alias(text: &str, span: Span, in_brackets: bool) -> Diagnostic {
    let name = text.get(span.range()).unwrap_or_default();
    let value = if in_brackets { name } else { rest_of_line(text, span.start as usize) };
    let anchor = shown(name.trim_start_matches('*'));
    Diagnostic::error(DiagnosticKind::UnknownReference, span, format!("unknown alias `*{anchor}`"))
        .with_hint(format!("define the anchor `&{anchor}` above or, if this is text, {}", quote_it(value)))
}
