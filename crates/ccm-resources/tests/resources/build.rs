//! Builds resources of any type from a few words.

use ccm_model::{
    Diagnostic, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Properties, Resource, ResourceId, Scalar,
    ScalarStyle, SourceId, Span, Spanned,
};
use ccm_properties::{CheckInput, TypeSpec};
use ccm_resources::types;

/// Returns a scalar; `[a|b]` is a list, `{a=1|b=2}` a map, and `<5>` the value of an expression.
fn node(text: &str) -> Node {
    let inside = |open, close| text.strip_prefix(open).and_then(|text: &str| text.strip_suffix(close));
    let value = if let Some(list) = inside('[', ']') {
        NodeValue::List(parts(list).filter(|part| !part.is_empty()).map(node).collect())
    } else if let Some(map) = inside('{', '}') {
        NodeValue::Map(NodeMap::new(
            parts(map)
                .filter_map(|part| part.split_once('='))
                .map(|(key, value)| entry(key, value))
                .collect(),
        ))
    } else if let Some(computed) = inside('<', '>') {
        NodeValue::Scalar(Scalar { text: computed.into(), style: ScalarStyle::Computed })
    } else {
        // An empty text without quotes would be null.
        let style = if text.is_empty() { ScalarStyle::Quoted } else { ScalarStyle::Plain };
        NodeValue::Scalar(Scalar { text: text.into(), style })
    };
    Node { value, span: Span::default() }
}

/// Splits at bars outside of nested lists and maps.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |part| {
        depth += i32::from(matches!(part, '[' | '{')) - i32::from(matches!(part, ']' | '}'));
        part == '|' && depth == 0
    })
}

fn entry(key: &str, value: &str) -> NodeEntry {
    NodeEntry { key: NodeKey { text: key.into(), span: Span::new(SourceId(0), 1, 2) }, value: node(value) }
}

/// Returns a resource; `ensure` and `provider` are taken from the properties, as the loader does.
pub(crate) fn resource(type_name: &str, name: &str, properties: &[(&str, &str)]) -> Resource {
    const COMMON: [&str; 2] = ["ensure", "provider"];
    let common = |name| {
        let found = properties.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| Spanned { value: (*value).to_owned(), span: Span::default() })
    };
    let own =
        properties.iter().filter(|(key, _)| !COMMON.contains(key)).map(|(key, value)| entry(key, value));
    Resource {
        id: ResourceId::new(type_name, name),
        ensure: common("ensure"),
        provider: common("provider"),
        properties: Properties::new(NodeMap::new(own.collect()), None),
        ..Resource::default()
    }
}

/// Returns a resource in a manifest with settings for all resources of the type.
pub(crate) fn with_settings(mut resource: Resource, settings: &[(&str, &str)]) -> Resource {
    resource.settings = NodeMap::new(settings.iter().map(|(key, value)| entry(key, value)).collect()).into();
    resource
}

/// Returns the errors in such settings, each as `kind property code | code in a hint`. The first code is that in
/// the message, since these properties have no spans. `…` is a hint without code.
pub(crate) fn errors_in_settings(resource: &Resource) -> Vec<String> {
    let found = types().into_iter().find(|found| found.name() == &*resource.id.type_name);
    let spec: &dyn TypeSpec = found.expect("a type of that name");
    spec.settings().expect("settings").errors(&resource.settings).iter().map(shown).collect()
}

fn shown(diagnostic: &Diagnostic) -> String {
    let code = |text: &str| text.split('`').skip(1).step_by(2).collect::<Vec<_>>().join(", ");
    let mut line = diagnostic.kind.to_string();
    for part in [diagnostic.property.as_deref().unwrap_or_default(), &code(&diagnostic.message)] {
        line += &if part.is_empty() { String::new() } else { format!(" {part}") };
    }
    for hint in diagnostic.hints.iter().map(|hint| code(hint)) {
        line += &format!(" | {}", if hint.is_empty() { "…" } else { &hint });
    }
    line
}

/// Returns the errors that the type finds, in the same format.
pub(crate) fn errors_of(resource: &Resource) -> Vec<String> {
    let subscribes = !resource.subscribe.is_empty();
    let checked = CheckInput { resource, source_text: "", secrets: &["hunter22".to_owned()], subscribes };
    let found = types().into_iter().find(|found| found.name() == &*resource.id.type_name);
    let spec: &dyn TypeSpec = found.expect("a type of that name");
    spec.check(&checked).iter().map(shown).collect()
}
