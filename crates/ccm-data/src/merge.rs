//! Merging of values.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use ccm_expr::Value;

use crate::printed;

/// Merge of the value of a key over the value below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyMerge {
    /// Maps are merged, lists appended, other values replaced.
    #[default]
    Deep,
    /// The value is replaced.
    Replace,
    /// The elements of both lists are kept, each once. A value that is no list is replaced.
    Unique,
}

/// Merge of the keys of a map.
#[derive(Clone, Debug, Default)]
pub struct KeyMerges {
    /// Merge of keys that are not in `by_key`.
    pub default: KeyMerge,
    /// Merge of single keys.
    pub by_key: Arc<HashMap<Arc<str>, KeyMerge>>,
}

impl KeyMerges {
    /// Returns the merge of a key.
    pub fn of(&self, key: &str) -> KeyMerge {
        self.by_key.get(key).copied().unwrap_or(self.default)
    }
}

impl From<KeyMerge> for KeyMerges {
    fn from(default: KeyMerge) -> Self {
        Self { default, by_key: Arc::default() }
    }
}

/// Merges a map into a map, each key as `merges` says.
pub fn by_key(base: &mut Value, over: &Value, merges: &KeyMerges) {
    let (Value::Map(map), Value::Map(over)) = (&mut *base, over) else {
        *base = over.clone();
        return;
    };
    let map = Arc::make_mut(map);
    for (key, over) in &**over {
        match (map.get_mut(key), merges.of(key)) {
            (Some(base), KeyMerge::Deep) => deep(base, over),
            (Some(base), KeyMerge::Unique) => unique(base, over),
            (_, KeyMerge::Deep | KeyMerge::Replace) => {
                map.insert(Arc::clone(key), over.clone());
            }
            (None, KeyMerge::Unique) => {
                let mut own = over.clone();
                distinct(&mut own);
                map.insert(Arc::clone(key), own);
            }
        }
    }
}

/// Adds the elements of a list that another list lacks, and removes repeated ones. A value that is no list is
/// replaced; null counts as an empty list.
pub fn unique(base: &mut Value, over: &Value) {
    match (&mut *base, over) {
        (Value::List(base), Value::List(over)) => Arc::make_mut(base).extend(over.iter().cloned()),
        (Value::List(_), Value::Null) => {}
        (base, over) => *base = over.clone(),
    }
    distinct(base);
}

/// Removes the elements of a list that are equal to an earlier one. The order of keys does not matter.
fn distinct(list: &mut Value) {
    let Value::List(elements) = list else { return };
    let mut seen = HashSet::new();
    let mut is_new = |element: &Value| seen.insert(printed::to_json(&sorted(element)).to_string());
    if !elements.iter().all(&mut is_new) {
        seen.clear();
        let mut is_new = |element: &Value| seen.insert(printed::to_json(&sorted(element)).to_string());
        Arc::make_mut(elements).retain(&mut is_new);
    }
}

/// Returns a value with the keys of its maps in order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Map(map) => {
            let mut entries: Vec<_> =
                map.iter().map(|(key, value)| (Arc::clone(key), sorted(value))).collect();
            entries.sort_by(|one, other| one.0.cmp(&other.0));
            Value::map(entries)
        }
        Value::List(elements) => Value::list(elements.iter().map(sorted)),
        other => other.clone(),
    }
}

/// Merges `over` into `base`: maps are merged, lists appended, other values replaced, also by null. Takes
/// time in proportion to `over`, and copies what `base` shares once.
pub fn deep(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Map(base), Value::Map(over)) => {
            let base = Arc::make_mut(base);
            for (key, over) in &**over {
                match base.get_mut(key) {
                    Some(base) => deep(base, over),
                    None => {
                        base.insert(Arc::clone(key), over.clone());
                    }
                }
            }
        }
        (Value::List(base), Value::List(over)) => Arc::make_mut(base).extend(over.iter().cloned()),
        (base, over) => *base = over.clone(),
    }
}

