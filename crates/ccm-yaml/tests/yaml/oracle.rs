//! Equal values from another reader, for syntax that both interpret alike.

use ccm_model::{Node, NodeValue, ScalarKind};
use proptest::prelude::*;
use serde_yaml::Value as Other;

use crate::random_tree::{config, layouts, random_trees};
use crate::render::read;

fn value(node: &Node) -> Other {
    match &node.value {
        NodeValue::Scalar(scalar) => match scalar.kind() {
            ScalarKind::Null => Other::Null,
            ScalarKind::Bool(value) => Other::Bool(value),
            ScalarKind::Int(value) => Other::Number(value.into()),
            ScalarKind::Float(value) => Other::Number(value.into()),
            ScalarKind::Text => Other::String(scalar.text.to_string()),
        },
        NodeValue::List(list) => Other::Sequence(list.iter().map(value).collect()),
        NodeValue::Map(map) => {
            let entries = map.entries().iter();
            Other::Mapping(
                entries
                    .map(|entry| (Other::String(entry.key.text.to_string()), value(&entry.value)))
                    .collect(),
            )
        }
    }
}

/// ccm's keys are always text.
fn with_text_keys(other: Other) -> Other {
    match other {
        Other::Sequence(elements) => Other::Sequence(elements.into_iter().map(with_text_keys).collect()),
        Other::Mapping(entries) => {
            let entries = entries.into_iter().map(|(key, value)| {
                let key = match key {
                    Other::Number(number) => Other::String(number.to_string()),
                    key => key,
                };
                (key, with_text_keys(value))
            });
            Other::Mapping(entries.collect())
        }
        other => other,
    }
}

fn compare(text: &str) {
    let ours = read(text).expect(text).map_or(Other::Null, |node| value(&node));
    // The other reader refuses a byte order mark.
    let theirs: Other = serde_yaml::from_str(text.trim_start_matches('\u{feff}')).expect(text);
    assert_eq!(ours, with_text_keys(theirs), "{text:?}");
}

#[test]
fn documents_hold_the_same_values() {
    for text in [
        "a: b\nc:\n  - d\n  - 1\n  - 1.5\n  - true\n  - ~\n",
        "a: x\n  y\n\n\n  z\nb: 'x\n\n  y'\nc: \"x\\\n  y\"\n",
        "a: >\n  one\n  two\n\n  three\n    deeper\n  four\n\n\nb: >-\n  x\n\n\nc: >+\n  x\n\n\nd: e\n",
        "a: |\n\n  x\n\n    y\n\n\nb: |-\n  x\n\nc: |+\n  x\n\nd: |1\n   x\n",
        "a: |\n  x\n  y",
        "a: |+\n  x",
        "a: |-\n  x",
        "a: >\n  x\n  y",
        "a: |\n  x\n  ",
        "a: |\n  x\n\n",
        "a:\n  - >-\n    x\n    y",
        "a: \"\\x41\\u00e4\\U0001F600\\n\\t\\e\\0\\\"\\\\\\/\\_\"\n",
        "[a, [b, {c: d}], {e: f, g: [h]}]",
        "{a: [1, 2], b: {c: d}, e: , f}",
        "- - - a\n    - b\n  - c\n- - d\n",
        "a: &x {b: [1, 2]}\nc: *x\nd: [*x, *x]\n",
        "? a\n: b\n? c\n: - d\n",
        "- a: b\n  c: d\n-\n  e: f\n- g\n",
        "a: http://b:80/c#d\nb: -x\nc: x-y\nd: 'a: b'\n",
        "%YAML 1.2\n---\na: b # c\n...\n",
        "a: 0x1f\nb: 0o17\nc: .5\nd: 1e3\ne: -.inf\nf: 0\ng: -0.5\n",
        "a: yes\nb: no\nc: on\nd: 1:30\ne: 2024-01-01\nf: y\n",
        "a: !!str 5\nb: !!str true\n",
    ] {
        compare(text);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn random_documents_hold_the_same_values(tree in random_trees(), layout in layouts()) {
        compare(&layout.write(&tree));
    }
}
