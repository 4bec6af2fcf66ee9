//! Entry to the parser.

use crate::dialect::ShellDialect;
use crate::hidden;
use crate::lexer::TextParser;
use crate::limits::{MAX_TEXT, ShellBudget};
use crate::span::{ShellSpan, SpanOrigin};
use crate::tree::{ArithmeticNode, CommandList, WordNode};
use crate::unreadable::{ReadResult, UnreadableKind, UnreadableText};

/// Tree of a text, with the bodies of its heredocs.
#[derive(Debug)]
pub(crate) struct ParsedText {
    pub(crate) list: CommandList,
    pub(crate) bodies: Vec<WordNode>,
}

/// Parses a text.
pub(crate) fn parse(
    text: &str,
    dialect: ShellDialect,
    origin: SpanOrigin,
    budget: &mut ShellBudget,
) -> ReadResult<ParsedText> {
    if text.len() > MAX_TEXT {
        let message = format!("the text has {} bytes; at most {MAX_TEXT} are read", text.len());
        let error = UnreadableText::new(UnreadableKind::TooLong, origin.span(MAX_TEXT, text.len()), message);
        return Err(error.with_hint("put the text into a script, and run the script"));
    }
    hidden::check_characters(text).map_err(|mut error| {
        error.span = origin.span(error.span.start as usize, error.span.end as usize);
        error
    })?;
    let mut parser = TextParser::new(text, dialect, origin, budget);
    let list = parser.whole()?;
    if let Some(open) = parser.pending.first() {
        let message = format!("the line `{}` that ends this heredoc is missing", open.delimiter);
        return Err(UnreadableText::unsupported(parser.span(open.start, open.start + 2), message));
    }
    Ok(ParsedText { list, bodies: parser.bodies })
}

/// Returns the reason for which a text can't be read, if there is one. The commands of the text are not followed.
///
/// A text without a reason is accepted by every shell of the dialect. The opposite does not hold.
pub fn check(text: &str, dialect: ShellDialect) -> Result<(), Box<UnreadableText>> {
    let mut budget = ShellBudget::default();
    budget.enter(ShellSpan::default())?;
    parse(text, dialect, SpanOrigin::Offset(0), &mut budget).map(|_| ())
}

/// Parses the operand of `let`, or the value of a variable that is evaluated as an expression.
pub(crate) fn arithmetic(
    text: &str,
    dialect: ShellDialect,
    is_value: bool,
    span: ShellSpan,
    budget: &mut ShellBudget,
) -> ReadResult<ArithmeticNode> {
    // A line end is no end of an expression, so that the sign behind the text is.
    let closed = format!("{text};");
    let mut parser = TextParser::new(&closed, dialect, SpanOrigin::Fixed(span), budget);
    parser.is_value = is_value;
    let node = parser.arithmetic_until(b';', 0)?;
    // A heredoc would be one of the text around.
    if parser.at + 1 == closed.len() && parser.bodies.is_empty() {
        return Ok(node);
    }
    Err(UnreadableText::unsupported(span, "this expression can't be read here"))
}
