use ccm_engine::ResourceKind as _;

use super::*;
use crate::support::decision_table::assert_rows;
use crate::support::object_plan::Object;

const TABLE: &str = include_str!("../decide_table.txt");

/// Returns the words of a comma-separated list; `-` is none, `[]` the empty list.
fn names(text: &str) -> Option<Vec<String>> {
    match text {
        "-" => None,
        "[]" => Some(Vec::new()),
        list => Some(list.split(',').map(str::to_owned).collect()),
    }
}

#[test]
fn decisions_match_the_table() {
    let rows = assert_rows(TABLE, |[ensure, gid, members, found, has, others]| {
        let is = |what: &str| others.split(',').any(|word| word == what);
        let group = DesiredGroup {
            name: "web".to_owned(),
            is_absent: ensure == "absent",
            gid: gid.parse().ok(),
            members: names(members.trim_start_matches('=')),
            members_exclusive: members.starts_with('='),
            system: false,
        };
        let line = |gid| GroupLine { name: "web".to_owned(), gid, members: names(has).unwrap_or_default() };
        let state = GroupState {
            found: found.parse().ok().map(line),
            service_gid: found.strip_prefix("service:").and_then(|gid| gid.parse().ok()),
            gid_owner: is("taken").then(|| "other".to_owned()),
            missing_members: if is("no-bob") { vec!["bob".to_owned()] } else { Vec::new() },
            primary_of: is("primary").then(|| "ada".to_owned()),
            same_number: is("alias").then(|| "people".to_owned()),
            remaining_service: is("ldap").then(|| "ldap".to_owned()),
        };
        Object::decide(&group, &state, None)
    });
    assert_eq!(rows, 25);
}

#[test]
fn what_stays_is_warned_of() {
    let group = |is_absent| DesiredGroup {
        name: "web".to_owned(),
        is_absent,
        gid: None,
        members: None,
        members_exclusive: false,
        system: false,
    };
    let state = |service_gid, service: Option<&str>| GroupState {
        service_gid,
        remaining_service: service.map(str::to_owned),
        ..GroupState::default()
    };
    let rest = " still has the group `web`: ccm removes only what is in the files of this machine";
    for (is_absent, state, source) in [
        (true, state(None, None), None),
        (true, state(None, Some("ldap")), Some("the name service `ldap`")),
        (true, state(Some(900), Some("ldap")), Some("the name service `ldap`")),
        (true, state(Some(900), None), Some("a name service")),
        (false, state(Some(900), None), None),
    ] {
        let told: Vec<String> = source.into_iter().map(|source| format!("{source}{rest}")).collect();
        assert_eq!(Object::warnings(&group(is_absent), &state), told);
    }
}

#[test]
fn result_is_verified() {
    let group = DesiredGroup {
        name: "web".to_owned(),
        is_absent: false,
        gid: Some(5),
        members: None,
        members_exclusive: false,
        system: false,
    };
    let error = Object::verify(&group, &GroupState::default(), &()).map_err(|failure| failure.chain);
    let expected = ["group `web` is not in the desired state after the change", "it does not exist"];
    assert_eq!(error, Err(expected.map(str::to_owned).to_vec()));
}
