//! The shape that nearly every manifest has, read in one pass.
//!
//! Most texts use little of YAML: lists and maps by indentation, values that end with their line, blocks behind
//! `|`. That much is read here, straight into nodes and without the parser's tokens. Whatever is not of that
//! shape, or might be a mistake, ends this reading without a word, and the parser reads the text from its
//! begin. So this has nothing to explain and nothing to decide: it finds the same tree as the parser, in less
//! time, or none. Tests hold the two beside one another.
//!
//! A whole `ccm apply` of 1000 unchanged files with 1 KiB of content each takes 22 ms with it and 44 ms without.

mod block;
mod flow;
mod scalar;

use ccm_model::{Entry, Key, Map, Node, Scalar, SourceId, Span, Value};

use self::scalar::{Place, Written};
use crate::{Limits, keys};

/// Reads a text of the usual shape. `None`: it may be right, but is for the parser.
pub(crate) fn read(source: SourceId, text: &str, limits: Limits) -> Option<Node> {
    if !is_printable(text) {
        return None;
    }
    let mut usual = Usual {
        source,
        text,
        bytes: text.as_bytes(),
        at: 0,
        column: None,
        depth: limits.depth,
        nodes: limits.nodes,
        elements: Vec::new(),
        entries: Vec::new(),
    };
    usual.find_content()?;
    if usual.column != Some(0) {
        return None;
    }
    let root = usual.block(0)?;
    usual.column.is_none().then_some(root)
}

/// Tells whether a text holds no control characters but line ends and tabs, and no byte order mark.
fn is_printable(text: &str) -> bool {
    // Many bytes at once: within a piece, a compiler needs to look at none before another.
    const PIECE: usize = 64;
    let is_control = |byte: u8| matches!(byte, 0..=0x08 | 0x0b..=0x1f | 0x7f);
    let any = |piece: &[u8]| piece.iter().fold(0, |found, byte| found | u8::from(is_control(*byte))) != 0;
    let controls = text.as_bytes().chunks(PIECE).any(any);
    let odd = |c: char| matches!(c, '\u{80}'..'\u{a0}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    !controls && (text.is_ascii() || !text.contains(odd))
}

/// The text, and how far it was read. Each step returns `None` where the parser has to take over.
struct Usual<'t> {
    source: SourceId,
    text: &'t str,
    bytes: &'t [u8],
    /// What is read next.
    at: usize,
    /// The column of what is read next, if it is the first of its line or counts as that; none at the end.
    column: Option<usize>,
    /// How many more lists and maps may stand inside each other.
    depth: usize,
    /// How many more scalars, lists and maps there may be.
    nodes: usize,
    /// The elements of the lists that are open, those of the innermost last.
    elements: Vec<Node>,
    /// The entries of the maps that are open, those of the innermost last.
    entries: Vec<Entry>,
}

