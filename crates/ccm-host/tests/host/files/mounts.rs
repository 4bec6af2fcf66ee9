//! Mount points and full disks, in mounts of the test's own.

use std::path::Path;
use std::time::UNIX_EPOCH;

use ccm_host::{AfterFailure, BackupName, Files as _, NewContent, NewFile};
use ccm_testkit::{Scratch, isolated_with_setup, needs_own_mounts};
use nix::mount::{MsFlags, mount, umount};

use crate::files::{attributes, error_text, files, mode, set_mode, write};

/// Variable that is set in the process with its own mounts.
const PRIVATE: &str = "CCM_TEST_PRIVATE_MOUNTS";

/// Runs the body in a process with its own mounts.
fn with_own_mounts(body: impl FnOnce(&Scratch)) {
    if !needs_own_mounts() {
        return;
    }
    let preparation = format!("export {PRIVATE}=yes; exec unshare -m \"$0\" \"$@\"");
    isolated_with_setup(&preparation, || {
        assert!(std::env::var_os(PRIVATE).is_some());
        body(&Scratch::new());
    });
}

fn mount_tmpfs(path: &Path, size: &str) {
    std::fs::create_dir_all(path).expect("a directory");
    mount(Some("tmpfs"), path, Some("tmpfs"), MsFlags::empty(), Some(&*format!("size={size}")))
        .expect("a mount");
}

fn bind(from: &Path, to: &Path) {
    mount(Some(from), to, None::<&str>, MsFlags::MS_BIND, None::<&str>).expect("a mount");
}

#[test]
fn full_disk_leaves_the_old_file() {
    with_own_mounts(|scratch| {
        let disk = scratch.path().join("disk");
        mount_tmpfs(&disk, "64k");
        let path = scratch.write("disk/f", "old");
        let before = scratch.path().join("big");
        std::fs::write(&before, "x".repeat(1 << 20)).expect("a file");
        let big = "x".repeat(1 << 20);
        let shown = |text: String| text.replace(&scratch.at(""), "");
        let expected = "\"disk/f\" could not be written: No space left on device (os error 28)";
        assert_eq!(shown(error_text(write(&path, &big))), expected);
        let copy = NewFile { content: NewContent::CopyOf(&before), attributes: attributes(0o600) };
        assert_eq!(shown(error_text(files().write(&path, &copy))), expected);
        assert_eq!((scratch.read("disk/f").as_deref(), mode(&path)), (Some("old"), 0o644));
        let left = std::fs::read_dir(&disk).expect("the disk").count();
        assert_eq!(left, 1);
        umount(&disk).expect("an end");
    });
}

#[test]
fn disk_that_fills_up_among_many_files_leaves_each_old_or_new() {
    with_own_mounts(|scratch| {
        let disk = scratch.path().join("disk");
        mount_tmpfs(&disk, "64k");
        let paths: Vec<_> = (0..20).map(|number| scratch.write(&format!("disk/{number}"), "")).collect();
        let new = "x".repeat(8 << 10);
        let file = NewFile { content: NewContent::Bytes(new.as_bytes()), attributes: attributes(0o600) };
        let files_to_write: Vec<_> = paths.iter().map(|path| (&**path, file)).collect();
        for after_failure in [AfterFailure::Continue, AfterFailure::Stop] {
            for path in &paths {
                std::fs::write(path, "").expect("an empty file");
            }
            let written = files().write_many(&files_to_write, after_failure);
            let count = written.iter().filter(|written| written.is_ok()).count();
            assert!((1..10).contains(&count), "{after_failure:?}: {count} were written");
            for (path, written) in paths.iter().zip(&written) {
                let found = std::fs::read_to_string(path).expect("a file");
                let expected = if written.is_ok() { new.as_str() } else { "" };
                assert!(found == expected, "{after_failure:?}: {} is half written", path.display());
            }
            let is_written = |written: &Result<String, _>| written.is_ok();
            let stopped =
                written.iter().rposition(is_written) < written.iter().position(|one| !is_written(one));
            assert!(stopped || after_failure == AfterFailure::Continue, "a file was written after a failure");
            assert_eq!(std::fs::read_dir(&disk).expect("the disk").count(), paths.len());
        }
        umount(&disk).expect("an end");
    });
}

