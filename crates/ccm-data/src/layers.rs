//! Data in layers, and where each value of the whole comes from.

use std::sync::Arc;

use ccm_expr::Value;
use indexmap::IndexMap;

use crate::merge;

/// Where a layer comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The manifest's `data`.
    Data,
    /// An override of that name.
    Override(String),
    /// A file of data, named as the user did.
    File(String),
    /// The command line: the assignment as it was given.
    CommandLine(String),
    /// The manifest that applies this one.
    Parent,
}

/// How a layer is laid over those below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Deep,
    Shallow,
}

/// A value, where it comes from and how it is laid over those below it.
#[derive(Clone, Debug)]
struct Layer {
    source: Source,
    value: Value,
    how: How,
}

/// All layers, from the lowest to the highest.
#[derive(Clone, Debug, Default)]
pub struct Layers(Vec<Layer>);

/// Where the value of a key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The keys that lead to it.
    pub path: Vec<Arc<str>>,
    /// Its sources from the lowest to the highest: one, or several for a list that was appended to.
    pub sources: Vec<Source>,
}

impl Layers {
    /// The values of each layer, from the lowest to the highest.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.0.iter().map(|layer| &layer.value)
    }

    /// Begins with the lowest layer.
    pub fn new(data: Value) -> Self {
        Self(vec![Layer { source: Source::Data, value: data, how: How::Deep }])
    }

    /// Adds a layer that is merged deep.
    pub fn add_deep(&mut self, source: Source, value: Value) {
        self.0.push(Layer { source, value, how: How::Deep });
    }

    /// Adds a layer that replaces whole keys.
    pub fn add_shallow(&mut self, source: Source, value: Value) {
        self.0.push(Layer { source, value, how: How::Shallow });
    }

    /// The whole: all layers laid over each other.
    pub fn merged(&self) -> Value {
        let mut layers = self.0.iter();
        let mut whole = layers.next().map_or_else(Value::default, |lowest| lowest.value.clone());
        for Layer { value, how, .. } in layers {
            match how {
                How::Deep => merge::deep(&mut whole, value),
                How::Shallow => merge::shallow(&mut whole, value),
            }
        }
        whole
    }

    /// Where every value of the whole comes from, in its order. Maps are not told but what is in them, unless
    /// nothing is.
    pub fn origins(&self) -> Vec<Origin> {
        let mut layers = self.0.iter().enumerate();
        let mut whole = layers.next().map_or_else(Trace::default, |(_, lowest)| Trace::of(&lowest.value, 0));
        for (index, Layer { value, how, .. }) in layers {
            whole.lay(value, index, *how);
        }
        let mut origins = Vec::new();
        self.tell(&whole, &mut Vec::new(), &mut origins);
        origins
    }

    fn tell(&self, trace: &Trace, path: &mut Vec<Arc<str>>, origins: &mut Vec<Origin>) {
        match trace {
            Trace::Map { entries, .. } if !entries.is_empty() => {
                for (key, trace) in entries {
                    path.push(Arc::clone(key));
                    self.tell(trace, path, origins);
                    path.pop();
                }
            }
            // The whole has no key to be told by.
            _ if path.is_empty() => {}
            Trace::List(layers) => origins.push(self.origin(path, layers)),
            Trace::Scalar(layer) | Trace::Map { layer, .. } => {
                origins.push(self.origin(path, &[*layer]));
            }
        }
    }

    fn origin(&self, path: &[Arc<str>], layers: &[usize]) -> Origin {
        let sources = layers.iter().filter_map(|layer| self.0.get(*layer)).map(|layer| layer.source.clone());
        Origin { path: path.to_vec(), sources: sources.collect() }
    }
}

/// A value of which only the layers are known that it comes from.
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

    /// Does what [`merge`] does.
    fn lay(&mut self, over: &Value, layer: usize, how: How) {
        match (self, over, how) {
            (Self::Map { entries, .. }, Value::Map(over), how) => {
                for (key, over) in &**over {
                    match entries.get_mut(key) {
                        Some(trace) if how == How::Deep => trace.lay(over, layer, how),
                        _ => {
                            entries.insert(Arc::clone(key), Self::of(over, layer));
                        }
                    }
                }
            }
            (Self::List(layers), Value::List(over), How::Deep) => {
                if !over.is_empty() {
                    layers.push(layer);
                }
            }
            (trace, over, _) => *trace = Self::of(over, layer),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_map, same, value};

    /// All origins as `path: sources`.
    fn told(layers: &Layers) -> Vec<String> {
        let source = |source: &Source| match source {
            Source::Data => "data".to_owned(),
            Source::Parent => "parent".to_owned(),
            Source::Override(name) | Source::File(name) | Source::CommandLine(name) => name.clone(),
        };
        let one = |origin: &Origin| {
            let sources: Vec<String> = origin.sources.iter().map(source).collect();
            format!("{}: {}", origin.path.join("."), sources.join(" + "))
        };
        layers.origins().iter().map(one).collect()
    }

    #[test]
    fn a_replaced_key_comes_from_where_it_was_replaced() {
        let mut layers = Layers::new(value("{a: 1, b: {x: 1, y: 2}, c: [1]}"));
        layers.add_shallow(Source::Override("os:debian".to_owned()), value("{b: {y: 3}, c: [2], d: 4}"));
        assert!(same(&layers.merged(), &value("{a: 1, b: {y: 3}, c: [2], d: 4}")));
        assert_eq!(told(&layers), ["a: data", "b.y: os:debian", "c: os:debian", "d: os:debian"]);
    }

    #[test]
    fn merged_keys_come_from_where_each_was_set() {
        let mut layers = Layers::new(value("{a: 1, b: {x: 1, y: 2}, c: [1], e: {}, f: {z: 1}}"));
        layers.add_deep(Source::Override("one".to_owned()), value("{b: {y: 3, z: {q: 1}}, c: [2], f: 1}"));
        layers.add_deep(Source::File("two.yaml".to_owned()), value("{c: [3], e: {}}"));
        layers.add_deep(Source::CommandLine("b.z.q=7".to_owned()), value("{b: {z: {q: 7}}, c: []}"));
        let whole = "{a: 1, b: {x: 1, y: 3, z: {q: 7}}, c: [1, 2, 3], e: {}, f: 1}";
        assert!(same(&layers.merged(), &value(whole)));
        assert_eq!(
            told(&layers),
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

    /// The paths of everything that is no map, and of empty maps.
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
            over in prop::collection::vec((any_map(), any::<bool>()), 0..4),
        ) {
            let mut layers = Layers::new(data);
            for (over, is_deep) in over {
                let add = if is_deep { Layers::add_deep } else { Layers::add_shallow };
                add(&mut layers, Source::Override(String::new()), over);
            }
            let mut expected = Vec::new();
            paths(&layers.merged(), "", &mut expected);
            let origins = layers.origins();
            prop_assert!(origins.iter().all(|origin| !origin.sources.is_empty()));
            let found: Vec<String> =
                origins.iter().map(|origin| format!(".{}", origin.path.join("."))).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
