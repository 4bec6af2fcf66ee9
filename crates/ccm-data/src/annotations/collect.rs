//! Parsing of annotations, and their assignment to keys.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ccm_model::{
    Diagnostic, DiagnosticKind, Diagnostics, Node, NodeKey, NodeValue, Span, closest, escape_control, listed,
};

use super::comments::{self, Comment};
use super::{Annotation, AnnotationKind};
use crate::hierarchy::LevelMerge;

/// Names of annotations; the second is an alias of the first.
const NAMES: [&str; 6] = ["require", "required", "validate", "sensitive", "encrypted", "merge"];

/// Collects the annotations in `data`, given by its key and value. An annotation is written in a comment on a
/// line of its own above a key. A comment may hold several.
pub fn collect(
    source_text: &str,
    data: &NodeKey,
    node: &Node,
    diagnostics: &mut Diagnostics,
) -> Vec<Annotation> {
    diagnostics.extend(above_data(source_text, data));
    let may_lack_sign = may_lack_sign(data, source_text);
    if !may_lack_sign && !may_follow(data, source_text) {
        return Vec::new();
    }
    let mut without_sign: Vec<Comment> = Vec::new();
    let mut above: HashMap<u32, Vec<ParsedAnnotation>> = HashMap::new();
    for comment in comments::find(source_text, data.span.end, node) {
        let parsed = read(source_text, &comment);
        if may_lack_sign && lacks_sign(source_text, &comment) {
            without_sign.push(comment.clone());
        } else if may_lack_sign && let Some(text) = unsigned(source_text, &comment) {
            diagnostics.push(unsigned_warning(text, &comment));
        }
        match comment.above {
            Some(key) => above.entry(key).or_default().extend(parsed),
            None => diagnostics.extend(parsed.iter().filter(|one| one.kind.is_ok()).map(without_key)),
        }
    }
    for comment in without_sign {
        let is_sensitive = |one: &ParsedAnnotation| {
            matches!(one.kind, Ok(ParsedKind::Encrypted | ParsedKind::Plain(AnnotationKind::Sensitive)))
        };
        let annotated = comment.above.and_then(|key| above.get(&key)).into_iter().flatten().any(is_sensitive);
        if !annotated {
            diagnostics.push(sign_missing(&comment));
        }
    }
    let mut collector = AnnotationCollector {
        above,
        annotations: Vec::new(),
        path: Vec::new(),
        reported: HashSet::new(),
        diagnostics,
    };
    collector.node(node, false);
    collector.annotations
}

/// Returns the spans of annotations below a key other than `data`, where they have no effect.
pub fn annotation_spans(source_text: &str, key: &NodeKey, node: &Node) -> Vec<Span> {
    if !may_follow(key, source_text) {
        return Vec::new();
    }
    let comments = comments::find(source_text, key.span.end, node);
    let parsed = comments.iter().flat_map(|comment| read(source_text, comment));
    parsed.filter(|one| one.kind.is_ok()).map(|one| one.span).collect()
}

/// Returns the warnings about annotations in the comments directly above `data` itself.
fn above_data(source_text: &str, data: &NodeKey) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut end = data.span.start as usize;
    let Some(before) = source_text.get(..end) else { return found };
    for line in before.split_inclusive('\n').rev() {
        let start = end - line.len();
        let Some(comment) = line.trim_start().strip_prefix('#').filter(|_| line.ends_with('\n')) else {
            break;
        };
        let text = comment.trim();
        if text.starts_with('@') {
            let from = start + line.find('@').unwrap_or_default();
            let span = Span::new(data.span.source, from, from + text.len());
            let parsed = read(source_text, &Comment { span, is_alone: true, above: None });
            found.extend(parsed.iter().filter(|one| one.kind.is_ok()).map(|one| {
                let message = "an annotation above `data` itself has no effect";
                Diagnostic::warning(DiagnosticKind::NoEffect, one.span, message)
                    .with_hint("write the annotation above a key below `data`")
            }));
        }
        end = start;
    }
    found
}

/// Returns `true` if there may be annotations after a key.
fn may_follow(key: &NodeKey, source_text: &str) -> bool {
    let rest_of_text = source_text.as_bytes().get(key.span.end as usize..).unwrap_or_default();
    memchr::memchr(b'@', rest_of_text).is_some()
}

/// Word of the annotation whose missing `@` makes a secret public.
const SENSITIVE: &str = "sensitive";

/// Returns `true` if there may be an annotation without its `@` after a key.
fn may_lack_sign(key: &NodeKey, source_text: &str) -> bool {
    let rest_of_text = source_text.as_bytes().get(key.span.end as usize..).unwrap_or_default();
    // The first letter may be a capital.
    let words = [&SENSITIVE.as_bytes()[1..], b"# require", b"# validate", b"# merge"];
    words.into_iter().any(|word| memchr::memmem::find(rest_of_text, word).is_some())
}

