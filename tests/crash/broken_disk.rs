//! A disk that is full, or broken.

use ccm_testkit::{Fault, may_take_long, needs_faults, sweep};

use crate::case::{Case, words};
use crate::points::{check_each, selected};

/// Tries a fault of the disk at the calls that can meet it.
fn at_each_call(make: impl Fn(usize, bool) -> Fault, error: &str) {
    if !needs_faults() {
        return;
    }
    let calls = Case::new().apply(&[]).run_with(make(usize::MAX, false)).calls;
    assert!(calls.len() > 10, "{calls:?}");
    // Usually one call fails here, and from the next one on all do.
    let both = |(at, call): (usize, usize)| {
        [true, false].map(|lasting| (lasting == (at % 2 == 0), make(call, lasting)))
    };
    let faults = selected(&calls, 4).into_iter().enumerate().flat_map(both);
    let faults = faults.filter(|(is_its_turn, _)| may_take_long() || *is_its_turn).map(|(_, fault)| fault);
    check_each(faults, |fault| {
        let case = Case::new();
        let met = case.apply(&[]).run_with(fault);
        sweep();
        let Some(call) = met.struck else { return Ok(()) };
        let at = |wrong: String| format!("{fault:?}, {call}: {wrong}\n{}", met.called.shown());
        let words = words(&met.called);
        // Only another run that waits for the lock reads the content of the lock file. An entry that the ledger could
        // not take is written later, if the disk takes it then.
        let is_lasting =
            matches!(fault, Fault::NoSpace { lasting: true, .. } | Fault::SyncFails { lasting: true, .. });
        let is_made_good =
            call.ends_with("/lock)") || call.ends_with(".ledger)") && !is_lasting && met.called.code == 0;
        let is_told = is_made_good || words.contains(error) && matches!(met.called.code, 1 | 4);
        if !is_told {
            return Err(at("nobody was told".to_owned()));
        }
        if words.contains("internal error") {
            return Err(at("a bug".to_owned()));
        }
        if met.called.code == 1 {
            case.check_untouched().map_err(at)?;
        }
        case.check_nothing_left().map_err(at)?;
        case.check_consistent().and_then(|()| case.check_converges()).map_err(at)
    });
}

#[test]
fn a_disk_that_fills_up_anywhere_leaves_nothing_half_done() {
    at_each_call(|call, lasting| Fault::NoSpace { call, lasting }, "No space left on device");
}

#[test]
fn a_run_that_finds_nothing_to_do_does_not_wait_for_the_disk() {
    if !needs_faults() {
        return;
    }
    let case = Case::new();
    let calls = |fault| case.apply(&[]).run_with(fault).calls;
    let at_none = Fault::SyncFails { call: usize::MAX, lasting: false };
    assert!(calls(at_none).len() > 4, "what was done is brought to the disk");
    assert_eq!(calls(at_none), [""; 0]);
    sweep();
}

#[test]
fn output_of_execs_is_synced_before_the_summary_that_counts_it() {
    if !needs_faults() {
        return;
    }
    let case = Case::new();
    let met = case.apply(&[]).run_with(Fault::SyncFails { call: usize::MAX, lasting: false });
    assert_eq!(met.called.code, 0, "{}", met.called.shown());
    let summary = met.calls.iter().position(|call| call.contains("/.summary.json.new")).expect("a summary");
    let artifacts = case.artifacts();
    assert!(artifacts.iter().any(|path| path.ends_with("stdout.txt")), "{artifacts:?}");
    for path in artifacts {
        let is_of_path = |call: &String| call.ends_with(&format!("sync({})", path.display()));
        let synced = met.calls.iter().position(is_of_path);
        assert!(synced.is_some_and(|at| at < summary), "{} in {:#?}", path.display(), met.calls);
    }
    sweep();
}

#[test]
fn a_disk_that_can_not_be_synced_is_not_trusted() {
    at_each_call(|call, lasting| Fault::SyncFails { call, lasting }, "Input/output error");
}
