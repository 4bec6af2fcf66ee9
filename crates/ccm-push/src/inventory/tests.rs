use std::fmt::Write as _;

use super::*;

#[test]
fn hosts_keep_their_order_and_what_is_known_of_them() {
    let inventory = Inventory::read(
        "hosts:
  web2: {address: 192.0.2.2, user: deploy, port: 2222, facts: {role: web, cores: 4, size: '4', a.b: {c: true}}, groups: [web, eu]}
  web1:
  db1: {address: '2001:db8::1', groups: [db]}
",
    )
    .expect("an inventory");
    let names: Vec<&str> = inventory.hosts().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["web2", "web1", "db1"]);
    let (_, web2) = inventory.host("web2").expect("a host");
    assert_eq!(web2.address.as_ref().map(HostName::as_str), Some("192.0.2.2"));
    assert_eq!(web2.port.map(NonZeroU16::get), Some(2222));
    let facts = ["role=\"web\"", "cores=4", "size=\"4\"", "a\\.b.c=true"];
    let mut found = web2.facts.assignments().to_vec();
    found.sort_by_key(|fact| facts.iter().position(|expected| expected == fact));
    assert_eq!(found, facts);
    assert_eq!(inventory.host("web1").expect("a host").1, &Host::default());
    let groups: Vec<&str> = inventory.groups().into_iter().map(GroupName::as_str).collect();
    assert_eq!(groups, ["db", "eu", "web"]);
    assert!(inventory.host("-oProxyCommand=x").is_none());
}

#[test]
fn json_and_nothing_are_inventories() {
    assert_eq!(Inventory::read("hosts:\n").expect("none").hosts().count(), 0);
    let inventory = Inventory::read(r#"{"hosts": {"a": {"port": 22}, "b": null}}"#).expect("JSON");
    assert_eq!(inventory.hosts().count(), 2);
}

#[test]
fn mistakes_are_named_at_their_place() {
    for (text, message, place) in [
        ("hosts:\n  web1: {adress: x}\n", "unknown field `adress`", (2, 10)),
        ("host: {}\n", "unknown field `host`", (1, 1)),
        ("hosts: [web1]\n", "a map of hosts by their names", (1, 8)),
        ("hosts:\n  web1: {port: 0}\n", "nonzero u16", (2, 16)),
        ("hosts:\n  web1: {port: 70000}\n", "70000", (2, 16)),
        ("hosts:\n  web1: {groups: web}\n", "expected a sequence", (2, 18)),
        ("hosts:\n  -oProxyCommand=x: {}\n", "of which the first is no `-`", (2, 3)),
        ("hosts:\n  web1:\n  -x:\n", "of which the first is no `-`", (3, 6)),
        ("hosts:\n  web1: {address: '$(id)'}\n", "not \"$(id)\"", (2, 19)),
        ("hosts:\n  web1: {user: -x}\n", "a user is named", (2, 16)),
        ("hosts:\n  web1: {}\n  web1: {}\n", "the host web1 is written twice", (3, 3)),
        ("hosts:\n  web1: {port: 1, port: 2}\n", "duplicate field `port`", (2, 19)),
        ("hosts: {a: {}\n", "did not find expected", (2, 1)),
        ("hosts:\n  web1: {facts: {a: [1]}}\n", "is a list", (2, 17)),
        ("hosts:\n  web1: {facts: {'a=b': 1}}\n", "no name of a fact", (2, 17)),
        ("{}\n", "missing field `hosts`", (1, 1)),
    ] {
        match Inventory::read(text).expect_err(text) {
            InventoryError::Read { message: found, place: at } => {
                assert!(found.contains(message), "{text}: {found}");
                let end = at.map(|(line, column)| format!(" at line {line} column {column}"));
                assert!(!end.is_some_and(|end| found.ends_with(&end)), "{text}: {found}");
                assert_eq!(at.map(|(line, _)| line), Some(place.0), "{text}: {at:?} {found}");
            }
            InventoryError::TooLarge => panic!("{text}"),
        }
    }
}

#[test]
fn a_million_hosts_are_refused() {
    let mut text = "hosts:\n".to_owned();
    for number in 0..=MAX_HOSTS {
        writeln!(text, "  h{number}:").expect("a text");
    }
    let error = Inventory::read(&text).expect_err("too many");
    assert_eq!(error.to_string(), "hosts: an inventory has at most 100000 hosts");
    assert!(matches!(Inventory::read(&" ".repeat(MAX_INVENTORY + 1)), Err(InventoryError::TooLarge)));
}