impl Usual<'_> {
    /// Reads the list or map whose first byte comes next and stands at `column`.
    fn block(&mut self, column: usize) -> Option<Node> {
        if self.is_dash() {
            return self.list(column);
        }
        let key = self.scalar(Place::Line)?;
        self.map(column, key)
    }

    /// Reads a list whose first dash comes next.
    fn list(&mut self, column: usize) -> Option<Node> {
        self.open()?;
        let (start, first) = (self.at, self.elements.len());
        while self.column == Some(column) && self.is_dash() {
            self.at += 1;
            let blanks = self.skip_blanks();
            let element = self.element(column, column + 1 + blanks)?;
            self.elements.push(element);
        }
        let elements: Vec<Node> = self.elements.drain(first..).collect();
        let end = elements.last()?.span.end;
        self.close(column)?;
        Some(Node { value: Value::List(elements), span: Span { end, ..self.span(start, start) } })
    }

    /// Reads an element of a list at `column`; the element itself begins at `inner`.
    fn element(&mut self, column: usize, inner: usize) -> Option<Node> {
        match self.bytes.get(self.at)? {
            b'\n' | b'#' => {
                self.end_line()?;
                let inner = self.column.filter(|inner| *inner > column)?;
                self.block(inner)
            }
            b'-' if self.is_dash() => {
                self.column = Some(inner);
                self.list(inner)
            }
            b'|' | b'>' | b'[' | b'{' => self.value(column),
            _ => {
                let scalar = self.scalar(Place::Line)?;
                if self.is_colon() {
                    self.column = Some(inner);
                    return self.map(inner, scalar);
                }
                let node = self.node(scalar)?;
                self.end_value(column)?;
                Some(node)
            }
        }
    }

    /// Reads a map whose first key was read already.
    fn map(&mut self, column: usize, key: Written) -> Option<Node> {
        self.open()?;
        let (start, first) = (key.start, self.entries.len());
        let mut key = self.key(key)?;
        loop {
            let value = self.value_of_key(column)?;
            self.entries.push(Entry { key, value });
            if self.column != Some(column) {
                break;
            }
            let next = self.scalar(Place::Line)?;
            key = self.key(next)?;
        }
        let end = self.entries.last()?.value.span.end;
        let map = self.take_entries(first)?;
        self.close(column)?;
        Some(Node { value: Value::Map(map), span: Span { end, ..self.span(start, start) } })
    }

    /// Makes a key of a scalar with a colon behind it, and reads the colon.
    fn key(&mut self, written: Written) -> Option<Key> {
        // The parser wants to see the colon of a key before long.
        const LONGEST: usize = 1000;
        let is_odd = written.text.is_empty() || &*written.text == "<<";
        if is_odd || written.end - written.start > LONGEST || !self.is_colon() {
            return None;
        }
        self.at += 1;
        Some(Key { text: written.text, span: self.span(written.start, written.end) })
    }

    /// Reads what stands behind the colon of a key at `column`.
    fn value_of_key(&mut self, column: usize) -> Option<Node> {
        let colon_end = self.at;
        self.skip_blanks();
        match self.bytes.get(self.at) {
            None | Some(b'\n' | b'#') => self.end_line()?,
            Some(_) => return self.value(column),
        }
        match self.column {
            Some(inner) if inner > column => self.block(inner),
            Some(inner) if inner == column && self.is_dash() => self.list(column),
            _ => self.node(Written::missing(colon_end)),
        }
    }

    /// Reads a value that begins on the line of what it belongs to, which stands at `column`.
    fn value(&mut self, column: usize) -> Option<Node> {
        let node = match self.bytes.get(self.at)? {
            b'|' | b'>' => {
                let block = self.block_scalar(column)?;
                return self.node(block);
            }
            b'[' | b'{' => self.flow()?,
            _ => {
                let scalar = self.scalar(Place::Line)?;
                self.node(scalar)?
            }
        };
        self.end_value(column)?;
        Some(node)
    }

    /// Goes behind the line of a value; what follows must not belong to it.
    fn end_value(&mut self, column: usize) -> Option<()> {
        self.end_line()?;
        (self.column <= Some(column)).then_some(())
    }

    /// Goes behind a line of which nothing is left but blanks and a comment.
    fn end_line(&mut self) -> Option<()> {
        self.skip_blanks();
        match self.bytes.get(self.at) {
            None | Some(b'\n') => self.find_content(),
            Some(b'#') if self.at > 0 && matches!(self.bytes[self.at - 1], b' ' | b'\n') => {
                self.find_content()
            }
            Some(_) => None,
        }
    }

    /// Skips the rest of a line, if any, blank lines and comments, up to the first byte of what follows.
    fn find_content(&mut self) -> Option<()> {
        let mut line = self.at;
        if self.at > 0 {
            line = self.line_end(self.at) + 1;
        }
        loop {
            let blanks =
                self.bytes.get(line..).unwrap_or_default().iter().take_while(|byte| **byte == b' ').count();
            self.at = (line + blanks).min(self.bytes.len());
            match self.bytes.get(self.at) {
                None => {
                    self.column = None;
                    return Some(());
                }
                Some(b'\n') => line = self.at + 1,
                Some(b'#') => line = self.line_end(self.at) + 1,
                Some(_) => {
                    self.column = Some(blanks);
                    // Here a document ends or another begins.
                    let is_mark =
                        blanks == 0 && matches!(self.bytes.get(self.at..self.at + 3), Some(b"---" | b"..."));
                    return (!is_mark).then_some(());
                }
            }
        }
    }

    /// Where the line ends that a place is in.
    fn line_end(&self, at: usize) -> usize {
        memchr::memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |length| at + length)
    }

    fn skip_blanks(&mut self) -> usize {
        let blanks = self.bytes[self.at..].iter().take_while(|byte| **byte == b' ').count();
        self.at += blanks;
        blanks
    }

    fn is_dash(&self) -> bool {
        self.bytes[self.at..].starts_with(b"-") && self.is_end_of_word(self.at + 1)
    }

    fn is_colon(&self) -> bool {
        self.bytes[self.at..].starts_with(b":") && self.is_end_of_word(self.at + 1)
    }

    fn is_end_of_word(&self, at: usize) -> bool {
        matches!(self.bytes.get(at), None | Some(b' ' | b'\n'))
    }

    /// Begins a list or map.
    fn open(&mut self) -> Option<()> {
        self.depth = self.depth.checked_sub(1)?;
        self.count()
    }

    /// Ends a list or map at `column`; what follows must not stand deeper.
    fn close(&mut self, column: usize) -> Option<()> {
        self.depth += 1;
        (self.column <= Some(column)).then_some(())
    }

    fn count(&mut self) -> Option<()> {
        self.nodes = self.nodes.checked_sub(1)?;
        Some(())
    }

    /// The entries of the innermost map, which began behind the `first` entries.
    fn take_entries(&mut self, first: usize) -> Option<Map> {
        let entries: Vec<Entry> = self.entries.drain(first..).collect();
        keys::duplicates(&entries, 1).is_empty().then(|| Map::new(entries))
    }

    fn node(&mut self, written: Written) -> Option<Node> {
        self.count()?;
        let span = self.span(written.start, written.end);
        Some(Node { value: Value::Scalar(Scalar { text: written.text, style: written.style }), span })
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start, end)
    }
}
