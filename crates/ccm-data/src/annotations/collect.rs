//! Reads annotations from comments, and finds the keys that they are about.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ccm_model::{Diagnostic, Diagnostics, Key, Node, Span, Value, closest};

use super::comments::{self, Comment};
use super::{Annotation, Kind};

/// What an annotation may be called; the second is another name for the first.
const NAMES: [&str; 4] = ["require", "required", "validate", "sensitive"];

/// Finds all annotations within `data`, whose key and value are given. An annotation is a comment on a line
/// directly above a key, alone on its line; several may follow each other, also on one line.
pub fn collect(source_text: &str, data: &Key, node: &Node, diagnostics: &mut Diagnostics) -> Vec<Annotation> {
    if !may_be_behind(data, source_text) {
        return Vec::new();
    }
    let mut above: HashMap<u32, Vec<Written>> = HashMap::new();
    for comment in comments::find(source_text, data.span.end, node) {
        let written = read(source_text, &comment);
        match comment.above {
            Some(key) => above.entry(key).or_default().extend(written),
            None => diagnostics.extend(written.iter().filter(|one| one.what.is_ok()).map(above_nothing)),
        }
    }
    let mut walk =
        Walk { above, annotations: Vec::new(), path: Vec::new(), reported: HashSet::new(), diagnostics };
    walk.node(node, false);
    walk.annotations
}

/// Where annotations stand within a part of a manifest that is not about values, whose key and value are given.
pub fn places(source_text: &str, key: &Key, node: &Node) -> Vec<Span> {
    if !may_be_behind(key, source_text) {
        return Vec::new();
    }
    let comments = comments::find(source_text, key.span.end, node);
    let written = comments.iter().flat_map(|comment| read(source_text, comment));
    written.filter(|one| one.what.is_ok()).map(|one| one.span).collect()
}

/// Tells whether there can be any annotation behind a key.
fn may_be_behind(key: &Key, source_text: &str) -> bool {
    let behind = source_text.as_bytes().get(key.span.end as usize..).unwrap_or_default();
    memchr::memchr(b'@', behind).is_some()
}

/// An annotation as it stands in a comment.
struct Written {
    span: Span,
    what: Result<Kind, Slip>,
}

/// What is wrong with an annotation.
#[derive(Clone, Copy)]
enum Slip {
    /// A name that is none, and the one that was probably meant.
    Misspelt(&'static str),
    NoExpression,
}

/// Reads the annotations of a comment. What begins with an `@` that is far from all names is none of ours.
fn read(source_text: &str, comment: &Comment) -> Vec<Written> {
    let mut found = Vec::new();
    let mut rest = source_text.get(comment.span.range()).unwrap_or_default();
    while let Some(behind) = rest.strip_prefix('@') {
        let start = comment.span.end as usize - rest.len();
        let is_end = |character: char| !(character.is_alphanumeric() || matches!(character, '_' | '-'));
        let (name, says) = behind.split_at(behind.find(is_end).unwrap_or(behind.len()));
        let name_span = Span::new(comment.span.source, start, start + 1 + name.len());
        rest = says.trim_start_matches([' ', '\t', ',', ';']);
        let (span, what) = match name {
            "require" | "required" => (name_span, Ok(Kind::Require)),
            "sensitive" => (name_span, Ok(Kind::Sensitive)),
            "validate" => {
                let expression = says.strip_prefix(':').unwrap_or(says).trim();
                rest = "";
                if expression.is_empty() {
                    (name_span, Err(Slip::NoExpression))
                } else {
                    let end = comment.span.end as usize;
                    let span = Span::new(comment.span.source, end - expression.len(), end);
                    let kind = Kind::Validate { expression: expression.to_owned(), span };
                    (Span { end: comment.span.end, ..name_span }, Ok(kind))
                }
            }
            name => match closest(name, NAMES) {
                Some(meant) => (name_span, Err(Slip::Misspelt(meant))),
                None => continue,
            },
        };
        found.push(Written { span, what });
    }
    found
}

struct Walk<'d> {
    /// What stands above the key that begins at this byte.
    above: HashMap<u32, Vec<Written>>,
    annotations: Vec<Annotation>,
    path: Vec<Arc<str>>,
    reported: HashSet<Span>,
    diagnostics: &'d mut Diagnostics,
}

impl Walk<'_> {
    /// Goes through a node, and through what aliases stand for once more under their own path.
    fn node(&mut self, node: &Node, is_in_list: bool) {
        match &node.value {
            Value::Scalar(_) => {}
            Value::List(elements) => {
                for element in elements {
                    self.node(element, true);
                }
            }
            Value::Map(map) => {
                for entry in map.entries() {
                    self.path.push((&*entry.key.text).into());
                    self.key(&entry.key, is_in_list);
                    self.node(&entry.value, is_in_list);
                    self.path.pop();
                }
            }
        }
    }

    fn key(&mut self, key: &Key, is_in_list: bool) {
        for Written { span, what } in self.above.get(&key.span.start).into_iter().flatten() {
            let mistake = match what {
                Err(slip) => slip_at(*slip, *span),
                Ok(_) if is_in_list => {
                    Diagnostic::warning(*span, "an annotation within a list has no effect")
                        .with_hint("write it above the key of the list")
                }
                Ok(kind) => {
                    self.annotations.push(Annotation {
                        path: self.path.clone(),
                        key_span: key.span,
                        span: *span,
                        kind: kind.clone(),
                    });
                    continue;
                }
            };
            // Through an alias, the same key comes by again.
            if self.reported.insert(*span) {
                self.diagnostics.push(mistake);
            }
        }
    }
}

fn slip_at(slip: Slip, span: Span) -> Diagnostic {
    match slip {
        Slip::Misspelt(meant) => Diagnostic::warning(span, "this is no annotation, and has no effect")
            .with_suggestion(Some(&format!("@{meant}"))),
        Slip::NoExpression => Diagnostic::error(span, "`@validate` has no expression")
            .with_hint("write what has to be true, such as `# @validate isInt(value)`"),
    }
}

fn above_nothing(written: &Written) -> Diagnostic {
    Diagnostic::warning(written.span, "this annotation stands above no key, and has no effect")
        .with_hint("write it alone on the line directly above the key that it is about")
}
