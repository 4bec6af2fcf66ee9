//! Authorized keys.

use std::fs::{create_dir_all, metadata, read_to_string, write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};
use std::path::Path;

use ccm_model::{Resource, Span, Spanned};

use crate::accounts::machine::{append, assert_changes, hints, on_a_copy, succeeds};
use crate::build::resource;
use crate::encodings::assert_right_or_refused;
use crate::local_run::{applied, in_noop};

const ONE: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGAbLmuMIVT/jf24lgRRDjCBFZWm9GBlBgxHGGCvm3kG";
const TWO: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

const FILE: &str = "/home/ada/.ssh/authorized_keys";

fn key(name: &str, properties: &[(&str, &str)]) -> Resource {
    resource("authorized_key", name, &[&[("user", "ada")], properties].concat())
}

fn with_ada(body: impl FnOnce()) {
    on_a_copy(|| {
        append("/etc/passwd", "ada:x:1500:100:Ada:/home/ada:/bin/sh");
        create_dir_all("/home/ada").expect("a directory");
        chown("/home/ada", Some(1500), Some(100)).expect("an owner");
        body();
    });
}

fn keys() -> String {
    read_to_string(FILE).expect("the keys")
}

#[test]
fn key_is_added_changed_and_removed() {
    with_ada(|| {
        assert_changes(&[key("ada@web", &[("key", ONE)])]);
        assert_eq!(keys(), format!("{ONE} ada@web\n"));
        for (path, mode) in [("/home/ada/.ssh", 0o700), (FILE, 0o600)] {
            let found = metadata(path).expect("a file");
            assert_eq!((found.uid(), found.gid(), found.mode() & 0o7777), (1500, 100, mode), "{path}");
        }
        assert_changes(&[key("two words", &[("key", TWO), ("options", "[no-pty|command=\"x y\"]")])]);
        assert_eq!(keys(), format!("{ONE} ada@web\nno-pty,command=\"x y\" {TWO} two words\n"));
        assert_changes(&[key("other", &[("key", ONE)])]);
        assert_changes(&[key("two words", &[("key", TWO), ("options", "[]")])]);
        assert_eq!(keys(), format!("{ONE} other\n{TWO} two words\n"));
        assert_changes(&[key("other", &[("ensure", "absent")])]);
        assert_changes(&[key("any", &[("ensure", "absent"), ("key", TWO)])]);
        assert_eq!(keys(), "");
    });
}

#[test]
fn keys_that_no_resource_has_are_purged() {
    with_ada(|| {
        create_dir_all("/home/ada/.ssh").expect("a directory");
        write(FILE, format!("# mine\n{ONE} a\nno-pty {TWO} b")).expect("the keys");
        write("/home/ada/.ssh/authorized_keys2", format!("{TWO}\n")).expect("the keys");
        for path in ["/home/ada/.ssh", FILE] {
            chown(path, Some(1500), Some(100)).expect("an owner");
        }
        let user = || resource("user", "ada", &[("purge_keys", "true")]);
        let one = || key("a", &[("key", ONE)]);
        assert_eq!(applied(vec![user(), one()]), ["changed", "unchanged"]);
        assert_eq!(applied(vec![user(), one()]), ["unchanged", "unchanged"]);
        assert_eq!(keys(), format!("# mine\n{ONE} a\n"));
        assert_eq!(read_to_string("/home/ada/.ssh/authorized_keys2").expect("a file"), "");
        // Nothing is removed while a key is not known.
        let late = key("b", &[("key", "${ Captures.made.key }")]);
        let told = applied(vec![user(), late]);
        assert_eq!(told[0], "unchanged");
    });
}

