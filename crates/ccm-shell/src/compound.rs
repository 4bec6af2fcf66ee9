//! Grammar of constructs: groups, conditions, loops and functions.

use crate::dialect::{is_name, is_protected};
use crate::lexer::{LexedKind, ShellOperator, TextParser};
use crate::span::ShellSpan;
use crate::tree::{
    CaseArm, CommandList, CommandNode, CompoundKind, CompoundNode, FunctionNode, SimpleNode, WordNode,
};
use crate::unreadable::{ReadResult, UnreadableText};

impl TextParser<'_, '_> {
    /// Reads `(…)`, or `((…))` of bash.
    pub(crate) fn parentheses(&mut self, start: usize) -> ReadResult<CommandNode> {
        let span = self.span(start, start + 1);
        self.depth(span, |parser| {
            parser.next()?;
            if parser.byte(0) == Some(b'(') {
                if !parser.is_bash() {
                    let message = "`((` begins arithmetic in bash, and two subshells in dash";
                    return Err(UnreadableText::ambiguous(parser.span(start, start + 2), message)
                        .with_hint("put a blank between the parentheses, or write `$((…))`"));
                }
                parser.at += 1;
                let kind = CompoundKind::Arithmetic(parser.arithmetic_parentheses(start)?);
                return parser.redirected(kind, start);
            }
            let list = parser.list()?;
            if !parser.take(ShellOperator::Close)? {
                return Err(parser.unclosed(span, "this parenthesis is not closed")?);
            }
            parser.redirected(CompoundKind::Subshell(list), start)
        })
    }

    /// Reads the construct that a reserved word begins.
    pub(crate) fn compound(&mut self, word: &str, start: usize) -> ReadResult<CommandNode> {
        let span = self.span(start, start + word.len());
        self.budget.node(span)?;
        self.next()?;
        let kind = match word {
            "{" => {
                let list = self.list()?;
                self.expect_reserved("}")?;
                CompoundKind::Group(list)
            }
            "if" => self.conditions()?,
            "while" | "until" => {
                let condition = self.list()?;
                let body = self.loop_body()?;
                CompoundKind::Loop { condition, body }
            }
            "for" => self.for_loop(start)?,
            "select" => self.for_words(start)?,
            "case" => self.case(start)?,
            "[[" => CompoundKind::Conditional(self.conditional(start)?),
            "function" => return self.function_word(start),
            _ => return Err(self.unexpected()?),
        };
        self.redirected(kind, start)
    }

    /// Reads the redirections of a construct.
    fn redirected(&mut self, kind: CompoundKind, start: usize) -> ReadResult<CommandNode> {
        let end = self.at;
        let mut redirections = Vec::new();
        loop {
            let is_redirection = match &self.peek()?.kind {
                LexedKind::Descriptor(_) => true,
                LexedKind::Operator(operator) => operator.is_redirection(),
                _ => false,
            };
            if !is_redirection {
                let span = self.span(start, end);
                return Ok(CommandNode::Compound(CompoundNode { kind, redirections, span }));
            }
            redirections.push(self.redirection()?);
        }
    }

    fn unclosed(&mut self, open: ShellSpan, message: &str) -> ReadResult<Box<UnreadableText>> {
        if self.is_at_end()? { Ok(UnreadableText::syntax(open, message)) } else { self.unexpected() }
    }

    fn conditions(&mut self) -> ReadResult<CompoundKind> {
        let mut arms = Vec::new();
        loop {
            let condition = self.list()?;
            self.expect_reserved("then")?;
            arms.push((condition, self.list()?));
            match self.peek_reserved()? {
                Some("elif") => {
                    self.next()?;
                }
                Some("else") => {
                    self.next()?;
                    let otherwise = Some(self.list()?);
                    self.expect_reserved("fi")?;
                    return Ok(CompoundKind::If { arms, otherwise });
                }
                _ => {
                    self.expect_reserved("fi")?;
                    return Ok(CompoundKind::If { arms, otherwise: None });
                }
            }
        }
    }

    fn loop_body(&mut self) -> ReadResult<CommandList> {
        self.expect_reserved("do")?;
        let body = self.list()?;
        self.expect_reserved("done")?;
        Ok(body)
    }

