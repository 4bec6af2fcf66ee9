//! Place of a new setting.

use super::document::{Document, Section, Setting, indentation, is_blank, is_comment, trim, trim_start};
use super::format::Syntax;
use super::ini_file;
use crate::parts::text::TextLines;

/// Place in a section.
pub(super) struct Placement {
    /// Index of the line below.
    pub before: usize,
    pub indentation: Vec<u8>,
}

/// Returns the place of a new setting in a section that is there: below a comment that holds the setting, else below the
/// last setting of the section, else at the beginning of the section.
pub(super) fn placement(
    key: &[u8],
    sections: &[usize],
    document: &Document,
    lines: &TextLines<'_>,
    syntax: &Syntax,
) -> Option<Placement> {
    let last = *sections.last()?;
    let of_section = |index: usize| document.settings.iter().filter(move |setting| setting.section == index);
    let commented = sections.iter().find_map(|index| {
        let section = &document.sections[*index];
        let heading = heading_of_next(*index, document, lines, key, syntax);
        let is_free = |line: &usize| !of_section(*index).any(|setting| setting.lines.contains(line));
        let mut candidates = section.lines.clone().filter(|line| *line < heading).filter(is_free);
        let line = candidates.find(|line| is_commented_out(lines.get(*line), key, syntax))?;
        Some((*index, line))
    });
    if let Some((index, line)) = commented {
        let above = of_section(index).rfind(|setting| setting.lines.start < line);
        let neighbour = above.or_else(|| of_section(index).next());
        return Some(Placement { before: line + 1, indentation: depth(neighbour, lines) });
    }
    if let Some(neighbour) = of_section(last).next_back() {
        return Some(Placement { before: neighbour.lines.end, indentation: depth(Some(neighbour), lines) });
    }
    let section = &document.sections[last];
    let heading = heading_of_next(last, document, lines, key, syntax);
    let comments = section.lines.clone().take_while(|line| {
        let text = lines.get(*line);
        *line < heading && (is_blank(text) || is_comment(text))
    });
    let last_comment = comments.filter(|line| is_comment(lines.get(*line))).last();
    Some(Placement {
        before: last_comment.map_or(section.lines.start, |line| line + 1),
        indentation: Vec::new(),
    })
}

/// Returns the first line of the comment that stands directly above the header below a section, or that header. A
/// comment of settings that are commented out belongs to the section above.
fn heading_of_next(
    index: usize,
    document: &Document,
    lines: &TextLines<'_>,
    key: &[u8],
    syntax: &Syntax,
) -> usize {
    let Section { lines: range, .. } = &document.sections[index];
    if index + 1 == document.sections.len() {
        return range.end;
    }
    let comment = range.clone().rev().take_while(|line| is_comment(lines.get(*line)));
    let first = comment.last().unwrap_or(range.end);
    let is_setting = |line: usize| {
        is_commented_out(lines.get(line), key, syntax) || holds_setting(lines.get(line), syntax)
    };
    if (first..range.end).all(is_setting) { range.end } else { first }
}

fn depth(neighbour: Option<&Setting>, lines: &TextLines<'_>) -> Vec<u8> {
    neighbour.map_or_else(Vec::new, |setting| indentation(lines.get(setting.lines.start)).to_vec())
}

/// Returns `true` for a comment that would set a key if its comment sign were removed.
fn is_commented_out(line: &[u8], key: &[u8], syntax: &Syntax) -> bool {
    commented(line, syntax).is_some_and(|found| syntax.key(&found.key) == key)
}

/// Returns `true` for a comment with a setting, and not with a sentence.
fn holds_setting(line: &[u8], syntax: &Syntax) -> bool {
    commented(line, syntax)
        .is_some_and(|found| found.value.is_some() && !found.key.iter().any(u8::is_ascii_whitespace))
}

fn commented(line: &[u8], syntax: &Syntax) -> Option<Setting> {
    let inner = trim(line).strip_prefix(b"#").or_else(|| trim(line).strip_prefix(b";"))?;
    let found = ini_file::setting(trim_start(inner), 0, 0, &syntax.delimiters)?;
    // Blanks alone separate words of a sentence as well.
    (found.value.is_some()).then_some(found)
}
