//! No text makes the loader panic, and every diagnostic has a valid location.

use ccm_model::DiagnosticKind;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::fake::{line, loaded};
use crate::machine::Machine;

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

/// Generates words with a meaning in manifests.
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

/// Generates trees as JSON, which is valid YAML.
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

/// Returns a text with lines removed, moved and indented.
fn edited(text: &str, edits: &[(usize, usize, u8)]) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for (from, to, edit) in edits {
        let (from, to) = (from % lines.len(), to % lines.len());
        match edit {
            0 if lines.len() > 1 => drop(lines.remove(from)),
            1 => lines.swap(from, to),
            2 => lines[from].insert_str(0, "  "),
            _ => {
                let outdented = lines[from].trim_start_matches("  ").to_owned();
                lines[from] = outdented;
            }
        }
    }
    lines.join("\n")
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
        survives(&edited(SAMPLE, &edits))?;
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

const WITH_VALUES: &str = "\
data:
  # @require
  site: here
  # @validate isInt(value) && value > 1
  count: 5
  of_facts: '{{ Facts.role }}-${ Environ.STAGE }'
hierarchy:
  merge: deep
  order: ['role:{{ Facts.role }}', \"{{ lookup('facts.gone') }}\", all]
overrides:
  'role:web': {count: '{{ 5 + 1 }}'}
  all: {list: [1, 2]}
ccm:
  name: '{{ Data.site }}'
  fail_on_error: '{{ Data.count > 3 }}'
  resources:
    - task:
        - defaults: {command: 'echo {{ Data.site }} \\${x}', timeout: '{{ Data.count }}'}
        - 'say-{{ Facts.role }}':
            provider: shell
            args: '{{ Data.list | map(string(#)) }}'
            control: {if: \"Facts.role == 'web'\", unless: \"file('/x') == 'no'\"}
            environment: {'{{ Facts.role }}': '{{ file(\"/x\") }}'}
    - copy:
        - /x: {source: t.j2}
        - /y: {content: \"{{ template('t.j2') }}{{ file('/x') }}\", require: ['copy#{{ \"/x\" }}']}
    - apply:
        - c.yaml: {noop: '{{ true }}', data: {a: '{{ Data.list }}'}}
";

fn machine() -> Machine {
    Machine::with_facts("{role: web, evil: '{{ x }} ${ y }'}")
        .variable("STAGE", "prod")
        .file("t.j2", "{{ Facts.role }} {% for item in Data.list %}{{ item }}{% endfor %}")
        .file("c.yaml", "ccm: {resources: [note: ['{{ Data.a | len() }}': {text: '{{ Facts.evil }}'}]]}")
        .file("/x", "x")
}

/// Loads a manifest twice, and checks that both results are equal, that the resources can be completed, and
/// that all diagnostics have valid locations.
fn survives_with_values(text: &str) -> Result<(), TestCaseError> {
    let machine = machine();
    let loaded = machine.load(text);
    let texts = loaded.texts();
    for diagnostic in &loaded.diagnostics {
        for label in &diagnostic.labels {
            let source = texts.get(label.span.source).expect("a text");
            prop_assert!(source.text.get(label.span.range()).is_some(), "{diagnostic:?}");
        }
        prop_assert!(!diagnostic.message.contains('\n'), "{diagnostic:?}");
    }
    if let Some(catalog) = &loaded.catalog {
        for index in catalog.indices() {
            loaded.late.complete(index, catalog.resource(index), &|_| false);
        }
    }
    let again = self::machine();
    let again = again.load(text);
    let lines = |loaded: &ccm_manifest::LoadResult<'_>| -> Vec<String> {
        loaded.diagnostics.iter().map(|found| line(found, &loaded.texts())).collect()
    };
    prop_assert_eq!(lines(&loaded), lines(&again));
    prop_assert_eq!(loaded.catalog, again.catalog);
    Ok(())
}

#[test]
fn the_sample_with_values_has_no_error() {
    assert_eq!(machine().catalog(WITH_VALUES).resources.len(), 5);
}

proptest! {
    #[test]
    fn values_with_lines_lost_moved_and_indented_are_survived(
        edits in prop::collection::vec((0..32_usize, 0..32_usize, 0..4_u8), 1..5),
    ) {
        survives_with_values(&edited(WITH_VALUES, &edits))?;
    }

    #[test]
    fn values_with_characters_lost_and_added_are_survived(
        edits in prop::collection::vec((0..WITH_VALUES.len(), r"[-:{}\[\]$\\#, a'\n.|()ä]?"), 1..5),
    ) {
        let mut text = WITH_VALUES.to_owned();
        for (at, instead) in edits {
            let mut at = at.min(text.len().saturating_sub(1));
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let end = at + text[at..].chars().next().map_or(0, char::len_utf8);
            text.replace_range(at..end, &instead);
        }
        survives_with_values(&text)?;
    }

    #[test]
    fn any_text_in_braces_is_survived(inner in r"[A-Za-z.()'\[\]{}|+?:, 0-9#$\n]{0,30}") {
        let quoted = Value::from(format!("{{{{ {inner} }}}}"));
        survives_with_values(&format!("data: {{a: {quoted}}}\nccm: {{resources: [task: [{quoted}: {{command: {quoted}, timeout: {quoted}}}]]}}"))?;
    }
}

#[test]
fn the_number_of_errors_is_limited() {
    let resources: Vec<String> =
        (0..12_000).map(|number| format!("    - note: {{name: n{number}, txt: 1}}\n")).collect();
    let found = loaded(&format!("ccm:\n  resources:\n{}", resources.concat())).diagnostics;
    assert_eq!(found.len(), 10_001);
    assert_eq!(found.last().expect("an error").kind, DiagnosticKind::LimitExceeded);
    // The limit counts errors anywhere, and errors in shared defaults only once.
    let many = |line: &dyn Fn(usize) -> String| (0..12_000).map(line).collect::<Vec<_>>().concat();
    for text in [
        many(&|number| format!("key{number}: 1\n")),
        format!("ccm:\n{}", many(&|number| format!("  key{number}: 1\n"))),
        format!("ccm:\n  resources:\n{}", many(&|number| format!("    - unheard{number}: [a: ]\n"))),
        format!(
            "ccm: {{resources: [{{note: [a: ]}}]}}\nhierarchy:\n  order:\n{}",
            many(&|_| "    - []\n".to_owned())
        ),
    ] {
        let found = loaded(&text).diagnostics;
        assert_eq!(found.len(), 10_001, "{text:.200}");
        assert_eq!(found.last().expect("an error").kind, DiagnosticKind::LimitExceeded);
    }
    let hiera = many(&|number| format!("key{number}: 1\n"));
    let found = Machine::with_facts("{}")
        .hiera("more.yaml", &hiera)
        .load("ccm: {resources: [{note: [a: ]}]}")
        .diagnostics;
    assert_eq!(found.len(), 10_001);
    let shared = many(&|number| format!("        - n{number}:\n"));
    let found = loaded(&format!("ccm:\n  resources:\n    - note:\n        - defaults: {{txt: 1}}\n{shared}"))
        .diagnostics;
    assert_eq!(found.len(), 1, "{:?}", found.last());
}
