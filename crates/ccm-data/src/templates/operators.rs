//! Insertion of checks into the expressions of a template.
//!
//! The parser follows the grammar of minijinja, without building a tree: it finds where operands begin and end. A text
//! that it can't read is not rendered.
//!
//! | Written | Compiled |
//! |---|---|
//! | `a < b`, `a == b`, `a in b` | `a\|__lt(b)`, `a\|__eq(b)`, `a\|__in(b)` |
//! | `a < b < c` | `a\|__compare('<',b,'<',c)` |
//! | `a * b`, `a + b`, `a ~ b` | `a\|__mul(b)`, `a\|__add(b)`, `a\|__join(b)` |
//! | `{% set a.b = c %}` | `{% set a.b = (c)\|__kept %}` |
//! | a long text between tags | the same, with `{{__literal(…)}}` in it |
//! | `a[1:]` | `(a\|__slice)[1:]` |
//! | `x if a`, `a and b`, `not a`, `{% if a %}` | `a\|__truth` in place of `a` |
//! | `{% for x in a %}` | `{% for x in a\|__iter %}` |

use std::borrow::Cow;
use std::ops::Range;

use super::checked_source::SourceEdit;
use super::error::TemplateFault;
use super::scan::{Literal, Scan, TagToken, TagTokens, TemplateTag};

/// Construct that ccm refuses because its text would differ from that of Jinja2.
#[derive(Debug)]
pub(super) struct RefusedTag {
    pub(super) range: Range<usize>,
    pub(super) fault: TemplateFault,
    pub(super) hint: Cow<'static, str>,
}

/// Reason for which a template has no checks.
#[derive(Debug)]
pub(super) enum OperatorError {
    Refused(RefusedTag),
    /// The text is no template.
    Unreadable,
}

/// Returns the edits that add checks to a template; `offset` is the start of the scanned text.
pub(super) fn checks(scan: &Scan<'_>, offset: usize) -> Result<Vec<SourceEdit>, OperatorError> {
    if !scan.complete {
        return Err(OperatorError::Unreadable);
    }
    let mut edits = Vec::new();
    for tag in scan.tags() {
        let (TemplateTag::Expression(tokens) | TemplateTag::Statement(tokens)) = tag;
        let mut parser = TagParser { tokens, at: 0, nesting: 0, edits };
        let read = match tag {
            TemplateTag::Expression(_) => parser.expressions(),
            TemplateTag::Statement(_) => parser.statement()?,
        };
        if read.is_none() || parser.at < tokens.len() {
            return Err(OperatorError::Unreadable);
        }
        edits = parser.edits;
    }
    edits.extend(scan.literals.iter().filter_map(|literal| literal.count(scan.text)));
    edits.sort_by_key(|edit| edit.replaced.start);
    if offset > 0 {
        for edit in &mut edits {
            shift(&mut edit.replaced, offset);
            edit.expression.iter_mut().for_each(|range| shift(range, offset));
        }
    }
    Ok(edits)
}

impl Literal {
    /// Returns the edit that counts a long text each time it is written. `trim_blocks`, `lstrip_blocks` and `-` remove blanks
    /// at both ends of the text, so that the new tag stands between letters.
    fn count(&self, text: &str) -> Option<SourceEdit> {
        let length = self.range.len();
        if length <= LONG_LITERAL {
            return None;
        }
        let written = &text[self.range.clone()];
        let last = written.trim_end().char_indices().next_back()?.0;
        let is_begin = |letter: char| matches!(letter, '{' | '}' | '%' | '#');
        let mut letters = written.char_indices().peekable();
        let at = loop {
            let (_, letter) = letters.next()?;
            let (at, next) = *letters.peek()?;
            if at > last {
                return None;
            }
            if !letter.is_whitespace() && !matches!(next, '\n' | '\r') && !is_begin(letter) && !is_begin(next)
            {
                break self.range.start + at;
            }
        };
        let count = if self.is_raw {
            format!("{{% endraw %}}{{{{__literal({length})}}}}{{% raw %}}")
        } else {
            format!("{{{{__literal({length})}}}}")
        };
        Some(SourceEdit { replaced: at..at, with: count.into(), expression: None })
    }
}

