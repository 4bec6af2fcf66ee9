//! Resolves the data of a manifest: `data`, `hierarchy`, `overrides`, data files and assignments.

use std::path::Path;
use std::sync::Arc;

use ccm_data::annotations::{self, Annotation, AnnotationKind};
use ccm_data::hierarchy::{self, EntryOutcome, Hierarchy, LevelMerges, Overrides, Selection};
use ccm_data::layers::{LayerSources, Layers, ValueSource};
use ccm_expr::{Map, Value};
use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeEntry, NodeKey, NodeMap, Span};

use crate::read::foreach::ItemScope;
use crate::read::level_names;
use crate::read::levels::{LevelEvaluator, LevelFiles};
use crate::resolve::eval_context::EvalContext;
use crate::resolve::expand::Expander;
use crate::resolve::messages::{expected, shown};
use crate::resolve::scope::{ManifestEvaluator, ManifestScope, Phase};
use crate::resolve::validation;
use crate::unchecked::UnknownPaths;

#[derive(Debug, Default)]
pub(crate) struct DataNodes {
    pub(crate) data: Option<NodeEntry>,
    pub(crate) hierarchy: Option<NodeEntry>,
    pub(crate) overrides: Option<NodeEntry>,
}

/// Layer from outside, merged over the data of the manifest.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    pub(crate) source: ValueSource,
    pub(crate) value: Value,
    /// Annotations of this layer, which apply to the merged data.
    pub(crate) annotations: Vec<Annotation>,
    /// Values that are unknown, because an input was left out.
    pub(crate) unknown: UnknownPaths,
}

/// Layers from outside the manifest.
#[derive(Default)]
pub(crate) struct OuterLayers<'a> {
    /// Layers above the data of the manifest, lowest first.
    pub(crate) overlays: &'a [Overlay],
    /// Layers above those, which are merged elsewhere.
    pub(crate) above: &'a [Overlay],
    /// Values for keys without a value in the manifest.
    pub(crate) defaults: Option<&'a Value>,
    /// Some layers are unavailable, which was reported.
    pub(crate) is_incomplete: bool,
}

/// Resolved data of a manifest.
#[derive(Clone, Debug, Default)]
pub struct ResolvedData {
    /// Merged value.
    pub value: Value,
    /// Secret texts in the data.
    pub secrets: Vec<String>,
    /// Entries of the hierarchy as written, each with its outcome.
    pub entries: Vec<(String, EntryOutcome)>,
    /// Layers that were merged.
    pub layers: Layers,
    /// Merge of the values of the levels.
    pub merges: LevelMerges,
    /// Annotations of all layers.
    pub(crate) annotations: Vec<Annotation>,
    /// Some values are unavailable, which was reported.
    pub(crate) is_incomplete: bool,
    /// Values that are unknown, because an input was left out.
    pub(crate) unknown: UnknownPaths,
    /// Secret texts in data files of levels, also of values that are not used.
    pub(crate) level_secrets: Vec<String>,
    /// Contents of data files of levels.
    pub(crate) files: Vec<NodeMap>,
}

