//! Nodes to typed properties, through serde, with every mistake at its place.
//!
//! A property struct derives `Deserialize` and `JsonSchema`, so its names, types and documentation are
//! written once. It carries `#[serde(default, deny_unknown_fields)]`: each property is optional here, and
//! what a type requires or forbids in combination is for its check.
//!
//! A `Deserialize` written by hand reports a mistake with `Error::custom`; a line that starts with
//! `hint: ` becomes a hint. A tuple struct named `OneOrMany` may be written as one value or as a list.

use std::fmt;

use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use crate::diagnostics::MOST;
use crate::{Diagnostic, Entry, Kind, Map, Node, Properties, Span, Value, closest};

/// The first mistake found while decoding a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    span: Option<Span>,
    message: String,
    hints: Vec<String>,
    /// The name that is not one of `expected`.
    unknown: Option<(String, &'static [&'static str])>,
    /// The message says what was expected, and still lacks what was found.
    lacks_found: bool,
}

impl DecodeError {
    fn at(span: Span, message: impl Into<String>) -> Self {
        Self {
            span: Some(span),
            message: message.into(),
            hints: Vec::new(),
            unknown: None,
            lacks_found: false,
        }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Gives the error a place, if a deeper one has not done so already.
    fn or_at(mut self, span: Span) -> Self {
        self.span.get_or_insert(span);
        self
    }

    /// Says what was found where something else was expected.
    fn found(mut self, node: &Node) -> Self {
        if std::mem::take(&mut self.lacks_found) {
            self.message += &format!(", found {}", node.describe());
        }
        self.or_at(node.span)
    }

    fn into_diagnostic(self, fallback: Option<Span>, also_known: &[&str]) -> Diagnostic {
        let mut diagnostic = Diagnostic::error_at(self.span.or(fallback), self.message);
        diagnostic.hints = self.hints;
        if let Some((name, expected)) = self.unknown {
            let known = expected.iter().chain(also_known).copied();
            let suggestion = closest(&name, known.clone());
            diagnostic = match suggestion {
                Some(_) => diagnostic.with_suggestion(suggestion),
                None => diagnostic.with_hint(format!("known here: {}", known.collect::<Vec<_>>().join(", "))),
            };
        }
        diagnostic
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        let (hints, lines): (Vec<_>, Vec<_>) = text.lines().partition(|line| line.starts_with("hint: "));
        let hints = hints.iter().map(|hint| hint.trim_start_matches("hint: ").to_owned()).collect();
        Self { span: None, message: lines.join("\n"), hints, unknown: None, lacks_found: false }
    }

    fn invalid_type(_: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let message = format!("expected {expected}");
        Self { span: None, message, hints: Vec::new(), unknown: None, lacks_found: true }
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let message = format!("unknown property `{}`", field.escape_debug());
        Self {
            span: None,
            message,
            hints: Vec::new(),
            unknown: Some((field.to_owned(), expected)),
            lacks_found: false,
        }
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let shown: Vec<String> = expected.iter().map(|name| format!("`{name}`")).collect();
        let message = format!("expected {}, found `{}`", shown.join(" or "), variant.escape_debug());
        let unknown = closest(variant, expected.iter().copied()).is_some();
        let unknown = unknown.then(|| (variant.to_owned(), expected));
        Self { span: None, message, hints: Vec::new(), unknown, lacks_found: false }
    }
}

/// Decodes the properties of a resource. `also_known` are names that a misspelt one may have meant although
/// they are decoded elsewhere.
///
/// Every property that is wrong gives a diagnostic of its own, and so does every wrong element of a list or
/// map.
pub fn decode<T: DeserializeOwned>(
    properties: &Properties,
    also_known: &[&str],
) -> Result<T, Vec<Diagnostic>> {
    let entries: Vec<&Entry> = properties.given().collect();
    T::deserialize(Entries::new(&entries)).map_err(|first| {
        let diagnostics = mistakes_in::<T>(&entries, also_known);
        if diagnostics.is_empty() { vec![first.into_diagnostic(None, also_known)] } else { diagnostics }
    })
}

/// Decodes what can be decoded, and finds every mistake in the rest. No value: the mistake is in no single
/// property.
pub fn decode_partly<T: DeserializeOwned>(
    properties: &Properties,
    also_known: &[&str],
) -> (Option<T>, Vec<Diagnostic>) {
    match decode(properties, also_known) {
        Ok(value) => (Some(value), Vec::new()),
        Err(diagnostics) => {
            let right = |entry: &&Entry| T::deserialize(Entries::new(&[*entry])).is_ok();
            let entries: Vec<&Entry> = properties.given().filter(right).collect();
            (T::deserialize(Entries::new(&entries)).ok(), diagnostics)
        }
    }
}

/// Decodes a map on its own, such as a section of the manifest.
pub fn decode_known<T: DeserializeOwned>(map: &Map) -> Result<T, Vec<Diagnostic>> {
    decode(&Properties::new(map.clone(), None), &[])
}

fn mistakes_in<T: DeserializeOwned>(entries: &[&Entry], also_known: &[&str]) -> Vec<Diagnostic> {
    entries.iter().flat_map(|entry| mistakes_of::<T>(entry, also_known)).take(MOST + 1).collect()
}

/// The mistakes of one property: of each element if each alone can be wrong, else of the whole.
fn mistakes_of<T: DeserializeOwned>(entry: &Entry, also_known: &[&str]) -> Vec<Diagnostic> {
    let alone = |entry: &Entry| T::deserialize(Entries::new(&[entry])).err();
    let Some(whole) = alone(entry) else { return Vec::new() };
    let single = |value: Value, span: Span| {
        let single = Entry { key: entry.key.clone(), value: Node { value, span } };
        alone(&single).map(|error| error.into_diagnostic(Some(span), also_known))
    };
    let empty = match &entry.value.value {
        Value::List(_) => Value::List(Vec::new()),
        Value::Map(_) => Value::Map(Map::default()),
        Value::Scalar(scalar) => Value::Scalar(scalar.clone()),
    };
    // If even an empty one does not fit, no list or map was expected.
    let fits = single(empty, entry.value.span).is_none();
    // What is unknown deeper down is not one of the properties of a resource.
    let is_own = whole.unknown.as_ref().is_none_or(|(name, _)| *name == *entry.key.text);
    let also_known = if is_own { also_known } else { &[] };
    let each: Vec<Diagnostic> = match &entry.value.value {
        _ if whole.unknown.is_some() || !fits => Vec::new(),
        Value::List(elements) => elements
            .iter()
            .filter_map(|element| single(Value::List(vec![element.clone()]), entry.value.span))
            .take(MOST + 1)
            .collect(),
        Value::Map(map) => map
            .entries()
            .iter()
            .filter_map(|element| {
                // A mistake that names no place of its own is shown at the value, or where it is missing.
                let at = if element.value.is_null() { element.key.span } else { element.value.span };
                single(Value::Map(Map::new(vec![element.clone()])), at)
            })
            .take(MOST + 1)
            .collect(),
        Value::Scalar(_) => Vec::new(),
    };
    if each.is_empty() { vec![whole.into_diagnostic(Some(entry.value.span), also_known)] } else { each }
}

/// Names what a value should have been, and hints at the usual slip.
fn mismatch(node: &Node, expected: &str) -> DecodeError {
    let error = DecodeError::at(node.span, format!("expected {expected}, found {}", node.describe()));
    let Some(scalar) = node.as_scalar() else { return error };
    match (expected, &*scalar.text) {
        ("a boolean", "yes" | "on" | "Yes" | "On" | "YES" | "ON" | "y") => {
            error.with_hint(format!("write `true`: `{}` is text", scalar.text))
        }
        ("a boolean", "no" | "off" | "No" | "Off" | "NO" | "OFF" | "n") => {
            error.with_hint(format!("write `false`: `{}` is text", scalar.text))
        }
        ("a boolean", "true" | "false") | ("a whole number", _)
            if scalar.kind() == Kind::Text && looks_quoted(scalar) =>
        {
            error.with_hint("write it without quotes")
        }
        ("a list", text) if scalar.kind() != Kind::Null && text.len() <= 60 && !text.contains('\n') => {
            error.with_hint(format!("write `[{text}]`"))
        }
        _ => error,
    }
}

fn looks_quoted(scalar: &crate::Scalar) -> bool {
    let plain = crate::Scalar { text: scalar.text.clone(), style: crate::ScalarStyle::Plain };
    plain.kind() != Kind::Text
}

impl<'de> de::Deserializer<'de> for &'de Node {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let result = match &self.value {
            Value::List(list) => visitor.visit_seq(Elements(list.iter())),
            Value::Map(map) => {
                let entries: Vec<&Entry> = map.entries().iter().collect();
                visitor.visit_map(Entries::new(&entries))
            }
            Value::Scalar(scalar) => match scalar.kind() {
                Kind::Null => visitor.visit_unit(),
                Kind::Bool(value) => visitor.visit_bool(value),
                Kind::Int(value) => visitor.visit_i64(value),
                Kind::Float(value) => visitor.visit_f64(value),
                Kind::Text => visitor.visit_borrowed_str(&scalar.text),
            },
        };
        result.map_err(|error: DecodeError| error.found(self))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_scalar().map(crate::Scalar::kind) {
            Some(Kind::Bool(value)) => visitor.visit_bool(value),
            _ => Err(mismatch(self, "a boolean")),
        }
    }

    fn deserialize_i64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_scalar().map(crate::Scalar::kind) {
            Some(Kind::Int(value)) => visitor.visit_i64(value).map_err(|e: DecodeError| e.or_at(self.span)),
            _ => Err(mismatch(self, "a whole number")),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.as_scalar().map(crate::Scalar::kind) {
            Some(Kind::Float(value)) => visitor.visit_f64(value),
            Some(Kind::Int(value)) => visitor.visit_i64(value),
            _ => Err(mismatch(self, "a number")),
        }
        .map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let text = self.as_text().ok_or_else(|| mismatch(self, "text"))?;
        visitor.visit_borrowed_str(text).map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_newtype_struct(self).map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let list = self.as_list().ok_or_else(|| mismatch(self, "a list"))?;
        visitor.visit_seq(Elements(list.iter())).map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        if name == "OneOrMany" && self.as_list().is_none() {
            return visitor.visit_seq(Elements(std::slice::from_ref(self).iter()));
        }
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let map = self.as_map().ok_or_else(|| mismatch(self, "a map"))?;
        let entries: Vec<&Entry> = map.entries().iter().collect();
        visitor.visit_map(Entries::new(&entries)).map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let text = self.as_text().ok_or_else(|| mismatch(self, "text"))?;
        visitor.visit_enum(text.into_deserializer()).map_err(|error: DecodeError| error.or_at(self.span))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_i8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_i16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_i32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u16<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_i64(visitor)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_i64(visitor)
    }

    serde::forward_to_deserialize_any! {
        f32 char bytes byte_buf unit unit_struct tuple identifier ignored_any
    }
}

