//! Abilities of the receiver of a report, and text that fits it.

use std::borrow::Cow;
use std::str::Chars;

use ccm_model::steers_terminal;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Least number of columns before the cut of a path.
const MIN_HEAD: usize = 3;

/// Abilities of the receiver of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Screen {
    /// Columns of a terminal. `None` for a file or a pipe, which get full lines.
    pub width: Option<usize>,
    /// `true` if arrows and the like can be shown. If not, their ASCII forms are written.
    pub is_unicode: bool,
}

/// A file or a pipe that takes UTF-8.
impl Default for Screen {
    fn default() -> Self {
        Self { width: None, is_unicode: true }
    }
}

impl Screen {
    /// Returns the sign between an old and a new value.
    pub(crate) fn arrow(self) -> &'static str {
        if self.is_unicode { "→" } else { "->" }
    }

    /// Returns the sign of removed lines.
    pub(crate) fn minus(self) -> &'static str {
        if self.is_unicode { "−" } else { "-" }
    }

    /// Returns the mark of a cut.
    fn ellipsis(self) -> &'static str {
        if self.is_unicode { "…" } else { "..." }
    }

    /// Breaks the lines of a text between words, so that they fit. A word that is too long stays whole, as what it names
    /// may be copied. Further lines are indented, below the text of a numbered line.
    pub fn folded(self, text: &str) -> Cow<'_, str> {
        let Some(width) = self.width.filter(|width| text.lines().any(|line| columns(line) > *width)) else {
            return Cow::Borrowed(text);
        };
        let mut folded = String::with_capacity(text.len() + 32);
        for line in text.split_inclusive('\n') {
            fold(line, width, &mut folded);
        }
        Cow::Owned(folded)
    }

    /// Cuts a text without control characters in the middle, so that it takes no more than a number of columns. Of a path,
    /// the last part stays whole if there is room for it.
    pub(crate) fn cut(self, text: &str, limit: usize) -> Cow<'_, str> {
        if columns(text) <= limit {
            return Cow::Borrowed(text);
        }
        let mark = self.ellipsis();
        let Some(rest) = limit.checked_sub(columns(mark)) else {
            return Cow::Borrowed(head(text, limit));
        };
        let last = text.rfind('/').filter(|at| *at > 0 && !text.contains(' ')).map(|at| &text[at..]);
        let last = last.filter(|last| columns(last) <= rest.saturating_sub(MIN_HEAD));
        let behind = last.unwrap_or_else(|| tail(text, rest / 2));
        let before = head(text, rest - columns(behind));
        Cow::Owned(format!("{before}{mark}{behind}"))
    }
}

/// Writes a line in lines of a width.
fn fold(line: &str, width: usize, folded: &mut String) {
    let blank = line.len() - line.trim_start_matches(' ').len();
    let rest = &line[blank..];
    let digits = rest.len() - rest.trim_start_matches(|digit: char| digit.is_ascii_digit()).len();
    let number = if digits > 0 && rest[digits..].starts_with("  ") { digits + 2 } else { 0 };
    let indent = blank + number + 2;
    let mut column = blank;
    folded.push_str(&line[..blank]);
    let mut gap = 0;
    for word in rest.split(' ') {
        // Columns are parted by several blanks.
        if word.is_empty() {
            gap += 1;
            continue;
        }
        // A number stays with the text behind it.
        if column > blank + number && column + gap + columns(word.trim_end_matches('\n')) > width {
            folded.push('\n');
            folded.extend(std::iter::repeat_n(' ', indent));
            column = indent;
        } else {
            folded.extend(std::iter::repeat_n(' ', gap));
            column += gap;
        }
        folded.push_str(word);
        column += columns(word);
        gap = 1;
    }
}

/// Returns the number of columns that a text without control characters takes.
pub(crate) fn columns(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.width() }
}

/// Returns a text without the control sequences of terminals, for text of no lasting value. A tab becomes a
/// blank.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if !text.contains(steers_terminal) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\t' => plain.push(' '),
            '\u{1b}' => match characters.next() {
                Some('[') => skip_until(&mut characters, is_end_of_control),
                Some(']' | 'P' | 'X' | '^' | '_') => skip_until(&mut characters, is_end_of_string),
                Some(' '..='/') => skip_until(&mut characters, |end| !(' '..='/').contains(&end)),
                _ => {}
            },
            '\u{9b}' => skip_until(&mut characters, is_end_of_control),
            '\u{9d}' | '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => {
                skip_until(&mut characters, is_end_of_string);
            }
            _ if steers_terminal(character) => {}
            _ => plain.push(character),
        }
    }
    Cow::Owned(plain)
}

