//! Invariants of every catalog.

use std::collections::BTreeMap;

use ccm_engine::{Ledger, LedgerRun};
use ccm_host::state::Directory;
use ccm_model::{Event, Outcome};
use ccm_testkit::Scratch;
use proptest::prelude::*;

use crate::fake::{Options, Ran, catalog, run_until, run_with};

/// Behaviour of a resource, then the resources that it requires and those that it subscribes to, as numbers.
type Drawn = (usize, Vec<usize>, Vec<usize>);

const BEHAVIOURS: [&str; 7] =
    ["", "needs", "declines", "needs idle", "fails=read", "needs fails=execute", "needs panics=execute"];
/// Number of first behaviours that succeed.
const SUCCEEDING: usize = 2;
/// Number of first behaviours whose changes noop can predict: no failures, and no executions without an effect.
const PREDICTABLE: usize = 3;
/// Number of first behaviours without a panic, which would end a whole batch.
const WITHOUT_PANIC: usize = 6;

/// Draws catalogs without cycles. A hidden rank, and not the manifest order, limits the dependencies.
fn catalogs(behaviours: usize) -> impl Strategy<Value = Vec<String>> {
    let one =
        (0..behaviours, prop::collection::vec(0..24_usize, 0..3), prop::collection::vec(0..24_usize, 0..3));
    let drawn = prop::collection::vec(one, 1..14);
    (drawn, any::<prop::sample::Index>()).prop_map(|(drawn, shift)| {
        let count = drawn.len();
        let shift = shift.index(count);
        // Any injective function would do; this one shuffles the positions.
        let rank = |position: usize| (position * 7 + shift) % 97 % (count * 3) * 100 + position;
        let line = |(position, (behaviour, requires, subscribes)): (usize, &Drawn)| {
            let lower = |names: &[usize]| {
                let mut names: Vec<usize> = names
                    .iter()
                    .map(|name| name % count)
                    .filter(|name| rank(*name) < rank(position))
                    .collect();
                names.dedup();
                names.iter().map(|name| format!("r{name}")).collect::<Vec<_>>().join(",")
            };
            let mut line = format!("r{position}");
            let edges = [("require", lower(requires)), ("subscribe", lower(subscribes))];
            for word in BEHAVIOURS[*behaviour].split(' ').filter(|word| !word.is_empty()) {
                line += &format!(" {word}");
            }
            for (key, names) in edges.iter().filter(|(_, names)| !names.is_empty()) {
                line += &format!(" {key}={names}");
            }
            line
        };
        drawn.iter().enumerate().map(line).collect()
    })
}

fn play(lines: &[String], noop: bool, fail_on_error: bool) -> Ran {
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    run_with(&catalog(&lines), &Options { noop, fail_on_error, ..Options::default() })
}

