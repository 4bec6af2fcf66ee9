//! Keys of `data` that nothing uses.
//!
//! A key is used if its name is a word of any text that belongs to the manifests, other than a key of YAML. Errs on the side
//! of taking a key for used: where data is used as a whole or by a computed key, every key may be.

use std::collections::HashSet;
use std::sync::Arc;

use ccm_model::{Diagnostic, DiagnosticKind, NodeKey, Span, closest};

use crate::read::data::misplaced_levels;
use crate::resolve::declared_data::DeclaredData;
use crate::resolve::eval_context::EvalContext;
use crate::resolve::messages::shown;
use crate::resolve::scope::ManifestScope;

/// Returns the notes about the keys directly below `data` of all manifests, and about keys that are handed over to them.
pub(crate) fn notes(manifests: &[ManifestScope], context: &EvalContext<'_>) -> Vec<Diagnostic> {
    let declared = || manifests.iter().filter_map(|manifest| manifest.declared.as_deref());
    // A warning tells those that are misspelt.
    let is_meant = |declared: &DeclaredData, key: &NodeKey| meant_key(declared, key).is_none();
    let handed_over = move |declared| undeclared(declared).filter(move |key| is_meant(declared, key));
    let keys = declared().flat_map(|declared| declared.keys().chain(handed_over(declared)));
    let misplaced: Vec<Span> = declared()
        .filter_map(|declared| Some((&declared.nodes.data.as_ref()?.value, &declared.nodes)))
        .flat_map(|(data, nodes)| misplaced_levels(data, nodes).map(|warning| warning.span()))
        .flatten()
        .collect();
    let note = |key: &NodeKey| {
        let name = shown(&key.text);
        let note =
            Diagnostic::note(DiagnosticKind::NoEffect, key.span, format!("nothing uses `Data.{name}`"));
        note.with_hint(match &*key.text {
            "overrides" | "hierarchy" => format!("write `{name}:` at the top, beside `data:`"),
            _ => format!("remove `{name}`, or use it"),
        })
    };
    let is_new = |key: &&NodeKey| !misplaced.contains(&key.span);
    unused(keys.collect(), context).into_iter().filter(is_new).map(note).collect()
}

/// Warns of keys that are handed over to a manifest, that nothing uses, and that resemble a key of its data.
pub(crate) fn misspelt(manifests: &[ManifestScope], context: &EvalContext<'_>) -> Vec<Diagnostic> {
    let declared = manifests.iter().filter_map(|manifest| manifest.declared.as_deref());
    let pairs: Vec<(&NodeKey, &str)> = declared
        .flat_map(|declared| {
            undeclared(declared).filter_map(move |key| Some((key, meant_key(declared, key)?)))
        })
        .collect();
    // Most manifests have none, so that no text is searched.
    if pairs.is_empty() {
        return Vec::new();
    }
    let unused = unused(pairs.iter().map(|(key, _)| *key).collect(), context);
    let warning = |(key, meant): &(&NodeKey, &str)| {
        let message =
            format!("the applied manifest has no `{}` in its `data`, and never uses it", shown(&key.text));
        Diagnostic::warning(DiagnosticKind::NoEffect, key.span, message).with_suggestion(Some(meant))
    };
    let is_unused = |(key, _): &&(&NodeKey, &str)| unused.iter().any(|unused| unused.span == key.span);
    pairs.iter().filter(is_unused).map(warning).collect()
}

/// Returns the keys that are handed over to a manifest and that its own data lacks.
fn undeclared(declared: &DeclaredData) -> impl Iterator<Item = &NodeKey> {
    declared.passed.iter().filter(|key| !declared.keys().any(|known| known.text == key.text))
}

/// Returns the key of the data that was probably meant by one that is handed over.
fn meant_key<'d>(declared: &'d DeclaredData, key: &NodeKey) -> Option<&'d str> {
    closest(&key.text, declared.keys().map(|key| &*key.text))
}

