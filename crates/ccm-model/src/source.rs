//! Source texts, and locations in them.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use crate::Location;

/// Number of a text in a [`SourceMap`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SourceId(pub u32);

/// A range of bytes in a source text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// Text that holds the range.
    pub source: SourceId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// Builds a span from byte offsets. Offsets are limited to 4 GiB; no source is that long.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { source, start: clamp(start), end: clamp(end) }
    }

    /// Returns the range of bytes, for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns `true` if `other` is within this span.
    pub fn contains(self, other: Span) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }
}

/// Line and column in a source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
}

/// First byte of a text that is not part of a UTF-8 character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: the byte 0x{byte:02X} is not valid UTF-8", position.line, position.column)]
pub struct InvalidByte {
    /// Position of the byte.
    pub position: Position,
    /// The byte.
    pub byte: u8,
}

impl InvalidByte {
    /// Finds the first invalid byte; `None` if the text is valid.
    pub fn find(text: &[u8]) -> Option<Self> {
        let valid = str::from_utf8(text).err()?.valid_up_to();
        let (before, rest) = text.split_at(valid);
        let before = str::from_utf8(before).ok()?;
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.matches('\n').count() + 1;
        let position = Position { line, column: before[line_start..].chars().count() + 1 };
        Some(Self { position, byte: *rest.first()? })
    }
}

/// A source text with its name.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name in messages: the path as the user gave it.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
    /// Number of line ends before each block of [`BLOCK`] bytes.
    lines_before: OnceLock<Vec<usize>>,
}

/// Size of the parts of a text whose lines are counted once, because a long text may have many errors.
const BLOCK: usize = 4 << 10;

impl Source {
    /// Returns line and column of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let before = self.text_before(offset);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position { line: self.lines_before(before) + 1, column: before[line_start..].chars().count() + 1 }
    }

    /// Returns the number of line ends in a part at the beginning of the text.
    fn lines_before(&self, part: &str) -> usize {
        let line_ends = |bytes: &[u8]| bytes.iter().copied().filter(|byte| *byte == b'\n').count();
        let blocks = self.lines_before.get_or_init(|| {
            let mut before = 0;
            let blocks = self.text.as_bytes().chunks(BLOCK).map(|block| {
                let after = before + line_ends(block);
                std::mem::replace(&mut before, after)
            });
            blocks.collect()
        });
        let block = part.len() / BLOCK;
        // If the length is a multiple of BLOCK, no block begins at the end of the text.
        let block = block.min(blocks.len().saturating_sub(1));
        blocks.get(block).map_or(0, |before| before + line_ends(&part.as_bytes()[block * BLOCK..]))
    }

    /// Returns the text before an offset. The offset may be past the end or inside a character.
    fn text_before(&self, offset: usize) -> &str {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        &self.text[..end]
    }
}

/// Source texts of spans.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// Adds a text. Returns its number, for spans.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        self.sources.push(Source { name: name.into(), text: text.into(), lines_before: OnceLock::new() });
        id
    }

    /// Returns all texts.
    pub fn iter(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter()
    }

    /// Returns a text by its number.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(id.0 as usize)
    }

    /// Returns the name of the source, and the position at which a span begins.
    pub fn locate(&self, span: Span) -> Option<(&str, Position)> {
        let source = self.get(span.source)?;
        Some((&source.name, source.position(span.start as usize)))
    }

    /// Returns the location at which a span begins.
    pub fn location(&self, span: Span) -> Option<Location> {
        let (file, Position { line, column }) = self.locate(span)?;
        Some(Location { file: file.to_owned(), line, column })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_byte_has_its_line_and_column() {
        for (text, shown) in [
            (&b"a: b\n"[..], None),
            (b"\xff", Some("line 1, column 1: the byte 0xFF is not valid UTF-8")),
            (b"a: 1\nb: gr\xc3\xbcn caf\xe9\n", Some("line 2, column 12: the byte 0xE9 is not valid UTF-8")),
            (b"cut\n\xe2\x82", Some("line 2, column 1: the byte 0xE2 is not valid UTF-8")),
        ] {
            assert_eq!(InvalidByte::find(text).map(|found| found.to_string()).as_deref(), shown, "{text:?}");
        }
    }

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
    fn an_offset_inside_a_character_has_a_position() {
        let mut sources = SourceMap::default();
        let id = sources.add("m.yaml", "ä");
        assert_eq!(sources.locate(Span::new(id, 1, 2)), Some(("m.yaml", Position { line: 1, column: 1 })));
    }

    #[test]
    fn positions_in_long_texts_count_all_lines() {
        let line = "0123456789abcde\n";
        for length in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 3 * BLOCK + 17] {
            let text: String = line.chars().cycle().take(length).collect();
            let mut sources = SourceMap::default();
            let id = sources.add("m.yaml", text);
            for offset in [0, 15, 16, BLOCK - 1, BLOCK, BLOCK + 16, 2 * BLOCK, 3 * BLOCK, usize::MAX] {
                let end = offset.min(length);
                let position = sources.get(id).map(|source| source.position(offset));
                let expected = Position { line: end / line.len() + 1, column: end % line.len() + 1 };
                assert_eq!(position, Some(expected), "{offset} of {length}");
            }
        }
    }
}
