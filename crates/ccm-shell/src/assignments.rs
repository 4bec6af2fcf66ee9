//! Assignments: their names and values.

use crate::dialect::is_name;
use crate::grammar::{assigned_name, assigned_value};
use crate::lexer::{LexedKind, ShellOperator, TextParser};
use crate::span::ShellSpan;
use crate::tree::{
    ArithmeticNode, ArithmeticToken, AssignedValue, AssignmentNode, ParameterOperation, WordNode, WordPart,
};
use crate::unreadable::{ReadResult, UnreadableText};

impl TextParser<'_, '_> {
    /// Returns the assignment that a word before the program is.
    pub(crate) fn assignment(
        &mut self,
        word: &WordNode,
        span: ShellSpan,
    ) -> ReadResult<Option<AssignmentNode>> {
        let Some((name, appends)) = assigned_name(word) else { return self.element_assignment(word, span) };
        if word.is_continued {
            let message = "a continued line within an assignment can't be read here";
            return Err(UnreadableText::unsupported(span, message));
        }
        if appends && !self.is_bash() {
            let message = "`+=` assigns in bash, and names a program in dash";
            return Err(UnreadableText::ambiguous(span, message).with_hint("write `NAME=$NAME…`"));
        }
        let mut value = assigned_value(word);
        let is_empty = matches!(&value, AssignedValue::Word(word) if word.parts.is_empty());
        if self.byte(0) == Some(b'(') {
            if !self.is_bash() || !is_empty {
                let next = self.span(self.at, self.at + 1);
                let message = "lists have a meaning in bash alone";
                return Err(UnreadableText::ambiguous(next, message));
            }
            value = AssignedValue::Array(self.elements(span)?);
            if !matches!(
                self.byte(0),
                None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b')')
            ) {
                let message = "what follows this list is a part of the assignment";
                return Err(UnreadableText::ambiguous(self.span_with_next(self.at), message)
                    .with_hint("put a blank behind the `)`"));
            }
        }
        Ok(Some(AssignmentNode { name: name.to_owned(), appends, value, span }))
    }

    /// Reads the elements of a list, with their parentheses.
    fn elements(&mut self, span: ShellSpan) -> ReadResult<Vec<WordNode>> {
        self.at += 1;
        let mut elements = Vec::new();
        self.depth(span, |parser| {
            loop {
                let token = parser.next()?;
                match token.kind {
                    LexedKind::Word(word) => {
                        let span = parser.span(token.start, token.end);
                        parser.element_word(&word, span)?;
                        if word.bare().is_some_and(|text| text.starts_with('[') && text.contains("]=")) {
                            let message = "an element with a subscript can't be read here";
                            return Err(UnreadableText::unsupported(span, message));
                        }
                        if matches!(word.parts.first(), Some(WordPart::Literal(text)) if text.starts_with('[')) {
                            let message = "an element that begins with `[` can't be read here";
                            return Err(UnreadableText::unsupported(span, message).with_hint("quote it"));
                        }
                        elements.push(word);
                    }
                    LexedKind::LineEnd => {}
                    LexedKind::Operator(ShellOperator::Close) => return Ok(elements),
                    _ => {
                        parser.peeked = Some(token);
                        return Err(parser.unexpected()?);
                    }
                }
            }
        })
    }

    /// Returns the assignment to an element, `name[subscript]=value`.
    fn element_assignment(&mut self, word: &WordNode, span: ShellSpan) -> ReadResult<Option<AssignmentNode>> {
        let Some(WordPart::Literal(first)) = word.parts.first() else { return Ok(None) };
        let Some((name, begun)) = first.split_once('[').filter(|(name, _)| is_name(name)) else {
            return Ok(None);
        };
        let ends = |part: &WordPart| matches!(part, WordPart::Literal(text) if text.contains("]=") || text.contains("]+="));
        let Some(last) = word.parts.iter().position(ends) else { return Ok(None) };
        if !self.is_bash() {
            let message = "lists have a meaning in bash alone";
            return Err(UnreadableText::ambiguous(span, message));
        }
        let unsupported = || UnreadableText::unsupported(span, "this subscript can't be read here");
        let mut subscript = ArithmeticNode { span, ..ArithmeticNode::default() };
        let mut rest = WordNode { span, ..WordNode::default() };
        let mut subscript_text = |text: &str| -> ReadResult<()> {
            if is_name(text) {
                subscript.tokens.push(ArithmeticToken::Name {
                    name: text.to_owned(),
                    is_read: true,
                    is_assigned: false,
                });
            } else if !text.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(unsupported());
            }
            Ok(())
        };
        if last == 0 {
            let (inside, value) = begun.split_once("]=").ok_or_else(unsupported)?;
            subscript_text(inside)?;
            rest.parts.push(WordPart::Literal(value.to_owned()));
            rest.parts.extend(word.parts.iter().skip(1).cloned());
        } else {
            let (Some(value), [_, WordPart::Parameter(parameter), _, ..]) = (
                match word.parts.get(last) {
                    Some(WordPart::Literal(text)) => text.strip_prefix("]="),
                    _ => None,
                },
                &*word.parts,
            ) else {
                return Err(unsupported());
            };
            if last != 2 || !begun.is_empty() || !matches!(parameter.operation, ParameterOperation::Value) {
                return Err(unsupported());
            }
            subscript.tokens.push(ArithmeticToken::Expansion(WordPart::Parameter(parameter.clone())));
            rest.parts.push(WordPart::Literal(value.to_owned()));
            rest.parts.extend(word.parts.iter().skip(3).cloned());
        }
        if self.byte(0) == Some(b'(') {
            return Err(unsupported());
        }
        let value = AssignedValue::Element { subscript, value: homes(rest) };
        Ok(Some(AssignmentNode { name: name.to_owned(), appends: false, value, span }))
    }
}

