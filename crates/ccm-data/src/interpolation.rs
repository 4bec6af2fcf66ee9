//! Finds expressions in a text, and tells them from what a shell keeps for itself.
//!
//! Pure text in, places out; what to do about them is decided by [`crate::expand`].
//!
//! - `{{ … }}` and `${ … }` are expressions.
//! - A backslash before `${` takes its meaning away.
//! - Where a shell reads the text, a POSIX parameter expansion is the shell's, unless its name is one of the
//!   names that expressions know.
//! - `$NAME`, `$(…)` and `$$` mean nothing here.

use std::ops::Range;

/// The names that expressions know; `${Facts}` is theirs even in a shell's text.
const RESERVED: [&str; 4] = ["Facts", "Data", "Environ", "Captures"];

/// How many places of one text are named: a text full of them would say the same over and over.
const MOST_PLACES: usize = 20;

/// What was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scanned {
    /// Nothing: the text means itself.
    Literal,
    /// Nothing but escapes; here is the text without them.
    Unescaped(String),
    /// At least one expression, or the beginning of one.
    Expressions(Vec<Place>),
}

/// Where something that is no plain text stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Bytes of the text.
    pub(crate) range: Range<usize>,
    /// What it is.
    pub(crate) what: What,
}

/// What is no plain text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// An expression.
    Expression,
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
pub(crate) fn may_hold_any(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair[1] == b'{' && matches!(pair[0], b'$' | b'{'))
}

/// Finds all expressions of a text; `for_shell` says that a shell will read it.
pub(crate) fn scan(text: &str, for_shell: bool) -> Scanned {
    if !may_hold_any(text) {
        return Scanned::Literal;
    }
    let mut scanner = Scanner { text, for_shell, ..Scanner::default() };
    scanner.run();
    scanner.finish()
}

#[derive(Default)]
struct Scanner<'a> {
    text: &'a str,
    for_shell: bool,
    at: usize,
    places: Vec<Place>,
    /// Where the shell's expansions begin whose end has not come yet. A list instead of recursion, because a
    /// text may nest as many as it likes.
    open: Vec<usize>,
    /// The text without escapes, up to `copied`.
    unescaped: String,
    copied: usize,
}

impl Scanner<'_> {
    fn run(&mut self) {
        while self.at < self.text.len() && self.places.len() < MOST_PLACES {
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
    }

    fn finish(mut self) -> Scanned {
        let open = self.open.iter().map(|start| Place { range: *start..*start + 2, what: What::OpenDollar });
        self.places.extend(open.take(MOST_PLACES));
        if !self.places.is_empty() {
            return Scanned::Expressions(self.places);
        }
        if self.copied == 0 {
            return Scanned::Literal;
        }
        self.unescaped.push_str(&self.text[self.copied..]);
        Scanned::Unescaped(self.unescaped)
    }

    fn escape(&mut self) {
        if !self.for_shell {
            self.unescaped.push_str(&self.text[self.copied..self.at]);
            self.copied = self.at + 1;
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
        let what = if dollar && self.for_shell && is_only_some_shells(inner) {
            What::NotPosix
        } else {
            What::Expression
        };
        if let Some(end) = end_of_expression(inner, closer) {
            self.found(start + end, what);
        } else if let Some(end) = inner.find(closer) {
            // A quote inside is not closed. Where the expression was to end is anyone's guess, and guessing
            // again behind it would take time without bounds.
            self.found(start + end + closer.len(), what);
            self.at = self.text.len();
        } else {
            self.never_closed(if dollar { What::OpenDollar } else { What::OpenBraces });
        }
    }

    fn found(&mut self, end: usize, what: What) {
        self.places.push(Place { range: self.at..end, what });
        self.at = end;
    }

    /// All that follows belongs to it.
    fn never_closed(&mut self, what: What) {
        self.places.push(Place { range: self.at..self.at + 2, what });
        self.at = self.text.len();
    }
}

/// The beginning of a parameter expansion.
struct Parameter<'a> {
    name: &'a str,
    /// How long what stands before the operator or the closing brace is.
    head: usize,
}

/// Reads what stands behind `${` as POSIX parameter expansion: `NAME}`, `#NAME}` or a name with an operator.
fn parameter_expansion(inner: &str) -> Option<Parameter<'_>> {
    if let Some(name) = inner.strip_prefix('#').and_then(parameter_name)
        && inner[1 + name.len()..].starts_with('}')
    {
        return Some(Parameter { name, head: 1 + name.len() });
    }
    let name = parameter_name(inner)?;
    let rest = &inner[name.len()..];
    let is_default = rest.strip_prefix(':').unwrap_or(rest).starts_with(['-', '=', '?', '+']);
    let is_expansion = is_default || rest.starts_with(['}', '%', '#']);
    is_expansion.then_some(Parameter { name, head: name.len() })
}

/// The parameter at the beginning: a name, a number or one special character.
fn parameter_name(text: &str) -> Option<&str> {
    let first = *text.as_bytes().first()?;
    let length = |belongs: fn(u8) -> bool| text.bytes().position(|byte| !belongs(byte)).unwrap_or(text.len());
    let length = match first {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => length(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        b'0'..=b'9' => length(|byte| byte.is_ascii_digit()),
        b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!' => 1,
        _ => return None,
    };
    Some(&text[..length])
}

/// Tells whether it is an expansion of bash and its like, such as `${NAME/a/b}` or `${NAME^^}`.
fn is_only_some_shells(inner: &str) -> bool {
    let Some(name) = parameter_name(inner.strip_prefix('!').unwrap_or(inner)) else { return false };
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let rest = inner.strip_prefix('!').unwrap_or(inner);
    is_name && !RESERVED.contains(&name) && rest[name.len()..].starts_with(['/', '^', ',', ':', '[', '@'])
}

/// Where the expansion that has just begun is over, counting those inside it.
fn end_of_expansion(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let mut depth = 0_usize;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' if at > 0 && bytes[at - 1] == b'$' => depth += 1,
            b'}' if depth == 0 => return Some(at + 1),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
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
