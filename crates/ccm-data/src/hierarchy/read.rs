//! Reading of `hierarchy` and `overrides`.

use ccm_model::{
    Diagnostic, DiagnosticKind, Diagnostics, Node, NodeKey, NodeValue, ScalarKind, Span, closest,
    escape_control,
};

use super::{Hierarchy, Merge, OrderEntry, Override, Overrides};
use crate::interpolation::may_hold_any;

const KEYS: [&str; 3] = ["order", "merge", "data_dir"];
/// Words of other programs, with the keys that they mean.
const FOREIGN_KEYS: [(&str, &str); 12] = [
    ("data", "data_dir"),
    ("datadir", "data_dir"),
    ("dir", "data_dir"),
    ("directory", "data_dir"),
    ("files", "data_dir"),
    ("path", "data_dir"),
    ("paths", "order"),
    ("levels", "order"),
    ("layers", "order"),
    ("hierarchy", "order"),
    ("strategy", "merge"),
    ("merge_behavior", "merge"),
];
const MERGES: [&str; 2] = ["first", "deep"];

/// Reads `hierarchy`; `key` is its key. Invalid parts are reported and left out.
pub fn read(key: &NodeKey, node: &Node, diagnostics: &mut Diagnostics) -> Hierarchy {
    let mut hierarchy = Hierarchy::default();
    if node.is_null() {
        return hierarchy;
    }
    let Some(map) = node.as_map() else {
        let error = expected("a map", node);
        hierarchy.is_incomplete = true;
        diagnostics.push(match node.as_list() {
            Some(_) => error.with_hint("write the list below `order:`"),
            None => error.with_hint("write `hierarchy: {order: [NAME, …], merge: first}`"),
        });
        return hierarchy;
    };
    let errors_before = diagnostics.found();
    let mut order_suggested = false;
    for entry in map.entries() {
        match &*entry.key.text {
            "order" => hierarchy.order = order(&entry.value, diagnostics),
            "merge" => hierarchy.merge = merge(&entry.value, diagnostics),
            "data_dir" => hierarchy.data_dir = data_dir(&entry.value, diagnostics),
            unknown => {
                let error = Diagnostic::error(
                    DiagnosticKind::UnknownKey,
                    entry.key.span,
                    format!("unknown key `{}`", escape_control(unknown)),
                );
                let foreign = FOREIGN_KEYS.iter().find(|(word, _)| unknown.eq_ignore_ascii_case(word));
                let meant = foreign.map(|(_, key)| *key).or_else(|| closest(unknown, KEYS));
                order_suggested |= meant == Some("order");
                diagnostics.push(match meant {
                    None => error.with_hint("use `order`, `merge` or `data_dir`"),
                    Some(_) => error.with_suggestion(meant),
                });
            }
        }
    }
    if map.entry("order").is_none() && !order_suggested {
        diagnostics.push(
            Diagnostic::error(DiagnosticKind::Missing, key.span, "`hierarchy` has no `order`")
                .with_hint("write `order: [NAME, …]` with names of `overrides`"),
        );
    }
    hierarchy.is_incomplete = diagnostics.found() > errors_before;
    hierarchy
}

fn order(node: &Node, diagnostics: &mut Diagnostics) -> Vec<OrderEntry> {
    if node.is_null() {
        return Vec::new();
    }
    let Some(elements) = node.as_list() else {
        let error = expected("a list of names", node);
        diagnostics.push(match node.as_text() {
            Some(name) if name.len() <= 60 && !name.contains('\n') => {
                error.with_hint(format!("write a dash before it: `- {name}`"))
            }
            _ => error,
        });
        return Vec::new();
    };
    let mut entries = Vec::with_capacity(elements.len());
    for element in elements {
        match element.as_text() {
            Some(name) if name.trim().is_empty() => {
                diagnostics.push(Diagnostic::error(
                    DiagnosticKind::Missing,
                    element.span,
                    "the name of an override is empty",
                ));
            }
            Some(name) => entries.push(OrderEntry { text: name.into(), span: element.span }),
            None => {
                let error = expected("the name of an override", element);
                let first = element.as_map().and_then(|map| map.entries().first());
                let hint = first.map(|entry| match entry.value.as_text() {
                    Some(value) => {
                        format!("write one text without the blank: `\"{}:{value}\"`", entry.key.text)
                    }
                    None => "write one text, such as `\"role:{{ Facts.role }}\"`".to_owned(),
                });
                diagnostics.push(hint.into_iter().fold(error, Diagnostic::with_hint));
            }
        }
    }
    entries
}

/// Reads the directory of the data files. A fact can't choose it.
fn data_dir(node: &Node, diagnostics: &mut Diagnostics) -> Option<(Box<str>, Span)> {
    if node.is_null() {
        return None;
    }
    let Some(text) = node.as_text() else {
        diagnostics.push(expected("the path of a directory", node));
        return None;
    };
    let refused = |message: &str| Diagnostic::error(DiagnosticKind::InvalidValue, node.span, message);
    if text.trim().is_empty() {
        diagnostics.push(refused("the path of the directory is empty").with_hint("write `data_dir: data`"));
    } else if may_hold_any(text) {
        let error = refused("`data_dir` can't have expressions");
        diagnostics.push(error.with_hint("use facts in `order`: the entry `a:b` is the file `a/b.yaml`"));
    } else if text.contains(char::is_control) {
        diagnostics.push(refused("the path of the directory has a control character"));
    } else {
        return Some((text.into(), node.span));
    }
    None
}

fn merge(node: &Node, diagnostics: &mut Diagnostics) -> Merge {
    match node.as_text() {
        Some("first") => return Merge::First,
        Some("deep") => return Merge::Deep,
        _ if node.is_null() => return Merge::First,
        Some(other) => {
            let error =
                Diagnostic { kind: DiagnosticKind::InvalidValue, ..expected("`first` or `deep`", node) };
            diagnostics.push(error.with_suggestion(closest(other, MERGES)));
        }
        None => diagnostics.push(expected("`first` or `deep`", node)),
    }
    Merge::First
}

impl Overrides {
    /// Reads `overrides`, a map of maps. Invalid parts are reported and left out.
    pub fn read(node: &Node, diagnostics: &mut Diagnostics) -> Self {
        let mut overrides = Self::default();
        if node.is_null() {
            return overrides;
        }
        let Some(map) = node.as_map() else {
            diagnostics.push(
                expected("a map of overrides", node).with_hint("write `overrides: {NAME: {KEY: VALUE}}`"),
            );
            return overrides;
        };
        for entry in map.entries() {
            match &entry.value.value {
                NodeValue::Map(_) => {}
                // A null override changes nothing.
                NodeValue::Scalar(scalar) if scalar.kind() == ScalarKind::Null => continue,
                _ => {
                    diagnostics.push(
                        expected("a map of values", &entry.value)
                            .with_label(entry.key.span, "the override of this name"),
                    );
                    continue;
                }
            }
            let found = Override { key: entry.key.clone(), node: entry.value.clone() };
            overrides.0.insert(entry.key.text.clone(), found);
        }
        overrides
    }
}

fn expected(what: &str, found: &Node) -> Diagnostic {
    Diagnostic::error(
        DiagnosticKind::WrongType,
        found.span,
        format!("expected {what}, found {}", found.describe()),
    )
}