/// Returns the value of an assigned word: what follows its first `=`.
pub(crate) fn value(word: &WordNode) -> WordNode {
    let mut value = WordNode { parts: Vec::new(), span: word.span, is_continued: word.is_continued };
    let mut parts = word.parts.iter();
    if let Some(WordPart::Literal(first)) = parts.next() {
        let rest = first.split_once('=').map_or("", |(_, rest)| rest);
        if !rest.is_empty() {
            value.parts.push(WordPart::Literal(rest.to_owned()));
        }
    }
    value.parts.extend(parts.cloned());
    homes(value)
}

/// Reads `~` at the beginning of a value and after each colon.
fn homes(word: WordNode) -> WordNode {
    let has_home = |part: &WordPart| matches!(part, WordPart::Literal(text) if text.contains('~'));
    if !word.parts.iter().any(has_home) {
        return word;
    }
    let mut parts = Vec::new();
    let count = word.parts.len();
    for (position, part) in word.parts.into_iter().enumerate() {
        let WordPart::Literal(text) = part else {
            parts.push(part);
            continue;
        };
        let mut literal = String::new();
        let mut rest = &*text;
        let mut may_begin = position == 0;
        while let Some(character) = rest.chars().next() {
            let user_length = rest
                .bytes()
                .skip(1)
                .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
                .count();
            let next = rest.as_bytes().get(1 + user_length);
            let ends = match next {
                Some(next) => matches!(next, b'/' | b':'),
                None => position + 1 == count,
            };
            if may_begin && character == '~' && ends {
                if !literal.is_empty() {
                    parts.push(WordPart::Literal(std::mem::take(&mut literal)));
                }
                parts.push(WordPart::Home(rest.get(1..=user_length).unwrap_or_default().to_owned()));
                rest = rest.get(1 + user_length..).unwrap_or_default();
                may_begin = false;
                continue;
            }
            literal.push(character);
            may_begin = character == ':';
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
        }
        if !literal.is_empty() {
            parts.push(WordPart::Literal(literal));
        }
    }
    WordNode { parts, ..word }
}