fn is_end_of_control(character: char) -> bool {
    !(' '..='?').contains(&character)
}

fn is_end_of_string(character: char) -> bool {
    matches!(character, '\u{7}' | '\\' | '\u{9c}')
}

/// Skips a control sequence up to and including its last character.
fn skip_until(characters: &mut Chars<'_>, is_end: impl Fn(char) -> bool) {
    while characters.next().is_some_and(|character| !is_end(character)) {}
}

/// Returns the longest beginning that fits.
fn head(text: &str, limit: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, character)| {
        taken += character.width().unwrap_or_default();
        taken > limit
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// Returns the longest end that fits. A mark that belongs to the character before is left out.
fn tail(text: &str, limit: usize) -> &str {
    let mut taken = 0;
    let before = text.char_indices().rev().find(|(_, character)| {
        taken += character.width().unwrap_or_default();
        taken > limit
    });
    let end = before.map_or(text, |(at, character)| &text[at + character.len_utf8()..]);
    end.trim_start_matches(|character: char| character.width() == Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNICODE: Screen = Screen { width: None, is_unicode: true };
    const ASCII: Screen = Screen { width: None, is_unicode: false };

    #[test]
    fn control_sequences_are_left_out() {
        for (text, expected) in [
            ("Compiling ccm v0.1.0", "Compiling ccm v0.1.0"),
            ("\x1b[1;32mok\x1b[0m done\x1b[K", "ok done"),
            ("\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"),
            ("\x1b(Ba\x1bMb\x1b", "ab"),
            ("\u{9b}31mred\u{9d}x\u{9c}!", "red!"),
            ("a\tb\x08\x07c\u{202e}d\u{7f}e\0", "a bcde"),
            ("\x1b[ä日本", "日本"),
            ("\x1b]endless", ""),
        ] {
            assert_eq!(plain(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_long_text_is_cut_in_the_middle() {
        for (screen, text, limit, expected) in [
            (UNICODE, "/etc/motd", 9, "/etc/motd"),
            (UNICODE, "/etc/motd", 8, "/etc…otd"),
            (UNICODE, "/etc/motd", 7, "/et…otd"),
            (ASCII, "/etc/motd", 8, "/et...td"),
            (ASCII, "/etc/motd", 3, "..."),
            (ASCII, "/etc/motd", 2, "/e"),
            (UNICODE, "/etc/motd", 1, "…"),
            (UNICODE, "/etc/motd", 0, ""),
            (UNICODE, "日本語日本語", 12, "日本語日本語"),
            (UNICODE, "日本語日本語", 11, "日本語…本語"),
            (UNICODE, "日本語日本語", 8, "日本…語"),
            (UNICODE, "abcde\u{301}fghij", 8, "abcd…hij"),
            (UNICODE, "abcdefe\u{301}ghi", 8, "abcd…ghi"),
        ] {
            let cut = screen.cut(text, limit);
            assert_eq!(cut, expected, "{text} in {limit}");
            assert!(columns(&cut) <= limit);
        }
    }

    #[test]
    fn lines_end_between_words() {
        for (width, text, expected) in [
            (None, "one two three\n", "one two three\n"),
            (Some(13), "one two three\n", "one two three\n"),
            (Some(12), "one two three\n", "one two\n  three\n"),
            (Some(8), "  one two three\nfour\n", "  one\n    two\n    three\nfour\n"),
            // A numbered line goes on below its text.
            (Some(12), "12  exec#a   requires b\n", "12  exec#a\n      requires\n      b\n"),
            (Some(16), "1  a      b  c d e f\n", "1  a      b  c d\n     e f\n"),
            (Some(6), "see /a/long/path on\n", "see\n  /a/long/path\n  on\n"),
            (Some(6), "2  file#/a/long a\n", "2  file#/a/long\n     a\n"),
            (Some(3), "long", "long"),
            (Some(5), "日本 日本", "日本\n  日本"),
            (Some(4), "\n\na\n", "\n\na\n"),
        ] {
            let screen = Screen { width, is_unicode: true };
            assert_eq!(screen.folded(text), expected, "{text:?} in {width:?}");
        }
    }
}
