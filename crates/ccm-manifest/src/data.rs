//! The values of a manifest: its data, what its hierarchy lays over them, and what comes from outside.

use std::path::Path;
use std::sync::Arc;

use ccm_data::annotations::{self, Annotation, Kind};
use ccm_data::hierarchy::{self, Expanded, Hierarchy, Outcome, Overrides, Resolution};
use ccm_data::layers::{Layers, Origin, Source};
use ccm_expr::Value;
use ccm_model::{Diagnostic, Diagnostics, Entry, Map, Span};

use crate::expand::Expander;
use crate::scope::{Evaluator, ManifestScope, Moment};
use crate::validation;
use crate::wording::{expected, shown};
use crate::world::World;

/// The parts of a manifest that its values come from.
#[derive(Debug, Default)]
pub(crate) struct DataNodes {
    pub(crate) data: Option<Entry>,
    pub(crate) hierarchy: Option<Entry>,
    pub(crate) overrides: Option<Entry>,
}

/// A layer from outside, laid over the values of the manifest.
#[derive(Clone, Debug)]
pub(crate) struct Overlay {
    pub(crate) source: Source,
    pub(crate) value: Value,
    /// What is asked of the final values because of it.
    pub(crate) annotations: Vec<Annotation>,
}

/// What there is above and below the values of a manifest.
#[derive(Default)]
pub(crate) struct Layered<'a> {
    /// Laid over them, the lowest first.
    pub(crate) over: &'a [Overlay],
    /// Counts for the keys that have no value otherwise.
    pub(crate) beneath: Option<&'a Value>,
    /// Some of that could not be had, which was reported.
    pub(crate) is_incomplete: bool,
}

/// What came of the values of a manifest.
#[derive(Clone, Debug, Default)]
pub struct ResolvedData {
    /// The values.
    pub value: Value,
    /// Every text in them that must not be shown.
    pub secrets: Vec<String>,
    /// The entries of the hierarchy, each as it was written and with what became of it.
    pub entries: Vec<(String, Outcome)>,
    /// The values again, each layer for itself.
    pub layers: Layers,
    /// What is asked of the values.
    pub(crate) annotations: Vec<Annotation>,
    /// Some of them could not be had, which was reported.
    pub(crate) is_incomplete: bool,
}

/// Puts the values of a manifest together. [`check`] holds them against what is asked of them.
pub(crate) fn resolve(
    nodes: &DataNodes,
    world: &World<'_>,
    text: &Arc<str>,
    directory: &Path,
    around: &Layered<'_>,
    diagnostics: &mut Diagnostics,
) -> ResolvedData {
    let scope = ManifestScope {
        text: Arc::clone(text),
        directory: directory.to_owned(),
        data: Value::Null,
        settings: Vec::new(),
        is_incomplete: false,
    };
    let evaluator = || Evaluator { world, manifest: &scope, moment: Moment::Data };
    let mut expander = Expander::new(evaluator());
    let data = match &nodes.data {
        None => Value::map::<&str>([]),
        Some(entry) if entry.value.is_null() => Value::map::<&str>([]),
        Some(entry) if entry.value.as_map().is_none() => {
            diagnostics.push(expected("a map of values", &entry.value));
            Value::map::<&str>([])
        }
        Some(entry) => expander.value(&entry.value),
    };
    let hierarchy = match &nodes.hierarchy {
        Some(entry) => hierarchy::read(&entry.key, &entry.value, diagnostics),
        None => Hierarchy::default(),
    };
    let overrides = match &nodes.overrides {
        Some(entry) => Overrides::read(&entry.value, diagnostics),
        None => Overrides::default(),
    };
    let names: Vec<Expanded> = hierarchy
        .order
        .iter()
        .map(|entry| match expander.parts(&entry.text, entry.span) {
            Some((name, yielded)) => Expanded::new(name, &yielded),
            None => Expanded::Empty,
        })
        .collect();
    let Resolution { outcomes, mut layers } =
        hierarchy::resolve(data, hierarchy.merge, &names, &overrides, |node| expander.value(node));
    diagnostics.append(&mut expander.found.diagnostics);
    let is_incomplete = around.is_incomplete || !expander.found.refused.is_empty();
    for overlay in around.over {
        layers.add_deep(overlay.source.clone(), overlay.value.clone());
    }
    let mut value = layers.merged();
    if let Some(Value::Map(beneath)) = around.beneath {
        value = completed(&value, beneath);
    }
    let mut found = Vec::new();
    if let Some(entry) = &nodes.data {
        found = annotations::collect(text, &entry.key, &entry.value, diagnostics);
    }
    if let Some(entry) = &nodes.overrides {
        found.extend(of_overrides(text, entry, &overrides, diagnostics));
    }
    found.extend(around.over.iter().flat_map(|overlay| overlay.annotations.iter().cloned()));
    let entries = hierarchy.order.iter().map(|entry| entry.text.to_string()).zip(outcomes).collect();
    ResolvedData { value, secrets: Vec::new(), entries, layers, annotations: found, is_incomplete }
}

