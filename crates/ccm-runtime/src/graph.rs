//! Graph of a manifest, for the record of its run and as a picture.

use std::collections::BTreeMap;

use ccm_expr::Value;
use ccm_graph::{Graph, TooManyResources};
use ccm_manifest::Redaction;
use ccm_model::{Catalog, ResourceId, ResourceIndex, SourceMap, Span, sha256};
use ccm_page::{PageError, PictureNode, picture};
use ccm_report::{GraphNode, GraphPart, GraphSource, RecordedEdge, RecordedEdgeKind, RecordedManifest};

use crate::manifest::LoadedManifest;

/// Maximum number of recorded facts, and of values of the data.
const MAX_VALUES: usize = 500;
/// Maximum length of a recorded value in characters.
const MAX_VALUE: usize = 200;

/// Graph of the manifest that a run applies.
pub(crate) struct ManifestGraph<'m> {
    pub(crate) manifest: &'m LoadedManifest<'m>,
}

impl GraphSource for ManifestGraph<'_> {
    fn graph(&self) -> GraphPart {
        let LoadedManifest { session, input, catalog, loaded, .. } = self.manifest;
        let texts = loaded.texts();
        let lines = LineIndex::of(&texts);
        let graph = Graph::of(catalog);
        let redaction = Redaction::new(&loaded.data.secrets);
        let node = |index: ResourceIndex| {
            let resource = catalog.resource(index);
            let name = session.secrets.redact(&resource.id.name);
            GraphNode {
                id: ResourceId::new(resource.id.type_name.clone(), name),
                file: resource.span.source.0 as usize,
                line: lines.line(resource.span),
                edges: recorded_edges(catalog, &graph, index),
            }
        };
        GraphPart {
            manifest: RecordedManifest {
                name: session.secrets.redact(&input.record_name()).into_owned(),
                digest: sha256(input.text().as_bytes()),
                facts: self.facts(&redaction),
                data: self.data(&redaction),
            },
            files: texts.iter().map(|source| session.secrets.redact(&source.name).into_owned()).collect(),
            nodes: catalog.indices().map(node).collect(),
        }
    }
}

impl ManifestGraph<'_> {
    fn facts(&self, redaction: &Redaction) -> BTreeMap<String, String> {
        let facts = self.manifest.loaded.used_facts().into_iter().take(MAX_VALUES);
        facts.map(|(path, value)| (path.join("."), self.text(&value, redaction))).collect()
    }

    fn data(&self, redaction: &Redaction) -> BTreeMap<String, String> {
        let Value::Map(data) = &self.manifest.loaded.data.value else { return BTreeMap::new() };
        data.iter()
            .take(MAX_VALUES)
            .map(|(key, value)| (key.to_string(), self.text(value, redaction)))
            .collect()
    }

    /// Returns a value on one line, without secrets.
    fn text(&self, value: &Value, redaction: &Redaction) -> String {
        let text = match redaction.value(value) {
            Value::Text(text) => text.to_string(),
            other => other.to_json().to_string(),
        };
        let text = self.manifest.session.secrets.redact(&text);
        match text.char_indices().nth(MAX_VALUE) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.into_owned(),
        }
    }
}

/// Error of the picture of a graph.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The graph has too many resources for a picture.
    #[error(transparent)]
    TooLarge(#[from] TooManyResources),
    /// The picture can't be made.
    #[error(transparent)]
    Page(#[from] PageError),
}

impl LoadedManifest<'_> {
    /// Draws the graph as SVG, without secrets.
    pub fn picture(&self) -> Result<String, PictureError> {
        let graph = Graph::of(&self.catalog);
        let node = |index| {
            let id = &self.catalog.resource(index).id;
            let edges = recorded_edges(&self.catalog, &graph, index).into_iter();
            PictureNode {
                id: ResourceId::new(id.type_name.clone(), self.session.secrets.redact(&id.name)),
                edges: edges.map(|edge| (edge.on, edge.kind)).collect(),
            }
        };
        let nodes: Vec<PictureNode> = self.catalog.indices().map(node).collect();
        Ok(picture(&nodes)??)
    }
}

/// Returns the dependencies of a resource.
fn recorded_edges(catalog: &Catalog, graph: &Graph, index: ResourceIndex) -> Vec<RecordedEdge> {
    let resource = catalog.resource(index);
    let kind = |on: ResourceIndex| match () {
        () if resource.autorequired.contains(&on) => RecordedEdgeKind::Derived,
        () if resource.require.iter().any(|require| require.on == on) => RecordedEdgeKind::Require,
        () => RecordedEdgeKind::Group,
    };
    let requirements = graph.requirements(index).map(|on| RecordedEdge { on: on.get(), kind: kind(on) });
    let subscriptions =
        graph.subscriptions(index).map(|on| RecordedEdge { on: on.get(), kind: RecordedEdgeKind::Subscribe });
    requirements.chain(subscriptions).collect()
}

/// Offsets at which the lines of texts begin.
struct LineIndex(Vec<Vec<u32>>);

impl LineIndex {
    fn of(texts: &SourceMap) -> Self {
        let starts = |text: &str| {
            let ends = text.bytes().zip(1..).filter(|(byte, _)| *byte == b'\n').map(|(_, after)| after);
            std::iter::once(0).chain(ends).collect()
        };
        Self(texts.iter().map(|source| starts(&source.text)).collect())
    }

    /// Returns the line at which a span begins, counted from 1; 0 if it is not known.
    fn line(&self, span: Span) -> usize {
        let starts = self.0.get(span.source.0 as usize);
        starts.map_or(0, |starts| starts.partition_point(|start| *start <= span.start))
    }
}

#[cfg(test)]
mod tests {
    use ccm_model::{Dependency, Group, GroupIndex, Resource, SourceId};

    use super::*;

    #[test]
    fn a_line_is_found_by_its_offset() {
        let mut texts = SourceMap::default();
        texts.add("a", "one\ntwo\n\nfour");
        let lines = LineIndex::of(&texts);
        for (start, line) in [(0, 1), (3, 1), (4, 2), (7, 2), (8, 3), (9, 4), (99, 4)] {
            assert_eq!(lines.line(Span { source: SourceId(0), start, end: start }), line, "{start}");
        }
        assert_eq!(lines.line(Span { source: SourceId(1), start: 0, end: 0 }), 0);
    }

    #[test]
    fn dependencies_have_the_kind_that_made_them() {
        use RecordedEdgeKind::{Derived, Group as OfGroup, Require, Subscribe};
        let on = |index| Dependency { on: ResourceIndex(index), span: Span::default() };
        let member = Resource {
            require: vec![on(0), on(1)],
            autorequired: vec![ResourceIndex(1)],
            subscribe: vec![on(2)],
            group: Some(GroupIndex(0)),
            ..Resource::default()
        };
        let node = Resource { node_of: Some(GroupIndex(0)), ..Resource::default() };
        let plain = Resource::default;
        let catalog = Catalog {
            resources: vec![plain(), plain(), plain(), member, node],
            groups: vec![Group::default()],
            ..Catalog::default()
        };
        let graph = Graph::of(&catalog);
        let found = |index| {
            let edges = recorded_edges(&catalog, &graph, ResourceIndex(index));
            edges.into_iter().map(|edge| (edge.on, edge.kind)).collect::<Vec<_>>()
        };
        assert_eq!(found(3), [(0, Require), (1, Derived), (2, Subscribe)]);
        assert_eq!(found(4), [(3, OfGroup)]);
    }
}
