//! Backups of old content.

use std::time::{Duration, UNIX_EPOCH};

use ccm_host::{Files as _, sha256};
use ccm_testkit::Scratch;

use crate::{error_text, files, mode, set_mode};

#[test]
fn backup_is_private() {
    let scratch = Scratch::new();
    let path = scratch.write("etc/app.conf", "old");
    set_mode(&path, 0o644);
    let state = scratch.path().join("var/ccm");
    let at = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let kept = files().back_up(&path, &state, at).expect("a backup");
    let again = files().back_up(&path, &state, at).expect("a backup");
    assert_eq!(kept, again);
    let name = kept.file_name().and_then(|name| name.to_str()).expect("a name");
    let of_path = sha256(scratch.at("etc/app.conf").as_bytes());
    let expected = format!("etc-app.conf.{}.{}.1700000000", &of_path[..8], &sha256(b"old")[..12]);
    assert!(name.ends_with(&expected), "{name}");
    assert_eq!(kept.parent(), Some(&*state.join("backups")));
    assert_eq!((mode(&kept), mode(&state), mode(&state.join("backups"))), (0o600, 0o700, 0o700));
    assert_eq!(std::fs::read_to_string(&kept).expect("the backup"), "old");
    let count = std::fs::read_dir(state.join("backups")).expect("the backups").count();
    assert_eq!(count, 1);
}

#[test]
fn similar_paths_have_separate_backups() {
    let scratch = Scratch::new();
    let state = scratch.path().join("state");
    let kept = ["a/b", "a-b", "a b"].map(|name| {
        let path = scratch.write(name, "same");
        files().back_up(&path, &state, UNIX_EPOCH).expect("a backup")
    });
    assert!(kept.iter().all(|one| kept.iter().filter(|other| *other == one).count() == 1), "{kept:?}");
}

#[test]
fn leftover_of_a_killed_backup_is_removed_by_the_next() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    let state = scratch.path().join("state");
    let back_up = |seconds| files().back_up(&path, &state, UNIX_EPOCH + Duration::from_secs(seconds));
    let kept = back_up(1).expect("a backup");
    let name = kept.file_name().and_then(|name| name.to_str()).expect("a name");
    let without_content_and_time = name.rsplitn(3, '.').last().expect("a beginning");
    let leftover = state.join("backups").join(format!(".{without_content_and_time}.ccm-new"));
    std::fs::write(&leftover, "half").expect("a leftover");
    back_up(2).expect("a backup");
    assert!(!leftover.exists());
}

#[test]
fn backup_directory_that_can_not_be_created_is_an_error() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    let blocked = scratch.write("file", "");
    let error = error_text(files().back_up(&path, &blocked, UNIX_EPOCH)).replace(&scratch.at(""), "");
    assert_eq!(error, "\"file/backups\" could not be created: Not a directory (os error 20)");
}
