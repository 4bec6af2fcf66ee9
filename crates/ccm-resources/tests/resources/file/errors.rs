//! Errors that are found before a run.

use ccm_model::{Claim, ClaimKind, PathKind};

use crate::build::errors_of;
use crate::file::file;

const SUM: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

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
fn a_secret_that_everybody_can_read_is_refused() {
    let refused: &[&str] = &["exposed-secret mode | mode: \"0600\""];
    for (properties, expected) in [
        (&[("content", "a"), ("sensitive", "true")][..], refused),
        (&[("source", "a"), ("sensitive", "true")], refused),
        (&[("content", "password=hunter22\n")], refused),
        (&[("content", "password=hunter22\n"), ("sensitive", "true")], refused),
        (
            &[("content", "password=hunter22\n"), ("mode", "0644")],
            &["exposed-secret mode: 0644 | mode: \"0600\""],
        ),
        (&[("content", "password=hunter22\n"), ("mode", "0640")], &[]),
        (&[("content", "a"), ("sensitive", "true"), ("mode", "0600")], &[]),
        (&[("content", "a"), ("sensitive", "false")], &[]),
        // No new file would need a mode.
        (&[("sensitive", "true")], &[]),
        (&[("sensitive", "true"), ("ensure", "absent")], &[]),
        (&[("content", "password=hunter2")], &[]),
    ] {
        assert_eq!(errors_of(&file("/etc/token", properties)), expected, "{properties:?}");
    }
}

#[test]
fn invalid_properties_are_rejected() {
    for (properties, expected) in [
        (&[("content", "a"), ("source", "b")][..], "conflict source content, source | …"),
        (&[("content", "a"), ("ensure", "absent")], "conflict content content, ensure: absent | …"),
        (&[("force", "true")], "conflict force force, ensure: absent, ensure: link, purge | force"),
        (
            &[("force", "true"), ("ensure", "directory")],
            "conflict force force, ensure: absent, ensure: link, purge | force",
        ),
        (
            &[("force", "true"), ("backup", "true"), ("ensure", "absent")],
            "conflict backup backup, force | backup",
        ),
        (&[("mode", "<644>")], r#"wrong-type mode 644 | "0644""#),
        (&[("mode", "<8>")], r#"wrong-type mode 8 | "0644""#),
        (&[("mode", "u+x")], "invalid-value mode u+x | 0644"),
        (&[("mode", "rw-r--r--")], "invalid-value mode rw-r--r-- | 0644"),
        (&[("mode", "0888")], "invalid-value mode 0888 | 0644"),
        (&[("mode", "420")], "invalid-value mode 420 | 0644, \"0420\""),
        (&[("mode", "493")], "invalid-value mode 493 | 0755"),
        (&[("mode", "0o")], "invalid-value mode 0o | 0644"),
        (&[("mode", "10000")], "invalid-value mode 10000, 7777"),
        (&[("mode", "77777777777777777777")], "invalid-value mode 77777777777777777777, 7777"),
        (&[("owner", " ")], "invalid-value owner"),
        (&[("owner", "root:root")], "invalid-value owner root:root | …"),
        (&[("group", "a/b")], "invalid-value group a/b"),
        (&[("mode", "0x1ff")], "invalid-value mode 0x1ff | 0777"),
        (&[("source", "~/x")], "invalid-value source ~ | …"),
        (&[("owner", "4294967295")], "invalid-value owner 4294967295"),
        (&[("owner", "99999999999")], "invalid-value owner 99999999999"),
        (&[("source", "")], "invalid-value source"),
        (&[("source", "ftp://example.org/motd")], "unsupported source source | file, https, http"),
        (&[("source", "https://example.org/motd")], "missing source source, checksum | sha256sum FILE"),
        (
            &[("source", "https://a:b@example.org/motd"), ("checksum", SUM)],
            "invalid-value source | archive, username, password",
        ),
        (
            &[("source", "https://example.org/motd"), ("checksum", SUM), ("ensure", "directory")],
            "conflict source source, ensure: directory | archive, extract_parent",
        ),
        (&[("content", "a"), ("checksum", SUM)], "conflict checksum checksum, source | checksum"),
        (
            &[("source", "https://example.org/motd"), ("checksum", "abc")],
            "invalid-value checksum abc | sha256sum FILE",
        ),
        (&[("content", "a"), ("source", "motd.j2")], "conflict source content, source | …"),
        (&[("backup", "yes")], "wrong-type backup yes | true, yes"),
        (&[("contents", "a")], "unknown-property contents contents | content"),
    ] {
        assert_eq!(errors_of(&file("/d/f", properties)), [expected], "{properties:?}");
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
    for (name, expected) in [
        ("etc/motd", "invalid-value etc/motd | …"),
        ("/", "invalid-value /"),
        ("//", "invalid-value /"),
        ("/etc/", "invalid-value /etc/ | ensure: directory"),
        ("/etc//motd", "invalid-value /etc//motd, // | …"),
        ("/etc/./motd", "invalid-value /etc/./motd, . | …"),
        ("/etc/../motd", "invalid-value /etc/../motd, .. | …"),
        ("/etc/..", "invalid-value /etc/.., .. | …"),
        ("/etc/.motd.ccm-new", "invalid-value /etc/.motd.ccm-new | .NAME.ccm-new"),
        ("/etc/\0", "invalid-value"),
    ] {
        assert_eq!(errors_of(&file(name, &[])), [expected], "{name:?}");
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    let resource =
        file("a", &[("content", "a"), ("source", "b"), ("force", "true"), ("ensure", "directory")]);
    assert_eq!(errors_of(&resource).len(), 4);
}
