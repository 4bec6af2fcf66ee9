//! The manifest as a whole: its top level and what stands below `ccm`.

use std::sync::Arc;

use ccm_data::annotations;
use ccm_model::{Diagnostic, Diagnostics, Entry, Map, Node, SourceId, Span, Value, closest, listed};
use ccm_properties::{PropertyKind, Text, TextKind, decode_map, find, properties};

use crate::data::{self, DataNodes};
use crate::expand::{Expander, Reading as TextReading};
use crate::scope::Evaluator;
use crate::types::Types;
use crate::wording::{expected, is_blank, shown, start_of};

properties! {
    /// Settings of a manifest, which stand beside its resources.
    #[derive(Debug, Default)]
    pub(crate) struct Settings {
        /// A name for this manifest.
        name: Text { default: Some("its path"), kind: PropertyKind::Text(TextKind::ANY.matching("\\S")) },
        /// A text to show before the run.
        pre_message: Text,
        /// A text to show after the run.
        post_message: Text,
        /// Whether to stop after the first failed resource.
        fail_on_error: bool { default: Some("`false`") },
    }
}

/// Its keys, and that of the resources.
const SETTINGS: [&str; 6] =
    ["name", "pre_message", "post_message", "fail_on_error", "resources", "resources_template"];

/// The keys beside `ccm`.
const TOP_LEVEL: [&str; 4] = ["ccm", "data", "hierarchy", "overrides"];

/// A manifest taken apart.
#[derive(Debug, Default)]
pub(crate) struct Document {
    /// What its values come from.
    pub(crate) data: DataNodes,
    /// What it says beside its resources, not expanded yet.
    pub(crate) settings: Map,
    /// What it says for all resources of a type, not expanded yet.
    pub(crate) of_types: Map,
    /// The items of `resources`.
    pub(crate) items: Vec<Node>,
    /// The template that generates the items instead.
    pub(crate) template: Option<Entry>,
}

/// Takes a manifest apart.
pub(crate) fn read(
    source: SourceId,
    text: &str,
    root: Option<Node>,
    types: &Types<'_>,
    diagnostics: &mut Diagnostics,
) -> Document {
    let mut reading = Reading { text, types, diagnostics };
    match root {
        Some(root) if !root.is_null() => reading.root(root),
        _ => {
            let nowhere = Span::new(source, 0, 0);
            let mistake = Diagnostic::error(nowhere, "the manifest is empty");
            reading.diagnostics.push(mistake.with_hint(smallest_manifest(types)));
            Document::default()
        }
    }
}

struct Reading<'a, 't> {
    text: &'a str,
    types: &'a Types<'t>,
    diagnostics: &'a mut Diagnostics,
}

impl Reading<'_, '_> {
    fn root(&mut self, root: Node) -> Document {
        let root_span = root.span;
        let Value::Map(root) = root.value else {
            let hint = match &root.value {
                Value::List(_) => "resources stand below `ccm:` and `resources:`".to_owned(),
                _ => smallest_manifest(self.types),
            };
            self.diagnostics.push(expected("a map with `ccm`", &root).with_hint(hint));
            return Document::default();
        };
        let mut ccm = None;
        let mut misplaced = None;
        let mut says_why = false;
        let mut data = DataNodes::default();
        for entry in root.into_entries() {
            match &*entry.key.text {
                "ccm" => ccm = Some(entry),
                "data" => data.data = Some(entry),
                "hierarchy" => data.hierarchy = Some(entry),
                "overrides" => data.overrides = Some(entry),
                _ => {
                    self.misplaced_or_unknown(&entry);
                    says_why = true;
                    if &*entry.key.text == "resources" {
                        misplaced = Some(entry.value);
                    }
                }
            }
        }
        let Some(ccm) = ccm else {
            if !says_why {
                let mistake = Diagnostic::error(start_of(root_span), "the manifest has no `ccm`");
                self.diagnostics.push(mistake.with_hint(smallest_manifest(self.types)));
            }
            return Document { data, items: self.items(misplaced), ..Document::default() };
        };
        Document { data, ..self.ccm(ccm, misplaced) }
    }

