//! Errors and warnings, rendered with the lines that they point at.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use ccm_model::{Diagnostic, Label, Severity, Source, SourceMap, escape_control};
use ccm_runtime::Findings;

use crate::console::Console;

/// Number of lines between labels that are shown in one excerpt.
const MAX_GAP: usize = 60;
/// Length in bytes of a line that is shown; of a longer one only the location is.
const MAX_LINE: usize = 500;
/// Number of errors and warnings that are shown; the others are counted.
const MAX_SHOWN: usize = 100;

/// Shows errors and warnings on standard error.
pub(crate) fn print(console: &Console, findings: &Findings) {
    let Findings { diagnostics, texts: sources } = findings;
    // anstream strips the colours where they are not wanted, so they are always rendered.
    let renderer = Renderer::styled();
    let mut text = String::new();
    if diagnostics.is_empty() {
        return;
    }
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        text += &render(diagnostic, sources, &renderer);
        text += "\n\n";
    }
    if let Some(more) = diagnostics.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        text += &format!("... and {more} more\n\n");
    }
    console.write(&text);
}

/// Returns the text of one of them.
pub(crate) fn rendered(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    render(diagnostic, sources, &Renderer::styled())
}

fn render(diagnostic: &Diagnostic, sources: &SourceMap, renderer: &Renderer) -> String {
    let shown = |text: &str| escape_control(text).into_owned();
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(shown(&diagnostic.message)));
    for cluster in clusters(diagnostic, sources) {
        group = group.element(cluster.element());
    }
    for hint in &diagnostic.hints {
        // A hint may show a few lines to write.
        let lines: Vec<_> = hint.split('\n').map(shown).collect();
        group = group.element(Level::HELP.with_name("hint").message(lines.join("\n")));
    }
    renderer.render(&[group])
}

/// Replaces a character that steers a terminal by one of as many bytes, so that offsets stay. The renderer
/// replaces those of ASCII.
fn harmless(character: char) -> char {
    let steers =
        |character: char| matches!(escape_control(character.encode_utf8(&mut [0; 4])), Cow::Owned(_));
    match character.len_utf8() {
        2 if steers(character) => '\u{b7}',
        3 if steers(character) => '\u{fffd}',
        _ => character,
    }
}

/// Labels of one source that are near enough to be shown in one piece of it.
struct Cluster<'a> {
    source: &'a Source,
    labels: Vec<&'a Label>,
    /// Lines from the first label to the last.
    lines: RangeInclusive<usize>,
    /// `true` if the first label is the location of the error.
    primary: bool,
}

fn clusters<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Cluster<'a>> {
    let mut clusters: Vec<Cluster<'a>> = Vec::new();
    for (position, label) in diagnostic.labels.iter().enumerate() {
        let Some(source) = sources.get(label.span.source) else { continue };
        let line = source.position(label.span.start as usize).line;
        let near = clusters.iter_mut().find(|cluster| {
            let (first, last) = (line.min(*cluster.lines.start()), line.max(*cluster.lines.end()));
            std::ptr::eq(cluster.source, source) && last - first <= MAX_GAP
        });
        if let Some(cluster) = near {
            cluster.labels.push(label);
            cluster.lines = line.min(*cluster.lines.start())..=line.max(*cluster.lines.end());
        } else {
            clusters.push(Cluster {
                source,
                labels: vec![label],
                lines: line..=line,
                primary: position == 0,
            });
        }
    }
    clusters
}

impl<'a> Cluster<'a> {
    fn element(&self) -> Element<'a> {
        let text = &*self.source.text;
        let start =
            self.labels.iter().map(|label| label.span.start as usize).min().unwrap_or(0).min(text.len());
        // An error is shown where it begins; a block of several pages is not shown whole.
        let end =
            self.labels.iter().map(|label| label.span.start as usize).max().unwrap_or(0).min(text.len());
        let from = text.as_bytes()[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let to =
            text.as_bytes()[end..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| end + at);
        let piece = text.get(from..to).unwrap_or_default();
        let first = self.source.position(start);
        if piece.lines().any(|line| line.len() > MAX_LINE) {
            let origin = Origin::path(Cow::Borrowed(&*self.source.name));
            return origin.line(first.line).char_column(first.column).into();
        }
        let mut snippet = Snippet::source(piece.chars().map(harmless).collect::<String>())
            .line_start(first.line)
            .path(Cow::Borrowed(&*self.source.name));
        for (position, label) in self.labels.iter().enumerate() {
            let kind =
                if self.primary && position == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(within_line(piece, label, from));
            snippet = snippet.annotation(if label.text.is_empty() {
                annotation
            } else {
                annotation.label(escape_control(&label.text).into_owned())
            });
        }
        snippet.into()
    }
}

/// Returns the part of a label on its first line, in bytes of the piece.
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
    fn every_error_in_any_manifest_can_be_shown() {
        for input in ccm_fuzz::mutations(ccm_fuzz::target("manifest"), 200) {
            let (diagnostics, texts) = ccm_fuzz::manifest_errors(&input);
            for diagnostic in &diagnostics {
                let shown = render(diagnostic, &texts, &Renderer::plain());
                let steers = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
                assert!(!shown.is_empty() && !shown.contains(steers), "{shown:?}");
            }
        }
    }
}
