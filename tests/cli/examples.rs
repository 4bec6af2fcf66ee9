//! Every example does what it says, in a directory of the test's own.

use std::collections::BTreeMap;

use ccm_testkit::{Called, Scratch, repository};

use crate::{apply, ccm};

/// Each example, its exit code, and the outcomes of its first and of its second run, in order.
const EXAMPLES: &[(&str, i32, &str, &str)] = &[
    ("hello", 0, "changed changed refreshed", "stable stable stable"),
    ("creates", 0, "changed changed", "stable stable"),
    ("guards", 0, "changed changed stable", "stable stable stable"),
    (
        "files",
        0,
        "changed changed changed changed changed stable",
        "stable stable stable stable stable stable",
    ),
    ("diff", 0, "changed changed changed changed", "stable stable stable stable"),
    (
        "refresh",
        0,
        "changed changed changed changed refreshed refreshed",
        "stable stable stable stable stable stable",
    ),
    ("exit-codes", 0, "changed stable stable", "changed stable stable"),
    ("shell", 0, "changed changed changed", "stable changed changed"),
    (
        "environment",
        0,
        "changed changed changed changed changed refreshed",
        "stable changed stable stable stable stable",
    ),
    ("verify", 0, "changed changed changed changed", "stable stable changed stable"),
    ("order", 0, "changed changed changed refreshed", "stable stable stable stable"),
    ("timeout", 4, "failed unmet changed", "failed unmet changed"),
];

/// The text of an example, with its directory replaced by the test's.
fn example(name: &str, scratch: &Scratch) -> String {
    let path = repository(&format!("examples/{name}.yaml"));
    let text = std::fs::read_to_string(path).expect("the example");
    text.replace("/tmp/ccm-examples", &scratch.at("made"))
}

fn outcomes(called: &Called) -> String {
    let words = ["stable", "changed", "refreshed", "failed", "unmet", "skipped"];
    let is_of_resource = |line: &&str| {
        line.starts_with(['I', 'W', 'E']) && (line.contains(" exec#") || line.contains(" file#"))
    };
    let lines = called.stdout.lines().filter(is_of_resource);
    let word = |line: &str| {
        let before = line.split(" ensure=").next().unwrap_or_default();
        words.into_iter().find(|word| before.ends_with(word)).unwrap_or("?")
    };
    lines.map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_example_runs_twice_as_it_says() {
    for (name, code, first, second) in EXAMPLES {
        let scratch = Scratch::new();
        let text = example(name, &scratch);
        let noop = apply(&scratch, &text, &["--noop"]);
        assert_eq!(scratch.names(), ["manifest.yaml"], "{name} changed something in noop: {}", noop.shown());
        for expected in [first, second] {
            let called = apply(&scratch, &text, &[]);
            assert_eq!((called.code, &*outcomes(&called)), (*code, *expected), "{name}: {}", called.shown());
        }
    }
}

#[test]
fn every_example_is_on_the_list_and_described() {
    let folder = std::fs::read_dir(repository("examples")).expect("the examples");
    let mut there: BTreeMap<String, bool> = folder
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".yaml").map(|name| (name.to_owned(), false)))
        .collect();
    let readme = std::fs::read_to_string(repository("examples/README.md")).expect("the list of examples");
    for (name, ..) in EXAMPLES {
        assert!(readme.contains(&format!("]({name}.yaml)")), "{name} is not described");
        *there.get_mut(*name).expect("an example on the list") = true;
    }
    assert!(there.values().all(|listed| *listed), "not on the list: {there:?}");
}

#[test]
fn every_example_is_valid_and_can_be_drawn() {
    for (name, ..) in EXAMPLES {
        let scratch = Scratch::new();
        scratch.write("manifest.yaml", example(name, &scratch));
        for args in [&["validate", "manifest.yaml"][..], &["graph", "manifest.yaml"]] {
            let called = ccm(&scratch, args).run();
            assert_eq!((called.code, &*called.stderr), (0, ""), "{name}: {}", called.shown());
        }
    }
}
