//! Errors and warnings, rendered with excerpts of the source.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use ccm_runtime::Findings;
use ccm_runtime::model::{Diagnostic, DiagnosticKind, Label, Severity, Source, SourceMap, escape_control};
use ccm_runtime::process::Terminal;

/// Maximum number of lines from the first label of an excerpt to the last.
const MAX_HEIGHT: usize = 60;
/// Margin before the text of a hint, below an excerpt from the first lines of a file.
const HINT_MARGIN: &str = "  = hint: ";
/// Width for which texts are folded at least.
const MIN_WIDTH: usize = 30;
/// Maximum number of columns from the leftmost label of an excerpt to the rightmost.
const MAX_WIDTH: usize = 100;
/// Maximum length in bytes of an excerpt, which the renderer cuts to the parts around the labels. Of a longer
/// excerpt only the location is shown.
const MAX_EXCERPT: usize = 32 << 10;
/// Maximum number of errors and warnings to show; the others are counted.
const MAX_SHOWN: usize = 1000;

/// Returns the text of errors and warnings for a terminal of this width, if it is one. Colours are always rendered, because
/// the console strips them if they are not wanted.
pub(crate) fn text(findings: &Findings, width: Option<usize>) -> String {
    let Findings { diagnostics, texts: sources } = findings;
    let renderer = renderer(width);
    let mut text = String::new();
    let (lines, excerpts): (Vec<_>, Vec<_>) = diagnostics.iter().partition(|found| is_line(found));
    for diagnostic in excerpts.into_iter().chain(lines).take(MAX_SHOWN) {
        text += &render(diagnostic, sources, &renderer, width);
        text += if is_line(diagnostic) { "\n" } else { "\n\n" };
    }
    if let Some(more) = diagnostics.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        text += &format!("... and {more} more: fix some of the above to see them\n\n");
    }
    text
}

/// Returns the text of one diagnostic, with colours.
pub(crate) fn render_styled(diagnostic: &Diagnostic, sources: &SourceMap, width: Option<usize>) -> String {
    render(diagnostic, sources, &renderer(width), width)
}

/// Returns the width of the terminal that shows errors and warnings.
pub(crate) fn terminal_width() -> Option<usize> {
    Terminal::on_standard_error().map(Terminal::width)
}

/// Returns `true` if a diagnostic takes a line without an excerpt. A manifest may use hundreds of files of the machine.
pub(crate) fn is_line(diagnostic: &Diagnostic) -> bool {
    diagnostic.kind == DiagnosticKind::NotChecked
}

fn renderer(width: Option<usize>) -> Renderer {
    match width {
        Some(width) => Renderer::styled().term_width(width.max(MIN_WIDTH)),
        None => Renderer::styled(),
    }
}

fn render(diagnostic: &Diagnostic, sources: &SourceMap, renderer: &Renderer, width: Option<usize>) -> String {
    let shown = |text: &str| escape_control(text).into_owned();
    if is_line(diagnostic) {
        let location = diagnostic.span().and_then(|span| sources.location(span));
        let location = location.map(|location| format!("{location}: ")).unwrap_or_default();
        return format!("note: {}", shown(&format!("{location}{}", diagnostic.message)));
    }
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = folded(&shown(&diagnostic.message), "warning: ".len(), width);
    let mut group = Group::with_title(level.primary_title(title));
    let excerpts = excerpts(diagnostic, sources);
    if excerpts.is_empty() {
        // Without an excerpt, a hint has no margin, as those of other errors.
        let folded = |line: &str| folded(&shown(line), "hint: ".len(), width).replace('\n', "\n      ");
        let lines = |hint: &String| hint.split('\n').map(folded).collect::<Vec<_>>().join("\n      ");
        let hints = diagnostic.hints.iter().map(|hint| format!("\nhint: {}", lines(hint)));
        return hints.fold(renderer.render(&[group]), |text, hint| text + &hint);
    }
    for excerpt in excerpts {
        group = group.element(excerpt.element());
    }
    for hint in &diagnostic.hints {
        // A hint may consist of several lines.
        let lines: Vec<_> =
            hint.split('\n').map(|line| folded(&shown(line), HINT_MARGIN.len(), width)).collect();
        group = group.element(Level::HELP.with_name("hint").message(lines.join("\n")));
    }
    renderer.render(&[group])
}

/// Breaks a line between words, so that it fits a terminal behind a margin. A word that is too long stays whole, as what it
/// names may be copied.
fn folded(line: &str, margin: usize, width: Option<usize>) -> String {
    let Some(room) = width.map(|width| width.max(MIN_WIDTH) - margin) else { return line.to_owned() };
    let mut folded = String::with_capacity(line.len() + 8);
    let mut column = 0;
    for (number, word) in line.split(' ').enumerate() {
        let taken = word.chars().count();
        if number > 0 && column + 1 + taken > room {
            folded.push('\n');
            column = 0;
        } else if number > 0 {
            folded.push(' ');
            column += 1;
        }
        folded += word;
        column += taken;
    }
    folded
}

