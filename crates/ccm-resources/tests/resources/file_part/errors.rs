//! Errors that are found before a run.

use ccm_model::{ClaimKind, PathKind};
use ccm_testkit::Scratch;

use crate::build::{errors_of, resource};

#[test]
fn valid_parts_have_no_error() {
    for (kind, properties) in [
        ("line", &[("path", "/f"), ("line", "a")][..]),
        ("line", &[("path", "/f"), ("line", "a\n"), ("match", "^a"), ("after", "b")]),
        ("line", &[("path", "/f"), ("match", "^a"), ("ensure", "absent")]),
        ("block", &[("path", "/f"), ("content", "")]),
        ("block", &[("path", "/f"), ("ensure", "absent"), ("comment", ";")]),
        ("setting", &[("path", "/f"), ("key", "a b"), ("value", "")]),
        ("setting", &[("path", "/f"), ("key", "a"), ("ensure", "absent"), ("section", "b c")]),
        ("setting", &[("path", "/f"), ("key", "a"), ("value", "D:\\")]),
        (
            "setting",
            &[("path", "/f"), ("key", "a"), ("value", " b\nc "), ("format", "git"), ("section", "r \"o]\"")],
        ),
        (
            "setting",
            &[("path", "/f"), ("key", "a"), ("value", "b#\\"), ("format", "mysql"), ("section", "s")],
        ),
        (
            "setting",
            &[("path", "/f"), ("key", "a"), ("value", "b\\\\"), ("format", "systemd"), ("section", "s")],
        ),
        ("setting", &[("path", "/f"), ("key", "a b"), ("value", "b c"), ("format", "samba")]),
    ] {
        assert_eq!(errors_of(&resource(kind, "it", properties)), [""; 0], "{kind} {properties:?}");
    }
}

#[test]
fn invalid_parts_are_refused_with_hints() {
    const F: (&str, &str) = ("path", "/f");
    for (kind, properties, expected) in [
        ("line", &[][..], &["missing path path | path", "missing line line | line"][..]),
        ("line", &[F, ("ensure", "absent")], &["missing line line | line, match"]),
        ("line", &[("path", "f"), ("line", "a")], &["invalid-value path f | …"]),
        ("line", &[("path", "/a/../f"), ("line", "a")], &["invalid-value path /a/../f, .. | …"]),
        ("line", &[F, ("line", "")], &["invalid-value line | …"]),
        ("line", &[F, ("line", "a\nb")], &["invalid-value line | block"]),
        ("line", &[F, ("line", "a"), ("match", "(")], &["invalid-value match ( | \\, \\(, \\*"]),
        ("line", &[F, ("line", r"a\1"), ("match", "^(a)")], &[r"no-effect \1, line, match | setting"]),
        ("line", &[F, ("line", "a"), ("match", "^a\n")], &["invalid-value match match | |-, >-"]),
        ("line", &[F, ("line", "a"), ("before", "^a\n")], &["invalid-value before before | |-, >-"]),
        ("block", &[F, ("content", "a"), ("after", "(?m)a\\nb")], &["invalid-value after (?m)a\\nb | …"]),
        ("line", &[F, ("line", "a"), ("match", "")], &["invalid-value match match"]),
        (
            "line",
            &[F, ("line", "a"), ("after", "b"), ("before", "c")],
            &["conflict before after, before | …"],
        ),
        (
            "line",
            &[F, ("line", "a"), ("match", "b"), ("ensure", "absent")],
            &["conflict match line, match, ensure: absent | line, match"],
        ),
        (
            "line",
            &[F, ("line", "a"), ("after", "b"), ("create", "true"), ("ensure", "absent")],
            &["conflict create create, ensure: absent | create", "conflict after after, ensure: absent | …"],
        ),
        ("block", &[F], &["missing content content | content"]),
        (
            "block",
            &[F, ("content", "a"), ("ensure", "absent")],
            &["conflict content content, ensure: absent | content"],
        ),
        ("block", &[F, ("content", "a\n# END ccm it")], &["invalid-value content | …"]),
        ("block", &[F, ("content", "a"), ("comment", " ")], &["invalid-value comment comment | #, ;"]),
        ("setting", &[F, ("value", "a")], &["missing key key | key"]),
        ("setting", &[F, ("key", "a")], &["missing value value | value, \"\""]),
        ("setting", &[F, ("key", "a=b"), ("value", "c")], &["invalid-value key a=b | key, value"]),
        (
            "setting",
            &[F, ("key", "a b"), ("value", "c"), ("separator", " ")],
            &["invalid-value key a b | key, value"],
        ),
        ("setting", &[F, ("key", "#a"), ("value", "c")], &["invalid-value key #a | …"]),
        ("setting", &[F, ("key", "a"), ("value", "b\nc")], &["invalid-value value | …"]),
        ("setting", &[F, ("key", "a"), ("value", " b")], &["invalid-value value | …"]),
        ("setting", &[F, ("key", "a"), ("value", "b"), ("section", "s]")], &["invalid-value section s] | …"]),
        (
            "setting",
            &[F, ("key", "a"), ("value", "b"), ("separator", "")],
            &["invalid-value separator separator | \" = \", \":\""],
        ),
        (
            "setting",
            &[F, ("key", "a"), ("value", "b\\"), ("section", "s"), ("format", "systemd")],
            &["invalid-value value | \\\\, \\x5c"],
        ),
        ("setting", &[F, ("key", "a"), ("value", "b\\"), ("format", "samba")], &["invalid-value value | /"]),
        ("setting", &[F, ("key", "a"), ("value", "b  c"), ("format", "samba")], &["invalid-value value | …"]),
        ("setting", &[F, ("key", "a"), ("value", "b\nc"), ("format", "ini")], &["invalid-value value | …"]),
        (
            "setting",
            &[F, ("key", "a"), ("value", "b"), ("format", "git")],
            &["missing section section | section, format: git"],
        ),
        (
            "setting",
            &[F, ("key", "a.b"), ("value", "b"), ("format", "git"), ("section", "remote origin")],
            &[
                "invalid-value section remote origin | core, remote \"origin\"",
                "invalid-value key a.b | section",
            ],
        ),
        (
            "setting",
            &[F, ("key", "a:b"), ("value", "b"), ("format", "ini")],
            &["invalid-value key a:b | key, value"],
        ),
        (
            "setting",
            &[F, ("key", "a"), ("value", "b"), ("format", "samba"), ("separator", ":")],
            &["conflict separator :, format: samba | \"=\", \" = \", format"],
        ),
        (
            "setting",
            &[F, ("key", "a"), ("value", "b"), ("ensure", "absent")],
            &["conflict value value, ensure: absent | value"],
        ),
    ] {
        assert_eq!(errors_of(&resource(kind, "it", properties)), expected, "{kind} {properties:?}");
    }
}

