//! Splits a manifest into its top level and the keys below `ccm`.

use std::sync::Arc;

use ccm_data::annotations;
use ccm_model::{
    Diagnostic, DiagnosticKind, Diagnostics, Node, NodeEntry, NodeMap, NodeValue, SourceId, Span, closest,
    listed,
};
use ccm_properties::{
    HEALTH_CHECKS_KIND, PropertyKind, PropertySet as _, PropertySpec, PropertyValue, Text, TextKind,
    decode_map, find, properties,
};

use crate::read::data::{self, DataNodes};
use crate::read::shape_errors::without_space;
use crate::read::types::Types;
use crate::read::{foreign_files, foreign_words};
use crate::resolve::expand::Expander;
use crate::resolve::messages::{expected, is_blank, shown, start_of};
use crate::resolve::scope::ManifestEvaluator;
use crate::resolve::text_language::TextLanguage;

properties! {
    /// Settings of a manifest, beside its resources.
    #[derive(Debug, Default)]
    pub(crate) struct Settings {
        /// Name of this manifest.
        name: Text { default: Some("its path"), kind: PropertyKind::Text(TextKind::ANY.matching("\\S")) },
        /// Text to show before the run.
        pre_message: Text,
        /// Text to show after the run.
        post_message: Text,
        /// Stops after the first failed resource.
        fail_on_error: bool { default: Some("`false`") },
        /// Health checks after all resources, in the form of `health_checks` of a resource.
        checks: CheckNodes,
    }
}

/// Returns the keys below `ccm` that every manifest may have, but for its resources.
pub fn setting_properties() -> &'static [PropertySpec] {
    Settings::PROPERTIES
}

/// Health checks that are checked together with those of resources.
#[derive(Debug)]
pub(crate) struct CheckNodes(pub(crate) Node);

impl PropertyValue for CheckNodes {
    const KIND: PropertyKind = HEALTH_CHECKS_KIND;

    fn decode(node: &Node, _: &mut Vec<Diagnostic>) -> Option<Self> {
        Some(Self(node.clone()))
    }
}

const SETTINGS: [&str; 7] =
    ["name", "pre_message", "post_message", "fail_on_error", "checks", "resources", "resources_template"];

/// Name of the health checks of a manifest.
const CHECKS: &str = "checks";

/// Words of other tools for `data`.
const DATA_WORDS: [&str; 8] =
    ["vars", "variables", "values", "params", "parameters", "pillar", "attributes", "locals"];

const TOP_LEVEL: [&str; 4] = ["ccm", "data", "hierarchy", "overrides"];

#[derive(Debug, Default)]
pub(crate) struct Document {
    pub(crate) data: DataNodes,
    /// Values stand where they are no data, so that nothing is known of those that expressions name.
    pub(crate) lacks_data: bool,
    /// Settings of the manifest, not expanded.
    pub(crate) settings: NodeMap,
    pub(crate) type_settings: NodeMap,
    /// Items of `resources`.
    pub(crate) items: Vec<Node>,
    /// Template that generates further items.
    pub(crate) template: Option<NodeEntry>,
}

pub(crate) fn read(
    source: SourceId,
    text: &str,
    root: Option<Node>,
    types: &Types<'_>,
    diagnostics: &mut Diagnostics,
) -> Document {
    let mut reader = DocumentReader { text, types, diagnostics };
    match root {
        Some(root) if !root.is_null() => reader.root(root),
        _ => {
            let nowhere = Span::new(source, 0, 0);
            let error = Diagnostic::error(DiagnosticKind::Missing, nowhere, "the manifest is empty");
            reader.diagnostics.push(error.with_hint(SMALLEST_MANIFEST));
            Document::default()
        }
    }
}

struct DocumentReader<'a, 't> {
    text: &'a str,
    types: &'a Types<'t>,
    diagnostics: &'a mut Diagnostics,
}

