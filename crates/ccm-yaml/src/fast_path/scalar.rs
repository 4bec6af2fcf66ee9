//! Scalars on one line.

use ccm_model::ScalarStyle;

use super::FastPath;

pub(super) struct ScannedScalar {
    pub(super) text: Box<str>,
    pub(super) style: ScalarStyle,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl ScannedScalar {
    /// Missing value of a key.
    pub(super) fn missing(at: usize) -> Self {
        Self { text: "".into(), style: ScalarStyle::Plain, start: at, end: at }
    }
}

/// Context of a scalar, which determines its end.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ScalarContext {
    /// A line, after a dash or a key.
    Line,
    Brackets,
}

impl FastPath<'_> {
    pub(super) fn scalar(&mut self, context: ScalarContext) -> Option<ScannedScalar> {
        match self.bytes.get(self.at)? {
            b'\'' => self.single_quoted(),
            b'"' => self.double_quoted(),
            _ => self.plain(context),
        }
    }

    fn plain(&mut self, context: ScalarContext) -> Option<ScannedScalar> {
        let start = self.at;
        match self.bytes[start] {
            b'-' if context == ScalarContext::Line && !self.is_end_of_word(start + 1) => {}
            // An option such as `--force` in a list of arguments.
            b'-' if matches!(
                self.bytes.get(start + 1),
                Some(b'-' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9')
            ) => {}
            b'-' | b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|'
            | b'>' | b'%' | b'@' | b'`' | b'\t' | b'\n' => return None,
            _ => {}
        }
        let mut at = start + 1;
        let mut end = at;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'\n' => break,
                b':' if self.is_end_of_word(at + 1) => break,
                b'#' if end < at => break,
                b' ' => {
                    at += 1;
                    continue;
                }
                b'\t' => return None,
                b',' | b']' | b'}' if context == ScalarContext::Brackets => break,
                b'[' | b'{' if context == ScalarContext::Brackets => return None,
                b':' if context == ScalarContext::Brackets
                    && matches!(self.bytes.get(at + 1), Some(b',' | b'[' | b']' | b'{' | b'}')) =>
                {
                    return None;
                }
                _ => {}
            }
            at += 1;
            end = at;
        }
        // `key :` is left to the full parser.
        if self.bytes.get(at) == Some(&b':') && end < at {
            return None;
        }
        self.at = end;
        Some(ScannedScalar { text: self.text[start..end].into(), style: ScalarStyle::Plain, start, end })
    }

    fn single_quoted(&mut self) -> Option<ScannedScalar> {
        let start = self.at;
        let mut is_escaped = false;
        let mut at = start + 1;
        loop {
            match self.bytes.get(at)? {
                b'\'' if self.bytes.get(at + 1) == Some(&b'\'') => {
                    is_escaped = true;
                    at += 2;
                }
                b'\'' => break,
                b'\n' | b'\t' => return None,
                _ => at += 1,
            }
        }
        let text = &self.text[start + 1..at];
        let text = if is_escaped { text.replace("''", "'").into() } else { text.into() };
        Some(self.quoted(text, start, at + 1))
    }

    fn double_quoted(&mut self) -> Option<ScannedScalar> {
        let start = self.at;
        let mut text = String::new();
        let mut copied = start + 1;
        let mut at = start + 1;
        loop {
            match self.bytes.get(at)? {
                b'"' => break,
                b'\\' => {
                    let meant = match self.bytes.get(at + 1)? {
                        b'n' => '\n',
                        b't' => '\t',
                        b'"' => '"',
                        b'\\' => '\\',
                        _ => return None,
                    };
                    text.push_str(&self.text[copied..at]);
                    text.push(meant);
                    at += 2;
                    copied = at;
                }
                b'\n' | b'\t' => return None,
                _ => at += 1,
            }
        }
        let rest = &self.text[copied..at];
        let text = if text.is_empty() { rest.into() } else { (text + rest).into() };
        Some(self.quoted(text, start, at + 1))
    }

    fn quoted(&mut self, text: Box<str>, start: usize, end: usize) -> ScannedScalar {
        self.at = end;
        ScannedScalar { text, style: ScalarStyle::Quoted, start, end }
    }
}
