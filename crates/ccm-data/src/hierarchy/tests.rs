use ccm_model::{Diagnostic, Diagnostics, SourceId};

use super::*;
use crate::nodes::to_value;
use crate::testing::{line, node, same, value};

/// Reads `hierarchy: …`; formats each error as a [`line`].
fn hierarchy(text: &str) -> (Hierarchy, Vec<String>) {
    let root = node(text);
    let entry = root.as_map().expect("a map").entry("hierarchy").expect("a hierarchy");
    let mut diagnostics = Diagnostics::new();
    let hierarchy = read(&entry.key, &entry.value, &mut diagnostics);
    (hierarchy, shown(text, &diagnostics.into_vec()))
}

fn overrides(text: &str) -> (Overrides, Vec<String>) {
    let mut diagnostics = Diagnostics::new();
    let overrides = Overrides::read(&node(text), &mut diagnostics);
    (overrides, shown(text, &diagnostics.into_vec()))
}

fn shown(text: &str, diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(|diagnostic| line(text, diagnostic)).collect()
}

#[test]
fn a_hierarchy_is_parsed() {
    let (found, errors) = hierarchy("hierarchy:\n  order: ['os:{{ a }}', 5.10, default]\n  merge: deep");
    assert!(errors.is_empty());
    let order: Vec<&str> = found.order.iter().map(|entry| &*entry.text).collect();
    assert_eq!(order, ["os:{{ a }}", "5.10", "default"]);
    assert_eq!(found.merge, Merge::Deep);
    assert_eq!(found.data_dir, None);
    assert_eq!(found.order[0].span, Span::new(SourceId(0), 21, 33));
    let (found, errors) = hierarchy("hierarchy: {order: [a], data_dir: data}");
    assert_eq!((found.data_dir.map(|(path, _)| path), errors.len()), (Some("data".into()), 0));
    for (text, merge) in [
        ("hierarchy: {order: [a]}", Merge::First),
        ("hierarchy: {order: [a], merge: first}", Merge::First),
        ("hierarchy: {order: [a], merge: }", Merge::First),
        ("hierarchy: {order: }", Merge::First),
        ("hierarchy:", Merge::First),
    ] {
        let (found, errors) = hierarchy(text);
        assert_eq!((found.merge, errors.len()), (merge, 0), "{text}");
    }
}

#[test]
fn hierarchy_errors_are_reported() {
    for (text, expected) in [
        ("hierarchy: [a]", vec!["[a]: wrong-type | order:"]),
        ("hierarchy: deep", vec!["deep: wrong-type | hierarchy: {order: [NAME, …], merge: first}"]),
        ("hierarchy: {merge: deep}", vec!["hierarchy: missing | order: [NAME, …], overrides"]),
        ("hierarchy: {ordr: [a]}", vec!["ordr: unknown-key | order"]),
        ("hierarchy: {order: [a], banana: 1}", vec!["banana: unknown-key | order, merge, data_dir"]),
        ("hierarchy: {order: [a], datadir: x}", vec!["datadir: unknown-key | data_dir"]),
        ("hierarchy: {order: [a], data_dir: [x]}", vec!["[x]: wrong-type"]),
        ("hierarchy: {order: [a], data_dir: ''}", vec!["'': invalid-value | data_dir: data"]),
        (
            "hierarchy: {order: [a], data_dir: 'x/{{ Facts.a }}'}",
            vec!["'x/{{ Facts.a }}': invalid-value | order, a:b, a/b.yaml"],
        ),
        ("hierarchy: {order: [a], data_dir: \"a\\0\"}", vec!["\"a\\0\": invalid-value"]),
        ("hierarchy: {order: a, merge: depe}", vec!["a: wrong-type | - a", "depe: invalid-value | deep"]),
        (
            "hierarchy: {order: [a, [b], {c: 1}, '', ~], merge: [deep]}",
            vec![
                "[b]: wrong-type",
                "{c: 1}: wrong-type | \"c:1\"",
                "'': missing",
                "~: wrong-type",
                "[deep]: wrong-type",
            ],
        ),
    ] {
        assert_eq!(hierarchy(text).1, expected, "{text}");
    }
}

#[test]
fn overrides_are_maps_of_maps() {
    let (found, errors) = overrides("{'os:debian': {a: 1}, none: , 5.10: {b: 2}}");
    assert!(errors.is_empty());
    let names: Vec<&str> = found.iter().map(|found| &*found.key.text).collect();
    assert_eq!(names, ["os:debian", "5.10"]);
    assert!(found.get("os:debian").is_some() && found.get("none").is_none());
    for (text, expected) in [
        ("[a]", vec!["[a]: wrong-type | overrides: {NAME: {KEY: VALUE}}"]),
        ("{a: 1, b: [c], d: {e: 1}}", vec!["1: wrong-type (a)", "[c]: wrong-type (b)"]),
    ] {
        assert_eq!(overrides(text).1, expected, "{text}");
    }
}

#[test]
fn an_entry_is_empty_if_all_of_its_expressions_are() {
    let (nothing, empty, full) = (Value::Null, Value::text(""), Value::text("x"));
    let zero = Value::Int(0);
    for (name, yielded, expected) in [
        ("default", vec![], Some("default")),
        ("", vec![], None),
        ("os:", vec![&empty], None),
        ("os:", vec![&nothing], None),
        ("os::", vec![&nothing, &empty], None),
        ("os:x:", vec![&full, &empty], Some("os:x:")),
        ("os:0", vec![&zero], Some("os:0")),
    ] {
        let expected = expected.map_or(ExpandedEntry::Empty, |name| ExpandedEntry::Name(name.to_owned()));
        assert_eq!(ExpandedEntry::new(name.to_owned(), yielded.clone()), expected, "{name} {yielded:?}");
    }
}

