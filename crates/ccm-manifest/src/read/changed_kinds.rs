//! Warnings about values of levels that are of another kind than those of `data`, and about misspelt keys within maps.

use ccm_data::hierarchy::LevelMerges;
use ccm_data::interpolation::may_hold_any;
use ccm_data::nodes;
use ccm_expr::Value;
use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeMap, closest};

use crate::read::data::DataNodes;
use crate::resolve::messages::shown;

/// Plain words that people take for booleans.
const BOOLEANS: [&str; 10] = ["yes", "no", "on", "off", "y", "n", "true", "false", "0", "1"];

/// Compares the values of overrides and of data files with those of `data`.
pub(crate) fn check(
    nodes: &DataNodes,
    files: &[NodeMap],
    merges: &LevelMerges,
    diagnostics: &mut Diagnostics,
) {
    let Some(data) = nodes.data.as_ref().and_then(|entry| entry.value.as_map()) else { return };
    let overrides = nodes.overrides.as_ref().and_then(|entry| entry.value.as_map());
    let overrides = overrides.into_iter().flat_map(NodeMap::entries).filter_map(|entry| entry.value.as_map());
    for level in overrides.chain(files) {
        for entry in level.entries() {
            // A merge of its own checks the kinds itself.
            let is_checked = !merges.by_key.contains_key(&*entry.key.text);
            if let Some(base) = data.get(&entry.key.text).filter(|_| is_checked) {
                compare(base, &entry.value, &entry.key.text, diagnostics);
            }
        }
    }
}

fn compare(base: &Node, over: &Node, name: &str, diagnostics: &mut Diagnostics) {
    if let (Some(map), Some(other)) = (base.as_map(), over.as_map()) {
        for entry in other.entries() {
            let key = &*entry.key.text;
            if let Some(base) = map.get(key) {
                compare(base, &entry.value, &format!("{name}.{key}"), diagnostics);
                continue;
            }
            let others = map.entries().iter().map(|known| &*known.key.text);
            let meant = closest(key, others.filter(|known| other.get(known).is_none()));
            if meant.is_some() && !map.entries().iter().any(|known| may_hold_any(&known.key.text)) {
                let message = format!("`{}` of `data` has no key `{}`", shown(name), shown(key));
                let warning = Diagnostic::warning(DiagnosticKind::NoEffect, entry.key.span, message);
                diagnostics.push(warning.with_suggestion(meant));
            }
        }
        return;
    }
    let Some(kind) = other_kind(base, over) else { return };
    let message = format!("`{}` is {kind} in `data`, and {} here", shown(name), kind_of(over));
    let warning = Diagnostic::warning(DiagnosticKind::WrongType, over.span, message);
    diagnostics.push(warning.with_label(base.span, "the default").with_hint(format!("write {kind}")));
}

/// Returns the kind of the first value if the other one is of another kind, and people would not mean that: `no` in place of
/// `false`, but not `auto` in place of a number.
fn other_kind(base: &Node, over: &Node) -> Option<&'static str> {
    if over.is_null() || is_expression(base) || is_expression(over) {
        return None;
    }
    let kind = kind_of(base);
    let text = over.as_scalar().map(|scalar| scalar.text.trim());
    let is_number = text.is_some_and(|text| text.parse::<f64>().is_ok_and(f64::is_finite));
    let differs = match kind {
        "a map" | "a list" => kind_of(over) != kind,
        "a number" => kind_of(over) == "a boolean" || kind_of(over) == "text" && is_number,
        "a boolean" => {
            kind_of(over) == "a number"
                || kind_of(over) == "text"
                    && text.is_some_and(|text| BOOLEANS.iter().any(|word| text.eq_ignore_ascii_case(word)))
        }
        _ => false,
    };
    differs.then_some(kind)
}

fn is_expression(node: &Node) -> bool {
    node.as_scalar().is_some_and(|scalar| may_hold_any(&scalar.text))
}

fn kind_of(node: &Node) -> &'static str {
    match nodes::to_value(node) {
        Value::Map(_) => "a map",
        Value::List(_) => "a list",
        Value::Null => "nothing",
        Value::Bool(_) => "a boolean",
        Value::Int(_) | Value::Float(_) => "a number",
        _ => "text",
    }
}