#[test]
fn bytes_of_other_lines_stay() {
    with_ada(|| {
        create_dir_all("/home/ada/.ssh").expect("a directory");
        let lines = |parts: &[&[u8]]| parts.concat();
        let kept = lines(&[b"# caf\xe9\r\ncommand=\"caf\xe9\" ", ONE.as_bytes(), b" caf\xe9\0\r\n"]);
        let stolen = lines(&[TWO.as_bytes(), b" \xff\n"]);
        write(FILE, lines(&[&kept, &stolen])).expect("the keys");
        for path in ["/home/ada/.ssh", FILE] {
            chown(path, Some(1500), Some(100)).expect("an owner");
        }
        // Whoever may write a comment does not keep a key by it.
        assert_changes(&[key("stolen", &[("key", TWO), ("ensure", "absent")])]);
        assert_eq!(std::fs::read(FILE).expect("the keys"), kept);
        write(FILE, lines(&[&stolen, &kept])).expect("the keys");
        let user = resource("user", "ada", &[("purge_keys", "true")]);
        // A comment is changed, the options stay.
        assert_eq!(applied(vec![user, key("a", &[("key", ONE)])]), ["changed", "changed"]);
        let expected = lines(&[b"# caf\xe9\r\ncommand=\"caf\xe9\" ", ONE.as_bytes(), b" a\r\n"]);
        assert_eq!(std::fs::read(FILE).expect("the keys"), expected);
        write(FILE, b"\xff\xfea\0").expect("the keys");
        let told = applied(vec![key("a", &[("key", ONE)])]);
        assert_eq!(told, [format!("\"{FILE}\" is UTF-16 text, whose lines can't be edited")]);
        // A mark in front keeps no key: sshd reads the lines below it.
        for mark in [&b"\xff\xfe\n"[..], b"\xfe\xff\n", b"#\0#\0\n\n"] {
            write(FILE, [mark, &stolen].concat()).expect("the keys");
            assert_changes(&[key("stolen", &[("key", TWO), ("ensure", "absent")])]);
            assert_eq!(std::fs::read(FILE).expect("the keys"), mark);
        }
    });
}

#[test]
fn noop_fails_like_a_run_where_the_user_has_no_rights() {
    with_ada(|| {
        create_dir_all("/home/ada/.ssh").expect("a directory");
        create_dir_all("/srv/closed/ada").expect("a directory");
        write("/home/ada/.ssh/authorized_keys", format!("{TWO} two\n")).expect("the keys");
        let mode = |path: &str, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        };
        let home = |path: &str| {
            let text = read_to_string("/etc/passwd").expect("a file");
            let lines = text.lines().filter(|line| !line.starts_with("ada:")).map(|line| format!("{line}\n"));
            let ada = format!("ada:x:1500:100:Ada:{path}:/bin/sh\n");
            write("/etc/passwd", lines.collect::<String>() + &ada).expect("a file");
        };
        let closed = |path: &str, hint: &str| {
            let told = format!("\"{path}\" belongs to `root`, and ccm writes keys with the rights of `ada`");
            let add = vec![key("a", &[("key", ONE)])];
            let given = resource("file", path, &[("ensure", "directory"), ("owner", "ada")]);
            assert_eq!(
                (in_noop(add.clone()), hints(add.clone())),
                (vec![told.clone()], vec![hint.to_owned()])
            );
            assert_eq!(applied(add.clone()), [told]);
            assert_eq!(in_noop([vec![given], add].concat())[1], format!("not known before file#{path}"));
        };
        closed("/home/ada/.ssh", "run `chown ada: /home/ada/.ssh` and `chmod 700 /home/ada/.ssh`");
        let purge = vec![resource("user", "ada", &[("purge_keys", "true")])];
        let told = "\"/home/ada/.ssh\" belongs to `root`, and ccm writes keys with the rights of `ada`";
        assert_eq!(
            (in_noop(purge.clone()), applied(purge.clone())),
            (vec![told.to_owned()], vec![told.to_owned()])
        );
        // Others may write, whoever owns the directory.
        mode("/home/ada/.ssh", 0o777);
        assert!(in_noop(vec![key("a", &[("key", ONE)])])[0].starts_with("Would have"));
        mode("/home/ada/.ssh", 0o700);
        closed("/home/ada/.ssh", "run `chown ada: /home/ada/.ssh` and `chmod 700 /home/ada/.ssh`");
        std::fs::remove_dir_all("/home/ada/.ssh").expect("no directory");
        chown("/home/ada", Some(0), Some(0)).expect("an owner");
        let advice = "make \"/home/ada/.ssh\" with a `file` resource and `owner: ada`";
        closed("/home/ada", &format!("run `chown ada: /home/ada`, or {advice}"));
        home("/srv");
        closed("/srv", "make \"/srv/.ssh\" with a `file` resource and `owner: ada`");
        home("/srv/closed/ada");
        mode("/srv/closed", 0o700);
        closed("/srv/closed", "use a `home` that `ada` may enter");
        mode("/srv/closed", 0o755);
        chown("/srv/closed/ada", Some(1500), Some(100)).expect("an owner");
        mode("/srv/closed/ada", 0o500);
        let told = "`ada` may not write in \"/srv/closed/ada\", and ccm writes keys with the rights of `ada`";
        let add = vec![key("a", &[("key", ONE)])];
        assert_eq!(
            (in_noop(add.clone()), applied(add.clone())),
            (vec![told.to_owned()], vec![told.to_owned()])
        );
        mode("/srv/closed/ada", 0o700);
        assert_changes(&add);
    });
}

