//! Expressions in a text, as distinct from shell syntax.
//!
//! - `{{ … }}` and `${ … }` are expressions.
//! - A backslash before `${` escapes it.
//! - In shell text, a POSIX parameter expansion belongs to the shell, unless it is a reserved name of expressions.
//! - `$NAME`, `$(…)` and `$$` have no meaning here.

mod shell;

use std::ops::Range;

use shell::{end_of_expansion, name_beyond_posix, parameter_expansion};

/// Reserved names: `${Facts}` is an expression even in shell text.
const RESERVED: [&str; 4] = ["Facts", "Data", "Environ", "Captures"];

/// Names that are reserved in shell text only if the text belongs to an item of a `foreach`.
const OF_ITEM: [&str; 2] = ["Item", "Index"];

/// Maximum number of reported occurrences per text, because more would only repeat the message.
const MAX_OCCURRENCES: usize = 20;

/// Result of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// No expressions and no escapes.
    Literal,
    /// Escapes only; the field is the unescaped text.
    Unescaped(String),
    /// At least one expression, or the start of one.
    Expressions(Vec<Occurrence>),
}

/// Text split into parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitText {
    /// No expressions and no escapes.
    Literal,
    /// Parts in order, without gaps.
    Parts(Vec<TextPart>),
    /// Syntax errors, at least one.
    Errors(Vec<Occurrence>),
}

/// Part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// Literal text, never empty. Escapes are resolved, except in shell text.
    Literal(String),
    /// Expression.
    Expression {
        /// Bytes between the braces.
        inner: Range<usize>,
        /// Bytes with the braces.
        whole: Range<usize>,
    },
}

/// Occurrence of an expression or of a syntax error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// Kind.
    pub kind: OccurrenceKind,
}

/// Kind of an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OccurrenceKind {
    /// Expression.
    Expression,
    /// Expression with an open quote or bracket, whose end is a guess. Reported only by [`split`]; [`scan`]
    /// reports an expression.
    OpenQuote,
    /// Parameter expansion in a text that no shell reads.
    ShellParameter,
    /// Expansion that not every shell supports, in a text for `/bin/sh`.
    NotPosix,
    /// `{{` without `}}`.
    OpenBraces,
    /// `${` without `}`.
    OpenDollar,
}

/// Returns `true` if a text may hold expressions; most texts hold no brace at all.
pub fn may_hold_any(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'{', bytes).any(|at| at > 0 && matches!(bytes[at - 1], b'$' | b'{'))
}

/// Finds at most twenty expressions in a text; `for_shell` marks shell text.
pub fn scan(text: &str, for_shell: bool) -> Scanned {
    if !may_hold_any(text) {
        return Scanned::Literal;
    }
    let ScanResult { mut occurrences, escapes } =
        ExpressionScanner::new(text, for_shell, false, MAX_OCCURRENCES).run();
    if !occurrences.is_empty() {
        for occurrence in &mut occurrences {
            if occurrence.kind == OccurrenceKind::OpenQuote {
                occurrence.kind = OccurrenceKind::Expression;
            }
        }
        return Scanned::Expressions(occurrences);
    }
    if escapes.is_empty() {
        Scanned::Literal
    } else {
        Scanned::Unescaped(without_escapes(text, 0..text.len(), &escapes))
    }
}

/// Splits a text; `for_shell` marks shell text.
pub fn split(text: &str, for_shell: bool) -> SplitText {
    split_scanned(text, ExpressionScanner::new(text, for_shell, false, usize::MAX))
}

/// Splits a text as [`split`] does. `${Item}` and `${Index}` are expressions in shell text as well.
pub fn split_of_item(text: &str, for_shell: bool) -> SplitText {
    split_scanned(text, ExpressionScanner::new(text, for_shell, true, usize::MAX))
}

fn split_scanned(text: &str, scanner: ExpressionScanner<'_>) -> SplitText {
    if !may_hold_any(text) {
        return SplitText::Literal;
    }
    let ScanResult { occurrences, escapes } = scanner.run();
    let is_error = |occurrence: &&Occurrence| occurrence.kind != OccurrenceKind::Expression;
    let errors: Vec<Occurrence> =
        occurrences.iter().filter(is_error).take(MAX_OCCURRENCES).cloned().collect();
    if !errors.is_empty() {
        return SplitText::Errors(errors);
    }
    if occurrences.is_empty() && escapes.is_empty() {
        return SplitText::Literal;
    }
    let mut parts = Vec::with_capacity(occurrences.len() * 2 + 1);
    let mut escapes = escapes.as_slice();
    let mut at = 0;
    let mut literal = |range: Range<usize>, parts: &mut Vec<TextPart>| {
        let within = escapes.partition_point(|escape| *escape < range.end);
        if !range.is_empty() {
            parts.push(TextPart::Literal(without_escapes(text, range, &escapes[..within])));
        }
        escapes = &escapes[within..];
    };
    for Occurrence { range, .. } in occurrences {
        literal(at..range.start, &mut parts);
        at = range.end;
        // An expression starts with two bytes and ends with one or two.
        let closer = if text[range.clone()].starts_with('$') { 1 } else { 2 };
        parts.push(TextPart::Expression { inner: range.start + 2..range.end - closer, whole: range });
    }
    literal(at..text.len(), &mut parts);
    SplitText::Parts(parts)
}

