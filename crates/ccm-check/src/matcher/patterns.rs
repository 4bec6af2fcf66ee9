//! Patterns of lines: pieces of text and regular expressions, each possibly forbidden by a leading `!`.

use ccm_properties::ValueError;
use regex::Regex;

use super::decode::RegexCache;

/// Pattern that some line must have, or that no line may have.
#[derive(Clone, Debug)]
pub(super) struct LinePattern {
    pub(super) written: String,
    is_forbidden: bool,
    test: LineTest,
}

#[derive(Clone, Debug)]
enum LineTest {
    Piece(String),
    Regex(Regex),
}

impl LinePattern {
    /// Reads a pattern: `piece`, `/regular expression/` with the flags `i`, `m` and `s` after it, or either of them
    /// after `!`. A backslash in front takes the meaning from `!` and `/`.
    pub(super) fn parse(written: &str, cache: &mut RegexCache) -> Result<Self, ValueError> {
        let (is_forbidden, core) = match written.strip_prefix('!') {
            Some(core) => (true, core),
            None => (false, written),
        };
        let test = match delimited(core) {
            Some((expression, "")) => LineTest::Regex(cache.compile(expression)?),
            Some((expression, flags)) => LineTest::Regex(cache.compile(&format!("(?{flags}){expression}"))?),
            None => LineTest::Piece(unescaped(core).to_owned()),
        };
        Ok(Self { written: written.to_owned(), is_forbidden, test })
    }

    /// Returns `true` if the lines meet the pattern. An empty piece is in every text, even without a line.
    pub(super) fn holds(&self, text: &str) -> bool {
        if self.written.is_empty() {
            return true;
        }
        let is_found = lines(text).any(|line| match &self.test {
            LineTest::Piece(piece) => line.contains(&**piece),
            LineTest::Regex(regex) => regex.is_match(line),
        });
        is_found != self.is_forbidden
    }
}

/// Splits `/expression/flags`.
fn delimited(core: &str) -> Option<(&str, &str)> {
    let (expression, flags) = core.strip_prefix('/')?.rsplit_once('/')?;
    flags.bytes().all(|flag| matches!(flag, b'i' | b'm' | b's')).then_some((expression, flags))
}

fn unescaped(piece: &str) -> &str {
    match piece.strip_prefix('\\') {
        Some(rest) if rest.starts_with(['!', '/']) => rest,
        _ => piece,
    }
}

/// Splits a text into lines without their ends.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let has_line = !text.is_empty();
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').filter(move |_| has_line).map(|line| line.strip_suffix('\r').unwrap_or(line))
}
