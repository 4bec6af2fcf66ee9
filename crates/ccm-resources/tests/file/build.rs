//! Resources from a few words.

use ccm_model::{
    Checked, Diagnostic, Entry, Key, Map, Node, Properties, Resource, ResourceId, Scalar, ScalarStyle,
    SourceId, Span, Spanned, TypeSpec, Value,
};
use ccm_resources::types;

fn entry(key: &str, value: &str) -> Entry {
    // An empty text without quotes would be null.
    let style = if value.is_empty() { ScalarStyle::Quoted } else { ScalarStyle::Plain };
    let value = Value::Scalar(Scalar { text: value.into(), style });
    let value = Node { value, span: Span::default() };
    Entry { key: Key { text: key.into(), span: Span::new(SourceId(0), 1, 2) }, value }
}

/// A file of that name; `ensure` is taken out of the properties as the loader does.
pub(crate) fn file(name: &str, properties: &[(&str, &str)]) -> Resource {
    let ensure = properties.iter().find(|(key, _)| *key == "ensure");
    let own = properties.iter().filter(|(key, _)| *key != "ensure").map(|(key, value)| entry(key, value));
    Resource {
        id: ResourceId::new("file", name),
        span: Span::default(),
        alias: None,
        ensure: ensure.map(|(_, value)| Spanned { value: (*value).to_owned(), span: Span::default() }),
        provider: None,
        require: Vec::new(),
        subscribe: Vec::new(),
        properties: Properties::new(Map::new(own.collect()), None),
    }
}

/// What the type finds wrong, as `message | hint`.
pub(crate) fn mistakes(resource: &Resource) -> Vec<String> {
    let shown = |diagnostic: Diagnostic| match diagnostic.hints.first() {
        Some(hint) => format!("{} | {hint}", diagnostic.message),
        None => diagnostic.message,
    };
    let checked = Checked { resource, source_text: "" };
    let found = types().into_iter().find(|found| found.name() == "file").expect("the type file");
    let spec: &dyn TypeSpec = found;
    spec.check(&checked).into_iter().map(shown).collect()
}
