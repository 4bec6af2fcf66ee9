//! Source texts and places in them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Location;

/// Names one of the texts of a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceId(pub u32);

/// A range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// The text it points into.
    pub source: SourceId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

impl Span {
    /// Builds a span from byte offsets; offsets past 4 GiB are cut there, and no source is that long.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { source, start: clamp(start), end: clamp(end) }
    }

    /// The range of bytes, for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Tells whether `other` lies within this span.
    pub fn contains(self, other: Span) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }
}

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// One text and the name that people know it by.
#[derive(Clone, Debug)]
pub struct Source {
    /// What messages call it: the path as the user gave it.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
}

impl Source {
    /// Line and column of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let before = self.before(offset);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The text before an offset, which may lie past the end or inside a character.
    fn before(&self, offset: usize) -> &str {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        &self.text[..end]
    }
}

/// The texts that spans point into.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// Adds a text and returns the number that spans name it by.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(Source { name: name.into(), text: text.into() });
        id
    }

    /// The text of that number.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(id.0 as usize)
    }

    /// Where a span begins: the name of its source, line and column.
    pub fn locate(&self, span: Span) -> Option<(&str, Position)> {
        let source = self.get(span.source)?;
        Some((&source.name, source.position(span.start as usize)))
    }

    /// Returns where a span begins, as people name a place.
    pub fn location(&self, span: Span) -> Option<Location> {
        let (file, Position { line, column }) = self.locate(span)?;
        Some(Location { file: file.to_owned(), line, column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let mut sources = SourceMap::default();
        let id = sources.add("m.yaml", "a: ä\nbc: x\n");
        let at = |needle: &str| {
            let start = sources.get(id).map_or(0, |source| source.text.find(needle).unwrap_or(0));
            sources.locate(Span::new(id, start, start + 1)).map(|(_, position)| position)
        };
        assert_eq!(at("a"), Some(Position { line: 1, column: 1 }));
        assert_eq!(at("bc"), Some(Position { line: 2, column: 1 }));
        assert_eq!(at("x"), Some(Position { line: 2, column: 5 }));
        assert_eq!(
            sources.locate(Span::new(id, 99, 99)).map(|(_, position)| position),
            Some(Position { line: 3, column: 1 })
        );
    }

    #[test]
    fn an_offset_inside_a_character_is_survived() {
        let mut sources = SourceMap::default();
        let id = sources.add("m.yaml", "ä");
        assert_eq!(sources.locate(Span::new(id, 1, 2)), Some(("m.yaml", Position { line: 1, column: 1 })));
    }
}
