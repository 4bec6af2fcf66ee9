//! Redaction of diagnostics and of the texts that they point into.

use std::collections::BTreeMap;
use std::ops::Range;

use ccm_model::{Diagnostic, Findings, Label, SourceId, SourceMap, Span};
use ccm_redaction::{REDACTED, Redactor, Secrets};

use super::sensitive_text::SensitiveText;

/// Redacts the known secrets, and sensitive values in the texts.
pub(crate) fn redacted(diagnostics: Vec<Diagnostic>, texts: &SourceMap, secrets: &Secrets) -> Findings {
    redact(diagnostics, texts, &secrets.redactor())
}

/// Redacts sensitive values and the secrets of the redactor.
fn redact(diagnostics: Vec<Diagnostic>, texts: &SourceMap, secrets: &Redactor) -> Findings {
    let mut sources: BTreeMap<SourceId, RedactedSource> = BTreeMap::new();
    for label in diagnostics.iter().flat_map(|found| &found.labels) {
        if let Some(source) = texts.get(label.span.source) {
            sources.entry(label.span.source).or_insert_with(|| RedactedSource::new(&source.text, secrets));
        }
    }
    let diagnostics = diagnostics.into_iter().map(|found| diagnostic(found, &sources, secrets)).collect();
    let mut redacted = SourceMap::default();
    for id in (0..).map(SourceId) {
        let Some(source) = texts.get(id) else { break };
        let text = sources.remove(&id).map(|source| source.text).unwrap_or_default();
        redacted.add(secrets.redact(&source.name), text);
    }
    Findings { diagnostics, texts: redacted }
}

fn diagnostic(
    diagnostic: Diagnostic,
    sources: &BTreeMap<SourceId, RedactedSource>,
    secrets: &Redactor,
) -> Diagnostic {
    let Diagnostic { severity, kind, message, labels, hints, missing, property } = diagnostic;
    let text = |text: &str| {
        let around = labels.iter().filter_map(|label| Some((sources.get(&label.span.source)?, label.span)));
        let text = around.fold(text.to_owned(), |text, (source, span)| {
            source.sensitive.redact(&text, span.start as usize)
        });
        secrets.redact(&text).into_owned()
    };
    let label = |label: &Label| {
        let moved = |source: &RedactedSource| {
            let [start, end] =
                [label.span.start, label.span.end].map(|at| source.redacted_offset(at as usize));
            Span::new(label.span.source, start, end)
        };
        Label { span: sources.get(&label.span.source).map_or(label.span, moved), text: text(&label.text) }
    };
    Diagnostic {
        severity,
        kind,
        message: text(&message),
        labels: labels.iter().map(label).collect(),
        hints: hints.iter().map(|hint| text(hint)).collect(),
        missing: missing.map(|missing| missing.iter().map(|key| text(key)).collect()),
        property,
    }
}

/// A source without its sensitive values.
struct RedactedSource {
    text: String,
    sensitive: SensitiveText,
    /// Replaced ranges of the original, in order.
    replaced: Vec<Range<usize>>,
}

impl RedactedSource {
    fn new(whole: &str, secrets: &Redactor) -> Self {
        let sensitive = SensitiveText::of(whole);
        let mut hidden = secrets.hidden_in_text(whole);
        hidden.extend_from_slice(&sensitive.parts);
        hidden.extend(sensitive.values.hidden_in_text(whole));
        hidden.sort_by_key(|part| part.start);
        let mut redacted = Self { text: String::with_capacity(whole.len()), sensitive, replaced: Vec::new() };
        let mut at = 0;
        for part in hidden {
            // A range over several lines is replaced up to each line end, so that lines keep their numbers.
            let mut start = part.start.max(at);
            for line in whole.get(start..part.end).unwrap_or_default().split_inclusive('\n') {
                let end = start + line.trim_end_matches(['\r', '\n']).len();
                if end > start {
                    redacted.text += whole.get(at..start).unwrap_or_default();
                    redacted.text += REDACTED;
                    redacted.replaced.push(start..end);
                    at = end;
                }
                start += line.len();
            }
        }
        redacted.text += whole.get(at..).unwrap_or_default();
        redacted
    }