/// Merges the data of a manifest. [`check`] then checks the result against the annotations.
pub(crate) fn resolve(
    nodes: &DataNodes,
    context: &EvalContext<'_>,
    text: &Arc<str>,
    directory: &Path,
    outer: &OuterLayers<'_>,
    diagnostics: &mut Diagnostics,
) -> ResolvedData {
    let scope = ManifestScope {
        text: Arc::clone(text),
        directory: directory.into(),
        data: Value::Null,
        settings: Arc::default(),
        is_incomplete: false,
        item: ItemScope::None,
        unknown: UnknownPaths::default(),
        declared: None,
    };
    let evaluator = || ManifestEvaluator::new(context, &scope, Phase::Data);
    let mut expander = Expander::new(evaluator());
    let data = nodes.data.as_ref().filter(|entry| !entry.value.is_null());
    if let Some(entry) = data.filter(|entry| entry.value.as_map().is_none()) {
        let error = expected("a map of values", &entry.value);
        diagnostics.push(match entry.value.as_list() {
            Some(_) => error.with_hint("write each value as `KEY: VALUE`, without a dash"),
            None => error,
        });
    }
    let data = data.map(|entry| &entry.value).filter(|data| data.as_map().is_some());
    let hierarchy = match (&nodes.hierarchy, &nodes.overrides) {
        (Some(entry), _) if !entry.value.is_null() => hierarchy::read(&entry.key, &entry.value, diagnostics),
        (_, Some(overrides)) => Hierarchy::implied(&overrides.key),
        _ => Hierarchy::default(),
    };
    let overrides = match &nodes.overrides {
        Some(entry) => Overrides::read(&entry.value, diagnostics),
        None => Overrides::default(),
    };
    let mut collected = match &nodes.data {
        Some(entry) => annotations::collect(text, &entry.key, &entry.value, diagnostics),
        None => Vec::new(),
    };
    let of_overrides = match &nodes.overrides {
        Some(entry) => override_annotations(text, entry, &overrides, diagnostics),
        None => Vec::new(),
    };
    context.secrets.mark(annotations::encrypted_values(&collected));
    context.secrets.mark(annotations::encrypted_values(&of_overrides));
    let by_key = annotations::level_merges(&collected, !hierarchy.order.is_empty(), diagnostics);
    let merges = LevelMerges { default: hierarchy.merge, by_key };
    let names = level_names::expand(&hierarchy, &mut expander, text, diagnostics);
    let mut files = LevelFiles::new(context, hierarchy.data_dir.as_ref(), directory, &collected);
    let Selection { outcomes, levels } =
        hierarchy::select(&merges, &names, &overrides, &mut |number, name| {
            files.read(&hierarchy.order[number], name, diagnostics)
        });
    let LevelFiles { sensitive, secrets: level_secrets, has_errors, with_other_ending, .. } = files;
    warn_without_effect(nodes, &hierarchy, &outcomes, &with_other_ending, diagnostics);
    let mut evaluator = LevelEvaluator {
        context,
        merges: &merges,
        above: outer.overlays.iter().chain(outer.above).map(|layer| layer.value.clone()).collect(),
        has_unknown: has_errors,
        unknown: UnknownPaths::default(),
    };
    let values = evaluator.levels(&levels, &mut expander, diagnostics);
    let own = data;
    let data = data.and_then(Node::as_map).map(NodeMap::entries).unwrap_or_default();
    let data = Value::map(
        data.iter().map(|entry| (&*entry.key.text, evaluator.value(entry, &mut expander, diagnostics))),
    );
    let LevelEvaluator { has_unknown, mut unknown, .. } = evaluator;
    for node in own.into_iter().chain(levels.iter().filter_map(|level| level.over.map(|over| &over.node))) {
        unknown.add_node(node, &expander.found.unchecked);
    }
    outer.overlays.iter().for_each(|overlay| unknown.add(&overlay.unknown));
    let mut layers = hierarchy::layers(data, values, &merges);
    diagnostics.append(&mut expander.found.diagnostics);
    let is_incomplete = outer.is_incomplete || has_unknown || !expander.found.refused.is_empty();
    let own = outer.defaults.map(|_| layers.merged());
    for overlay in outer.overlays {
        layers.add(overlay.source.clone(), overlay.value.clone(), merges.outer_merges());
    }
    let mut value = layers.merged();
    if let (Some(Value::Map(defaults)), Some(own)) = (outer.defaults, &own) {
        value = with_defaults(&value, own, defaults);
        warn_of_own_values(nodes, &value, defaults, diagnostics);
    }
    collected.extend(sensitive);
    collected.extend(of_overrides);
    collected.extend(outer.overlays.iter().flat_map(|overlay| overlay.annotations.iter().cloned()));
    let entries = hierarchy.order.iter().map(|entry| entry.text.to_string()).zip(outcomes).collect();
    let files = levels.into_iter().filter_map(|level| level.file?.1.into_map()).collect();
    ResolvedData {
        value,
        secrets: Vec::new(),
        entries,
        layers,
        merges,
        annotations: collected,
        is_incomplete,
        unknown,
        level_secrets,
        files,
    }
}

