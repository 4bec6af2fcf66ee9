//! Files and directories of another user.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::Path;

use ccm_model::Outcome;
use ccm_testkit::{Scratch, needs_root};

use crate::file::file;
use crate::file::machine::{Runs, told};

const NOBODY: u32 = 65534;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn new_owner_removes_set_id_bits_and_says_so() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write_program("run", "#!/bin/sh\n");
    chown(&path, Some(NOBODY), Some(NOBODY)).expect("its owner");
    set_mode(&path, 0o4755);
    let resource = || file(&scratch.at("run"), &[("owner", "root")]);
    let noop = Runs { noop: true, ..Runs::here(&scratch) }.apply(resource());
    let message = "Would have changed: owner nobody to root, mode 4755 to 0755".to_owned();
    assert_eq!(noop.outcome, Outcome::WouldChange { message });
    let applied = Runs::here(&scratch).apply(resource());
    assert_eq!(applied.outcome, Outcome::Changed, "{applied:?}");
    let reason = applied.reason_text().expect("a reason");
    assert!(reason.ends_with("; the mode is 4755, which a new owner or group does not keep"), "{reason}");
    assert_eq!(applied.state.expect("a state")["mode"], "0755");
    assert_eq!(Runs::here(&scratch).apply(resource()).outcome, Outcome::Unchanged);
}

#[test]
fn file_that_a_stranger_moved_to_the_path_stays_as_it_is() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write("home/app.conf", "root's secret");
    set_mode(&path, 0o600);
    chown(scratch.path().join("home"), Some(NOBODY), None).expect("its owner");
    let resource = |properties| file(&scratch.at("home/app.conf"), properties);
    let attributes = [("owner", "65534"), ("mode", "0644")];
    let noop = Runs { noop: true, ..Runs::here(&scratch) }.apply(resource(&attributes));
    let applied = Runs::here(&scratch).apply(resource(&attributes));
    let refused = "the attributes of \"home/app.conf\" are not changed: the file belongs to uid 0, but its directory \
                   to uid 65534, who could have moved the file there";
    assert_eq!(told(&applied, &scratch), refused);
    assert_eq!(noop.warnings.len(), 1, "{noop:?}");
    assert!(noop.warnings[0].replace(&scratch.at(""), "").contains(refused), "{noop:?}");
    let found = || {
        let metadata = std::fs::metadata(&path).expect("its metadata");
        (metadata.uid(), metadata.ino(), metadata.permissions().mode() & 0o7777)
    };
    let (owner, old_file, mode) = found();
    assert_eq!((owner, mode), (0, 0o600));
    // With content, a new file takes its place.
    std::fs::write(&path, "managed").expect("a file");
    let with_content = [("content", "managed"), ("owner", "65534"), ("mode", "0644")];
    for outcome in [Outcome::Changed, Outcome::Unchanged] {
        assert_eq!(Runs::here(&scratch).apply(resource(&with_content)).outcome, outcome);
    }
    let (owner, new_file, mode) = found();
    assert_eq!((owner, mode, scratch.read("home/app.conf").as_deref()), (NOBODY, 0o644, Some("managed")));
    assert_ne!(old_file, new_file);
}

#[test]
fn file_of_a_stranger_in_a_shared_directory_is_not_taken_over() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write("shared/f", "theirs");
    chown(&path, Some(NOBODY), None).expect("its owner");
    set_mode(&scratch.path().join("shared"), 0o1777);
    let state = scratch.state();
    let refused = "\"shared/f\" is not changed: the file belongs to uid 65534, and everybody can create files in its directory";
    for properties in [&[("content", "ours"), ("backup", "true")][..], &[("owner", "root")]] {
        let resource = || file(&scratch.at("shared/f"), properties);
        let run =
            |noop| Runs { noop, state_directory: Some(&state), ..Runs::here(&scratch) }.apply(resource());
        let noop = run(true);
        assert_eq!(noop.warnings.len(), 1, "{noop:?}");
        assert!(noop.warnings[0].replace(&scratch.at(""), "").contains(refused), "{noop:?}");
        assert_eq!(told(&run(false), &scratch), refused);
    }
    assert_eq!((scratch.read("shared/f").as_deref(), state.exists()), (Some("theirs"), false));
    let resource = file(&scratch.at("shared/f"), &[("content", "ours"), ("owner", "65534")]);
    assert_eq!(Runs::here(&scratch).apply(resource).outcome, Outcome::Changed);
}
