//! Grammar: lists, chains, pipelines and simple commands.

use crate::dialect::{RESERVED, RESERVED_IN_BASH, is_name};
use crate::lexer::{LexedKind, LexedToken, ShellOperator, TextParser};
use crate::tree::{
    AssignedValue, ChainNode, ChainOperator, CommandList, CommandNode, PipelineNode, RedirectionNode,
    RedirectionOperator, RedirectionTarget, SimpleNode, WordNode, WordPart,
};
use crate::unreadable::{ReadResult, UnreadableText};

impl TextParser<'_, '_> {
    /// Reads the whole text.
    pub(crate) fn whole(&mut self) -> ReadResult<CommandList> {
        let list = self.list_or_nothing()?;
        if self.is_at_end()? {
            return Ok(list);
        }
        Err(self.unexpected()?)
    }

    pub(crate) fn is_at_end(&mut self) -> ReadResult<bool> {
        Ok(matches!(self.peek()?.kind, LexedKind::End))
    }

    /// Reads commands up to a word or operator that can't begin one.
    pub(crate) fn list_or_nothing(&mut self) -> ReadResult<CommandList> {
        let mut list = CommandList::default();
        loop {
            self.line_ends()?;
            if !self.begins_command()? {
                return Ok(list);
            }
            let mut chain = self.chain()?;
            let is_separated = match self.peek_operator()? {
                Some(ShellOperator::Background) => {
                    chain.in_background = true;
                    self.next()?;
                    true
                }
                Some(ShellOperator::Semicolon) => {
                    self.next()?;
                    true
                }
                _ => matches!(self.peek()?.kind, LexedKind::LineEnd),
            };
            list.items.push(chain);
            if !is_separated {
                return Ok(list);
            }
        }
    }

    /// Reads commands, of which there has to be one.
    pub(crate) fn list(&mut self) -> ReadResult<CommandList> {
        let list = self.list_or_nothing()?;
        if list.items.is_empty() { Err(self.unexpected()?) } else { Ok(list) }
    }

    pub(crate) fn line_ends(&mut self) -> ReadResult<()> {
        while matches!(self.peek()?.kind, LexedKind::LineEnd) {
            self.peeked = None;
        }
        Ok(())
    }

    /// Returns `true` if the next token is neither the end of a construct nor an operator between commands.
    fn begins_command(&mut self) -> ReadResult<bool> {
        Ok(match &self.peek()?.kind {
            LexedKind::End | LexedKind::LineEnd => false,
            LexedKind::Descriptor(_) => true,
            LexedKind::Operator(operator) => operator.is_redirection() || *operator == ShellOperator::Open,
            LexedKind::Word(word) => !matches!(
                reserved(word),
                Some("then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "}" | "in")
            ),
        })
    }

