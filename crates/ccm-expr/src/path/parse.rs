//! Parser: the text of a path to stages.

mod bounds;

use std::ops::Range;

use serde_json::Value as Json;

use super::PathError;
use super::layout::Pretty;
use super::pattern;
use super::query::{QueryOperand, QueryOperator, Test, TruthTest};
use super::syntax::{Chain, MODIFIERS, Modifier, PathPart, PathStage, Query};
use crate::Value;
use bounds::{bracketed, name_end, query_bounds, selectors, stage_end};

/// Maximum nesting of paths in paths.
const MAX_DEPTH: usize = 64;
const MAX_LENGTH: usize = 64 << 10;

pub(super) fn parse(text: &str) -> Result<Chain, PathError> {
    if text.len() > MAX_LENGTH {
        return Err(error(0..text.len(), format!("a path can't be longer than {MAX_LENGTH} bytes")));
    }
    PathParser { text }.chain(0..text.len(), 0)
}

fn error(range: Range<usize>, message: impl Into<String>) -> PathError {
    PathError { range, message: message.into() }
}

/// Parser of a path. All ranges and positions count bytes of the whole text, so that errors can point there.
struct PathParser<'a> {
    text: &'a str,
}

impl<'a> PathParser<'a> {
    fn slice(&self, range: Range<usize>) -> &'a str {
        // Ranges begin and end beside ASCII characters, so they never split a character.
        self.text.get(range).unwrap_or_default()
    }

    /// Returns the byte at a position before the end, or 0.
    fn byte(&self, at: usize, end: usize) -> u8 {
        if at < end { self.text.as_bytes().get(at).copied().unwrap_or(0) } else { 0 }
    }

    fn chain(&self, range: Range<usize>, depth: usize) -> Result<Chain, PathError> {
        if depth > MAX_DEPTH {
            return Err(error(range, format!("paths can't be nested deeper than {MAX_DEPTH} levels")));
        }
        let Range { start: mut at, end } = range;
        let mut stages = Vec::with_capacity(1);
        loop {
            let rest = self.slice(at..end);
            if rest.starts_with("..") {
                return Err(error(
                    at..at + 2,
                    "`..` is not supported (in gjson, it selects lines of JSON Lines)",
                ));
            }
            let (stage, after) = match rest.as_bytes() {
                [b'@', _, ..] if is_modifier(rest) => self.modifier(at, end, depth)?,
                [b'{' | b'[', ..] => self.selectors(at, end, depth)?,
                [b'!', _, ..] => match self.literal(at, end)? {
                    Some(literal) => literal,
                    None => self.parts(at, end, depth)?,
                },
                _ => self.parts(at, end, depth)?,
            };
            // After parts, a modifier or a selector follows its dot at once.
            let in_place =
                matches!(stage, PathStage::Parts(_)) && after < end && self.byte(after, end) != b'|';
            stages.push(stage);
            match self.byte(after, end) {
                _ if after == end => return Ok(Chain { stages }),
                _ if in_place => at = after,
                b'.' | b'|' => at = after + 1,
                _ => return Err(error(after..end, "expected `.`, `|` or the end of the path here")),
            }
        }
    }

    /// Parses parts up to a pipe, or up to a dot before a modifier or a selector.
    fn parts(&self, mut at: usize, end: usize, depth: usize) -> Result<(PathStage, usize), PathError> {
        let mut parts = Vec::with_capacity(4);
        loop {
            if self.byte(at, end) == b'#' {
                match self.byte(at + 1, end) {
                    b'.' => {
                        let stop = stage_end(self.text, at + 2..end);
                        parts.push(PathPart::Each(self.chain(at + 2..stop, depth + 1)?));
                        return Ok((PathStage::Parts(parts), stop));
                    }
                    b'(' | b'[' => {
                        let (query, stop) = self.query(at, end, depth)?;
                        parts.push(PathPart::Query(Box::new(query)));
                        return Ok((PathStage::Parts(parts), stop));
                    }
                    _ if at + 1 == end || self.byte(at + 1, end) == b'|' => {
                        parts.push(PathPart::Count);
                        return Ok((PathStage::Parts(parts), at + 1));
                    }
                    _ => {}
                }
            }
            let stop = name_end(self.text, at..end);
            parts.push(self.name(at..stop)?);
            if self.byte(stop, end) != b'.' {
                return Ok((PathStage::Parts(parts), stop));
            }
            at = stop + 1;
            let rest = self.slice(at..end);
            if rest.starts_with(['{', '[']) || is_modifier(rest) {
                return Ok((PathStage::Parts(parts), at));
            }
        }
    }

    fn name(&self, range: Range<usize>) -> Result<PathPart, PathError> {
        let text = self.slice(range.clone());
        if !text.contains(['\\', '*', '?']) {
            return Ok(PathPart::Name { name: text.into(), range });
        }
        let mut name = String::with_capacity(text.len());
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '*' | '?' => return self.pattern(range),
                '\\' => name.push(characters.next().ok_or_else(|| nothing_escaped(&range))?),
                other => name.push(other),
            }
        }
        Ok(PathPart::Name { name: name.into(), range })
    }

    fn pattern(&self, range: Range<usize>) -> Result<PathPart, PathError> {
        let text = self.slice(range.clone());
        let backslashes = text.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if backslashes % 2 == 1 {
            return Err(nothing_escaped(&range));
        }
        Ok(PathPart::Wildcard(pattern::parse(text)))
    }

    fn query(&self, at: usize, end: usize, depth: usize) -> Result<(Query, usize), PathError> {
        let Some(bounds) = query_bounds(self.text, at..end) else {
            let missing = if self.byte(at + 1, end) == b'[' { ']' } else { ')' };
            return Err(error(at..end, format!("the query is not closed: `{missing}` is missing")));
        };
        let subject = trimmed(self.text, at + 2..bounds.operator.unwrap_or(bounds.close));
        let subject = if subject.is_empty() { None } else { Some(self.chain(subject, depth + 1)?) };
        let test = match bounds.operator {
            Some(operator) => self.test(trimmed(self.text, operator..bounds.close))?,
            None => Test::Exists,
        };
        let mut at = bounds.close + 1;
        let all = self.byte(at, end) == b'#';
        at += usize::from(all);
        let (rest, after) = match self.byte(at, end) {
            b'.' => {
                let stop = stage_end(self.text, at + 1..end);
                (Some(self.chain(at + 1..stop, depth + 1)?), stop)
            }
            b'|' => (None, at),
            _ if at >= end => (None, at),
            _ => return Err(error(at..end, "expected `.`, `|` or the end of the path after the query")),
        };
        Ok((Query { subject, test, all, rest }, after))
    }

    fn test(&self, range: Range<usize>) -> Result<Test, PathError> {
        const OPERATORS: [(&str, QueryOperator); 9] = [
            ("==", QueryOperator::Equal),
            ("!=", QueryOperator::Unequal),
            ("!%", QueryOperator::NotMatching),
            ("<=", QueryOperator::LessOrEqual),
            (">=", QueryOperator::GreaterOrEqual),
            ("=", QueryOperator::Equal),
            ("<", QueryOperator::Less),
            (">", QueryOperator::Greater),
            ("%", QueryOperator::Matching),
        ];
        let text = self.slice(range.clone());
        let Some((written, operator)) = OPERATORS.into_iter().find(|(written, _)| text.starts_with(written))
        else {
            return Err(error(
                range.start..range.start + 1,
                "expected an operator here: `==`, `!=`, `<`, `<=`, `>`, `>=`, `%` or `!%`",
            ));
        };
        let operand_range = trimmed(self.text, range.start + written.len()..range.end);
        let operand = self.slice(operand_range.clone());
        if operand.len() >= 2 && operand.starts_with('"') && operand.ends_with('"') {
            return Ok(Test::Compare(operator, Box::new(QueryOperand::new(&unquoted(operand)))));
        }
        match operand.strip_prefix('~') {
            Some(name) => {
                TruthTest::named(name).map(|truth_test| Test::Truth(operator, truth_test)).ok_or_else(|| {
                    error(
                        operand_range,
                        "expected `~true`, `~false`, `~null` or `~*`; text with a `~` needs quotes",
                    )
                })
            }
            None => Ok(Test::Compare(operator, Box::new(QueryOperand::new(operand)))),
        }
    }

    fn selectors(&self, at: usize, end: usize, depth: usize) -> Result<(PathStage, usize), PathError> {
        let as_map = self.byte(at, end) == b'{';
        let Some((selectors, close)) = selectors(self.text, at..end) else {
            let missing = if as_map { '}' } else { ']' };
            return Err(error(at..end, format!("`{missing}` is missing")));
        };
        let stage = if as_map {
            let field = |(name, path): (Option<Range<usize>>, Range<usize>)| {
                let name = match name.map(|name| self.slice(name)) {
                    Some(name) if !name.is_empty() => unquoted(name),
                    _ => last_name(self.slice(path.clone())).to_owned(),
                };
                Ok((name.into(), self.chain(path, depth + 1)?))
            };
            PathStage::Fields(selectors.into_iter().map(field).collect::<Result<_, _>>()?)
        } else {
            let element = |(_, path)| self.chain(path, depth + 1);
            PathStage::Elements(selectors.into_iter().map(element).collect::<Result<_, _>>()?)
        };
        Ok((stage, close + 1))
    }

    /// Parses a literal; `None` if the text after the `!` is no value and so is part of a name.
    fn literal(&self, at: usize, end: usize) -> Result<Option<(PathStage, usize)>, PathError> {
        let start = at + 1;
        let stop = match self.byte(start, end) {
            b'{' | b'[' | b'"' => bracketed(self.text, start..end)
                .ok_or_else(|| error(at..end, "the value after `!` is not closed"))?,
            b'+' | b'-' | b'0'..=b'9' => {
                let length = self.slice(start..end).find('|').unwrap_or(end - start);
                start + length
            }
            _ => {
                let length = self.slice(start..end).find(['.', '|']).unwrap_or(end - start);
                let value = match self.slice(start..start + length) {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "null" => Value::Null,
                    _ => return Ok(None),
                };
                return Ok(Some((PathStage::Literal(value), start + length)));
            }
        };
        let text = self.slice(start..stop);
        let json: Json = serde_json::from_str(text.strip_prefix('+').unwrap_or(text))
            .map_err(|cause| error(start..stop, format!("the value after `!` is not JSON: {cause}")))?;
        Ok(Some((PathStage::Literal(json.into()), stop)))
    }

    fn modifier(&self, at: usize, end: usize, depth: usize) -> Result<(PathStage, usize), PathError> {
        let name = modifier_name(self.slice(at..end));
        let mut after = at + 1 + name.len();
        let mut argument = after..after;
        if self.byte(after, end) == b':' {
            let start = after + 1;
            after = match self.byte(start, end) {
                b'{' | b'[' | b'"' => bracketed(self.text, start..end)
                    .ok_or_else(|| error(start..end, format!("the argument of `@{name}` is not closed")))?,
                _ => stage_end(self.text, start..end),
            };
            argument = start..after;
        }
        let modifier = match name {
            "dig" => Modifier::Dig(self.chain(argument, depth + 1)?),
            "flatten" => Modifier::Flatten { deep: is_true(self.options(&argument)?.get("deep")) },
            "fromstr" => Modifier::FromText,
            "group" => Modifier::Group,
            "join" => Modifier::Join { preserve: is_true(self.options(&argument)?.get("preserve")) },
            "keys" => Modifier::Keys,
            "pretty" => Modifier::Pretty(Pretty::from_options(&self.options(&argument)?)),
            "reverse" => Modifier::Reverse,
            "tostr" => Modifier::ToText,
            "ugly" => Modifier::Ugly,
            "values" => Modifier::Values,
            _ => Modifier::Unchanged,
        };
        Ok((PathStage::Modifier(modifier), after))
    }

    /// Returns the options in an argument; an argument that is no map has none.
    fn options(&self, argument: &Range<usize>) -> Result<Json, PathError> {
        let text = self.slice(argument.clone());
        if !text.starts_with('{') {
            return Ok(Json::Null);
        }
        serde_json::from_str(text)
            .map_err(|cause| error(argument.clone(), format!("the argument is not JSON: {cause}")))
    }
}

