//! Finds expressions in a text, and tells them from what a shell keeps for itself.
//!
//! Pure text in, places out; what they yield is for whoever evaluates them.
//!
//! - `{{ … }}` and `${ … }` are expressions.
//! - A backslash before `${` takes its meaning away.
//! - Where a shell reads the text, a POSIX parameter expansion is the shell's, unless its name is one of the
//!   names that expressions know.
//! - `$NAME`, `$(…)` and `$$` mean nothing here.

mod shell;

use std::ops::Range;

use shell::{end_of_expansion, is_only_some_shells, parameter_expansion};

/// The names that expressions know; `${Facts}` is theirs even in a shell's text.
const RESERVED: [&str; 4] = ["Facts", "Data", "Environ", "Captures"];

/// How many places of one text are named: a text full of them would say the same over and over.
const MOST_PLACES: usize = 20;

/// What was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scanned {
    /// Nothing: the text means itself.
    Literal,
    /// Nothing but escapes; here is the text without them.
    Unescaped(String),
    /// At least one expression, or the beginning of one.
    Expressions(Vec<Place>),
}

/// A text taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Split {
    /// Nothing was found: the text means itself.
    Literal,
    /// What it is made of, in order and without gaps.
    Parts(Vec<Part>),
    /// What can't be read; never empty.
    Mistakes(Vec<Place>),
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Text that means itself; never empty. Escapes are resolved, unless a shell does it.
    Literal(String),
    /// An expression.
    Expression {
        /// Bytes of the text between the braces.
        inner: Range<usize>,
        /// Bytes of the text with the braces.
        whole: Range<usize>,
    },
}

/// Where something that is no plain text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// What it is.
    pub what: What,
}

/// What is no plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// An expression.
    Expression,
    /// An expression in which a quote or a bracket stays open, so that its end had to be guessed. Named by
    /// [`split`] alone; to [`scan`] it is an expression like any other.
    OpenQuote,
    /// A shell's parameter expansion in a text that no shell reads.
    ShellParameter,
    /// An expansion that only some shells know, in a text for `/bin/sh`.
    NotPosix,
    /// `{{` without `}}`.
    OpenBraces,
    /// `${` without `}`.
    OpenDollar,
}

/// Tells whether there is anything to find; most texts hold no brace at all.
pub fn may_hold_any(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr::memchr_iter(b'{', bytes).any(|at| at > 0 && matches!(bytes[at - 1], b'$' | b'{'))
}

/// Finds the expressions of a text, at most twenty; `for_shell` says that a shell will read it.
pub fn scan(text: &str, for_shell: bool) -> Scanned {
    if !may_hold_any(text) {
        return Scanned::Literal;
    }
    let Found { mut places, escapes } = Scanner::new(text, for_shell, MOST_PLACES).run();
    if !places.is_empty() {
        for place in &mut places {
            if place.what == What::OpenQuote {
                place.what = What::Expression;
            }
        }
        return Scanned::Expressions(places);
    }
    if escapes.is_empty() {
        Scanned::Literal
    } else {
        Scanned::Unescaped(without(text, 0..text.len(), &escapes))
    }
}

/// Takes a text apart; `for_shell` says that a shell will read it.
pub fn split(text: &str, for_shell: bool) -> Split {
    if !may_hold_any(text) {
        return Split::Literal;
    }
    let Found { places, escapes } = Scanner::new(text, for_shell, usize::MAX).run();
    let is_mistake = |place: &&Place| place.what != What::Expression;
    let mistakes: Vec<Place> = places.iter().filter(is_mistake).take(MOST_PLACES).cloned().collect();
    if !mistakes.is_empty() {
        return Split::Mistakes(mistakes);
    }
    if places.is_empty() && escapes.is_empty() {
        return Split::Literal;
    }
    let mut parts = Vec::with_capacity(places.len() * 2 + 1);
    let mut escapes = escapes.as_slice();
    let mut at = 0;
    let mut literal = |range: Range<usize>, parts: &mut Vec<Part>| {
        let within = escapes.partition_point(|escape| *escape < range.end);
        if !range.is_empty() {
            parts.push(Part::Literal(without(text, range, &escapes[..within])));
        }
        escapes = &escapes[within..];
    };
    for Place { range, .. } in places {
        literal(at..range.start, &mut parts);
        at = range.end;
        // An expression begins with two bytes, and ends with as many as its kind does.
        let closer = if text[range.clone()].starts_with('$') { 1 } else { 2 };
        parts.push(Part::Expression { inner: range.start + 2..range.end - closer, whole: range });
    }
    literal(at..text.len(), &mut parts);
    Split::Parts(parts)
}

