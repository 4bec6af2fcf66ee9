//! Errors that are found before a run.

use ccm_model::{Claim, ClaimKind};

use crate::build::errors_of;
use crate::service::service;

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
            &["invalid-value /etc/systemd/system/web.service | nginx, backup.timer"][..],
        ),
        ("web one", &[], &["invalid-value web one,   | systemd-escape"]),
        ("web@", &[], &["invalid-value web@ | web@NAME"]),
        ("web", &[("masked", "true")], &["conflict masked | ensure: stopped"]),
        (
            "web",
            &[("ensure", "stopped"), ("masked", "true"), ("enable", "true")],
            &["conflict enable | enable, masked"],
        ),
        (
            "web",
            &[("ensure", "stopped"), ("on_refresh", "reload")],
            &["conflict on_refresh on_refresh, ensure: stopped | on_refresh"],
        ),
        (
            "web",
            &[("on_refresh", "relaod")],
            &["invalid-value on_refresh restart, reload, reload-or-restart, relaod | reload"],
        ),
        ("web", &[("timeout", "0")], &["invalid-value timeout timeout | 90s"]),
        ("web", &[("timeout", "30")], &["invalid-value timeout 30 | 30s, 30m"]),
        ("web", &[("enabled", "true")], &["unknown-property enabled enabled | enable"]),
        ("web", &[("enable", "yes")], &["wrong-type enable yes | true, yes"]),
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