    fn misplaced_or_unknown(&mut self, entry: &Entry) {
        let key = &*entry.key.text;
        let unknown = Diagnostic::error(entry.key.span, format!("unknown key `{}`", shown(key)));
        self.diagnostics.push(if key == "resources" {
            Diagnostic::error(entry.key.span, "`resources` stands below `ccm`, not beside it")
                .with_hint("indent it, with all of its items, below `ccm:`")
        } else if SETTINGS.contains(&key) || self.types.settings().any(|known| known == key) {
            unknown.with_hint(format!("`{key}` stands below `ccm`"))
        } else if self.types.is_type(key) {
            unknown.with_hint("resources stand below `ccm:` and `resources:`")
        } else if let Some(meant) = closest(key, TOP_LEVEL) {
            unknown.with_suggestion(Some(meant))
        } else {
            unknown.with_hint(format!("known here: {}", listed(&TOP_LEVEL, "and")))
        });
    }

    fn ccm(&mut self, ccm: Entry, misplaced: Option<Node>) -> Document {
        let annotated = annotations::places(self.text, &ccm.key, &ccm.value);
        let Value::Map(map) = ccm.value.value else {
            let is_null = ccm.value.is_null();
            let mistake = if is_null {
                Diagnostic::error(ccm.key.span, "`ccm` is empty")
            } else {
                expected("a map", &ccm.value)
            };
            // Resources that stand beside an empty `ccm` have been reported, and that is the same slip.
            if !is_null || misplaced.is_none() {
                self.diagnostics.push(mistake.with_hint(smallest_manifest(self.types)));
            }
            return Document { items: self.items(misplaced), ..Document::default() };
        };
        let mut settings = Vec::new();
        let mut of_types = Vec::new();
        let mut resources = None;
        let mut template = None;
        let mut says_why = misplaced.is_some();
        self.diagnostics.extend(annotated.into_iter().map(data::without_effect));
        for entry in map.into_entries() {
            match &*entry.key.text {
                "resources" => resources = Some(entry),
                "resources_template" if entry.value.is_null() => {}
                "resources_template" => template = Some(entry),
                key if SETTINGS.contains(&key) => settings.push(entry),
                key if self.types.settings().any(|known| known == key) => of_types.push(entry),
                _ => says_why |= self.unknown_setting(&entry),
            }
        }
        let (settings, of_types) = (Map::new(settings), Map::new(of_types));
        let is_alone = resources.is_none();
        if let (Some(template), Some(resources)) = (&template, &resources) {
            let mistake =
                Diagnostic::error(template.key.span, "`resources` and `resources_template` are both given");
            let mistake = mistake.with_label(resources.key.span, "the list");
            self.diagnostics.push(mistake.with_hint("keep one of them"));
        }
        if resources.is_none() && template.is_none() && !says_why {
            let mistake = Diagnostic::error(ccm.key.span, "`ccm` has no `resources`");
            self.diagnostics.push(mistake.with_hint(smallest_manifest(self.types)));
        }
        let items = match resources {
            Some(resources) => self.resources(resources),
            None => self.items(misplaced),
        };
        let template = template.filter(|_| is_alone);
        Document { settings, of_types, items, template, ..Document::default() }
    }

    /// Refuses a key below `ccm`. Tells whether that says where the resources went.
    fn unknown_setting(&mut self, entry: &Entry) -> bool {
        let key = &*entry.key.text;
        let unknown = Diagnostic::error(entry.key.span, format!("unknown key `{}`", shown(key)));
        if self.types.is_type(key) {
            self.diagnostics.push(unknown.with_hint(format!("write `- {key}:` below `resources:`")));
            return true;
        }
        let known: Vec<&str> = SETTINGS.into_iter().chain(self.types.settings()).collect();
        let suggestion = closest(key, known.iter().copied());
        self.diagnostics.push(match suggestion {
            None => unknown.with_hint(format!("known here: {}", listed(&known, "and"))),
            Some(_) => unknown.with_suggestion(suggestion),
        });
        suggestion == Some("resources")
    }

