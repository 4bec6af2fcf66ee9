//! Cuts a template into literal text and tags, and tags into words, without compiling it.
//!
//! The engine's own syntax tree is no stable interface. What is needed before or beside rendering is little:
//! which names a template mentions, where literal text lies, and whether an expression is so deep that
//! compiling it would exhaust the stack. Where the text is not a template at all, the scan says so and the
//! engine finds the words for it.

use std::ops::Range;

/// A template in pieces, in order.
#[derive(Debug, Default)]
pub(super) struct Scan<'text> {
    pub(super) pieces: Vec<Piece<'text>>,
    /// False where the scan lost its way: what follows is not in `pieces`.
    pub(super) complete: bool,
}

/// One piece. There is literal text, if only an empty one, before the first tag, after the last and between two.
#[derive(Debug)]
pub(super) enum Piece<'text> {
    /// Text that is put out as it is.
    Literal(Range<usize>),
    /// What stands between `{{` and `}}`.
    Expression(Vec<Token<'text>>),
    /// What stands between `{%` and `%}`.
    Statement(Vec<Token<'text>>),
}

/// A word of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'text> {
    Name(&'text str),
    /// A quoted text; none if it has escapes.
    Text(Option<&'text str>),
    Number,
    /// One character of an operator or a bracket.
    Symbol(u8),
}

/// Cuts a template into pieces.
pub(super) fn scan(text: &str) -> Scan<'_> {
    let mut scanner = Scanner { text, at: 0, open_brackets: 0, scan: Scan::default() };
    scanner.scan.complete = scanner.run().is_some();
    scanner.scan
}

/// Cuts one expression into words; none if it is no expression.
pub(super) fn words(expression: &str) -> Option<Vec<Token<'_>>> {
    let mut scanner = Scanner { text: expression, at: 0, open_brackets: 0, scan: Scan::default() };
    scanner.tokens(None)
}