/// Merges facts into facts: maps are merged key by key, lists and other values replaced.
pub fn facts(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Map(base), Value::Map(over)) => {
            let base = Arc::make_mut(base);
            for (key, over) in &**over {
                match base.get_mut(key) {
                    Some(base) => facts(base, over),
                    None => {
                        base.insert(Arc::clone(key), over.clone());
                    }
                }
            }
        }
        (base, over) => *base = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_map, any_value, same, value};

    fn shallow(base: &mut Value, over: &Value) {
        by_key(base, over, &KeyMerge::Replace.into());
    }

    fn merged(merge: fn(&mut Value, &Value), base: &Value, over: &Value) -> Value {
        let mut base = base.clone();
        merge(&mut base, over);
        base
    }

    #[test]
    fn maps_merge_lists_append_and_the_rest_is_replaced() {
        for (base, over, expected) in [
            ("{a: 1}", "{b: 2}", "{a: 1, b: 2}"),
            ("{a: 1, b: 2}", "{a: 3}", "{a: 3, b: 2}"),
            ("{a: {x: 1, y: 2}}", "{a: {y: 3, z: 4}}", "{a: {x: 1, y: 3, z: 4}}"),
            ("{a: [1, 2]}", "{a: [2, 3]}", "{a: [1, 2, 2, 3]}"),
            ("{a: [{x: 1}]}", "{a: [{x: 2}]}", "{a: [{x: 1}, {x: 2}]}"),
            ("{a: [1]}", "{a: 2}", "{a: 2}"),
            ("{a: 1}", "{a: [2]}", "{a: [2]}"),
            ("{a: {x: 1}}", "{a: text}", "{a: text}"),
            ("{a: 1}", "{a: null}", "{a: null}"),
            ("{a: {x: {y: 1}}}", "{a: {x: {z: 2}}}", "{a: {x: {y: 1, z: 2}}}"),
            ("{}", "{a: [1]}", "{a: [1]}"),
        ] {
            let found = merged(deep, &value(base), &value(over));
            assert!(same(&found, &value(expected)), "{base} {over}: {found:?}");
        }
    }

    #[test]
    fn facts_replace_lists() {
        for (base, over, expected) in [
            ("{a: {x: 1, l: [1]}, b: 2}", "{a: {l: [2], z: 3}}", "{a: {x: 1, l: [2], z: 3}, b: 2}"),
            ("{a: [1, 2]}", "{a: []}", "{a: []}"),
            ("{a: {x: 1}}", "{a: ~}", "{a: ~}"),
        ] {
            let found = merged(facts, &value(base), &value(over));
            assert!(same(&found, &value(expected)), "{base} {over}: {found:?}");
        }
    }

    #[test]
    fn a_shallow_merge_replaces_whole_keys() {
        for (base, over, expected) in [
            ("{a: {x: 1}, b: 2}", "{a: {y: 3}}", "{a: {y: 3}, b: 2}"),
            ("{a: [1]}", "{a: [2], c: 3}", "{a: [2], c: 3}"),
            ("{a: 1}", "{}", "{a: 1}"),
        ] {
            let found = merged(shallow, &value(base), &value(over));
            assert!(same(&found, &value(expected)), "{base} {over}: {found:?}");
        }
    }

    #[test]
    fn a_unique_merge_keeps_each_element_once() {
        for (base, over, expected) in [
            ("[1, 2]", "[2, 3]", "[1, 2, 3]"),
            ("[1, 1]", "[]", "[1]"),
            ("[]", "[a, b, a]", "[a, b]"),
            ("[1, '1']", "[1.5, true, 'true']", "[1, '1', 1.5, true, 'true']"),
            ("[{a: 1, b: [2]}]", "[{b: [2], a: 1}, {b: [2], a: 2}]", "[{a: 1, b: [2]}, {b: [2], a: 2}]"),
            ("[1]", "~", "[1]"),
            ("~", "[1, 1]", "[1]"),
            ("[1]", "x", "x"),
            ("{a: 1}", "[1]", "[1]"),
        ] {
            let found = merged(unique, &value(base), &value(over));
            assert!(same(&found, &value(expected)), "{base} {over}: {found:?}");
        }
    }

    #[test]
    fn each_key_has_a_merge_of_its_own() {
        let merges = KeyMerges {
            default: KeyMerge::Replace,
            by_key: Arc::new([("d".into(), KeyMerge::Deep), ("u".into(), KeyMerge::Unique)].into()),
        };
        let over = value("{a: [2], d: [2], u: [1, 2], n: 1}");
        let mut base = value("{a: [1], d: [1], u: [1]}");
        by_key(&mut base, &over, &merges);
        assert!(same(&base, &value("{a: [2], d: [1, 2], u: [1, 2], n: 1}")), "{base:?}");
    }

    #[test]
    fn fifty_levels_of_a_thousand_keys_are_merged_in_place() {
        let level = |number: i64| {
            let key = |key: i64| {
                (
                    format!("k{key}"),
                    Value::map([("v", Value::Int(number)), ("l", Value::list([Value::Int(1)]))]),
                )
            };
            Value::map((0..1_000).map(key))
        };
        let mut base = level(0);
        let Value::Map(before) = &base else { panic!("a map") };
        let before = Arc::as_ptr(before);
        for number in 1..50 {
            deep(&mut base, &level(number));
        }
        let Value::Map(after) = &base else { panic!("a map") };
        assert_eq!(Arc::as_ptr(after), before);
        let entry = base.get("k999").expect("a key");
        assert!(same(entry.get("v").expect("a key"), &Value::Int(49)));
        assert!(matches!(entry.get("l"), Some(Value::List(list)) if list.len() == 50));
    }

    fn any_list() -> impl Strategy<Value = Value> {
        prop::collection::vec(any_value(), 0..6).prop_map(Value::list)
    }

    fn list(value: &Value) -> &[Value] {
        match value {
            Value::List(elements) => elements,
            other => panic!("{other:?} is no list"),
        }
    }

    proptest! {
        #[test]
        fn merging_nothing_changes_nothing(map in any_map()) {
            let nothing = value("{}");
            prop_assert!(same(&merged(deep, &map, &nothing), &map));
            prop_assert!(same(&merged(deep, &nothing, &map), &map));
            prop_assert!(same(&merged(shallow, &nothing, &map), &map));
        }

        #[test]
        fn every_merged_key_is_present(base in any_map(), over in any_map()) {
            let (deep, shallow) = (merged(deep, &base, &over), merged(shallow, &base, &over));
            let (Value::Map(base), Value::Map(over)) = (&base, &over) else { panic!("maps") };
            for key in base.keys().chain(over.keys()) {
                prop_assert!(deep.get(key).is_some());
                let expected = over.get(key).or_else(|| base.get(key)).expect("in one of them");
                prop_assert!(same(shallow.get(key).expect("a key"), expected));
            }
        }

        #[test]
        fn a_unique_merge_is_idempotent(base in any_list(), over in any_list()) {
            let once = merged(unique, &base, &over);
            prop_assert!(same(&merged(unique, &once, &over), &once));
            prop_assert!(same(&merged(unique, &once, &base), &once));
            // A naive model: each element of both, unless it is there.
            let mut expected: Vec<Value> = Vec::new();
            for element in list(&base).iter().chain(list(&over)) {
                if !expected.iter().any(|known| same(&sorted(known), &sorted(element))) {
                    expected.push(element.clone());
                }
            }
            prop_assert!(same(&once, &Value::list(expected)));
        }

        #[test]
        fn a_shared_value_is_not_changed(base in any_map(), over in any_map()) {
            let before = crate::nodes::to_value(&crate::nodes::from_value(&base, ccm_model::Span::default()));
            merged(deep, &base, &over);
            prop_assert!(same(&base, &before));
        }
    }
}
