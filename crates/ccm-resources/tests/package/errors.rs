//! Errors that are found before a run.

use crate::build::errors_of;
use crate::package;

#[test]
fn valid_packages_have_no_errors() {
    for (name, properties) in [
        ("zsh", &[][..]),
        ("g++", &[("ensure", "latest"), ("recommends", "true"), ("update_cache", "1h")]),
        ("libc6:i386", &[("ensure", "5.10"), ("lock_timeout", "0")]),
        ("python3.11", &[("ensure", "1:2~rc1+dfsg-0ubuntu1")]),
        ("glibc.i686", &[("ensure", "2.34^git1-1.el9"), ("provider", "dnf")]),
        ("NetworkManager", &[("ensure", "absent"), ("purge", "true")]),
        ("7zip", &[("ensure", "absent"), ("purge", "false"), ("provider", "dnf")]),
    ] {
        assert_eq!(errors_of(&package(name, properties)), Vec::<String>::new(), "{name} {properties:?}");
    }
}

#[test]
fn names_that_could_be_options_are_rejected() {
    for (name, expected) in [
        ("-y", "`-y` does not start like a package name"),
        ("--purge", "`--purge` does not start like a package name"),
        ("~i", "`~i` does not start like a package name"),
        ("+", "`+` does not start like a package name"),
        ("zsh-", "`zsh-` does not end like a package name"),
        ("zsh:", "`zsh:` does not end like a package name"),
        (
            "zsh=5.9",
            "`zsh=5.9` contains `=`, which is not allowed in a package name | set the version with `ensure`",
        ),
        (
            "zsh bash",
            "`zsh bash` contains ` `, which is not allowed in a package name | declare a resource for each package",
        ),
        (
            "python3-*",
            "`python3-*` contains `*`, which is not allowed in a package name | write each package name in full",
        ),
        (
            "@core",
            "`@core` contains `@`, which is not allowed in a package name | list each package: package groups are not supported",
        ),
        (
            "./a.deb",
            "`./a.deb` contains `/`, which is not allowed in a package name | name a package of the index: package files are not supported",
        ),
        ("zsh;reboot", "`zsh;reboot` contains `;`, which is not allowed in a package name"),
        ("$(reboot)", "`$(reboot)` contains `$`, which is not allowed in a package name"),
        (
            "zsh:native",
            "`native` is not an architecture | leave it out to get the architecture of the machine",
        ),
        ("zsh:any", "`any` is not an architecture | leave it out to get the architecture of the machine"),
        ("zsh\n", "`zsh\\n` contains `\\n`, which is not allowed in a package name"),
        ("zähler", "`zähler` contains `ä`, which is not allowed in a package name"),
    ] {
        assert_eq!(errors_of(&package(name, &[])), [expected], "{name}");
    }
    assert_eq!(errors_of(&package(&"a".repeat(300), &[])), ["a package name of 300 bytes is too long"]);
}

#[test]
fn invalid_properties_are_rejected() {
    let words = "expected `present`, `absent`, `latest` or a version, found";
    for (properties, expected) in [
        (&[("ensure", "installed")][..], format!("{words} `installed` | did you mean `present`?")),
        (&[("ensure", "presnt")], format!("{words} `presnt` | did you mean `present`?")),
        (&[("ensure", "Latest")], format!("{words} `Latest` | did you mean `latest`?")),
        (&[("ensure", "purged")], format!("{words} `purged` | write `ensure: absent` and `purge: true`")),
        (&[("ensure", "")], format!("{words} ``")),
        (&[("ensure", "5.9 ")], "`5.9 ` contains ` `, which is not allowed in a version".to_owned()),
        (&[("ensure", "5.9*")], "`5.9*` contains `*`, which is not allowed in a version".to_owned()),
        (&[("ensure", ">=5")], "`>=5` contains `>`, which is not allowed in a version".to_owned()),
        (&[("ensure", "-5")], "`-5` is not a package version".to_owned()),
        (
            &[("purge", "true")],
            "`purge` is only allowed with `ensure: absent` | it removes configuration files with the package"
                .to_owned(),
        ),
        (
            &[("purge", "true"), ("ensure", "absent"), ("provider", "dnf")],
            "`purge` is not allowed with `provider: dnf` | remove `purge`: rpm always removes configuration files, and keeps changed ones as `.rpmsave`"
                .to_owned(),
        ),
        (&[("update_cache", "60")], "`60` has no unit | write `60s` for seconds or `60m` for minutes".to_owned()),
        (&[("recommends", "yes")], "expected a boolean, found the text `yes` | write `true`: `yes` is text".to_owned()),
        (&[("recommend", "true")], "unknown property `recommend` | did you mean `recommends`?".to_owned()),
    ] {
        assert_eq!(errors_of(&package("zsh", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn other_tools_come_with_advice() {
    let types = ccm_resources::types();
    let spec = types.iter().find(|found| found.name() == "package").expect("the type");
    for (written, expected) in [
        ("yum", Some("did you mean `dnf`?")),
        ("apt-get", Some("did you mean `apt`?")),
        (
            "snap",
            Some(
                "packages of other tools can't be managed; an `exec` can install one: `command: snap install NAME`, `unless: snap list NAME`",
            ),
        ),
        ("dnf5", None),
    ] {
        assert_eq!(spec.provider_advice(written), expected, "{written}");
    }
    for written in ["zypper", "pacman", "brew", "pip"] {
        assert!(
            spec.provider_advice(written).is_some_and(|advice| advice.contains("an `exec`")),
            "{written}"
        );
    }
}

#[test]
fn all_errors_are_reported_at_once() {
    assert_eq!(errors_of(&package("-y", &[("ensure", "none"), ("purge", "true")])).len(), 2);
}

#[test]
fn only_installed_packages_may_provide_something() {
    let types = ccm_resources::types();
    let spec = types.iter().find(|found| found.name() == "package").expect("the type");
    for (ensure, expected) in [("present", true), ("latest", true), ("absent", false)] {
        assert_eq!(spec.may_provide(&package("tool", &[("ensure", ensure)])), expected, "{ensure}");
    }
}