#[test]
fn backup_that_does_not_fit_is_not_begun() {
    with_own_mounts(|scratch| {
        let disk = scratch.path().join("disk");
        mount_tmpfs(&disk, "64k");
        let path = scratch.write("big", "x".repeat(1 << 20));
        let error = error_text(files().back_up(&path, &disk, UNIX_EPOCH, BackupName::Path));
        let (start, end) = ("\"disk/backups/", "\" could not be written: No space left on device");
        let error = error.replace(&scratch.at(""), "");
        assert!(error.starts_with(start) && error.contains(end) && !error.contains(".ccm-new"), "{error}");
        assert_eq!(std::fs::read_dir(disk.join("backups")).expect("the backups").count(), 0);
        umount(&disk).expect("an end");
    });
}

#[test]
fn mount_point_is_neither_replaced_nor_removed() {
    with_own_mounts(|scratch| {
        let disk = scratch.path().join("disk");
        mount_tmpfs(&disk, "64k");
        let file = scratch.write("file", "mounted over");
        let other = scratch.write("other", "other");
        bind(&other, &file);
        let shown = |text: String| text.replace(&scratch.at(""), "");
        for (path, mount) in [(&file, Some(&file)), (&disk, Some(&disk)), (&other, None)] {
            assert_eq!(files().blocking_mount(path, false).expect("a result").as_ref(), mount);
        }
        assert_eq!(shown(error_text(write(&file, "new"))), "can't replace or remove mount point \"file\"");
        assert_eq!(
            shown(error_text(files().remove(&file, false))),
            "can't replace or remove mount point \"file\""
        );
        for force in [false, true] {
            assert_eq!(
                shown(error_text(files().remove(&disk, force))),
                "can't replace or remove mount point \"disk\""
            );
        }
        // The attributes are those of the mounted file system, and can be changed.
        files().set_attributes(&disk, attributes(0o700)).expect("a change");
        assert_eq!(mode(&disk), 0o700);
        umount(&file).expect("an end");
        umount(&disk).expect("an end");
        assert_eq!(scratch.read("file").as_deref(), Some("mounted over"));
    });
}

#[test]
fn force_removes_nothing_if_a_mount_point_is_below() {
    with_own_mounts(|scratch| {
        let top = scratch.path().join("a top");
        scratch.write("a top/1", "kept");
        scratch.write("a top/z", "kept");
        let disk = scratch.path().join("a top/deep/disk");
        mount_tmpfs(&disk, "64k");
        scratch.write("a top/deep/disk/f", "mounted");
        let in_the_way = |below| files().blocking_mount(&top, below).expect("a result");
        assert_eq!((in_the_way(false), in_the_way(true)), (None, Some(disk.clone())));
        let error = files().remove(&top, true).expect_err("a refusal");
        assert!(!error.changed());
        assert_eq!(
            error.to_string().replace(&scratch.at(""), ""),
            "can't replace or remove mount point \"a top/deep/disk\""
        );
        let kept = ["a top/1", "a top/z", "a top/deep/disk/f"].map(|name| scratch.has(name));
        assert_eq!(kept, [true; 3]);
        umount(&disk).expect("an end");
        // A bind mount has the same device number.
        scratch.write("elsewhere/f", "kept");
        bind(&scratch.path().join("elsewhere"), &disk);
        assert!(error_text(files().remove(&top, true)).contains("mount point"));
        assert!(scratch.has("elsewhere/f"));
        umount(&disk).expect("an end");
        files().remove(&top, true).expect("a removal");
    });
}

#[test]
fn read_only_disk_is_reported() {
    with_own_mounts(|scratch| {
        let disk = scratch.path().join("disk");
        mount_tmpfs(&disk, "64k");
        let path = scratch.write("disk/f", "old");
        set_mode(&path, 0o600);
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
        mount(None::<&str>, &disk, None::<&str>, flags, None::<&str>).expect("a mount");
        let shown = error_text(write(&path, "new")).replace(&scratch.at(""), "");
        assert_eq!(shown, "\"disk/f\" could not be written: Read-only file system (os error 30)");
        assert_eq!(scratch.read("disk/f").as_deref(), Some("old"));
        umount(&disk).expect("an end");
    });
}
