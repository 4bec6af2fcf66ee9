//! Mistakes in a manifest, shown with their lines.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use ccm_model::{Diagnostic, Label, Severity, Source, SourceId, SourceMap, escape_control};
use ccm_redaction::REDACTED;
use ccm_runtime::Findings;

use crate::hidden::Hidden;
use crate::messages::to_stderr;
use crate::secrets::secrets;

/// Labels farther apart than this many lines are shown apart.
const TOGETHER: usize = 60;
/// A line longer than this many bytes is not shown, only named.
const LONGEST_LINE: usize = 500;
/// More mistakes than this are counted, not shown.
const MOST_SHOWN: usize = 100;

/// Shows errors and warnings on standard error.
pub(crate) fn print(findings: &Findings) {
    let Findings { diagnostics, texts: sources } = findings;
    // anstream strips the colours where they are not wanted, so they are always rendered.
    let renderer = Renderer::styled();
    let mut text = String::new();
    if diagnostics.is_empty() {
        return;
    }
    let hidden = hidden(diagnostics.iter().take(MOST_SHOWN), sources);
    for diagnostic in diagnostics.iter().take(MOST_SHOWN) {
        text += &render(diagnostic, sources, &hidden, &renderer);
        text += "\n\n";
    }
    if let Some(more) = diagnostics.len().checked_sub(MOST_SHOWN).filter(|more| *more > 0) {
        text += &format!("... and {more} more\n\n");
    }
    to_stderr(&text);
}

/// What is shown of one of them.
pub(crate) fn rendered(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    render(diagnostic, sources, &hidden([diagnostic], sources), &Renderer::styled())
}

/// What must not be shown of the sources that these point into.
fn hidden<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    sources: &SourceMap,
) -> BTreeMap<SourceId, Hidden> {
    let mut hidden = BTreeMap::new();
    for id in diagnostics.into_iter().flat_map(|found| &found.labels).map(|label| label.span.source) {
        if let Some(source) = sources.get(id) {
            hidden.entry(id).or_insert_with(|| Hidden::of(&source.text));
        }
    }
    hidden
}

fn render(
    diagnostic: &Diagnostic,
    sources: &SourceMap,
    hidden: &BTreeMap<SourceId, Hidden>,
    renderer: &Renderer,
) -> String {
    let shown = |text: &str| {
        let about = diagnostic
            .labels
            .iter()
            .filter_map(|label| Some((hidden.get(&label.span.source)?, label.span.start as usize)));
        shown(&about.fold(text.to_owned(), |text, (hidden, place)| hidden.redact(&text, place)))
    };
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(shown(&diagnostic.message)));
    for cluster in clusters(diagnostic, sources) {
        group = group.element(cluster.element(hidden, &shown));
    }
    for hint in &diagnostic.hints {
        // A hint may show a few lines to write.
        let lines: Vec<_> = hint.split('\n').map(&shown).collect();
        group = group.element(Level::HELP.with_name("hint").message(lines.join("\n")));
    }
    renderer.render(&[group])
}

/// What a message may say: no secrets, and nothing that steers a terminal.
fn shown(text: &str) -> String {
    escape_control(&secrets().redact(text)).into_owned()
}

/// A piece of a source without its secrets.
struct Masked {
    text: String,
    /// Every part of the piece that was replaced.
    replaced: Vec<Range<usize>>,
}

impl Masked {
    fn of(source: &str, piece: Range<usize>, parts: &[Range<usize>]) -> Self {
        let whole = source.get(piece.clone()).unwrap_or_default();
        let mut hidden = secrets().redactor().hidden_in_text(whole);
        let parts = parts.iter().filter(|part| part.end > piece.start && part.start < piece.end);
        hidden.extend(
            parts.map(|part| part.start.saturating_sub(piece.start)..part.end.min(piece.end) - piece.start),
        );
        hidden.sort_by_key(|part| part.start);
        let mut masked = Self { text: String::new(), replaced: Vec::new() };
        let mut at = 0;
        for part in hidden {
            // What goes over a line end is replaced up to there, so that lines keep their numbers.
            let mut start = part.start.max(at);
            for line in whole.get(start..part.end).unwrap_or_default().split_inclusive('\n') {
                let end = start + line.trim_end_matches(['\r', '\n']).len();
                if end > start {
                    masked.text += whole.get(at..start).unwrap_or_default();
                    masked.text += REDACTED;
                    masked.replaced.push(start..end);
                    at = end;
                }
                start += line.len();
            }
        }
        masked.text += whole.get(at..).unwrap_or_default();
        masked.text = masked.text.chars().map(harmless).collect();
        masked
    }

    /// Where a place of the piece is now; what was replaced begins and ends with what replaced it.
    fn place(&self, place: usize) -> usize {
        let mut moved = place;
        for part in &self.replaced {
            if place >= part.end {
                moved = moved + REDACTED.len() - part.len();
            } else if place > part.start {
                return moved - (place - part.start);
            }
        }
        moved
    }
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
    fn element(&self, hidden: &BTreeMap<SourceId, Hidden>, shown: &dyn Fn(&str) -> String) -> Element<'a> {
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
        let parts = self.labels.first().and_then(|label| hidden.get(&label.span.source));
        let masked = Masked::of(text, from..to, parts.map_or(&[], |hidden| &hidden.parts));
        let mut snippet = Snippet::source(masked.text.clone())
            .line_start(first.line)
            .path(Cow::Borrowed(&*self.source.name));
        for (position, label) in self.labels.iter().enumerate() {
            let kind =
                if self.primary && position == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let range = within_line(piece, label, from);
            let range = masked.place(range.start)..masked.place(range.end);
            let annotation = kind.span(range);
            snippet = snippet.annotation(if label.text.is_empty() {
                annotation
            } else {
                annotation.label(shown(&label.text))
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
                let shown = render(diagnostic, &texts, &hidden([diagnostic], &texts), &Renderer::plain());
                let steers = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
                assert!(!shown.is_empty() && !shown.contains(steers), "{shown:?}");
            }
        }
    }
}
