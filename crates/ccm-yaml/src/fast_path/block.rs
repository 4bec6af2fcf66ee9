//! Block scalars with `|` or `>`.

use ccm_model::ScalarStyle;

use super::FastPath;
use super::scalar::ScannedScalar;

struct Lines {
    start: usize,
    /// End of the last line with text.
    text_end: usize,
    /// Start of the first line after the block.
    end: usize,
    indentation: usize,
    indented: usize,
    blank_at_end: usize,
    /// `true` if an inner line is blank or indented deeper than the first.
    is_uneven: bool,
}

impl FastPath<'_> {
    /// Parses a block at its header; the block belongs to an entry at `column`.
    pub(super) fn block_scalar(&mut self, column: usize) -> Option<ScannedScalar> {
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
            // A line no longer than its indentation is blank.
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
        Some(ScannedScalar { text: text.into(), style: ScalarStyle::Block, start, end: lines.text_end })
    }

    /// Finds the lines of a block that begins at `start` with text.
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
            // A last line without an end is rare, so the full parser decides.
            if line_end == self.bytes.len() {
                return None;
            }
            let blanks = self.indentation(lines.end);
            let text = lines.end + blanks;
            if text == line_end {
                // Deeper blanks may be text, and the first line must not be blank.
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
