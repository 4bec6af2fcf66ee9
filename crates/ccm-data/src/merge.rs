//! Merging of values.

use std::sync::Arc;

use ccm_expr::Value;

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

/// Merges a map into a map, replacing whole keys.
pub fn shallow(base: &mut Value, over: &Value) {
    match (base, over) {
        (Value::Map(base), Value::Map(over)) => {
            let over = over.iter().map(|(key, value)| (Arc::clone(key), value.clone()));
            Arc::make_mut(base).extend(over);
        }
        (base, over) => *base = over.clone(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{any_map, same, value};

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
        fn a_shared_value_is_not_changed(base in any_map(), over in any_map()) {
            let before = crate::nodes::to_value(&crate::nodes::from_value(&base, ccm_model::Span::default()));
            merged(deep, &base, &over);
            prop_assert!(same(&base, &before));
        }
    }
}
