//! Errors that are found before a run.

use ccm_model::{Claim, ClaimKind, PathKind};

use crate::build::errors_of;
use crate::file;

#[test]
fn valid_files_have_no_errors() {
    for (name, properties) in [
        ("/etc/motd", &[][..]),
        ("/etc/motd", &[("content", "5.10"), ("mode", "0644"), ("owner", "root"), ("group", "0")]),
        ("/etc/motd", &[("content", ""), ("mode", "0o644"), ("backup", "true")]),
        ("/etc/motd", &[("source", "files/motd"), ("mode", "7777")]),
        // The loader renders a template, unless `control` is off.
        ("/etc/motd", &[("source", "motd.j2")]),
        ("/srv/a..b/.c", &[("ensure", "directory"), ("mode", "0"), ("backup", "true")]),
        ("/srv/old", &[("ensure", "absent"), ("force", "true")]),
        ("/srv/old", &[("ensure", "absent"), ("backup", "true"), ("owner", "4294967294")]),
        ("/srv/name with blanks", &[("force", "false")]),
        ("/srv/.old.ccm-new", &[("ensure", "absent")]),
        ("/srv/old.ccm-new", &[]),
    ] {
        assert_eq!(errors_of(&file(name, properties)), Vec::<String>::new(), "{name} {properties:?}");
    }
}

#[test]
fn world_readable_secret_is_warned_of() {
    let warning = |what: &str| {
        format!("{what}, but without `mode` everybody can read the new file (0644) | set `mode: \"0600\"`")
    };
    let (sensitive, holds) =
        (warning("the content is sensitive"), warning("the content holds a sensitive value"));
    for (properties, expected) in [
        (&[("content", "a"), ("sensitive", "true")][..], &[&sensitive][..]),
        (&[("source", "a"), ("sensitive", "true")], &[&sensitive]),
        (&[("content", "password=hunter22\n")], &[&holds]),
        (&[("content", "password=hunter22\n"), ("sensitive", "true")], &[&sensitive]),
        (&[("content", "password=hunter22\n"), ("mode", "0644")], &[]),
        (&[("content", "a"), ("sensitive", "true"), ("mode", "0600")], &[]),
        (&[("content", "a"), ("sensitive", "false")], &[]),
        // No new file would need a mode.
        (&[("sensitive", "true")], &[]),
        (&[("sensitive", "true"), ("ensure", "absent")], &[]),
        (&[("content", "password=hunter2")], &[]),
    ] {
        let found = errors_of(&file("/etc/token", properties));
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{properties:?}");
    }
}