/// Returns the expression if a text has nothing around it, not even blanks.
pub fn lone(parts: &[TextPart]) -> Option<Range<usize>> {
    match parts {
        [TextPart::Expression { inner, .. }] => Some(inner.clone()),
        _ => None,
    }
}

/// Returns a range of the text without the bytes at `escapes`.
fn without_escapes(text: &str, range: Range<usize>, escapes: &[usize]) -> String {
    let mut unescaped = String::with_capacity(range.len());
    let mut copied = range.start;
    for escape in escapes {
        unescaped.push_str(&text[copied..*escape]);
        copied = escape + 1;
    }
    unescaped.push_str(&text[copied..range.end]);
    unescaped
}

struct ScanResult {
    occurrences: Vec<Occurrence>,
    /// Offsets of backslashes that escape.
    escapes: Vec<usize>,
}

struct ExpressionScanner<'a> {
    text: &'a str,
    for_shell: bool,
    is_of_item: bool,
    limit: usize,
    at: usize,
    /// Starts of open shell expansions. A list instead of recursion, because nesting is unlimited.
    open: Vec<usize>,
    found: ScanResult,
}

impl<'a> ExpressionScanner<'a> {
    fn new(text: &'a str, for_shell: bool, is_of_item: bool, limit: usize) -> Self {
        let found = ScanResult { occurrences: Vec::new(), escapes: Vec::new() };
        Self { text, for_shell, is_of_item, limit, at: 0, open: Vec::new(), found }
    }

    fn run(mut self) -> ScanResult {
        while self.at < self.text.len() && self.found.occurrences.len() < self.limit {
            match self.text.as_bytes()[self.at..] {
                [b'\\', b'$', b'{', ..] => self.escape(),
                [b'$', b'$', ..] => self.at += 2,
                [b'$', b'{', ..] => self.dollar(),
                [b'{', b'{', ..] => self.expression("}}"),
                [b'}', ..] => {
                    self.open.pop();
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        let open = self
            .open
            .iter()
            .map(|start| Occurrence { range: *start..*start + 2, kind: OccurrenceKind::OpenDollar });
        self.found.occurrences.extend(open.take(MAX_OCCURRENCES));
        // Open expansions are added at the end.
        self.found.occurrences.sort_by_key(|occurrence| occurrence.range.start);
        self.found
    }

    fn escape(&mut self) {
        if !self.for_shell {
            self.found.escapes.push(self.at);
        }
        self.at += 3;
    }

    fn is_reserved(&self, name: &str) -> bool {
        RESERVED.contains(&name) || ((self.is_of_item || !self.for_shell) && OF_ITEM.contains(&name))
    }

    fn dollar(&mut self) {
        let inner = &self.text[self.at + 2..];
        let parameter = parameter_expansion(inner).filter(|parameter| !self.is_reserved(parameter.name));
        match parameter {
            // The rest of the expansion may hold expressions and expansions.
            Some(parameter) if self.for_shell => {
                self.open.push(self.at);
                self.at += 2 + parameter.head;
            }
            Some(_) => match end_of_expansion(inner) {
                Some(end) => self.found(self.at + 2 + end, OccurrenceKind::ShellParameter),
                None => self.unclosed(OccurrenceKind::OpenDollar),
            },
            None => self.expression("}"),
        }
    }

    fn expression(&mut self, closer: &str) {
        let start = self.at + 2;
        let inner = &self.text[start..];
        let dollar = closer == "}";
        let is_not_posix =
            dollar && self.for_shell && name_beyond_posix(inner).is_some_and(|name| !self.is_reserved(name));
        let kind = |otherwise| if is_not_posix { OccurrenceKind::NotPosix } else { otherwise };
        if let Some(end) = end_of_expression(inner, closer) {
            self.found(start + end, kind(OccurrenceKind::Expression));
        } else if let Some(end) = inner.find(closer) {
            // The end is a guess, and guessing again after it could take quadratic time.
            self.found(start + end + closer.len(), kind(OccurrenceKind::OpenQuote));
            self.at = self.text.len();
        } else {
            self.unclosed(if dollar { OccurrenceKind::OpenDollar } else { OccurrenceKind::OpenBraces });
        }
    }

    fn found(&mut self, end: usize, kind: OccurrenceKind) {
        self.found.occurrences.push(Occurrence { range: self.at..end, kind });
        self.at = end;
    }

    /// Records the start of an expression without an end; the rest of the text belongs to it.
    fn unclosed(&mut self, kind: OccurrenceKind) {
        self.found.occurrences.push(Occurrence { range: self.at..self.at + 2, kind });
        self.at = self.text.len();
    }
}

/// Returns the end of an expression: after the first closer outside quotes and inner braces.
fn end_of_expression(inner: &str, closer: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'' | b'`') => {
                at += 1;
                while *bytes.get(at)? != quote {
                    at += if bytes[at] == b'\\' && quote != b'`' { 2 } else { 1 };
                }
            }
            b'{' => depth += 1,
            b'}' if depth > 0 => depth -= 1,
            b'}' if bytes[at..].starts_with(closer.as_bytes()) => return Some(at + closer.len()),
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests;