fn abbreviated(outcome: &EntryOutcome) -> String {
    match outcome {
        EntryOutcome::Empty => "empty".to_owned(),
        EntryOutcome::NotFound { file: None, .. } => "none".to_owned(),
        EntryOutcome::NotFound { file: Some(file), .. } => format!("no-{file}"),
        EntryOutcome::Applied { sources, only_merged_keys, .. } => {
            let yes = if *only_merged_keys { "partly" } else { "yes" };
            let files = sources.iter().filter_map(|source| match source {
                ValueSource::File(name) => Some(name.as_str()),
                _ => None,
            });
            std::iter::once(yes).chain(files).collect::<Vec<_>>().join("-")
        }
        EntryOutcome::Repeated(_) => "again".to_owned(),
        EntryOutcome::NotReached(_) => "late".to_owned(),
        EntryOutcome::Invalid(_) => "invalid".to_owned(),
    }
}

/// Resolves an order, in which `-` is an empty entry, and abbreviates the outcomes.
fn resolved(merge: Merge, order: &[&str]) -> (String, Value, Vec<String>) {
    let (overrides, _) = overrides("{one: {a: 1, l: [1]}, two: {a: 2, b: {y: 2}, l: [2]}, three: {c: 3}}");
    let expanded: Vec<ExpandedEntry> = order
        .iter()
        .map(|name| if *name == "-" { ExpandedEntry::Empty } else { ExpandedEntry::Name((*name).to_owned()) })
        .collect();
    let data = value("{a: 0, b: {x: 0}, l: [0]}");
    let how = LevelMerges { default: merge, ..LevelMerges::default() };
    let selection = select::<()>(&how, &expanded, &overrides, &mut |_, _| LevelFile::NotRead);
    let overs: Vec<&Override> = selection.levels.iter().filter_map(|level| level.over).collect();
    let names: Vec<String> = overs.iter().map(|over| over.key.text.to_string()).collect();
    let level = |over: &&Override| vec![(ValueSource::Override(String::new()), to_value(&over.node))];
    let merged = layers(data, overs.iter().map(level).collect(), &how).merged();
    (selection.outcomes.iter().map(abbreviated).collect::<Vec<_>>().join(" "), merged, names)
}

#[test]
fn the_first_override_found_replaces_whole_keys() {
    for (order, outcomes, expected, applied) in [
        (vec![], "", "{a: 0, b: {x: 0}, l: [0]}", vec![]),
        (vec!["none", "-"], "none empty", "{a: 0, b: {x: 0}, l: [0]}", vec![]),
        (
            vec!["-", "none", "two", "one", "-", "two"],
            "empty none yes late late late",
            "{a: 2, b: {y: 2}, l: [2]}",
            vec!["two"],
        ),
    ] {
        let found = resolved(Merge::First, &order);
        assert_eq!(found.0, outcomes, "{order:?}");
        assert!(same(&found.1, &value(expected)), "{order:?}: {:?}", found.1);
        assert_eq!(found.2, applied, "{order:?}");
    }
}

#[test]
fn a_level_is_an_override_or_a_file_or_both() {
    let (overrides, _) = overrides("{one: {a: 1}, two: {a: 2}}");
    let one_key = LevelMerges { by_key: [("a".into(), LevelMerge::Deep)].into(), ..LevelMerges::default() };
    let deep = LevelMerges { default: Merge::Deep, ..LevelMerges::default() };
    for (merges, order, expected) in [
        (LevelMerges::default(), "none one two", "no-none.yaml yes-one.yaml late"),
        (LevelMerges::default(), "none three one", "no-none.yaml yes-three.yaml late"),
        (LevelMerges::default(), "broken one two", "invalid yes-one.yaml late"),
        (deep, "none two one three one", "no-none.yaml yes yes-one.yaml yes-three.yaml again"),
        (one_key, "two none one three", "yes no-none.yaml partly-one.yaml partly-three.yaml"),
    ] {
        let expanded: Vec<_> = order.split(' ').map(|name| ExpandedEntry::Name(name.to_owned())).collect();
        let mut read = |number: usize, name: &str| match name {
            "one" | "three" => LevelFile::Found(format!("{name}.yaml"), number),
            "two" => LevelFile::Missing(String::new()),
            "broken" => LevelFile::Invalid,
            _ => LevelFile::Missing(format!("{name}.yaml")),
        };
        let selection = select(&merges, &expanded, &overrides, &mut read);
        let outcomes: Vec<String> = selection.outcomes.iter().map(abbreviated).collect();
        assert_eq!(outcomes.join(" "), expected, "{order}");
    }
}

#[test]
fn all_overrides_found_are_merged_in_order() {
    for (order, outcomes, expected, applied) in [
        (vec!["one", "two"], "yes yes", "{a: 2, b: {x: 0, y: 2}, l: [0, 1, 2]}", vec!["one", "two"]),
        (vec!["two", "one"], "yes yes", "{a: 1, b: {x: 0, y: 2}, l: [0, 2, 1]}", vec!["two", "one"]),
        (
            vec!["two", "-", "three", "none", "two"],
            "yes empty yes none again",
            "{a: 2, b: {x: 0, y: 2}, l: [0, 2], c: 3}",
            vec!["two", "three"],
        ),
    ] {
        let found = resolved(Merge::Deep, &order);
        assert_eq!(found.0, outcomes, "{order:?}");
        assert!(same(&found.1, &value(expected)), "{order:?}: {:?}", found.1);
        assert_eq!(found.2, applied);
    }
}
