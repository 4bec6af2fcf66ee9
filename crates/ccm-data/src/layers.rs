//! Layers of data, and the origin of each value.

use std::sync::Arc;

use ccm_expr::Value;
use indexmap::IndexMap;

use crate::merge::{self, KeyMerge, KeyMerges};

/// Source of a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueSource {
    /// `data` of the manifest.
    Data,
    /// Override, by name.
    Override(String),
    /// Data file, named as by the user.
    File(String),
    /// Command line: the assignment verbatim.
    CommandLine(String),
    /// Parent manifest.
    Parent,
}

#[derive(Clone, Debug)]
struct Layer {
    source: ValueSource,
    value: Value,
    /// Merge into the layers below.
    merges: KeyMerges,
}

/// Layers from the lowest to the highest.
#[derive(Clone, Debug, Default)]
pub struct Layers(Vec<Layer>);

/// Origin of the value of a key.
#[derive(Clone, Debug)]
pub struct ValueOrigin {
    /// Keys from the root.
    pub path: Vec<Arc<str>>,
    /// Sources from the lowest to the highest, each with the value that it gives: one, or several for a list with
    /// added elements.
    pub sources: Vec<(ValueSource, Value)>,
}

impl Layers {
    /// Returns the values of each layer, from the lowest to the highest.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().map(|layer| &layer.value)
    }

    /// Starts with the lowest layer.
    pub fn new(data: Value) -> Self {
        Self(vec![Layer { source: ValueSource::Data, value: data, merges: KeyMerges::default() }])
    }

    /// Adds a layer that is merged deep.
    pub fn add_deep(&mut self, source: ValueSource, value: Value) {
        self.add(source, value, KeyMerges::default());
    }

    /// Adds a layer.
    pub fn add(&mut self, source: ValueSource, value: Value, merges: KeyMerges) {
        self.0.push(Layer { source, value, merges });
    }

    /// Merges all layers.
    pub fn merged(&self) -> Value {
        let mut layers = self.0.iter();
        let mut whole = layers.next().map_or_else(Value::default, |lowest| lowest.value.clone());
        for Layer { value, merges, .. } in layers {
            merge::by_key(&mut whole, value, merges);
        }
        whole
    }

    /// Returns the origin of every merged value in its order. A map is listed only if it is empty.
    pub fn origins(&self) -> Vec<ValueOrigin> {
        let mut origins = Vec::new();
        self.collect_origins(&self.trace(), &mut Vec::new(), &mut origins);
        origins
    }

    /// Returns an index from paths to the sources of merged values.
    pub fn sources(&self) -> LayerSources<'_> {
        LayerSources { layers: self, trace: self.trace() }
    }

    fn trace(&self) -> Trace {
        let mut layers = self.0.iter().enumerate();
        let mut whole = layers.next().map_or_else(Trace::default, |(_, lowest)| Trace::of(&lowest.value, 0));
        for (index, Layer { value, merges, .. }) in layers {
            whole.merge_keys(value, index, merges);
        }
        whole
    }

    fn collect_origins(&self, trace: &Trace, path: &mut Vec<Arc<str>>, origins: &mut Vec<ValueOrigin>) {
        match trace {
            Trace::Map { entries, .. } if !entries.is_empty() => {
                for (key, trace) in entries {
                    path.push(Arc::clone(key));
                    self.collect_origins(trace, path, origins);
                    path.pop();
                }
            }
            // A root that is no map has no key.
            _ if path.is_empty() => {}
            Trace::List(layers) => origins.push(self.origin(path, layers)),
            Trace::Scalar(layer) | Trace::Map { layer, .. } => {
                origins.push(self.origin(path, &[*layer]));
            }
        }
    }

    fn origin(&self, path: &[Arc<str>], layers: &[usize]) -> ValueOrigin {
        let given = |layer: &Layer| {
            let value = path.iter().try_fold(&layer.value, |value, key| value.get(key));
            (layer.source.clone(), value.cloned().unwrap_or_default())
        };
        let sources = layers.iter().filter_map(|layer| self.0.get(*layer)).map(given);
        ValueOrigin { path: path.to_vec(), sources: sources.collect() }
    }
}

