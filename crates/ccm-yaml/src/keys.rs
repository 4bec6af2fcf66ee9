//! What a map asks of its keys: each is a scalar, none is given twice.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use ccm_model::{Diagnostic, Entry, Key, Node, Scalar, ScalarStyle, Span, Value};

use crate::excerpt::shown;

/// Makes a key of what stands in its place. `written` is that place, which for an alias is not the node's.
pub(crate) fn key_of(node: Node, written: Span) -> Result<Key, Diagnostic> {
    match node.value {
        Value::Scalar(Scalar { style: ScalarStyle::Plain, text }) if &*text == "<<" => {
            Err(Diagnostic::error(written, "merge keys (`<<`) are not supported")
                .with_hint("use `defaults` for what a list of resources shares"))
        }
        Value::Scalar(Scalar { style: ScalarStyle::Plain, text }) if text.is_empty() => {
            Err(Diagnostic::error(written, "there is no key before this `:`"))
        }
        Value::Scalar(Scalar { text, .. }) => Ok(Key { text, span: written }),
        Value::List(_) => Err(not_a_key(written, "a list")),
        Value::Map(_) => Err(not_a_key(written, "a map")),
    }
}

/// Says that a list or map stands where a key should.
pub(crate) fn not_a_key(written: Span, what: &str) -> Diagnostic {
    Diagnostic::error(written, format!("{what} can't be a key"))
        .with_hint("a key is a word or a text; quote it if it is meant as text")
}

/// The entries whose key was given before, each with the first of that key; at most `most` of them.
pub(crate) fn duplicates(entries: &[Entry], most: usize) -> Vec<Diagnostic> {
    // Most maps are so small that comparing beats hashing; a huge one must not cost its square.
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
    let mut firsts: HashMap<&str, &Key> = HashMap::with_capacity(entries.len());
    for Entry { key, .. } in entries {
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

fn duplicate(first: &Key, again: &Key) -> Diagnostic {
    Diagnostic::error(again.span, format!("the key `{}` is given twice", shown(&again.text)))
        .labelled("given again here")
        .with_label(first.span, "first given here")
}
