//! Links in place of files.

use std::fs::{Permissions, create_dir, set_permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, lchown, symlink};
use std::path::Path;

use ccm_host::backup_stem;
use ccm_model::Outcome;
use ccm_testkit::{Scratch, needs_root};

use crate::file_part::machine::{Runs, outcomes, part, told};

/// Puts a link at `f`, which belongs to this user.
fn link(scratch: &Scratch, target: &str) {
    symlink(target, scratch.path().join("f")).expect("a link");
}

fn is_link(scratch: &Scratch) -> bool {
    scratch.path().join("f").is_symlink()
}

#[test]
fn the_target_of_an_own_link_is_changed() {
    let scratch = Scratch::new();
    let real = scratch.write("real/file", "a\n");
    set_permissions(&real, Permissions::from_mode(0o751)).expect("a mode");
    link(&scratch, "middle");
    symlink("real/file", scratch.path().join("middle")).expect("a link");
    assert_eq!(Runs::here(&scratch).apply_one("line", &[("line", "a")]).outcome, Outcome::Unchanged);
    let parts = || {
        vec![
            part(&scratch, "line", "b", &[("line", "b")]),
            part(&scratch, "block", "it", &[("content", "c")]),
            part(&scratch, "setting", "k", &[("section", "s"), ("key", "k"), ("value", "v")]),
        ]
    };
    let noop = Runs { noop: true, ..Runs::here(&scratch) };
    assert_eq!(outcomes(&noop.apply(parts())), ["would change"; 3]);
    assert_eq!(outcomes(&Runs::here(&scratch).apply(parts())), ["changed"; 3]);
    assert_eq!(outcomes(&Runs::here(&scratch).apply(parts())), ["unchanged"; 3]);
    let content = "a\nb\n# BEGIN ccm it\nc\n# END ccm it\n\n[s]\nk = v\n";
    assert_eq!(scratch.read("real/file").as_deref(), Some(content));
    assert!(is_link(&scratch));
    assert_eq!(real.metadata().expect("the file").mode() & 0o7777, 0o751);
    assert_eq!(scratch.names(), ["f", "middle", "real"]);
}

#[test]
fn the_target_of_a_link_is_backed_up() {
    let scratch = Scratch::new();
    scratch.write("real", "a\n");
    link(&scratch, "real");
    let runs = Runs { state_directory: Some(scratch.state()), ..Runs::here(&scratch) };
    let changed = runs.apply_one("line", &[("line", "b"), ("backup", "true")]);
    let note = changed.notes.first().and_then(|note| note.strip_prefix("backed up the old content to "));
    assert_eq!(std::fs::read_to_string(note.expect("a note")).expect("a copy"), "a\n");
    assert_eq!(scratch.read("real").as_deref(), Some("a\nb\n"));
}

#[test]
fn a_backup_has_the_path_as_it_is_written_unless_a_link_is_there() {
    for (path, backed_up) in [("real/file", "real/file"), ("way/file", "way/file"), ("f", "real/file")] {
        let scratch = Scratch::new();
        scratch.write("real/file", "a\n");
        symlink("real", scratch.path().join("way")).expect("a link");
        link(&scratch, "way/file");
        let runs = Runs { state_directory: Some(scratch.state()), ..Runs::here(&scratch) };
        let path = scratch.at(path);
        let line = part(&scratch, "line", "b", &[("line", "b"), ("backup", "true"), ("path", &path)]);
        let note = runs.apply(vec![line]).remove(0).notes.remove(0);
        let backup = Path::new(note.strip_prefix("backed up the old content to ").expect("a note"));
        let name = backup.file_name().expect("a name").to_string_lossy();
        let stem = backup_stem(&scratch.path().join(backed_up));
        assert!(name.starts_with(&stem), "{name} of {path}, not {stem}");
        assert_eq!(scratch.read("real/file").as_deref(), Some("a\nb\n"));
    }
}

#[test]
fn the_target_of_a_link_is_made_in_a_directory_that_exists() {
    let scratch = Scratch::new();
    link(&scratch, "below/real");
    for noop in [true, false] {
        let runs = Runs { noop, ..Runs::here(&scratch) };
        for create in ["true", "false"] {
            let refused = runs.apply_one("line", &[("line", "a"), ("create", create)]);
            assert_eq!(told(&refused, &scratch), "\"f\" is a dangling symbolic link");
        }
        let absent = runs.apply_one("line", &[("line", "a"), ("ensure", "absent")]);
        assert_eq!(absent.outcome, Outcome::Unchanged);
    }
    create_dir(scratch.path().join("below")).expect("a directory");
    let refused = Runs::here(&scratch).apply_one("line", &[("line", "a")]);
    assert_eq!(told(&refused, &scratch), "the file \"f\" does not exist");
    let made = Runs::here(&scratch).apply_one("line", &[("line", "a"), ("create", "true")]);
    assert_eq!(made.outcome, Outcome::Changed);
    assert!(is_link(&scratch));
    assert_eq!(scratch.read("below/real").as_deref(), Some("a\n"));
}

#[test]
fn a_link_that_another_program_changed_since_the_decision_is_left_alone() {
    let scratch = Scratch::new();
    scratch.write("real", "a\n");
    scratch.write("other", "x\n");
    link(&scratch, "real");
    let other = |_: &Path| {
        std::fs::remove_file(scratch.path().join("f")).expect("no link");
        link(&scratch, "other");
    };
    let runs = Runs { after_inspection: &other, ..Runs::here(&scratch) };
    let refused = runs.apply_one("line", &[("line", "b")]);
    assert_eq!(told(&refused, &scratch), "\"f\" was changed by another process meanwhile");
    assert_eq!(scratch.read("real").as_deref(), Some("a\n"));
    assert_eq!(scratch.read("other").as_deref(), Some("x\n"));
}

#[test]
fn a_link_of_a_stranger_is_refused() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let real = scratch.write("real", "a\n");
    link(&scratch, "real");
    let give = |path: &Path| lchown(path, Some(65534), None).expect("an owner");
    give(&scratch.path().join("f"));
    for noop in [true, false] {
        let refused = Runs { noop, ..Runs::here(&scratch) }.apply_one("line", &[("line", "b")]);
        assert_eq!(told(&refused, &scratch), "\"f\" is a link owned by uid 65534 and is not followed");
    }
    // The owner of a file may link to it, but not where everybody can.
    give(&real);
    assert_eq!(Runs::here(&scratch).apply_one("line", &[("line", "b")]).outcome, Outcome::Changed);
    assert_eq!(scratch.read("real").as_deref(), Some("a\nb\n"));
    assert_eq!(real.metadata().expect("the file").uid(), 65534);
    set_permissions(scratch.path(), Permissions::from_mode(0o1777)).expect("a mode");
    for noop in [true, false] {
        let refused = Runs { noop, ..Runs::here(&scratch) }.apply_one("line", &[("line", "c")]);
        assert_eq!(told(&refused, &scratch), "\"f\" is a link owned by uid 65534 and is not followed");
    }
}
