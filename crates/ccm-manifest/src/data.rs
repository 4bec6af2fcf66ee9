//! The values of a manifest: its data, what its hierarchy lays over them, and what comes from outside.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use ccm_data::annotations;
use ccm_data::hierarchy::{self, Expanded, Hierarchy, Outcome, Overrides, Resolution};
use ccm_data::layers::{Layers, Source};
use ccm_expr::{Map, Value};
use ccm_model::{Diagnostic, Entry};

use crate::expand::Expander;
use crate::scope::{Evaluator, ManifestScope, Moment};
use crate::validation;
use crate::wording::expected;
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
    /// Every text in it that must not be shown.
    pub(crate) secrets: Vec<String>,
}

/// What there is above and below the values of a manifest.
#[derive(Default)]
pub(crate) struct Layered<'a> {
    /// Laid over them, the lowest first.
    pub(crate) over: &'a [Overlay],
    /// Counts for the keys that have no value otherwise.
    pub(crate) beneath: Option<&'a Value>,
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
}

/// Puts the values of a manifest together.
pub(crate) fn resolve(
    nodes: &DataNodes,
    world: &World<'_>,
    text: &Arc<str>,
    directory: &Path,
    around: &Layered<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) -> ResolvedData {
    let scope = ManifestScope {
        text: Arc::clone(text),
        directory: directory.to_owned(),
        data: Value::Null,
        settings: HashMap::new(),
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
    let validate =
        |expression: &str, value: &Value| validation::evaluate(expression, value, world.sources.now());
    diagnostics.extend(annotations::check(&value, &found, &validate));
    // What a higher layer replaced was a secret as well, and may still be in use.
    let values = layers.values().chain([&value]);
    let mut secrets: Vec<String> =
        values.flat_map(|value| annotations::sensitive_texts(value, &found)).collect();
    secrets.extend(around.over.iter().flat_map(|overlay| overlay.secrets.iter().cloned()));
    diagnostics.extend(annotations::too_short(&value, &found));
    let entries = hierarchy.order.iter().map(|entry| entry.text.to_string()).zip(outcomes).collect();
    ResolvedData { value, secrets, entries, layers }
}

/// Adds the values that count for keys without one.
fn completed(value: &Value, beneath: &Map) -> Value {
    let mut whole = beneath.clone();
    if let Value::Map(own) = value {
        let is_given = |key: &str, value: &Value| !matches!(value, Value::Null) || !beneath.contains_key(key);
        let given = own.iter().filter(|(key, value)| is_given(key, value));
        whole.extend(given.map(|(key, value)| (Arc::clone(key), value.clone())));
    }
    Value::Map(Arc::new(whole))
}