/// Returns those of the keys that nothing uses.
fn unused<'k>(keys: Vec<&'k NodeKey>, context: &EvalContext<'_>) -> Vec<&'k NodeKey> {
    let texts = texts(context);
    if texts.iter().any(|text| may_use_any_key(text)) {
        return Vec::new();
    }
    let words: HashSet<&str> = texts.iter().flat_map(|text| words(text)).collect();
    let mut seen = HashSet::new();
    let is_unused = |key: &&NodeKey| {
        // A key that is no word has to be quoted, and is not searched.
        let is_word = !key.text.is_empty() && key.text.chars().all(is_part);
        is_word && !words.contains(&*key.text) && seen.insert(key.span)
    };
    keys.into_iter().filter(is_unused).collect()
}

/// Returns the texts that belong to the manifests: those with locations, and the files that expressions have read.
fn texts(context: &EvalContext<'_>) -> Vec<Arc<str>> {
    let registered = context.texts.borrow();
    let mut texts: Vec<Arc<str>> = registered.iter().map(|source| Arc::clone(&source.text)).collect();
    let names: HashSet<&str> = registered.iter().map(|source| &*source.name).collect();
    let read = context.paths_read().into_iter().filter(|path| !names.contains(&*path.to_string_lossy()));
    texts.extend(read.filter_map(|path| context.sources.read(&path).ok()).map(Arc::from));
    texts
}

fn is_part(part: char) -> bool {
    part.is_alphanumeric() || part == '_'
}

/// Returns the words of a text that are no keys of YAML.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|part| !is_part(part)).filter(|word| !word.is_empty()).filter(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let is_key = text[start + word.len()..].starts_with(':');
        !is_key || text[..start].ends_with('.')
    })
}

/// Returns `true` if a text may use a key of the data without naming it.
fn may_use_any_key(text: &str) -> bool {
    let is_name = |start: usize, word: &str| {
        !text[..start].ends_with(is_part) && !text[start + word.len()..].starts_with(is_part)
    };
    let found = |word: &'static str| {
        text.match_indices(word)
            .filter(move |(start, word)| is_name(*start, word))
            .map(move |(start, word)| &text[start + word.len()..])
    };
    let names_key = |rest: &str| {
        let rest = rest.strip_prefix('?').unwrap_or(rest);
        let is_item = |rest: &str| rest.trim_start().starts_with(['"', '\'']);
        match rest.strip_prefix('.') {
            Some(key) => key.starts_with(is_part) || key.strip_prefix('[').is_some_and(is_item),
            None => rest.strip_prefix('[').is_some_and(is_item),
        }
    };
    let looks_up_key = |rest: &str| {
        let Some(argument) = rest.trim_start().strip_prefix('(') else { return true };
        let argument = argument.trim_start().trim_start_matches('\\');
        let Some(path) = argument.strip_prefix(['"', '\'']) else { return false };
        match path.strip_prefix("data") {
            Some(below) if !below.starts_with(is_part) => {
                below.strip_prefix(['.', '|']).is_some_and(|key| key.starts_with(is_part))
            }
            _ => path.starts_with(is_part),
        }
    };
    text.contains("$env") || !found("Data").all(names_key) || !found("lookup").all(looks_up_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computed_keys_may_be_any() {
        for (text, expected) in [
            ("{{ Data.port }} {{ Data?.port }} {{ Data['port'] }} {{ Data?.[\"port\"] }}", false),
            ("{{ lookup('data.port') }} {{ lookup(\"facts.role\", 'x') }} lookup(\\\"data.a\\\")", false),
            ("MetaData and Database", false),
            ("data: {port: 1}", false),
            ("{{ Data }}", true),
            ("{{ Data | toPairs() }}", true),
            ("{{ Data[Item] }}", true),
            ("{% for key in Data %}", true),
            ("{{ lookup('data.' + Item) }}", true),
            ("{{ lookup(Item) }}", true),
            ("{{ lookup('data.*') }}", true),
            ("{{ lookup('data') }}", true),
            ("{{ lookup('{data.a}') }}", true),
            ("{{ $env }}", true),
        ] {
            assert_eq!(may_use_any_key(text), expected, "{text}");
        }
    }

    #[test]
    fn keys_of_yaml_are_no_uses() {
        let found: Vec<&str> = words("port: 1\nurl: \"{{ x ? Data.a: Data.b }} c:d\"").collect();
        assert_eq!(found, ["1", "x", "Data", "a", "Data", "b", "d"]);
    }
}
