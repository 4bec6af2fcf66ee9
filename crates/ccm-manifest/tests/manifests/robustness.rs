//! No text makes the loader panic, and what it says has a place in the text.

use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::fake::loaded;

const SAMPLE: &str = "\
ccm:
  name: sample
  fail_on_error: true
  resources:
    - task:
        - defaults: {command: \"echo ${HOME}\", provider: shell}
        - reload:
            alias: again
            refreshonly: true
            environment: {A: b, C: \"{{ d }}\"}
            subscribe: [note#motd, task#again]
        - /bin/true:
    - note: {name: motd, text: 5, require: [task#/bin/true]}
    - file:
        - /etc/motd: {ensure: present}
";

/// Words that mean something somewhere.
fn word() -> impl Strategy<Value = String> {
    let known = [
        "ccm",
        "resources",
        "data",
        "name",
        "task",
        "note",
        "file",
        "tsak",
        "defaults",
        "alias",
        "ensure",
        "provider",
        "require",
        "subscribe",
        "control",
        "command",
        "refresh_only",
        "refreshonly",
        "user",
        "shell",
        "present",
        "task#a",
        "note#a",
        "#",
        "a",
        "{{ x }}",
        "${HOME}",
        "${",
        "\\${",
        "",
        " ",
        "a:b",
        "null",
    ];
    prop::sample::select(known.to_vec()).prop_map(str::to_owned)
}

/// Any tree, as JSON: that is YAML, too.
fn tree() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        word().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(6, 60, 5, |inner| {
        let map = prop::collection::vec((word(), inner.clone()), 0..5);
        prop_oneof![
            prop::collection::vec(inner, 0..5).prop_map(Value::from),
            map.prop_map(|entries| Value::Object(Map::from_iter(entries))),
        ]
    })
}

fn survives(text: &str) -> Result<(), TestCaseError> {
    for diagnostic in loaded(text).diagnostics {
        let span = diagnostic.span().expect("a place");
        prop_assert!(text.get(span.range()).is_some(), "{diagnostic:?}");
        prop_assert!(!diagnostic.message.contains('\n'), "{diagnostic:?}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_tree_is_survived(tree in tree()) {
        survives(&tree.to_string())?;
    }

    #[test]
    fn any_tree_below_resources_is_survived(tree in tree()) {
        survives(&format!("ccm: {{resources: {tree}}}"))?;
        survives(&format!("ccm: {{resources: [{{task: {tree}}}]}}"))?;
        survives(&format!("ccm: {{resources: [{{task: [{{a: {tree}}}]}}]}}"))?;
    }

    #[test]
    fn a_manifest_with_lines_lost_moved_and_indented_is_survived(
        edits in prop::collection::vec((0..15_usize, 0..15_usize, 0..4_u8), 1..6),
    ) {
        let mut lines: Vec<String> = SAMPLE.lines().map(str::to_owned).collect();
        for (from, to, edit) in edits {
            let (from, to) = (from % lines.len(), to % lines.len());
            match edit {
                0 if lines.len() > 1 => drop(lines.remove(from)),
                1 => lines.swap(from, to),
                2 => lines[from].insert_str(0, "  "),
                _ => lines[from] = lines[from].trim_start_matches("  ").to_owned(),
            }
        }
        survives(&lines.join("\n"))?;
    }

    #[test]
    fn a_manifest_with_characters_lost_and_added_is_survived(
        edits in prop::collection::vec((0..SAMPLE.len(), r"[-:{}\[\]$\\#, a'\n]?"), 1..6),
    ) {
        let mut text = SAMPLE.to_owned();
        for (at, instead) in edits {
            let at = at.min(text.len().saturating_sub(1));
            text.replace_range(at..=at, &instead);
        }
        survives(&text)?;
    }
}
