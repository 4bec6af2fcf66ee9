//! Keys of all data, to report keys that have no effect.

use std::collections::HashSet;

use ccm_data::assignment;
use ccm_model::{
    Diagnostic, DiagnosticKind, Diagnostics, Node, NodeEntry, NodeKey, NodeMap, NodeValue, closest,
};

use crate::read::data::DataNodes;
use crate::resolve::messages::shown;

/// Keys of the data of manifests and data files.
#[derive(Default)]
pub(crate) struct DataKeys {
    data: HashSet<Box<str>>,
    /// Keys of overrides.
    overrides: Vec<NodeKey>,
    /// Keys of data files of levels.
    files: Vec<NodeKey>,
    /// Maps of data and overrides, for the keys within.
    maps: Vec<NodeMap>,
}

impl DataKeys {
    /// Adds the data and the overrides of a manifest or a data file. The maps are needed only for assignments.
    pub(crate) fn add(&mut self, nodes: &DataNodes, with_maps: bool) {
        if let Some(data) = &nodes.data {
            self.add_data(&data.value, with_maps);
        }
        let overrides = nodes.overrides.as_ref().and_then(|entry| entry.value.as_map());
        for map in overrides.into_iter().flat_map(NodeMap::entries).filter_map(|entry| entry.value.as_map()) {
            self.overrides.extend(map.entries().iter().map(|entry| entry.key.clone()));
            self.maps.extend(with_maps.then(|| map.clone()));
        }
    }

    /// Adds the content of a data file of a level.
    pub(crate) fn add_file(&mut self, map: &NodeMap, with_maps: bool) {
        self.files.extend(map.entries().iter().map(|entry| entry.key.clone()));
        self.maps.extend(with_maps.then(|| map.clone()));
    }

    /// Adds values that a resource passes to its manifest.
    pub(crate) fn add_data(&mut self, data: &Node, with_maps: bool) {
        let Some(map) = data.as_map() else { return };
        self.data.extend(map.entries().iter().map(|entry| entry.key.text.clone()));
        self.maps.extend(with_maps.then(|| map.clone()));
    }

    /// Warns of keys in overrides and in data files that no data has.
    pub(crate) fn check_overrides(&self, diagnostics: &mut Diagnostics) {
        let of_overrides = self.overrides.iter().map(|key| (key, "override"));
        let keys = of_overrides.chain(self.files.iter().map(|key| (key, "file")));
        for (key, holder) in keys.filter(|(key, _)| !self.data.contains(&key.text)) {
            let message = format!("no `data` has the key `{}` of this {holder}", shown(&key.text));
            let warning = Diagnostic::warning(DiagnosticKind::NoEffect, key.span, message);
            if holder == "file" && &*key.text == "data" {
                diagnostics
                    .push(warning.with_hint("write the values at the top of the file, without `data:`"));
                continue;
            }
            if holder == "file" && matches!(&*key.text, "overrides" | "hierarchy" | "ccm") {
                let hint = format!(
                    "remove `{}`: a data file has values alone, and the manifest has its levels",
                    key.text
                );
                diagnostics.push(warning.with_hint(hint));
                continue;
            }
            let meant = closest(&key.text, self.data.iter().map(|key| &**key));
            diagnostics.push(match meant {
                Some(_) => warning.with_suggestion(meant),
                None => warning.with_hint(format!("add `{}:` to `data`, with the default", shown(&key.text))),
            });
        }
    }

    /// Refuses assignments to keys that neither data nor an override has.
    pub(crate) fn check_assignments(&self, assignments: &[String], diagnostics: &mut Diagnostics) {
        for written in assignments {
            // Assignments that are no assignments are reported already.
            let Ok(path) = assignment::path(written) else { continue };
            let [first, rest @ ..] = &path[..] else { continue };
            let known = || {
                let of_levels = self.overrides.iter().chain(&self.files).map(|key| &*key.text);
                self.data.iter().map(|key| &**key).chain(of_levels)
            };
            if known().any(|key| key == first) {
                diagnostics.extend(self.near_miss(&path, first, rest, written));
                continue;
            }
            let message = format!("--data: no data of the manifest has the key `{}`", shown(first));
            let error = Diagnostic::without_location(DiagnosticKind::UnknownKey, message);
            if let ("Data" | "data", [second, ..]) = (&**first, rest)
                && known().any(|key| key == second)
            {
                let key = shown(&rest.join("."));
                diagnostics.push(error.with_hint(format!("leave out the first part: write `{key}=VALUE`")));
                continue;
            }
            // The order of a set differs from run to run.
            let mut names: Vec<&str> = known().collect();
            names.sort_unstable();
            diagnostics.push(
                error
                    .with_suggestion(closest(first, names))
                    .with_hint("give `--data-any` too, if it is meant to be new"),
            );
        }
    }

    /// Warns of a key within a map that is similar to an existing one, and of a map that becomes another value.
    fn near_miss(&self, path: &[String], first: &str, rest: &[String], written: &str) -> Option<Diagnostic> {
        let mut maps: Vec<&NodeMap> = self.maps.iter().filter_map(|map| within(map, first)).collect();
        for key in rest {
            let below: Vec<&NodeEntry> = maps.iter().filter_map(|map| map.entry(key)).collect();
            if below.is_empty() {
                let names = maps.iter().flat_map(|map| map.entries()).map(|entry| &*entry.key.text);
                let meant = closest(key, names)?;
                let message = format!("--data: `{}` is a new key", shown(&path.join(".")));
                let error = Diagnostic::without_location(DiagnosticKind::UnknownKey, message);
                let error = Diagnostic { severity: ccm_model::Severity::Warning, ..error };
                return Some(error.with_suggestion(Some(meant)));
            }
            maps = below.into_iter().filter_map(|entry| as_map(&entry.value)).collect();
        }
        let value = written.split_once('=').map_or("", |(_, value)| value.trim());
        if maps.is_empty() || value.is_empty() || value.starts_with(['{', '"', '\'']) || value == "null" {
            return None;
        }
        let name = shown(&path.join("."));
        let message = format!("--data: `{name}` is a map, which this value replaces as a whole");
        let error = Diagnostic::without_location(DiagnosticKind::WrongType, message);
        let error = Diagnostic { severity: ccm_model::Severity::Warning, ..error };
        Some(error.with_hint(format!("write `{name}.KEY=VALUE`")))
    }
}

fn within<'n>(map: &'n NodeMap, key: &str) -> Option<&'n NodeMap> {
    map.entry(key).and_then(|entry| as_map(&entry.value))
}

fn as_map(node: &Node) -> Option<&NodeMap> {
    match &node.value {
        NodeValue::Map(map) => Some(map),
        _ => None,
    }
}