fn shift(range: &mut Range<usize>, offset: usize) {
    *range = range.start + offset..range.end + offset;
}

/// Operand that was read.
#[derive(Clone, Copy)]
struct Operand {
    start: usize,
    end: usize,
    /// Number of edits before the operand.
    edits: usize,
    shape: OperandShape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OperandShape {
    /// A filter can follow and applies to the whole operand.
    Chain,
    /// A chain whose value is a boolean.
    Test,
    /// Operators without brackets around them.
    Compound,
    /// `not` before an operand that has its check.
    Negation,
}

/// Length of a text between tags that is not counted.
const LONG_LITERAL: usize = 256;

/// Maximum nesting of brackets. minijinja supports fewer.
const MAX_NESTING: usize = 200;

struct TagParser<'t, 'text> {
    tokens: TagTokens<'t, 'text>,
    at: usize,
    /// Number of open brackets.
    nesting: usize,
    edits: Vec<SourceEdit>,
}

impl<'text> TagParser<'_, 'text> {
    fn peek(&self) -> Option<TagToken<'text>> {
        self.tokens.get(self.at).copied()
    }

    fn is_name(&self, name: &str) -> bool {
        self.peek() == Some(TagToken::Name(name))
    }

    fn skip_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        self.at += usize::from(found);
        found
    }

    fn skip_symbol(&mut self, symbol: u8) -> bool {
        let found = self.peek() == Some(TagToken::Symbol(symbol));
        self.at += usize::from(found);
        found
    }

    /// Returns the operator at the current token, and its number of tokens.
    fn operator(&self) -> Option<(&'static str, usize)> {
        let symbol = match self.peek()? {
            TagToken::Symbol(symbol) => symbol,
            TagToken::Name("in") => return Some(("in", 1)),
            TagToken::Name("not") => return Some(("not in", 2)),
            _ => return None,
        };
        let adjacent = self.tokens.ranges.get(self.at + 1);
        let adjacent = adjacent.is_some_and(|next| next.start == self.tokens.ranges[self.at].end);
        let next = match self.tokens.get(self.at + 1) {
            Some(TagToken::Symbol(next)) if adjacent => *next,
            _ => 0,
        };
        Some(match (symbol, next) {
            (b'=', b'=') => ("==", 2),
            (b'!', b'=') => ("!=", 2),
            (b'<', b'=') => ("<=", 2),
            (b'>', b'=') => (">=", 2),
            (b'*', b'*') => ("**", 2),
            (b'/', b'/') => ("//", 2),
            (b'<', _) => ("<", 1),
            (b'>', _) => (">", 1),
            (b'+', _) => ("+", 1),
            (b'-', _) => ("-", 1),
            (b'~', _) => ("~", 1),
            (b'*', _) => ("*", 1),
            (b'/', _) => ("/", 1),
            (b'%', _) => ("%", 1),
            _ => return None,
        })
    }

    fn edit(&mut self, replaced: Range<usize>, with: impl Into<Cow<'static, str>>) {
        self.edits.push(SourceEdit { replaced, with: with.into(), expression: None });
    }

    fn start(&self) -> usize {
        self.tokens.ranges.get(self.at).map_or(0, |range| range.start)
    }

    fn end(&self) -> usize {
        self.at.checked_sub(1).and_then(|last| self.tokens.ranges.get(last)).map_or(0, |range| range.end)
    }

    fn operand(&self, start: usize, edits: usize, shape: OperandShape) -> Operand {
        Operand { start, end: self.end(), edits, shape }
    }

    /// Makes an operand one to which a filter can be applied.
    fn bracketed(&mut self, operand: Operand) {
        if matches!(operand.shape, OperandShape::Compound | OperandShape::Negation) {
            let start = operand.start..operand.start;
            let open = SourceEdit { replaced: start, with: "(".into(), expression: None };
            self.edits.insert(operand.edits, open);
            self.edit(operand.end..operand.end, ")");
        }
    }

    fn check(&mut self, operand: Operand, filter: &'static str) {
        self.bracketed(operand);
        let expression = Some(operand.start..operand.end);
        self.edits.push(SourceEdit { replaced: operand.end..operand.end, with: filter.into(), expression });
    }

    fn check_truth(&mut self, operand: Operand) {
        if matches!(operand.shape, OperandShape::Chain | OperandShape::Compound) {
            self.check(operand, "|__truth");
        }
    }

    /// Reads expressions that commas or other signs separate.
    fn expressions(&mut self) -> Option<()> {
        while let Some(token) = self.peek() {
            match token {
                TagToken::Symbol(b',' | b'=' | b'|') => self.at += 1,
                _ => self.expression(false)?,
            }
        }
        Some(())
    }

    /// Reads an expression; `tested` if its value is a condition.
    fn expression(&mut self, tested: bool) -> Option<()> {
        self.disjunction(tested)?;
        while self.skip_name("if") {
            self.disjunction(true)?;
            if self.skip_name("else") {
                self.expression(tested)?;
            }
        }
        Some(())
    }

    fn disjunction(&mut self, tested: bool) -> Option<Operand> {
        let (start, edits) = (self.start(), self.edits.len());
        let mut last = self.negation()?;
        let mut single = true;
        while matches!(self.peek(), Some(TagToken::Name("or" | "and"))) {
            // `{{ a or b }}` replaces an empty text, and is no condition.
            if tested || self.is_name("and") {
                self.check_truth(last);
            }
            single = false;
            self.at += 1;
            last = self.negation()?;
        }
        if tested {
            self.check_truth(last);
        }
        Some(if single { last } else { self.operand(start, edits, OperandShape::Compound) })
    }

    fn negation(&mut self) -> Option<Operand> {
        let (start, edits) = (self.start(), self.edits.len());
        if !self.skip_name("not") {
            return self.comparison();
        }
        let operand = self.negation()?;
        self.check_truth(operand);
        Some(self.operand(start, edits, OperandShape::Negation))
    }

    fn comparison(&mut self) -> Option<Operand> {
        let left = self.binary(0)?;
        let Some((first, length)) = self.comparison_operator() else { return Some(left) };
        self.bracketed(left);
        let first_edit = self.edits.len();
        let replaced = self.start()..self.tokens.ranges.get(self.at + length - 1)?.end;
        self.edit(replaced, format!("|{}(", filter_of(first)));
        self.at += length;
        self.binary(0)?;
        let mut chained = false;
        while let Some((operator, length)) = self.comparison_operator() {
            chained = true;
            let replaced = self.start()..self.tokens.ranges.get(self.at + length - 1)?.end;
            self.edit(replaced, format!(",'{operator}',"));
            self.at += length;
            self.binary(0)?;
        }
        if chained {
            self.edits[first_edit].with = format!("|__compare('{first}',").into();
        }
        let end = self.end();
        self.edits[first_edit].expression = Some(left.start..end);
        self.edit(end..end, ")");
        Some(Operand { end, shape: OperandShape::Test, ..left })
    }

    fn comparison_operator(&self) -> Option<(&'static str, usize)> {
        self.operator().filter(|(operator, _)| {
            matches!(*operator, "==" | "!=" | "<" | "<=" | ">" | ">=" | "in")
                || *operator == "not in" && self.tokens.get(self.at + 1) == Some(&TagToken::Name("in"))
        })
    }

    /// Reads operators of a level and of those that bind more strongly.
    fn binary(&mut self, level: usize) -> Option<Operand> {
        let mut left = self.unary()?;
        while let Some((operator, length)) = self.operator() {
            let binds = match operator {
                "+" | "-" => 0,
                "~" => 1,
                "*" | "/" | "//" | "%" => 2,
                "**" => 3,
                _ => break,
            };
            if binds < level {
                break;
            }
            if matches!(operator, "*" | "~" | "+") {
                self.bracketed(left);
                let first_edit = self.edits.len();
                let sign = self.tokens.ranges[self.at].clone();
                self.at += length;
                self.edit(
                    sign,
                    match operator {
                        "*" => "|__mul(",
                        "+" => "|__add(",
                        _ => "|__join(",
                    },
                );
                self.binary(binds + 1)?;
                let end = self.end();
                self.edits[first_edit].expression = Some(left.start..end);
                self.edit(end..end, ")");
                left = Operand { end, shape: OperandShape::Chain, ..left };
            } else {
                self.at += length;
                self.binary(binds + 1)?;
                left = self.operand(left.start, left.edits, OperandShape::Compound);
            }
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<Operand> {
        let (start, edits) = (self.start(), self.edits.len());
        self.signed()?;
        let mut shape = OperandShape::Chain;
        loop {
            if self.skip_symbol(b'|') {
                self.filter_name()?;
                if self.peek() == Some(TagToken::Symbol(b'(')) {
                    self.group()?;
                }
                shape = OperandShape::Chain;
            } else if self.skip_name("is") {
                self.test()?;
                shape = OperandShape::Test;
            } else {
                return Some(self.operand(start, edits, shape));
            }
        }
    }

    fn test(&mut self) -> Option<()> {
        self.skip_name("not");
        self.filter_name()?;
        match self.peek() {
            Some(TagToken::Symbol(b'(')) => self.group(),
            Some(TagToken::Name("and" | "or" | "else" | "is")) => Some(()),
            Some(
                TagToken::Name(_)
                | TagToken::Text(_)
                | TagToken::Number
                | TagToken::Symbol(b'-' | b'[' | b'{'),
            ) => self.signed(),
            _ => Some(()),
        }
    }

    fn filter_name(&mut self) -> Option<()> {
        loop {
            let Some(TagToken::Name(_)) = self.peek() else { return None };
            self.at += 1;
            if !self.skip_symbol(b'.') {
                return Some(());
            }
        }
    }

    /// Reads an operand with its signs, members and calls.
    fn signed(&mut self) -> Option<()> {
        while self.skip_symbol(b'-') {}
        let (start, edits) = (self.start(), self.edits.len());
        match self.peek()? {
            // Within brackets, `not` would be an operator.
            TagToken::Name("not") => return None,
            TagToken::Name(_) | TagToken::Number => self.at += 1,
            TagToken::Text(_) => {
                while let Some(TagToken::Text(_)) = self.peek() {
                    self.at += 1;
                }
            }
            TagToken::Symbol(b'(' | b'[' | b'{') => self.group()?,
            TagToken::Symbol(_) => return None,
        }
        loop {
            match self.peek() {
                Some(TagToken::Symbol(b'.')) => {
                    self.at += 1;
                    let Some(TagToken::Name(_) | TagToken::Number) = self.peek() else { return None };
                    self.at += 1;
                }
                Some(TagToken::Symbol(b'(')) => self.group()?,
                Some(TagToken::Symbol(b'[')) => {
                    let (end, before) = (self.end(), self.edits.len());
                    let first = self.at;
                    self.group()?;
                    if self.is_slice(first) {
                        let check = SourceEdit {
                            replaced: end..end,
                            with: "|__slice)".into(),
                            expression: Some(start..end),
                        };
                        self.edits.insert(before, check);
                        let open = SourceEdit { replaced: start..start, with: "(".into(), expression: None };
                        self.edits.insert(edits, open);
                    }
                }
                _ => return Some(()),
            }
        }
    }

    /// Returns `true` if the bracket at a token, whose content was read, has a colon of its own.
    fn is_slice(&self, bracket: usize) -> bool {
        let mut depth = 0_usize;
        self.tokens[bracket..self.at].iter().any(|token| {
            match token {
                TagToken::Symbol(b'(' | b'[' | b'{') => depth += 1,
                TagToken::Symbol(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                TagToken::Symbol(b':') => return depth == 1,
                _ => {}
            }
            false
        })
    }

    /// Reads brackets with arguments, elements, entries or a slice.
    fn group(&mut self) -> Option<()> {
        let close = match self.peek()? {
            TagToken::Symbol(b'(') => b')',
            TagToken::Symbol(b'[') => b']',
            _ => b'}',
        };
        self.at += 1;
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return None;
        }
        loop {
            // `*list` and `**map` as arguments.
            while self.skip_symbol(b'*') {}
            match self.peek()? {
                TagToken::Symbol(symbol) if symbol == close => {
                    self.at += 1;
                    self.nesting -= 1;
                    return Some(());
                }
                TagToken::Symbol(b',' | b':' | b'=') => self.at += 1,
                _ => self.expression(false)?,
            }
        }
    }

    /// Reads a statement; `Ok(None)` if it is none.
    fn statement(&mut self) -> Result<Option<()>, OperatorError> {
        let Some(TagToken::Name(keyword)) = self.peek() else { return Ok(None) };
        self.at += 1;
        Ok(match keyword {
            "if" | "elif" => self.expression(true),
            "for" => self.for_loop(),
            "set" => self.assignment(),
            "with" => return self.with_block(),
            "autoescape" if !matches!(self.peek(), Some(TagToken::Name("false" | "False"))) => {
                let range = self.tokens.ranges[0].start..self.tokens.ranges.last().map_or(0, |last| last.end);
                let message = "`autoescape` has no effect: ccm escapes nothing".to_owned();
                return Err(OperatorError::Refused(RefusedTag {
                    range,
                    fault: TemplateFault::Operation(message),
                    hint: "write `value | escape` where HTML is meant".into(),
                }));
            }
            _ => self.expressions(),
        })
    }

    fn for_loop(&mut self) -> Option<()> {
        let mut check = "|__iter";
        while !self.is_name("in") {
            if self.peek()? == TagToken::Symbol(b',') {
                check = "|__iter_pairs";
            }
            self.at += 1;
        }
        self.at += 1;
        let list = self.disjunction(false)?;
        self.check(list, check);
        if self.skip_name("if") {
            self.expression(true)?;
        }
        self.skip_name("recursive");
        Some(())
    }

    /// Skips the names that a statement assigns to.
    fn skip_target(&mut self) {
        while !matches!(self.peek(), None | Some(TagToken::Symbol(b'=' | b'|'))) {
            self.at += 1;
        }
    }

    fn assignment(&mut self) -> Option<()> {
        let target = self.at;
        self.skip_target();
        let is_kept = self.tokens[target..self.at].contains(&TagToken::Symbol(b'.'));
        if !is_kept || !self.skip_symbol(b'=') {
            return self.expressions();
        }
        // The value may be several values without brackets around them.
        let start = self.start();
        self.edit(start..start, "(");
        self.expressions()?;
        let end = self.end();
        self.edits.push(SourceEdit {
            replaced: end..end,
            with: ")|__kept".into(),
            expression: Some(start..end),
        });
        Some(())
    }

    /// Reads `with`, whose values see the names from outside in Jinja2, and those before them in minijinja.
    fn with_block(&mut self) -> Result<Option<()>, OperatorError> {
        let mut names = Vec::new();
        while self.peek().is_some() {
            let target = self.at;
            self.skip_target();
            let assigned = &self.tokens[target..self.at];
            let new_names = assigned.iter().filter_map(|token| match token {
                TagToken::Name(name) => Some(*name),
                _ => None,
            });
            let new_names: Vec<&str> = new_names.collect();
            if !self.skip_symbol(b'=') {
                return Ok(None);
            }
            let value = self.at;
            if self.expression(false).is_none() {
                return Ok(None);
            }
            for index in value..self.at {
                let TagToken::Name(name) = self.tokens[index] else { continue };
                let is_member = matches!(self.tokens[index - 1], TagToken::Symbol(b'.' | b'|'));
                if !is_member && names.contains(&name) {
                    let message = format!("`{name}` is assigned by this `with` and used in the same `with`");
                    return Err(OperatorError::Refused(RefusedTag {
                        range: self.tokens.ranges[index].clone(),
                        fault: TemplateFault::Operation(message),
                        hint: "assign it with `{% set … %}` before, or in a `{% with … %}` around this one"
                            .into(),
                    }));
                }
            }
            names.extend(new_names);
            self.skip_symbol(b',');
        }
        Ok(Some(()))
    }
}

fn filter_of(operator: &str) -> &'static str {
    match operator {
        "==" => "__eq",
        "!=" => "__ne",
        "<" => "__lt",
        "<=" => "__le",
        ">" => "__gt",
        ">=" => "__ge",
        "in" => "__in",
        _ => "__not_in",
    }
}
