//! Approvals of runs that are killed, or whose disk is full: a command is started at most once for each.

use ccm_testkit::{Ccm, Fault, Scratch, isolated_with_setup, sweep};

use crate::audit::{OWN_MACHINE, can_run};
use crate::points::selected;

/// Machine whose policy asks before the command of a manifest, which makes one file more each time.
struct Machine(Scratch);

impl Machine {
    fn new() -> Self {
        let machine = Self(Scratch::in_memory());
        let keygen = ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", &machine.0.at("key")];
        let made = std::process::Command::new("ssh-keygen").args(keygen).status();
        assert!(made.expect("ssh-keygen").success());
        let public = machine.0.read("key.pub").expect("a key");
        let policy =
            "ccm_policy: 1\naudit: {required: true}\nrules: [{match: {program: mktemp}, ask: true}]\n";
        std::fs::write("/etc/ccm/policy.yaml", policy).expect("a policy");
        std::fs::write("/etc/ccm/approvers", format!("alice {public}")).expect("approvers");
        let started = machine.0.at("started");
        std::fs::create_dir(&started).expect("a directory");
        let manifest = format!("ccm:\n  resources:\n    - exec: [{{'mktemp -p {started}': {{cwd: /}}}}]\n");
        machine.0.write("manifest.yaml", manifest);
        assert_eq!(machine.ccm(&["audit", "init"]).run().code, 0);
        machine
    }

    fn ccm(&self, args: &[&str]) -> Ccm {
        Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.0).args(args)
    }

    fn apply(&self) -> Ccm {
        self.ccm(&["apply", "manifest.yaml"])
    }

    /// Returns the number of times that the command was started.
    fn started(&self) -> usize {
        std::fs::read_dir(self.0.path().join("started")).expect("a directory").count()
    }

    /// Lets the next run be approved.
    fn approve(&self, what: &str) {
        let asked = self.apply().run();
        assert_eq!(asked.code, 4, "{what}: {}", asked.shown());
        let listed = self.ccm(&["approvals"]).run().stdout;
        let code = listed.get(..4).expect("a code");
        let approved = self.ccm(&["approve", code, "--key", "key", "--yes"]).run();
        assert_eq!(approved.code, 0, "{what}: {}", approved.shown());
    }

    /// Runs again without a fault, and checks that an approval was used at most once.
    fn check(&self, before: usize, what: &str) {
        let next = self.apply().run();
        assert!(matches!(next.code, 0 | 4), "{what}: {}", next.shown());
        let started = self.started() - before;
        assert!(started <= 1, "{what}: started {started} times: {}", next.shown());
        // Either the approval was left for this run, or it was spent.
        assert!(next.code == 4 || started == 1, "{what}: {}", next.shown());
        if next.code == 0 {
            let further = self.apply().run();
            assert_eq!((further.code, self.started() - before), (4, 1), "{what}: {}", further.shown());
        }
        let verified = self.ccm(&["audit", "verify"]).run();
        assert_eq!(verified.code, 0, "{what}: {}", verified.shown());
    }
}

#[test]
fn an_approval_of_a_run_that_is_killed_anywhere_is_used_at_most_once() {
    if !can_run() {
        return;
    }
    isolated_with_setup(OWN_MACHINE, || {
        let machine = Machine::new();
        machine.approve("the first run");
        let calls = machine.apply().run_with(Fault::None).calls;
        assert!(calls.iter().any(|call| call.contains("/approvals/uses")), "{calls:#?}");
        let chosen = selected(&calls, 8);
        let of_store = |point: &usize| calls[point - 1].contains("/approvals");
        for point in (1..=calls.len()).filter(|point| of_store(point) && chosen.contains(point)) {
            let what = format!("killed at {point}");
            machine.approve(&what);
            let before = machine.started();
            let killed = machine.apply().run_with(Fault::KillBefore(point));
            sweep();
            machine.check(before, &format!("{what}, {:?}", killed.struck));
        }
    });
}

#[test]
fn nothing_starts_whose_approval_can_not_be_used_up_on_a_full_disk() {
    if !can_run() {
        return;
    }
    isolated_with_setup(OWN_MACHINE, || {
        let machine = Machine::new();
        machine.approve("the first run");
        let full = |call| Fault::NoSpace { call, lasting: true };
        let calls = machine.apply().run_with(full(usize::MAX)).calls;
        let points: Vec<usize> =
            (1..=calls.len()).filter(|point| calls[point - 1].contains("/approvals")).collect();
        let ledger = calls.iter().position(|call| call.contains("/approvals/uses")).expect("the ledger") + 1;
        for point in points {
            let what = format!("full at {point}, {}", calls[point - 1]);
            machine.approve(&what);
            let before = machine.started();
            let met = machine.apply().run_with(full(point));
            sweep();
            let called = met.called;
            if point <= ledger {
                assert_eq!(machine.started(), before, "{what}: {}", called.shown());
                let words = format!("{}{}", called.stdout, called.stderr);
                assert!(words.contains("No space left on device"), "{what}: {}", called.shown());
            }
            assert!(matches!(called.code, 0 | 1 | 4), "{what}: {}", called.shown());
            machine.check(before, &what);
        }
    });
}