/// Index from paths to the sources of merged values.
pub struct LayerSources<'l> {
    layers: &'l Layers,
    trace: Trace,
}

impl<'l> LayerSources<'l> {
    /// Returns the sources of the values at and below a path. If the path leads through a value that is no map,
    /// returns the sources of that value.
    pub fn at(&self, path: &[Arc<str>]) -> Vec<&'l ValueSource> {
        let mut trace = &self.trace;
        for key in path {
            trace = match trace {
                Trace::Map { entries, .. } if !entries.is_empty() => match entries.get(key) {
                    Some(trace) => trace,
                    None => return Vec::new(),
                },
                _ if std::ptr::eq(trace, &raw const self.trace) => return Vec::new(),
                _ => break,
            };
        }
        let mut found = Vec::new();
        trace.collect_layers(&mut found);
        let mut sources = Vec::new();
        for Layer { source, .. } in found.into_iter().filter_map(|layer| self.layers.0.get(layer)) {
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        sources
    }
}

/// Shape of a merged value, with the layers of each part instead of its value.
enum Trace {
    Scalar(usize),
    List(Vec<usize>),
    Map { entries: IndexMap<Arc<str>, Trace>, layer: usize },
}

impl Default for Trace {
    fn default() -> Self {
        Self::Scalar(0)
    }
}

impl Trace {
    fn of(value: &Value, layer: usize) -> Self {
        match value {
            Value::List(_) => Self::List(vec![layer]),
            Value::Map(map) => {
                let entries = map.iter().map(|(key, value)| (Arc::clone(key), Self::of(value, layer)));
                Self::Map { entries: entries.collect(), layer }
            }
            _ => Self::Scalar(layer),
        }
    }

    /// Collects the layers of the values, each once.
    fn collect_layers(&self, found: &mut Vec<usize>) {
        let mut add = |layer: usize| {
            if !found.contains(&layer) {
                found.push(layer);
            }
        };
        match self {
            Self::Map { entries, .. } if !entries.is_empty() => {
                entries.values().for_each(|trace| trace.collect_layers(found));
            }
            Self::List(layers) => layers.iter().copied().for_each(add),
            Self::Scalar(layer) | Self::Map { layer, .. } => add(*layer),
        }
    }

    /// Follows `merge::by_key`, so that each part gets the layer that its value came from.
    fn merge_keys(&mut self, over: &Value, layer: usize, merges: &KeyMerges) {
        let (Self::Map { entries, .. }, Value::Map(over)) = (&mut *self, over) else {
            *self = Self::of(over, layer);
            return;
        };
        for (key, over) in &**over {
            match (entries.get_mut(key), merges.of(key)) {
                // Null counts as an empty list.
                (Some(Self::List(_)), KeyMerge::Unique) if over.is_null() => {}
                (Some(trace), KeyMerge::Deep) | (Some(trace @ Self::List(_)), KeyMerge::Unique) => {
                    trace.merge(over, layer);
                }
                _ => {
                    entries.insert(Arc::clone(key), Self::of(over, layer));
                }
            }
        }
    }

