//! Parts that are added, changed and removed.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use ccm_model::{Action, ChangedLines, Outcome, Verb};
use ccm_testkit::Scratch;

use crate::build::resource;
use crate::file_part::machine::{Runs, outcomes, part, told};

#[test]
fn a_part_is_applied_once_and_removed_once() {
    for (kind, properties, absent, with, without) in [
        ("line", &[("line", "b")][..], &[("line", "b")][..], "a\nb\n", "a\n"),
        ("block", &[("content", "b")], &[], "a\n# BEGIN ccm it\nb\n# END ccm it\n", "a\n"),
        ("setting", &[("key", "b"), ("value", "1")], &[("key", "b")], "a\nb = 1\n", "a\n"),
    ] {
        let scratch = Scratch::new();
        scratch.write("f", "a\n");
        for (properties, content) in
            [(properties.to_vec(), with), ([absent, &[("ensure", "absent")]].concat(), without)]
        {
            let noop = Runs { noop: true, ..Runs::here(&scratch) };
            let planned = noop.apply_one(kind, &properties);
            assert!(matches!(planned.outcome, Outcome::WouldChange { .. }), "{planned:?}");
            let changed = Runs::here(&scratch).apply_one(kind, &properties);
            assert_eq!(changed.outcome, Outcome::Changed, "{kind}");
            assert_eq!(planned.action, changed.action);
            assert_eq!(scratch.read("f").as_deref(), Some(content));
            let again = Runs::here(&scratch).apply_one(kind, &properties);
            assert_eq!(again.outcome, Outcome::Unchanged, "{kind}");
            let state = again.state.expect("a state");
            let protocol = format!("io.choria.ccm.v1.resource.{kind}.state");
            assert_eq!((&state["protocol"], &state["path"]), (&protocol.into(), &scratch.at("f").into()));
            assert_eq!(state["ensure"], if content == with { "present" } else { "absent" });
        }
        assert_eq!(scratch.names(), ["f"]);
    }
}

#[test]
fn attributes_of_the_file_stay() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "a\r\nb");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).expect("a mode");
    let changed = Runs::here(&scratch).apply_one("line", &[("line", "c")]);
    assert_eq!(changed.outcome, Outcome::Changed);
    assert_eq!(scratch.read("f").as_deref(), Some("a\r\nb\r\nc"));
    assert_eq!(std::fs::metadata(&path).expect("the file").mode() & 0o7777, 0o751);
}

#[test]
fn each_part_of_a_file_sees_the_one_before() {
    let scratch = Scratch::new();
    scratch.write("f", "");
    let parts = || {
        vec![
            part(&scratch, "line", "one", &[("line", "one")]),
            part(&scratch, "line", "two", &[("line", "two"), ("after", "^one$")]),
            part(&scratch, "block", "b", &[("content", "x"), ("before", "^two$")]),
            part(&scratch, "setting", "s", &[("section", "s"), ("key", "k"), ("value", "v")]),
            part(&scratch, "line", "three", &[("line", "three"), ("match", "^two$")]),
        ]
    };
    assert_eq!(outcomes(&Runs::here(&scratch).apply(parts())), ["changed"; 5]);
    let content = "one\n# BEGIN ccm b\nx\n# END ccm b\nthree\n\n[s]\nk = v\n";
    assert_eq!(scratch.read("f").as_deref(), Some(content));
    let steady = vec![
        part(&scratch, "line", "one", &[("line", "one")]),
        part(&scratch, "line", "three", &[("line", "three")]),
        part(&scratch, "setting", "s", &[("section", "s"), ("key", "k"), ("value", "v")]),
    ];
    assert_eq!(outcomes(&Runs::here(&scratch).apply(steady)), ["unchanged"; 3]);
}