/// The expression that a text is, if there is nothing around it, not even blanks.
pub fn lone(parts: &[Part]) -> Option<Range<usize>> {
    match parts {
        [Part::Expression { inner, .. }] => Some(inner.clone()),
        _ => None,
    }
}

/// A piece of the text, without the bytes that stand at `escapes`.
fn without(text: &str, range: Range<usize>, escapes: &[usize]) -> String {
    let mut unescaped = String::with_capacity(range.len());
    let mut copied = range.start;
    for escape in escapes {
        unescaped.push_str(&text[copied..*escape]);
        copied = escape + 1;
    }
    unescaped.push_str(&text[copied..range.end]);
    unescaped
}

/// What a scanner has found.
struct Found {
    places: Vec<Place>,
    /// Where the backslashes stand that take the meaning from what follows them.
    escapes: Vec<usize>,
}

struct Scanner<'a> {
    text: &'a str,
    for_shell: bool,
    most_places: usize,
    at: usize,
    /// Where the shell's expansions begin whose end has not come yet. A list instead of recursion, because a
    /// text may nest as many as it likes.
    open: Vec<usize>,
    found: Found,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, for_shell: bool, most_places: usize) -> Self {
        let found = Found { places: Vec::new(), escapes: Vec::new() };
        Self { text, for_shell, most_places, at: 0, open: Vec::new(), found }
    }

    fn run(mut self) -> Found {
        while self.at < self.text.len() && self.found.places.len() < self.most_places {
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
        let open = self.open.iter().map(|start| Place { range: *start..*start + 2, what: What::OpenDollar });
        self.found.places.extend(open.take(MOST_PLACES));
        // Only at the end is it known what stayed open.
        self.found.places.sort_by_key(|place| place.range.start);
        self.found
    }

    fn escape(&mut self) {
        if !self.for_shell {
            self.found.escapes.push(self.at);
        }
        self.at += 3;
    }

    fn dollar(&mut self) {
        let inner = &self.text[self.at + 2..];
        let parameter = parameter_expansion(inner).filter(|parameter| !RESERVED.contains(&parameter.name));
        match parameter {
            // What follows the name may hold expressions and expansions of its own.
            Some(parameter) if self.for_shell => {
                self.open.push(self.at);
                self.at += 2 + parameter.head;
            }
            Some(_) => match end_of_expansion(inner) {
                Some(end) => self.found(self.at + 2 + end, What::ShellParameter),
                None => self.never_closed(What::OpenDollar),
            },
            None => self.expression("}"),
        }
    }

    fn expression(&mut self, closer: &str) {
        let start = self.at + 2;
        let inner = &self.text[start..];
        let dollar = closer == "}";
        let is_not_posix = dollar && self.for_shell && is_only_some_shells(inner);
        let what = |otherwise| if is_not_posix { What::NotPosix } else { otherwise };
        if let Some(end) = end_of_expression(inner, closer) {
            self.found(start + end, what(What::Expression));
        } else if let Some(end) = inner.find(closer) {
            // Where the expression was to end is anyone's guess, and guessing again behind it would take time
            // without bounds.
            self.found(start + end + closer.len(), what(What::OpenQuote));
            self.at = self.text.len();
        } else {
            self.never_closed(if dollar { What::OpenDollar } else { What::OpenBraces });
        }
    }

    fn found(&mut self, end: usize, what: What) {
        self.found.places.push(Place { range: self.at..end, what });
        self.at = end;
    }

    /// All that follows belongs to it.
    fn never_closed(&mut self, what: What) {
        self.found.places.push(Place { range: self.at..self.at + 2, what });
        self.at = self.text.len();
    }
}

/// Where the expression that has just begun is over: behind the first closer that stands neither in quotes
/// nor in braces of its own.
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
