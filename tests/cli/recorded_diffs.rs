//! Diffs in the record of a run.

use ccm_testkit::Scratch;
use serde_json::Value;

use crate::expect::{expect_output, json_lines};
use crate::{apply, apply_files, ccm};

#[test]
fn diffs_are_recorded_and_not_reported_unless_requested() {
    for (options, is_reported) in [(&[][..], false), (&["--diff"], true)] {
        let scratch = Scratch::new();
        scratch.write("motd", "one\nsame\n");
        scratch.write("gone", "old\n");
        let files = "
        - '[dir]/motd': {content: \"two\\nsame\\n\"}
        - '[dir]/new': {content: \"new\\n\"}
        - '[dir]/gone': {ensure: absent}
        - '[dir]/mode': {ensure: directory}
";
        let called =
            apply_files(&scratch, files, &[options, &["--events-file", &scratch.at("events")]].concat());
        assert_eq!(called.code, 0, "{}", called.shown());
        for line in ["-one", "+two", "+new", "-old"] {
            assert_eq!(called.stdout.contains(&format!("{line}\n")), is_reported, "{}", called.shown());
        }
        let diffs = |text: &str| -> Vec<bool> {
            let lines = json_lines(text).into_iter().filter(|line| line["type"] == "file");
            lines.map(|line| line["diff"].is_string()).collect()
        };
        let reported = scratch.read("events").expect("the events");
        let expected = [true, true, true, false];
        assert_eq!(diffs(&reported), expected.map(|has| has && is_reported));
        let whole = ccm(&scratch, &["history", "last"]).run();
        assert!(!whole.stdout.contains("+two") && whole.stdout.contains("motd"), "{}", whole.shown());
        let name = format!("file#{}", scratch.at("motd"));
        for shown in [["history", "last", &name], ["history", "--resource", &name]] {
            let called = ccm(&scratch, &shown).run();
            expect_output(&called, 0, &["motd", "@@ -1,2 +1,2 @@\n", "-one\n", "+two\n", " same\n"]);
        }
        let document = ccm(&scratch, &["history", "last", "--output", "json"]).run();
        let document: Value = serde_json::from_str(&document.stdout).expect("a document");
        let recorded = document["events"].as_array().expect("the events").iter();
        let recorded: Vec<bool> = recorded.map(|event| event["diff"].is_string()).collect();
        assert_eq!(recorded, expected);
        // Both have the same line, but for the diff.
        let id = |event: &Value| event["event_id"].clone();
        let ids: Vec<Value> = document["events"].as_array().expect("the events").iter().map(id).collect();
        let lines = json_lines(&reported);
        assert_eq!(ids, lines.iter().filter(|line| line["type"] == "file").map(id).collect::<Vec<_>>());
    }
}

#[test]
fn secret_binary_and_long_content_is_recorded_as_such() {
    let scratch = Scratch::new();
    scratch.write("lines", "password=old-swordfish\nport=80\nuser=a\n");
    scratch.write("binary", [0, 1, 2]);
    scratch.write("long", "old line\n".repeat(3000));
    scratch.write("wide", format!("{}\n", "a".repeat(999)).repeat(399));
    let manifest = "
data:
  # @sensitive
  password: swordfish-1234
ccm:
  resources:
    - file:
        - '[dir]/lines': {content: \"password={{ Data.password }}\\nport=81\\nuser=b\\n\", mode: \"0600\"}
        - '[dir]/hidden': {content: \"hush-hush-hush\\n\", sensitive: true, mode: \"0600\"}
        - '[dir]/binary': {content: \"text\\n\"}
        - '[dir]/long': {content: \"short\\n\"}
        - '[dir]/wide': {content: \"narrow\\n\"}
";
    let manifest = manifest.replace("[dir]", &scratch.path().to_string_lossy());
    let called = apply(&scratch, &manifest, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let shown = |name: &str| {
        let called = ccm(&scratch, &["history", "last", &format!("file#{}", scratch.at(name))]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        called.stdout
    };
    let lines = shown("lines");
    for part in ["-[redacted]\n", "+[redacted]\n"] {
        assert!(lines.contains(part), "{lines}");
    }
    assert!(!lines.contains("swordfish"), "{lines}");
    assert!(shown("hidden").contains("sensitive content is new\n"));
    assert!(shown("binary").contains("binary content differs (sha256 "));
    assert!(shown("long").contains("... (truncated, "));
    let wide = shown("wide");
    let (_, end) = wide.trim_end().rsplit_once('\n').expect("lines");
    assert!(end.contains("... (truncated, ") && wide.len() < 70_000, "{} {end}", wide.len());
    let id =
        std::fs::read_dir(scratch.state().join("runs")).expect("the runs").flatten().next().expect("a run");
    let events = std::fs::read_to_string(id.path().join("events.jsonl")).expect("the events");
    assert!(!events.contains("swordfish") && !events.contains("hush-hush"), "{events}");
}