    fn chain(&mut self) -> ReadResult<ChainNode> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            let operator = match self.peek_operator()? {
                Some(ShellOperator::And) => ChainOperator::And,
                Some(ShellOperator::Or) => ChainOperator::Or,
                _ => return Ok(ChainNode { first, rest, in_background: false }),
            };
            self.next()?;
            self.line_ends()?;
            rest.push((operator, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> ReadResult<PipelineNode> {
        let mut is_negated = false;
        if self.is_bash() && self.skip_time()? && self.ends_timing()? {
            return Ok(PipelineNode { is_negated, commands: Vec::new() });
        }
        if self.peek_reserved()? == Some("!") {
            let token = self.next()?;
            is_negated = true;
            if self.byte(0) == Some(b'(') {
                let message = "`!(` is a pattern in some shells";
                let span = self.span(token.start, token.end + 1);
                return Err(UnreadableText::ambiguous(span, message).with_hint("put a blank behind `!`"));
            }
        }
        let mut commands = vec![self.command()?];
        loop {
            if !self.take(ShellOperator::Pipe)? && !self.take(ShellOperator::PipeBoth)? {
                return Ok(PipelineNode { is_negated, commands });
            }
            self.line_ends()?;
            commands.push(self.command()?);
        }
    }

    /// Returns `true` if `time` may stand alone before the next token.
    fn ends_timing(&mut self) -> ReadResult<bool> {
        Ok(matches!(
            self.peek()?.kind,
            LexedKind::End | LexedKind::LineEnd | LexedKind::Operator(ShellOperator::Semicolon)
        ))
    }

    /// Skips `time` and `time -p`, which begin a pipeline of bash. Returns `true` if there was one.
    fn skip_time(&mut self) -> ReadResult<bool> {
        if self.peek_reserved()? != Some("time") {
            return Ok(false);
        }
        let time = self.next()?;
        let is_option = |token: &LexedToken| match &token.kind {
            LexedKind::Word(word) => word.bare() == Some("-p"),
            _ => false,
        };
        if is_option(self.peek()?) {
            self.peeked = None;
        }
        let next = self.peek()?;
        let is_doubtful = match &next.kind {
            LexedKind::Word(word) => word.bare().is_some_and(|text| text.starts_with('-') || text == "time"),
            _ => false,
        };
        let begins_construct = match &next.kind {
            LexedKind::Word(word) => reserved(word).is_some(),
            kind => matches!(kind, LexedKind::Operator(ShellOperator::Open)),
        };
        if is_doubtful {
            let span = self.span(time.start, time.end);
            let message = "`time` with these options can't be read here";
            return Err(UnreadableText::unsupported(span, message).with_hint("write `/usr/bin/time`"));
        }
        let before = self.text.get(..time.start).unwrap_or_default().trim_end_matches([' ', '\t']);
        // The first word of a substitution on its line is the name of a program for bash.
        if begins_construct && ["$(", "<(", ">("].iter().any(|opening| before.ends_with(opening)) {
            let span = self.span(time.start, time.end);
            let message = "bash reads no `time` of a construct as the first word of a substitution";
            return Err(UnreadableText::ambiguous(span, message).with_hint("begin a new line before `time`"));
        }
        Ok(true)
    }

    /// Returns the reserved word that is next.
    pub(crate) fn peek_reserved(&mut self) -> ReadResult<Option<&'static str>> {
        Ok(match &self.peek()?.kind {
            LexedKind::Word(word) => reserved(word),
            _ => None,
        })
    }

    /// Takes a reserved word, or fails because another construct is next.
    pub(crate) fn expect_reserved(&mut self, expected: &str) -> ReadResult<()> {
        if self.peek_reserved()? == Some(expected) {
            self.peeked = None;
            return Ok(());
        }
        let token = self.peek()?.clone();
        let span = self.span(token.start, token.end.max(token.start));
        if matches!(token.kind, LexedKind::End) {
            return Err(UnreadableText::syntax(span, format!("`{expected}` is missing at the end")));
        }
        Err(self.unexpected()?)
    }

    fn command(&mut self) -> ReadResult<CommandNode> {
        let token = self.peek()?;
        let (start, end) = (token.start, token.end);
        let word = match &token.kind {
            LexedKind::Word(word) => word,
            LexedKind::Operator(ShellOperator::Open) => return self.parentheses(start),
            LexedKind::Descriptor(_) => return self.simple(start),
            LexedKind::Operator(operator) if operator.is_redirection() => return self.simple(start),
            _ => return Err(self.unexpected()?),
        };
        let is_continued = word.is_continued;
        match reserved(word) {
            None => self.simple(start),
            Some(found) if is_continued => {
                let message = format!("a continued line splits `{found}`");
                Err(UnreadableText::ambiguous(self.span(start, end), message))
            }
            Some(found) if RESERVED_IN_BASH.contains(&found) && (!self.is_bash() || found == "time") => {
                self.time_or_bash_word(found, start, end)
            }
            Some("coproc") => {
                let span = self.span(start, end);
                Err(UnreadableText::unsupported(span, "`coproc` can't be read here"))
            }
            Some("then" | "else" | "elif" | "fi" | "do" | "done" | "esac" | "in" | "}" | "!" | "]]") => {
                Err(self.unexpected()?)
            }
            Some(found) => {
                let span = self.span(start, end);
                self.depth(span, |parser| parser.compound(found, start))
            }
        }
    }

    /// Judges a word that begins a construct in bash and names a program in dash.
    fn time_or_bash_word(&mut self, found: &str, start: usize, end: usize) -> ReadResult<CommandNode> {
        let span = self.span(start, end);
        if found != "time" {
            let message = format!("`{found}` has a meaning in bash alone");
            return Err(UnreadableText::ambiguous(span, message).with_hint(match found {
                "[[" => "write `[`, or run the text with bash",
                "function" => "write `NAME() { …; }`",
                _ => "run the text with bash",
            }));
        }
        // dash runs a program; bash times what follows. Both run the same if it is a plain command.
        let CommandNode::Simple(simple) = self.simple(start)? else {
            return Err(self.unexpected()?);
        };
        let operands = simple.words.iter().skip(1).skip_while(|word| word.bare() == Some("-p"));
        let first = operands.map(|word| word.bare()).next();
        let is_plain = match first {
            None => simple.redirections.is_empty() && simple.words.len() == 1 && self.ends_timing()?,
            Some(None) => false,
            Some(Some(text)) => {
                !text.starts_with('-')
                    && !text.contains(['=', '{', '}', '*', '?', '['])
                    && !crate::dialect::is_protected(text)
            }
        };
        if is_plain || self.is_bash() {
            return Ok(CommandNode::Simple(simple));
        }
        let message = "`time` with this command has different meanings in dash and bash";
        Err(UnreadableText::ambiguous(span, message).with_hint("remove `time`"))
    }

    /// Reads assignments, words and redirections.
    fn simple(&mut self, start: usize) -> ReadResult<CommandNode> {
        self.budget.node(self.span(start, start))?;
        let mut node = SimpleNode {
            assignments: Vec::new(),
            words: Vec::new(),
            redirections: Vec::new(),
            span: self.span(start, start),
        };
        let mut end = start;
        loop {
            let token = self.peek()?.clone();
            match token.kind {
                LexedKind::Descriptor(_) => node.redirections.push(self.redirection()?),
                LexedKind::Operator(operator) if operator.is_redirection() => {
                    node.redirections.push(self.redirection()?);
                }
                LexedKind::Operator(ShellOperator::Open) if node.is_one_word() => {
                    return self.function(&node, start);
                }
                LexedKind::Word(word) => {
                    self.peeked = None;
                    self.simple_word(&mut node, word, token.start, token.end)?;
                }
                _ => break,
            }
            end = if self.peeked.is_none() { self.at } else { end.max(token.end) };
        }
        node.span = self.span(start, end);
        Ok(CommandNode::Simple(node))
    }

    fn simple_word(
        &mut self,
        node: &mut SimpleNode,
        word: WordNode,
        start: usize,
        end: usize,
    ) -> ReadResult<()> {
        let span = self.span(start, end);
        if node.words.is_empty() {
            if let Some(assignment) = self.assignment(&word, span)? {
                node.assignments.push(assignment);
                return Ok(());
            }
            let is_first = node.assignments.is_empty() && node.redirections.is_empty();
            if let Some(found) = reserved(&word).filter(|found| !is_first && *found != "time") {
                let message = format!("`{found}` behind an assignment or a redirection is no construct");
                return Err(UnreadableText::unsupported(span, message).with_hint("put it first"));
            }
        }
        if self.byte(0) == Some(b'(') && !(node.is_empty() && is_function_name(&word)) {
            let next = self.span(self.at, self.at + 1);
            return Err(UnreadableText::syntax(next, "`(` is not expected here").with_hint("quote it"));
        }
        self.braces(&word, span)?;
        node.words.push(word);
        Ok(())
    }

    /// Refuses braces in `sh` that bash expands.
    fn braces(&self, word: &WordNode, span: crate::ShellSpan) -> ReadResult<()> {
        if self.is_bash() || !crate::braces::may_expand(word) {
            return Ok(());
        }
        let message = "bash expands these braces, and dash does not";
        Err(UnreadableText::ambiguous(span, message).with_hint("quote the braces, or write each word"))
    }

    /// Reads a redirection with its descriptor and target.
    pub(crate) fn redirection(&mut self) -> ReadResult<RedirectionNode> {
        let mut token = self.next()?;
        let start = token.start;
        let mut descriptor = None;
        if let LexedKind::Descriptor(number) = token.kind {
            descriptor = Some(number);
            token = self.next()?;
        }
        let LexedKind::Operator(operator) = token.kind else { return Err(self.unexpected()?) };
        self.budget.node(self.span(start, token.end))?;
        let mut kind = match operator {
            ShellOperator::Less => RedirectionOperator::Read,
            ShellOperator::Greater | ShellOperator::Clobber => RedirectionOperator::Write,
            ShellOperator::DoubleGreater => RedirectionOperator::Append,
            ShellOperator::LessGreater => RedirectionOperator::ReadWrite,
            ShellOperator::LessAnd | ShellOperator::GreaterAnd => RedirectionOperator::Duplicate,
            ShellOperator::AndGreater => RedirectionOperator::WriteBoth,
            ShellOperator::AndDoubleGreater => RedirectionOperator::AppendBoth,
            ShellOperator::HereString => RedirectionOperator::HereString,
            _ => {
                let strips_tabs = operator == ShellOperator::HereDocumentTabs;
                let target = self.heredoc(token.start, strips_tabs)?;
                let span = self.span(start, self.at);
                let operator = RedirectionOperator::HereDocument;
                return Ok(RedirectionNode { operator, descriptor, target, span });
            }
        };
        let target_token = self.peek()?.clone();
        let LexedKind::Word(word) = target_token.kind else {
            let span = self.span(token.start, token.end);
            let what = if matches!(target_token.kind, LexedKind::Descriptor(_)) {
                return Err(UnreadableText::ambiguous(
                    span,
                    "a number follows this redirection, and another one",
                ));
            } else {
                "no file follows this redirection"
            };
            return Err(UnreadableText::syntax(span, what));
        };
        self.peeked = None;
        let span = self.span(start, target_token.end);
        if kind == RedirectionOperator::Duplicate {
            dash_after_duplicate(&word, span)?;
            let is_descriptor =
                word.bare().is_some_and(|text| text == "-" || text.bytes().all(|byte| byte.is_ascii_digit()));
            if !is_descriptor {
                if !self.is_bash() || operator == ShellOperator::LessAnd || descriptor.is_some() {
                    let message = "what follows this redirection is no number of a descriptor";
                    return Err(UnreadableText::ambiguous(span, message)
                        .with_hint("write `>FILE 2>&1` for both outputs"));
                }
                kind = RedirectionOperator::WriteBoth;
            } else if word.bare().is_some_and(|text| text.len() > 1) && !self.is_bash() {
                let message = "dash knows no descriptor above 9";
                return Err(UnreadableText::ambiguous(span, message));
            }
        }
        self.braces(&word, span)?;
        let is_pattern = word
            .parts
            .iter()
            .any(|part| matches!(part, WordPart::Literal(text) if text.contains(['*', '?', '['])));
        if is_pattern && !self.is_bash() && kind != RedirectionOperator::HereString {
            let message = "bash expands this pattern, and dash does not";
            return Err(UnreadableText::ambiguous(span, message).with_hint("name the file"));
        }
        if self.byte(0) == Some(b'(') {
            let next = self.span(self.at, self.at + 1);
            return Err(UnreadableText::syntax(next, "`(` is not expected here").with_hint("quote it"));
        }
        Ok(RedirectionNode { operator: kind, descriptor, target: RedirectionTarget::Word(word), span })
    }

    /// Returns the error for the next token.
    pub(crate) fn unexpected(&mut self) -> ReadResult<Box<UnreadableText>> {
        let token = self.peek()?.clone();
        let span = self.span(token.start, token.end);
        let shown = self.text.get(token.start..token.end).unwrap_or_default();
        Ok(match token.kind {
            LexedKind::End => UnreadableText::syntax(span, "the text ends where a command is expected"),
            LexedKind::LineEnd => UnreadableText::syntax(span, "the line ends where a command is expected"),
            LexedKind::Word(word) if reserved(&word) == Some("in") => {
                UnreadableText::ambiguous(span, "`in` is a reserved word in some shells")
            }
            _ => UnreadableText::syntax(span, format!("`{shown}` is not expected here")),
        })
    }

    pub(crate) fn unexpected_in_substitution(
        &mut self,
        open: crate::ShellSpan,
    ) -> ReadResult<Box<UnreadableText>> {
        if self.is_at_end()? {
            return Ok(UnreadableText::syntax(open, "this substitution is not closed"));
        }
        self.unexpected()
    }
}

impl SimpleNode {
    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.assignments.is_empty() && self.redirections.is_empty()
    }

