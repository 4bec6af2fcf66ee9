//! Users.

use std::fs::{create_dir_all, metadata, read_to_string, write};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use crate::accounts::machine::{append, assert_changes, field, line, on_a_copy};
use crate::build::resource;
use crate::local_run::{applied, run_here};

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
fn user_of_a_name_service_is_not_made_twice() {
    on_a_copy(|| {
        let apply = |properties: &[(&str, &str)]| applied(vec![resource("user", "ldapada", properties)]);
        assert_eq!(apply(&[("uid", "7001"), ("shell", "/bin/sh")]), ["unchanged"]);
        let of_service = "user `ldapada` comes from a name service, not from /etc/passwd";
        assert_eq!(apply(&[("shell", "/bin/bash")]), [of_service]);
        assert_eq!(apply(&[("ensure", "absent")]), [of_service]);
        assert_eq!(line("/etc/passwd", "ldapada"), None);
        // Its number is taken.
        let told = applied(vec![resource("user", "bob", &[("uid", "7001")])]);
        assert_eq!(told, ["uid 7001 belongs to user `ldapada`"]);
    });
}
