//! Values of options, typed by the kinds of their properties. A text never becomes a list, a map or another kind.

use ccm_data::assignment;
use ccm_model::{Node, NodeEntry, NodeKey, NodeMap, NodeValue, Scalar, ScalarStyle, Span};
use ccm_properties::PropertyKind;

/// Reason why a value can't be added to a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AssignmentFault {
    /// A property with one value has one already.
    GivenTwice,
    /// The `=` of an entry is missing.
    NoEquals,
    /// The key of an entry is empty, or too deep.
    InvalidKey,
}

/// Adds a value to what a property has so far.
pub(super) fn assign(
    kind: &PropertyKind,
    present: Option<Node>,
    text: &str,
    span: Span,
) -> Result<Node, AssignmentFault> {
    match kind {
        PropertyKind::List(element) | PropertyKind::OneOrMany(element) => {
            let mut elements = match present.map(|node| node.value) {
                Some(NodeValue::List(elements)) => elements,
                _ => Vec::new(),
            };
            elements.push(assign(element, None, text, span)?);
            let first = elements.first().map_or(span, |first| first.span);
            Ok(Node { value: NodeValue::List(elements), span: first })
        }
        PropertyKind::Map { .. } | PropertyKind::Record { .. } | PropertyKind::JsonMap => {
            let mut map = match present.map(|node| node.value) {
                Some(NodeValue::Map(map)) => map,
                _ => NodeMap::default(),
            };
            let (keys, value) = split_entry(kind, text)?;
            add_entry(&mut map, kind, &keys, value, span)?;
            let first = map.entries().first().map_or(span, |first| first.key.span);
            Ok(Node { value: NodeValue::Map(map), span: first })
        }
        PropertyKind::Either(kinds) => {
            let is_word =
                |kind: &&PropertyKind| matches!(kind, PropertyKind::Words(words) if words.contains(&text));
            let compound = || kinds.iter().find(|kind| kind.element().is_some() || is_map(kind));
            match kinds.iter().find(is_word).or_else(compound) {
                Some(kind) => assign(kind, present, text, span),
                None if present.is_some() => Err(AssignmentFault::GivenTwice),
                None => Ok(scalar(kind, text, span)),
            }
        }
        _ if present.is_some() => Err(AssignmentFault::GivenTwice),
        _ => Ok(scalar(kind, text, span)),
    }
}

fn is_map(kind: &PropertyKind) -> bool {
    matches!(kind, PropertyKind::Map { .. } | PropertyKind::Record { .. } | PropertyKind::JsonMap)
}

/// Splits `KEY=VALUE`. Only keys of a map of any values nest, as those of `--data`.
fn split_entry<'t>(kind: &PropertyKind, text: &'t str) -> Result<(Vec<String>, &'t str), AssignmentFault> {
    let (key, value) = text.split_once('=').ok_or(AssignmentFault::NoEquals)?;
    let keys = match kind {
        PropertyKind::JsonMap => assignment::path(text).map_err(|_| AssignmentFault::InvalidKey)?,
        _ if key.is_empty() => return Err(AssignmentFault::InvalidKey),
        _ => vec![key.to_owned()],
    };
    Ok((keys, value))
}

fn add_entry(
    map: &mut NodeMap,
    kind: &PropertyKind,
    keys: &[String],
    value: &str,
    span: Span,
) -> Result<(), AssignmentFault> {
    let [key, inner @ ..] = keys else { return Err(AssignmentFault::InvalidKey) };
    let present = map.entries().iter().position(|entry| *entry.key.text == **key);
    let node = present.map(|at| map.entries()[at].value.clone());
    let of_entry = kind.entry(key).unwrap_or(&PropertyKind::Json);
    let node = if inner.is_empty() {
        assign(of_entry, node, value, span)?
    } else {
        let mut within = match node.map(|node| node.value) {
            None => NodeMap::default(),
            Some(NodeValue::Map(map)) => map,
            Some(_) => return Err(AssignmentFault::GivenTwice),
        };
        add_entry(&mut within, kind, inner, value, span)?;
        Node { value: NodeValue::Map(within), span }
    };
    match present {
        Some(at) => map.entries_mut()[at].value = node,
        None => map.push(NodeEntry { key: NodeKey { text: key.as_str().into(), span }, value: node }),
    }
    Ok(())
}

/// Returns a scalar that is no text only where the kind has such values.
fn scalar(kind: &PropertyKind, text: &str, span: Span) -> Node {
    let is_boolean = matches!(text, "true" | "false");
    let is_typed = match kind {
        PropertyKind::Boolean | PropertyKind::Words(_) => is_boolean,
        PropertyKind::Integer { .. } => text.parse::<i64>().is_ok(),
        PropertyKind::Json => !text.is_empty(),
        _ => false,
    };
    let style = if is_typed { ScalarStyle::Plain } else { ScalarStyle::Quoted };
    Node { value: NodeValue::Scalar(Scalar { text: text.into(), style }), span }
}

