//! People who approve calls.

use ccm_testkit::GovernedMachine;

/// Approves a call with the key of a second user.
pub(crate) fn approve(machine: &GovernedMachine, code: &str) {
    let key = machine.scratch.at("alice");
    let approved = machine.run(&["approve", code, "--key", &key, "--yes"]);
    assert_eq!(approved.code, 0, "{}", approved.shown());
}