#[test]
fn parts_claim_their_file_together_and_themselves_alone() {
    let scratch = Scratch::new();
    let f = scratch.at("f");
    for (kind, properties, expected) in [
        ("line", &[("line", "a")][..], &[(ClaimKind::Line, format!("{f}: a"))][..]),
        ("line", &[("line", "a"), ("sensitive", "true")], &[]),
        ("line", &[("match", "a"), ("ensure", "absent")], &[]),
        (
            "line",
            &[("line", "a"), ("match", "^#?a")],
            &[(ClaimKind::Line, format!("{f}: a")), (ClaimKind::Line, format!("{f}: what matches ^#?a"))],
        ),
        ("block", &[("content", "a")], &[]),
        ("setting", &[("key", "a"), ("value", "b")], &[(ClaimKind::Setting, format!("{f}: a"))]),
        (
            "setting",
            &[("section", "s"), ("key", "a"), ("ensure", "absent")],
            &[(ClaimKind::Setting, format!("{f}: [s] a"))],
        ),
        (
            "setting",
            &[("section", "Remote \"O\""), ("key", "URL"), ("value", "1"), ("format", "git")],
            &[(ClaimKind::Setting, format!("{f}: [remote.O] url"))],
        ),
        (
            "setting",
            &[("key", "Work Group"), ("value", "1"), ("format", "samba")],
            &[(ClaimKind::Setting, format!("{f}: [global] workgroup"))],
        ),
    ] {
        let resource = crate::file_part::machine::part(&scratch, kind, "it", properties);
        let types = ccm_resources::types();
        let claims = types.iter().find(|found| found.name() == kind).expect("the type").claims(&resource);
        assert_eq!((&*claims[0].key, claims[0].desired), (&*f, PathKind::Part));
        let others: Vec<_> = claims[1..].iter().map(|claim| (claim.kind, claim.key.to_string())).collect();
        assert_eq!(others, expected, "{kind} {properties:?}");
    }
}
