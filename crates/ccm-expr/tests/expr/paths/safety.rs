//! No path panics, hangs, or takes unbounded memory.

use proptest::prelude::*;

use ccm_expr::Value;
use ccm_expr::path::{Path, PathLimit, escape};

use super::{find, value};

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_map(Value::Float),
        "[a-c*é\"{\\\\]{0,3}".prop_map(Value::text),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::list),
            prop::collection::vec(("[a-c.#@*é]{0,2}", inner), 0..5).prop_map(Value::map),
        ]
    })
}

/// Random paths built from the tokens of the syntax.
fn paths() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "b",
        "c",
        "é",
        "*",
        "?",
        ".",
        "|",
        "#",
        "#(",
        "#[",
        ")",
        "]",
        "{",
        "}",
        "[",
        ",",
        ":",
        "\"",
        "\\",
        "!",
        "@",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "%",
        "!%",
        "~true",
        "~*",
        "0",
        "1",
        "@reverse",
        "@flatten",
        "@dig:",
        "@tostr",
        "@fromstr",
        "@group",
        "@join",
        "@keys",
        "@values",
        "@pretty",
        "@ugly",
        ":{\"deep\":true}",
        "!5",
        "!\"x\"",
        " ",
    ]);
    prop::collection::vec(pieces, 0..14).prop_map(|pieces| pieces.concat())
}

fn find_any(path: &str, root: &Value) {
    match Path::parse(path) {
        Ok(parsed) => {
            let _ = parsed.find(root);
            let _ = parsed.closest(root);
            let _ = parsed.constant_prefix();
        }
        Err(error) => {
            assert!(path.get(error.range.clone()).is_some(), "{path:?}: {error:?}");
            assert!(!error.message.is_empty());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_path_or_an_error(text in any::<String>(), root in values()) {
        find_any(&text, &root);
    }

    #[test]
    fn any_mixture_of_tokens_is_a_path_or_an_error(text in paths(), root in values()) {
        find_any(&text, &root);
    }

    #[test]
    fn any_key_is_found_by_its_escaped_name(name in any::<String>(), outer in "[a-z]{1,3}") {
        let inner = Value::map([(&*name, Value::Int(1))]);
        let root = Value::map([(&*outer, inner)]);
        let path = format!("{outer}.{}", escape(&name));
        prop_assert!(matches!(find(&path, &root), Some(Value::Int(1))), "{path:?}");
        prop_assert_eq!(Path::parse(&path).unwrap().constant_prefix(), [outer, name]);
    }

    #[test]
    fn inverse_modifiers_restore_the_value(root in values()) {
        // NaN has no JSON and is not equal to itself.
        let before = format!("{root:?}");
        prop_assume!(!before.contains("NaN") && !before.contains("inf"));
        for path in ["@reverse.@reverse", "@this", "@ugly.@pretty"] {
            prop_assert_eq!(format!("{:?}", find(path, &root).unwrap()), before.clone(), "{}", path);
        }
        if !matches!(root, Value::Null) {
            for path in ["@tostr.@fromstr", "@pretty.@tostr.@fromstr", "@ugly|@tostr|@fromstr"] {
                prop_assert_eq!(format!("{:?}", find(path, &root).unwrap()), before.clone(), "{}", path);
            }
        }
    }
}

#[test]
fn nesting_is_limited() {
    for (open, close) in [("[", "]"), ("{", "}"), ("a.#(", ")"), ("#.", ""), ("@dig:", ""), ("a.#(b)#.", "")]
    {
        let path = |depth: usize| open.repeat(depth) + "a" + &close.repeat(depth);
        assert!(Path::parse(&path(60)).is_ok(), "{open}");
        let error = Path::parse(&path(5_000)).unwrap_err();
        assert_eq!(error.message, "paths can't be nested deeper than 64 levels", "{open}");
    }
    assert_eq!(
        Path::parse(&"a".repeat(100_000)).unwrap_err().message,
        "a path can't be longer than 65536 bytes"
    );
}

#[test]
fn many_parts_need_no_stack() {
    let root = value(r#"{"a": 1}"#);
    assert!(find(&"a.".repeat(30_000), &root).is_none());
    assert!(find(&"*.".repeat(30_000), &root).is_none());
    assert!(find(&"@this|".repeat(10_000), &root).is_none());
}

#[test]
fn exponential_paths_hit_a_limit() {
    let root = value(r#"{"a": {"b": "text"}}"#);
    for (path, expected) in [
        ("[@this,@this]".to_owned() + &"|[@this,@this]".repeat(60), PathLimit::Steps),
        ("{a,\"x\":@this}".to_owned() + &"|{\"x\":@this,\"y\":@this}".repeat(60), PathLimit::Steps),
        ("@this".to_owned() + &"|[@this]".repeat(5_000), PathLimit::Depth),
        ("@this".to_owned() + &"|@tostr".repeat(60), PathLimit::Text),
        ("[@this,@this]".to_owned() + &"|[@this,@this]|@flatten".repeat(60), PathLimit::Steps),
        (
            "[@this,@this]".to_owned() + &"|[@this,@this]|@flatten:{\"deep\":true}".repeat(60),
            PathLimit::Steps,
        ),
        (format!("[{}]|{}@this", "@this,".repeat(1_000), "@dig:".repeat(40)), PathLimit::Steps),
    ] {
        assert_eq!(Path::parse(&path).unwrap().find(&root).unwrap_err(), expected, "{}", &path[..40]);
    }
}

#[test]
fn wildcards_take_polynomial_time() {
    let names = |prefix: &str| (0..8).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>();
    let mut root = Value::Int(1);
    // Shared values: a dozen maps with 8^12 ways through them.
    for _ in 0..12 {
        root = Value::map(names("a").into_iter().map(|name| (name, root.clone())));
    }
    let path = Path::parse(&("*.".repeat(12) + "none")).unwrap();
    assert_eq!(path.find(&root).unwrap_err(), PathLimit::Steps);

    let long = Value::map([("a".repeat(100_000), Value::Int(1))]);
    let path = Path::parse(&("*a".repeat(10_000) + "b")).unwrap();
    assert_eq!(path.find(&long).unwrap_err(), PathLimit::Steps);
    let elements = Value::list([Value::text("a".repeat(100_000))]);
    let path = Path::parse(&format!("#(%\"{}b\")", "*a".repeat(10_000))).unwrap();
    assert_eq!(path.find(&elements).unwrap_err(), PathLimit::Steps);
}

#[test]
fn values_nested_too_deep_to_walk_are_refused() {
    let mut root = Value::Int(1);
    for _ in 0..1_000 {
        root = Value::list([root]);
    }
    for path in ["@tostr", "[@this]", "@flatten:{\"deep\":true}", "@pretty:{\"sortKeys\":true}"] {
        assert_eq!(Path::parse(path).unwrap().find(&root).unwrap_err(), PathLimit::Depth, "{path}");
    }
    assert!(matches!(find(&("0.".repeat(999) + "0"), &root), Some(Value::Int(1))));
}
