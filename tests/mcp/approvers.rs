//! People who approve calls.

use std::os::unix::fs::PermissionsExt as _;

use ccm_testkit::{GovernedMachine, OWN_MACHINE, shell};

/// Adds the user alice, who has a key and may approve.
const ALICE: &str = "
echo 'ccm-approvers:x:4321:' >> etc/group
echo 'alice:x:4322:4322::/var/lib/alice:/bin/sh' >> etc/passwd
mkdir -p lib/alice/.ssh
ssh-keygen -q -t ed25519 -N '' -C alice -f lib/alice/.ssh/id_ed25519
chown -R 4322:4322 lib/alice";

/// Becomes alice, who may not be able to read the program where it lies.
const AS_ALICE: &str = "
cp \"$0\" /etc/ccm-binary
cd /
exec setpriv --reuid=4322 --regid=4322 --groups=4321 env HOME=/var/lib/alice /etc/ccm-binary \"$@\"";

/// Adds an approver to a machine.
pub(crate) fn add(machine: &GovernedMachine) {
    shell(ALICE, machine.scratch.path());
    let public = machine.scratch.read("lib/alice/.ssh/id_ed25519.pub").expect("a key");
    let approvers = machine.scratch.write("etc/ccm/approvers", format!("alice {public}"));
    std::fs::set_permissions(approvers, std::fs::Permissions::from_mode(0o644)).expect("a mode");
}

/// Approves a call as alice, with her key.
pub(crate) fn approve(machine: &GovernedMachine, code: &str) {
    let script = format!("{OWN_MACHINE}{AS_ALICE}");
    let approved = machine.call(&["approve", code, "--yes"]).after_mounting(&script).run();
    assert_eq!(approved.code, 0, "{}", approved.shown());
    assert!(approved.stdout.contains("signed by alice"), "{}", approved.shown());
}