/// How deep the engine's tree of an expression may get: a chain of operators nests as brackets do.
pub(super) fn depth(tokens: &[Token<'_>]) -> usize {
    let mut deepest = 0;
    let mut sum = 0;
    let mut levels = vec![0_usize];
    for token in tokens {
        match token {
            Token::Symbol(b',') => sum -= levels.last_mut().map_or(0, std::mem::take),
            Token::Symbol(b')' | b']' | b'}') if levels.len() > 1 => sum -= levels.pop().unwrap_or(0),
            Token::Symbol(symbol) => {
                sum += 1;
                if let Some(level) = levels.last_mut() {
                    *level += 1;
                }
                if matches!(symbol, b'(' | b'[' | b'{') {
                    levels.push(0);
                }
            }
            Token::Name("and" | "or" | "not" | "if" | "else" | "in" | "is") => {
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

struct Scanner<'text> {
    text: &'text str,
    at: usize,
    /// Brackets that are open; `}}` inside of them ends no tag.
    open_brackets: isize,
    scan: Scan<'text>,
}

impl<'text> Scanner<'text> {
    fn rest(&self) -> &'text [u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn run(&mut self) -> Option<()> {
        loop {
            let start = self.at;
            let Some(tag) = self.next_tag() else {
                self.scan.pieces.push(Piece::Literal(start..self.text.len()));
                return Some(());
            };
            self.scan.pieces.push(Piece::Literal(start..tag));
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
                let tokens = self.tokens(Some(b'%'))?;
                self.scan.pieces.push(Piece::Statement(tokens));
            } else {
                let tokens = self.tokens(Some(b'}'))?;
                self.scan.pieces.push(Piece::Expression(tokens));
            }
        }
    }

    fn next_tag(&self) -> Option<usize> {
        let rest = self.rest();
        let found =
            rest.windows(2).position(|pair| pair[0] == b'{' && matches!(pair[1], b'{' | b'%' | b'#'))?;
        Some(self.at + found)
    }

    fn raw(&mut self) -> Option<()> {
        let start = self.at;
        loop {
            let end = self.at + self.text[self.at..].find("{%")?;
            self.at = end + 2;
            if let Some(length) = basic_tag(self.rest(), "endraw", true) {
                self.scan.pieces.push(Piece::Literal(start..end));
                self.at += length;
                return Some(());
            }
        }
    }

    /// Reads words up to the end of the tag, or to the end of the text if there is no tag.
    fn tokens(&mut self, closing: Option<u8>) -> Option<Vec<Token<'text>>> {
        let mut tokens = Vec::new();
        loop {
            let Some(byte) = self.rest().first().copied() else {
                return closing.is_none().then_some(tokens);
            };
            if let Some(length) = closing.and_then(|closing| self.tag_end(closing)) {
                self.at += length;
                return Some(tokens);
            }
            let start = self.at;
            match byte {
                byte if byte.is_ascii_whitespace() => self.at += 1,
                b'"' | b'\'' => tokens.push(self.quoted(byte)?),
                byte if byte == b'_' || byte.is_ascii_alphanumeric() => {
                    let part_of_word = |byte: &u8| *byte == b'_' || byte.is_ascii_alphanumeric();
                    self.at += self.rest().iter().take_while(|byte| part_of_word(byte)).count();
                    let name = &self.text[start..self.at];
                    tokens.push(if byte.is_ascii_digit() { Token::Number } else { Token::Name(name) });
                }
                byte if byte.is_ascii_punctuation() => {
                    self.open_brackets += match byte {
                        b'(' | b'[' | b'{' => 1,
                        b')' | b']' | b'}' => -1,
                        _ => 0,
                    };
                    tokens.push(Token::Symbol(byte));
                    self.at += 1;
                }
                _ => return None,
            }
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

    fn quoted(&mut self, quote: u8) -> Option<Token<'text>> {
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
        Some(Token::Text((!escapes).then(|| &self.text[start..end])))
    }
}

/// The length of a tag that is but a keyword, from behind its `{%`.
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
    use proptest::prelude::*;

    use super::*;

    fn literals(text: &str) -> Vec<&str> {
        let literal = |piece| match piece {
            Piece::Literal(range) => Some(&text[range]),
            _ => None,
        };
        scan(text).pieces.into_iter().filter_map(literal).collect()
    }

    #[test]
    fn tags_are_told_from_literal_text_as_the_engine_does() {
        for (text, expected) in [
            ("", vec![""]),
            ("a { b } %} c", vec!["a { b } %} c"]),
            ("a{{ b }}c", vec!["a", "c"]),
            ("{{ '}}' }}c", vec!["", "c"]),
            (r#"{{ "\"}}" }}c"#, vec!["", "c"]),
            ("{{ {'a': {'b': 1}} }}c", vec!["", "c"]),
            ("a{%- if x -%} b {% endif %}", vec!["a", " b ", ""]),
            ("a{# {{ #}b", vec!["a", "b"]),
            ("a{% raw %}{{ x }}{% endraw %}b", vec!["a", "{{ x }}", "b"]),
            ("a{%- raw -%} {% if %} {%- endraw -%}b", vec!["a", " {% if %} ", "b"]),
            ("a{% rawish %}b", vec!["a", "b"]),
        ] {
            assert!(scan(text).complete, "{text}");
            assert_eq!(literals(text), expected, "{text}");
        }
    }

    #[test]
    fn what_never_ends_is_incomplete() {
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
            let tokens = words(expression).expect("words");
            assert_eq!(depth(&tokens), expected, "{expression}");
        }
    }

    proptest! {
        #[test]
        fn pieces_lie_in_order_within_the_text(text in r#"([{}%#\-' "\\a.ä(]|\{%|raw|endraw|%\}|\n){0,40}"#) {
            let mut end = 0;
            for piece in scan(&text).pieces {
                if let Piece::Literal(range) = piece {
                    prop_assert!(range.start >= end && range.end <= text.len());
                    prop_assert!(text.get(range.clone()).is_some());
                    end = range.end;
                }
            }
        }
    }
}