/// Replaces a terminal control character by a character of the same length, so that offsets stay valid. The
/// renderer replaces ASCII control characters itself.
fn without_control(character: char) -> char {
    let is_control =
        |character: char| matches!(escape_control(character.encode_utf8(&mut [0; 4])), Cow::Owned(_));
    match character.len_utf8() {
        2 if is_control(character) => '\u{b7}',
        3 if is_control(character) => '\u{fffd}',
        _ => character,
    }
}

/// Labels of one source that are close enough for one excerpt.
struct Excerpt<'a> {
    source: &'a Source,
    labels: Vec<&'a Label>,
    /// Lines from the first label to the last.
    lines: RangeInclusive<usize>,
    /// Columns at which the labels begin, from the leftmost to the rightmost.
    columns: RangeInclusive<usize>,
    /// `true` if the first label is the location of the error.
    has_primary: bool,
}

fn excerpts<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Excerpt<'a>> {
    let mut excerpts: Vec<Excerpt<'a>> = Vec::new();
    for (position, label) in diagnostic.labels.iter().enumerate() {
        let Some(source) = sources.get(label.span.source) else { continue };
        let at = source.position(label.span.start as usize);
        let near = excerpts.iter_mut().find(|excerpt| {
            let (lines, columns) =
                (extended_to(&excerpt.lines, at.line), extended_to(&excerpt.columns, at.column));
            let is_near =
                lines.end() - lines.start() <= MAX_HEIGHT && columns.end() - columns.start() <= MAX_WIDTH;
            std::ptr::eq(excerpt.source, source) && is_near
        });
        if let Some(excerpt) = near {
            excerpt.labels.push(label);
            excerpt.lines = extended_to(&excerpt.lines, at.line);
            excerpt.columns = extended_to(&excerpt.columns, at.column);
        } else {
            excerpts.push(Excerpt {
                source,
                labels: vec![label],
                lines: at.line..=at.line,
                columns: at.column..=at.column,
                has_primary: position == 0,
            });
        }
    }
    excerpts
}

/// Extends a range to a number.
fn extended_to(range: &RangeInclusive<usize>, number: usize) -> RangeInclusive<usize> {
    number.min(*range.start())..=number.max(*range.end())
}

impl<'a> Excerpt<'a> {
    fn element(&self) -> Element<'a> {
        let text = &*self.source.text;
        let first_label =
            self.labels.iter().map(|label| label.span.start as usize).min().unwrap_or(0).min(text.len());
        // Ends at the beginning of the last label: a block of several pages is not shown whole.
        let last_label =
            self.labels.iter().map(|label| label.span.start as usize).max().unwrap_or(0).min(text.len());
        let excerpt_start =
            text.as_bytes()[..first_label].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let excerpt_end = text.as_bytes()[last_label..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(text.len(), |at| last_label + at);
        let piece = text.get(excerpt_start..excerpt_end).unwrap_or_default();
        let first = self.source.position(first_label);
        if piece.len() > MAX_EXCERPT {
            let origin = Origin::path(Cow::Borrowed(&*self.source.name));
            return origin.line(first.line).char_column(first.column).into();
        }
        let mut snippet = Snippet::source(piece.chars().map(without_control).collect::<String>())
            .line_start(first.line)
            .path(Cow::Borrowed(&*self.source.name));
        for (position, label) in self.labels.iter().enumerate() {
            let kind = if self.has_primary && position == 0 {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            let annotation = kind.span(within_line(piece, label, excerpt_start));
            snippet = snippet.annotation(if label.text.is_empty() {
                annotation
            } else {
                annotation.label(escape_control(&label.text).into_owned())
            });
        }
        snippet.into()
    }
}

/// Returns the part of a label on its first line, in bytes of the excerpt.
fn within_line(piece: &str, label: &Label, from: usize) -> Range<usize> {
    let start = (label.span.start as usize - from).min(piece.len());
    let line_end = piece[start..].find(['\n', '\r']).map_or(piece.len(), |at| start + at);
    let end = (label.span.end as usize).saturating_sub(from).clamp(start, line_end);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_without_a_location_has_no_margin() {
        let error = Diagnostic::without_location(DiagnosticKind::Unreadable, "no file")
            .with_hint("check the path")
            .with_hint("one\ntwo");
        let text = render(&error, &SourceMap::default(), &Renderer::plain(), None);
        assert_eq!(text, "error: no file\nhint: check the path\nhint: one\n      two");
    }

    #[test]
    fn every_error_in_any_manifest_can_be_shown() {
        for input in ccm_fuzz::mutations(ccm_fuzz::target("manifest"), 200) {
            let (diagnostics, texts) = ccm_fuzz::manifest_errors(&input);
            for diagnostic in &diagnostics {
                let shown = render(diagnostic, &texts, &Renderer::plain(), None);
                let is_control =
                    |character: char| character.is_control() && !matches!(character, '\n' | '\t');
                assert!(!shown.is_empty() && !shown.contains(is_control), "{shown:?}");
            }
        }
    }
}