#[test]
fn invalid_properties_are_rejected() {
    for (properties, expected) in [
        (
            &[("content", "a"), ("source", "b")][..],
            "`content` and `source` exclude each other | keep one of them",
        ),
        (
            &[("content", "a"), ("ensure", "absent")],
            "`content` is not allowed with `ensure: absent` | remove it: an absent file has no content",
        ),
        (
            &[("source", "a"), ("ensure", "directory")],
            "`source` is not allowed with `ensure: directory` | remove it: a directory has no content",
        ),
        (
            &[("force", "true")],
            "`force` is only allowed with `ensure: absent` | remove it: it only lets a directory be removed with its content",
        ),
        (
            &[("force", "true"), ("ensure", "directory")],
            "`force` is only allowed with `ensure: absent` | remove it: it only lets a directory be removed with its content",
        ),
        (
            &[("force", "true"), ("backup", "true"), ("ensure", "absent")],
            "`backup` and `force` exclude each other | remove one of them: `backup` keeps the content of a file, not of a directory",
        ),
        (
            &[("mode", "<644>")],
            "expected a mode as text, found the number `644` | write the value as text at its source, like `\"0644\"`",
        ),
        (
            &[("mode", "<8>")],
            "expected a mode as text, found the number `8` | write the value as text at its source, like `\"0644\"`",
        ),
        (
            &[("mode", "u+x")],
            "`u+x` is not a mode in octal digits | write an octal mode like `0644`: symbolic modes are not supported",
        ),
        (
            &[("mode", "rw-r--r--")],
            "`rw-r--r--` is not a mode in octal digits | write an octal mode like `0644`: symbolic modes are not supported",
        ),
        (&[("mode", "0888")], "`0888` is not a mode in octal digits | write a mode like `0644`"),
        (&[("mode", "0o")], "`0o` is not a mode in octal digits | write a mode like `0644`"),
        (&[("mode", "10000")], "`10000` is too large for a mode; the maximum is `7777`"),
        (
            &[("mode", "77777777777777777777")],
            "`77777777777777777777` is too large for a mode; the maximum is `7777`",
        ),
        (&[("owner", " ")], "the name of a user or group is empty"),
        (
            &[("owner", "root:root")],
            "`root:root` contains a character that no user or group name may contain | set user and group with a property each",
        ),
        (&[("group", "a/b")], "`a/b` contains a character that no user or group name may contain"),
        (&[("mode", "0x1ff")], "`0x1ff` is not a mode in octal digits | write `0777`"),
        (&[("source", "~/x")], "`~` is not expanded | write the full path"),
        (&[("owner", "4294967295")], "`4294967295` is too large for a user or group ID"),
        (&[("owner", "99999999999")], "`99999999999` is too large for a user or group ID"),
        (&[("source", "")], "the path is empty"),
        (
            &[("source", "https://example.org/motd")],
            "a URL as `source` is not supported in this version | use the path of a local file",
        ),
        (
            &[("content", "a"), ("source", "motd.j2")],
            "`content` and `source` exclude each other | keep one of them",
        ),
        (&[("backup", "yes")], "expected a boolean, found the text `yes` | write `true`: `yes` is text"),
        (&[("contents", "a")], "unknown property `contents` | did you mean `content`?"),
    ] {
        assert_eq!(errors_of(&file("/f", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn attributes_alone_claim_a_path_shared() {
    let types = ccm_resources::types();
    let spec = types.iter().find(|found| found.name() == "file").expect("the type");
    for (properties, expected) in [
        (&[][..], Claim::shared(ClaimKind::Path, "/f")),
        (&[("mode", "0644"), ("ensure", "present")], Claim::shared(ClaimKind::Path, "/f")),
        (&[("content", "")], Claim::path("/f", PathKind::Other)),
        (&[("source", "f.j2")], Claim::path("/f", PathKind::Other)),
        (&[("ensure", "directory")], Claim::path("/f", PathKind::Directory)),
        (&[("ensure", "absent")], Claim::path("/f", PathKind::Nothing)),
    ] {
        assert_eq!(spec.claims(&file("/f", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn invalid_names_are_rejected() {
    let shortest = "write the shortest form of the path";
    for (name, expected) in [
        (
            "etc/motd",
            "`etc/motd` is not an absolute path | write the full path: the name of a file resource is its path".to_owned(),
        ),
        ("/", "`/` cannot be managed as a file".to_owned()),
        ("//", "`/` cannot be managed as a file".to_owned()),
        (
            "/etc/",
            "the path `/etc/` ends with a slash | remove the slash, and use `ensure: directory` for a directory"
                .to_owned(),
        ),
        ("/etc//motd", format!("the path `/etc//motd` contains `//` | {shortest}")),
        ("/etc/./motd", format!("the path `/etc/./motd` contains the part `.` | {shortest}")),
        ("/etc/../motd", format!("the path `/etc/../motd` contains the part `..` | {shortest}")),
        ("/etc/..", format!("the path `/etc/..` contains the part `..` | {shortest}")),
        (
            "/etc/.motd.ccm-new",
            "`/etc/.motd.ccm-new` is the name of a temporary file of ccm | choose a name that does not end with \
             `.ccm-new`: ccm writes new content to such names"
                .to_owned(),
        ),
        ("/etc/\0", "the name contains a NUL character".to_owned()),
    ] {
        assert_eq!(errors_of(&file(name, &[])), [expected], "{name:?}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let resource =
        file("a", &[("content", "a"), ("source", "b"), ("force", "true"), ("ensure", "directory")]);
    assert_eq!(errors_of(&resource).len(), 5);
}