/// Returns an annotation that lacks its `@`, of those that are no secret: `require`, `validate isInt(value)`, `merge deep`.
fn unsigned<'t>(source_text: &'t str, comment: &Comment) -> Option<&'t str> {
    let text = source_text.get(comment.span.range())?.trim();
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_annotation = match word {
        "require" => rest.is_empty(),
        // Prose has no comparison and no call.
        "validate" => {
            let is_word = |part: char| part.is_alphanumeric() || part == '_';
            rest.split(|part| !is_word(part)).any(|word| word == "value")
                && rest.contains(['(', '=', '<', '>'])
        }
        "merge" => LevelMerge::of(rest).is_some(),
        _ => false,
    };
    (is_annotation && comment.above.is_some()).then_some(text)
}

fn unsigned_warning(text: &str, comment: &Comment) -> Diagnostic {
    let message = "this comment is no annotation, because it lacks the `@`, and has no effect";
    Diagnostic::warning(DiagnosticKind::NoEffect, comment.span, message)
        .with_hint(format!("write `# @{}`", escape_control(text)))
}

/// Returns `true` if a comment is the word `sensitive`, and no prose about it.
fn lacks_sign(source_text: &str, comment: &Comment) -> bool {
    let text = source_text.get(comment.span.range()).unwrap_or_default();
    let (word, rest) = text.split_at(text.find(|part: char| !part.is_alphanumeric()).unwrap_or(text.len()));
    let rest = rest.trim_start_matches([' ', '\t', ',', ';', ':', '.', '!']);
    word.eq_ignore_ascii_case(SENSITIVE)
        && (rest.is_empty() || rest.starts_with('@'))
        && (comment.above.is_some() || !comment.is_alone)
}

fn sign_missing(comment: &Comment) -> Diagnostic {
    let message = "this comment is no annotation, because it lacks the `@`: the value is shown everywhere";
    let warning = Diagnostic::warning(DiagnosticKind::ExposedSecret, comment.span, message);
    warning.with_hint(match comment.above {
        Some(_) => "write `# @sensitive`",
        None => "write `# @sensitive` on a line of its own directly above the key",
    })
}

struct ParsedAnnotation {
    span: Span,
    kind: Result<ParsedKind, AnnotationError>,
}

enum ParsedKind {
    /// The values of the key are encrypted.
    Encrypted,
    /// Any other.
    Plain(AnnotationKind),
}

#[derive(Clone, Copy)]
enum AnnotationError {
    /// Unknown name; the field is the name that was probably meant.
    Misspelt(&'static str),
    /// Name that other programs have; the field says what to write.
    Foreign(&'static str),
    NoExpression,
    /// No word of `@merge`; the field is the word that was probably meant.
    NoMerge(Option<&'static str>),
}

/// Returns what to write in place of an annotation of another program. Other words with `@` may be
/// names of people, or describe the key.
fn foreign_name_hint(name: &str) -> Option<&'static str> {
    Some(match &*name.to_ascii_lowercase() {
        "secret" | "no_log" | "nolog" | "no-log" | "password" | "private" | "hidden" | "confidential"
        | "redact" | "redacted" | "mask" | "masked" => "write `# @sensitive`",
        "type" | "int" | "integer" | "number" | "string" | "bool" | "boolean" | "enum" | "pattern"
        | "regex" | "schema" | "format" | "check" | "assert" | "min" | "max" => {
            "write `# @validate` with an expression, such as `# @validate isInt(value)`"
        }
        "mandatory" | "notnull" | "not_null" | "nonempty" => "write `# @require`",
        "deep" | "deep_merge" | "lookup_options" => "write `# @merge deep`",
        "optional" | "default" | "deprecated" | "readonly" => {
            "the annotations are `@require`, `@validate`, `@sensitive`, `@encrypted` and `@merge`"
        }
        _ => return None,
    })
}

/// Parses the annotations of a comment. A word with `@` that resembles no name is ignored.
fn read(source_text: &str, comment: &Comment) -> Vec<ParsedAnnotation> {
    let mut found = Vec::new();
    let mut rest = source_text.get(comment.span.range()).unwrap_or_default();
    while let Some(after) = rest.strip_prefix('@') {
        let start = comment.span.end as usize - rest.len();
        let is_end = |character: char| !(character.is_alphanumeric() || matches!(character, '_' | '-'));
        let (name, after_name) = after.split_at(after.find(is_end).unwrap_or(after.len()));
        let name_span = Span::new(comment.span.source, start, start + 1 + name.len());
        rest = after_name.trim_start_matches([' ', '\t', ',', ';']);
        let (span, parsed_kind) = match name {
            "require" | "required" => (name_span, Ok(ParsedKind::Plain(AnnotationKind::Require))),
            "sensitive" => (name_span, Ok(ParsedKind::Plain(AnnotationKind::Sensitive))),
            "encrypted" => (name_span, Ok(ParsedKind::Encrypted)),
            "validate" => {
                let expression = after_name.strip_prefix(':').unwrap_or(after_name).trim();
                rest = "";
                if expression.is_empty() {
                    (name_span, Err(AnnotationError::NoExpression))
                } else {
                    let end = comment.span.end as usize;
                    let span = Span::new(comment.span.source, end - expression.len(), end);
                    let kind = AnnotationKind::Validate { expression: expression.to_owned(), span };
                    (Span { end: comment.span.end, ..name_span }, Ok(ParsedKind::Plain(kind)))
                }
            }
            "merge" => {
                let written = after_name.trim_start_matches([' ', '\t', ':']);
                let (word, after_word) = written.split_at(written.find(is_end).unwrap_or(written.len()));
                rest = after_word.trim_start_matches([' ', '\t', ',', ';']);
                let word_end = comment.span.end as usize - after_word.len();
                let span = Span::new(comment.span.source, start, word_end);
                match LevelMerge::of(word) {
                    Some(merge) => (span, Ok(ParsedKind::Plain(AnnotationKind::Merge(merge)))),
                    None => (span, Err(AnnotationError::NoMerge(closest(word, LevelMerge::WORDS)))),
                }
            }
            name => match (closest(name, NAMES), foreign_name_hint(name)) {
                (Some(meant), _) => (name_span, Err(AnnotationError::Misspelt(meant))),
                (None, Some(hint)) => (name_span, Err(AnnotationError::Foreign(hint))),
                (None, None) => continue,
            },
        };
        found.push(ParsedAnnotation { span, kind: parsed_kind });
    }
    found
}

struct AnnotationCollector<'d> {
    /// Annotations above each key, by the offset of the key.
    above: HashMap<u32, Vec<ParsedAnnotation>>,
    annotations: Vec<Annotation>,
    path: Vec<Arc<str>>,
    reported: HashSet<Span>,
    diagnostics: &'d mut Diagnostics,
}

impl AnnotationCollector<'_> {
    /// Visits a node. Nodes of an alias are visited again, under their own path.
    fn node(&mut self, node: &Node, is_in_list: bool) {
        match &node.value {
            NodeValue::Scalar(_) => {}
            NodeValue::List(elements) => {
                for element in elements {
                    self.node(element, true);
                }
            }
            NodeValue::Map(map) => {
                for entry in map.entries() {
                    self.path.push((&*entry.key.text).into());
                    self.key(&entry.key, entry.value.span, is_in_list);
                    self.node(&entry.value, is_in_list);
                    self.path.pop();
                }
            }
        }
    }