#[test]
fn noop_fails_like_a_run_on_files_that_are_mounted() {
    with_ada(|| {
        create_dir_all("/home/ada/.ssh").expect("a directory");
        write(FILE, format!("{TWO} two\n")).expect("the keys");
        for path in ["/home/ada/.ssh", FILE] {
            chown(path, Some(1500), Some(100)).expect("an owner");
        }
        let user = |properties: &[(&str, &str)]| resource("user", "ada", properties);
        for (path, resource) in [
            (FILE, key("a", &[("key", ONE)])),
            (FILE, key("two", &[("key", TWO), ("ensure", "absent")])),
            (FILE, user(&[("purge_keys", "true")])),
            ("/etc/passwd", user(&[("shell", "/bin/false")])),
            ("/etc/passwd", resource("user", "eve", &[])),
            ("/etc/shadow", resource("user", "nobody", &[("locked", "true")])),
            ("/etc/shadow", resource("user", "nobody", &[("ensure", "absent")])),
            ("/etc/group", user(&[("groups", "[adm]")])),
            ("/etc/group", resource("group", "new", &[])),
            ("/etc/gshadow", resource("group", "adm", &[("members", "[ada]")])),
            ("/etc/group", resource("group", "adm", &[("ensure", "absent")])),
        ] {
            let before = std::fs::read(path).expect("a file");
            assert!(succeeds(&format!("cp -p {path} /srv/copy && mount --bind /srv/copy {path}")));
            let told = format!("can't replace or remove mount point \"{path}\"");
            let [noop, run] = [in_noop(vec![resource.clone()]), applied(vec![resource.clone()])];
            assert_eq!((&noop, &run), (&vec![told.clone()], &vec![told]), "{}", resource.id);
            assert!(std::fs::read(path).expect("a file") == before);
            let unmount = crate::build::resource("mount", path, &[("ensure", "absent")]);
            let told = in_noop(vec![unmount.clone(), resource]);
            // ccm unmounts nothing in the directory of a stranger.
            let is_unmounted = path != FILE;
            assert_eq!(told[1] == format!("not known before {}", unmount.id), is_unmounted, "{told:?}");
            assert!(succeeds(&format!("umount {path}")));
        }
        // What a change does not need may be mounted.
        assert!(succeeds("cp /etc/group /srv/copy && mount --bind /srv/copy /etc/group"));
        assert_eq!(applied(vec![user(&[("shell", "/bin/false")])]), ["changed"]);
        assert!(succeeds("umount /etc/group"));
    });
}

