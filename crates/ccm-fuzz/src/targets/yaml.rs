//! YAML: what is read lies where it says, is read again once it is written, and is the same by either reading.

use ccm_model::{Kind, Node, ScalarStyle, SourceMap, Value};
use ccm_yaml::{Limits, Written, parse, parse_any, parse_usual, write};

pub(super) const WORDS: &[&str] = &[
    "a: ",
    "- ",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "!!int ",
    "!x ",
    "|\n  ",
    ">-\n  ",
    "'a'",
    "\"\\x41\"",
    "\"\\u",
    "? a\n: b\n",
    "{a: b}",
    "[a, b]",
    "---\n",
    "...\n",
    "%TAG ! x\n",
    "# c\n",
    "yes",
    "0644",
    "~",
    "1:30",
    "{{ x }}",
];

const SMALL: Limits = Limits { depth: 40, nodes: 20_000 };

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    let mut texts = SourceMap::default();
    let source = texts.add("a.yaml", &*text);
    if let Some(root) = parse_usual(source, &text, &SMALL) {
        assert_eq!(parse_any(source, &text, &SMALL), Ok(Some(root)), "{text:?}");
    }
    match parse(source, &text, &SMALL) {
        Ok(None) => {}
        Ok(Some(root)) => {
            assert!(check(&root, &text) <= SMALL.nodes);
            let written = write(&written(&root));
            let again =
                parse(source, &written, &SMALL).unwrap_or_else(|found| panic!("{written}\n{found:?}"));
            assert!(again.is_some_and(|again| is_same(&root, &again)), "{written}");
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty() && mistakes.len() <= 1000);
            super::spans::check(&mistakes, &texts);
        }
    }
}

/// Counts the nodes, whose places have to lie in the text.
fn check(node: &Node, text: &str) -> usize {
    assert!(text.get(node.span.range()).is_some(), "{node:?}");
    1 + match &node.value {
        Value::Scalar(_) => 0,
        Value::List(elements) => elements.iter().map(|element| check(element, text)).sum(),
        Value::Map(map) => {
            let entry = |entry: &ccm_model::Entry| {
                assert!(text.get(entry.key.span.range()).is_some(), "{entry:?}");
                check(&entry.value, text)
            };
            map.entries().iter().map(entry).sum()
        }
    }
}

fn written(node: &Node) -> Written {
    match &node.value {
        Value::Scalar(scalar) if scalar.style == ScalarStyle::Plain && scalar.kind() != Kind::Text => {
            Written::Plain(scalar.text.to_string())
        }
        Value::Scalar(scalar) => Written::Text(scalar.text.to_string()),
        Value::List(elements) => Written::List(elements.iter().map(written).collect()),
        Value::Map(map) => Written::Map(
            map.entries().iter().map(|entry| (entry.key.text.to_string(), written(&entry.value))).collect(),
        ),
    }
}

fn is_same(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (Value::Scalar(one), Value::Scalar(other)) => {
            one.text == other.text
                && (one.kind() == other.kind()
                    || format!("{:?}", one.kind()) == format!("{:?}", other.kind()))
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Map(one), Value::Map(other)) => {
            let (one, other) = (one.entries(), other.entries());
            let same = |(one, other): (&ccm_model::Entry, &ccm_model::Entry)| {
                one.key.text == other.key.text && is_same(&one.value, &other.value)
            };
            one.len() == other.len() && one.iter().zip(other).all(same)
        }
        _ => false,
    }
}
