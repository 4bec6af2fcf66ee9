//! Errors that are found before a run.

use ccm_model::{Claim, ClaimKind};

use crate::build::errors_of;
use crate::service;

#[test]
fn valid_services_have_no_error() {
    for (name, properties) in [
        ("web", &[][..]),
        ("web@one.service", &[("enable", "true"), ("masked", "false"), ("on_refresh", "reload")]),
        ("web", &[("ensure", "stopped"), ("masked", "true"), ("enable", "false"), ("timeout", "5m")]),
    ] {
        assert!(errors_of(&service(name, properties)).is_empty(), "{name} {properties:?}");
    }
}

#[test]
fn invalid_services_are_rejected_with_hints() {
    for (name, properties, expected) in [
        (
            "/etc/systemd/system/web.service",
            &[][..],
            &[
                "`/etc/systemd/system/web.service` is a path, not a unit name | name the unit, like `nginx` or `backup.timer`",
            ][..],
        ),
        (
            "web one",
            &[],
            &[
                "`web one` contains ` `, which is not allowed in a unit name | escape the text with `systemd-escape`",
            ],
        ),
        ("web@", &[], &["`web@` is a template | name an instance of it, like `web@NAME`"]),
        ("web", &[("masked", "true")], &["a masked service cannot be started | add `ensure: stopped`"]),
        (
            "web",
            &[("ensure", "stopped"), ("masked", "true"), ("enable", "true")],
            &["a masked service cannot be enabled | drop `enable` or `masked`"],
        ),
        (
            "web",
            &[("ensure", "stopped"), ("on_refresh", "reload")],
            &[
                "`on_refresh` is not allowed with `ensure: stopped` | remove it: a stopped service is not refreshed",
            ],
        ),
        (
            "web",
            &[("on_refresh", "relaod")],
            &["expected `restart`, `reload` or `reload-or-restart`, found `relaod` | did you mean `reload`?"],
        ),
        ("web", &[("timeout", "0")], &["`timeout` must not be zero | write a duration like `90s`"]),
        ("web", &[("timeout", "30")], &["`30` has no unit | write `30s` for seconds or `30m` for minutes"]),
        ("web", &[("enabled", "true")], &["unknown property `enabled` | did you mean `enable`?"]),
        (
            "web",
            &[("enable", "yes")],
            &["expected a boolean, found the text `yes` | write `true`: `yes` is text"],
        ),
    ] {
        assert_eq!(errors_of(&service(name, properties)), expected, "{name} {properties:?}");
    }
}

#[test]
fn names_of_other_init_systems_get_advice() {
    let types = ccm_resources::types();
    let spec = types.iter().find(|found| found.name() == "service").expect("the type");
    for written in ["sysv", "init", "openrc", "upstart"] {
        let advice = spec.provider_advice(written).unwrap_or_default();
        assert!(advice.contains("only systemd") && advice.contains("an `exec`"), "{written}: {advice}");
    }
    assert_eq!(spec.provider_advice("systemctl"), None, "gets a spelling suggestion instead");
}

#[test]
fn two_names_of_a_service_make_one_claim() {
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
