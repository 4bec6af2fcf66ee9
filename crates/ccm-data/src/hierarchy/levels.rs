//! Levels of a hierarchy: the entries of `order` that were found, and how each key is merged.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ccm_expr::Value;

use super::Merge;
use crate::layers::{Layers, ValueSource};
use crate::merge::{self, KeyMerge, KeyMerges};

/// Merge of the values that the levels have for a key: `# @merge`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LevelMerge {
    /// The value of the first level that has the key.
    First,
    /// The value of the last level that has the key.
    Replace,
    /// All values are merged deep.
    Deep,
    /// The elements of all lists, each once.
    Unique,
}

impl LevelMerge {
    /// All words of `# @merge`.
    pub const WORDS: [&str; 4] = ["first", "replace", "deep", "unique"];

    /// Reads a word of `# @merge`.
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "first" => Self::First,
            "replace" => Self::Replace,
            "deep" => Self::Deep,
            "unique" => Self::Unique,
            _ => return None,
        })
    }

    /// Returns the word of `# @merge`.
    pub fn as_str(self) -> &'static str {
        let [first, replace, deep, unique] = Self::WORDS;
        match self {
            Self::First => first,
            Self::Replace => replace,
            Self::Deep => deep,
            Self::Unique => unique,
        }
    }

    fn of_key(self) -> KeyMerge {
        match self {
            Self::First | Self::Replace => KeyMerge::Replace,
            Self::Deep => KeyMerge::Deep,
            Self::Unique => KeyMerge::Unique,
        }
    }
}

/// Merge of all keys.
#[derive(Clone, Debug, Default)]
pub struct LevelMerges {
    /// `merge` of the hierarchy, for keys without a merge of their own.
    pub default: Merge,
    /// Merges of single keys.
    pub by_key: HashMap<Arc<str>, LevelMerge>,
}

impl LevelMerges {
    /// Returns `true` if levels after the first one may be used.
    pub fn needs_all_levels(&self) -> bool {
        self.default == Merge::Deep || !self.by_key.is_empty()
    }

    /// Returns `true` if a level is used for a key that it has. `level` is its number, from 0, and `earlier` are
    /// the keys of the levels before.
    pub fn uses(&self, key: &str, level: usize, earlier: &HashSet<Arc<str>>) -> bool {
        match self.by_key.get(key) {
            Some(LevelMerge::First) => !earlier.contains(key),
            Some(_) => true,
            None => level == 0 || self.default == Merge::Deep,
        }
    }

    /// Returns how the keys of a level are merged into what is below.
    pub fn key_merges(&self) -> KeyMerges {
        let default = match self.default {
            Merge::First => KeyMerge::Replace,
            Merge::Deep => KeyMerge::Deep,
        };
        let by_key = self.by_key.iter().map(|(key, merge)| (Arc::clone(key), merge.of_key()));
        KeyMerges { default, by_key: Arc::new(by_key.collect()) }
    }

    /// Returns how the keys of data from outside are merged into those of the levels: deep, but each element of a
    /// list that is merged as `unique` once.
    pub fn outer_merges(&self) -> KeyMerges {
        let unique = self.by_key.iter().filter(|(_, merge)| **merge == LevelMerge::Unique);
        let by_key = unique.map(|(key, merge)| (Arc::clone(key), merge.of_key()));
        KeyMerges { default: KeyMerge::Deep, by_key: Arc::new(by_key.collect()) }
    }
}

