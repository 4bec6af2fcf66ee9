//! Reading of spanned nodes into typed values. Every error is collected with its location.

use std::time::Duration;

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, ScalarKind, Span, closest,
    escape_control, listed, parse_duration, parse_size,
};

use super::FileAuthority;

/// Key of a map: its name, and its documentation for editors.
pub(crate) type Key = (&'static str, &'static str);

/// Maximum length of a text that a hint repeats.
const MAX_SHOWN: usize = 60;

/// Value with its location.
#[derive(Clone, Debug, PartialEq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Location in the policy.
    pub span: Span,
}

/// Reader of nodes that collects every error.
pub(crate) struct FieldReader<'t> {
    /// Text of the file, for the spans of parts of scalars.
    pub text: &'t str,
    /// Errors and warnings that were found.
    pub found: Vec<Diagnostic>,
    /// What the file may do to the policy.
    pub authority: FileAuthority,
}

impl<'t> FieldReader<'t> {
    pub(crate) fn new(text: &'t str, authority: FileAuthority) -> Self {
        Self { text, found: Vec::new(), authority }
    }

    /// Returns `true` if the file can only make the policy stricter.
    pub(super) fn is_stricter_only(&self) -> bool {
        self.authority != FileAuthority::Full
    }

    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Reports a value that is not allowed.
    pub(crate) fn invalid(&mut self, span: Span, message: impl Into<String>, hint: &str) {
        let error = Diagnostic::error(DiagnosticKind::InvalidValue, span, message);
        self.push(if hint.is_empty() { error } else { error.with_hint(hint) });
    }

    /// Reports a value of the wrong type.
    pub(crate) fn expected(&mut self, what: &str, node: &Node) {
        let message = format!("expected {what}, found {}", node.describe());
        self.push(Diagnostic::error(DiagnosticKind::WrongType, node.span, message));
    }

