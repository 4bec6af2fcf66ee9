//! What a program reads in an ini-like file, with the bytes that it reads it from.

use std::ops::Range;

use crate::parts::text::{PartConflict, TextLines};

use super::format::{Format, Syntax, is_space};
use super::{git_file, ini_file, joined_lines, mysql_file};

/// Sections and settings of a file, in their order.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub sections: Vec<Section>,
    pub settings: Vec<Setting>,
}

/// Section of a file. A section that is there several times is several of these. The first one has no header.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Section {
    /// Name in the form in which the program compares names; empty for the lines above the first header.
    pub name: Vec<u8>,
    /// Name that other programs read, if they read another one.
    pub other_name: Option<Vec<u8>>,
    pub header: Option<usize>,
    /// Lines below the header.
    pub lines: Range<usize>,
}

/// Assignment, or a key without a value.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    /// Index of the section.
    pub section: usize,
    pub key: Vec<u8>,
    /// Key that other programs read, if they read another one.
    pub other_key: Option<Vec<u8>>,
    /// Value that the program reads; `None` for a key without a value.
    pub value: Option<Vec<u8>>,
    /// All lines that the program reads together.
    pub lines: Range<usize>,
    /// Comment lines between them, which are no part of the setting.
    pub comments: Vec<usize>,
    /// Beginning of the key on the first line.
    pub start: usize,
    /// Bytes with the value. Those of a key without a value are at the end of the key.
    pub value_start: Position,
    pub value_end: Position,
}

/// Place of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub line: usize,
    pub column: usize,
}

impl Setting {
    /// Returns the lines from the first one to the end of the value, without comments between them.
    pub(super) fn own_lines(&self) -> impl DoubleEndedIterator<Item = usize> + '_ {
        (self.lines.start..=self.value_end.line).filter(|line| !self.comments.contains(line))
    }
}

impl Document {
    /// Reads a file. An error is a line that makes the program refuse the whole file.
    pub(super) fn read(lines: &TextLines<'_>, syntax: &Syntax) -> Result<Self, PartConflict> {
        match syntax.format {
            Format::Ini => Ok(ini_file::read(lines, syntax)),
            Format::Git => git_file::read(lines),
            Format::Systemd | Format::Samba => joined_lines::read(lines, syntax),
            Format::Mysql => mysql_file::read(lines, syntax),
        }
    }

    /// Returns a document with the lines above the first header.
    pub(super) fn new(lines: &TextLines<'_>, name: Vec<u8>) -> Self {
        let section = Section { name, other_name: None, header: None, lines: 0..lines.len() };
        Self { sections: vec![section], settings: Vec::new() }
    }

    /// Begins a section, whose header ends on this line.
    pub(super) fn begin(&mut self, name: Vec<u8>, first: usize, last: usize, lines: &TextLines<'_>) {
        if let Some(above) = self.sections.last_mut() {
            above.lines.end = first.max(above.lines.start);
        }
        let lines = last + 1..lines.len().max(last + 1);
        self.sections.push(Section { name, other_name: None, header: Some(first), lines });
    }

    /// Returns the index of the section that the next setting belongs to.
    pub(super) fn current(&self) -> usize {
        self.sections.len() - 1
    }

    pub(super) fn last(&mut self) -> Option<&mut Setting> {
        self.settings.last_mut()
    }
}

/// Builds the error of a line that makes the program refuse the whole file.
pub(super) fn unreadable(format: Format, line: usize) -> PartConflict {
    let program = match format {
        Format::Ini => "configparser",
        Format::Git => "git",
        Format::Systemd => "systemd",
        Format::Mysql => "MySQL",
        Format::Samba => "Samba",
    };
    let message = format!("{program} can't read line {}", line + 1);
    PartConflict::new(message, "repair the line, or check `path` and `format`").of_property("path")
}

pub(super) fn is_comment(line: &[u8]) -> bool {
    matches!(trim(line), [b'#' | b';', ..])
}

pub(super) fn is_blank(line: &[u8]) -> bool {
    trim(line).is_empty()
}

/// Returns the blanks at the beginning of a line.
pub(super) fn indentation(line: &[u8]) -> &[u8] {
    &line[..line.len() - trim_start(line).len()]
}

pub(super) fn trim_start(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| is_space(**byte)).count();
    &text[blanks..]
}

pub(super) fn trim_end(text: &[u8]) -> &[u8] {
    let blanks = text.iter().rev().take_while(|byte| is_space(**byte)).count();
    &text[..text.len() - blanks]
}

pub(super) fn trim(text: &[u8]) -> &[u8] {
    trim_end(trim_start(text))
}
