//! Scanner for the tags of a template, without compiling it.
//!
//! The syntax tree of minijinja is no stable interface, and little is needed: the names that a template uses, the
//! operands that `operators` checks, and the depth of expressions, which could exhaust the compiler's stack. If a text
//! is no template, the scan is incomplete.

use std::ops::{Deref, Range};

#[derive(Debug, Default)]
pub(super) struct Scan<'text> {
    /// Tokens of all tags.
    tokens: Vec<TagToken<'text>>,
    /// Bytes of each token in the text.
    ranges: Vec<Range<usize>>,
    tags: Vec<ScannedTag>,
    /// Texts between the tags.
    pub(super) literals: Vec<Literal>,
    /// The whole text.
    pub(super) text: &'text str,
    /// `false` if the scan stopped at an error: later tags are missing.
    pub(super) complete: bool,
}

/// Text between tags.
#[derive(Debug)]
pub(super) struct Literal {
    /// Its bytes.
    pub(super) range: Range<usize>,
    /// `true` in a raw block.
    pub(super) is_raw: bool,
}

/// Tag as positions in the tokens of all tags.
#[derive(Debug)]
struct ScannedTag {
    is_statement: bool,
    tokens: Range<usize>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum TemplateTag<'s, 'text> {
    /// Content of `{{ … }}`.
    Expression(TagTokens<'s, 'text>),
    /// Content of `{% … %}`.
    Statement(TagTokens<'s, 'text>),
}

/// Tokens of a tag with their bytes in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagTokens<'s, 'text> {
    tokens: &'s [TagToken<'text>],
    pub(super) ranges: &'s [Range<usize>],
}

impl<'text> Scan<'text> {
    pub(super) fn tags(&self) -> impl Iterator<Item = TemplateTag<'_, 'text>> {
        self.tags.iter().map(|tag| {
            let tokens = TagTokens {
                tokens: &self.tokens[tag.tokens.clone()],
                ranges: &self.ranges[tag.tokens.clone()],
            };
            if tag.is_statement { TemplateTag::Statement(tokens) } else { TemplateTag::Expression(tokens) }
        })
    }
}

