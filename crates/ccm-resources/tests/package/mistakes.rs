//! What is found before anything runs.

use crate::build::mistakes;
use crate::package;

#[test]
fn what_is_right_has_no_mistakes() {
    for (name, properties) in [
        ("zsh", &[][..]),
        ("g++", &[("ensure", "latest"), ("recommends", "true"), ("update_cache", "1h")]),
        ("libc6:i386", &[("ensure", "5.10"), ("lock_timeout", "0")]),
        ("python3.11", &[("ensure", "1:2~rc1+dfsg-0ubuntu1")]),
        ("glibc.i686", &[("ensure", "2.34^git1-1.el9"), ("provider", "dnf")]),
        ("NetworkManager", &[("ensure", "absent"), ("purge", "true")]),
        ("7zip", &[("ensure", "absent"), ("purge", "false"), ("provider", "dnf")]),
    ] {
        assert_eq!(mistakes(&package(name, properties)), Vec::<String>::new(), "{name} {properties:?}");
    }
}

#[test]
fn what_could_be_something_else_to_a_package_tool_is_no_name() {
    for (name, expected) in [
        ("-y", "`-y` does not begin as the name of a package does"),
        ("--purge", "`--purge` does not begin as the name of a package does"),
        ("~i", "`~i` does not begin as the name of a package does"),
        ("+", "`+` does not begin as the name of a package does"),
        ("zsh-", "`zsh-` does not end as the name of a package does"),
        ("zsh:", "`zsh:` does not end as the name of a package does"),
        ("zsh=5.9", "`zsh=5.9` holds `=`, which no name of a package does | give the version as `ensure`"),
        (
            "zsh bash",
            "`zsh bash` holds ` `, which no name of a package does | each package is a resource of its own",
        ),
        (
            "python3-*",
            "`python3-*` holds `*`, which no name of a package does | each package is named in full",
        ),
        (
            "@core",
            "`@core` holds `@`, which no name of a package does | groups of packages can't be managed: name each package",
        ),
        (
            "./a.deb",
            "`./a.deb` holds `/`, which no name of a package does | name a package of the index: files can't be installed",
        ),
        ("zsh;reboot", "`zsh;reboot` holds `;`, which no name of a package does"),
        ("$(reboot)", "`$(reboot)` holds `$`, which no name of a package does"),
        ("zsh:native", "`native` is no architecture | without one it is that of the machine"),
        ("zsh:any", "`any` is no architecture | without one it is that of the machine"),
        ("zsh\n", "`zsh\\n` holds `\\n`, which no name of a package does"),
        ("zähler", "`zähler` holds `ä`, which no name of a package does"),
    ] {
        assert_eq!(mistakes(&package(name, &[])), [expected], "{name}");
    }
    assert_eq!(mistakes(&package(&"a".repeat(300), &[])), ["a name of 300 bytes is no name of a package"]);
}

#[test]
fn mistakes_in_properties_are_named() {
    let words = "expected `present`, `absent`, `latest` or a version, found";
    for (properties, expected) in [
        (&[("ensure", "installed")][..], format!("{words} `installed` | did you mean `present`?")),
        (&[("ensure", "presnt")], format!("{words} `presnt` | did you mean `present`?")),
        (&[("ensure", "Latest")], format!("{words} `Latest` | did you mean `latest`?")),
        (&[("ensure", "purged")], format!("{words} `purged` | write `absent`, and `purge: true`")),
        (&[("ensure", "")], format!("{words} ``")),
        (&[("ensure", "5.9 ")], "`5.9 ` holds ` `, which no version of a package does".to_owned()),
        (&[("ensure", "5.9*")], "`5.9*` holds `*`, which no version of a package does".to_owned()),
        (&[("ensure", ">=5")], "`>=5` holds `>`, which no version of a package does".to_owned()),
        (&[("ensure", "-5")], "`-5` is not a version of a package".to_owned()),
        (
            &[("purge", "true")],
            "`purge` has a meaning with `ensure: absent` only | it removes configuration files with the package"
                .to_owned(),
        ),
        (
            &[("purge", "true"), ("ensure", "absent"), ("provider", "dnf")],
            "`purge` has no meaning with `provider: dnf` | rpm removes configuration files with the package, and keeps \
             changed ones as `.rpmsave`"
                .to_owned(),
        ),
        (&[("update_cache", "60")], "`60` has no unit | write `60s` for seconds or `60m` for minutes".to_owned()),
        (&[("recommends", "yes")], "expected a boolean, found the text `yes` | write `true`: `yes` is text".to_owned()),
        (&[("recommend", "true")], "unknown property `recommend` | did you mean `recommends`?".to_owned()),
    ] {
        assert_eq!(mistakes(&package("zsh", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn providers_of_other_tools_come_with_advice() {
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
fn all_mistakes_are_named_at_once() {
    assert_eq!(mistakes(&package("-y", &[("ensure", "none"), ("purge", "true")])).len(), 2);
}

#[test]
fn only_a_package_that_is_installed_brings_about_arbitrary_things() {
    let types = ccm_resources::types();
    let spec = types.iter().find(|found| found.name() == "package").expect("the type");
    for (ensure, expected) in [("present", true), ("latest", true), ("absent", false)] {
        assert_eq!(spec.may_provide(&package("tool", &[("ensure", ensure)])), expected, "{ensure}");
    }
}
