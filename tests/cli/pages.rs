//! Pages about runs, pictures of graphs, and the graphs in records.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ccm_testkit::Scratch;
use serde_json::Value;

use crate::expect::expect_error;
use crate::json::apply_mixed;
use crate::{apply, apply_execs, ccm};

/// Returns the paths of the graphs in the records, the oldest first.
fn graphs(scratch: &Scratch) -> Vec<PathBuf> {
    let runs = fs::read_dir(scratch.state().join("runs")).into_iter().flatten().flatten();
    let mut graphs: Vec<PathBuf> =
        runs.map(|run| run.path().join("graph.json")).filter(|path| path.exists()).collect();
    graphs.sort();
    graphs
}

#[test]
fn the_page_of_a_run_is_a_file_for_its_owner() {
    let scratch = Scratch::new();
    assert_eq!(apply_mixed(&scratch, &["-q"]).code, 4);
    let called = ccm(&scratch, &["history", "last", "--html", "run.html"]).run();
    assert_eq!((called.code, &*called.stdout, &*called.stderr), (0, "", ""));
    let path = scratch.path().join("run.html");
    assert_eq!(fs::metadata(&path).expect("a page").permissions().mode() & 0o7777, 0o600);
    let page = fs::read_to_string(&path).expect("a page");
    for part in [
        "<!doctype html>",
        "default-src 'none'",
        "id=\"changes\"",
        "id=\"timeline\"",
        "id=\"graph\"",
        "manifest.yaml",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script"));
    // The file is written again, and standard output gets the same.
    assert_eq!(ccm(&scratch, &["history", "last", "--html", "run.html"]).run().code, 0);
    assert_eq!(fs::read_to_string(&path).expect("a page"), page);
    let printed = ccm(&scratch, &["history", "last", "--html", "-"]).run().stdout;
    assert_eq!(printed.lines().count(), page.lines().count());
    let past = ccm(&scratch, &["history", "--html", "-"]).run().stdout;
    assert!(past.contains("Which resource changed when") && past.ends_with("</html>\n"), "{past}");
}

#[test]
fn a_page_is_not_written_where_others_could_read_it() {
    let scratch = Scratch::new();
    apply_execs(&scratch, "        - 'true':\n", &["-q"]);
    scratch.write("seen", "old");
    fs::set_permissions(scratch.path().join("seen"), Permissions::from_mode(0o644)).expect("a mode");
    symlink("seen", scratch.path().join("link")).expect("a link");
    for (path, message) in [("seen", "others may read or write it"), ("link", "symbolic link")] {
        let called = ccm(&scratch, &["history", "last", "--html", path]).run();
        expect_error(&called, 1, "", &[&format!("page {path} can't be written"), message], &[]);
    }
    assert_eq!(fs::read_to_string(scratch.path().join("seen")).expect("a file"), "old");
}

#[test]
fn a_page_takes_the_place_of_a_file_with_other_names() {
    let scratch = Scratch::new();
    apply_execs(&scratch, "        - 'true':\n", &["-q"]);
    let other = scratch.write("other", "old");
    fs::set_permissions(&other, Permissions::from_mode(0o600)).expect("a mode");
    fs::hard_link(&other, scratch.path().join("run.html")).expect("a name");
    assert_eq!(ccm(&scratch, &["history", "last", "--html", "run.html"]).run().code, 0);
    assert_eq!(scratch.read("other").as_deref(), Some("old"));
    assert!(scratch.read("run.html").expect("a page").starts_with("<!doctype html>"));
    // Lines are appended to a file, so that no other can take its place.
    fs::remove_file(scratch.path().join("run.html")).expect("a page");
    fs::hard_link(&other, scratch.path().join("events")).expect("a name");
    let called = ccm(&scratch, &["apply", "manifest.yaml", "--events-file", "events"]).run();
    expect_error(&called, 1, "", &["events file events can't be opened", "it has 2 names"], &[]);
    assert_eq!(scratch.read("other").as_deref(), Some("old"));
}

#[test]
fn a_graph_is_recorded_if_something_changed_or_if_it_is_asked_for() {
    let scratch = Scratch::new();
    let steady = "        - 'true': {creates: /}\n";
    apply_execs(&scratch, steady, &["-q"]);
    assert!(graphs(&scratch).is_empty());
    let called = ccm(&scratch, &["history", "last", "--critical"]).run();
    expect_error(&called, 1, "", &["has no graph in its record"], &["--record full"]);
    // Without a graph a run has a page of what is recorded.
    assert!(ccm(&scratch, &["history", "last", "--html", "-"]).run().stdout.contains("Nothing to do"));
    apply_execs(&scratch, steady, &["-q", "--record", "full"]);
    assert_eq!(graphs(&scratch).len(), 1);
    assert!(ccm(&scratch, &["history", "last", "--html", "-"]).run().stdout.contains("creates exist"));
    apply_execs(&scratch, "        - 'true': {}\n", &["-q"]);
    assert_eq!(graphs(&scratch).len(), 2);
}

#[test]
fn the_graph_of_a_killed_run_can_be_read() {
    let scratch = Scratch::new();
    let execs = "        - first: {command: 'true'}\n        - kills: {command: 'kill -9 $PPID; sleep 60', provider: shell, \
                 require: [exec#first]}\n        - last: {command: 'true', require: [exec#kills]}\n";
    assert_eq!(apply_execs(&scratch, execs, &["-q"]).code, 137);
    let trace = ccm(&scratch, &["history", "last", "--output", "trace"]).run().stdout;
    let trace: Value = serde_json::from_str(&trace).expect("a trace");
    let slices = trace["traceEvents"].as_array().expect("events").iter().filter(|event| event["ph"] == "X");
    assert_eq!(slices.map(|event| &event["name"]).collect::<Vec<_>>(), ["exec#first"]);
    let page = ccm(&scratch, &["history", "last", "--html", "-"]).run().stdout;
    for part in ["Unfinished", "2 not reached", "exec#last"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn a_trace_and_the_critical_path_are_those_of_a_run() {
    let scratch = Scratch::new();
    let execs = "        - slow: {command: 'sleep 0.05'}\n        - quick: {command: 'true'}\n        - behind: {command: 'true', \
                 subscribe: [exec#slow]}\n";
    apply_execs(&scratch, execs, &["-q"]);
    let critical = ccm(&scratch, &["history", "--critical"]).run().stdout;
    let named: Vec<&str> =
        critical.lines().skip(2).filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(named, ["exec#slow", "exec#behind"], "{critical}");
    let document = ccm(&scratch, &["history", "--critical", "--json"]).run().stdout;
    let document: Value = serde_json::from_str(&document).expect("a document");
    assert_eq!(document["resources"][1]["resource"], "exec#behind");
    let trace = ccm(&scratch, &["history", "last", "--format", "trace"]).run().stdout;
    let trace: Value = serde_json::from_str(&trace).expect("a trace");
    let phases: Vec<&str> = trace["traceEvents"]
        .as_array()
        .expect("events")
        .iter()
        .filter_map(|event| event["ph"].as_str())
        .collect();
    assert_eq!(phases, ["M", "M", "X", "X", "X", "s", "f"]);
    expect_error(
        &ccm(&scratch, &["history", "--output", "trace"]).run(),
        64,
        "",
        &["a trace is that of a run"],
        &["`last`"],
    );
}

#[test]
fn a_graph_is_drawn_as_svg() {
    let scratch = Scratch::new();
    let manifest = "ccm:\n  resources:\n    - exec:\n        - a<b>: {command: 'true'}\n        - c: {command: 'true', subscribe: \
                    ['exec#a<b>']}\n";
    scratch.write("m.yaml", manifest);
    let called = ccm(&scratch, &["graph", "m.yaml", "--format", "svg"]).run();
    assert_eq!(called.code, 0, "{}", called.stderr);
    for part in ["<svg ", "exec#a&lt;b&gt;", "class=\"edge subscribe\"", "</svg>"] {
        assert!(called.stdout.contains(part), "{part}: {}", called.stdout);
    }
    let many: Vec<String> = (0..1001).map(|at| format!("        - e{at}: {{command: 'true'}}\n")).collect();
    scratch.write("many.yaml", format!("ccm:\n  resources:\n    - exec:\n{}", many.concat()));
    let called = ccm(&scratch, &["graph", "many.yaml", "--output", "svg"]).run();
    expect_error(&called, 1, "", &["at most 1000 resources, and the graph has 1001"], &["--output text"]);
}

#[test]
fn the_picture_of_the_manual_is_that_of_its_example() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let example = root.join("examples/order.yaml");
    let drawn =
        ccm(&Scratch::new(), &["graph", &example.display().to_string(), "--output", "svg"]).run().stdout;
    let picture = fs::read_to_string(root.join("docs/use/order.svg")).expect("a picture");
    assert!(drawn == picture, "write docs/use/order.svg anew: ccm graph examples/order.yaml --output svg");
}

#[test]
fn facts_and_data_of_a_run_are_recorded_without_secrets() {
    let scratch = Scratch::new();
    let manifest = "data:\n  port: 8080\n  # @sensitive\n  key: hunter2secret\nccm:\n  resources:\n    - exec:\n        - run: \
                    {command: \"echo {{ Data.port }} {{ Facts.os.family }}\"}\n";
    assert_eq!(apply(&scratch, manifest, &["-q", "--fact", "os.family=debian"]).code, 0);
    let [graph] = &graphs(&scratch)[..] else { panic!("one graph: {:?}", graphs(&scratch)) };
    let graph = fs::read_to_string(graph).expect("a graph");
    assert!(graph.contains("\"port\":\"8080\"") && graph.contains("\"os.family\":\"debian\""), "{graph}");
    assert!(!graph.contains("hunter2secret"), "{graph}");
    let page = ccm(&scratch, &["history", "last", "--html", "-"]).run().stdout;
    assert!(page.contains("••••••") && !page.contains("hunter2secret"));
}
