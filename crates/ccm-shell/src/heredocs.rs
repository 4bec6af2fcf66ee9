//! Heredocs: texts between a line with `<<END` and a line `END`.

use crate::lexer::{LexedKind, PendingBody, TextParser};
use crate::span::SpanOrigin;
use crate::tree::{RedirectionTarget, WordNode, WordPart};
use crate::unreadable::{ReadResult, UnreadableText};

impl TextParser<'_, '_> {
    /// Reads the delimiter of a heredoc, whose body follows after the line.
    pub(crate) fn heredoc(&mut self, start: usize, strips_tabs: bool) -> ReadResult<RedirectionTarget> {
        let token = self.next()?;
        let span = self.span(start, token.end);
        let LexedKind::Word(word) = token.kind else {
            return Err(UnreadableText::syntax(span, "no delimiter follows `<<`"));
        };
        if self.pending_outside > 0 || self.is_body {
            return Err(UnreadableText::unsupported(span, "a heredoc within a heredoc can't be read here"));
        }
        let mut delimiter = String::new();
        let mut is_literal = false;
        for part in &word.parts {
            match part {
                WordPart::Literal(text) => delimiter += text,
                WordPart::Quoted(text) => {
                    is_literal = true;
                    delimiter += text;
                }
                WordPart::Home(user) => {
                    delimiter.push('~');
                    delimiter += user;
                }
                _ => {
                    let message = "an expansion in the delimiter of a heredoc is read in different ways";
                    return Err(UnreadableText::ambiguous(span, message).with_hint("use a plain word"));
                }
            }
        }
        if delimiter.contains(['\n', '$', '`', '\\']) || delimiter.is_empty() || word.is_continued {
            let message = "this delimiter of a heredoc is read in different ways";
            return Err(UnreadableText::ambiguous(span, message).with_hint("use a plain word"));
        }
        let number = self.bodies.len();
        self.bodies.push(WordNode::default());
        self.pending.push(PendingBody { number, delimiter, is_literal, strips_tabs, start });
        Ok(RedirectionTarget::HereDocument(number))
    }

    /// Reads the bodies of the heredocs of a line, after its end.
    pub(crate) fn read_bodies(&mut self, line_end: usize) -> ReadResult<()> {
        if self.pending_outside > 0 {
            let span = self.span(line_end, line_end + 1);
            let message = "a line ends in a substitution after a heredoc";
            return Err(UnreadableText::ambiguous(span, message)
                .with_hint("set a variable to the output of the substitution first"));
        }
        for pending in std::mem::take(&mut self.pending) {
            let body = self.body(&pending)?;
            self.last_heredoc = Some((pending.start, self.at));
            if let Some(place) = self.bodies.get_mut(pending.number) {
                *place = body;
            }
        }
        Ok(())
    }

    fn body(&mut self, pending: &PendingBody) -> ReadResult<WordNode> {
        let start = self.at;
        let mut text = String::new();
        // The part of a continued line before its end.
        let mut continued = String::new();
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                let span = self.span(pending.start, pending.start + 2);
                let message = format!("the line `{}` that ends this heredoc is missing", pending.delimiter);
                return Err(UnreadableText::unsupported(span, message)
                    .with_hint("add the line, without blanks around the word"));
            }
            let line = rest.split('\n').next().unwrap_or_default();
            let shown = if pending.strips_tabs { line.trim_start_matches('\t') } else { line };
            let is_continuation = !continued.is_empty();
            let line_span = self.span(self.at, self.at + line.len());
            self.budget.steps(1 + line.len() / 16, line_span)?;
            let is_delimiter = shown == pending.delimiter;
            let joined_is_delimiter = is_continuation && continued == pending.delimiter.as_str();
            if is_continuation && (is_delimiter || line == pending.delimiter) || joined_is_delimiter {
                let message = "a continued line may end this heredoc";
                return Err(UnreadableText::ambiguous(line_span, message));
            }
            if is_delimiter {
                let end = self.at;
                self.at += line.len();
                if self.byte(0) == Some(b'\n') {
                    self.at += 1;
                }
                return self.parsed_body(pending, &text, start, end);
            }
            let is_continued = !pending.is_literal && ends_with_backslash(line);
            if is_continued && pending.strips_tabs {
                let message = "a continued line in a heredoc without tabs is read in different ways";
                return Err(UnreadableText::ambiguous(line_span, message));
            }
            if is_continued {
                continued.push_str(&line[..line.len() - 1]);
                if continued.is_empty() {
                    // A lone backslash continues with nothing.
                    continued.push('\0');
                }
            } else if is_continuation {
                continued.push_str(line);
                if continued.trim_start_matches('\0') == pending.delimiter {
                    let message = "a continued line may end this heredoc";
                    return Err(UnreadableText::ambiguous(line_span, message));
                }
                continued.clear();
            }
            text.push_str(shown);
            text.push('\n');
            self.at += line.len() + 1;
            if self.at > self.end {
                self.at = self.end;
            }
        }
    }

    fn parsed_body(
        &mut self,
        pending: &PendingBody,
        text: &str,
        start: usize,
        end: usize,
    ) -> ReadResult<WordNode> {
        let span = self.span(start, end);
        let mut body = WordNode { span, ..WordNode::default() };
        if pending.is_literal {
            self.push(&mut body, WordPart::Quoted(text.to_owned()))?;
            return Ok(body);
        }
        let is_unchanged = self.text.get(start..end) == Some(text);
        let origin = match self.origin {
            SpanOrigin::Offset(offset) if is_unchanged => SpanOrigin::Offset(offset + start),
            _ => SpanOrigin::Fixed(span),
        };
        let mut inner = TextParser::new(text, self.dialect, origin, self.budget);
        inner.is_body = true;
        inner.body_parts(&mut body)?;
        Ok(body)
    }

    /// Reads a body with expansions, in which quotes are text.
    fn body_parts(&mut self, body: &mut WordNode) -> ReadResult<()> {
        self.push(body, WordPart::Quoted(String::new()))?;
        while let Some(byte) = self.byte(0) {
            self.budget.steps(1, self.span(self.at, self.at))?;
            match byte {
                b'\\' => self.quoted_escape(body, b"$`\\")?,
                b'$' => self.dollar(body, true)?,
                b'`' => self.backquoted(body, true)?,
                _ => {
                    let rest = self.rest();
                    let length = rest.bytes().take_while(|byte| !matches!(byte, b'\\' | b'$' | b'`')).count();
                    let text = rest.get(..length).unwrap_or_default().to_owned();
                    self.at += length;
                    self.push(body, WordPart::Quoted(text))?;
                }
            }
        }
        Ok(())
    }
}

/// Returns `true` if an odd number of backslashes ends a line.
fn ends_with_backslash(line: &str) -> bool {
    line.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
