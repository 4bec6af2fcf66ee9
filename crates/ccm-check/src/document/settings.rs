//! Settings of a rule: what is not judged.

use std::time::Duration;

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, ScalarKind, Span, escape_control, parse_duration,
};
use ccm_properties::{Integer, PropertyValue as _, TextValue as _, ValueError, expected};

use super::unknown_key;

/// Settings that every rule has.
pub(super) const COMMON: [&str; 3] = ["title", "meta", "skip"];
/// Longest time that a rule may take or wait, in milliseconds: a day.
const MAX_MILLISECONDS: i64 = 86_400_000;

/// Settings of one rule.
pub(super) struct Settings<'n> {
    /// Key of the rule.
    pub(super) key: &'n str,
    /// Location of the key.
    pub(super) span: Span,
    given: Vec<(&'n str, &'n Node)>,
}

impl<'n> Settings<'n> {
    /// Begins with the key of a rule.
    pub(super) fn new(entry: &'n NodeEntry) -> Self {
        Self { key: &entry.key.text, span: entry.key.span, given: Vec::new() }
    }

    /// Reads an entry that has nothing but settings.
    pub(super) fn read(
        entry: &'n NodeEntry,
        noun: &str,
        names: &[&str],
        found: &mut Vec<Diagnostic>,
    ) -> Option<Self> {
        let mut settings = Self::new(entry);
        if entry.value.is_null() {
            return Some(settings);
        }
        let Some(map) = entry.value.as_map() else {
            found.push(expected("a map", &entry.value));
            return None;
        };
        for entry in map.entries() {
            if names.contains(&&*entry.key.text) || COMMON.contains(&&*entry.key.text) {
                settings.give(entry);
            } else {
                let names: Vec<&str> = names.iter().copied().chain(COMMON).collect();
                found.push(unknown_key(noun, entry, &names));
            }
        }
        Some(settings)
    }

    /// Adds a setting. Null means not given.
    pub(super) fn give(&mut self, entry: &'n NodeEntry) {
        if !entry.value.is_null() {
            self.given.push((&entry.key.text, &entry.value));
        }
    }

    /// Returns the node of a setting.
    pub(super) fn node(&self, name: &str) -> Option<&'n Node> {
        self.given.iter().find(|(given, _)| *given == name).map(|(_, node)| *node)
    }

    /// Returns the value of a setting. Its errors name it.
    fn value<T>(
        &self,
        name: &'static str,
        found: &mut Vec<Diagnostic>,
        decode: impl FnOnce(&Node, &mut Vec<Diagnostic>) -> Option<T>,
    ) -> Option<T> {
        let node = self.node(name)?;
        let before = found.len();
        let value = decode(node, found);
        name_errors(name, before, found);
        value
    }

    /// Returns a setting that is text.
    pub(super) fn text(&self, name: &'static str, found: &mut Vec<Diagnostic>) -> Option<String> {
        self.value(name, found, String::decode)
    }

    /// Returns a setting that is text and may be empty.
    pub(super) fn any_text(&self, name: &'static str, found: &mut Vec<Diagnostic>) -> Option<String> {
        self.value(name, found, ccm_properties::Text::decode).map(|text| text.0)
    }

    /// Returns the text that replaces the key, or the key, with its location.
    pub(super) fn subject(&self, name: &'static str, found: &mut Vec<Diagnostic>) -> (String, Span) {
        if let Some(node) = self.node(name) {
            let text = self.text(name, found);
            return (text.unwrap_or_default(), node.span);
        }
        if let Err(error) = String::from_text(self.key) {
            found.push(error.at(self.span));
        }
        (self.key.to_owned(), self.span)
    }

    pub(super) fn json(&self, name: &'static str, found: &mut Vec<Diagnostic>) -> Option<serde_json::Value> {
        self.value(name, found, serde_json::Value::decode)
    }

    pub(super) fn boolean(&self, name: &'static str, found: &mut Vec<Diagnostic>) -> bool {
        self.value(name, found, bool::decode).unwrap_or(false)
    }

    /// Returns a time in whole milliseconds. 0 stands for the default, as in Goss.
    pub(super) fn timeout(&self, default: u64, found: &mut Vec<Diagnostic>) -> Duration {
        let given = self.value("timeout", found, |node, found| {
            if let Some(ScalarKind::Int(_)) = node.as_scalar().map(ccm_model::Scalar::kind) {
                return milliseconds(node, found);
            }
            let error = expected("a whole number of milliseconds", node);
            let time = node.as_text().and_then(|text| parse_duration(text).ok());
            found.push(match time {
                Some(time) => error.with_hint(format!("write `{}`", time.as_millis())),
                None => error,
            });
            None
        });
        given.filter(|given| !given.is_zero()).unwrap_or(Duration::from_millis(default))
    }

    pub(super) fn retries(&self, found: &mut Vec<Diagnostic>) -> u32 {
        let given = self.value("retry_count", found, Integer::<0, 1000>::decode);
        given.and_then(|number| u32::try_from(number.0).ok()).unwrap_or_default()
    }

    /// Returns the pause before a retry: a number of milliseconds, or a duration. 0 stands for the default.
    pub(super) fn retry_delay(&self, found: &mut Vec<Diagnostic>) -> Duration {
        let given = self.value("retry_delay", found, |node, found| {
            match node.as_scalar().map(ccm_model::Scalar::kind) {
                Some(ScalarKind::Int(_)) => milliseconds(node, found),
                _ => Duration::decode(node, found),
            }
        });
        given.filter(|delay| !delay.is_zero()).unwrap_or(Duration::from_secs(1))
    }

    /// Returns header lines, each with a name and a value.
    pub(super) fn headers(&self, name: &'static str, found: &mut Vec<Diagnostic>) -> Vec<(String, String)> {
        let headers = self.value(name, found, |node, found| {
            let Some(lines) = node.as_list() else {
                found.push(expected("a list of header lines", node));
                return None;
            };
            let mut headers = Vec::with_capacity(lines.len());
            for line in lines {
                let split = line.as_text().and_then(|text| text.split_once(':'));
                match split.map(|(name, value)| (name.trim(), value.trim())) {
                    Some((name, value)) if is_header(name, value) => {
                        headers.push((name.to_owned(), value.to_owned()));
                    }
                    _ => found.push(expected("a header line such as `Accept: text/html`", line)),
                }
            }
            Some(headers)
        });
        headers.unwrap_or_default()
    }

    /// Adds the error of a text that has not the form of a subject.
    pub(super) fn refuse(text: &str, span: Span, noun: &str, hint: &str, found: &mut Vec<Diagnostic>) {
        let message = format!("`{}` is not {noun}", escape_control(text));
        found.push(ValueError::new(message).with_hint(hint).at(span));
    }

    /// Adds a warning about a setting that has no effect.
    pub(super) fn no_effect(span: Span, message: &str, hint: &str, found: &mut Vec<Diagnostic>) {
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, span, message);
        found.push(warning.with_hint(hint));
    }
}

/// Names the setting or attribute in the errors that were found since.
pub(super) fn name_errors(name: &'static str, before: usize, found: &mut [Diagnostic]) {
    for error in found.iter_mut().skip(before) {
        error.property = Some(name.into());
    }
}

fn milliseconds(node: &Node, found: &mut Vec<Diagnostic>) -> Option<Duration> {
    let number = Integer::<0, MAX_MILLISECONDS>::decode(node, found)?;
    u64::try_from(number.0).ok().map(Duration::from_millis)
}

fn is_header(name: &str, value: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_name) && !value.contains(char::is_control)
}