/// Returns warnings about `hierarchy` and `overrides` below `data`, where they are values.
pub(crate) fn misplaced_levels<'d>(
    data: &'d Node,
    nodes: &DataNodes,
) -> impl Iterator<Item = Diagnostic> + use<'d> {
    let entry = |name: &str| data.as_map().and_then(|map| map.entry(name));
    let is_hierarchy = |entry: &&NodeEntry| {
        let order = entry.value.as_map().and_then(|map| map.get("order"));
        order.is_some_and(|order| order.as_list().is_some())
    };
    let hierarchy = entry("hierarchy").filter(is_hierarchy).filter(|_| nodes.hierarchy.is_none());
    let has_order = hierarchy.is_some() || nodes.hierarchy.is_some();
    let is_overrides = |entry: &&NodeEntry| {
        let map = entry.value.as_map();
        map.is_some_and(|map| map.entries().iter().all(|entry| entry.value.as_map().is_some()))
    };
    let overrides =
        entry("overrides").filter(|_| has_order && nodes.overrides.is_none()).filter(is_overrides);
    hierarchy.into_iter().chain(overrides).map(|entry| {
        let key = &entry.key.text;
        let message = format!("`{key}` is a value of `data` here, and selects nothing");
        Diagnostic::warning(DiagnosticKind::Misplaced, entry.key.span, message)
            .with_hint(format!("write `{key}:` at the top, beside `data:`"))
    })
}

/// Warns of overrides and of entries of `order` that never have an effect, but for those that are reported.
fn warn_without_effect(
    nodes: &DataNodes,
    hierarchy: &Hierarchy,
    outcomes: &[EntryOutcome],
    reported: &[Span],
    diagnostics: &mut Diagnostics,
) {
    let data = nodes.data.iter().map(|entry| &entry.value);
    diagnostics.extend(data.flat_map(|data| misplaced_levels(data, nodes)));
    let overrides = nodes.overrides.as_ref();
    if overrides.is_some_and(|entry| !entry.value.is_null() && entry.value.as_map().is_none()) {
        return;
    }
    let entries = overrides.and_then(|entry| entry.value.as_map());
    let names: Vec<&NodeKey> = entries.iter().flat_map(|map| map.entries()).map(|entry| &entry.key).collect();
    let key = overrides.map(|entry| &entry.key);
    let own = nodes.data.as_ref().and_then(|entry| entry.value.as_map());
    let has_key = |name: &str| own.is_some_and(|data| data.get(name).is_some());
    let is_new = |warning: &Diagnostic| !warning.span().is_some_and(|span| reported.contains(&span));
    let warnings = hierarchy.without_effect(key, &names, outcomes, has_key);
    diagnostics.extend(warnings.into_iter().filter(is_new));
}

/// Checks the merged data against its annotations, and finds the secrets.
pub(crate) fn check(data: &mut ResolvedData, context: &EvalContext<'_>, diagnostics: &mut Diagnostics) {
    let validate =
        |expression: &str, value: &Value| validation::evaluate(expression, value, context.sources.now());
    // A required value may be among those that are unavailable.
    let is_checked =
        |annotation: &&Annotation| !data.is_incomplete || annotation.kind != AnnotationKind::Require;
    let is_known = |annotation: &&Annotation| !data.unknown.touches(&annotation.path);
    let annotations: Vec<Annotation> =
        data.annotations.iter().filter(is_checked).filter(is_known).cloned().collect();
    let failures = annotations::check(&data.value, &annotations, &validate);
    if !failures.is_empty() {
        let origins = Origins::of(data);
        // Keeps the last result: a key may have many annotations, and the sources of a large value are slow
        // to find.
        let mut last: Option<(&[Arc<str>], Option<String>)> = None;
        for (annotation, mut failure) in failures {
            let external_source = match last.take() {
                Some((path, source)) if *path == *annotation.path => source,
                _ => origins.external_source(annotation, context),
            };
            if let Some(from) = &external_source {
                failure = failure.with_hint(format!("the value comes from {from}"));
            }
            diagnostics.push(failure);
            last = Some((&annotation.path, external_source));
        }
    }
    // A secret that a higher layer replaced may still be in use.
    let values = data.layers.values().chain([&data.value]);
    data.secrets = values.flat_map(|value| annotations::sensitive_texts(value, &data.annotations)).collect();
    data.secrets.append(&mut data.level_secrets);
    diagnostics.extend(annotations::warn_of_short_secrets(&data.value, &data.annotations));
}

/// Sources of the values in the data of a manifest.
struct Origins<'d> {
    data: &'d ResolvedData,
    /// Merged layers, without the defaults from the parent manifest.
    layered: Value,
    sources: LayerSources<'d>,
}

impl<'d> Origins<'d> {
    fn of(data: &'d ResolvedData) -> Self {
        Self { data, layered: data.layers.merged(), sources: data.layers.sources() }
    }

