//! Errors that are found before a run.

use ccm_properties::MayProvide;

use crate::build::errors_of;
use crate::package::package;

#[test]
fn valid_packages_have_no_errors() {
    for (name, properties) in [
        ("zsh", &[][..]),
        ("g++", &[("ensure", "latest"), ("recommends", "true"), ("update_cache", "1h")]),
        ("libc6:i386", &[("ensure", "5.10"), ("lock_timeout", "0"), ("update_cache", "never")]),
        ("python3.11", &[("ensure", "1:2~rc1+dfsg-0ubuntu1")]),
        ("glibc.i686", &[("ensure", "2.34^git1-1.el9"), ("provider", "dnf")]),
        ("NetworkManager", &[("ensure", "absent"), ("purge", "true")]),
        ("7zip", &[("ensure", "absent"), ("purge", "false"), ("provider", "dnf")]),
    ] {
        assert_eq!(errors_of(&package(name, properties)), Vec::<String>::new(), "{name} {properties:?}");
    }
}

#[test]
fn invalid_names_are_rejected() {
    for (name, expected) in [
        ("-y", "invalid-value -y"),
        ("--purge", "invalid-value --purge"),
        ("~i", "invalid-value ~i"),
        ("+", "invalid-value +"),
        ("zsh-", "invalid-value zsh-"),
        ("zsh:", "invalid-value zsh:"),
        ("zsh=5.9", "invalid-value zsh=5.9, = | ensure"),
        ("zsh bash", "invalid-value zsh bash,   | …"),
        ("python3-*", "invalid-value python3-*, * | …"),
        ("@core", "invalid-value @core, @ | …"),
        ("./a.deb", "invalid-value ./a.deb, / | …"),
        ("zsh;reboot", "invalid-value zsh;reboot, ;"),
        ("$(reboot)", "invalid-value $(reboot), $"),
        ("zsh:native", "invalid-value native | …"),
        ("zsh:any", "invalid-value any | …"),
        ("zsh\n", r"invalid-value zsh\n, \n"),
        ("zähler", "invalid-value zähler, ä"),
    ] {
        assert_eq!(errors_of(&package(name, &[])), [expected], "{name}");
    }
    assert_eq!(errors_of(&package(&"a".repeat(300), &[])), ["invalid-value"]);
}

#[test]
fn invalid_properties_are_rejected() {
    for (properties, expected) in [
        (
            &[("ensure", "installed")][..],
            "invalid-value present, absent, latest, installed | ensure: present",
        ),
        (&[("ensure", "presnt")], "invalid-value present, absent, latest, presnt | present"),
        (&[("ensure", "Latest")], "invalid-value present, absent, latest, Latest | latest"),
        (
            &[("ensure", "purged")],
            "invalid-value present, absent, latest, purged | ensure: absent, purge: true",
        ),
        (&[("ensure", "")], "invalid-value present, absent, latest, "),
        (&[("ensure", "5.9 ")], "invalid-value 5.9 ,  "),
        (&[("ensure", "5.9*")], "invalid-value 5.9*, * | latest"),
        (&[("ensure", ">=5")], "invalid-value >=5, > | latest"),
        (&[("ensure", "-5")], "invalid-value -5"),
        (&[("purge", "true")], "conflict purge purge, ensure: absent | purge"),
        (
            &[("purge", "true"), ("ensure", "absent"), ("provider", "dnf")],
            "conflict purge purge, provider: dnf | purge, .rpmsave",
        ),
        (&[("update_cache", "Never")], "invalid-value update_cache Never | 30s, 5m, 1h30m, 1.5h"),
        (&[("update_cache", "60")], "invalid-value update_cache 60 | 60s, 60m"),
        (&[("recommends", "yes")], "wrong-type recommends yes | true, yes"),
        (&[("recommend", "true")], "unknown-property recommend recommend | recommends"),
    ] {
        assert_eq!(errors_of(&package("zsh", properties)), [expected], "{properties:?}");
    }
}

#[test]
fn unsupported_providers_get_a_hint() {
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
    for written in ["zypper", "brew", "pip"] {
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
    for (ensure, expected) in
        [("present", MayProvide::Anything), ("latest", MayProvide::Anything), ("absent", MayProvide::Nothing)]
    {
        assert_eq!(spec.may_provide(&package("tool", &[("ensure", ensure)])), expected, "{ensure}");
    }
}
