//! The spanned node: a value that remembers where and how it was written.

use serde::{Deserialize, Serialize};

use crate::{Position, Span};

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Where it was written.
    pub span: Span,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// Text, a number, a boolean or null: what it is depends on how it was written.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order it was written.
    Map(Map),
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalarStyle {
    /// Without quotes on its line, so that it may be null, a boolean or a number.
    Plain,
    /// In single or double quotes, or with an explicit `!!str`: always text.
    Quoted,
    /// As a block behind `|` or `>`: always text.
    Block,
    /// Not at all: an expression yielded it, and it is a number, a boolean or null. Text that an expression
    /// yields is quoted.
    Computed,
    /// In any way, and with something in it that was redacted: always text.
    Redacted,
}

/// A scalar as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scalar {
    /// Its text, with quotes and escapes resolved.
    pub text: Box<str>,
    /// How it was written.
    pub style: ScalarStyle,
}

/// What a scalar is under the core schema of YAML 1.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `null`, `~` or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer; decimal, `0o` or `0x`.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Everything else, `yes`, `on` and `1:30` included.
    Text,
}

impl Scalar {
    /// Resolves a plain or computed scalar by the core schema; every other style is text.
    pub fn kind(&self) -> Kind {
        if matches!(self.style, ScalarStyle::Quoted | ScalarStyle::Block) {
            return Kind::Text;
        }
        match &*self.text {
            "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
            "true" | "True" | "TRUE" => return Kind::Bool(true),
            "false" | "False" | "FALSE" => return Kind::Bool(false),
            _ => {}
        }
        number(&self.text).unwrap_or(Kind::Text)
    }
}

/// Reads a number of the core schema. Words that Rust would take for numbers (`inf`, `1_000`) are not.
fn number(text: &str) -> Option<Kind> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let radix = |digits: &str, radix| i64::from_str_radix(digits, radix).ok().map(Kind::Int);
    if let Some(digits) = text.strip_prefix("0o") {
        return digits.bytes().all(|b| (b'0'..=b'7').contains(&b)).then(|| radix(digits, 8))?;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| radix(digits, 16))?;
    }
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            return Some(Kind::Float(if text.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY }));
        }
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(Kind::Float(f64::NAN)),
        _ => {}
    }
    let first = *unsigned.as_bytes().first()?;
    if !(first.is_ascii_digit() || first == b'.') || !unsigned.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    if unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().map(Kind::Int).or_else(|_| text.parse().map(Kind::Float)).ok();
    }
    let shape_is_float =
        unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    shape_is_float.then(|| text.parse().map(Kind::Float).ok())?
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// Its text.
    pub text: Box<str>,
    /// Where it was written.
    pub span: Span,
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Node,
}

/// A map whose keys are unique and keep the order in which they were written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Map {
    entries: Vec<Entry>,
}

impl Map {
    /// Wraps entries; whoever builds a map has made sure that its keys are unique.
    pub fn new(entries: Vec<Entry>) -> Self {
        Self { entries }
    }

    /// The entry of that key. A linear search: maps that are searched are small.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| &*entry.key.text == key)
    }

    /// The value of that key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// All entries, in order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All entries, in order, to be changed in place; their keys stay unique.
    pub fn entries_mut(&mut self) -> &mut [Entry] {
        &mut self.entries
    }

    /// Gives the entries away.
    pub fn into_entries(self) -> Vec<Entry> {
        self.entries
    }

    /// Adds an entry whose key is not there yet.
    pub fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Takes the entry of that key away.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|entry| &*entry.key.text != key);
    }

    /// Tells whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Node {
    /// Builds text that no source holds, for tests and for what ccm itself adds.
    pub fn text(text: impl Into<Box<str>>, span: Span) -> Self {
        Self { value: Value::Scalar(Scalar { text: text.into(), style: ScalarStyle::Quoted }), span }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            Value::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// The text as it was written: of text, a number or a boolean, not of null.
    pub fn as_text(&self) -> Option<&str> {
        self.as_scalar().filter(|scalar| scalar.kind() != Kind::Null).map(|scalar| &*scalar.text)
    }

    /// The list, if it is one.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Tells whether it is null, which everywhere means "not given".
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(|scalar| scalar.kind() == Kind::Null)
    }

    /// Names what it is, for messages of the form "expected …, found …".
    pub fn describe(&self) -> String {
        match &self.value {
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
            Value::Scalar(scalar) => {
                let shown: String = scalar.text.chars().take(40).collect();
                let shown = shown.escape_debug();
                let dots = if scalar.text.chars().nth(40).is_some() { "…" } else { "" };
                match scalar.kind() {
                    Kind::Null => "nothing".to_owned(),
                    Kind::Bool(_) => format!("the boolean `{shown}`"),
                    Kind::Int(_) | Kind::Float(_) => format!("the number `{shown}`"),
                    Kind::Text => format!("the text `{shown}{dots}`"),
                }
            }
        }
    }

    /// Points at a part of this scalar's text, given in bytes of the text.
    ///
    /// Exact where the source holds the text as it is, possibly in quotes. Where escapes, folding or
    /// indentation stand between the two, the whole scalar is meant.
    pub fn locate(&self, source_text: &str, start: usize, end: usize) -> Span {
        let whole = self.span;
        let (Some(scalar), Some(written)) = (self.as_scalar(), source_text.get(whole.range())) else {
            return whole;
        };
        if written.starts_with('|') {
            let place = |at| Some(whole.start as usize + in_block(written, &scalar.text, at)?);
            return match (place(start), place(end)) {
                (Some(start), Some(end)) if start <= end => Span::new(whole.source, start, end),
                _ => whole,
            };
        }
        let quote = usize::from(written.starts_with(['"', '\'']));
        if written.get(quote..written.len().saturating_sub(quote)) != Some(&*scalar.text) {
            return whole;
        }
        let base = whole.start as usize + quote;
        Span::new(whole.source, base + start, base + end)
    }
}