#[test]
fn links_of_the_user_are_not_followed() {
    with_ada(|| {
        create_dir_all("/srv/secret").expect("a directory");
        symlink("/srv/secret", "/home/ada/.ssh").expect("a link");
        let told = applied(vec![key("a", &[("key", ONE)])]).remove(0);
        assert_eq!(told, "\"/home/ada/.ssh\" is a symbolic link");
        let hint = "replace the link with a directory or file: ccm follows no link to a file of keys";
        assert_eq!(hints(vec![key("a", &[("key", ONE)])]), [hint]);
        assert!(!Path::new("/srv/secret/authorized_keys").exists());
    });
}

#[test]
fn missing_user_and_home_are_told() {
    with_ada(|| {
        let ghost = resource("authorized_key", "a", &[("user", "ghost"), ("key", ONE)]);
        assert_eq!(applied(vec![ghost]), ["user `ghost` does not exist"]);
        std::fs::remove_dir("/home/ada").expect("no directory");
        let told = applied(vec![key("a", &[("key", ONE)])]);
        assert_eq!(told, ["the home directory \"/home/ada\" of user `ada` does not exist"]);
    });
}

#[test]
fn files_of_keys_are_edited_rightly_or_refused() {
    with_ada(|| {
        create_dir_all("/home/ada/.ssh").expect("a directory");
        write(FILE, "").expect("the keys");
        for path in ["/home/ada/.ssh", FILE] {
            chown(path, Some(1500), Some(100)).expect("an owner");
        }
        assert_right_or_refused(FILE, &format!("\"{FILE}\""), &key("a", &[("key", ONE)]));
    });
}

#[test]
fn purge_keeps_homes_key_files_and_mount_points_of_other_resources() {
    with_ada(|| {
        append("/etc/passwd", "zoe:x:1700:100:Zoe:/srv/people/zoe:/bin/sh");
        for path in ["bob/.profile", "eve/left", "zoe/left"] {
            create_dir_all(format!("/srv/people/{}", path.split('/').next().expect("a name")))
                .expect("a directory");
            write(format!("/srv/people/{path}"), "").expect("a file");
        }
        chown("/srv/people/zoe", Some(1700), Some(100)).expect("an owner");
        create_dir_all("/srv/m/data").expect("a directory");
        write("/srv/m/data/f", "").expect("a file");
        symlink("/srv/people", "/srv/folk").expect("a link");
        let purged = |path: &str| {
            resource("file", path, &[("ensure", "directory"), ("purge", "true"), ("force", "true")])
        };
        let bob = || resource("user", "bob", &[("home", "/srv/folk/bob"), ("uid", "1600")]);
        let key = || resource("authorized_key", "zoe@web", &[("user", "zoe"), ("key", ONE)]);
        let mount = || {
            let properties = [("ensure", "present"), ("device", "tmpfs"), ("fstype", "tmpfs")];
            resource("mount", "/srv/m/data", &properties)
        };
        assert_changes(&[key()]);
        let all = || vec![purged("/srv/people"), purged("/srv/m"), bob(), key(), mount()];
        assert_eq!(applied(all())[..2], ["changed", "unchanged"]);
        let left = |path: &str| Path::new(path).exists();
        assert!(left("/srv/people/bob/.profile") && left("/srv/people/zoe/.ssh/authorized_keys"));
        assert!(left("/srv/m/data/f") && !left("/srv/people/eve") && !left("/srv/people/zoe/left"));
        assert_eq!(applied(all())[..2], ["unchanged", "unchanged"]);
        // What is to be absent is not kept.
        let absent = |resource: Resource| {
            let ensure = Spanned { value: "absent".to_owned(), span: Span::default() };
            Resource { ensure: Some(ensure), ..resource }
        };
        let gone =
            vec![purged("/srv/people"), purged("/srv/m"), absent(bob()), absent(key()), absent(mount())];
        assert!(in_noop(gone)[..2].iter().all(|told| told.starts_with("Would have")));
    });
}
