//! Old content that is kept.

use std::time::{Duration, UNIX_EPOCH};

use ccm_host::{Files as _, sha256};
use ccm_testkit::Scratch;

use crate::{files, mode, set_mode, told};

#[test]
fn content_is_kept_for_nobody_else() {
    let scratch = Scratch::new();
    let path = scratch.write("etc/app.conf", "old");
    set_mode(&path, 0o644);
    let state = scratch.path().join("var/ccm");
    let at = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let kept = files().back_up(&path, &state, at).expect("a backup");
    let again = files().back_up(&path, &state, at).expect("a backup");
    assert_eq!(kept, again);
    let name = kept.file_name().and_then(|name| name.to_str()).expect("a name");
    let expected = format!("etc-app.conf.{}.1700000000", &sha256(b"old")[..12]);
    assert!(name.ends_with(&expected), "{name}");
    assert_eq!(kept.parent(), Some(&*state.join("backups")));
    assert_eq!((mode(&kept), mode(&state), mode(&state.join("backups"))), (0o600, 0o700, 0o700));
    assert_eq!(std::fs::read_to_string(&kept).expect("the backup"), "old");
    let count = std::fs::read_dir(state.join("backups")).expect("the backups").count();
    assert_eq!(count, 1);
}

#[test]
fn a_place_that_can_not_be_made_is_told() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    let blocked = scratch.write("file", "");
    let error = told(files().back_up(&path, &blocked, UNIX_EPOCH)).replace(&scratch.at(""), "");
    assert_eq!(error, "\"file/backups\" could not be made: Not a directory (os error 20)");
}
