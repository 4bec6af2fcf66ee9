//! Errors at load and at the change, after which nothing is half done.

use std::fs::write;
use std::path::Path;
use std::process::Command;

use ccm_model::Outcome;

use crate::accounts::machine::{append, assert_databases_are_whole, hints, line, on_a_copy, succeeds};
use crate::build::{errors_of, resource};
use crate::local_run::{applied, in_noop, run_here};

#[test]
fn errors_are_found_at_load() {
    let user = |name: &str, properties: &[(&str, &str)]| errors_of(&resource("user", name, properties));
    for name in ["a b", "a:b", "-a", "12", "a,b", "..", &"a".repeat(33)] {
        assert_eq!((user(name, &[]).len(), errors_of(&resource("group", name, &[])).len()), (1, 1), "{name}");
    }
    for (property, value) in [
        ("uid", "-1"),
        ("uid", "4294967295"),
        ("uid", "x"),
        ("gid", "a:b"),
        ("groups", "[a b]"),
        ("groups_exclusive", "true"),
        ("home", "relative"),
        ("home", "/a:b"),
        ("shell", "sh"),
        ("comment", "a:b"),
        ("password_hash", "hunter22"),
        ("expires", "2030-02-30"),
    ] {
        assert_eq!(user("ada", &[(property, value)]).len(), 1, "{property}: {value}");
    }
    assert_eq!(user("ada", &[("password_hash", "!"), ("locked", "false")]).len(), 1);
    assert_eq!(user("ada", &[("ensure", "absent"), ("purge_keys", "true")]).len(), 1);
    assert_eq!(errors_of(&resource("group", "web", &[("members_exclusive", "true")])).len(), 1);
    assert_eq!(errors_of(&resource("authorized_key", "ada", &[])).len(), 2);
    assert_eq!(errors_of(&resource("authorized_key", "ada", &[("user", "ada"), ("key", "AAAA")])).len(), 1);
}

#[test]
fn obstacles_are_told_before_anything_is_changed() {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:1500:100:Ada:/home/ada:/bin/sh");
        append("/etc/shadow", "ada:!:19000:0:99999:7:::");
        for (type_name, name, properties, told) in [
            ("user", "bob", &[("uid", "1500")][..], "uid 1500 belongs to user `ada`"),
            ("user", "ada", &[("uid", "0")], "uid 0 belongs to user `root`"),
            ("user", "bob", &[("gid", "nowhere")], "group `nowhere` does not exist"),
            ("user", "bob", &[("gid", "4242")], "group `4242` does not exist"),
            ("user", "ada", &[("groups", "[adm|nowhere]")], "group `nowhere` does not exist"),
            (
                "user",
                "ada",
                &[("groups", "[ldapgroup]")],
                "group `ldapgroup` comes from a name service, not from /etc/group",
            ),
            ("group", "bob", &[("gid", "100")], "gid 100 belongs to group `users`"),
            ("group", "adm", &[("members", "[ghost]")], "user `ghost`, a member of `adm`, does not exist"),
            ("group", "users", &[("ensure", "absent")], "group `users` is the primary group of user `ada`"),
        ] {
            let resources = || vec![resource(type_name, name, properties)];
            assert_eq!(in_noop(resources()), [told], "{name}");
            assert_eq!(applied(resources()), [told], "{name}");
        }
        let taken = resource("user", "bob", &[("uid", "1500")]);
        let hint = "use another `uid`, or change the number of `ada` with an earlier resource";
        assert_eq!(hints(vec![taken]), [hint]);
        assert_eq!(line("/etc/passwd", "bob"), None);
        assert_databases_are_whole();
    });
}

#[test]
fn user_with_processes_is_not_renumbered() {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:54321:100:Ada:/:/bin/sh");
        let mut process = Command::new("setpriv")
            .args(["--reuid=54321", "--regid=100", "--clear-groups", "sleep", "1000"])
            .spawn()
            .expect("a process");
        ccm_testkit::wait_until("the process has its user", || {
            succeeds(&format!("test \"$(stat -c %u /proc/{})\" = 54321", process.id()))
        });
        let told = applied(vec![resource("user", "ada", &[("uid", "1500")])]).remove(0);
        let pid = process.id();
        let removed = applied(vec![resource("user", "ada", &[("ensure", "absent")])]).remove(0);
        let mut told_of_all = String::new();
        for properties in [[("ensure", "absent")], [("home", "/srv/new")], [("uid", "1500")]] {
            let changed = vec![resource("user", "ada", &properties)];
            let named = format!("process {pid} (sleep)");
            let told = (&hints(changed.clone())[..], run_here(changed, true).remove(0));
            let is_foreseen = match &told.1.outcome {
                Outcome::Failed(failure) => failure.hints.iter().any(|hint| hint.contains(&named)),
                _ => {
                    told.1.warnings == [format!("a run would fail now: user `ada` is used by process {pid}")]
                }
            };
            if !(is_foreseen && matches!(told.0, [hint] if hint.contains(&named))) {
                told_of_all += &format!("{properties:?}: {told:?}\n");
            }
        }
        process.kill().and_then(|()| process.wait()).expect("its end");
        let expected = format!("user `ada` is logged in or has running processes, such as {pid}");
        assert_eq!(told, expected);
        let expected =
            format!("userdel failed with exit code 8: user ada is currently used by process {pid}");
        assert_eq!(removed, expected);
        assert_eq!(told_of_all, "");
        assert_eq!(applied(vec![resource("user", "ada", &[("uid", "1500")])]), ["changed"]);
    });
}

