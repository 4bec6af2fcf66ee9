//! Keys of maps: each is a scalar and unique.

use std::collections::hash_map::Entry as Slot;
use std::collections::{BTreeSet, HashMap};

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Scalar, ScalarStyle, Span,
};

use crate::excerpt::shown;

/// Converts a node to a key. `key_span` is the span of the key as written, not that of an alias's node.
pub(crate) fn key_of(node: Node, key_span: Span) -> Result<NodeKey, Diagnostic> {
    match node.value {
        NodeValue::Scalar(Scalar { style: ScalarStyle::Plain, text }) if &*text == "<<" => Err(
            Diagnostic::error(DiagnosticKind::Unsupported, key_span, "merge keys (`<<`) are not supported")
                .with_hint("use `defaults` for what a list of resources shares"),
        ),
        NodeValue::Scalar(Scalar { style: ScalarStyle::Plain, text }) if text.is_empty() => {
            Err(Diagnostic::error(DiagnosticKind::Missing, key_span, "the key before this `:` is missing"))
        }
        NodeValue::Scalar(Scalar { text, .. }) => Ok(NodeKey { text, span: key_span }),
        NodeValue::List(_) => Err(not_a_key(key_span, "a list")),
        NodeValue::Map(_) => Err(not_a_key(key_span, "a map")),
    }
}

/// Error of a list or map used as a key.
pub(crate) fn not_a_key(key_span: Span, what: &str) -> Diagnostic {
    Diagnostic::error(DiagnosticKind::WrongType, key_span, format!("{what} can't be a key"))
        .with_hint("quote the key if it is meant as text: a key is a scalar")
}

/// Errors of duplicate keys, at most `most` of them.
pub(crate) fn duplicates(entries: &[NodeEntry], most: usize) -> Vec<Diagnostic> {
    // Comparing is faster than hashing for small maps; large maps must not take quadratic time.
    const SMALL: usize = 8;
    let mut found = Vec::new();
    if entries.len() <= SMALL {
        for (position, again) in entries.iter().enumerate() {
            let first = entries[..position].iter().find(|first| first.key.text == again.key.text);
            found.extend(first.map(|first| duplicate(&first.key, &again.key)));
        }
        found.truncate(most);
        return found;
    }
    let mut firsts: HashMap<&str, &NodeKey> = HashMap::with_capacity(entries.len());
    for NodeEntry { key, .. } in entries {
        match firsts.entry(&key.text) {
            Slot::Occupied(_) if found.len() >= most => break,
            Slot::Occupied(first) => found.push(duplicate(first.get(), key)),
            Slot::Vacant(slot) => {
                slot.insert(key);
            }
        }
    }
    found
}

fn duplicate(first: &NodeKey, again: &NodeKey) -> Diagnostic {
    Diagnostic::error(
        DiagnosticKind::DuplicateKey,
        again.span,
        format!("the key `{}` is given twice", shown(&again.text)),
    )
    .labelled("given again here")
    .with_label(first.span, "first given here")
}

/// Makes keys unique, so that the values of a duplicate key can be checked: lists and maps are joined, and of
/// other values the first is kept.
pub(crate) fn joined(entries: Vec<NodeEntry>) -> Vec<NodeEntry> {
    let mut positions: HashMap<Box<str>, usize> = HashMap::with_capacity(entries.len());
    let mut unique: Vec<NodeEntry> = Vec::with_capacity(entries.len());
    let mut joined_maps = BTreeSet::new();
    for entry in entries {
        let position = *positions.entry(entry.key.text.clone()).or_insert(unique.len());
        let Some(first) = unique.get_mut(position) else {
            unique.push(entry);
            continue;
        };
        match (&mut first.value.value, entry.value.value) {
            (NodeValue::List(elements), NodeValue::List(more)) => elements.extend(more),
            (NodeValue::Map(map), NodeValue::Map(more)) => {
                more.into_entries().into_iter().for_each(|entry| map.push(entry));
                joined_maps.insert(position);
            }
            _ => {}
        }
    }
    for position in joined_maps {
        if let NodeValue::Map(map) = &mut unique[position].value.value {
            *map = NodeMap::new(joined(std::mem::take(map).into_entries()));
        }
    }
    unique
}