fn nothing_escaped(range: &Range<usize>) -> PathError {
    error(range.end - 1..range.end, "the backslash at the end escapes nothing")
}

fn modifier_name(text: &str) -> &str {
    let name = text.strip_prefix('@').unwrap_or_default();
    name.find(['.', '|', ':']).map_or(name, |stop| &name[..stop])
}

/// Returns `true` if a modifier begins here; any other `@` begins the name of a key.
fn is_modifier(text: &str) -> bool {
    text.starts_with('@') && MODIFIERS.contains(&modifier_name(text))
}

fn is_true(option: Option<&Json>) -> bool {
    match option {
        Some(Json::Bool(boolean)) => *boolean,
        Some(Json::Number(number)) => number.as_f64() != Some(0.0),
        Some(Json::String(text)) => ["1", "t", "true"].iter().any(|word| text.eq_ignore_ascii_case(word)),
        _ => false,
    }
}

/// Removes quotes. Escapes that are not those of JSON stay as written.
fn unquoted(text: &str) -> String {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return text.to_owned();
    };
    serde_json::from_str(text).unwrap_or_else(|_| inner.replace("\\\"", "\""))
}

/// Name of a field without one: the last part of its path, if that is a plain name.
fn last_name(path: &str) -> &str {
    let bytes = path.as_bytes();
    let separator = (0..bytes.len())
        .rev()
        .find(|at| matches!(bytes[*at], b'.' | b'|') && (*at == 0 || bytes[*at - 1] != b'\\'));
    let last = separator.map_or(path, |at| &path[at + 1..]);
    let special = |character: char| character < ' ' || "[]{}()#|!".contains(character);
    if last.contains(special) { "_" } else { last }
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let Range { mut start, mut end } = range;
    while start < end && bytes[start] <= b' ' {
        start += 1;
    }
    while start < end && bytes[end - 1] <= b' ' {
        end -= 1;
    }
    start..end
}