/// Merges data and the levels that were found, in order. Each level is a list of maps with their sources, the lowest
/// first. Keys for which a level is not used are left out.
pub fn layers(mut data: Value, levels: Vec<Vec<(ValueSource, Value)>>, merges: &LevelMerges) -> Layers {
    for (key, merge) in &merges.by_key {
        if let (LevelMerge::Unique, Value::Map(map)) = (merge, &mut data)
            && matches!(map.get(key), Some(Value::List(_)))
            && let Some(list) = Arc::make_mut(map).get_mut(key)
        {
            merge::unique(list, &Value::Null);
        }
    }
    let mut layers = Layers::new(data);
    let key_merges = merges.key_merges();
    let mut earlier: HashSet<Arc<str>> = HashSet::new();
    for (number, level) in levels.into_iter().enumerate() {
        let mut keys = Vec::new();
        for (source, value) in level {
            let Value::Map(map) = &value else { continue };
            keys.extend(map.keys().cloned());
            let is_used = |key: &Arc<str>| merges.uses(key, number, &earlier);
            let value = if map.keys().all(is_used) {
                value
            } else {
                let used = map.iter().filter(|(key, _)| is_used(key));
                Value::map(used.map(|(key, value)| (Arc::clone(key), value.clone())))
            };
            layers.add(source, value, key_merges.clone());
        }
        earlier.extend(keys);
    }
    layers
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_map, same, value};

    fn merged(data: &str, levels: &[&[&str]], default: Merge, by_key: &[(&str, LevelMerge)]) -> Value {
        let by_key = by_key.iter().map(|(key, merge)| (Arc::from(*key), *merge)).collect();
        let source = |text: &&str| (ValueSource::File((*text).to_owned()), value(text));
        let levels = levels.iter().map(|level| level.iter().map(source).collect()).collect();
        layers(value(data), levels, &LevelMerges { default, by_key }).merged()
    }

    #[test]
    fn each_key_is_merged_as_it_says() {
        use LevelMerge::{Deep, First, Replace, Unique};
        // Two levels, the first with an override and a file over it.
        let levels: &[&[&str]] = &[&["{a: [1], b: {x: 1}}", "{a: [2]}"], &["{a: [1, 3], c: 3, b: {y: 2}}"]];
        let data = "{a: [0, 0], b: {z: 0}, c: 0}";
        for (merge, default, expected) in [
            (None, Merge::First, "{a: [2], b: {x: 1}, c: 0}"),
            (None, Merge::Deep, "{a: [0, 0, 1, 2, 1, 3], b: {z: 0, x: 1, y: 2}, c: 3}"),
            (Some(First), Merge::First, "{a: [2], b: {x: 1}, c: 0}"),
            (Some(First), Merge::Deep, "{a: [2], b: {z: 0, x: 1, y: 2}, c: 3}"),
            (Some(Replace), Merge::First, "{a: [1, 3], b: {x: 1}, c: 0}"),
            (Some(Replace), Merge::Deep, "{a: [1, 3], b: {z: 0, x: 1, y: 2}, c: 3}"),
            (Some(Deep), Merge::First, "{a: [0, 0, 1, 2, 1, 3], b: {x: 1}, c: 0}"),
            (Some(Unique), Merge::First, "{a: [0, 1, 2, 3], b: {x: 1}, c: 0}"),
            (Some(Unique), Merge::Deep, "{a: [0, 1, 2, 3], b: {z: 0, x: 1, y: 2}, c: 3}"),
        ] {
            let by_key: Vec<(&str, LevelMerge)> = merge.map(|merge| ("a", merge)).into_iter().collect();
            let found = merged(data, levels, default, &by_key);
            assert!(same(&found, &value(expected)), "{merge:?} {default:?}: {found:?}");
        }
        // A key that only the second level has.
        let found = merged("{c: 0}", &[&["{a: 1}"], &["{c: 1}"], &["{c: 2}"]], Merge::First, &[("c", First)]);
        assert!(same(&found, &value("{c: 1, a: 1}")), "{found:?}");
        let found = merged("{a: [1, 1]}", &[], Merge::First, &[("a", Unique)]);
        assert!(same(&found, &value("{a: [1]}")), "{found:?}");
    }

    /// Merges one key of several maps as the documentation says, without layers.
    fn model(
        key: &str,
        data: &Value,
        levels: &[Value],
        merge: Option<LevelMerge>,
        default: Merge,
    ) -> Option<Value> {
        let base = data.get(key).cloned();
        let mut given = levels.iter().filter_map(|level| level.get(key).cloned());
        match (merge, default) {
            (Some(LevelMerge::First), _) => given.next().or(base),
            (Some(LevelMerge::Replace), _) => given.next_back().or(base),
            (None, Merge::First) => levels.first().and_then(|level| level.get(key).cloned()).or(base),
            (Some(LevelMerge::Deep), _) | (None, Merge::Deep) => {
                base.into_iter().chain(given).reduce(|mut one, over| {
                    merge::deep(&mut one, &over);
                    one
                })
            }
            (Some(LevelMerge::Unique), _) => {
                let distinct = |mut list: Value| {
                    if matches!(list, Value::List(_)) {
                        merge::unique(&mut list, &Value::Null);
                    }
                    list
                };
                base.into_iter().chain(given).map(distinct).reduce(|mut one, over| {
                    merge::unique(&mut one, &over);
                    one
                })
            }
        }
    }

    proptest! {
        #[test]
        fn keys_are_merged_as_in_a_naive_model(
            data in any_map(),
            levels in prop::collection::vec(any_map(), 0..4),
            merges in prop::collection::vec(0..5_usize, 4),
            is_deep in any::<bool>(),
        ) {
            let default = if is_deep { Merge::Deep } else { Merge::First };
            let kinds = [LevelMerge::First, LevelMerge::Replace, LevelMerge::Deep, LevelMerge::Unique];
            let of_key: Vec<(&str, Option<LevelMerge>)> =
                ["a", "b", "c", "d"].into_iter().zip(merges.iter().map(|merge| kinds.get(*merge).copied())).collect();
            let by_key =
                of_key.iter().filter_map(|(key, merge)| Some((Arc::from(*key), (*merge)?))).collect();
            let layered = levels.iter().map(|level| vec![(ValueSource::Data, level.clone())]).collect();
            let found = layers(data.clone(), layered, &LevelMerges { default, by_key }).merged();
            for (key, merge) in of_key {
                let expected = model(key, &data, &levels, merge, default);
                match (found.get(key), &expected) {
                    (None, None) => {}
                    (Some(found), Some(expected)) => {
                        prop_assert!(same(found, expected), "{} {:?} {:?}: {:?}", key, merge, default, found);
                    }
                    other => prop_assert!(false, "{} {:?}: {:?}", key, merge, other),
                }
            }
        }
    }
}