/// Walks the elements of a list.
struct Elements<'de>(std::slice::Iter<'de, Node>);

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = DecodeError;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, DecodeError> {
        let Some(node) = self.0.next() else { return Ok(None) };
        seed.deserialize(node).map(Some).map_err(|error| error.or_at(node.span))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

/// Walks the entries of a map.
struct Entries<'a, 'de> {
    rest: std::slice::Iter<'a, &'de Entry>,
    current: Option<&'de Entry>,
}

impl<'a, 'de> Entries<'a, 'de> {
    fn new(entries: &'a [&'de Entry]) -> Self {
        Self { rest: entries.iter(), current: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'_, 'de> {
    type Error = DecodeError;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, DecodeError> {
        self.current = self.rest.next().copied();
        let Some(entry) = self.current else { return Ok(None) };
        let key: de::value::BorrowedStrDeserializer<'de, DecodeError> =
            de::value::BorrowedStrDeserializer::new(&entry.key.text);
        seed.deserialize(key).map(Some).map_err(|error| error.or_at(entry.key.span))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, DecodeError> {
        let entry = self.current.ok_or_else(|| de::Error::custom("a value was asked for before its key"))?;
        seed.deserialize(&entry.value).map_err(|error| error.or_at(entry.value.span))
    }
}

impl<'de> de::Deserializer<'de> for Entries<'_, 'de> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_map(self)
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::{Key, Scalar, ScalarStyle, SourceId, Text};

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Sample {
        mode: Option<Text>,
        force: bool,
        returns: Option<Vec<u8>>,
        level: Option<Level>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Level {
        OnFailure,
        Never,
    }

    fn plain(text: &str, at: usize) -> Node {
        let scalar = Scalar { text: text.into(), style: ScalarStyle::Plain };
        Node { value: Value::Scalar(scalar), span: Span::new(SourceId(0), at, at + text.len()) }
    }

    fn properties(entries: Vec<(&str, Node)>) -> Properties {
        let entry = |(at, (key, value)): (usize, (&str, Node))| Entry {
            key: Key { text: key.into(), span: Span::new(SourceId(0), 1000 + at, 1000 + at) },
            value,
        };
        Properties::new(Map::new(entries.into_iter().enumerate().map(entry).collect()), None)
    }

    fn messages(result: Result<Sample, Vec<Diagnostic>>) -> Vec<(u32, String, Vec<String>)> {
        let diagnostics = result.expect_err("a mistake");
        diagnostics.into_iter().map(|d| (d.span().unwrap_or_default().start, d.message, d.hints)).collect()
    }

    #[test]
    fn text_is_taken_as_it_was_written() {
        let list = Node { value: Value::List(vec![plain("0", 5), plain("3", 6)]), span: Span::default() };
        let sample: Result<Sample, _> = decode(
            &properties(vec![
                ("mode", plain("0644", 1)),
                ("force", plain("true", 2)),
                ("returns", list),
                ("level", plain("on_failure", 9)),
            ]),
            &[],
        );
        let expected = Sample {
            mode: Some(Text("0644".to_owned())),
            force: true,
            returns: Some(vec![0, 3]),
            level: Some(Level::OnFailure),
        };
        assert_eq!(sample, Ok(expected));
    }

    #[test]
    fn every_mistake_is_reported_at_its_place() {
        let list = Node {
            value: Value::List(vec![plain("0", 5), plain("x", 6), plain("y", 7)]),
            span: Span::new(SourceId(0), 4, 8),
        };
        let found = messages(decode(
            &properties(vec![
                ("mod", plain("0644", 1)),
                ("force", plain("yes", 2)),
                ("returns", list),
                ("level", plain("on_failur", 9)),
                ("provider_", plain("x", 20)),
            ]),
            &["provider"],
        ));
        let hint = |text: &str| vec![text.to_owned()];
        assert_eq!(
            found,
            [
                (1000, "unknown property `mod`".to_owned(), hint("did you mean `mode`?")),
                (
                    2,
                    "expected a boolean, found the text `yes`".to_owned(),
                    hint("write `true`: `yes` is text")
                ),
                (6, "expected a whole number, found the text `x`".to_owned(), vec![]),
                (7, "expected a whole number, found the text `y`".to_owned(), vec![]),
                (
                    9,
                    "expected `on_failure` or `never`, found `on_failur`".to_owned(),
                    hint("did you mean `on_failure`?")
                ),
                (1004, "unknown property `provider_`".to_owned(), hint("did you mean `provider`?")),
            ]
        );
    }

    #[test]
    fn a_mistake_in_no_single_property_has_no_place() {
        #[derive(Debug, Deserialize)]
        struct Demanding {
            _needed: u8,
        }
        let found = decode::<Demanding>(&properties(Vec::new()), &[]).expect_err("a mistake");
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].span(), None);
    }

    #[test]
    fn null_means_not_given() {
        assert_eq!(decode(&properties(vec![("mode", plain("~", 1))]), &[]), Ok(Sample::default()));
    }

    #[test]
    fn a_scalar_in_the_place_of_a_list_is_shown_as_a_list() {
        let found = messages(decode(&properties(vec![("returns", plain("3", 1))]), &[]));
        assert_eq!(
            found,
            [(1, "expected a list, found the number `3`".to_owned(), vec!["write `[3]`".to_owned()])]
        );
    }
}
