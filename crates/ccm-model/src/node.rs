//! The spanned node: a value with its location in the source, and with its style.

use serde::{Deserialize, Serialize};

use crate::{Position, Span, escape_control};

/// A value and its location in a source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The value.
    pub value: NodeValue,
    /// Location in the source.
    pub span: Span,
}

/// Value of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeValue {
    /// Text, a number, a boolean or null, depending on the style.
    Scalar(Scalar),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the source.
    Map(NodeMap),
}

/// Style of a scalar in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScalarStyle {
    /// Plain: without quotes. May be null, a boolean or a number.
    Plain,
    /// Single or double quotes, or an explicit `!!str`. Always text.
    Quoted,
    /// A block after `|` or `>`. Always text.
    Block,
    /// A number, a boolean or null that an expression yielded. Text that an expression yields is `Quoted`.
    Computed,
    /// Any style, with a redacted part. Always text.
    Redacted,
}

/// A scalar, as text with a style.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scalar {
    /// Text, with quotes and escapes resolved.
    pub text: Box<str>,
    /// Style in the source.
    pub style: ScalarStyle,
}

/// Kind of a scalar in the core schema of YAML 1.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ScalarKind {
    /// `null`, `~` or an empty plain scalar.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer: decimal, `0o` or `0x`.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Everything else, `yes`, `on` and `1:30` included.
    Text,
}

impl Scalar {
    /// Resolves a plain or computed scalar by the core schema. Every other style is text.
    pub fn kind(&self) -> ScalarKind {
        if matches!(self.style, ScalarStyle::Quoted | ScalarStyle::Block) {
            return ScalarKind::Text;
        }
        if self.is_null() {
            return ScalarKind::Null;
        }
        match &*self.text {
            "true" | "True" | "TRUE" => return ScalarKind::Bool(true),
            "false" | "False" | "FALSE" => return ScalarKind::Bool(false),
            _ => {}
        }
        number(&self.text).unwrap_or(ScalarKind::Text)
    }

    /// Returns `true` if the scalar is null, without resolving what else it may be.
    fn is_null(&self) -> bool {
        !matches!(self.style, ScalarStyle::Quoted | ScalarStyle::Block)
            && matches!(&*self.text, "" | "~" | "null" | "Null" | "NULL")
    }
}

/// Reads a number of the core schema. Returns `None` for words that only Rust reads as numbers (`inf`,
/// `1_000`).
fn number(text: &str) -> Option<ScalarKind> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let radix = |digits: &str, radix| i64::from_str_radix(digits, radix).ok().map(ScalarKind::Int);
    if let Some(digits) = text.strip_prefix("0o") {
        return digits.bytes().all(|b| (b'0'..=b'7').contains(&b)).then(|| radix(digits, 8))?;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| radix(digits, 16))?;
    }
    match unsigned {
        ".inf" | ".Inf" | ".INF" => {
            return Some(ScalarKind::Float(if text.starts_with('-') {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }));
        }
        ".nan" | ".NaN" | ".NAN" if unsigned == text => return Some(ScalarKind::Float(f64::NAN)),
        _ => {}
    }
    let first = *unsigned.as_bytes().first()?;
    if !(first.is_ascii_digit() || first == b'.') || !unsigned.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    if unsigned.bytes().all(|b| b.is_ascii_digit()) {
        return text.parse().map(ScalarKind::Int).or_else(|_| text.parse().map(ScalarKind::Float)).ok();
    }
    let shape_is_float =
        unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    shape_is_float.then(|| text.parse().map(ScalarKind::Float).ok())?
}

/// A key of a map.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeKey {
    /// Text of the key.
    pub text: Box<str>,
    /// Location in the source.
    pub span: Span,
}

/// Entry of a map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeEntry {
    /// The key.
    pub key: NodeKey,
    /// The value.
    pub value: Node,
}

/// A map with unique keys, in the order of the source.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeMap {
    entries: Vec<NodeEntry>,
}

impl NodeMap {
    /// Builds a map of entries. The caller ensures that the keys are unique.
    pub fn new(entries: Vec<NodeEntry>) -> Self {
        Self { entries }
    }