impl<'text> Deref for TagTokens<'_, 'text> {
    type Target = [TagToken<'text>];

    fn deref(&self) -> &Self::Target {
        self.tokens
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TagToken<'text> {
    Name(&'text str),
    /// Quoted text; `None` if it has escapes.
    Text(Option<&'text str>),
    Number,
    /// Character of an operator or a bracket.
    Symbol(u8),
}

pub(super) fn scan(text: &str) -> Scan<'_> {
    let mut scanner = TagScanner { text, at: 0, open_brackets: 0, scan: Scan { text, ..Scan::default() } };
    scanner.scan.complete = scanner.run().is_some();
    scanner.scan
}

/// Splits one expression into tokens; `None` if it is no expression.
pub(super) fn tokenize(expression: &str) -> Option<Vec<TagToken<'_>>> {
    let mut scanner = TagScanner { text: expression, at: 0, open_brackets: 0, scan: Scan::default() };
    scanner.tokens(None)?;
    Some(scanner.scan.tokens)
}

/// Upper bound on the depth of minijinja's tree of an expression: chains of operators nest as brackets do.
pub(super) fn depth(tokens: &[TagToken<'_>]) -> usize {
    let mut deepest = 0;
    let mut sum = 0;
    let mut levels = vec![0_usize];
    for token in tokens {
        match token {
            TagToken::Symbol(b',') => sum -= levels.last_mut().map_or(0, std::mem::take),
            TagToken::Symbol(b')' | b']' | b'}') if levels.len() > 1 => sum -= levels.pop().unwrap_or(0),
            TagToken::Symbol(symbol) => {
                sum += 1;
                if let Some(level) = levels.last_mut() {
                    *level += 1;
                }
                if matches!(symbol, b'(' | b'[' | b'{') {
                    levels.push(0);
                }
            }
            TagToken::Name("and" | "or" | "not" | "if" | "else" | "in" | "is") => {
                sum += 1;
                if let Some(level) = levels.last_mut() {
                    *level += 1;
                }
            }
            _ => {}
        }
        deepest = deepest.max(sum);
    }
    deepest
}

struct TagScanner<'text> {
    text: &'text str,
    at: usize,
    /// Number of open brackets; `}}` inside brackets ends no tag.
    open_brackets: isize,
    scan: Scan<'text>,
}

impl<'text> TagScanner<'text> {
    fn rest(&self) -> &'text [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn run(&mut self) -> Option<()> {
        loop {
            let tag = self.next_tag();
            let range = self.at..tag.unwrap_or(self.text.len());
            self.scan.literals.push(Literal { range, is_raw: false });
            let Some(tag) = tag else { return Some(()) };
            let kind = self.text.as_bytes()[tag + 1];
            self.at = tag + 2;
            if kind == b'#' {
                self.at += self.text[self.at..].find("#}")? + 2;
                continue;
            }
            if matches!(self.rest().first(), Some(b'-' | b'+')) {
                self.at += 1;
            }
            if kind == b'%' {
                if let Some(length) = basic_tag(self.rest(), "raw", false) {
                    self.at += length;
                    self.raw()?;
                    continue;
                }
                self.tag(true, b'%')?;
            } else {
                self.tag(false, b'}')?;
            }
        }
    }

    fn next_tag(&self) -> Option<usize> {
        let rest = self.rest();
        let begins_tag = |at: &usize| matches!(rest.get(at + 1), Some(b'{' | b'%' | b'#'));
        Some(self.at + memchr::memchr_iter(b'{', rest).find(begins_tag)?)
    }

    /// Skips to the end of a raw block.
    fn raw(&mut self) -> Option<()> {
        let start = self.at;
        loop {
            self.at += self.text[self.at..].find("{%")? + 2;
            let range = start..self.at - 2;
            if let Some(length) = basic_tag(self.rest(), "endraw", true) {
                self.at += length;
                self.scan.literals.push(Literal { range, is_raw: true });
                return Some(());
            }
        }
    }

    fn tag(&mut self, is_statement: bool, closing: u8) -> Option<()> {
        let first = self.scan.tokens.len();
        self.tokens(Some(closing))?;
        let tokens = first..self.scan.tokens.len();
        self.scan.tags.push(ScannedTag { is_statement, tokens });
        Some(())
    }

    /// Reads tokens up to the end of the tag, or without a tag to the end of the text.
    fn tokens(&mut self, closing: Option<u8>) -> Option<()> {
        loop {
            self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let Some(byte) = self.rest().first().copied() else {
                return closing.is_none().then_some(());
            };
            if let Some(length) = closing.and_then(|closing| self.tag_end(closing)) {
                self.at += length;
                return Some(());
            }
            let start = self.at;
            let token = match byte {
                b'"' | b'\'' => self.quoted(byte)?,
                byte if byte.is_ascii_digit() => {
                    let after_dot = self.text[..start].ends_with('.');
                    self.at += number_length(self.rest(), after_dot);
                    TagToken::Number
                }
                byte if byte == b'_' || byte.is_ascii_alphabetic() => {
                    self.at += self.rest().iter().take_while(|byte| is_part_of_word(**byte)).count();
                    TagToken::Name(&self.text[start..self.at])
                }
                byte if byte.is_ascii_punctuation() => {
                    self.open_brackets += match byte {
                        b'(' | b'[' | b'{' => 1,
                        b')' | b']' | b'}' => -1,
                        _ => 0,
                    };
                    self.at += 1;
                    TagToken::Symbol(byte)
                }
                _ => return None,
            };
            self.scan.tokens.push(token);
            self.scan.ranges.push(start..self.at);
        }
    }

    fn tag_end(&self, closing: u8) -> Option<usize> {
        if self.open_brackets != 0 {
            return None;
        }
        let rest = self.rest();
        let trim = usize::from(matches!(rest.first(), Some(b'-' | b'+')));
        (rest.get(trim) == Some(&closing) && rest.get(trim + 1) == Some(&b'}')).then_some(trim + 2)
    }

    fn quoted(&mut self, quote: u8) -> Option<TagToken<'text>> {
        let start = self.at + 1;
        let mut end = start;
        let mut escapes = false;
        loop {
            match *self.text.as_bytes().get(end)? {
                b'\\' => {
                    escapes = true;
                    end += 2;
                }
                byte if byte == quote => break,
                _ => end += 1,
            }
        }
        self.at = end + 1;
        Some(TagToken::Text((!escapes).then(|| &self.text[start..end])))
    }
}

fn is_part_of_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

