//! Symbolic links that the manifest declares.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use ccm_model::{Action, Outcome, Verb};
use ccm_testkit::Scratch;

use crate::build::errors_of;
use crate::file::file;
use crate::file::machine::{Runs, told};

fn target(scratch: &Scratch, name: &str) -> Option<PathBuf> {
    std::fs::read_link(scratch.path().join(name)).ok()
}

/// Properties of a link with this target.
fn link<'a>(target: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    [&[("ensure", "link"), ("target", target)], more].concat()
}

#[test]
fn a_link_is_made_and_changed_and_stays() {
    for (first, second) in [("a", "/b"), ("/nowhere/at all", "../a/./b/")] {
        let scratch = Scratch::new();
        let apply = |target, noop| {
            Runs { noop, ..Runs::here(&scratch) }.apply(file(&scratch.at("l"), &link(target, &[])))
        };
        let create = Action::new(Verb::Create).of(format!("link to {first}"));
        let change =
            Action::new(Verb::Change).changing("target", Some(first.to_owned()), Some(second.to_owned()));
        for (text, before, action, reason) in [
            (first, None, create, "the link does not exist"),
            (second, Some(first), change, "the link leads elsewhere"),
        ] {
            let planned = apply(text, true);
            assert!(matches!(planned.outcome, Outcome::WouldChange { .. }), "{planned:?}");
            assert_eq!(target(&scratch, "l").as_deref(), before.map(Path::new));
            let made = apply(text, false);
            assert_eq!((made.outcome.is_change(), made.reason_text()), (true, Some(reason)));
            assert_eq!((planned.action, made.action), (Some(action.clone()), Some(action)));
            assert_eq!(target(&scratch, "l").as_deref(), Some(Path::new(text)));
            let again = apply(text, false);
            assert_eq!(again.outcome, Outcome::Unchanged);
            let state = again.state.expect("a state");
            assert_eq!((&state["ensure"], &state["target"]), (&"link".into(), &text.into()));
        }
        assert_eq!(scratch.names(), ["l"]);
    }
}

#[test]
fn force_replaces_a_file_or_an_empty_directory_and_nothing_more() {
    let scratch = Scratch::new();
    let path = scratch.at("l");
    let apply = |force, noop| {
        Runs { noop, ..Runs::here(&scratch) }.apply(file(&path, &link("to", &[("force", force)])))
    };
    for (kind, refusal) in [
        ("file", "\"l\" is a file, not a link"),
        ("empty", "\"l\" is an empty directory, not a link"),
        ("full", "\"l\" is a directory that holds something"),
    ] {
        match kind {
            "file" => drop(scratch.write("l", "old\n")),
            "empty" => std::fs::create_dir(&path).expect("a directory"),
            _ => drop(scratch.write("l/inside", "kept\n")),
        }
        for noop in [true, false] {
            assert_eq!(told(&apply("false", noop), &scratch), refusal);
        }
        if kind == "full" {
            for noop in [true, false] {
                assert_eq!(told(&apply("true", noop), &scratch), refusal);
            }
            assert_eq!(scratch.read("l/inside").as_deref(), Some("kept\n"));
            continue;
        }
        assert!(apply("true", true).outcome.is_change());
        assert_eq!(target(&scratch, "l"), None);
        let replaced = apply("true", false);
        assert_eq!(replaced.outcome, Outcome::Changed);
        assert_eq!(replaced.action.expect("an action").verb, Verb::Replace);
        assert_eq!(target(&scratch, "l").as_deref(), Some(Path::new("to")));
        std::fs::remove_file(&path).expect("the link");
    }
}

#[test]
fn a_replaced_file_is_backed_up() {
    let scratch = Scratch::new();
    scratch.write("l", "old\n");
    let state = scratch.state();
    let runs = Runs { state_directory: Some(&state), ..Runs::here(&scratch) };
    let properties = link("to", &[("force", "true"), ("backup", "true")]);
    let replaced = runs.apply(file(&scratch.at("l"), &properties));
    assert_eq!(replaced.outcome, Outcome::Changed);
    let note = replaced.notes.first().and_then(|note| note.strip_prefix("backed up the old content to "));
    assert_eq!(std::fs::read_to_string(note.expect("a note")).expect("a copy"), "old\n");
}

#[test]
fn what_is_behind_a_link_does_not_matter() {
    let scratch = Scratch::new();
    scratch.write("old/inside", "kept\n");
    symlink("old", scratch.path().join("l")).expect("a link");
    let changed = Runs::here(&scratch).apply(file(&scratch.at("l"), &link("new", &[])));
    assert_eq!(changed.outcome, Outcome::Changed);
    assert_eq!(scratch.read("old/inside").as_deref(), Some("kept\n"));
}

#[test]
fn a_link_in_a_missing_directory_is_an_error() {
    let scratch = Scratch::new();
    for noop in [true, false] {
        let runs = Runs { noop, ..Runs::here(&scratch) };
        let refused = runs.apply(file(&scratch.at("d/l"), &link("to", &[])));
        assert_eq!(told(&refused, &scratch), "the directory \"d\" does not exist");
    }
}

#[test]
fn invalid_links_are_refused() {
    for (properties, expected) in [
        (&[("ensure", "link")][..], &["missing target target | target"][..]),
        (&[("target", "/a")], &["conflict target target, ensure: link | ensure: link, target"]),
        (
            &[("ensure", "link"), ("target", "/a"), ("content", "x")],
            &["conflict content content, ensure: link | …"],
        ),
        (
            &[("ensure", "link"), ("target", "/a"), ("owner", "root"), ("mode", "0644")],
            &["conflict owner owner, ensure: link | …", "conflict mode mode, ensure: link | …"],
        ),
        (&[("ensure", "link"), ("target", "~/a")], &["invalid-value target ~ | …"]),
    ] {
        assert_eq!(errors_of(&file("/d/l", properties)), expected, "{properties:?}");
    }
    let valid = [("ensure", "link"), ("target", "../a"), ("force", "true"), ("backup", "true")];
    assert_eq!(errors_of(&file("/l", &valid)), [""; 0]);
}
