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
        };
        Object::decide(&group, &state, None)
    });
    assert_eq!(rows, 23);
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
