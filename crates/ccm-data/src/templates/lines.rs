//! Which line of a template wrote which line of its output.
//!
//! The template is rendered a second time with invisible marks in its literal text, each saying on which line
//! it stands. Marks come through loops, macros and blocks as the text around them does. They may keep blanks
//! from being trimmed, so the two outputs are compared without blanks.

use super::TemplateScope;
use super::error::TemplateError;
use super::render::render;
use super::scan::{Piece, scan};

/// Marks are characters of the two planes that nobody assigns meanings to, from here on.
const FIRST_MARK: u32 = 0xF_0000;

/// How many lines can be marked.
const MOST_LINES: usize = 0x1_FFFE;

/// Renders a template and tells, for each line of the output, the line of the template that wrote it.
///
/// Lines count from 1. What an include writes comes from the line of its tag, what a value writes from the line
/// of its expression; a blank line belongs to the line before it. There is no map for a template that
/// looks at its own text so closely that the marks would change what it writes.
pub fn render_with_lines(
    name: &str,
    text: &str,
    scope: &dyn TemplateScope,
) -> Result<(String, Option<Vec<usize>>), TemplateError> {
    let output = render(name, text, scope)?;
    let map = marked(text).filter(|_| !output.contains(is_mark)).and_then(|marked| {
        let marked = render(name, &marked, scope).ok()?;
        line_map(&output, &marked)
    });
    Ok((output, map))
}

fn is_mark(character: char) -> bool {
    u32::from(character) >= FIRST_MARK
}

/// The mark of a line, counted from 1.
fn mark(line: usize) -> Option<char> {
    char::from_u32(FIRST_MARK + u32::try_from(line - 1).ok()?)
}

/// Puts marks where literal text begins and where a line begins in it.
fn marked(text: &str) -> Option<String> {
    let scan = scan(text);
    if !scan.complete || text.contains(is_mark) || text.lines().count() > MOST_LINES {
        return None;
    }
    let mut marked = String::with_capacity(text.len() * 2);
    let mut copied = 0;
    let mut line = 1;
    for piece in scan.pieces {
        let Piece::Literal(range) = piece else { continue };
        let tag = &text[copied..range.start];
        marked += tag;
        line += tag.matches('\n').count();
        copied = range.end;
        marked.push(mark(line)?);
        for part in text[range].split_inclusive('\n') {
            marked += part;
            if part.ends_with('\n') {
                line += 1;
                marked.push(mark(line)?);
            }
        }
    }
    Some(marked)
}

/// Follows both outputs; none if they are not the same apart from marks and blanks.
fn line_map(output: &str, marked: &str) -> Option<Vec<usize>> {
    let mut current = 1;
    let mut marked = marked.chars();
    let mut map = Vec::new();
    let mut next = || loop {
        match marked.next() {
            Some(character) if is_mark(character) => {
                current = (u32::from(character) - FIRST_MARK) as usize + 1
            }
            Some(character) if character.is_whitespace() => {}
            character => return character.map(|character| (character, current)),
        }
    };
    let mut last = 1;
    for line in output.split_inclusive('\n') {
        let mut first = None;
        for character in line.chars().filter(|character| !character.is_whitespace()) {
            let (same, from) = next()?;
            if same != character {
                return None;
            }
            first = first.or(Some(from));
        }
        last = first.unwrap_or(last);
        map.push(last);
    }
    next().is_none().then_some(map)
}