    /// Returns the map, and reports its unknown keys. Null is an empty map.
    pub(crate) fn map<'n>(&mut self, node: &'n Node, what: &str, keys: &[Key]) -> Option<&'n NodeMap> {
        match &node.value {
            NodeValue::Map(map) => {
                for entry in map.entries() {
                    if !keys.iter().any(|(name, _)| *name == &*entry.key.text) {
                        self.unknown_key(&entry.key, keys.iter().map(|(name, _)| *name));
                    }
                }
                Some(map)
            }
            _ if node.is_null() => None,
            _ => {
                let names: Vec<&str> = keys.iter().map(|(name, _)| *name).collect();
                let message = format!("expected {what}, found {}", node.describe());
                let error = Diagnostic::error(DiagnosticKind::WrongType, node.span, message);
                let hint = match names.first() {
                    Some(first) => format!(
                        "write a map such as `{{{first}: …}}`; the keys are {}",
                        listed(&names, "and")
                    ),
                    None => "write a map".to_owned(),
                };
                self.push(error.with_hint(hint));
                None
            }
        }
    }

    pub(crate) fn unknown_key<'k>(&mut self, key: &NodeKey, known: impl Iterator<Item = &'k str> + Clone) {
        let nearest = closest(&key.text, known.clone()).map(str::to_owned);
        let error = Diagnostic::error(
            DiagnosticKind::UnknownKey,
            key.span,
            format!("unknown key `{}`", escape_control(&key.text)),
        );
        let names: Vec<&str> = known.collect();
        self.push(match nearest {
            Some(nearest) => error.with_suggestion(Some(&nearest)),
            None => error.with_hint(format!("the keys are {}", listed(&names, "and"))),
        });
    }

    /// Returns the value of a key, unless it is null.
    pub(crate) fn given<'n>(map: &'n NodeMap, key: &str) -> Option<&'n NodeEntry> {
        map.entry(key).filter(|entry| !entry.value.is_null())
    }

    pub(crate) fn text_of(&mut self, node: &Node, what: &str) -> Option<Located<String>> {
        match node.as_text() {
            Some(text) if !text.trim().is_empty() => {
                Some(Located { value: text.to_owned(), span: node.span })
            }
            Some(_) => {
                let message = format!("expected {what}, found an empty text");
                self.push(Diagnostic::error(DiagnosticKind::Missing, node.span, message));
                None
            }
            None => {
                self.expected(what, node);
                None
            }
        }
    }

    pub(crate) fn boolean(&mut self, node: &Node) -> Option<bool> {
        if let Some(ScalarKind::Bool(value)) = node.as_scalar().map(ccm_model::Scalar::kind) {
            Some(value)
        } else {
            self.expected("`true` or `false`", node);
            None
        }
    }

    pub(crate) fn integer(&mut self, node: &Node, min: i64, max: i64) -> Option<i64> {
        match node.as_scalar().map(ccm_model::Scalar::kind) {
            Some(ScalarKind::Int(value)) if (min..=max).contains(&value) => Some(value),
            Some(ScalarKind::Int(value)) => {
                self.invalid(node.span, format!("must be between {min} and {max}, found {value}"), "");
                None
            }
            _ => {
                self.expected("an integer", node);
                None
            }
        }
    }

    pub(crate) fn duration(&mut self, node: &Node) -> Option<Duration> {
        let Some(text) = node.as_text() else {
            self.expected("a duration such as `90s`", node);
            return None;
        };
        match parse_duration(text) {
            Ok(duration) if !duration.is_zero() => Some(duration),
            Ok(_) => {
                self.invalid(node.span, "a duration of 0 is not allowed", "give a duration such as `90s`");
                None
            }
            Err(error) => {
                self.invalid(node.span, error.to_string(), "write a duration such as `90s` or `15m`");
                None
            }
        }
    }

    /// Returns one of several words.
    pub(crate) fn word<T: Copy>(&mut self, node: &Node, words: &[(&'static str, T)]) -> Option<Located<T>> {
        let names: Vec<&str> = words.iter().map(|(name, _)| *name).collect();
        let Some(text) = node.as_text() else {
            self.expected(&listed(&names, "or"), node);
            return None;
        };
        if let Some((_, value)) = words.iter().find(|(name, _)| *name == text) {
            return Some(Located { value: *value, span: node.span });
        }
        let message = format!("expected {}, found `{}`", listed(&names, "or"), escape_control(text));
        let error = Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message);
        self.push(error.with_suggestion(closest(text, names)));
        None
    }

    /// Returns the elements of a list. A single value that is no list is reported.
    pub(crate) fn list<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        match &node.value {
            NodeValue::List(list) => list,
            _ if node.is_null() => &[],
            _ => {
                let message = format!("expected {what}, found {}", node.describe());
                let error = Diagnostic::error(DiagnosticKind::WrongType, node.span, message);
                let text =
                    node.as_text().filter(|text| text.len() <= MAX_SHOWN && !text.contains(['[', ',']));
                self.push(match (text, &node.value) {
                    (Some(text), _) => error.with_hint(format!("write a list: `[{}]`", escape_control(text))),
                    (None, NodeValue::Map(_)) => error.with_hint("begin each element with `- `"),
                    _ => error,
                });
                &[]
            }
        }
    }

    /// Returns a list of texts.
    pub(crate) fn texts(&mut self, node: &Node, what: &str) -> Vec<Located<String>> {
        let nodes = self.list(node, what);
        // What is expected is only composed for an error.
        let text = |node: &Node| match node.as_text().filter(|text| !text.trim().is_empty()) {
            Some(text) => Some(Located { value: text.to_owned(), span: node.span }),
            None => self.text_of(node, &format!("text in {what}")),
        };
        nodes.iter().filter_map(text).collect()
    }

    /// Returns a text, or a list of texts.
    pub(crate) fn one_or_many(&mut self, node: &Node, what: &str) -> Vec<Located<String>> {
        if node.as_list().is_some() {
            return self.texts(node, what);
        }
        self.text_of(node, what).into_iter().collect()
    }

    /// Returns an absolute path without `.` and `..`.
    pub(crate) fn path(&mut self, node: &Node) -> Option<Located<String>> {
        let path = self.text_of(node, "an absolute path")?;
        let is_plain = path.value.split('/').skip(1).all(|part| !matches!(part, "." | ".."));
        if !path.value.starts_with('/') || !is_plain {
            let message =
                format!("expected an absolute path without `..`, found `{}`", escape_control(&path.value));
            self.invalid(path.span, message, "write the path from `/` on");
            return None;
        }
        let trimmed = path.value.trim_end_matches('/');
        let value = if trimmed.is_empty() { "/" } else { trimmed }.to_owned();
        Some(Located { value, ..path })
    }

    /// Returns a size in bytes, such as `256MiB`.
    pub(crate) fn size(&mut self, node: &Node) -> Option<u64> {
        let Some(text) = node.as_text() else {
            self.expected("a size such as `256MiB`", node);
            return None;
        };
        match parse_size(text) {
            Some(size) if size > 0 => Some(size),
            _ => {
                let message = format!("`{}` is not a size", escape_control(text));
                self.invalid(node.span, message, "write a size such as `256MiB`");
                None
            }
        }
    }
}