/// Holds final values against what is asked of them, and finds what in them must not be shown.
pub(crate) fn check(data: &mut ResolvedData, world: &World<'_>, diagnostics: &mut Diagnostics) {
    let validate =
        |expression: &str, value: &Value| validation::evaluate(expression, value, world.sources.now());
    // Of what could not be had, nobody knows what it would be.
    let is_asked = |asked: &&Annotation| !data.is_incomplete || asked.kind != Kind::Require;
    let asked: Vec<Annotation> = data.annotations.iter().filter(is_asked).cloned().collect();
    let failures = annotations::check(&data.value, &asked, &validate);
    let origins = if failures.is_empty() { Vec::new() } else { data.layers.origins() };
    for mut failure in failures {
        let of = asked.iter().find(|asked| Some(asked.key_span) == failure.span());
        if let Some(from) = of.and_then(|asked| came_from(asked, data, &origins, world)) {
            failure = failure.with_hint(format!("its value comes from {from}"));
        }
        diagnostics.push(failure);
    }
    // What a higher layer replaced was a secret as well, and may still be in use.
    let values = data.layers.values().chain([&data.value]);
    data.secrets = values.flat_map(|value| annotations::sensitive_texts(value, &data.annotations)).collect();
    diagnostics.extend(annotations::too_short(&data.value, &data.annotations));
}

/// Where a value comes from, if not from where it was asked something of.
fn came_from(
    asked: &Annotation,
    data: &ResolvedData,
    origins: &[Origin],
    world: &World<'_>,
) -> Option<String> {
    let within =
        |origin: &&Origin| origin.path.starts_with(&asked.path) || asked.path.starts_with(&origin.path);
    let mut sources: Vec<&Source> = Vec::new();
    for source in origins.iter().filter(within).flat_map(|origin| &origin.sources) {
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let is_in = |whole: &Value| {
        !matches!(asked.path.iter().try_fold(whole, |value, key| value.get(key)), None | Some(Value::Null))
    };
    if is_in(&data.value) && !is_in(&data.layers.merged()) {
        // It counts because the layers do not have it.
        return Some("the manifest that applies this one".to_owned());
    }
    let asked_in = world.texts.borrow().locate(asked.key_span).map(|(name, _)| name.to_owned());
    let words: Vec<String> = sources
        .into_iter()
        .filter_map(|source| match source {
            Source::Data => None,
            Source::Override(name) => Some(format!("the override `{}`", shown(name))),
            Source::File(name) if Some(name) == asked_in.as_ref() => None,
            Source::File(name) => Some(shown(name)),
            // The value may be one that is not to be shown.
            Source::CommandLine(written) => {
                Some(format!("`--data {}=…`", shown(written.split('=').next().unwrap_or_default())))
            }
            Source::Parent => Some("the manifest that applies this one".to_owned()),
        })
        .collect();
    (!words.is_empty()).then(|| words.join(" and "))
}

/// What is sensitive by what overrides say, whether they apply or not: it is the same value everywhere.
fn of_overrides(
    text: &str,
    entry: &Entry,
    overrides: &Overrides,
    diagnostics: &mut Diagnostics,
) -> Vec<Annotation> {
    let mut sensitive = Vec::new();
    for annotation in annotations::collect(text, &entry.key, &entry.value, diagnostics) {
        if annotation.kind != Kind::Sensitive {
            diagnostics.push(without_effect(annotation.span));
            continue;
        }
        // The first key is the name of the override.
        match annotation.path.split_first() {
            Some((name, [])) => {
                let values = overrides.get(name).and_then(|found| found.node.as_map());
                sensitive.extend(
                    values.into_iter().flat_map(Map::entries).map(|value| Annotation {
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

/// Warns of an annotation that is not about a value.
pub(crate) fn without_effect(span: Span) -> Diagnostic {
    Diagnostic::warning(span, "this annotation has no effect here").with_hint("annotate the key in `data`")
}

/// Adds the values that count for keys without one.
fn completed(value: &Value, beneath: &ccm_expr::Map) -> Value {
    let mut whole = beneath.clone();
    if let Value::Map(own) = value {
        let is_given = |key: &str, value: &Value| !matches!(value, Value::Null) || !beneath.contains_key(key);
        let given = own.iter().filter(|(key, value)| is_given(key, value));
        whole.extend(given.map(|(key, value)| (Arc::clone(key), value.clone())));
    }
    Value::Map(Arc::new(whole))
}
