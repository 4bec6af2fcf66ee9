//! Decisions that a witness sees, and refuses.

use std::cell::RefCell;

use ccm_engine::{Decided, DecisionWitness};
use ccm_model::{Failure, FailureKind, ResourceIndex};

use crate::fake::{Options, catalog, run_with};

/// Witness that records decisions, and refuses the changes of these resources.
#[derive(Default)]
struct FakeWitness {
    refused: Vec<usize>,
    seen: RefCell<Vec<(usize, Vec<u8>, bool)>>,
}

impl DecisionWitness for FakeWitness {
    fn observe(&self, index: ResourceIndex, decided: &Decided<'_>) -> Result<(), Failure> {
        let position = index.get();
        self.seen.borrow_mut().push((position, decided.state.found.clone(), decided.change.is_some()));
        if decided.change.is_some() && self.refused.contains(&position) {
            return Err(Failure::new(FailureKind::NotPlanned, "not planned"));
        }
        Ok(())
    }
}

#[test]
fn every_decision_is_seen_with_its_state_in_noop_and_in_a_run() {
    let seen = [true, false].map(|noop| {
        let witness = FakeWitness::default();
        let options = Options { noop, witness: Some(&witness), ..Options::default() };
        run_with(&catalog(&["a needs", "b", "c require=a needs"]), &options);
        witness.seen.take()
    });
    let [in_noop, in_run] = seen;
    let changes: Vec<(usize, bool)> =
        in_noop.iter().map(|(position, _, changes)| (*position, *changes)).collect();
    assert_eq!(changes, [(0, true), (1, false), (2, true)]);
    assert!(in_noop.iter().all(|(_, state, _)| !state.is_empty()));
    assert_eq!(in_noop, in_run);
    assert_ne!(in_noop[0].1, in_noop[1].1, "another state has other bytes");
}

#[test]
fn a_refused_change_is_a_failure_without_a_change() {
    let witness = FakeWitness { refused: vec![0], ..FakeWitness::default() };
    let options = Options { witness: Some(&witness), ..Options::default() };
    let ran = run_with(&catalog(&["a needs", "b needs", "c require=a needs"]), &options);
    assert_eq!(ran.lines, ["a failed: not planned", "b changed", "c dependency failed because of a"]);
    assert!(!ran.calls.iter().any(|call| call.contains("execute a")), "{:?}", ran.calls);
}

#[test]
fn a_refused_neighbour_is_left_out_of_the_batch() {
    let witness = FakeWitness { refused: vec![1], ..FakeWitness::default() };
    let options = Options { witness: Some(&witness), ..Options::default() };
    let lines = ["a provider=four needs", "b provider=four needs", "c provider=four needs"];
    let ran = run_with(&catalog(&lines), &options);
    assert_eq!(ran.lines, ["a changed", "b failed: not planned", "c changed"]);
    assert!(!ran.calls.iter().any(|call| call.contains("execute") && call.contains('b')), "{:?}", ran.calls);
}
