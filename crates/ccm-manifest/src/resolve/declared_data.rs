//! Data as the manifests and the files of this machine declare it, to find uses of keys that no data can have.

use std::path::Path;

use ccm_data::hierarchy::EntryOutcome;
use ccm_data::interpolation::may_hold_any;
use ccm_data::layers::ValueSource;
use ccm_expr::{Map, Value};
use ccm_model::{Node, NodeKey, NodeMap, closest};

use crate::read::data::{DataNodes, Overlay, ResolvedData};

/// Everything that declares data of a manifest.
#[derive(Debug, Default)]
pub(crate) struct DeclaredData {
    /// `data`, `hierarchy` and `overrides` as written.
    pub(crate) nodes: DataNodes,
    /// Contents of the data files of levels.
    pub(crate) files: Vec<NodeMap>,
    /// Values from outside the manifest.
    overlays: Vec<Value>,
    /// Paths of the data files that were read.
    read_files: Vec<String>,
    /// Another manifest applies this one, and may give it any key.
    is_child: bool,
    /// Keys that the other manifest hands over.
    pub(crate) passed: Vec<NodeKey>,
    /// Names of the levels that are used.
    applied: Vec<String>,
    /// Names of the levels that have neither an override nor a data file.
    not_found: Vec<String>,
    /// Data of the other manifest, of which only the keys in `passed` are handed over.
    parent: Value,
}

/// Key that no data has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AbsentKey {
    /// Position of the key in its path.
    pub(crate) position: usize,
    /// Existing key that was probably meant.
    pub(crate) nearest: Option<Box<str>>,
}

/// Map of one layer.
#[derive(Clone, Copy)]
enum LayerMap<'d> {
    Written(&'d NodeMap),
    Merged(&'d Map),
}

/// Part of one layer.
enum LayerPart<'d> {
    Map(LayerMap<'d>),
    /// Anything else, such as an expression that may yield a map.
    Other,
}

impl<'d> LayerMap<'d> {
    fn keys(self) -> Box<dyn Iterator<Item = &'d str> + 'd> {
        match self {
            Self::Written(map) => Box::new(map.entries().iter().map(|entry| &*entry.key.text)),
            Self::Merged(map) => Box::new(map.keys().map(|key| &**key)),
        }
    }

    /// Returns the part under a key.
    fn part(self, key: &str) -> Option<LayerPart<'d>> {
        Some(match self {
            Self::Written(map) => match map.get(key)?.as_map() {
                Some(map) => LayerPart::Map(Self::Written(map)),
                None => LayerPart::Other,
            },
            Self::Merged(map) => match map.get(key)? {
                Value::Map(map) => LayerPart::Map(Self::Merged(map)),
                _ => LayerPart::Other,
            },
        })
    }
}

impl DeclaredData {
    /// Collects what declares the data of a manifest, which was merged to `data`.
    pub(crate) fn new(
        nodes: DataNodes,
        files: Vec<NodeMap>,
        data: &ResolvedData,
        overlays: &[Overlay],
        passed: Option<Vec<NodeKey>>,
    ) -> Self {
        let overlays = overlays.iter().map(|overlay| overlay.value.clone()).collect();
        let sources = data.entries.iter().flat_map(|(_, outcome)| match outcome {
            EntryOutcome::Applied { sources, .. } => &sources[..],
            _ => &[],
        });
        let file = |source: &ValueSource| match source {
            ValueSource::File(name) => Some(name.clone()),
            _ => None,
        };
        let read_files = sources.filter_map(file).collect();
        let is_child = passed.is_some();
        let name = |(_, outcome): &(String, EntryOutcome)| match outcome {
            EntryOutcome::Applied { name, .. } => Some(name.clone()),
            _ => None,
        };
        let applied = data.entries.iter().filter_map(name).collect();
        let missing = |(_, outcome): &(String, EntryOutcome)| match outcome {
            EntryOutcome::NotFound { name, .. } => Some(name.clone()),
            _ => None,
        };
        let not_found = data.entries.iter().filter_map(missing).collect();
        let passed = passed.unwrap_or_default();
        Self { nodes, files, overlays, read_files, is_child, passed, applied, not_found, parent: Value::Null }
    }

