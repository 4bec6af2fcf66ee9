//! Expansions: parameters, substitutions of commands, and escapes of bash.

use crate::dialect::{is_name_byte, is_name_start};
use crate::lexer::{ShellOperator, TextParser};
use crate::quoting::push_literal;
use crate::tree::{CommandList, ParameterNode, ParameterOperation, ValueEdit, WordNode, WordPart};
use crate::unreadable::{ReadResult, UnreadableText};

impl TextParser<'_, '_> {
    /// Reads `$` with what follows.
    pub(crate) fn dollar(&mut self, word: &mut WordNode, is_quoted: bool) -> ReadResult<()> {
        let start = self.at;
        match self.byte(1) {
            Some(b'{') => self.braced(word, is_quoted),
            Some(b'(') if self.byte(2) == Some(b'(') => self.arithmetic_expansion(word),
            Some(b'(') => {
                self.at += 2;
                let list = self.substitution_list(start, Some(')'))?;
                self.push(word, WordPart::Substitution { list: list.into(), is_quoted })
            }
            Some(byte) if is_name_start(byte) => {
                self.at += 1;
                let name = self.name();
                self.value(word, name, start, is_quoted)
            }
            Some(byte) if byte.is_ascii_digit() || b"@*#?-$!".contains(&byte) => {
                self.at += 2;
                self.value(word, char::from(byte).to_string(), start, is_quoted)
            }
            Some(b'\'') if !is_quoted => self.ansi_quoted(word),
            Some(b'"') if !is_quoted => Err(self.bash_alone(start, "`$\"…\"`")),
            Some(b'[') => Err(self.bash_alone(start, "`$[…]`").with_hint("write `$((…))`")),
            Some(b'\\') if self.byte(2) == Some(b'\n') => {
                let message = "a continued line splits an expansion";
                Err(UnreadableText::ambiguous(self.span(start, start + 3), message))
            }
            _ => {
                self.at += 1;
                if is_quoted {
                    return self.push(word, WordPart::Quoted("$".to_owned()));
                }
                push_literal(word, "$");
                Ok(())
            }
        }
    }

    fn bash_alone(&self, start: usize, what: &str) -> Box<UnreadableText> {
        let message = format!("{what} has a meaning in bash alone");
        UnreadableText::ambiguous(self.span(start, start + 2), message)
    }

    pub(crate) fn name(&mut self) -> String {
        let length = self.rest().bytes().take_while(|byte| is_name_byte(*byte)).count();
        let name = self.rest().get(..length).unwrap_or_default().to_owned();
        self.at += length;
        name
    }

    fn value(&mut self, word: &mut WordNode, name: String, start: usize, is_quoted: bool) -> ReadResult<()> {
        let span = self.span(start, self.at);
        let operation = ParameterOperation::Value;
        let parameter = ParameterNode { name, operation, is_quoted, span };
        self.push(word, WordPart::Parameter(Box::new(parameter)))
    }

    /// Reads the commands of a substitution up to its end.
    pub(crate) fn substitution_list(&mut self, start: usize, end: Option<char>) -> ReadResult<CommandList> {
        let span = self.span(start, self.at);
        let peeked = self.peeked.take();
        let pending = std::mem::take(&mut self.pending);
        self.pending_outside += pending.len();
        let heredoc = self.last_heredoc.take();
        let list = self.depth(span, |parser| {
            let list = parser.list_or_nothing()?;
            let is_closed = match end {
                Some(_) => parser.take(ShellOperator::Close)?,
                None => parser.is_at_end()?,
            };
            if !is_closed {
                return Err(parser.unexpected_in_substitution(span)?);
            }
            if let Some(open) = parser.pending.first() {
                let message = "this heredoc does not end within its substitution";
                return Err(UnreadableText::ambiguous(parser.span(open.start, parser.at), message));
            }
            if end.is_some() {
                parser.end_with_heredoc()?;
            }
            Ok(list)
        })?;
        self.last_heredoc = heredoc;
        self.pending_outside -= pending.len();
        self.pending = pending;
        self.peeked = peeked;
        Ok(list)
    }

    /// Refuses commands between a heredoc and the end of its substitution, which was just read. Bash writes the commands of
    /// a substitution down and reads them again; it forgets the separator that follows the one after a heredoc.
    fn end_with_heredoc(&self) -> ReadResult<()> {
        let Some((start, body_end)) = self.last_heredoc else { return Ok(()) };
        let end = self.at.saturating_sub(1);
        let is_blank = self.text.get(body_end..end).is_some_and(|between| between.trim().is_empty());
        if is_blank {
            return Ok(());
        }
        let message = "bash may join commands that follow a heredoc in a substitution";
        Err(UnreadableText::ambiguous(self.span(start, end), message)
            .with_hint("end the substitution after the heredoc"))
    }

    /// Reads `${…}`.
    fn braced(&mut self, word: &mut WordNode, is_quoted: bool) -> ReadResult<()> {
        let start = self.at;
        let span = self.span(start, start + 2);
        self.at += 2;
        let (name, operation) = self.depth(span, |parser| parser.braced_body(start, is_quoted))?;
        if self.byte(0) != Some(b'}') {
            return Err(if self.byte(0).is_none() {
                UnreadableText::syntax(span, "this `${` is not closed")
            } else {
                let message = "this expansion has a form that can't be read here";
                UnreadableText::unsupported(self.span_with_next(start), message)
            });
        }
        self.at += 1;
        let span = self.span(start, self.at);
        self.push(word, WordPart::Parameter(Box::new(ParameterNode { name, operation, is_quoted, span })))
    }