    /// Follows `merge::deep`.
    fn merge(&mut self, over: &Value, layer: usize) {
        match (self, over) {
            (Self::Map { entries, .. }, Value::Map(over)) => {
                for (key, over) in &**over {
                    match entries.get_mut(key) {
                        Some(trace) => trace.merge(over, layer),
                        None => {
                            entries.insert(Arc::clone(key), Self::of(over, layer));
                        }
                    }
                }
            }
            (Self::List(layers), Value::List(over)) => {
                if !over.is_empty() {
                    layers.push(layer);
                }
            }
            (trace, over) => *trace = Self::of(over, layer),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_map, same, value};

    /// Formats origins as `path: sources`.
    fn summary(layers: &Layers) -> Vec<String> {
        let source = |source: &ValueSource| match source {
            ValueSource::Data => "data".to_owned(),
            ValueSource::Parent => "parent".to_owned(),
            ValueSource::Override(name) | ValueSource::File(name) | ValueSource::CommandLine(name) => {
                name.clone()
            }
        };
        let one = |origin: &ValueOrigin| {
            let sources: Vec<String> = origin.sources.iter().map(|(found, _)| source(found)).collect();
            format!("{}: {}", origin.path.join("."), sources.join(" + "))
        };
        layers.origins().iter().map(one).collect()
    }

    #[test]
    fn a_replaced_key_has_the_origin_of_its_replacement() {
        let mut layers = Layers::new(value("{a: 1, b: {x: 1, y: 2}, c: [1]}"));
        let over = value("{b: {y: 3}, c: [2], d: 4}");
        layers.add(ValueSource::Override("os:debian".to_owned()), over, KeyMerge::Replace.into());
        assert!(same(&layers.merged(), &value("{a: 1, b: {y: 3}, c: [2], d: 4}")));
        assert_eq!(summary(&layers), ["a: data", "b.y: os:debian", "c: os:debian", "d: os:debian"]);
    }

    #[test]
    fn merged_keys_have_their_own_origins() {
        let mut layers = Layers::new(value("{a: 1, b: {x: 1, y: 2}, c: [1], e: {}, f: {z: 1}}"));
        layers
            .add_deep(ValueSource::Override("one".to_owned()), value("{b: {y: 3, z: {q: 1}}, c: [2], f: 1}"));
        layers.add_deep(ValueSource::File("two.yaml".to_owned()), value("{c: [3], e: {}}"));
        layers.add_deep(ValueSource::CommandLine("b.z.q=7".to_owned()), value("{b: {z: {q: 7}}, c: []}"));
        let whole = "{a: 1, b: {x: 1, y: 3, z: {q: 7}}, c: [1, 2, 3], e: {}, f: 1}";
        assert!(same(&layers.merged(), &value(whole)));
        assert_eq!(
            summary(&layers),
            [
                "a: data",
                "b.x: data",
                "b.y: one",
                "b.z.q: b.z.q=7",
                "c: data + one + two.yaml",
                "e: data",
                "f: one",
            ]
        );
    }

    #[test]
    fn sources_give_their_values() {
        let mut layers = Layers::new(value("{a: [1], b: {c: 1}, d: x}"));
        let merges =
            KeyMerges { default: KeyMerge::Deep, by_key: Arc::new([("a".into(), KeyMerge::Unique)].into()) };
        layers.add(ValueSource::File("one.yaml".to_owned()), value("{a: [1, 2], b: {c: 2}}"), merges);
        let shown = |(source, value): &(ValueSource, Value)| format!("{source:?} {value}");
        let found: Vec<Vec<String>> =
            layers.origins().iter().map(|origin| origin.sources.iter().map(shown).collect()).collect();
        let file = |value: &str| format!("File(\"one.yaml\") {value}");
        assert_eq!(
            found,
            [vec!["Data [1]".to_owned(), file("[1,2]")], vec![file("2")], vec!["Data x".to_owned()]]
        );
    }

    /// Collects the paths of all values except for maps that hold any.
    fn paths(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Map(map) if !map.is_empty() => {
                for (key, value) in &**map {
                    paths(value, &format!("{path}.{key}"), found);
                }
            }
            _ if path.is_empty() => {}
            _ => found.push(path.to_owned()),
        }
    }

    proptest! {
        #[test]
        fn every_value_has_an_origin(
            data in any_map(),
            over in prop::collection::vec((any_map(), 0..3_usize), 0..4),
        ) {
            let mut layers = Layers::new(data);
            for (over, merge) in over {
                let merge = [KeyMerge::Deep, KeyMerge::Replace, KeyMerge::Unique][merge];
                layers.add(ValueSource::Override(String::new()), over, merge.into());
            }
            let mut expected = Vec::new();
            paths(&layers.merged(), "", &mut expected);
            let origins = layers.origins();
            prop_assert!(origins.iter().all(|origin| !origin.sources.is_empty()));
            let sources = layers.sources();
            for ValueOrigin { path, sources: expected } in &origins {
                let below = [&path[..], &["below".into()]].concat();
                let found = sources.at(path);
                prop_assert!(expected.iter().all(|(source, _)| found.contains(&source)), "{found:?}");
                prop_assert_eq!(sources.at(&below), found);
            }
            let found: Vec<String> =
                origins.iter().map(|origin| format!(".{}", origin.path.join("."))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
