//! Layout of the text report, and escapes for text of unknown origin.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use anstyle::{AnsiColor, Style};
use ccm_model::{ResourceId, escape_control};

use crate::screen::{Screen, columns};

/// Style of a change.
pub(super) const CHANGE: Style = AnsiColor::Green.on_default();
/// Style of a warning.
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();
/// Style of a failure.
pub(super) const FAILURE: Style = AnsiColor::Red.on_default().bold();
/// Style of what matters less.
pub(super) const DIM: Style = Style::new().dimmed();
/// Style of everything else.
pub(super) const PLAIN: Style = Style::new();

/// Width below which a resource takes two lines and details are indented less.
const NARROW: usize = 60;
/// Maximum number of characters of a text that the report quotes.
const MAX_QUOTED: usize = 10_000;

/// Returns the name of a resource, on one line.
pub(super) fn name(id: &ResourceId) -> String {
    escape_control(&id.to_string()).into_owned()
}

/// Returns the names of resources, on one line.
pub(super) fn names(ids: &[ResourceId]) -> String {
    ids.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// Joins names, of which only the first are shown.
pub(super) fn few(names: &[String]) -> String {
    /// Maximum number of names in a line.
    const MAX_NAMES: usize = 5;
    let shown = names[..names.len().min(MAX_NAMES)].join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

pub(super) fn first_line(text: &str) -> (&str, Option<&str>) {
    let text = text.trim_end_matches('\n');
    text.split_once('\n').map_or((text, None), |(first, rest)| (first, Some(rest)))
}

/// Writer of lines for a screen.
pub(super) struct Page<'a> {
    pub out: &'a mut String,
    pub screen: Screen,
}

impl Page<'_> {
    /// Returns `true` if a resource takes two lines.
    pub(super) fn is_narrow(&self) -> bool {
        self.screen.width.is_some_and(|width| width < NARROW)
    }

    /// Returns the indentation of details.
    pub(super) fn indent(&self) -> usize {
        if self.is_narrow() { 4 } else { 6 }
    }

    /// Writes a detail below the line of its resource. Further lines of the text are marked by a bar.
    pub(super) fn below(&mut self, label: &str, text: &str) -> fmt::Result {
        self.styled_below(PLAIN, label, text)
    }

    /// Writes a detail in a style.
    pub(super) fn styled_below(&mut self, style: Style, label: &str, text: &str) -> fmt::Result {
        let text = bounded(text);
        let (first, rest) = first_line(&text);
        let indent = self.indent();
        self.text(style, indent, &format!("{label}{}", escape_control(first)))?;
        self.continued(rest)
    }

    /// Writes the lines of a text after its first line.
    fn continued(&mut self, rest: Option<&str>) -> fmt::Result {
        rest.into_iter().flat_map(|rest| rest.split('\n')).try_for_each(|line| self.barred("", line))
    }

    /// Writes a line of words. On a terminal it goes on in the next line between two words, further to the right.
    pub(super) fn text(&mut self, style: Style, indent: usize, line: &str) -> fmt::Result {
        write!(self.out, "{:indent$}{style}", "")?;
        match self.screen.width {
            Some(width) if indent + columns(line) > width => self.wrapped(line, indent, width),
            _ => self.out.push_str(line),
        }
        writeln!(self.out, "{style:#}")
    }

    fn wrapped(&mut self, line: &str, indent: usize, width: usize) {
        let mut column = indent;
        for (number, word) in line.split(' ').enumerate() {
            let taken = columns(word);
            if number > 0 && column + 1 + taken > width {
                column = indent + 2;
                self.out.push('\n');
                self.out.extend(std::iter::repeat_n(' ', column));
            } else if number > 0 {
                self.out.push(' ');
                column += 1;
            }
            self.out.push_str(word);
            column += taken;
        }
    }

    /// Writes a line that a command printed, with a mark that no line of ccm has.
    pub(super) fn output(&mut self, prefix: &str, line: &str) -> fmt::Result {
        self.barred(&format!("{prefix} "), line)
    }

    fn barred(&mut self, prefix: &str, line: &str) -> fmt::Result {
        let blank = if line.is_empty() { "" } else { " " };
        let indent = self.indent();
        writeln!(self.out, "{:indent$}{DIM}{prefix}|{DIM:#}{blank}{}", "", escape_but_tabs(line))
    }

    /// Writes a unified diff like a detail, but without bars: each line begins with a mark of the diff.
    pub(super) fn diff(&mut self, diff: &str) -> fmt::Result {
        let style = |line: &str| match line.as_bytes().first() {
            Some(b'+') => AnsiColor::Green.on_default(),
            Some(b'-') => AnsiColor::Red.on_default(),
            _ => PLAIN,
        };
        let indent = self.indent();
        diff.split_terminator('\n').try_for_each(|line| {
            let style = style(line);
            writeln!(self.out, "{:indent$}{style}{}{style:#}", "", escape_but_tabs(line))
        })
    }

    /// Writes a message of the manifest, with escapes for control characters.
    pub(super) fn message(&mut self, message: &str) -> fmt::Result {
        message.lines().try_for_each(|line| writeln!(self.out, "{}", escape_but_tabs(line)))
    }
}

/// Cuts a text that is too long to be read.
fn bounded(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_QUOTED) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            Cow::Owned(format!("{}... (truncated, {more} more chars)", &text[..end]))
        }
    }
}

/// Tabs align the output of commands and are harmless.
fn escape_but_tabs(line: &str) -> String {
    line.split('\t').map(escape_control).collect::<Vec<_>>().join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_counted() {
        let names: Vec<String> = "a b c d e f g".split(' ').map(str::to_owned).collect();
        for (count, expected) in [
            (0, ""),
            (1, "a"),
            (5, "a, b, c, d, e"),
            (6, "a, b, c, d, e and 1 more"),
            (7, "a, b, c, d, e and 2 more"),
        ] {
            assert_eq!(few(&names[..count]), expected);
        }
    }

    #[test]
    fn a_terminal_gets_lines_that_end_between_words() {
        for (width, text, expected) in [
            (None, "set `force: true` to remove it", "      hint: set `force: true` to remove it\n"),
            (Some(60), "set `force: true` to remove it", "      hint: set `force: true` to remove it\n"),
            (Some(24), "set `force: true` to remove it", "    hint: set `force:\n      true` to remove it\n"),
            (
                Some(20),
                "remove /a/long/path/that/stays a",
                "    hint: remove\n      /a/long/path/that/stays\n      a\n",
            ),
        ] {
            let mut out = String::new();
            let mut page = Page { out: &mut out, screen: Screen { width, is_unicode: true } };
            page.below("hint: ", text).expect("a string takes everything");
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn an_endless_text_is_cut() {
        let mut out = String::new();
        let mut page = Page { out: &mut out, screen: Screen::default() };
        page.below("", &"ä".repeat(MAX_QUOTED + 7)).expect("a string takes everything");
        assert_eq!(out, format!("      {}... (truncated, 7 more chars)\n", "ä".repeat(MAX_QUOTED)));
    }
}
