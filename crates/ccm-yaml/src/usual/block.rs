//! Scalars of several lines, behind `|` or `>`.

use ccm_model::ScalarStyle;

use super::Usual;
use super::scalar::Written;

/// The lines of a block and what stands before each.
struct Lines {
    start: usize,
    /// Behind the last line that holds text.
    text_end: usize,
    /// The begin of the first line that does not belong to it.
    end: usize,
    indentation: usize,
    /// How many bytes of it are indentation.
    indented: usize,
    /// How many lines at its end hold nothing.
    blank_at_end: usize,
    /// A line within it holds nothing, or begins deeper than the first.
    is_uneven: bool,
}

impl Usual<'_> {
    /// Reads a block whose header comes next and which belongs to what stands at `column`.
    pub(super) fn block_scalar(&mut self, column: usize) -> Option<Written> {
        let start = self.at;
        let is_folded = self.bytes[start] == b'>';
        let header_end = self.line_end(start);
        let chomping = match &self.bytes[start + 1..header_end] {
            b"" => None,
            [one @ (b'-' | b'+')] => Some(*one),
            _ => return None,
        };
        let lines = self.lines(header_end + 1, column)?;
        if is_folded && lines.is_uneven {
            return None;
        }
        let mut text = String::with_capacity(lines.end - lines.start - lines.indented);
        let mut line = lines.start;
        while line < lines.text_end {
            let end = self.line_end(line);
            // A line that is no longer than its indentation holds nothing.
            text.push_str(self.text.get(line + lines.indentation..end).unwrap_or_default());
            text.push('\n');
            line = end + 1;
        }
        if is_folded {
            text = text.replace('\n', " ");
            text.pop();
            text.push('\n');
        }
        match chomping {
            Some(b'-') => _ = text.pop(),
            Some(_) => text.extend(std::iter::repeat_n('\n', lines.blank_at_end)),
            None => {}
        }
        self.at = lines.end - 1;
        self.find_content()?;
        (self.column <= Some(column)).then_some(())?;
        Some(Written { text: text.into(), style: ScalarStyle::Block, start, end: lines.text_end })
    }

    /// Finds the lines of a block, the first of which begins at `start` and holds text.
    fn lines(&self, start: usize, column: usize) -> Option<Lines> {
        let indentation = self.indentation(start);
        if indentation <= column {
            return None;
        }
        let mut lines = Lines {
            start,
            text_end: start,
            end: start,
            indentation,
            indented: 0,
            blank_at_end: 0,
            is_uneven: false,
        };
        while lines.end < self.bytes.len() {
            let line_end = self.line_end(lines.end);
            // A last line without an end is rare and leaves open what is meant.
            if line_end == self.bytes.len() {
                return None;
            }
            let blanks = self.indentation(lines.end);
            let text = lines.end + blanks;
            if text == line_end {
                // Blanks may be text there; the first line can't be one of these.
                if blanks > indentation || lines.end == start {
                    return None;
                }
                lines.indented += blanks;
                lines.blank_at_end += 1;
            } else if blanks < indentation {
                let is_clear = blanks <= column && self.bytes[text] != b'\t';
                return is_clear.then_some(lines);
            } else {
                let begins_with_tab = self.bytes[text] == b'\t';
                let is_blank = || self.bytes[text..line_end].iter().all(|byte| matches!(byte, b' ' | b'\t'));
                if begins_with_tab && (lines.end == start || is_blank()) {
                    return None;
                }
                lines.indented += indentation;
                lines.is_uneven |= blanks > indentation || lines.blank_at_end > 0 || begins_with_tab;
                lines.blank_at_end = 0;
                lines.text_end = line_end;
            }
            lines.end = line_end + 1;
        }
        Some(lines)
    }

    fn indentation(&self, line: usize) -> usize {
        self.bytes[line.min(self.bytes.len())..].iter().take_while(|byte| **byte == b' ').count()
    }
}
