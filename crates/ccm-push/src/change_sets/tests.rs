use serde_json::{Value, json};

use super::*;
use crate::sample_lines::{READY, resource};
use crate::transcript::Transcript;

fn changes(lines: &[String]) -> HostChanges {
    let mut transcript = Transcript::default();
    transcript.read([READY, &lines.concat()].concat().as_bytes()).expect("lines");
    HostChanges { transactions: transcript.transactions, ..HostChanges::default() }
}

#[test]
fn hosts_with_the_same_changes_are_one_set() {
    let one = |further: Value| changes(&[resource("/a", "changed", &further)]);
    let base = one(json!({ "diff": "+x" }));
    let cases = [
        (one(json!({ "diff": "+x", "duration": 7, "timestamp": "2027-01-01T00:00:00Z" })), true),
        (one(json!({ "diff": "+x", "notes": ["backup /var/lib/ccm/1"] })), true),
        (one(json!({ "diff": "+y" })), false),
        (one(json!({ "diff": "+x", "warnings": ["careful"] })), false),
        (one(json!({ "diff": "+x", "name": "/b" })), false),
        (HostChanges::default(), false),
        (HostChanges { ended_early: true, ..base.clone() }, false),
    ];
    for (number, (other, is_same)) in cases.into_iter().enumerate() {
        let mut sets = ChangeSets::default();
        let first = sets.add(0, base.clone());
        let second = sets.add(1, other);
        assert_eq!(first == second, is_same, "case {number}");
    }
}

#[test]
fn requests_for_an_approval_differ_only_in_their_codes() {
    let waits = |code: &str| {
        let failure =
            json!({ "kind": "approval_required", "property": null, "changed": false, "intent": code });
        let error = json!(["it waits for an approval", code]);
        changes(&[resource("/a", "failed", &json!({ "failure": failure, "error": error }))])
    };
    let mut sets = ChangeSets::default();
    assert_eq!(sets.add(0, waits("7K3F-1")), sets.add(1, waits("8K3F-2")));
}

#[test]
fn the_largest_set_comes_first() {
    let of = |name: &str| changes(&[resource(name, "changed", &json!({}))]);
    let mut sets = ChangeSets::default();
    for (host, name) in [(0, "/a"), (2, "/b"), (1, "/b")] {
        sets.add(host, of(name));
    }
    let hosts: Vec<_> = sets.by_size().into_iter().map(|set| set.hosts.clone()).collect();
    assert_eq!(hosts, [vec![1, 2], vec![0]]);
}
