//! Catalogs of fakes.

use ccm_model::{
    Catalog, Dependency, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Properties, Resource, ResourceId,
    ResourceIndex, Scalar, ScalarStyle, Span, Spanned,
};

/// Builds health checks from text such as `web,db;tries=3;timeout=5s`.
fn checks(text: &str) -> NodeEntry {
    let span = Span::default();
    let entry = |key: &str, value: &str| NodeEntry {
        key: NodeKey { text: key.into(), span },
        value: Node {
            value: NodeValue::Scalar(Scalar { text: value.into(), style: ScalarStyle::Plain }),
            span,
        },
    };
    let check = |text: &str| {
        let mut words = text.split(';');
        let name = words.next().unwrap_or_default();
        let options = words.filter_map(|word| word.split_once('=')).map(|(key, value)| entry(key, value));
        let entries = [entry("name", name), entry("command", name)].into_iter().chain(options);
        Node { value: NodeValue::Map(NodeMap::new(entries.collect())), span }
    };
    let list = NodeValue::List(text.split(',').map(check).collect());
    NodeEntry { key: NodeKey { text: "health_checks".into(), span }, value: Node { value: list, span } }
}

/// Builds a catalog from lines such as `b needs fails=execute require=a subscribe=c,d`.
pub(crate) fn catalog(lines: &[&str]) -> Catalog {
    let names: Vec<&str> = lines.iter().filter_map(|line| line.split(' ').next()).collect();
    let dependencies = |value: &str| {
        let one = |name: &str| Dependency {
            on: ResourceIndex::from_usize(
                names.iter().position(|known| *known == name).expect("a known name"),
            ),
            span: Span::default(),
        };
        value.split(',').map(one).collect::<Vec<_>>()
    };
    let resource = |line: &&str| {
        let mut words = line.split(' ');
        let mut resource =
            Resource { id: ResourceId::new("fake", words.next().unwrap_or_default()), ..Resource::default() };
        let mut entries = Vec::new();
        for word in words {
            match word.split_once('=').unwrap_or((word, "yes")) {
                ("require", value) => resource.require = dependencies(value),
                ("subscribe", value) => resource.subscribe = dependencies(value),
                ("provider", value) => {
                    let span = Span::default();
                    resource.provider = Some(Spanned { value: value.to_owned(), span });
                }
                ("ensure", value) => {
                    let span = Span::default();
                    resource.ensure = Some(Spanned { value: value.to_owned(), span });
                }
                ("checks", value) => entries.push(checks(value)),
                (key, value) => entries.push(NodeEntry {
                    key: NodeKey { text: key.into(), span: Span::default() },
                    value: Node::text(value, Span::default()),
                }),
            }
        }
        resource.properties = Properties::new(NodeMap::new(entries), None);
        resource
    };
    Catalog { resources: lines.iter().map(resource).collect(), ..Catalog::default() }
}