impl DocumentReader<'_, '_> {
    fn root(&mut self, root: Node) -> Document {
        let root_span = root.span;
        let NodeValue::Map(root) = root.value else {
            let hint = match &root.value {
                NodeValue::List(items) => items
                    .first()
                    .and_then(foreign_files::of_item)
                    .unwrap_or("put resources below `ccm:` and `resources:`"),
                _ => foreign_files::of_text(self.text).unwrap_or(SMALLEST_MANIFEST),
            };
            self.diagnostics.push(expected("a map with `ccm`", &root).with_hint(hint));
            return Document::default();
        };
        let mut ccm = None;
        let mut misplaced = None;
        let mut is_explained = false;
        let mut lacks_data = false;
        let mut data = DataNodes::default();
        for entry in root.into_entries() {
            match &*entry.key.text {
                "ccm" => ccm = Some(entry),
                "data" => data.data = Some(entry),
                "hierarchy" => data.hierarchy = Some(entry),
                "overrides" => data.overrides = Some(entry),
                _ => {
                    self.misplaced_or_unknown(&entry);
                    is_explained = true;
                    let key = &*entry.key.text;
                    lacks_data |= DATA_WORDS.contains(&key) || closest(key, TOP_LEVEL) == Some("data");
                    if &*entry.key.text == "resources" {
                        misplaced = Some(entry.value);
                    }
                }
            }
        }
        let Some(ccm) = ccm else {
            if !is_explained {
                let error = Diagnostic::error(
                    DiagnosticKind::Missing,
                    start_of(root_span),
                    "the manifest has no `ccm`",
                );
                self.diagnostics.push(error.with_hint(SMALLEST_MANIFEST));
            }
            return Document { data, items: self.items(misplaced), ..Document::default() };
        };
        lacks_data |= ccm.value.as_map().is_some_and(|map| map.entry("data").is_some());
        lacks_data |=
            data.data.as_ref().is_some_and(|data| !data.value.is_null() && data.value.as_map().is_none());
        Document { data, lacks_data, ..self.ccm(ccm, misplaced) }
    }

    fn misplaced_or_unknown(&mut self, entry: &NodeEntry) {
        let key = &*entry.key.text;
        let unknown = Diagnostic::error(
            DiagnosticKind::UnknownKey,
            entry.key.span,
            format!("unknown key `{}`", shown(key)),
        );
        self.diagnostics.push(if key == "resources" {
            Diagnostic::error(
                DiagnosticKind::Misplaced,
                entry.key.span,
                "`resources` must be below `ccm`, not beside it",
            )
            .with_hint("indent `resources` and its items below `ccm:`")
        } else if SETTINGS.contains(&key) || self.types.settings().any(|known| known == key) {
            unknown.with_hint(format!("put `{key}` below `ccm`"))
        } else if self.types.is_type(key) {
            unknown.with_hint("put resources below `ccm:` and `resources:`")
        } else if let Some(advice) = foreign_files::of_entry(entry).or_else(|| foreign_files::of_key(key)) {
            unknown.with_hint(advice)
        } else if DATA_WORDS.contains(&key) {
            unknown.with_hint("write `data:`, whose values are `{{ Data.KEY }}`")
        } else if let Some(meant) = closest(key, TOP_LEVEL) {
            unknown.with_suggestion(Some(meant))
        } else {
            unknown.with_hint(format!("use {}", listed(&TOP_LEVEL, "or")))
        });
    }

    fn ccm(&mut self, ccm: NodeEntry, misplaced: Option<Node>) -> Document {
        let annotated = annotations::annotation_spans(self.text, &ccm.key, &ccm.value);
        let NodeValue::Map(map) = ccm.value.value else {
            let is_null = ccm.value.is_null();
            let error = if is_null {
                Diagnostic::error(DiagnosticKind::Missing, ccm.key.span, "`ccm` is empty")
            } else {
                expected("a map", &ccm.value)
            };
            // An empty `ccm` and misplaced resources are one error, reported already.
            if !is_null || misplaced.is_none() {
                self.diagnostics.push(error.with_hint(SMALLEST_MANIFEST));
            }
            return Document { items: self.items(misplaced), ..Document::default() };
        };
        let mut settings = Vec::new();
        let mut type_settings = Vec::new();
        let mut resources = None;
        let mut empty_resources = None;
        let mut template = None;
        let mut is_explained = misplaced.is_some();
        self.diagnostics.extend(annotated.into_iter().map(data::misplaced_annotation));
        let has_resources = map.get("resources").is_some();
        for entry in map.into_entries() {
            match &*entry.key.text {
                "resources" if entry.value.is_null() => empty_resources = Some(entry),
                "resources" => resources = Some(entry),
                "resources_template" if entry.value.is_null() => {}
                "resources_template" => template = Some(entry),
                key if SETTINGS.contains(&key) => settings.push(entry),
                key if self.types.settings().any(|known| known == key) => type_settings.push(entry),
                _ => is_explained |= self.unknown_setting(&entry, has_resources),
            }
        }
        let (settings, type_settings) = (NodeMap::new(settings), NodeMap::new(type_settings));
        if let Some(resources) = empty_resources.filter(|_| template.is_none()) {
            let error =
                Diagnostic::error(DiagnosticKind::Missing, resources.key.span, "`resources` is empty");
            self.diagnostics.push(error.with_hint(SMALLEST_MANIFEST));
        } else if resources.is_none() && template.is_none() && !is_explained {
            let error = Diagnostic::error(DiagnosticKind::Missing, ccm.key.span, "`ccm` has no `resources`");
            self.diagnostics.push(error.with_hint(SMALLEST_MANIFEST));
        }
        let items = match resources {
            Some(resources) => self.items(Some(resources.value)),
            None => self.items(misplaced),
        };
        Document { settings, type_settings, items, template, ..Document::default() }
    }