    fn for_loop(&mut self, start: usize) -> ReadResult<CompoundKind> {
        if self.byte(0) == Some(b'(') || self.peek_operator()? == Some(ShellOperator::Open) {
            return self.arithmetic_for(start);
        }
        self.for_words(start)
    }

    /// Reads `for name in words; do …` behind `for` or `select`.
    fn for_words(&mut self, start: usize) -> ReadResult<CompoundKind> {
        let token = self.next()?;
        let span = self.span(start, token.end);
        let name = match &token.kind {
            LexedKind::Word(word) if !word.is_continued => word.bare().filter(|name| is_name(name)),
            _ => None,
        };
        let Some(name) = name.map(str::to_owned) else {
            let message = "no name of a variable follows `for`";
            return Err(UnreadableText::unsupported(span, message));
        };
        let mut words = None;
        if self.take(ShellOperator::Semicolon)? {
            self.line_ends()?;
        } else {
            self.line_ends()?;
            if self.peek_reserved()? == Some("in") {
                self.next()?;
                words = Some(self.words_to_separator()?);
            }
        }
        let body = self.loop_body()?;
        Ok(CompoundKind::For { name, words, body })
    }

    fn words_to_separator(&mut self) -> ReadResult<Vec<WordNode>> {
        let mut words = Vec::new();
        loop {
            let token = self.next()?;
            match token.kind {
                LexedKind::Word(word) => {
                    let span = self.span(token.start, token.end);
                    self.element_word(&word, span)?;
                    words.push(word);
                }
                LexedKind::Operator(ShellOperator::Semicolon) | LexedKind::LineEnd => {
                    self.line_ends()?;
                    return Ok(words);
                }
                _ => {
                    self.peeked = Some(token);
                    return Err(self.unexpected()?);
                }
            }
        }
    }

    /// Checks a word of a list.
    pub(crate) fn element_word(&self, word: &WordNode, span: ShellSpan) -> ReadResult<()> {
        if self.byte(0) == Some(b'(') {
            let next = self.span(self.at, self.at + 1);
            return Err(UnreadableText::syntax(next, "`(` is not expected here").with_hint("quote it"));
        }
        if !self.is_bash() && crate::braces::may_expand(word) {
            let message = "bash expands these braces, and dash does not";
            return Err(
                UnreadableText::ambiguous(span, message).with_hint("quote the braces, or write each word")
            );
        }
        Ok(())
    }

    /// Reads `for ((…; …; …)); do …`.
    fn arithmetic_for(&mut self, start: usize) -> ReadResult<CompoundKind> {
        let span = self.span(start, self.at);
        self.next()?;
        if !self.is_bash() || self.byte(0) != Some(b'(') {
            let message = "`for (` has a meaning in bash alone";
            return Err(UnreadableText::ambiguous(span, message));
        }
        self.at += 1;
        let mut header = self.arithmetic_until(b';', start)?;
        self.at += 1;
        header.tokens.extend(self.arithmetic_until(b';', start)?.tokens);
        self.at += 1;
        header.tokens.extend(self.arithmetic_parentheses(start)?.tokens);
        if !self.take(ShellOperator::Semicolon)? {
            self.line_ends()?;
        }
        self.line_ends()?;
        let body = self.loop_body()?;
        Ok(CompoundKind::ArithmeticFor { header, body })
    }

    fn case(&mut self, start: usize) -> ReadResult<CompoundKind> {
        let token = self.next()?;
        let LexedKind::Word(subject) = token.kind else {
            self.peeked = Some(token);
            return Err(self.unexpected()?);
        };
        self.line_ends()?;
        if self.peek_reserved()? != Some("in") {
            let span = self.span(start, self.at);
            return Err(UnreadableText::syntax(span, "`in` does not follow the word of this `case`"));
        }
        self.next()?;
        let mut arms = Vec::new();
        loop {
            self.line_ends()?;
            if self.peek_reserved()? == Some("esac") {
                self.next()?;
                return Ok(CompoundKind::Case { subject, arms });
            }
            let patterns = self.patterns()?;
            let body = self.list_or_nothing()?;
            arms.push(CaseArm { patterns, body });
            let is_ended = matches!(
                self.peek_operator()?,
                Some(
                    ShellOperator::DoubleSemicolon
                        | ShellOperator::SemicolonAnd
                        | ShellOperator::DoubleSemicolonAnd
                )
            );
            if !is_ended {
                self.expect_reserved("esac")?;
                return Ok(CompoundKind::Case { subject, arms });
            }
            self.next()?;
        }
    }