    /// Sets the data of the manifest that applies this one, of which it hands over only some keys.
    pub(crate) fn with_parent(self, parent: Value) -> Self {
        Self { parent, ..self }
    }

    /// Returns `true` if the manifest that applies this one has a value, which it does not hand over.
    pub(crate) fn is_of_parent(&self, path: &[String]) -> bool {
        let value = path.iter().try_fold(&self.parent, |value, key| value.get(key));
        value.is_some_and(|value| !matches!(value, Value::Null))
    }

    /// Returns the name of the override that replaces a map of `data` with a key by one without it.
    pub(crate) fn level_that_drops(&self, path: &[String]) -> Option<&str> {
        let [first, further @ ..] = path else { return None };
        let has_rest =
            |node: &Node| further.iter().try_fold(node, |node, key| node.as_map()?.get(key)).is_some();
        let data = self.nodes.data.as_ref()?.value.as_map()?.get(first)?;
        if further.is_empty() || !has_rest(data) {
            return None;
        }
        let overrides = self.nodes.overrides.as_ref()?.value.as_map()?;
        let drops = |name: &&String| {
            let over = overrides.get(name).and_then(Node::as_map).and_then(|over| over.get(first));
            over.is_some_and(|over| !has_rest(over))
        };
        self.applied.iter().find(drops).map(String::as_str)
    }

    /// Returns the keys of `data` as written.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &NodeKey> {
        let data = self.nodes.data.iter().filter_map(|entry| entry.value.as_map());
        data.flat_map(NodeMap::entries).map(|entry| &entry.key)
    }

    /// Returns `true` if a data file was read.
    pub(crate) fn has_read(&self, path: &Path) -> bool {
        let path = path.display().to_string();
        self.read_files.contains(&path)
    }

    /// Returns `true` for a level of this machine, whether it has values or not.
    pub(crate) fn has_level(&self, name: &str) -> bool {
        self.applied.iter().chain(&self.not_found).any(|known| known == name)
    }

    fn layers(&self) -> Vec<LayerMap<'_>> {
        let data = self.nodes.data.iter().filter_map(|entry| entry.value.as_map());
        let overrides = self.nodes.overrides.iter().filter_map(|entry| entry.value.as_map());
        let overrides = overrides.flat_map(NodeMap::entries).filter_map(|entry| entry.value.as_map());
        let nodes = data.chain(overrides).chain(&self.files).map(LayerMap::Written);
        let merged = self.overlays.iter().filter_map(|value| match value {
            Value::Map(map) => Some(LayerMap::Merged(map)),
            _ => None,
        });
        nodes.chain(merged).collect()
    }

    /// Returns the first key of a path that no data of this manifest can have. A key within a map counts only if it
    /// resembles another one of the map: a map may have any keys elsewhere.
    pub(crate) fn absent_key(&self, path: &[String]) -> Option<AbsentKey> {
        if self.is_child {
            return None;
        }
        let mut maps = self.layers();
        for (position, key) in path.iter().enumerate() {
            let parts: Vec<LayerPart<'_>> = maps.iter().filter_map(|map| map.part(key)).collect();
            if parts.is_empty() {
                let keys = || maps.iter().flat_map(|map| map.keys());
                if keys().any(may_hold_any) {
                    return None;
                }
                let nearest = closest(key, keys()).map(Into::into);
                return (position == 0 || nearest.is_some()).then_some(AbsentKey { position, nearest });
            }
            let is_map = |part| match part {
                LayerPart::Map(map) => Some(map),
                LayerPart::Other => None,
            };
            maps = parts.into_iter().map(is_map).collect::<Option<_>>()?;
        }
        None
    }
}