    /// Returns the entry with a key. Searches from the first entry on, which is fast in small maps.
    pub fn entry(&self, key: &str) -> Option<&NodeEntry> {
        self.entries.iter().find(|entry| &*entry.key.text == key)
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns all entries, in order.
    pub fn entries(&self) -> &[NodeEntry] {
        &self.entries
    }

    /// Returns all entries, in order, to be changed. The caller keeps the keys unique.
    pub fn entries_mut(&mut self) -> &mut [NodeEntry] {
        &mut self.entries
    }

    /// Converts the map into its entries.
    pub fn into_entries(self) -> Vec<NodeEntry> {
        self.entries
    }

    /// Adds an entry with a new key at the end.
    pub fn push(&mut self, entry: NodeEntry) {
        self.entries.push(entry);
    }

    /// Removes the entry with a key, and returns it.
    pub fn take(&mut self, key: &str) -> Option<NodeEntry> {
        let at = self.entries.iter().position(|entry| &*entry.key.text == key)?;
        Some(self.entries.remove(at))
    }

    /// Removes the entry with a key.
    pub fn remove(&mut self, key: &str) {
        self.entries.retain(|entry| &*entry.key.text != key);
    }

    /// Returns `true` if the map has no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Node {
    /// Builds a text node that is not in any source.
    pub fn text(text: impl Into<Box<str>>, span: Span) -> Self {
        Self { value: NodeValue::Scalar(Scalar { text: text.into(), style: ScalarStyle::Quoted }), span }
    }

    /// Returns the scalar, if the node is one.
    pub fn as_scalar(&self) -> Option<&Scalar> {
        match &self.value {
            NodeValue::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    /// Returns the text of text, a number or a boolean, but not of null.
    pub fn as_text(&self) -> Option<&str> {
        self.as_scalar().filter(|scalar| scalar.kind() != ScalarKind::Null).map(|scalar| &*scalar.text)
    }

    /// Returns the list, if the node is one.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            NodeValue::List(list) => Some(list),
            _ => None,
        }
    }

    /// Returns the map, if the node is one.
    pub fn as_map(&self) -> Option<&NodeMap> {
        match &self.value {
            NodeValue::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Approximate size in bytes.
    pub fn footprint(&self) -> usize {
        let within: usize = match &self.value {
            NodeValue::Scalar(scalar) => scalar.text.len(),
            NodeValue::List(elements) => elements.iter().map(Self::footprint).sum(),
            NodeValue::Map(map) => {
                map.entries().iter().map(|entry| entry.key.text.len() + entry.value.footprint()).sum()
            }
        };
        within + size_of::<Self>()
    }

    /// Returns `true` for null, which means "not given" everywhere.
    pub fn is_null(&self) -> bool {
        self.as_scalar().is_some_and(Scalar::is_null)
    }

    /// Describes the value, for messages of the form "expected …, found …".
    pub fn describe(&self) -> String {
        match &self.value {
            NodeValue::List(_) => "a list".to_owned(),
            NodeValue::Map(_) => "a map".to_owned(),
            NodeValue::Scalar(scalar) => {
                let shown: String = scalar.text.chars().take(40).collect();
                let shown = escape_control(&shown);
                let dots = if scalar.text.chars().nth(40).is_some() { "…" } else { "" };
                match scalar.kind() {
                    ScalarKind::Null => "nothing".to_owned(),
                    ScalarKind::Bool(_) => format!("the boolean `{shown}`"),
                    ScalarKind::Int(_) | ScalarKind::Float(_) => format!("the number `{shown}`"),
                    ScalarKind::Text => format!("the text `{shown}{dots}`"),
                }
            }
        }
    }

    /// Returns the span of a part of the text of this scalar. The part is given in bytes of the text.
    ///
    /// The span is exact if the source holds the text unchanged, possibly in quotes. If the text has escapes
    /// or folded lines, the span of the whole scalar is returned.
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
    /// Formats the position as editors read it: `line:column`.
    pub fn display(self) -> String {
        format!("{}:{}", self.line, self.column)
    }
}

/// Returns the offset in a written block of a byte of its text. The written block indents each line.
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

    fn plain(text: &str) -> ScalarKind {
        Scalar { text: text.into(), style: ScalarStyle::Plain }.kind()
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (text, kind) in [
            ("", ScalarKind::Null),
            ("~", ScalarKind::Null),
            ("null", ScalarKind::Null),
            ("true", ScalarKind::Bool(true)),
            ("False", ScalarKind::Bool(false)),
            ("yes", ScalarKind::Text),
            ("on", ScalarKind::Text),
            ("0", ScalarKind::Int(0)),
            ("-7", ScalarKind::Int(-7)),
            ("0644", ScalarKind::Int(644)),
            ("0o644", ScalarKind::Int(0o644)),
            ("0x1F", ScalarKind::Int(31)),
            ("0o9", ScalarKind::Text),
            ("0x", ScalarKind::Text),
            ("1.5", ScalarKind::Float(1.5)),
            ("5.10", ScalarKind::Float(5.1)),
            ("1e3", ScalarKind::Float(1000.0)),
            (".5", ScalarKind::Float(0.5)),
            (".", ScalarKind::Text),
            ("-", ScalarKind::Text),
            ("1:30", ScalarKind::Text),
            ("1_000", ScalarKind::Text),
            ("inf", ScalarKind::Text),
            (".inf", ScalarKind::Float(f64::INFINITY)),
            ("-.inf", ScalarKind::Float(f64::NEG_INFINITY)),
            ("1.2.3", ScalarKind::Text),
            ("1-2", ScalarKind::Text),
            ("99999999999999999999", ScalarKind::Float(1e20)),
        ] {
            assert_eq!(plain(text), kind, "{text}");
        }
        assert!(matches!(plain(".nan"), ScalarKind::Float(float) if float.is_nan()));
    }

    #[test]
    fn only_scalars_without_quotes_are_resolved() {
        for (style, kind) in [
            (ScalarStyle::Plain, ScalarKind::Int(5)),
            (ScalarStyle::Computed, ScalarKind::Int(5)),
            (ScalarStyle::Quoted, ScalarKind::Text),
            (ScalarStyle::Block, ScalarKind::Text),
        ] {
            assert_eq!(Scalar { text: "5".into(), style }.kind(), kind, "{style:?}");
        }
    }

    #[test]
    fn a_part_of_an_unescaped_scalar_has_its_own_span() {
        let source = r#"a: "one two", b: "one\ttwo""#;
        let node = |text: &str, start, end| Node::text(text, Span::new(SourceId(0), start, end));
        let exact = node("one two", 3, 12).locate(source, 4, 7);
        assert_eq!(source.get(exact.range()), Some("two"));
        let escaped = node("one\ttwo", 17, 27);
        assert_eq!(escaped.locate(source, 4, 7), escaped.span);
    }
}
