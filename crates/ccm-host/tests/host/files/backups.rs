//! Backups of old content.

use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::time::{Duration, UNIX_EPOCH};

use ccm_host::{BackupMetadata, BackupName, Files as _, sha256};
use ccm_testkit::Scratch;

use crate::files::{error_text, files, mode, set_mode};

#[test]
fn backup_is_private() {
    let scratch = Scratch::new();
    let path = scratch.write("etc/app.conf", "old");
    set_mode(&path, 0o644);
    let state = scratch.path().join("var/ccm");
    let at = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let kept = files().back_up(&path, &state, at, BackupName::Path).expect("a backup");
    let again = files().back_up(&path, &state, at, BackupName::Path).expect("a backup");
    let name = kept.file_name().and_then(|name| name.to_str()).expect("a name");
    let of_path = sha256(scratch.at("etc/app.conf").as_bytes());
    assert!(name.ends_with(&format!("etc-app.conf.{}.1700000000", &of_path[..8])), "{name}");
    assert_eq!(again.to_string_lossy(), format!("{}.2", kept.display()));
    assert_eq!(kept.parent(), Some(&*state.join("backups")));
    assert_eq!((mode(&kept), mode(&state), mode(&state.join("backups"))), (0o600, 0o700, 0o700));
    assert_eq!(std::fs::read_to_string(&kept).expect("the backup"), "old");
    let count = std::fs::read_dir(state.join("backups")).expect("the backups").count();
    assert_eq!(count, 4, "two backups, each with a description");
    let description = std::fs::read(format!("{}.json", kept.display())).expect("the description");
    let description: BackupMetadata = serde_json::from_slice(&description).expect("JSON");
    assert_eq!((description.path.as_deref(), description.mode), (Some(&*scratch.at("etc/app.conf")), 0o644));
}

#[test]
fn name_of_a_backup_does_not_depend_on_the_content() {
    let names = ["8472", "a longer one"].map(|content| {
        let scratch = Scratch::new();
        let path = scratch.write("pin", content);
        let kept = files()
            .back_up(&path, &scratch.path().join("state"), UNIX_EPOCH, BackupName::Path)
            .expect("a backup");
        let of_path = sha256(path.to_string_lossy().as_bytes());
        let name = kept.file_name().expect("a name").to_string_lossy().into_owned();
        (name.contains(&sha256(content.as_bytes())[..6]), name.replace(&of_path[..8], "PATH"))
    });
    let [(first_tells, first), (second_tells, second)] = names;
    let [first, second] = [first, second].map(|name| name.rsplit_once("-pin").map(|it| it.1.to_owned()));
    assert_eq!((first_tells, second_tells, first.as_deref()), (false, false, Some(".PATH.0")));
    assert_eq!(first, second);
}

#[test]
fn similar_paths_have_separate_backups() {
    let scratch = Scratch::new();
    let state = scratch.path().join("state");
    let kept = ["a/b", "a-b", "a b"].map(|name| {
        let path = scratch.write(name, "same");
        files().back_up(&path, &state, UNIX_EPOCH, BackupName::Path).expect("a backup")
    });
    assert!(kept.iter().all(|one| kept.iter().filter(|other| *other == one).count() == 1), "{kept:?}");
}

#[test]
fn leftover_of_a_killed_backup_is_removed_by_the_next() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    let state = scratch.path().join("state");
    let back_up =
        |seconds| files().back_up(&path, &state, UNIX_EPOCH + Duration::from_secs(seconds), BackupName::Path);
    let kept = back_up(1).expect("a backup");
    let name = kept.file_name().and_then(|name| name.to_str()).expect("a name");
    let without_time = name.rsplit_once('.').expect("a time").0;
    let leftover = state.join("backups").join(format!(".{without_time}.ccm-new"));
    std::fs::write(&leftover, "half").expect("a leftover");
    back_up(2).expect("a backup");
    assert!(!leftover.exists());
}

#[test]
fn holes_of_a_file_stay_holes() {
    let scratch = Scratch::new();
    let path = scratch.path().join("f");
    let (middle, end) = (1 << 28, 1 << 30);
    let file = std::fs::File::create(&path).expect("a file");
    for (text, at) in [(b"begin", 0), (b"inner", middle)] {
        file.write_all_at(text, at).expect("to write");
    }
    file.set_len(end).expect("a long file");
    let back_up = |path| files().back_up(path, &scratch.path().join("state"), UNIX_EPOCH, BackupName::Path);
    let copy = std::fs::File::open(back_up(&path).expect("a backup")).expect("the backup");
    let metadata = copy.metadata().expect("its metadata");
    assert_eq!(metadata.len(), end);
    assert!(metadata.blocks() * 512 < 1 << 20, "{} blocks", metadata.blocks());
    for (text, at) in [(b"begin", 0), (b"inner", middle), (&[0; 5], middle - 5)] {
        let mut found = [0; 5];
        copy.read_exact_at(&mut found, at).expect("to read");
        assert_eq!(&found, text);
    }
    // Without holes, the copy takes another way, in several pieces.
    let long = "0123456789".repeat(30_000);
    let copy = back_up(&scratch.write("long", &long)).expect("a backup");
    assert_eq!(std::fs::read_to_string(copy).expect("the backup"), long);
}

#[test]
fn name_of_an_anonymous_backup_does_not_depend_on_the_path() {
    let scratch = Scratch::new();
    let state = scratch.path().join("state");
    for (name, kept) in [("hunter2", "secret-path.7"), ("another", "secret-path.7.2")] {
        let at = UNIX_EPOCH + Duration::from_secs(7);
        let path = scratch.write(name, name);
        let copy = files().back_up(&path, &state, at, BackupName::Anonymous).expect("a backup");
        assert_eq!(copy, state.join("backups").join(kept));
        assert_eq!(std::fs::read_to_string(copy).expect("the backup"), name);
        let count = std::fs::read_dir(state.join("backups")).expect("the backups").count();
        assert_eq!(
            count,
            if kept.ends_with(".2") { 2 } else { 1 },
            "no description, which would hold the path"
        );
    }
}

#[test]
fn backup_directory_that_can_not_be_created_is_an_error() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    let blocked = scratch.write("file", "");
    let error = error_text(files().back_up(&path, &blocked, UNIX_EPOCH, BackupName::Path))
        .replace(&scratch.at(""), "");
    assert_eq!(error, "\"file/backups\" could not be created: Not a directory (os error 20)");
}
