//! Inputs that a manifest is checked without, and the values that are unknown then.

use std::path::PathBuf;

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeValue, Span};

use crate::resolve::expansion::SpanSet;
use crate::resolve::messages::{shown, shown_path};

/// Inputs of the machine that a manifest is checked without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OmittedInputs {
    /// Files with an absolute path are not read. A file that can't be read, and a variable that is not set, is no
    /// error.
    pub files: bool,
    /// A missing fact is no error, unless every machine has the fact.
    pub facts: bool,
    /// A value that is encrypted to another machine is no error.
    pub encrypted: bool,
    /// Files that were copied before, as far as their size tells, are not searched for text of templates. The catalog lacks
    /// nothing.
    pub copied: bool,
}

/// Input of the machine that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// File that an expression or a template reads.
    File(PathBuf),
    /// File that a resource copies.
    Source(PathBuf),
    /// Credential of systemd.
    Credential(String),
    /// Encrypted value.
    Encrypted,
    /// Variable of the environment.
    Variable(String),
    /// Fact.
    Fact(String),
}

impl LeftOut {
    /// Returns the note about a text that uses the input.
    pub(crate) fn note(&self, span: Span) -> Diagnostic {
        let what = match self {
            Self::File(path) => format!("the file `{}` was not read", shown_path(path)),
            Self::Source(path) => {
                let message = format!("the existence of the file `{}` was not checked", shown_path(path));
                return Diagnostic::note(DiagnosticKind::NotChecked, span, message);
            }
            Self::Credential(name) => format!("the credential `{}` was not read", shown(name)),
            Self::Encrypted => "an encrypted value was not opened".to_owned(),
            Self::Variable(name) => format!("the variable `{}` is not set", shown(name)),
            Self::Fact(name) => format!("the fact `{}` is not known", shown(name)),
        };
        let message = format!("{what}, so what depends on it was not checked");
        Diagnostic::note(DiagnosticKind::NotChecked, span, message)
    }
}

/// Paths of data without a value, because an input was left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnknownPaths(Vec<Vec<Box<str>>>);

impl UnknownPaths {
    /// Adds the paths of the texts in a node that are unknown. A list is unknown if an element is.
    pub(crate) fn add_node(&mut self, node: &Node, unknown: &SpanSet) {
        if !unknown.is_empty() {
            self.add_below(node, unknown, &mut Vec::new());
        }
    }

    fn add_below(&mut self, node: &Node, unknown: &SpanSet, path: &mut Vec<Box<str>>) {
        match &node.value {
            NodeValue::Scalar(_) if unknown.covers(node.span) => self.0.push(path.clone()),
            NodeValue::Scalar(_) => {}
            NodeValue::List(elements) => {
                let known = self.0.len();
                for element in elements {
                    self.add_below(element, unknown, path);
                }
                if self.0.len() > known {
                    self.0.truncate(known);
                    self.0.push(path.clone());
                }
            }
            NodeValue::Map(map) => {
                for entry in map.entries() {
                    path.push(entry.key.text.clone());
                    self.add_below(&entry.value, unknown, path);
                    path.pop();
                }
            }
        }
    }

    /// Adds the paths of another layer.
    pub(crate) fn add(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if the value at a path is unknown, is below such a value or contains one.
    pub(crate) fn touches(&self, path: &[impl AsRef<str>]) -> bool {
        self.0.iter().any(|unknown| unknown.iter().zip(path).all(|(one, other)| **one == *other.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_touches_values_above_and_below() {
        let unknown = UnknownPaths(vec![vec!["db".into(), "password".into()]]);
        for (path, expected) in [
            (&["db"][..], true),
            (&["db", "password"], true),
            (&["db", "password", "length"], true),
            (&[], true),
            (&["db", "port"], false),
            (&["web"], false),
        ] {
            assert_eq!(unknown.touches(path), expected, "{path:?}");
        }
        assert!(!UnknownPaths::default().touches(&[] as &[&str]));
    }
}