/// Returns the length of the number at the start of a text. A number after a dot is an index, without a fraction.
fn number_length(text: &[u8], after_dot: bool) -> usize {
    let at = |index: usize| text.get(index).copied().unwrap_or_default();
    let digits = |from: usize| {
        text[from.min(text.len())..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
    };
    if at(0) == b'0' && matches!(at(1) | 0x20, b'x' | b'o' | b'b') {
        let is_digit = |byte: &&u8| byte.is_ascii_hexdigit() || **byte == b'_';
        return 2 + text[2..].iter().take_while(is_digit).count();
    }
    let mut length = digits(0);
    if !after_dot && at(length) == b'.' {
        let is_exponent =
            at(length + 1) | 0x20 == b'e' && matches!(at(length + 2), b'+' | b'-' | b'0'..=b'9');
        if is_exponent || !(at(length + 1) == b'_' || at(length + 1).is_ascii_alphabetic()) {
            length += 1 + digits(length + 1);
        }
    }
    if at(length) | 0x20 == b'e' {
        length += 1 + usize::from(matches!(at(length + 1), b'+' | b'-'));
        length += digits(length);
    }
    length
}

/// Returns the length of a tag that consists of a keyword, after its `{%`.
fn basic_tag(rest: &[u8], keyword: &str, may_trim_before: bool) -> Option<usize> {
    let mut at = 0;
    if may_trim_before && matches!(rest.first(), Some(b'-' | b'+')) {
        at += 1;
    }
    let blanks = |at: usize| rest[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    at += blanks(at);
    at += rest[at..].starts_with(keyword.as_bytes()).then_some(keyword.len())?;
    at += blanks(at);
    if matches!(rest.get(at), Some(b'-' | b'+')) {
        at += 1;
    }
    rest[at..].starts_with(b"%}").then_some(at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats the tokens of each tag, with `|` between tags.
    fn tags(text: &str) -> String {
        let word = |token: &TagToken<'_>| match token {
            TagToken::Name(name) => (*name).to_owned(),
            TagToken::Text(text) => format!("'{}'", text.unwrap_or("?")),
            TagToken::Number => "0".to_owned(),
            TagToken::Symbol(symbol) => char::from(*symbol).to_string(),
        };
        let words = |tag: TemplateTag<'_, '_>| match tag {
            TemplateTag::Expression(tokens) => tokens.iter().map(word).collect::<Vec<_>>().join(" "),
            TemplateTag::Statement(tokens) => {
                format!("% {}", tokens.iter().map(word).collect::<Vec<_>>().join(" "))
            }
        };
        scan(text).tags().map(words).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn tags_end_as_in_the_engine() {
        for (text, expected) in [
            (
                "{{ 1.5 }}{{ 1e-3 }}{{ a.1.0 }}{{ 1.real }}{{ 0xfe }}{{ 1_0.e5 }}",
                "0 | 0 | a . 0 . 0 | 0 . real | 0 | 0",
            ),
            ("", ""),
            ("a { b } %} c", ""),
            ("a{{ b }}c", "b"),
            ("{{ '}}' }}c }}", "'}}'"),
            (r#"{{ "\"}}" }}c"#, "'?'"),
            ("{{ {'a': {'b': 1}} }}c", "{ 'a' : { 'b' : 0 } }"),
            ("a{%- if x -%} b {% endif %}", "% if x | % endif"),
            ("a{# {{ #}b{{ c }}", "c"),
            ("a{% raw %}{{ x }}{% endraw %}b{{ y }}", "y"),
            ("a{%- raw -%} {% if %} {%- endraw -%}b{{ y }}", "y"),
            ("a{% rawish %}b", "% rawish"),
        ] {
            assert!(scan(text).complete, "{text}");
            assert_eq!(tags(text), expected, "{text}");
        }
    }

    #[test]
    fn open_tags_are_incomplete() {
        for text in ["{{ a", "{% a }}", "{# a", "{% raw %} a", "{{ 'a }}", "{{ ( }}", "{{ ä }}", r"{{ '\"] {
            assert!(!scan(text).complete, "{text}");
        }
    }

    #[test]
    fn depth_counts_chains_and_brackets_but_not_neighbours() {
        for (expression, expected) in [
            ("a", 0),
            ("a + b + c", 2),
            ("[a, b, c]", 1),
            ("[a + b, c + d, e + f]", 2),
            ("((a))", 2),
            ("a.b.c|d", 3),
            ("not not a", 2),
            ("---a", 3),
        ] {
            let tokens = tokenize(expression).expect("words");
            assert_eq!(depth(&tokens), expected, "{expression}");
        }
    }
}
