//! The values of a manifest: its data, what its hierarchy lays over them, and what comes from outside.

use std::path::PathBuf;
use std::sync::Arc;

use ccm_data::annotations::{self, Annotation, EvaluationError};
use ccm_data::hierarchy::{self, Expanded, Hierarchy, Outcome, Overrides, Resolution};
use ccm_data::layers::{Layers, Source};
use ccm_data::validators;
use ccm_expr::Value;
use ccm_model::{Diagnostic, Node};

use crate::expand::Expander;
use crate::scope::{Evaluator, ManifestScope, Moment, Trouble};
use crate::world::World;

/// The parts of a manifest that its values come from.
#[derive(Debug, Default)]
pub(crate) struct DataNodes {
    pub(crate) data: Option<Node>,
    pub(crate) hierarchy: Option<Node>,
    pub(crate) overrides: Option<Node>,
}

/// A layer from outside, laid over the values of the manifest.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// Where it comes from.
    pub source: Source,
    /// Its values.
    pub value: Value,
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
    directory: &PathBuf,
    overlays: &[Overlay],
    diagnostics: &mut Vec<Diagnostic>,
) -> ResolvedData {
    let scope =
        ManifestScope { text: Arc::clone(text), directory: directory.clone(), data: Value::Null };
    let evaluator = || Evaluator { world, manifest: &scope, moment: Moment::Data };
    let mut expander = Expander::new(evaluator());
    let data = match &nodes.data {
        None => Value::map::<&str>([]),
        Some(node) if node.as_map().is_none() => {
            diagnostics.push(crate::wording::expected("a map of values", node));
            Value::map::<&str>([])
        }
        Some(node) => expander.value(node),
    };
    let hierarchy = match &nodes.hierarchy {
        Some(node) => hierarchy::read(node, diagnostics),
        None => Hierarchy::default(),
    };
    let overrides = match &nodes.overrides {
        Some(node) => Overrides::read(node, diagnostics),
        None => Overrides::default(),
    };
    let expanded: Vec<Expanded> = hierarchy
        .order
        .iter()
        .map(|entry| match expander.parts(&entry.text, entry.span) {
            Some((name, yielded)) => Expanded::new(name, &yielded),
            None => Expanded::Empty,
        })
        .collect();
    let Resolution { outcomes, mut layers } =
        hierarchy::resolve(data, hierarchy.merge, &expanded, &overrides, |node| expander.value(node));
    diagnostics.append(&mut expander.found.diagnostics);
    for overlay in overlays {
        layers.add_deep(overlay.source.clone(), overlay.value.clone());
    }
    let value = layers.merged();
    let mut found = Vec::new();
    if let Some(node) = &nodes.data {
        found = annotations::collect(node, text, diagnostics);
    }
    check(&value, &found, world, diagnostics);
    let secrets = annotations::sensitive_texts(&value, &found);
    let entries = hierarchy.order.iter().map(|entry| entry.text.to_string()).zip(outcomes).collect();
    ResolvedData { value, secrets, entries, layers }
}

/// Holds the final values against what comments ask of them.
fn check(value: &Value, found: &[Annotation], world: &World<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let validate = |expression: &str, value: &Value| {
        validators::evaluate(expression, value, world.sources.now())
    };
    let _: &dyn Fn(&str, &Value) -> Result<bool, EvaluationError> = &validate;
    diagnostics.extend(annotations::check(value, found, &validate));
}

/// Tells what is wrong, if something is.
pub(crate) fn is_reported(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Reported)
}