    /// Converts an offset to the redacted text. An offset inside a replaced range becomes the beginning of
    /// its replacement.
    fn redacted_offset(&self, offset: usize) -> usize {
        let mut moved = offset;
        for part in &self.replaced {
            if offset >= part.end {
                moved = moved + REDACTED.len() - part.len();
            } else if offset > part.start {
                return moved - (offset - part.start);
            } else {
                break;
            }
        }
        moved
    }
}

#[cfg(test)]
mod tests {
    use ccm_model::DiagnosticKind;

    use super::*;

    fn redacted(
        text: &str,
        secret: &str,
        diagnostic: impl FnOnce(SourceId) -> Diagnostic,
    ) -> (Diagnostic, String) {
        let mut texts = SourceMap::default();
        texts.add("other.yaml", "nothing points here");
        let id = texts.add(format!("{secret}.yaml"), text);
        let found = redact(vec![diagnostic(id)], &texts, &Redactor::new([secret]));
        assert_eq!(found.texts.get(SourceId(0)).map(|source| &*source.text), Some(""));
        let source = found.texts.get(id).expect("the text");
        assert_eq!(source.name, "[redacted].yaml");
        let diagnostic = found.diagnostics.into_iter().next().expect("a diagnostic");
        (diagnostic, source.text.to_string())
    }

    #[test]
    fn a_secret_is_in_no_part_of_a_diagnostic() {
        let text = "a: hunter22\nb: {c: hunter22, d: x}\n";
        let (found, shown) = redacted(text, "hunter22", |id| {
            let at = text.find("d: x").unwrap_or_default();
            let mut found = Diagnostic::error(
                DiagnosticKind::InvalidValue,
                Span::new(id, at, at + 1),
                "`hunter22` is wrong",
            )
            .labelled("not hunter22")
            .with_hint("write hunter22");
            found.missing = Some(["Data", "hunter22"].map(str::to_owned).into());
            found
        });
        assert_eq!(shown, "a: [redacted]\nb: {c: [redacted], d: x}\n");
        assert_eq!(shown.get(found.labels[0].span.range()), Some("d"));
        assert!(!format!("{found:?}").contains("hunter22"), "{found:?}");
    }

    #[test]
    fn a_copy_of_a_value_of_an_invalid_source_is_hidden() {
        for value in ["hunter22", "\"hunter22\"", "{k: [x, hunter22]}", "\n- hunter22", "\n  k: 'hunter22'"] {
            let text = format!("# @sensitive\npw: {value}\nb: login hunter22 : x\n");
            let (_, shown) = redacted(&text, "another secret", |id| {
                Diagnostic::error(DiagnosticKind::InvalidValue, Span::new(id, 0, 1), "wrong")
            });
            assert!(!shown.contains("hunter22") && shown.contains("b: login [redacted] : x"), "{shown}");
        }
    }

    #[test]
    fn a_span_inside_a_secret_points_at_its_replacement_and_lines_keep_their_numbers() {
        let text = "k: |\n  first half\n  second half\nlast: x\n";
        let (found, shown) = redacted(text, "first half\n  second half", |id| {
            let at = text.find("second").unwrap_or_default();
            Diagnostic::error(DiagnosticKind::InvalidValue, Span::new(id, at, text.len() - 1), "wrong")
        });
        assert_eq!(shown, "k: |\n  [redacted]\n[redacted]\nlast: x\n");
        assert_eq!(shown.get(found.labels[0].span.range()), Some("[redacted]\nlast: x"));
    }

    #[test]
    fn spans_of_any_manifest_point_into_its_redacted_text() {
        for input in ccm_fuzz::mutations(ccm_fuzz::target("manifest"), 200) {
            let (diagnostics, texts) = ccm_fuzz::manifest_errors(&input);
            // Each range that a diagnostic may point at is tried as a secret.
            let words: Vec<String> = diagnostics
                .iter()
                .filter_map(Diagnostic::span)
                .filter_map(|span| Some(texts.get(span.source)?.text.get(span.range())?.to_owned()))
                .collect();
            let secrets = Redactor::new(words.iter().map(String::as_str));
            let found = redact(diagnostics, &texts, &secrets);
            for label in found.diagnostics.iter().flat_map(|found| &found.labels) {
                let source = found.texts.get(label.span.source).expect("its text");
                let length = source.text.len();
                let [start, end] = [label.span.start, label.span.end].map(|at| (at as usize).min(length));
                assert!(source.text.get(start..end.max(start)).is_some(), "{label:?} in {:?}", source.text);
            }
        }
    }
}
