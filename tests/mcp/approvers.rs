//! People who approve calls.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use ccm_testkit::GovernedMachine;

/// Makes the key `alice`, and names its owner as an approver.
pub(crate) fn add(machine: &GovernedMachine) {
    let key = machine.scratch.at("alice");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "alice", "-f", &key])
        .status();
    assert!(made.expect("ssh-keygen").success());
    let public = machine.scratch.read("alice.pub").expect("a key");
    let approvers = machine.scratch.write("etc/ccm/approvers", format!("alice {public}"));
    std::fs::set_permissions(approvers, std::fs::Permissions::from_mode(0o644)).expect("a mode");
}

/// Approves a call with the key of a second user.
pub(crate) fn approve(machine: &GovernedMachine, code: &str) {
    let key = machine.scratch.at("alice");
    let approved = machine.run(&["approve", code, "--key", &key, "--yes"]);
    assert_eq!(approved.code, 0, "{}", approved.shown());
}
