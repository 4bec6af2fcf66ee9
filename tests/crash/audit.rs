//! The audit log of runs that are killed.

use ccm_testkit::{Ccm, Fault, Scratch, isolated_with_setup, needs_faults, needs_own_mounts, sweep};

use crate::points::selected;

/// Starts the process of the test again, with its own `/var/lib` and `/etc`, and a policy that requires records.
pub(crate) const OWN_MACHINE: &str = r#"
test -n "$CCM_TEST_MOUNTED" || exec env CCM_TEST_MOUNTED=1 unshare --mount /bin/sh -c '
set -e
mount -t tmpfs -o mode=755 tmpfs /var/lib
mkdir -p /var/lib/etc/ccm
cp -a /etc/passwd /etc/group /etc/nsswitch.conf /var/lib/etc
printf "ccm_policy: 1\naudit: {required: true}\n" > /var/lib/etc/ccm/policy.yaml
chmod 755 /var/lib/etc /var/lib/etc/ccm
chmod 644 /var/lib/etc/ccm/policy.yaml
mount --bind /var/lib/etc /etc
exec "$0" "$@"
' "$0" "$@""#;

/// Machine with an audit log, and a manifest with one command.
struct Machine(Scratch);

fn ccm(scratch: &Scratch, args: &[&str]) -> Ccm {
    Ccm::new(env!("CARGO_BIN_EXE_ccm"), scratch).args(args)
}

