//! Files and directories of another user.

use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::Path;

use ccm_model::Outcome;
use ccm_testkit::{Scratch, is_root, skipped};

use crate::file;
use crate::machine::Runs;

const NOBODY: u32 = 65534;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn new_owner_removes_set_id_bits_and_says_so() {
    if !is_root() {
        skipped("root is needed to change owners");
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write_program("run", "#!/bin/sh\n");
    chown(&path, Some(NOBODY), Some(NOBODY)).expect("its owner");
    set_mode(&path, 0o4755);
    let resource = || file(&scratch.at("run"), &[("owner", "root")]);
    let noop = Runs { noop: true, ..Runs::here(&scratch) }.apply(resource());
    assert_eq!(noop.outcome, Outcome::WouldChange { message: "Would have updated owner and mode".into() });
    let applied = Runs::here(&scratch).apply(resource());
    assert_eq!(applied.outcome, Outcome::Changed, "{applied:?}");
    let reason = applied.reason_text().expect("a reason");
    assert!(reason.ends_with("; the mode is 4755, which a new owner or group does not keep"), "{reason}");
    assert_eq!(applied.state.expect("a state")["mode"], "0755");
    assert_eq!(Runs::here(&scratch).apply(resource()).outcome, Outcome::Unchanged);
}
