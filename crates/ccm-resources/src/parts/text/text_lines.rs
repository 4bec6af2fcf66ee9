//! Lines of a text file, with their line ends as they are.

use super::{PartConflict, TEXT_ENCODING};

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const UTF_16_MARKS: [&[u8]; 2] = [b"\xff\xfe", b"\xfe\xff"];

/// Lines of a file. Every byte that is not edited stays: mixed line ends, a missing line end at the end, a byte
/// order mark, and bytes that are not UTF-8.
pub(crate) struct TextLines<'a> {
    mark: &'a [u8],
    lines: Vec<TextLine<'a>>,
    /// `true` if the last line has no line end.
    ends_open: bool,
    /// Line end of new lines.
    line_end: &'static [u8],
}

#[derive(Clone, Copy)]
struct TextLine<'a> {
    text: &'a [u8],
    end: &'a [u8],
}

impl<'a> TextLines<'a> {
    /// Splits a file into lines. Text in UTF-16 is an error: its lines can't be found by their bytes.
    pub(crate) fn parse(content: &'a [u8]) -> Result<Self, PartConflict> {
        if UTF_16_MARKS.iter().any(|mark| content.starts_with(mark)) {
            return Err(PartConflict::new(
                "the file is UTF-16 text, whose lines can't be edited",
                TEXT_ENCODING,
            ));
        }
        let (mark, rest) = split_mark(content);
        let lines: Vec<TextLine<'a>> = rest
            .split_inclusive(|byte| *byte == b'\n')
            .map(|whole| {
                let end = if whole.ends_with(b"\r\n") { 2 } else { usize::from(whole.ends_with(b"\n")) };
                let (text, end) = whole.split_at(whole.len() - end);
                TextLine { text, end }
            })
            .collect();
        let ends_open = lines.last().is_some_and(|last| last.end.is_empty());
        // A file without a line end gets that of Unix.
        let line_end: &'static [u8] =
            if lines.first().is_some_and(|first| first.end == b"\r\n") { b"\r\n" } else { b"\n" };
        Ok(Self { mark, lines, ends_open, line_end })
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

    /// Replaces a range of lines by others, which get the line end of new lines.
    pub(crate) fn splice(
        &mut self,
        range: std::ops::Range<usize>,
        texts: impl IntoIterator<Item = &'a [u8]>,
    ) {
        let new = texts.into_iter().map(|text| TextLine { text, end: &[] });
        self.lines.splice(range, new);
    }

    /// Returns the content of the file.
    pub(crate) fn into_content(self) -> Vec<u8> {
        let mut content = self.mark.to_owned();
        let last = self.lines.len().saturating_sub(1);
        for (index, TextLine { text, end }) in self.lines.into_iter().enumerate() {
            content.extend_from_slice(text);
            if index < last || !self.ends_open {
                content.extend_from_slice(if end.is_empty() { self.line_end } else { end });
            }
        }
        content
    }
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
mod tests {
    use super::*;

    fn edited(content: &[u8], edit: impl FnOnce(&mut TextLines<'_>)) -> Vec<u8> {
        let mut lines = TextLines::parse(content).unwrap_or_else(|error| panic!("{error:?}"));
        edit(&mut lines);
        lines.into_content()
    }

    #[test]
    fn unedited_content_stays_as_it_is() {
        for content in ["", "\n", "a", "a\n", "a\r\nb\n\nc", "\u{feff}a\r\n", "a\rb\n", "\r\n\r\n", "a\n\n"] {
            assert_eq!(edited(content.as_bytes(), |_| ()), content.as_bytes(), "{content:?}");
        }
        assert_eq!(edited(b"\xe4\n\xff", |_| ()), b"\xe4\n\xff");
    }

    #[test]
    fn new_lines_get_the_line_end_of_the_file() {
        for (before, after) in [
            ("", "x\n"),
            ("a", "a\nx"),
            ("a\n", "a\nx\n"),
            ("a\r\n", "a\r\nx\r\n"),
            ("a\r\nb", "a\r\nb\r\nx"),
            ("a\nb\r\n", "a\nb\r\nx\n"),
            ("\u{feff}", "\u{feff}x\n"),
        ] {
            let at_end = |lines: &mut TextLines<'_>| {
                let end = lines.len();
                lines.splice(end..end, [&b"x"[..]]);
            };
            assert_eq!(edited(before.as_bytes(), at_end), after.as_bytes(), "{before:?}");
        }
    }

    #[test]
    fn removed_last_line_leaves_the_end_as_it_was() {
        for (before, after) in [("a\nb\n", "a\n"), ("a\nb", "a"), ("a\r\nb", "a"), ("b\n", ""), ("b", "")] {
            let remove_last = |lines: &mut TextLines<'_>| lines.splice(lines.len() - 1..lines.len(), []);
            assert_eq!(edited(before.as_bytes(), remove_last), after.as_bytes(), "{before:?}");
        }
    }

    #[test]
    fn a_line_is_found_as_a_whole() {
        for (content, found) in [
            ("x", true),
            ("x\n", true),
            ("a\r\nx\r\nb", true),
            ("\u{feff}x\n", true),
            ("xx\nx", true),
            ("ax\nxa\n x\n", false),
            ("x\r", false),
            ("", false),
        ] {
            assert_eq!(has_line(content.as_bytes(), b"x"), found, "{content:?}");
        }
    }

    #[test]
    fn utf_16_is_refused() {
        assert!(TextLines::parse(b"\xff\xfea\0\n\0").is_err() && TextLines::parse(b"\xfe\xff\0a").is_err());
    }
}
