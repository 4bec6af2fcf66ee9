//! Lines of a text file, with their line ends as they are.

use super::PartConflict;

/// Hint for a file whose lines can't be found by their bytes.
pub(crate) const TEXT_ENCODING: &str =
    "convert the file to UTF-8 with the line ends of Unix, or manage it as a whole with `file`";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Lines of a file. Every byte that is not edited stays: mixed line ends, a missing line end at the end, a byte
/// order mark, and bytes that are not UTF-8.
pub(crate) struct TextLines<'a> {
    mark: &'a [u8],
    lines: Vec<TextLine<'a>>,
    /// `true` if the last line has no line end.
    ends_open: bool,
}

#[derive(Clone, Copy)]
struct TextLine<'a> {
    text: &'a [u8],
    /// Empty for a new line, which gets the line end of the line above it.
    end: &'a [u8],
}

impl<'a> TextLines<'a> {
    /// Splits a file into lines. A byte order mark is no part of the first line. UTF-16 and lines that end with a carriage return
    /// alone are errors.
    pub(crate) fn parse(content: &'a [u8]) -> Result<Self, PartConflict> {
        if let Some(what) = unreadable(content) {
            return Err(PartConflict::new(format!("the file is {what}"), TEXT_ENCODING));
        }
        let (mark, rest) = split_mark(content);
        Ok(Self { mark, ..Self::of(rest) })
    }

    /// Splits a file of the system into lines. The programs that read such files take a byte order mark for a part of
    /// the first line.
    pub(crate) fn of(content: &'a [u8]) -> Self {
        let lines: Vec<TextLine<'a>> = whole_lines(content).collect();
        let ends_open = lines.last().is_some_and(|last| last.end.is_empty());
        Self { mark: &[], lines, ends_open }
    }

    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns a line without its line end.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        self.lines.get(index).map_or(&[], |line| line.text)
    }

    /// Returns the lines without their line ends.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &'a [u8]> + ExactSizeIterator {
        self.lines.iter().map(|line| line.text)
    }

    /// Returns the indices of the lines that fulfil a condition.
    pub(crate) fn positions(&self, condition: impl Fn(&[u8]) -> bool) -> Vec<usize> {
        self.iter().enumerate().filter(|(_, line)| condition(line)).map(|(index, _)| index).collect()
    }

    /// Replaces a line; its line end stays.
    pub(crate) fn replace(&mut self, index: usize, text: &'a [u8]) {
        if let Some(line) = self.lines.get_mut(index) {
            line.text = text;
        }
    }

    /// Replaces a range of lines by others, which get the line end of the line above them.
    pub(crate) fn splice(
        &mut self,
        range: std::ops::Range<usize>,
        texts: impl IntoIterator<Item = &'a [u8]>,
    ) {
        let new = texts.into_iter().map(|text| TextLine { text, end: &[] });
        self.lines.splice(range, new);
    }

    /// Puts one line in place of all lines that fulfil a condition: where the first of them is, or at the end. `None`
    /// removes them.
    pub(crate) fn set(&mut self, condition: impl Fn(&[u8]) -> bool, line: Option<&'a [u8]>) {
        let found = self.positions(condition);
        let kept = match (line, found.first()) {
            (Some(line), Some(first)) => {
                self.replace(*first, line);
                1
            }
            (Some(line), None) => {
                self.append([line]);
                0
            }
            (None, _) => 0,
        };
        for index in found.iter().skip(kept).rev() {
            // What is above the last line has a line end.
            self.ends_open &= index + 1 < self.len();
            self.lines.remove(*index);
        }
    }

    /// Adds lines at the end, with a line end each, which some programs need to see a line.
    pub(crate) fn append(&mut self, texts: impl IntoIterator<Item = &'a [u8]>) {
        let end = self.len();
        self.splice(end..end, texts);
        self.close();
    }

    /// Gives the last line a line end.
    pub(crate) fn close(&mut self) {
        self.ends_open = false;
    }

    /// Returns the content of the file.
    pub(crate) fn into_content(self) -> Vec<u8> {
        let mut content = self.mark.to_owned();
        // A file without a line end gets that of Unix.
        let mut line_end =
            self.lines.iter().map(|line| line.end).find(|end| !end.is_empty()).unwrap_or(b"\n");
        let last = self.lines.len().saturating_sub(1);
        for (index, TextLine { text, end }) in self.lines.into_iter().enumerate() {
            content.extend_from_slice(text);
            if !end.is_empty() {
                line_end = end;
            }
            if index < last || !self.ends_open {
                content.extend_from_slice(line_end);
            }
        }
        content
    }
}

fn whole_lines(content: &[u8]) -> impl Iterator<Item = TextLine<'_>> {
    content.split_inclusive(|byte| *byte == b'\n').map(|whole| {
        let end = if whole.ends_with(b"\r\n") { 2 } else { usize::from(whole.ends_with(b"\n")) };
        let (text, end) = whole.split_at(whole.len() - end);
        TextLine { text, end }
    })
}

/// Returns the lines of a file of the system without their line ends.
pub(crate) fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    whole_lines(content).map(|line| line.text)
}

/// Returns bytes as text to show and to compare. What is written back stays bytes.
pub(crate) fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Encoding whose lines can't be found by their bytes, as messages name it; `None` for any other.
pub(crate) fn unreadable(content: &[u8]) -> Option<&'static str> {
    if matches!(content, [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..]) {
        return Some("UTF-32 text, whose lines can't be edited");
    }
    if is_utf_16(content) {
        return Some("UTF-16 text, whose lines can't be edited");
    }
    let has_carriage_returns = memchr::memchr2(b'\r', b'\n', content).is_some_and(|at| content[at] == b'\r')
        && memchr::memchr(b'\n', content).is_none();
    has_carriage_returns.then_some("text whose lines end with a carriage return alone, and can't be edited")
}

/// Returns `true` for UTF-16: by its mark, by the NUL bytes of its first two characters, or by those of all of its
/// line ends.
fn is_utf_16(content: &[u8]) -> bool {
    let begins = match content {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [0, one, 0, other, ..] | [one, 0, other, 0, ..] => {
            *one != 0 && *other != 0 && content.len().is_multiple_of(2)
        }
        _ => false,
    };
    begins || has_wide_line_ends(content)
}

fn has_wide_line_ends(content: &[u8]) -> bool {
    let is_possible = content.len().is_multiple_of(2) && memchr::memchr(0, content).is_some();
    let ends = || memchr::memchr_iter(b'\n', content);
    let is_little = |at: usize| at.is_multiple_of(2) && content.get(at + 1) == Some(&0);
    let is_big = |at: usize| !at.is_multiple_of(2) && content[at - 1] == 0;
    // One may be chance.
    is_possible && ends().nth(1).is_some() && (ends().all(is_little) || ends().all(is_big))
}

/// Returns `true` if a file has this line, without splitting the file into lines.
pub(crate) fn has_line(content: &[u8], line: &[u8]) -> bool {
    let (_, content) = split_mark(content);
    memchr::memmem::find_iter(content, line).any(|start| {
        let begins = start == 0 || content[start - 1] == b'\n';
        let rest = &content[start + line.len()..];
        begins && (rest.is_empty() || rest.starts_with(b"\n") || rest.starts_with(b"\r\n"))
    })
}

fn split_mark(content: &[u8]) -> (&[u8], &[u8]) {
    content.split_at(if content.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 })
}

#[cfg(test)]
mod tests;
