//! Users.

use std::fs::{create_dir_all, metadata, read_to_string, write};
use std::os::unix::fs::{MetadataExt as _, chown, symlink};
use std::path::Path;

use crate::accounts::machine::{append, assert_changes, field, line, on_a_copy};
use crate::build::resource;
use crate::local_run::{applied, in_noop, outcome, run_here};

const HASH: &str = "$6$saltsalt$abcdefgh";

#[test]
fn user_is_made_with_all_properties() {
    on_a_copy(|| {
        write("/etc/skel/.profile-of-test", "hello").expect("a file");
        let properties = [
            ("uid", "1500"),
            ("gid", "users"),
            ("groups", "[adm|docker]"),
            ("home", "/srv/ada"),
            ("manage_home", "true"),
            ("shell", "/bin/sh"),
            ("comment", "Ada Lovelace"),
            ("password_hash", HASH),
            ("expires", "2035-06-30"),
        ];
        assert_changes(&[resource("user", "ada", &properties)]);
        let found = line("/etc/passwd", "ada");
        assert_eq!(found.as_deref(), Some("ada:x:1500:100:Ada Lovelace:/srv/ada:/bin/sh"));
        assert_eq!(
            (field("/etc/shadow", "ada", 1), field("/etc/shadow", "ada", 7)),
            (HASH.to_owned(), "23921".to_owned())
        );
        assert_eq!(
            (field("/etc/group", "adm", 3), field("/etc/group", "docker", 3)),
            ("ada".to_owned(), "ada".to_owned())
        );
        assert_eq!(metadata("/srv/ada/.profile-of-test").expect("a file").uid(), 1500);
        assert_changes(&[resource("user", "ada", &[("ensure", "absent"), ("manage_home", "true")])]);
        assert!(line("/etc/passwd", "ada").is_none() && !Path::new("/srv/ada").exists());
        assert_eq!(field("/etc/group", "adm", 3), "");
    });
}

#[test]
fn user_is_changed() {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:1500:100:Ada:/home/ada:/bin/sh");
        append("/etc/shadow", "ada:!:19000:0:99999:7:::");
        create_dir_all("/home/ada").expect("a directory");
        write("/home/ada/file", "x").expect("a file");
        let change = |properties: &[(&str, &str)]| assert_changes(&[resource("user", "ada", properties)]);
        change(&[("uid", "1501"), ("shell", "/bin/bash"), ("comment", "-n")]);
        assert_eq!(line("/etc/passwd", "ada").as_deref(), Some("ada:x:1501:100:-n:/home/ada:/bin/bash"));
        change(&[("comment", "")]);
        change(&[("home", "/srv/moved"), ("manage_home", "true")]);
        assert!(Path::new("/srv/moved/file").exists() && !Path::new("/home/ada").exists());
        change(&[("home", "/home/other")]);
        assert!(!Path::new("/home/other").exists());
        change(&[("manage_home", "true")]);
        let made = metadata("/home/other").expect("a directory");
        assert_eq!((made.uid(), made.mode() & 0o7777), (1501, 0o700));
        change(&[("groups", "[adm]")]);
        change(&[("groups", "[docker]")]);
        assert_eq!(field("/etc/group", "adm", 3), "ada");
        change(&[("groups", "[docker]"), ("groups_exclusive", "true")]);
        assert_eq!(field("/etc/group", "adm", 3), "");
        change(&[("groups", "[]"), ("groups_exclusive", "true")]);
        change(&[("gid", "150")]);
        assert_eq!(applied(vec![resource("user", "ada", &[("groups", "[docker]")])]), ["unchanged"]);
        change(&[("expires", "2035-06-30")]);
        change(&[("expires", "never")]);
        assert_eq!(field("/etc/shadow", "ada", 7), "");
    });
}

#[test]
fn passwords_and_locks_are_independent() {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:1500:100:Ada:/home/ada:/bin/sh");
        append("/etc/shadow", "ada:!!:19000:0:99999:7:::");
        let password = || field("/etc/shadow", "ada", 1);
        let change = |properties: &[(&str, &str)]| assert_changes(&[resource("user", "ada", properties)]);
        change(&[("password_hash", HASH)]);
        assert_eq!(password(), HASH);
        change(&[("locked", "true")]);
        assert_eq!(password(), format!("!{HASH}"));
        change(&[("password_hash", "$6$other$hash")]);
        assert_eq!(password(), "!$6$other$hash");
        change(&[("password_hash", HASH), ("locked", "false")]);
        assert_eq!(password(), HASH);
        change(&[("password_hash", "*")]);
        change(&[("password_hash", "!")]);
        assert_eq!(password(), "!");
        let told = applied(vec![resource("user", "ada", &[("locked", "false")])]);
        assert_eq!(told, ["user `ada` has no password that could be unlocked"]);
        let shadow = read_to_string("/etc/shadow").expect("a file").replace("ada:!:", "ada:!!$6$a$b:");
        write("/etc/shadow", shadow).expect("a file");
        change(&[("locked", "false")]);
        assert_eq!(password(), "$6$a$b");
        assert_changes(&[resource("user", "bob", &[("locked", "true")])]);
        assert_changes(&[resource("user", "eve", &[("locked", "true"), ("password_hash", HASH)])]);
        assert_eq!(field("/etc/shadow", "eve", 1), format!("!{HASH}"));
    });
}

#[test]
fn password_is_shown_nowhere() {
    on_a_copy(|| {
        let resources = || vec![resource("user", "ada", &[("password_hash", HASH), ("comment", HASH)])];
        for noop in [true, false, false] {
            let shown = format!("{:?}", run_here(resources(), noop));
            assert!(!shown.contains("abcdefgh"), "{shown}");
        }
    });
}

