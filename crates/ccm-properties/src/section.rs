//! Sections: maps whose entries are fields, decoded as far as they are right.

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeEntry, closest, escape_control, listed};

use crate::decode::MAX_ERRORS;
use crate::{PropertySet, PropertySpec, PropertyValue, expected};

/// Decodes a section, of which `noun` is the name in errors. Fields with an error keep their defaults.
pub fn decode_section<T: PropertySet>(node: &Node, noun: &str, errors: &mut Vec<Diagnostic>) -> Option<T> {
    let names = || T::PROPERTIES.iter().map(|property| property.name);
    let Some(map) = node.as_map() else {
        let names: Vec<&str> = names().collect();
        let first = names.first().copied().unwrap_or_default();
        let hint = format!("write a map such as `{{{first}: …}}`; the keys are {}", listed(&names, "and"));
        errors.push(expected(noun, node).with_hint(hint));
        return None;
    };
    let mut section = T::default();
    for entry in map.entries() {
        if errors.len() >= MAX_ERRORS {
            break;
        }
        if !section.set(entry, errors) {
            let message = format!("unknown key `{}`", escape_control(&entry.key.text));
            let error = Diagnostic::error(DiagnosticKind::UnknownKey, entry.key.span, message);
            errors.push(match closest(&entry.key.text, names()) {
                None => {
                    error.with_hint(format!("the keys are {}", listed(&names().collect::<Vec<_>>(), "and")))
                }
                nearest => error.with_suggestion(nearest),
            });
        }
    }
    Some(section)
}

impl PropertySpec {
    /// Decodes the entry of this property, and passes the value on. Null means not given. Returns `false` for an entry of
    /// another property.
    #[doc(hidden)]
    pub fn decode<T: PropertyValue>(
        &self,
        entry: &NodeEntry,
        errors: &mut Vec<Diagnostic>,
        set: impl FnOnce(T),
    ) -> bool {
        if *entry.key.text != *self.name {
            return false;
        }
        match self.noun {
            _ if entry.value.is_null() => {}
            Some(noun) if !self.kind.has_form_of(&entry.value) => errors.push(expected(noun, &entry.value)),
            _ => {
                if let Some(value) = T::decode_entry(entry, errors) {
                    set(value);
                }
            }
        }
        true
    }
}