/// Returns the outcome of each resource. Fails if a resource has none or more than one.
fn outcomes(ran: &Ran) -> BTreeMap<String, Outcome> {
    let mut outcomes = BTreeMap::new();
    for event in &ran.events {
        if let Event::ResourceFinished(transaction) = event {
            let before = outcomes.insert(transaction.id.name.to_string(), transaction.outcome.clone());
            assert!(before.is_none(), "{} has two outcomes", transaction.id);
        }
    }
    outcomes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn every_resource_has_exactly_one_outcome(lines in catalogs(BEHAVIOURS.len()), noop: bool, stop: bool) {
        let ran = play(&lines, noop, stop);
        prop_assert_eq!(outcomes(&ran).len(), lines.len());
        prop_assert_eq!(ran.summary.counts.total, lines.len());
    }

    #[test]
    fn noop_executes_nothing(lines in catalogs(BEHAVIOURS.len())) {
        let ran = play(&lines, true, false);
        prop_assert!(ran.calls.iter().all(|call| call.starts_with("read ")), "{:?}", ran.calls);
    }

    #[test]
    fn noop_and_a_run_name_the_same_resources(lines in catalogs(PREDICTABLE)) {
        let changed = |ran: &Ran| -> Vec<String> {
            outcomes(ran).into_iter().filter(|(_, outcome)| outcome.is_change()).map(|(name, _)| name).collect()
        };
        prop_assert_eq!(changed(&play(&lines, true, false)), changed(&play(&lines, false, false)));
    }

    #[test]
    fn batches_do_not_change_the_outcomes(lines in catalogs(WITHOUT_PANIC), noop: bool, stop: bool) {
        let with_provider = |provider: &str| -> Vec<String> {
            lines.iter().map(|line| format!("{line} provider={provider}")).collect()
        };
        let singly = play(&with_provider("fake"), noop, stop).lines;
        prop_assert_eq!(&play(&with_provider("four"), noop, stop).lines, &singly);
        prop_assert_eq!(&play(&with_provider("stopping"), noop, stop).lines, &singly);
        prop_assert_eq!(&play(&with_provider("all"), noop, stop).lines, &singly);
    }

    #[test]
    fn dependencies_come_first(lines in catalogs(BEHAVIOURS.len())) {
        let ran = play(&lines, false, false);
        let order: Vec<String> =
            ran.lines.iter().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
        let position = |name: &str| order.iter().position(|other| other == name);
        for line in &lines {
            let name = line.split(' ').next().unwrap_or_default();
            let edges = line.split(' ').filter_map(|word| word.split_once('='));
            let edges = edges.filter(|(key, _)| matches!(*key, "require" | "subscribe"));
            for on in edges.flat_map(|(_, names)| names.split(',')) {
                prop_assert!(position(on) < position(name), "{} before {} in {:?}", on, name, order);
            }
        }
    }
}

/// Runs a catalog with a ledger. Returns `None` if the run is killed.
fn run_with_ledger(state: &std::path::Path, number: u32, lines: &[String]) -> Option<Ran> {
    let state = Directory::open_private(state).expect("a state directory");
    let run_id = format!("run{number}");
    let run = LedgerRun { key: "site".to_owned(), manifest: "/site.yaml".to_owned(), run_id };
    let ledger = Ledger::open(&state, run).expect("a ledger");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    run_until(&catalog(&lines), &Options { ledger: Some(&ledger), ..Options::default() })
}

/// Returns the resources that a line subscribes to.
fn subscriptions(line: &str) -> Vec<&str> {
    let edges = line.split(' ').filter_map(|word| word.strip_prefix("subscribe="));
    edges.flat_map(|names| names.split(',')).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Subscribers of every executed resource of a killed run are refreshed in that run or in the next one.
    // After that, no refresh is pending.
    #[test]
    fn a_refresh_is_not_lost_by_a_run_that_is_killed(lines in catalogs(SUCCEEDING), at: prop::sample::Index) {
        let scratch = Scratch::new();
        let state = scratch.path().join("state");
        let victim = at.index(lines.len());
        let mut first = lines.clone();
        first[victim] += " hangs";
        let killed = run_with_ledger(&state, 1, &first);
        let done = crate::fake::calls();
        let executed = |name: &str| done.contains(&format!("execute {name}"));
        prop_assert_eq!(killed.is_none(), executed(&format!("r{victim}")));
        // The next run finds all resources in their desired state, and does only the pending refreshes.
        let next: Vec<String> = lines.iter().map(|line| line.replace(" needs", "")).collect();
        let ran = run_with_ledger(&state, 2, &next).expect("the run comes to its end");
        for line in &lines {
            let name = line.split(' ').next().unwrap_or_default();
            let asked = subscriptions(line).iter().any(|source| executed(source));
            let refreshed = executed(name) && name != format!("r{victim}");
            if asked && !refreshed {
                prop_assert!(ran.calls.contains(&format!("execute {name}")), "{} in {:?} then {:?}", name, done, ran.lines);
            }
        }
        prop_assert!(ccm_engine::pending(&state).expect("ledgers").is_empty());
        let third = run_with_ledger(&state, 3, &next).expect("the run comes to its end");
        prop_assert!(third.calls.iter().all(|call| call.starts_with("read ")), "{:?}", third.calls);
    }
}