#[cfg(test)]
mod tests {
    use ccm_properties::TextKind;

    use super::*;

    /// Returns the value of repeated options, in a short form.
    fn value(kind: &PropertyKind, texts: &[&str]) -> String {
        let mut present = None;
        for text in texts {
            match assign(kind, present.take(), text, Span::default()) {
                Ok(node) => present = Some(node),
                Err(fault) => return format!("{fault:?}"),
            }
        }
        present.as_ref().map(shown).unwrap_or_default()
    }

    fn shown(node: &Node) -> String {
        let all = |parts: Vec<String>| parts.join(", ");
        match &node.value {
            NodeValue::Scalar(scalar) if scalar.style == ScalarStyle::Plain => scalar.text.to_string(),
            NodeValue::Scalar(scalar) => format!("{:?}", scalar.text),
            NodeValue::List(elements) => format!("[{}]", all(elements.iter().map(shown).collect())),
            NodeValue::Map(map) => {
                let entry = |entry: &NodeEntry| format!("{}: {}", entry.key.text, shown(&entry.value));
                format!("{{{}}}", all(map.entries().iter().map(entry).collect()))
            }
        }
    }

    #[test]
    fn values_have_the_kind_of_their_property() {
        const TEXT: PropertyKind = PropertyKind::TEXT;
        const NUMBER: PropertyKind = PropertyKind::Integer { min: None, max: None };
        const ENVIRONMENT: PropertyKind = PropertyKind::Either(&[
            PropertyKind::List(&TEXT),
            PropertyKind::Map { keys: None, values: &TEXT, min: 0 },
        ]);
        const PROGRAMS: PropertyKind =
            PropertyKind::Either(&[PropertyKind::Words(&["any"]), PropertyKind::List(&TEXT)]);
        const DURATION: PropertyKind =
            PropertyKind::Either(&[PropertyKind::Duration, PropertyKind::Words(&["never"])]);
        let map = PropertyKind::Map { keys: None, values: &TEXT, min: 0 };
        let lists = PropertyKind::Map { keys: None, values: &PropertyKind::List(&TEXT), min: 0 };
        for (kind, texts, expected) in [
            (TEXT, &["true"][..], "\"true\""),
            (TEXT, &["0644"], "\"0644\""),
            (TEXT, &["[a, b]"], "\"[a, b]\""),
            (TEXT, &["- a\n- {b: c}"], "\"- a\\n- {b: c}\""),
            (TEXT, &["!!binary a # b"], "\"!!binary a # b\""),
            (TEXT, &[""], "\"\""),
            (TEXT, &["a", "b"], "GivenTwice"),
            (PropertyKind::Text(TextKind::STRICT), &["~"], "\"~\""),
            (PropertyKind::Boolean, &["true"], "true"),
            (PropertyKind::Boolean, &["yes"], "\"yes\""),
            (PropertyKind::Boolean, &[""], "\"\""),
            (PropertyKind::Boolean, &["{{ Facts.x }}"], "\"{{ Facts.x }}\""),
            (NUMBER, &["-5"], "-5"),
            (NUMBER, &["5.5"], "\"5.5\""),
            (NUMBER, &["0x10"], "\"0x10\""),
            (PropertyKind::Duration, &["0"], "\"0\""),
            (PropertyKind::Words(&["true", "on_failure"]), &["true"], "true"),
            (PropertyKind::Words(&["true", "on_failure"]), &["on_failure"], "\"on_failure\""),
            (PropertyKind::List(&NUMBER), &["1", "2"], "[1, 2]"),
            (PropertyKind::List(&TEXT), &["a,b"], "[\"a,b\"]"),
            (PropertyKind::OneOrMany(&TEXT), &["a"], "[\"a\"]"),
            (ENVIRONMENT, &["A=1", "B=2"], "[\"A=1\", \"B=2\"]"),
            (PROGRAMS, &["any"], "\"any\""),
            (PROGRAMS, &["git", "tar"], "[\"git\", \"tar\"]"),
            (DURATION, &["never"], "\"never\""),
            (DURATION, &["1h"], "\"1h\""),
            (map, &["a.b=1", "c=x=y"], "{a.b: \"1\", c: \"x=y\"}"),
            (map, &["a=1", "a=2"], "GivenTwice"),
            (map, &["a"], "NoEquals"),
            (map, &["=a"], "InvalidKey"),
            (lists, &["a=1", "b=2", "a=3"], "{a: [\"1\", \"3\"], b: [\"2\"]}"),
            (
                PropertyKind::JsonMap,
                &["web.port=80", "web.name=a", "on=true"],
                "{web: {port: 80, name: a}, on: true}",
            ),
            (PropertyKind::JsonMap, &["a=1", "a.b=2"], "GivenTwice"),
            (PropertyKind::JsonMap, &["a..b=2"], "InvalidKey"),
        ] {
            assert_eq!(value(&kind, texts), expected, "{kind:?} {texts:?}");
        }
    }
}