    /// Reports an unknown key below `ccm`, and returns `true` if the key explains missing resources.
    fn unknown_setting(&mut self, entry: &NodeEntry, has_resources: bool) -> bool {
        let key = &*entry.key.text;
        let unknown = Diagnostic::error(
            DiagnosticKind::UnknownKey,
            entry.key.span,
            format!("unknown key `{}`", shown(key)),
        );
        if self.types.is_type(key) {
            self.diagnostics.push(unknown.with_hint(format!("write `- {key}:` below `resources:`")));
            return true;
        }
        if TOP_LEVEL.contains(&key) {
            let hint = format!("write `{key}` at the top, beside `ccm:`, and not below it");
            self.diagnostics.push(unknown.with_hint(hint));
            return false;
        }
        if let Some(advice) = foreign_words::setting(key) {
            self.diagnostics.push(unknown.with_hint(advice));
            return matches!(key, "tasks" | "steps" | "states" | "roles");
        }
        let known: Vec<&str> = SETTINGS.into_iter().chain(self.types.settings()).collect();
        let suggestion = closest(key, known.iter().copied());
        self.diagnostics.push(match suggestion {
            Some("resources") if has_resources => unknown
                .with_hint("put its resources below `resources`, which is there already, and remove it"),
            None => unknown.with_hint(format!("use {}", listed(&known, "or"))),
            Some(_) => unknown.with_suggestion(suggestion),
        });
        suggestion == Some("resources")
    }

    /// Returns the items of `resources`, also of a misplaced one.
    fn items(&mut self, resources: Option<Node>) -> Vec<Node> {
        let Some(resources) = resources.filter(|resources| !resources.is_null()) else { return Vec::new() };
        let span = resources.span;
        match resources.value {
            NodeValue::List(items) => items,
            value => {
                let first = match &value {
                    NodeValue::Map(map) => map.entries().first().map(|entry| entry.key.text.to_string()),
                    _ => None,
                };
                let error = expected("a list of resources", &Node { value, span });
                self.diagnostics.push(match first {
                    Some(key) => error.with_hint(match without_space(&key, |key| self.types.is_type(key)) {
                        Some(key) => format!("put a space after each dash: `- {key}:`"),
                        None => format!("write a dash before each type: `- {}:`", shown(&key)),
                    }),
                    None => error.with_hint(SMALLEST_MANIFEST),
                });
                Vec::new()
            }
        }
    }
}

/// Expands and decodes the settings of a manifest.
pub(crate) fn settings(
    mut map: NodeMap,
    evaluator: ManifestEvaluator<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Settings {
    let mut expander = Expander::new(evaluator);
    for entry in map.entries_mut() {
        let language = if &*entry.key.text == CHECKS { TextLanguage::CHECKS } else { TextLanguage::PLAIN };
        expander.node(&mut entry.value, language);
    }
    let mut found = expander.found;
    found.refuse_late();
    diagnostics.append(&mut found.diagnostics);
    if let Some(name) = map.get("name")
        && let Some(text) = name.as_text()
    {
        if is_blank(text) {
            diagnostics.push(Diagnostic::error(DiagnosticKind::Missing, name.span, "the name is empty"));
        } else if text.trim() != text || text.contains(char::is_control) {
            let error = "the name begins or ends with whitespace, or has a control character";
            diagnostics.push(Diagnostic::error(DiagnosticKind::InvalidValue, name.span, error));
        }
    }
    decode_map(&map).unwrap_or_else(|errors| {
        diagnostics.extend(errors.into_iter().filter(|error| !found.explains(error)));
        Settings::default()
    })
}

/// Expands and checks the settings of resource types, and returns them by type index.
pub(crate) fn settings_of_types(
    map: NodeMap,
    types: &Types<'_>,
    evaluator: ManifestEvaluator<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Arc<NodeMap>> {
    let mut expander = Expander::new(evaluator);
    let mut entries = map.into_entries();
    for entry in &mut entries {
        expander.node(&mut entry.value, TextLanguage::PLAIN);
    }
    let mut found = expander.found;
    found.refuse_late();
    diagnostics.append(&mut found.diagnostics);
    let no_settings = Arc::new(NodeMap::default());
    let mut settings = Vec::new();
    for spec in types.specs() {
        let Some(view) = spec.settings() else {
            settings.push(Arc::clone(&no_settings));
            continue;
        };
        let is_its = |entry: &&NodeEntry| find(view.keys(), &entry.key.text).is_some();
        let own = NodeMap::new(entries.iter().filter(is_its).cloned().collect());
        diagnostics.extend(view.errors(&own).into_iter().filter(|error| !found.explains(error)));
        settings.push(Arc::new(own));
    }
    settings
}

/// Hint that shows the smallest valid manifest, which manages nothing.
const SMALLEST_MANIFEST: &str = "the smallest manifest is\nccm:\n  resources: []";