#[test]
fn group_with_the_name_of_a_new_user_is_used() {
    on_a_copy(|| {
        let group = resource("group", "web", &[("gid", "700")]);
        let user = resource("user", "web", &[("system", "true")]);
        assert_changes(&[group, user]);
        assert_eq!(field("/etc/passwd", "web", 3), "700");
        assert!(!Path::new("/home/web").exists());
    });
}

#[test]
fn removed_home_is_counted() {
    on_a_copy(|| {
        let absent = || vec![resource("user", "ada", &[("ensure", "absent"), ("manage_home", "true")])];
        let with_home = |owner: u32| {
            append("/etc/passwd", "ada:x:1500:100:Ada:/home/ada:/bin/sh");
            create_dir_all("/home/ada/deep").expect("a directory");
            write("/home/ada/deep/file", "12345").expect("a file");
            symlink("/etc/passwd", "/home/ada/link").expect("a link");
            chown("/home/ada", Some(owner), Some(100)).expect("an owner");
        };
        with_home(1500);
        let told = "Would have removed: home directory /home/ada with 2 files, 5 bytes";
        assert_eq!(in_noop(absent()), [told]);
        assert_changes(&absent());
        assert!(!Path::new("/home/ada").exists());
        with_home(0);
        assert_eq!(in_noop(absent()), ["Would have removed"]);
        assert_eq!(applied(absent()), ["changed"]);
        assert!(Path::new("/home/ada/deep/file").exists());
    });
}

#[test]
fn a_new_home_of_somebody_else_is_warned_of() {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:1500:100:Ada:/home/ada:/bin/sh");
        append("/etc/shadow", "ada:!:19000:0:99999:7:::");
        create_dir_all("/home/ada").expect("a directory");
        create_dir_all("/srv/ada").expect("a directory");
        let user = |home: &str| vec![resource("user", "ada", &[("home", home), ("manage_home", "true")])];
        let warnings = |resources: Vec<_>, noop| run_here(resources, noop).remove(0).warnings;
        let told = "the home directory \"/srv/ada\" exists and belongs to `root`, so that user `ada` can't write there, and the files in \"/home/ada\" stay behind; give it to `ada` with a `file` resource";
        assert_eq!(warnings(user("/srv/ada"), true), [told]);
        let managed = || resource("file", "/srv/ada", &[("ensure", "directory"), ("owner", "ada")]);
        assert_eq!(warnings([user("/srv/ada"), vec![managed()]].concat(), true), [""; 0]);
        assert_eq!(warnings(user("/srv/ada"), false), [told]);
        chown("/home/ada", Some(1500), Some(100)).expect("an owner");
        assert_eq!(warnings(user("/home/ada"), false), [""; 0]);
        assert_eq!(line("/etc/passwd", "ada").as_deref(), Some("ada:x:1500:100:Ada:/home/ada:/bin/sh"));
    });
}

#[test]
fn other_name_of_the_primary_group_counts_as_the_group() {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:1500:100:Ada:/home/ada:/bin/sh");
        append("/etc/shadow", "ada:!:19000:0:99999:7:::");
        append("/etc/group", "people:x:100:");
        append("/etc/gshadow", "people:!::");
        let member = |groups: &str| applied(vec![resource("user", "ada", &[("groups", groups)])]);
        assert_eq!(member("[people]"), ["unchanged"]);
        assert_eq!(member("[people|adm]"), ["changed"]);
        assert_eq!(member("[people|adm]"), ["unchanged"]);
        let told =
            "group `people` has gid 100, that of the primary group of user `ada`, as has group `users`";
        let absent = || vec![resource("group", "people", &[("ensure", "absent")])];
        assert_eq!((in_noop(absent()), applied(absent())), (vec![told.to_owned()], vec![told.to_owned()]));
    });
}

#[test]
fn user_of_two_sources_is_removed_here() {
    on_a_copy(|| {
        append("/etc/passwd", "ldapada:x:1500:100:Ada:/:/bin/sh");
        append("/etc/shadow", "ldapada:!:19000:0:99999:7:::");
        let absent = || vec![resource("user", "ldapada", &[("ensure", "absent")])];
        let told = "the name service `extra` still has the user `ldapada`: ccm removes only what is in the files of this machine";
        for (noop, expected) in
            [(true, "Would have removed"), (false, "changed"), (false, "unchanged"), (true, "unchanged")]
        {
            let done = run_here(absent(), noop).remove(0);
            assert_eq!((&*outcome(&done), &*done.warnings), (expected, &[told.to_owned()][..]));
        }
        assert_eq!(line("/etc/passwd", "ldapada"), None);
    });
}

#[test]
fn user_of_a_name_service_is_not_made_twice() {
    on_a_copy(|| {
        let apply = |properties: &[(&str, &str)]| applied(vec![resource("user", "ldapada", properties)]);
        assert_eq!(apply(&[("uid", "7001"), ("shell", "/bin/sh")]), ["unchanged"]);
        let of_service = "user `ldapada` comes from a name service, not from /etc/passwd";
        assert_eq!(apply(&[("shell", "/bin/bash")]), [of_service]);
        assert_eq!(line("/etc/passwd", "ldapada"), None);
        // Its number is taken.
        let told = applied(vec![resource("user", "bob", &[("uid", "7001")])]);
        assert_eq!(told, ["uid 7001 belongs to user `ldapada`"]);
    });
}
