//! Mistakes in a manifest, shown with their lines.

use std::borrow::Cow;
use std::ops::{Range, RangeInclusive};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use ccm_model::{Diagnostic, Label, Severity, Source, SourceMap, escape_control};
use ccm_runtime::Findings;

use crate::console::Console;

/// Labels farther apart than this many lines are shown apart.
const TOGETHER: usize = 60;
/// A line longer than this many bytes is not shown, only named.
const LONGEST_LINE: usize = 500;
/// More mistakes than this are counted, not shown.
const MOST_SHOWN: usize = 100;

/// Shows errors and warnings on standard error.
pub(crate) fn print(console: &Console, findings: &Findings) {
    let Findings { diagnostics, texts: sources } = findings;
    // anstream strips the colours where they are not wanted, so they are always rendered.
    let renderer = Renderer::styled();
    let mut text = String::new();
    if diagnostics.is_empty() {
        return;
    }
    for diagnostic in diagnostics.iter().take(MOST_SHOWN) {
        text += &render(diagnostic, sources, &renderer);
        text += "\n\n";
    }
    if let Some(more) = diagnostics.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
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

/// What stands in an excerpt for a character that steers a terminal: one of as many bytes, so that places stay.
/// Those of ASCII are the renderer's.
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
    /// The lines of the first label and of the last, whichever comes before.
    lines: RangeInclusive<usize>,
    /// Whether the first of them is the place of the mistake.
    primary: bool,
}

fn clusters<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Vec<Cluster<'a>> {
    let mut clusters: Vec<Cluster<'a>> = Vec::new();
    for (position, label) in diagnostic.labels.iter().enumerate() {
        let Some(source) = sources.get(label.span.source) else { continue };
        let line = source.position(label.span.start as usize).line;
        let near = clusters.iter_mut().find(|cluster| {
            let (first, last) = (line.min(*cluster.lines.start()), line.max(*cluster.lines.end()));
            std::ptr::eq(cluster.source, source) && last - first <= TOGETHER
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
        // A mistake is shown where it begins; a block that goes on for pages is not shown whole.
        let end =
            self.labels.iter().map(|label| label.span.start as usize).max().unwrap_or(0).min(text.len());
        let from = text.as_bytes()[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let to =
            text.as_bytes()[end..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| end + at);
        let piece = text.get(from..to).unwrap_or_default();
        let first = self.source.position(start);
        if piece.lines().any(|line| line.len() > LONGEST_LINE) {
            let place = Origin::path(Cow::Borrowed(&*self.source.name));
            return place.line(first.line).char_column(first.column).into();
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

/// The part of a label that lies on its first line, in bytes of the piece; never empty if it can be helped.
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
    fn every_mistake_in_any_manifest_can_be_shown() {
        for input in ccm_fuzz::changed(ccm_fuzz::target("manifest"), 200) {
            let (diagnostics, texts) = ccm_fuzz::mistakes_of_manifest(&input);
            for diagnostic in &diagnostics {
                let shown = render(diagnostic, &texts, &Renderer::plain());
                let steers = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
                assert!(!shown.is_empty() && !shown.contains(steers), "{shown:?}");
            }
        }
    }
}
