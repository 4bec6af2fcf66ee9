//! Arithmetic: the names and expansions of an expression, which is not computed.

use crate::dialect::is_name_start;
use crate::lexer::TextParser;
use crate::tree::{ArithmeticNode, ArithmeticToken, WordNode, WordPart};
use crate::unreadable::{ReadResult, UnreadableText};

/// Operators of both shells, the longest first.
const OPERATORS: [&str; 33] = [
    "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "+", "-", "*", "/", "%", "<", ">", "!", "~", "&", "|", "^", "?", ":", "=",
];

/// Operators of bash alone. Behind dash, `--x` is `x`.
const BASH_OPERATORS: [&str; 4] = ["++", "--", "**", ","];

/// Operators that assign to the name before.
const ASSIGNMENTS: [&str; 13] =
    ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"];

impl TextParser<'_, '_> {
    /// Reads `$((…))`.
    pub(crate) fn arithmetic_expansion(&mut self, word: &mut WordNode) -> ReadResult<()> {
        let start = self.at;
        self.at += 3;
        let node = self.arithmetic_parentheses(start)?;
        self.push(word, WordPart::Arithmetic(node.into()))
    }

    /// Reads an expression up to `))`.
    pub(crate) fn arithmetic_parentheses(&mut self, start: usize) -> ReadResult<ArithmeticNode> {
        let mut node = self.arithmetic_until(b')', start)?;
        if self.byte(1) != Some(b')') {
            let span = self.span_with_next(start);
            let message = "these parentheses are arithmetic or commands";
            return Err(UnreadableText::ambiguous(span, message)
                .with_hint("put a blank between the parentheses of commands"));
        }
        self.at += 2;
        node.span = self.span(start, self.at);
        Ok(node)
    }

    /// Reads an expression up to a byte outside its parentheses, which is not taken. The construct around
    /// the expression begins at `open`.
    pub(crate) fn arithmetic_until(&mut self, end: u8, open: usize) -> ReadResult<ArithmeticNode> {
        let start = self.at;
        let span = self.span(start, start);
        self.depth(span, |parser| parser.arithmetic_tokens(end, open))
    }

    fn arithmetic_tokens(&mut self, end: u8, open: usize) -> ReadResult<ArithmeticNode> {
        let start = self.at;
        let mut node = ArithmeticNode::default();
        let mut parentheses = 0_u32;
        // An operator `++` or `--` before a name assigns as well.
        let mut assigns_next = false;
        let mut follows_name = false;
        loop {
            self.budget.steps(1, self.span(self.at, self.at))?;
            let Some(byte) = self.byte(0) else {
                let message = "this arithmetic expression is not closed";
                return Err(UnreadableText::syntax(self.span(open, (open + 2).min(self.at)), message));
            };
            if !matches!(byte, b' ' | b'\t' | b'\n') && !is_operator(byte) {
                follows_name = is_name_start(byte);
            }
            match byte {
                byte if byte == end && parentheses == 0 => break,
                b'(' => {
                    parentheses += 1;
                    self.at += 1;
                }
                b')' if parentheses > 0 => {
                    parentheses -= 1;
                    self.at += 1;
                }
                b'0'..=b'9' => self.number()?,
                b'$' => self.arithmetic_value(&mut node)?,
                byte if is_name_start(byte) => {
                    let name = self.name();
                    self.budget.node(self.span(start, self.at))?;
                    let is_assigned = std::mem::take(&mut assigns_next);
                    if self.is_value && self.byte(0) == Some(b'[') {
                        self.subscript(&mut node)?;
                    }
                    node.tokens.push(ArithmeticToken::Name { name, is_read: true, is_assigned });
                    self.ends_operand()?;
                }
                b' ' | b'\t' | b'\n' => self.at += 1,
                _ => {
                    assigns_next = self.arithmetic_operator(&mut node, follows_name)?;
                    follows_name = false;
                }
            }
        }
        node.span = self.span(start, self.at);
        Ok(node)
    }

