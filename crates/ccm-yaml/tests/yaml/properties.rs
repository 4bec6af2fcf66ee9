//! Properties of every text.

use ccm_model::{Diagnostic, Node, NodeValue, Span};
use proptest::prelude::*;

use crate::random_tree::{config, layouts, random_trees};
use crate::render::{read, show};

/// Manifest with most of the syntax.
pub(crate) const MANIFEST: &str = r#"# comment
data: &data {port: 8080, "hosts": [a, 'b', *nothing]}
ccm:
  name: "exämple"   # why
  resources:
    - file:
        - defaults: {owner: root, mode: "0644"}
        - /etc/app/config.yaml:
            content: |
              port = {{ port }}

              end
            ensure: !!str present
    - exec:
      - reload-app: &reload
          command: >-
            systemctl
            reload app
          refresh_only: true
          subscribe: [file#/etc/app/config.yaml]
      - again: *reload
      - "{{ name }}":
          onlyif: 'test -e /x && echo "it''s"'
          timeout: 30s
          environment:
"#;

/// Checks that spans lie in the text, on character boundaries, and that inner nodes lie in outer ones.
fn check_spans(text: &str, result: &Result<Option<Node>, Vec<Diagnostic>>) {
    let exists = |span: Span| assert!(text.get(span.range()).is_some(), "{span:?} of {text:?}");
    match result {
        Ok(None) => {}
        Ok(Some(node)) => check_node(text, node, text.contains('*')),
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "{text:?}");
            for diagnostic in diagnostics {
                assert!(diagnostic.span().is_some(), "{diagnostic:?}");
                diagnostic.labels.iter().for_each(|label| exists(label.span));
                let message = &diagnostic.message;
                assert!(
                    !message.is_empty() && !message.ends_with('.') && !message.contains('\n'),
                    "{message}"
                );
            }
        }
    }
}

fn check_node(text: &str, node: &Node, has_aliases: bool) {
    let written = text.get(node.span.range()).unwrap_or_else(|| panic!("{:?} of {text:?}", node.span));
    let inside = |span: Span| {
        assert!(has_aliases || node.span.contains(span), "{span:?} in {:?} of {text:?}", node.span);
    };
    match &node.value {
        NodeValue::Scalar(_) => {}
        NodeValue::List(list) => {
            assert!(written.starts_with(['[', '-']), "{written:?} of {text:?}");
            for element in list {
                inside(element.span);
                check_node(text, element, has_aliases);
            }
        }
        NodeValue::Map(map) => {
            for entry in map.entries() {
                inside(entry.key.span);
                inside(entry.value.span);
                assert!(text.get(entry.key.span.range()).is_some());
                check_node(text, &entry.value, has_aliases);
            }
        }
    }
    if !matches!(node.value, NodeValue::Scalar(_)) {
        assert!(!written.starts_with([' ', '\t', '\r', '\n']), "{written:?} of {text:?}");
        let last_line = written.rsplit(['\r', '\n']).next().unwrap_or_default();
        assert!(!last_line.trim_matches([' ', '\t']).is_empty(), "{written:?} of {text:?}");
    }
}

/// Change to a text.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Remove { at: prop::sample::Index, length: usize },
    Insert { at: prop::sample::Index, what: String },
    Repeat { from: prop::sample::Index, length: usize, at: prop::sample::Index },
}

/// Random changes to a text, most of which break it.
pub(crate) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let at = any::<prop::sample::Index>;
    let edit = prop_oneof![
        (at(), 1..12_usize).prop_map(|(at, length)| Edit::Remove { at, length }),
        (at(), "[\\x00\t\r\n :#'\"{}\\[\\],&*!|>%@`?~\\\\\u{feff}\u{85}ä-]{1,3}|- |: |<<: |\\{\\{|&data|\\*data|\n---\n|\n  ")
            .prop_map(|(at, what)| Edit::Insert { at, what }),
        (at(), 1..60_usize, at()).prop_map(|(from, length, at)| Edit::Repeat { from, length, at }),
    ];
    prop::collection::vec(edit, 1..6)
}

/// Applies changes to a text.
pub(crate) fn apply(edits: &[Edit], text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for edit in edits {
        let count = characters.len();
        let range = |at: &prop::sample::Index, length: usize| {
            let start = at.index(count.max(1)).min(count);
            start..(start + length).min(count)
        };
        match edit {
            Edit::Remove { at, length } => {
                characters.drain(range(at, *length));
            }
            Edit::Insert { at, what } => {
                let at = range(at, 0).start;
                characters.splice(at..at, what.chars());
            }
            Edit::Repeat { from, length, at } => {
                let repeated = characters[range(from, *length)].to_vec();
                let at = range(at, 0).start;
                characters.splice(at..at, repeated);
            }
        }
    }
    characters.into_iter().collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_text_ends_in_a_tree_or_errors(text in "\\PC{0,40}|(?s).{0,40}") {
        check_spans(&text, &read(&text));
    }

    #[test]
    fn any_yaml_like_text_ends_in_a_tree_or_errors(
        text in "([ab0ä~]|[ \n]|[ \n]|  |\n  |- |: |:|-|[\\[\\]{},?!&*|>'\"%@`#\\\\.<\t\r\\x00\u{feff}\u{85}]|&a |\\*a|!!str |!!int |---\n|\\.\\.\\.\n|\\|\n  ){0,30}"
    ) {
        check_spans(&text, &read(&text));
    }

    #[test]
    fn any_mutated_manifest_ends_in_a_tree_or_errors(edits in edits()) {
        let text = apply(&edits, MANIFEST);
        check_spans(&text, &read(&text));
    }

    #[test]
    fn written_trees_are_read_back(tree in random_trees(), layout in layouts()) {
        let text = layout.write(&tree);
        let result = read(&text);
        check_spans(&text, &result);
        let shown = result.map(|node| node.map_or_else(String::new, |node| show(&node)));
        prop_assert_eq!(shown, Ok(tree.expected(false)), "{}", text);
    }
}
