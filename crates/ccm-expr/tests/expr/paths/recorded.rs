//! Paths with the results of the reference implementation.

use serde_json::Value as Json;

use ccm_expr::Value;
use ccm_expr::path::Path;

/// Intended differences, with the reason.
const DIFFERENT: [(&str, &str); 1] = [(
    "..age",
    "a value is not JSON Lines: nothing could ever be found, so the path is refused with the reason",
)];

#[test]
fn recorded_paths_find_the_same() {
    let mut lines =
        include_str!("vectors.jsonl").lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let root = Value::from(lines.next().unwrap()["doc"].clone());
    let mut seen = 0;
    for line in lines {
        seen += 1;
        let path = line["path"].as_str().unwrap();
        if let Some((_, reason)) = DIFFERENT.iter().find(|(different, _)| *different == path) {
            assert!(Path::parse(path).is_err(), "{path}: {reason}");
            continue;
        }
        let found = super::find(path, &root);
        let expected = line.get("value").cloned();
        match (&found, &expected) {
            (Some(found), Some(expected)) if same(found, expected) => {}
            (None, None) => assert_eq!(line["missing"], true, "{path}"),
            (found, expected) => panic!("{path}: {found:?}, not {expected:?}"),
        }
    }
    assert_eq!(seen, 48);
}

/// Compares with a recorded value, in which all numbers are floats and keys have no order.
fn same(found: &Value, expected: &Json) -> bool {
    match (found, expected) {
        (Value::Null, Json::Null) => true,
        (Value::Bool(found), Json::Bool(expected)) => found == expected,
        (Value::Int(found), Json::Number(expected)) => expected.as_i64() == Some(*found),
        (Value::Float(found), Json::Number(expected)) => expected.as_f64() == Some(*found),
        (Value::Text(found), Json::String(expected)) => **found == **expected,
        (Value::List(found), Json::Array(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected).all(|(found, expected)| same(found, expected))
        }
        (Value::Map(found), Json::Object(expected)) => {
            found.len() == expected.len()
                && found
                    .iter()
                    .all(|(key, found)| expected.get(&**key).is_some_and(|expected| same(found, expected)))
        }
        _ => false,
    }
}