impl Position {
    /// Writes it as editors read it: `line:column`.
    pub fn display(self) -> String {
        format!("{}:{}", self.line, self.column)
    }
}

/// Finds a byte of a block's text in the block as it was written: each line is there with its indentation.
fn in_block(written: &str, text: &str, at: usize) -> Option<usize> {
    let before = text.get(..at)?;
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = text[line_start..].lines().next().unwrap_or_default();
    let mut lines = written.split_inclusive('\n');
    // The first line holds the `|`.
    let mut skipped = lines.next()?.len();
    for _ in before.matches('\n') {
        skipped += lines.next()?.len();
    }
    let indentation = lines.next()?.trim_end_matches(['\r', '\n']).strip_suffix(line)?;
    indentation.bytes().all(|byte| byte == b' ').then(|| skipped + indentation.len() + at - line_start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SourceId;

    fn plain(text: &str) -> Kind {
        Scalar { text: text.into(), style: ScalarStyle::Plain }.kind()
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, kind) in [
            ("", Kind::Null),
            ("~", Kind::Null),
            ("null", Kind::Null),
            ("true", Kind::Bool(true)),
            ("False", Kind::Bool(false)),
            ("yes", Kind::Text),
            ("on", Kind::Text),
            ("0", Kind::Int(0)),
            ("-7", Kind::Int(-7)),
            ("0644", Kind::Int(644)),
            ("0o644", Kind::Int(0o644)),
            ("0x1F", Kind::Int(31)),
            ("0o9", Kind::Text),
            ("0x", Kind::Text),
            ("1.5", Kind::Float(1.5)),
            ("5.10", Kind::Float(5.1)),
            ("1e3", Kind::Float(1000.0)),
            (".5", Kind::Float(0.5)),
            (".", Kind::Text),
            ("-", Kind::Text),
            ("1:30", Kind::Text),
            ("1_000", Kind::Text),
            ("inf", Kind::Text),
            (".inf", Kind::Float(f64::INFINITY)),
            ("-.inf", Kind::Float(f64::NEG_INFINITY)),
            ("1.2.3", Kind::Text),
            ("1-2", Kind::Text),
            ("99999999999999999999", Kind::Float(1e20)),
        ] {
            assert_eq!(plain(text), kind, "{text}");
        }
        assert!(matches!(plain(".nan"), Kind::Float(float) if float.is_nan()));
    }

    #[test]
    fn only_what_has_no_quotes_is_more_than_text() {
        for (style, kind) in [
            (ScalarStyle::Plain, Kind::Int(5)),
            (ScalarStyle::Computed, Kind::Int(5)),
            (ScalarStyle::Quoted, Kind::Text),
            (ScalarStyle::Block, Kind::Text),
        ] {
            assert_eq!(Scalar { text: "5".into(), style }.kind(), kind, "{style:?}");
        }
    }

    #[test]
    fn a_part_of_a_scalar_is_found_where_the_source_holds_it_as_it_is() {
        let source = r#"a: "one two", b: "one\ttwo""#;
        let node = |text: &str, start, end| Node::text(text, Span::new(SourceId(0), start, end));
        let exact = node("one two", 3, 12).locate(source, 4, 7);
        assert_eq!(source.get(exact.range()), Some("two"));
        let escaped = node("one\ttwo", 17, 27);
        assert_eq!(escaped.locate(source, 4, 7), escaped.span);
    }
}
