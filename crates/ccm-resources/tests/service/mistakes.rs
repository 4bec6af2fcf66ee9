//! What is refused before anything runs.

use ccm_model::{Claim, ClaimKind};

use crate::build::mistakes;
use crate::service;

#[test]
fn mistakes_are_told_with_advice() {
    for (name, properties, expected) in [
        ("web", &[][..], &[][..]),
        ("web@one.service", &[("enable", "true"), ("masked", "false"), ("on_refresh", "reload")], &[]),
        ("web", &[("ensure", "stopped"), ("masked", "true"), ("enable", "false"), ("timeout", "5m")], &[]),
        (
            "/etc/systemd/system/web.service",
            &[],
            &[
                "`/etc/systemd/system/web.service` is a path, not the name of a unit | the name of a service resource is that of its unit, like `nginx` or `backup.timer`",
            ],
        ),
        (
            "web one",
            &[],
            &[
                "`web one` holds ` `, which no name of a unit can | `systemd-escape` writes any text as a part of a name",
            ],
        ),
        (
            "web@",
            &[],
            &["`web@` is a template, which does not run itself | name an instance of it, like `web@NAME`"],
        ),
        (
            "web",
            &[("masked", "true")],
            &["a service that is masked can't be started | add `ensure: stopped`"],
        ),
        (
            "web",
            &[("ensure", "stopped"), ("masked", "true"), ("enable", "true")],
            &["a service that is masked can't be enabled | drop `enable` or `masked`"],
        ),
        (
            "web",
            &[("ensure", "stopped"), ("on_refresh", "reload")],
            &[
                "`on_refresh` has no meaning with `ensure: stopped` | what is stopped is left alone by a refresh",
            ],
        ),
        (
            "web",
            &[("on_refresh", "relaod")],
            &["expected `restart`, `reload` or `reload-or-restart`, found `relaod` | did you mean `reload`?"],
        ),
        (
            "web",
            &[("timeout", "0")],
            &["no service starts or stops in no time | write how long it may take, like `90s`"],
        ),
        ("web", &[("timeout", "30")], &["`30` has no unit | write `30s` for seconds or `30m` for minutes"]),
        ("web", &[("enabled", "true")], &["unknown property `enabled` | did you mean `enable`?"]),
        (
            "web",
            &[("enable", "yes")],
            &["expected a boolean, found the text `yes` | write `true`: `yes` is text"],
        ),
    ] {
        assert_eq!(mistakes(&service(name, properties)), expected, "{name} {properties:?}");
    }
}

#[test]
fn providers_of_other_tools_come_with_advice() {
    let types = ccm_resources::types();
    let spec = types.iter().find(|found| found.name() == "service").expect("the type");
    for written in ["sysv", "init", "openrc", "upstart"] {
        let advice = spec.provider_advice(written).unwrap_or_default();
        assert!(advice.contains("systemd alone") && advice.contains("an `exec`"), "{written}: {advice}");
    }
    assert_eq!(spec.provider_advice("systemctl"), None, "it is near enough to what was meant");
}

#[test]
fn a_service_with_two_names_is_one() {
    let types = ccm_resources::types();
    let spec = types.iter().find(|found| found.name() == "service").expect("the type");
    for (name, properties, expected) in [
        ("nginx", &[][..], Some("nginx.service")),
        ("nginx.service", &[], Some("nginx.service")),
        ("nginx.socket", &[], Some("nginx.socket")),
        ("nginx", &[("user", "true")], None),
        ("not a unit", &[], None),
    ] {
        let service = service(name, properties);
        let expected: Vec<_> =
            expected.map(|unit| Claim::exclusive(ClaimKind::Unit, unit)).into_iter().collect();
        assert_eq!(spec.claims(&service), expected, "{name} {properties:?}");
    }
}
