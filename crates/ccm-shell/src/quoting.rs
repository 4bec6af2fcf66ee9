//! Words: literal text and quotes.

use crate::lexer::{LexedKind, TextParser, ends_word};
use crate::tree::{WordNode, WordPart};
use crate::unreadable::{ReadResult, UnreadableText};

impl TextParser<'_, '_> {
    /// Reads a word from its first character to the blank or operator after its last.
    pub(crate) fn word(&mut self) -> ReadResult<WordNode> {
        let start = self.at;
        self.budget.node(self.span(start, start))?;
        let mut word = WordNode::default();
        while let Some(byte) = self.byte(0) {
            if ends_word(byte) {
                // A process substitution may continue a word of bash.
                if matches!(byte, b'<' | b'>') && self.byte(1) == Some(b'(') && self.at > start {
                    let message = "a process substitution within a word can't be read here";
                    return Err(UnreadableText::unsupported(self.span(start, self.at + 2), message));
                }
                break;
            }
            self.part(&mut word, start)?;
        }
        word.span = self.span(start, self.at);
        Ok(word)
    }

    /// Reads the next part of a word that begins at `start`.
    pub(crate) fn part(&mut self, word: &mut WordNode, start: usize) -> ReadResult<()> {
        self.budget.steps(1, self.span(self.at, self.at))?;
        match self.byte(0) {
            Some(b'\'') => {
                let text = self.single_quoted()?;
                self.push(word, WordPart::Quoted(text))
            }
            Some(b'"') => self.double_quoted(word),
            Some(b'\\') => self.escape(word),
            Some(b'$') => self.dollar(word, false),
            Some(b'`') => self.backquoted(word, false),
            Some(b'~') if self.at == start => self.home(word),
            _ => {
                self.literal(word);
                Ok(())
            }
        }
    }

    /// Adds a part to a word.
    pub(crate) fn push(&mut self, word: &mut WordNode, part: WordPart) -> ReadResult<()> {
        match (word.parts.last_mut(), part) {
            (Some(WordPart::Quoted(before)), WordPart::Quoted(text)) => before.push_str(&text),
            (_, part) => {
                self.budget.node(self.span(self.at, self.at))?;
                word.parts.push(part);
            }
        }
        Ok(())
    }

    /// Reads characters without a meaning of their own.
    fn literal(&mut self, word: &mut WordNode) {
        let rest = self.rest();
        let is_special = |byte: u8| ends_word(byte) || matches!(byte, b'\'' | b'"' | b'\\' | b'$' | b'`');
        let length = rest.bytes().skip(1).take_while(|byte| !is_special(*byte)).count() + 1;
        // The first byte may begin a longer character, whose other bytes are not special.
        let text = rest.get(..length).unwrap_or_default();
        self.at += length;
        push_literal(word, text);
    }

    fn single_quoted(&mut self) -> ReadResult<String> {
        let start = self.at;
        let body = self.rest().get(1..).unwrap_or_default();
        let Some(length) = body.find('\'') else {
            let message = "this single quote is not closed";
            return Err(UnreadableText::syntax(self.span(start, start + 1), message));
        };
        self.at += length + 2;
        Ok(body.get(..length).unwrap_or_default().to_owned())
    }

    fn escape(&mut self, word: &mut WordNode) -> ReadResult<()> {
        let start = self.at;
        self.at += 1;
        match self.character() {
            None => {
                let message = "a backslash at the end of the text quotes nothing";
                Err(UnreadableText::unsupported(self.span(start, self.at), message)
                    .with_hint("remove the backslash"))
            }
            Some('\n') => {
                self.at += 1;
                word.is_continued = true;
                Ok(())
            }
            Some(character) => {
                self.at += character.len_utf8();
                self.push(word, WordPart::Quoted(character.to_string()))
            }
        }
    }

    /// Reads text in double quotes.
    fn double_quoted(&mut self, word: &mut WordNode) -> ReadResult<()> {
        let start = self.at;
        self.at += 1;
        self.push(word, WordPart::Quoted(String::new()))?;
        loop {
            let rest = self.rest();
            let length = rest.bytes().take_while(|byte| !matches!(byte, b'"' | b'\\' | b'$' | b'`')).count();
            if length > 0 {
                let text = rest.get(..length).unwrap_or_default().to_owned();
                self.at += length;
                self.push(word, WordPart::Quoted(text))?;
            }
            self.budget.steps(1, self.span(self.at, self.at))?;
            match self.byte(0) {
                None => {
                    let message = "this double quote is not closed";
                    return Err(UnreadableText::syntax(self.span(start, start + 1), message));
                }
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => self.quoted_escape(word, b"$`\"\\")?,
                Some(b'$') => self.dollar(word, true)?,
                _ => self.backquoted(word, true)?,
            }
        }
    }

