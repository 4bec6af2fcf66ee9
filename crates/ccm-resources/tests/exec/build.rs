//! Resources from a few words.

use ccm_model::{
    Checked, Diagnostic, Entry, Key, Map, Node, Properties, Resource, ResourceId, Scalar, ScalarStyle,
    SourceId, Span, Spanned, TypeSpec, Value,
};
use ccm_resources::types;

/// A plain scalar; `[a|b]` is a list and `{a=1|b=2}` a map of them.
pub(crate) fn node(text: &str) -> Node {
    let inside = |open, close| text.strip_prefix(open).and_then(|text: &str| text.strip_suffix(close));
    let value = if let Some(list) = inside('[', ']') {
        Value::List(list.split('|').filter(|part| !part.is_empty()).map(node).collect())
    } else if let Some(map) = inside('{', '}') {
        Value::Map(Map::new(
            map.split('|')
                .filter_map(|part| part.split_once('='))
                .map(|(key, value)| entry(key, value))
                .collect(),
        ))
    } else {
        Value::Scalar(Scalar { text: text.into(), style: ScalarStyle::Plain })
    };
    Node { value, span: Span::default() }
}

fn entry(key: &str, value: &str) -> Entry {
    Entry { key: Key { text: key.into(), span: Span::new(SourceId(0), 1, 2) }, value: node(value) }
}

/// An exec of that name; `provider` is taken out of the properties as the loader does.
pub(crate) fn exec(name: &str, properties: &[(&str, &str)]) -> Resource {
    let provider = properties.iter().find(|(key, _)| *key == "provider");
    let own = properties.iter().filter(|(key, _)| *key != "provider").map(|(key, value)| entry(key, value));
    Resource {
        id: ResourceId::new("exec", name),
        span: Span::default(),
        alias: None,
        ensure: None,
        provider: provider.map(|(_, value)| Spanned { value: (*value).to_owned(), span: Span::default() }),
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
    let exec = types().into_iter().find(|found| found.name() == "exec").expect("the type exec");
    let spec: &dyn TypeSpec = exec;
    spec.check(&checked).into_iter().map(shown).collect()
}
