//! Errors in properties.

use std::borrow::Cow;
use std::ops::Range;

use ccm_model::{Diagnostic, DiagnosticKind, Label, Node, Span, closest, escape_control, listed};
use thiserror::Error;

use crate::{CheckInput, is_empty_text};

/// Error in a value, without its location.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ValueError {
    kind: DiagnosticKind,
    message: String,
    hint: Option<String>,
}

impl ValueError {
    /// Builds the error of a value that is not allowed.
    pub fn new(message: impl Into<String>) -> Self {
        Self { kind: DiagnosticKind::InvalidValue, message: message.into(), hint: None }
    }

    /// Builds the error of a value that this version does not support.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self { kind: DiagnosticKind::Unsupported, ..Self::new(message) }
    }

    /// Builds the error of a text that is none of these words.
    pub fn not_one_of(text: &str, words: &[&str]) -> Self {
        let message = format!("expected {}, found `{}`", listed(words, "or"), text.escape_debug());
        Self::new(message).with_suggestion(closest(text, words.iter().copied()))
    }

    /// Builds the error of a text that is none of many words, of which `noun` names one.
    pub fn unknown(noun: &str, text: &str, words: &[&str]) -> Self {
        let error = Self::new(format!("unknown {noun} `{}`", escape_control(text)));
        match closest(text, words.iter().copied()) {
            None => error.with_hint(format!("the {noun}s are {}", listed(words, "and"))),
            nearest => error.with_suggestion(nearest),
        }
    }

    /// Sets the advice.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Suggests a word, if there is one.
    #[must_use]
    pub fn with_suggestion(self, word: Option<&str>) -> Self {
        match word {
            Some(word) => self.with_hint(format!("did you mean `{word}`?")),
            None => self,
        }
    }

    /// Adds the location.
    pub fn at(self, span: Span) -> Diagnostic {
        self.hint.into_iter().fold(Diagnostic::error(self.kind, span, self.message), Diagnostic::with_hint)
    }
}

/// Error in the name, `ensure` or a property of a resource.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct PropertyError {
    kind: DiagnosticKind,
    part: PropertyPart,
    /// Element of a list.
    element: Option<usize>,
    /// Bytes of a text.
    bytes: Option<Range<usize>>,
    message: String,
    hint: Option<String>,
    /// `true` if the error follows from another error that is reported.
    follows: bool,
}

/// Part of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PropertyPart {
    Name,
    Ensure,
    Property(&'static str),
}

impl PropertyError {
    fn of(kind: DiagnosticKind, part: PropertyPart, message: impl Into<String>) -> Self {
        Self { kind, part, element: None, bytes: None, message: message.into(), hint: None, follows: false }
    }

    /// Builds an error in a property, or in the name if the property is not given.
    pub fn new(kind: DiagnosticKind, property: &'static str, message: impl Into<String>) -> Self {
        Self::of(kind, PropertyPart::Property(property), message)
    }

    /// Builds the error of an invalid value.
    pub fn invalid(property: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::InvalidValue, property, message).with_hint(hint)
    }

    /// Builds the error of a property that contradicts another one.
    pub fn conflict(property: &'static str, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(DiagnosticKind::Conflict, property, message).with_hint(hint)
    }

    /// Builds the error of a property that is not given.
    pub fn missing(property: &'static str, hint: impl Into<String>) -> Self {
        let message = format!("`{property}` is missing");
        Self::new(DiagnosticKind::Missing, property, message).with_hint(hint)
    }

    /// Builds the error of a property that is given though the resource is to be absent.
    pub fn not_with_absent(property: &'static str, hint: impl Into<String>) -> Self {
        Self::conflict(property, format!("`{property}` is not allowed with `ensure: absent`"), hint)
    }

    /// Builds the error of an invalid name.
    pub fn of_name(message: impl Into<String>) -> Self {
        Self::of(DiagnosticKind::InvalidValue, PropertyPart::Name, message)
    }

    /// Builds the error of an invalid `ensure`.
    pub fn of_ensure(message: impl Into<String>) -> Self {
        Self::of(DiagnosticKind::InvalidValue, PropertyPart::Ensure, message)
    }

    /// Sets the advice.
    #[must_use]
    pub fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Sets the element of the list with the error.
    #[must_use]
    pub fn at_element(self, element: Option<usize>) -> Self {
        Self { element, ..self }
    }

    /// Sets the byte of the text with the error.
    #[must_use]
    pub fn at_byte(self, byte: usize) -> Self {
        self.at_bytes(byte..byte + 1)
    }

    /// Sets the bytes of the text with the error.
    #[must_use]
    pub fn at_bytes(self, bytes: Range<usize>) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Marks an error that follows from another error that is reported.
    #[must_use]
    pub fn following(self) -> Self {
        Self { follows: true, ..self }
    }

    /// Returns `true` if the error may follow from one of the `undecodable` properties. All properties of one
    /// of the `groups` depend on each other.
    pub fn may_follow_from(&self, undecodable: &[&str], groups: &[&[&str]]) -> bool {
        let Some(property) = self.property() else { return self.follows };
        let group = groups.iter().find(|group| group.contains(&property)).copied().unwrap_or_default();
        self.follows || undecodable.iter().any(|found| *found == property || group.contains(found))
    }

    /// Returns the property with the error.
    pub fn property(&self) -> Option<&'static str> {
        match self.part {
            PropertyPart::Property(property) => Some(property),
            PropertyPart::Name | PropertyPart::Ensure => None,
        }
    }

    /// Adds the location in the manifest.
    pub fn at(self, checked: &CheckInput<'_>) -> Diagnostic {
        let resource = checked.resource;
        let node = self.property().and_then(|property| resource.properties.get(property));
        let node = node.map(|node| {
            let element = self.element.and_then(|element| node.as_list()?.get(element));
            element.unwrap_or(node)
        });
        let ensure =
            resource.ensure.as_ref().filter(|_| self.part == PropertyPart::Ensure).map(|ensure| ensure.span);
        let span = match (node, &self.bytes) {
            (Some(node), Some(bytes)) if !is_empty_text(node) => {
                Node::locate(node, checked.source_text, bytes.start, bytes.end)
            }
            (Some(node), _) => node.span,
            (None, _) => ensure.unwrap_or(resource.span),
        };
        Diagnostic { labels: vec![Label { span, text: String::new() }], ..self.without_location() }
    }

    /// Returns the error without its location.
    pub fn without_location(self) -> Diagnostic {
        let property = self.property().map(Cow::Borrowed);
        let error = Diagnostic { property, ..Diagnostic::without_location(self.kind, self.message) };
        self.hint.into_iter().fold(error, Diagnostic::with_hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_follows_from_its_own_property_and_from_those_of_its_group() {
        let missing = PropertyError::new(DiagnosticKind::Missing, "line", "the line is missing");
        let groups: &[&[&str]] = &[&["content", "source"]];
        assert!(missing.may_follow_from(&["line"], groups));
        assert!(!missing.may_follow_from(&["content"], groups));
        assert!(
            PropertyError::new(DiagnosticKind::Conflict, "source", "exclude each other")
                .may_follow_from(&["content"], groups)
        );
        assert!(!PropertyError::of_name("is not absolute").may_follow_from(&["line"], groups));
    }
}
