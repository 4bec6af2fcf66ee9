//! YAML: spans lie in the text, a written document is read back equal, and both parsers agree.

use ccm_model::{Node, NodeValue, ScalarKind, ScalarStyle, SourceMap};
use ccm_yaml::{Limits, YamlValue, parse, parse_any, parse_fast, write};

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

const SMALL: Limits = Limits { depth: 40, nodes: 20_000, repeated: 20_000 };

pub(super) fn run(input: &[u8]) {
    let text = super::text(input);
    let mut texts = SourceMap::default();
    let source = texts.add("a.yaml", &*text);
    if let Some(root) = parse_fast(source, &text, &SMALL) {
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
        Err(errors) => {
            assert!(!errors.is_empty() && errors.len() <= 1000);
            super::spans::check(&errors, &texts);
        }
    }
}

/// Counts the nodes, and checks that their spans lie in the text.
fn check(node: &Node, text: &str) -> usize {
    assert!(text.get(node.span.range()).is_some(), "{node:?}");
    1 + match &node.value {
        NodeValue::Scalar(_) => 0,
        NodeValue::List(elements) => elements.iter().map(|element| check(element, text)).sum(),
        NodeValue::Map(map) => {
            let entry = |entry: &ccm_model::NodeEntry| {
                assert!(text.get(entry.key.span.range()).is_some(), "{entry:?}");
                check(&entry.value, text)
            };
            map.entries().iter().map(entry).sum()
        }
    }
}

fn written(node: &Node) -> YamlValue {
    match &node.value {
        NodeValue::Scalar(scalar)
            if scalar.style == ScalarStyle::Plain && scalar.kind() != ScalarKind::Text =>
        {
            YamlValue::Plain(scalar.text.to_string())
        }
        NodeValue::Scalar(scalar) => YamlValue::Text(scalar.text.to_string()),
        NodeValue::List(elements) => YamlValue::List(elements.iter().map(written).collect()),
        NodeValue::Map(map) => YamlValue::Map(
            map.entries().iter().map(|entry| (entry.key.text.to_string(), written(&entry.value))).collect(),
        ),
    }
}

fn is_same(one: &Node, other: &Node) -> bool {
    match (&one.value, &other.value) {
        (NodeValue::Scalar(one), NodeValue::Scalar(other)) => {
            one.text == other.text
                && (one.kind() == other.kind()
                    || format!("{:?}", one.kind()) == format!("{:?}", other.kind()))
        }
        (NodeValue::List(one), NodeValue::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (NodeValue::Map(one), NodeValue::Map(other)) => {
            let (one, other) = (one.entries(), other.entries());
            let same = |(one, other): (&ccm_model::NodeEntry, &ccm_model::NodeEntry)| {
                one.key.text == other.key.text && is_same(&one.value, &other.value)
            };
            one.len() == other.len() && one.iter().zip(other).all(same)
        }
        _ => false,
    }
}