    /// Returns the source of a value in words, unless the annotation is in that source.
    fn external_source(&self, annotation: &Annotation, context: &EvalContext<'_>) -> Option<String> {
        let is_in = |whole: &Value| {
            let value = annotation.path.iter().try_fold(whole, |value, key| value.get(key));
            !matches!(value, None | Some(Value::Null))
        };
        if is_in(&self.data.value) && !is_in(&self.layered) {
            return Some("the manifest that applies this one".to_owned());
        }
        let texts = context.texts.borrow();
        let annotated_in = texts.get(annotation.key_span.source).map(|source| &source.name);
        let in_words = |source: &ValueSource| match source {
            ValueSource::Data => None,
            ValueSource::Override(name) => Some(format!("the override `{}`", shown(name))),
            ValueSource::File(name) if Some(name) == annotated_in => None,
            ValueSource::File(name) => Some(shown(name)),
            // The assigned value may be secret.
            ValueSource::CommandLine(written) => {
                Some(format!("`--data {}=…`", shown(written.split('=').next().unwrap_or_default())))
            }
            ValueSource::Parent => Some("the manifest that applies this one".to_owned()),
        };
        let words: Vec<String> = self.sources.at(&annotation.path).into_iter().filter_map(in_words).collect();
        (!words.is_empty()).then(|| words.join(" and "))
    }
}

/// Returns the `@sensitive` annotations of all overrides. They hold even where the override does not apply.
fn override_annotations(
    text: &str,
    entry: &NodeEntry,
    overrides: &Overrides,
    diagnostics: &mut Diagnostics,
) -> Vec<Annotation> {
    let mut sensitive = Vec::new();
    for annotation in annotations::collect(text, &entry.key, &entry.value, diagnostics) {
        if !annotation.kind.may_be_of_a_level() {
            diagnostics.push(misplaced_annotation(annotation.span));
            continue;
        }
        match annotation.path.split_first() {
            Some((name, [])) => {
                let values = overrides.get(name).and_then(|found| found.node.as_map());
                sensitive.extend(
                    values.into_iter().flat_map(NodeMap::entries).map(|value| Annotation {
                        path: vec![(&*value.key.text).into()],
                        ..annotation.clone()
                    }),
                );
            }
            Some((_, path)) => sensitive.push(Annotation { path: path.to_vec(), ..annotation }),
            None => {}
        }
    }
    sensitive
}

/// Returns a warning for an annotation outside of data.
pub(crate) fn misplaced_annotation(span: Span) -> Diagnostic {
    Diagnostic::warning(DiagnosticKind::NoEffect, span, "this annotation has no effect here")
        .with_hint("annotate the key in `data`")
}

/// Merges the data of a child over that of its parent. Keys without a value of the child's own get that of the
/// parent, into which data files and assignments are merged already.
fn with_defaults(value: &Value, own: &Value, defaults: &Map) -> Value {
    let mut merged = defaults.clone();
    if let Value::Map(value) = value {
        let is_given =
            |key: &str| !defaults.contains_key(key) || !matches!(own.get(key), None | Some(Value::Null));
        let given = value.iter().filter(|(key, _)| is_given(key));
        merged.extend(given.map(|(key, value)| (Arc::clone(key), value.clone())));
    }
    Value::Map(Arc::new(merged))
}

/// Warns of keys in the data of a child whose values win over other values of its parent.
fn warn_of_own_values(nodes: &DataNodes, value: &Value, defaults: &Map, diagnostics: &mut Diagnostics) {
    let data = nodes.data.as_ref().and_then(|entry| entry.value.as_map());
    for NodeEntry { key, .. } in data.into_iter().flat_map(NodeMap::entries) {
        let (own, parent) = (value.get(&key.text), defaults.get(&*key.text));
        let (Some(own), Some(parent)) = (own, parent) else { continue };
        if matches!(own, Value::Null) || matches!(parent, Value::Null) || own.to_json() == parent.to_json() {
            continue;
        }
        let name = shown(&key.text);
        let message =
            format!("this value of `{name}` wins over the one in the manifest that applies this one");
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, key.span, message);
        diagnostics.push(warning.with_hint(format!(
            "to use the other value, set `data: {{{name}: …}}` on the `apply` in that manifest"
        )));
    }
}