#[test]
fn home_on_a_full_disk_leaves_no_user() {
    on_a_copy(|| {
        write("/etc/skel/large", vec![1; 200_000]).expect("a file");
        assert!(succeeds("mount -t tmpfs -o size=64k,mode=0755 tmpfs /srv"));
        let full = || resource("user", "ada", &[("home", "/srv/ada"), ("manage_home", "true")]);
        let told = applied(vec![full()]).remove(0);
        assert!(told.starts_with("the home directory can't be made: "), "{told}");
        assert!(!told.contains("(changed)"), "{told}");
        assert!(line("/etc/passwd", "ada").is_none() && !Path::new("/srv/ada").exists(), "{told}");
        assert_databases_are_whole();
        // The same for a user who exists.
        append("/etc/passwd", "ada:x:1500:100:Ada:/srv/ada:/bin/sh");
        let told = applied(vec![full()]).remove(0);
        assert!(told.starts_with("the home directory can't be made: "), "{told}");
        assert!(!told.contains("(changed)") && !Path::new("/srv/ada").exists(), "{told}");
    });
}

#[test]
fn a_home_without_its_parent_directory_comes_with_a_hint() {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:1500:100:Ada:/srv/none/ada:/bin/sh");
        let homeless = resource("user", "ada", &[("manage_home", "true")]);
        assert_eq!(
            hints(vec![homeless]),
            ["manage the directory with a file resource and `ensure: directory`"]
        );
    });
}

#[test]
fn strangers_lead_no_home_elsewhere() {
    on_a_copy(|| {
        assert!(succeeds(
            "mkdir -p /srv/root/ada /srv/theirs/ada /srv/moved && touch /srv/root/ada/kept /srv/theirs/ada/kept \
             && ln -s /srv/root /srv/link && chown -h 4242 /srv/link /srv/theirs \
             && chown -R 1500 /srv/root/ada /srv/theirs/ada"
        ));
        let user = |properties: &[(&str, &str)]| resource("user", "ada", properties);
        let link = "the link \"/srv/link\", on the way to \"/srv/link/ada\", belongs to uid 4242 and is not followed";
        let directory = "the directory \"/srv/theirs\", on the way to \"/srv/theirs/ada\", belongs to uid 4242, who could lead ccm elsewhere";
        let new = [("home", "/srv/link/new"), ("manage_home", "true")];
        let told = "the home directory can't be made: the link \"/srv/link\", on the way to \"/srv/link/new\", belongs to uid 4242 and is not followed";
        assert_eq!(
            (in_noop(vec![user(&new)]), applied(vec![user(&new)])),
            (vec![told.to_owned()], vec![told.to_owned()])
        );
        assert!(line("/etc/passwd", "ada").is_none());
        for (home, told) in [("/srv/link/ada", link), ("/srv/theirs/ada", directory)] {
            append("/etc/passwd", &format!("ada:x:1500:100:Ada:{home}:/bin/sh"));
            append("/etc/shadow", "ada:!:19000:0:99999:7:::");
            let moved = [("home", "/srv/moved/ada"), ("manage_home", "true")];
            let removed = [("ensure", "absent"), ("manage_home", "true")];
            for properties in [&moved, &removed] {
                assert_eq!(in_noop(vec![user(properties)]), [told]);
                assert_eq!(applied(vec![user(properties)]), [told]);
            }
            // Without `manage_home` the path is a text.
            assert_eq!(applied(vec![user(&[("ensure", "absent")])]), ["changed"]);
        }
        append("/etc/passwd", "ada:x:1500:100:Ada:/srv/root/ada:/bin/sh");
        append("/etc/shadow", "ada:!:19000:0:99999:7:::");
        let told = link.replace("link/ada", "link/new");
        assert_eq!(applied(vec![user(&[("home", "/srv/link/new"), ("manage_home", "true")])]), [told]);
        assert!(succeeds("test -e /srv/root/ada/kept -a -e /srv/theirs/ada/kept -a ! -e /srv/root/new"));
        // A link of root is no stranger's.
        assert!(succeeds("rm /srv/link && ln -s /srv/root /srv/link"));
        assert_eq!(applied(vec![user(&[("home", "/srv/link/new"), ("manage_home", "true")])]), ["changed"]);
        assert!(succeeds("test -e /srv/root/new/kept"));
    });
}