    fn key(&mut self, key: &NodeKey, value: Span, is_in_list: bool) {
        for ParsedAnnotation { span, kind: parsed_kind } in
            self.above.get(&key.span.start).into_iter().flatten()
        {
            let diagnostic = match parsed_kind {
                Err(error) => error_at(*error, *span),
                Ok(_) if is_in_list => Diagnostic::warning(
                    DiagnosticKind::NoEffect,
                    *span,
                    "an annotation in a list has no effect",
                )
                .with_hint("write the annotation above the key of the list"),
                Ok(kind) => {
                    let kinds = match kind {
                        ParsedKind::Plain(kind) => vec![kind.clone()],
                        // An encrypted value is sensitive by nature.
                        ParsedKind::Encrypted => {
                            vec![AnnotationKind::Sensitive, AnnotationKind::Encrypted { value }]
                        }
                    };
                    self.annotations.extend(kinds.into_iter().map(|kind| Annotation {
                        path: self.path.clone(),
                        key_span: key.span,
                        span: *span,
                        kind,
                    }));
                    continue;
                }
            };
            // An alias visits its keys again.
            if self.reported.insert(*span) {
                self.diagnostics.push(diagnostic);
            }
        }
    }
}

fn error_at(error: AnnotationError, span: Span) -> Diagnostic {
    match error {
        AnnotationError::Misspelt(meant) => {
            Diagnostic::warning(DiagnosticKind::NoEffect, span, "unknown annotation, which has no effect")
                .with_suggestion(Some(&format!("@{meant}")))
        }
        AnnotationError::Foreign(hint) => {
            Diagnostic::warning(DiagnosticKind::NoEffect, span, "unknown annotation, which has no effect")
                .with_hint(hint)
        }
        AnnotationError::NoMerge(meant) => {
            let warning = Diagnostic::warning(
                DiagnosticKind::NoEffect,
                span,
                "`@merge` has none of its words, and no effect",
            );
            match meant {
                Some(_) => warning.with_suggestion(meant),
                None => warning.with_hint(format!("use {}", listed(&LevelMerge::WORDS, "or"))),
            }
        }
        AnnotationError::NoExpression => {
            Diagnostic::error(DiagnosticKind::Missing, span, "`@validate` has no expression")
                .with_hint("write an expression, such as `# @validate isInt(value)`")
        }
    }
}

fn without_key(parsed: &ParsedAnnotation) -> Diagnostic {
    Diagnostic::warning(
        DiagnosticKind::NoEffect,
        parsed.span,
        "no key follows this annotation, which has no effect",
    )
    .with_hint("put the annotation on a line of its own directly above a key")
}
