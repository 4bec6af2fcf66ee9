//! Nodes to typed properties, with every error at its location.

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeMap, Properties, Scalar, ScalarKind, ScalarStyle,
    closest, listed,
};

use crate::{CommonProperty, HEALTH_CHECKS, PropertyKind, PropertySpec, ValueError};

/// Maximum number of errors, one more than the loader reports.
pub(crate) const MAX_ERRORS: usize = 10_001;

/// Value of a property, decoded from a node.
pub trait PropertyValue: Sized {
    /// Kind of the value.
    const KIND: PropertyKind;

    /// Decodes a node that is not null. Returns `None` after adding every error.
    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self>;

    /// Decodes the value of an entry. A value that needs the location of its key overrides this.
    fn decode_entry(entry: &NodeEntry, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        Self::decode(&entry.value, errors)
    }
}

/// Value of a property that is written as one text. Numbers and booleans count as the text that was written.
pub trait TextValue: Sized {
    /// Kind of the value.
    const KIND: PropertyKind;

    /// Noun phrase of the value in the error of a list or map in its place.
    const NOUN: &'static str = "text";

    /// Decodes a text.
    fn from_text(text: &str) -> Result<Self, ValueError>;
}

impl<T: TextValue> PropertyValue for T {
    const KIND: PropertyKind = <T as TextValue>::KIND;

    fn decode(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<Self> {
        let decoded = match node.as_text() {
            Some(text) => T::from_text(text).map_err(|error| error.at(node.span)),
            None => Err(match <T as TextValue>::KIND {
                PropertyKind::Words(words) => expected(&listed(words, "or"), node),
                _ => expected(T::NOUN, node),
            }),
        };
        decoded.map_err(|error| errors.push(error)).ok()
    }
}

/// Properties that belong together, each optional. [`properties!`](crate::properties) implements it.
pub trait PropertySet: Default {
    /// Table of the properties.
    const PROPERTIES: &'static [PropertySpec];

    /// Decodes one property; null means not given. Returns `false` for an unknown name.
    fn set(&mut self, entry: &NodeEntry, errors: &mut Vec<Diagnostic>) -> bool;
}

/// Decodes the properties of a resource. Properties with an error are left out.
pub fn decode<T: PropertySet>(properties: &Properties) -> (T, Vec<Diagnostic>) {
    let common = || CommonProperty::ALL.into_iter().map(|property| property.spec().name);
    let of_type = properties.given().filter(|entry| &*entry.key.text != HEALTH_CHECKS);
    decode_entries(of_type, common)
}

/// Decodes a map on its own, such as a section of the manifest.
pub fn decode_map<T: PropertySet>(map: &NodeMap) -> Result<T, Vec<Diagnostic>> {
    let (decoded, errors) = decode_entries(map.entries().iter(), std::iter::empty);
    if errors.is_empty() { Ok(decoded) } else { Err(errors) }
}

/// Decodes a property that is a set of properties itself.
pub fn decode_record<T: PropertySet>(node: &Node, errors: &mut Vec<Diagnostic>) -> Option<T> {
    let decoded = match node.as_map() {
        Some(map) => decode_map(map),
        None => Err(vec![expected("a map", node)]),
    };
    decoded.map_err(|found| errors.extend(found)).ok()
}

fn decode_entries<'e, T: PropertySet, I: Iterator<Item = &'static str>>(
    entries: impl Iterator<Item = &'e NodeEntry>,
    also_known: impl Fn() -> I,
) -> (T, Vec<Diagnostic>) {
    let (mut decoded, mut errors) = (T::default(), Vec::new());
    for entry in entries {
        if errors.len() >= MAX_ERRORS {
            break;
        }
        let before = errors.len();
        if !decoded.set(entry, &mut errors) {
            let names = || T::PROPERTIES.iter().map(|property| property.name).chain(also_known());
            let message = format!("unknown property `{}`", entry.key.text.escape_debug());
            let error = Diagnostic::error(DiagnosticKind::UnknownProperty, entry.key.span, message);
            let is_foreign = |property: &&PropertySpec| property.foreign_names.contains(&&*entry.key.text);
            let foreign = T::PROPERTIES.iter().find(is_foreign).map(|property| property.name);
            errors.push(match foreign.or_else(|| closest(&entry.key.text, names())) {
                None => error.with_hint(format!("use one of: {}", names().collect::<Vec<_>>().join(", "))),
                near => error.with_suggestion(near),
            });
        }
        for error in errors.iter_mut().skip(before) {
            error.property = Some(entry.key.text.to_string().into());
        }
    }
    (decoded, errors)
}

/// Returns `true` for the noun phrase of a list that has no other form.
fn is_list(what: &str) -> bool {
    what.starts_with("a list") && !what.contains(" or ")
}

/// Builds the error of a value of another kind, with a hint for a common error.
pub fn expected(what: &str, node: &Node) -> Diagnostic {
    let error = Diagnostic::error(
        DiagnosticKind::WrongType,
        node.span,
        format!("expected {what}, found {}", node.describe()),
    );
    let Some(scalar) = node.as_scalar() else {
        let is_map_for_list = is_list(what) && node.as_map().is_some();
        let only = match node.as_list() {
            Some([only]) if what == "text" => only.as_text().filter(|text| text.len() <= 60),
            _ => None,
        };
        return match only {
            _ if is_map_for_list => error.with_hint("begin each element with `- `"),
            // `[[ -f /x ]]` and `[ -f /x ]` are lists to YAML.
            Some(only) if only.starts_with('-') => {
                error.with_hint(format!("write it in quotes: `\"[ {only} ]\"`"))
            }
            Some(only) if !only.contains('\n') => {
                error.with_hint(format!("write `{only}` without brackets or dash"))
            }
            _ => error,
        };
    };
    match (what, &*scalar.text) {
        ("a boolean", "yes" | "on" | "Yes" | "On" | "YES" | "ON" | "y") => {
            error.with_hint(format!("write `true`: `{}` is text", scalar.text))
        }
        ("a boolean", "no" | "off" | "No" | "Off" | "NO" | "OFF" | "n") => {
            error.with_hint(format!("write `false`: `{}` is text", scalar.text))
        }
        ("a boolean", "true" | "false") | ("a whole number", _)
            if scalar.kind() == ScalarKind::Text && looks_quoted(scalar) =>
        {
            error.with_hint("write the value without quotes")
        }
        (what, text)
            if is_list(what)
                && scalar.kind() != ScalarKind::Null
                && text.len() <= 60
                && !text.contains('\n') =>
        {
            error.with_hint(format!("write `[{text}]`"))
        }
        _ => error,
    }
}

fn looks_quoted(scalar: &Scalar) -> bool {
    let plain = Scalar { text: scalar.text.clone(), style: ScalarStyle::Plain };
    plain.kind() != ScalarKind::Text
}

#[cfg(test)]
mod tests;