#[test]
fn a_part_sees_what_another_type_has_written() {
    let scratch = Scratch::new();
    scratch.write("f", "a\n");
    scratch.write("g", "");
    let parts = vec![
        part(&scratch, "line", "kept", &[("line", "a")]),
        resource("file", &scratch.at("f"), &[("mode", "0600")]),
        resource("file", &scratch.at("g"), &[("content", "x\n")]),
        part(&scratch, "line", "other", &[("line", "x"), ("path", &scratch.at("g"))]),
    ];
    assert_eq!(outcomes(&Runs::here(&scratch).apply(parts))[3], "unchanged");
}

#[test]
fn a_missing_file_is_made_only_with_create() {
    let scratch = Scratch::new();
    for noop in [true, false] {
        let refused = Runs { noop, ..Runs::here(&scratch) }.apply_one("line", &[("line", "a")]);
        assert_eq!(told(&refused, &scratch), "the file \"f\" does not exist");
        let absent =
            Runs { noop, ..Runs::here(&scratch) }.apply_one("line", &[("line", "a"), ("ensure", "absent")]);
        assert_eq!(absent.outcome, Outcome::Unchanged);
    }
    let made = Runs::here(&scratch).apply_one("line", &[("line", "a"), ("create", "true")]);
    let path = scratch.at("f");
    let lines = ChangedLines { added: 1, removed: 0 };
    assert_eq!(made.action, Some(Action::new(Verb::Create).of(&*path).changing_lines("content", lines)));
    assert_eq!(scratch.read("f").as_deref(), Some("a\n"));
    assert_eq!(std::fs::metadata(path).expect("the file").mode() & 0o7777, 0o644);
}

#[test]
fn old_content_is_backed_up() {
    let scratch = Scratch::new();
    scratch.write("f", "a\n");
    let runs = Runs { state_directory: Some(scratch.state()), ..Runs::here(&scratch) };
    let changed = runs.apply_one("line", &[("line", "b"), ("backup", "true")]);
    assert_eq!(changed.outcome, Outcome::Changed);
    let note = changed.notes.first().and_then(|note| note.strip_prefix("backed up the old content to "));
    assert_eq!(std::fs::read_to_string(note.expect("a note")).expect("a copy"), "a\n");
}

#[test]
fn a_file_that_another_program_changed_since_the_decision_is_left_alone() {
    let scratch = Scratch::new();
    scratch.write("f", "a\n");
    scratch.write("g", "a\n");
    // Between the reading and the writing of `f`, another program writes it.
    let other = |path: &Path| {
        if path.ends_with("f") {
            scratch.write("f", "other\n");
        }
    };
    let runs = Runs { after_inspection: &other, ..Runs::here(&scratch) };
    let in_g = part(&scratch, "line", "g", &[("line", "b"), ("path", &scratch.at("g"))]);
    let transactions = runs.apply(vec![part(&scratch, "line", "f", &[("line", "b")]), in_g]);
    assert_eq!(outcomes(&transactions), ["failed", "changed"]);
    assert_eq!(told(&transactions[0], &scratch), "\"f\" was changed by another process meanwhile");
    assert_eq!(
        (scratch.read("f").as_deref(), scratch.read("g").as_deref()),
        (Some("other\n"), Some("a\nb\n"))
    );
}

#[test]
fn diff_shows_the_change() {
    let scratch = Scratch::new();
    scratch.write("f", "a\nk = 1\nb\n");
    for noop in [true, false] {
        let runs = Runs { noop, diff: true, ..Runs::here(&scratch) };
        let changed = runs.apply_one("setting", &[("key", "k"), ("value", "2")]);
        let path = scratch.at("f");
        let diff = format!("--- {path}\n+++ {path}\n@@ -1,3 +1,3 @@\n a\n-k = 1\n+k = 2\n b\n");
        assert_eq!(changed.diff, Some(diff));
        assert_eq!(changed.reason_text(), Some("line 2 differs"));
    }
}

#[test]
fn a_too_large_file_is_refused() {
    let scratch = Scratch::new();
    scratch.write("f", vec![b'x'; (64 << 20) + 1]);
    let refused = Runs::here(&scratch).apply_one("line", &[("line", "a")]);
    assert_eq!(told(&refused, &scratch), "\"f\" is larger than 64 MiB");
}