    /// Reads a backslash in double quotes or in a heredoc, where it quotes some characters only.
    pub(crate) fn quoted_escape(&mut self, word: &mut WordNode, escapable: &[u8]) -> ReadResult<()> {
        match self.byte(1) {
            Some(b'\n') => {
                self.at += 2;
                Ok(())
            }
            Some(byte) if escapable.contains(&byte) => {
                self.at += 2;
                self.push(word, WordPart::Quoted(char::from(byte).to_string()))
            }
            _ => {
                self.at += 1;
                self.push(word, WordPart::Quoted("\\".to_owned()))
            }
        }
    }

    /// Reads `~` or `~name` at the beginning of a word or a value.
    pub(crate) fn home(&mut self, word: &mut WordNode) -> ReadResult<()> {
        let start = self.at;
        let rest = self.rest().get(1..).unwrap_or_default();
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'+');
        let (mut user, mut length) = (String::new(), 0);
        loop {
            match rest.as_bytes().get(length..).unwrap_or_default() {
                // The shell removes a line end behind a backslash before it looks for a home.
                [b'\\', b'\n', ..] => length += 2,
                [byte, ..] if is_name(*byte) => {
                    user.push(char::from(*byte));
                    length += 1;
                }
                _ => break,
            }
        }
        let next = rest.as_bytes().get(length).copied();
        self.at += 1;
        let ends = next.is_none_or(|next| ends_word(next) || matches!(next, b'/' | b':'));
        if !ends || self.at + length > self.end {
            // Quotes or other characters follow, so that this is no name of a user.
            push_literal(word, "~");
            return Ok(());
        }
        word.is_continued |= length > user.len();
        let is_bash_only = user.starts_with(['+', '-']) || user.bytes().all(|byte| byte.is_ascii_digit());
        if !user.is_empty() && is_bash_only {
            let message = "`~+`, `~-` and numbers have a meaning in bash alone";
            let error = UnreadableText::ambiguous(self.span(start, self.at + length), message);
            return Err(error.with_hint("write `$PWD` or `$OLDPWD`"));
        }
        self.at += length;
        self.push(word, WordPart::Home(user))
    }

    /// Reads text in backquotes: commands whose output takes their place.
    pub(crate) fn backquoted(&mut self, word: &mut WordNode, is_quoted: bool) -> ReadResult<()> {
        let start = self.at;
        let body = self.rest().get(1..).unwrap_or_default();
        let Some(length) = body.find('`') else {
            let message = "this backquote is not closed";
            return Err(UnreadableText::syntax(self.span(start, start + 1), message));
        };
        if body.get(..length).is_some_and(|body| body.contains('\\')) {
            let message = "a backslash in backquotes is read in different ways";
            let error = UnreadableText::ambiguous(self.span(start, start + length + 2), message);
            return Err(error.with_hint("write `$(…)` in place of backquotes"));
        }
        let (outer, inner) = (self.end, self.at + 1 + length);
        (self.at, self.end) = (start + 1, inner);
        let list = self.substitution_list(start, None)?;
        (self.at, self.end) = (inner + 1, outer);
        self.push(word, WordPart::Substitution { list: list.into(), is_quoted })
    }

    /// Reads `<(…)` or `>(…)`.
    pub(crate) fn process_word(&mut self, start: usize) -> ReadResult<LexedKind> {
        if !self.is_bash() {
            let message = "a process substitution has a meaning in bash alone";
            let error = UnreadableText::ambiguous(self.span(start, start + 2), message);
            return Err(error.with_hint("use a pipe or a file"));
        }
        let is_input = self.byte(0) == Some(b'<');
        self.at += 2;
        let list = self.substitution_list(start, Some(')'))?;
        let span = self.span(start, self.at);
        if self.byte(0).is_some_and(|byte| !ends_word(byte)) {
            let message = "a process substitution within a word can't be read here";
            return Err(UnreadableText::unsupported(span, message));
        }
        let mut word = WordNode { span, ..WordNode::default() };
        self.push(&mut word, WordPart::Process { list: list.into(), is_input })?;
        Ok(LexedKind::Word(word))
    }
}

pub(crate) fn push_literal(word: &mut WordNode, text: &str) {
    match word.parts.last_mut() {
        Some(WordPart::Literal(before)) => before.push_str(text),
        _ => word.parts.push(WordPart::Literal(text.to_owned())),
    }
}