impl Machine {
    fn new() -> Self {
        let scratch = Scratch::in_memory();
        let made = scratch.at("made");
        let manifest =
            format!("ccm:\n  resources:\n    - exec: [{{'touch {made}': {{cwd: /, creates: {made}}}}}]\n");
        scratch.write("manifest.yaml", manifest);
        let machine = Self(scratch);
        let called = ccm(&machine.0, &["audit", "init"]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        machine.0.write("first.pub", &called.stdout);
        // The first run makes the state directory, so that it makes more calls than the next ones.
        machine.check_goes_on("the first run");
        machine
    }

    fn apply(&self) -> Ccm {
        if self.0.has("made") {
            std::fs::remove_file(self.0.path().join("made")).expect("a file");
        }
        ccm(&self.0, &["apply", "manifest.yaml"])
    }

    fn verify(&self, what: &str) {
        let found = ccm(&self.0, &["audit", "verify", "--key", "first.pub"]).run();
        assert_eq!(found.code, 0, "{what}: {}", found.shown());
    }

    /// Returns the number of recorded commands.
    fn intents() -> usize {
        let log = std::fs::read_to_string("/var/lib/ccm/audit/audit-000001.jsonl").expect("the log");
        log.matches("\"type\":\"intent\"").count()
    }

    /// Runs again without a fault, and verifies the log.
    fn check_goes_on(&self, what: &str) {
        let next = self.apply().run();
        assert_eq!(next.code, 0, "{what}: {}", next.shown());
        self.verify(what);
    }
}

pub(crate) fn can_run() -> bool {
    needs_faults() && needs_own_mounts()
}

#[test]
fn a_run_that_is_killed_anywhere_leaves_an_audit_log_that_goes_on() {
    if !can_run() {
        return;
    }
    isolated_with_setup(OWN_MACHINE, || {
        let machine = Machine::new();
        let whole = machine.apply().run_with(Fault::None);
        assert_eq!(whole.called.code, 0, "{}", whole.called.shown());
        assert!(whole.calls.iter().any(|call| call.contains("/audit/key.next")), "{:#?}", whole.calls);
        // All calls on the log, and some of the others.
        let of_log = |number: &usize| whole.calls[number - 1].contains("/audit/");
        let others = selected(&whole.calls, 8);
        let points = (1..=whole.calls.len()).filter(|number| of_log(number) || others.contains(number));
        for point in points {
            let intents = Machine::intents();
            let killed = machine.apply().run_with(Fault::KillBefore(point));
            sweep();
            let Some(call) = killed.struck else { continue };
            let what = format!("killed at {point}, {call}");
            assert!(!machine.0.has("made") || Machine::intents() > intents, "{what}: not recorded");
            machine.verify(&what);
            machine.check_goes_on(&format!("after a kill at {point}, {call}"));
        }
        let log = ccm(&machine.0, &["audit", "log", "-n", "100000"]).run().stdout;
        assert!(log.contains("interrupted: ccm was killed"), "{log}");
    });
}

#[test]
fn nothing_starts_that_a_full_disk_can_not_record() {
    if !can_run() {
        return;
    }
    isolated_with_setup(OWN_MACHINE, || {
        let machine = Machine::new();
        let full = |call| Fault::NoSpace { call, lasting: true };
        let calls = machine.apply().run_with(full(usize::MAX)).calls;
        let of_log = |number: &usize| calls[number - 1].contains("/audit/");
        let points: Vec<usize> = (1..=calls.len()).filter(of_log).collect();
        assert!(points.len() > 5, "{calls:#?}");
        let mut codes = Vec::new();
        for point in points {
            let intents = Machine::intents();
            let met = machine.apply().run_with(full(point));
            sweep();
            let Some(call) = met.struck else { continue };
            let what = format!("full at {point}, {call}");
            let called = met.called;
            assert!(!machine.0.has("made") || Machine::intents() > intents, "{what}: {}", called.shown());
            assert!(matches!(called.code, 1 | 4), "{what}: {}", called.shown());
            let words = format!("{}{}", called.stdout, called.stderr);
            assert!(words.contains("No space left on device"), "{what}: {}", called.shown());
            codes.push((called.code, machine.0.has("made")));
            machine.verify(&what);
            machine.check_goes_on(&what);
        }
        // Before the run, before the command, and behind it.
        for expected in [(1, false), (4, false), (4, true)] {
            assert!(codes.contains(&expected), "{expected:?} is not in {codes:?}: {calls:#?}");
        }
    });
}

#[test]
fn a_recorded_command_costs_at_most_four_syncs() {
    if !can_run() {
        return;
    }
    isolated_with_setup(OWN_MACHINE, || {
        let machine = Machine::new();
        let syncs = |commands: usize| {
            let execs = (0..commands).fold(String::new(), |execs, number| {
                execs + &format!("        - e{number}: {{command: 'true', cwd: /}}\n")
            });
            machine.0.write("manifest.yaml", format!("ccm:\n  resources:\n    - exec:\n{execs}"));
            let met = machine.apply().run_with(Fault::SyncFails { call: usize::MAX, lasting: false });
            assert_eq!(met.called.code, 0, "{}", met.called.shown());
            met.calls.iter().filter(|call| call.contains("/audit")).count()
        };
        let (one, three) = (syncs(1), syncs(3));
        // The intent, the end, and the outcome of the resource.
        assert_eq!((three - one) / 2, 3, "{one} syncs for one command, {three} for three");
        assert!(
            one <= 3 + 5,
            "the run itself: its beginning, a key, its directory, its end with the seal: {one}"
        );
    });
}

#[test]
fn an_approved_command_costs_at_most_four_syncs() {
    if !can_run() {
        return;
    }
    isolated_with_setup(OWN_MACHINE, || {
        let machine = Machine::new();
        let keygen = ["-q", "-t", "ed25519", "-N", "", "-C", "", "-f", &machine.0.at("key")];
        let made = std::process::Command::new("ssh-keygen").args(keygen).status();
        assert!(made.expect("ssh-keygen").success());
        let public = machine.0.read("key.pub").expect("a key");
        let policy =
            "ccm_policy: 1\naudit: {required: true}\nrules: [{match: {program: 'true'}, ask: true}]\n";
        std::fs::write("/etc/ccm/policy.yaml", policy).expect("a policy");
        std::fs::write("/etc/ccm/approvers", format!("alice {public}")).expect("approvers");
        let syncs = |commands: usize| {
            let execs = (0..commands).fold(String::new(), |execs, number| {
                execs + &format!("        - e{number}: {{command: 'true {commands}', cwd: /}}\n")
            });
            machine.0.write("manifest.yaml", format!("ccm:\n  resources:\n    - exec:\n{execs}"));
            assert_eq!(machine.apply().run().code, 4);
            let listed = ccm(&machine.0, &["approvals"]).run();
            for code in listed.stdout.lines().filter_map(|line| line.get(..4)) {
                let approved = ccm(&machine.0, &["approve", code, "--key", "key", "--yes"]).run();
                assert_eq!(approved.code, 0, "{}", approved.shown());
            }
            let met = machine.apply().run_with(Fault::SyncFails { call: usize::MAX, lasting: false });
            assert_eq!(met.called.code, 0, "{}", met.called.shown());
            let is_ours = |call: &&String| call.contains("/audit") || call.contains("/approvals");
            met.calls.iter().filter(is_ours).count()
        };
        // The first use makes the ledger of uses.
        syncs(2);
        let (one, three) = (syncs(1), syncs(3));
        // The use of the approval, the intent, the end, and the outcome of the resource.
        assert_eq!((three - one) / 2, 4, "{one} syncs for one command, {three} for three");
        machine.verify("approved commands");
    });
}