    fn braced_body(&mut self, start: usize, is_quoted: bool) -> ReadResult<(String, ParameterOperation)> {
        match (self.byte(0), self.byte(1)) {
            (Some(b'#'), Some(next)) if next != b'}' => {
                self.at += 1;
                let name = self.parameter_name();
                if name.is_empty() {
                    let message = "this length can't be read here";
                    return Err(UnreadableText::ambiguous(self.span(start, self.at), message));
                }
                if self.byte(0) == Some(b'[') {
                    return self.element(name, start);
                }
                Ok((name, ParameterOperation::Length))
            }
            (Some(b'!'), Some(next)) if next != b'}' => self.indirect(start),
            _ => {
                let name = self.parameter_name();
                if name.is_empty() {
                    let Some(special) = self.byte(0).filter(|byte| b"@*#?-$!".contains(byte)) else {
                        let message = "no name of a parameter follows `${`";
                        return Err(UnreadableText::unsupported(self.span(start, self.at), message));
                    };
                    self.at += 1;
                    let is_list = matches!(special, b'@' | b'*');
                    let name = char::from(special).to_string();
                    if self.byte(0) == Some(b'}') || !is_list {
                        return Ok((name, ParameterOperation::Value));
                    }
                    return self.operation(name, start, is_quoted);
                }
                self.operation(name, start, is_quoted)
            }
        }
    }

    /// Reads a name or the number of a positional parameter.
    fn parameter_name(&mut self) -> String {
        match self.byte(0) {
            Some(byte) if is_name_start(byte) => self.name(),
            Some(byte) if byte.is_ascii_digit() => {
                let length = self.rest().bytes().take_while(u8::is_ascii_digit).count();
                let digits = self.rest().get(..length).unwrap_or_default().to_owned();
                self.at += length;
                digits
            }
            _ => String::new(),
        }
    }

    fn operation(
        &mut self,
        name: String,
        start: usize,
        is_quoted: bool,
    ) -> ReadResult<(String, ParameterOperation)> {
        let has_colon = self.byte(0) == Some(b':');
        let operator = self.byte(usize::from(has_colon));
        let operation = match operator {
            Some(b'}') if !has_colon => ParameterOperation::Value,
            Some(operator @ (b'-' | b'=' | b'?' | b'+')) => {
                self.at += 1 + usize::from(has_colon);
                let operand = self.operand(is_quoted, b"")?;
                match operator {
                    b'-' => ParameterOperation::Default(operand),
                    b'=' => ParameterOperation::Assign(operand),
                    b'?' => ParameterOperation::Require(operand),
                    _ => ParameterOperation::Alternative(operand),
                }
            }
            Some(operator @ (b'#' | b'%')) if !has_colon => {
                let longest = self.byte(1) == Some(operator);
                self.at += 1 + usize::from(longest);
                let edit = match operator {
                    b'#' => ValueEdit::WithoutBeginning { longest },
                    _ => ValueEdit::WithoutEnd { longest },
                };
                ParameterOperation::Edit(edit, vec![self.operand(is_quoted, b"")?])
            }
            None => {
                let span = self.span(start, start + 2);
                return Err(UnreadableText::syntax(span, "this `${` is not closed"));
            }
            Some(_) if self.is_bash() => return self.bash_operation(name, start, is_quoted),
            Some(_) => {
                let message = "this expansion has a meaning in bash alone";
                return Err(UnreadableText::ambiguous(self.span_with_next(start), message));
            }
        };
        Ok((name, operation))
    }

    /// Reads an operand of `${…}` up to its `}`, or another end.
    pub(crate) fn operand(&mut self, is_quoted: bool, ends: &[u8]) -> ReadResult<WordNode> {
        let start = self.at;
        let mut word = WordNode::default();
        if !is_quoted && self.byte(0) == Some(b'~') {
            self.home(&mut word)?;
        }
        while let Some(byte) = self.byte(0) {
            if byte == b'}' || ends.contains(&byte) {
                break;
            }
            self.budget.steps(1, self.span(self.at, self.at))?;
            match byte {
                b'\'' | b'"' | b'\\' | b'`' if is_quoted => {
                    let message = "quotes within an expansion in quotes are read in different ways";
                    return Err(UnreadableText::ambiguous(self.span(self.at, self.at + 1), message)
                        .with_hint("set a variable first"));
                }
                b'{' | b'(' | b')' | b'<' | b'>' => {
                    let message = format!("`{}` within an expansion can't be read here", char::from(byte));
                    return Err(UnreadableText::unsupported(self.span(self.at, self.at + 1), message)
                        .with_hint("set a variable first"));
                }
                b'$' => self.dollar(&mut word, is_quoted)?,
                b'\'' | b'"' | b'\\' | b'`' => self.part(&mut word, usize::MAX)?,
                _ => {
                    let character = self.character().unwrap_or_default();
                    let text = self.rest().get(..character.len_utf8()).unwrap_or_default();
                    self.at += character.len_utf8();
                    push_literal(&mut word, text);
                }
            }
        }
        word.span = self.span(start, self.at);
        Ok(word)
    }
}