    fn resources(&mut self, resources: Entry) -> Vec<Node> {
        let is_empty = match &resources.value.value {
            Value::List(items) => items.is_empty(),
            _ => resources.value.is_null(),
        };
        if is_empty {
            let mistake = Diagnostic::error(resources.key.span, "`resources` is empty");
            self.diagnostics.push(mistake.with_hint(smallest_manifest(self.types)));
            return Vec::new();
        }
        self.items(Some(resources.value))
    }

    /// The items of the list of resources, wherever it stands.
    fn items(&mut self, resources: Option<Node>) -> Vec<Node> {
        let Some(resources) = resources.filter(|resources| !resources.is_null()) else { return Vec::new() };
        let span = resources.span;
        match resources.value {
            Value::List(items) => items,
            value => {
                let first = match &value {
                    Value::Map(map) => map.entries().first().map(|entry| shown(&entry.key.text)),
                    _ => None,
                };
                let mistake = expected("a list of resources", &Node { value, span });
                self.diagnostics.push(match first {
                    Some(key) => mistake.with_hint(format!("write a dash before each type: `- {key}:`")),
                    None => mistake.with_hint(smallest_manifest(self.types)),
                });
                Vec::new()
            }
        }
    }
}

/// Reads what a manifest says beside its resources, its values being known.
pub(crate) fn settings(
    mut map: Map,
    evaluator: Evaluator<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Settings {
    let mut expander = Expander::new(evaluator);
    for entry in map.entries_mut() {
        expander.node(&mut entry.value, TextReading::PLAIN);
    }
    let mut found = expander.found;
    found.refuse_late();
    diagnostics.append(&mut found.diagnostics);
    if let Some(name) = map.get("name")
        && let Some(text) = name.as_text()
    {
        if is_blank(text) {
            diagnostics.push(Diagnostic::error(name.span, "the name is empty"));
        } else if text.trim() != text || text.contains(char::is_control) {
            let mistake = "the name has blanks around it, or a line end or another control character in it";
            diagnostics.push(Diagnostic::error(name.span, mistake));
        }
    }
    decode_map(&map).unwrap_or_else(|mistakes| {
        diagnostics.extend(mistakes.into_iter().filter(|mistake| !found.explains(mistake)));
        Settings::default()
    })
}

/// Reads what a manifest says for all resources of a type, by the position of the type.
pub(crate) fn settings_of_types(
    map: Map,
    types: &Types<'_>,
    evaluator: Evaluator<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> Vec<Arc<Map>> {
    let mut expander = Expander::new(evaluator);
    let mut entries = map.into_entries();
    for entry in &mut entries {
        expander.node(&mut entry.value, TextReading::PLAIN);
    }
    let mut found = expander.found;
    found.refuse_late();
    diagnostics.append(&mut found.diagnostics);
    let nothing = Arc::new(Map::default());
    let mut settings = Vec::new();
    for spec in types.specs() {
        let is_its = |entry: &&Entry| find(spec.settings(), &entry.key.text).is_some();
        let own: Vec<Entry> = entries.iter().filter(is_its).cloned().collect();
        settings.push(if own.is_empty() {
            Arc::clone(&nothing)
        } else {
            let own = Map::new(own);
            let mistakes = spec.check_settings(&own);
            diagnostics.extend(mistakes.into_iter().filter(|mistake| !found.explains(mistake)));
            Arc::new(own)
        });
    }
    settings
}

/// A hint that shows the least there has to be.
pub(crate) fn smallest_manifest(types: &Types<'_>) -> String {
    let name = types.names().next().unwrap_or("TYPE");
    format!("the smallest manifest is\nccm:\n  resources:\n    - {name}:\n        - NAME:")
}
