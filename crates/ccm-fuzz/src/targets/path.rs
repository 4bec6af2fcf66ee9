//! Paths of `lookup`.

use std::sync::LazyLock;

use ccm_expr::Value;
use ccm_expr::path::{Path, escape};
use serde_json::json;

pub(super) const WORDS: &[&str] = &[
    "friends",
    ".#",
    "#(age>40)",
    "#(",
    ")#",
    "|@reverse",
    "@flatten:{\"deep\":true}",
    "@join",
    "@group",
    "@tostr",
    "@fromstr",
    "@pretty",
    "@dig:",
    "[",
    "{\"a\":",
    "*",
    "?",
    "\\",
    "..",
    "~true",
    "!",
    "%\"*a\"",
    "!%",
    "==",
    "first",
];

static ROOT: LazyLock<Value> = LazyLock::new(|| {
    Value::from(json!({
        "name": {"first": "Tom", "last": "Anderson"}, "age": 37, "children": ["Sara", "Alex", "Jack"],
        "fav.movie": "Deer Hunter", "empty": {}, "nothing": null, "uni": "héllo 😀", "big": 1e300,
        "friends": [
            {"first": "Dale", "age": 44, "nets": ["ig", "fb"]}, {"first": "Roger", "age": 68, "nets": []},
            {"first": "Jane", "age": 47, "more": {"a": [1, [2, [3]]]}}
        ],
    }))
});

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    let key = escape(&text);
    if key.len() < 1 << 12 {
        let found = Path::parse(&key).map(|path| path.find(&Value::map([(&*text, Value::Bool(true))])));
        assert!(matches!(found, Ok(Ok(Some(Value::Bool(true))))), "{key:?}: {found:?}");
    }
    match Path::parse(&text) {
        Ok(path) => {
            assert_eq!(path.text(), text);
            if let Ok(Some(found)) = path.find(&ROOT) {
                assert!(found.footprint() < 256 << 20, "{} bytes", found.footprint());
            }
            path.constant_prefix();
            path.closest(&ROOT);
        }
        Err(error) => {
            assert!(text.get(error.range.clone()).is_some(), "{error:?}");
            assert!(!error.message.is_empty() && error.message.len() < 4 << 10, "{error:?}");
        }
    }
}