    /// Reads the patterns of an arm, with the parenthesis behind them.
    fn patterns(&mut self) -> ReadResult<Vec<WordNode>> {
        let has_parenthesis = self.take(ShellOperator::Open)?;
        let mut patterns = Vec::new();
        loop {
            let token = self.next()?;
            let span = self.span(token.start, token.end);
            let LexedKind::Word(word) = token.kind else {
                self.peeked = Some(token);
                return Err(self.unexpected()?);
            };
            if has_parenthesis && word.bare() == Some("esac") {
                return Err(UnreadableText::ambiguous(span, "`esac` as a pattern is read in different ways"));
            }
            patterns.push(word);
            if self.take(ShellOperator::Close)? {
                return Ok(patterns);
            }
            if !self.take(ShellOperator::Pipe)? {
                return Err(self.unexpected()?);
            }
        }
    }

    /// Reads a function whose name has been read.
    pub(crate) fn function(&mut self, node: &SimpleNode, start: usize) -> ReadResult<CommandNode> {
        let name = node.words.first().and_then(WordNode::bare).unwrap_or_default().to_owned();
        self.next()?;
        if !self.take(ShellOperator::Close)? {
            return Err(self.unexpected()?);
        }
        self.line_ends()?;
        let span = self.span(start, start + name.len());
        self.function_body(name, span)
    }

    /// Reads a function behind the word `function` of bash.
    fn function_word(&mut self, start: usize) -> ReadResult<CommandNode> {
        let token = self.next()?;
        let name = match &token.kind {
            LexedKind::Word(word) => word.bare().map(str::to_owned),
            _ => None,
        };
        let Some(name) = name else {
            let span = self.span(start, token.end);
            return Err(UnreadableText::syntax(span, "no name follows `function`"));
        };
        if self.take(ShellOperator::Open)? && !self.take(ShellOperator::Close)? {
            return Err(self.unexpected()?);
        }
        self.line_ends()?;
        let span = self.span(start, token.end);
        self.function_body(name, span)
    }

    fn function_body(&mut self, name: String, span: ShellSpan) -> ReadResult<CommandNode> {
        let is_plain = is_name(&name) || self.is_bash() && name.bytes().all(is_function_byte);
        if !is_plain {
            let message = format!("`{name}` is no name of a function in every shell");
            return Err(UnreadableText::ambiguous(span, message));
        }
        if is_protected(&name) && !(self.is_bash() && name == ":") {
            let message =
                format!("a function with the name of the builtin `{name}` changes what the text does");
            return Err(UnreadableText::unsupported(span, message).with_hint("rename the function"));
        }
        let begins = match &self.peek()?.kind {
            LexedKind::Operator(operator) => *operator == ShellOperator::Open,
            LexedKind::Word(word) => matches!(
                crate::grammar::reserved(word),
                Some("{" | "if" | "for" | "while" | "until" | "case" | "[[" | "select")
            ),
            _ => false,
        };
        if !begins {
            let message = "dash takes any command for the body of a function, and bash a construct";
            return Err(UnreadableText::ambiguous(span, message).with_hint("write `{ …; }`"));
        }
        let body = self.depth(span, |parser| {
            let token = parser.peek()?.clone();
            match &token.kind {
                LexedKind::Word(word) => match crate::grammar::reserved(word) {
                    Some(found) => parser.compound(found, token.start),
                    None => Err(parser.unexpected()?),
                },
                _ => parser.parentheses(token.start),
            }
        })?;
        Ok(CommandNode::Function(FunctionNode { name, body: Box::new(body), span }))
    }
}

fn is_function_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.:+@%,^".contains(&byte)
}