    fn is_one_word(&self) -> bool {
        self.words.len() == 1 && self.assignments.is_empty() && self.redirections.is_empty()
    }
}

fn is_function_name(word: &WordNode) -> bool {
    word.bare().is_some()
}

/// Returns a word that is reserved at the beginning of a command.
pub(crate) fn reserved(word: &WordNode) -> Option<&'static str> {
    let text = word.bare()?;
    RESERVED.iter().chain(&RESERVED_IN_BASH).find(|reserved| **reserved == text).copied()
}

/// Returns `true` if a word assigns to a variable wherever a shell reads assignments.
pub(crate) fn assigned_name(word: &WordNode) -> Option<(&str, bool)> {
    let Some(WordPart::Literal(first)) = word.parts.first() else { return None };
    let (name, _) = first.split_once('=')?;
    let (name, appends) = name.strip_suffix('+').map_or((name, false), |name| (name, true));
    is_name(name).then_some((name, appends))
}

/// Returns the value of an assigned word.
pub(crate) fn assigned_value(word: &WordNode) -> AssignedValue {
    AssignedValue::Word(crate::assignments::value(word))
}

/// Refuses words with a `-` behind `>&` or `<&` that bash divides.
fn dash_after_duplicate(word: &WordNode, span: crate::ShellSpan) -> ReadResult<()> {
    let begins = matches!(word.parts.first(), Some(WordPart::Literal(text)) if text.starts_with('-'));
    if begins && word.bare() != Some("-") {
        let message = "the `-` ends this redirection in some shells, and what follows is a word";
        return Err(UnreadableText::ambiguous(span, message).with_hint("put a blank behind the `-`"));
    }
    let moved = word.bare().and_then(|text| text.strip_suffix('-')).filter(|number| !number.is_empty());
    if moved.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) {
        let message = "some shells move this descriptor, and some write a file";
        return Err(UnreadableText::ambiguous(span, message).with_hint("close the descriptor separately"));
    }
    Ok(())
}