    /// Reads a subscript, an expression in which bash runs substitutions.
    fn subscript(&mut self, node: &mut ArithmeticNode) -> ReadResult<()> {
        let open = self.at;
        self.at += 1;
        let subscript = self.arithmetic_until(b']', open)?;
        self.at += 1;
        node.tokens.extend(subscript.tokens);
        // The variable itself may stay as it was.
        node.is_conditional = true;
        Ok(())
    }

    fn number(&mut self) -> ReadResult<()> {
        let start = self.at;
        let length = self.rest().bytes().take_while(u8::is_ascii_alphanumeric).count();
        let digits = self.rest().get(..length).unwrap_or_default();
        self.at += length;
        let hexadecimal = digits.strip_prefix("0x").or(digits.strip_prefix("0X"));
        let is_valid = match hexadecimal {
            Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
            None => digits.bytes().all(|byte| byte.is_ascii_digit()),
        };
        if is_valid && !matches!(self.byte(0), Some(b'_')) {
            return self.ends_operand();
        }
        let message = "this number can't be read here";
        Err(UnreadableText::unsupported(self.span(start, self.at), message))
    }

    /// Reads an expansion within an expression.
    fn arithmetic_value(&mut self, node: &mut ArithmeticNode) -> ReadResult<()> {
        let start = self.at;
        if matches!(self.byte(1), Some(b'\'' | b'"')) {
            return Err(self.not_arithmetic());
        }
        let mut word = WordNode::default();
        self.dollar(&mut word, true)?;
        for part in word.parts {
            if matches!(part, WordPart::Quoted(_)) {
                self.at = start;
                return Err(self.not_arithmetic());
            }
            node.tokens.push(ArithmeticToken::Expansion(part));
        }
        self.ends_operand()
    }

    /// Refuses a name, number or expansion directly behind another, which would be joined with it.
    fn ends_operand(&self) -> ReadResult<()> {
        match self.byte(0) {
            Some(byte) if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | b'[') => {
                Err(self.not_arithmetic())
            }
            _ => Ok(()),
        }
    }

    fn arithmetic_operator(&mut self, node: &mut ArithmeticNode, follows_name: bool) -> ReadResult<bool> {
        let rest = self.rest();
        let of_bash = BASH_OPERATORS.iter().find(|operator| rest.starts_with(**operator));
        if let Some(operator) = of_bash.filter(|_| !self.is_bash()) {
            let message = format!("`{operator}` in arithmetic has a meaning in bash alone");
            let span = self.span(self.at, self.at + operator.len());
            let error = UnreadableText::ambiguous(span, message);
            return Err(error.with_hint("write `x=$((x + 1))` in place of `x++`, and blanks between signs"));
        }
        let found = of_bash.or_else(|| OPERATORS.iter().find(|operator| rest.starts_with(**operator)));
        let Some(operator) = found else {
            return Err(self.not_arithmetic());
        };
        self.at += operator.len();
        let is_step = matches!(*operator, "++" | "--");
        node.is_conditional |= matches!(*operator, "&&" | "||" | "?");
        if !ASSIGNMENTS.contains(operator) {
            return Ok(false);
        }
        match node.tokens.last_mut().filter(|_| follows_name) {
            Some(ArithmeticToken::Name { is_assigned, is_read, .. }) => {
                *is_assigned = true;
                *is_read = *operator != "=";
            }
            _ if is_step => {}
            _ => return Err(self.not_arithmetic()),
        }
        Ok(is_step)
    }

    fn not_arithmetic(&self) -> Box<UnreadableText> {
        let span = self.span_with_next(self.at);
        let shown = self.character().map_or_else(String::new, |found| format!("`{found}` "));
        UnreadableText::unsupported(span, format!("{shown}in arithmetic can't be read here"))
            .with_hint("keep to numbers, names and operators")
    }
}

fn is_operator(byte: u8) -> bool {
    b"<>=!&|+-*/%^~?:,".contains(&byte)
}
