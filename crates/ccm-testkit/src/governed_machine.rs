//! Machine with a policy, an audit log and accounts of its own.

use std::path::PathBuf;

use crate::{Called, Ccm, Scratch, needs_own_mounts, shell};

/// Gives a call its own `/etc` and `/var/lib`, which lie in the directory of the test.
pub const OWN_MACHINE: &str = "mkdir -p lib etc work
test -e etc/passwd || cp -a /etc/passwd /etc/group /etc/nsswitch.conf etc/
test -e etc/alternatives || test ! -e /etc/alternatives || cp -a /etc/alternatives etc/
mount --bind lib /var/lib
mount --bind etc /etc";

/// Machine whose `/etc/ccm` and `/var/lib/ccm` lie in the directory of a test. The workspace of its policy is `work`.
#[derive(Debug)]
pub struct GovernedMachine {
    /// Directory of the test.
    pub scratch: Scratch,
    binary: String,
}

impl GovernedMachine {
    /// Returns a machine whose policy has these settings besides its workspace, with an audit log. `None` where tests
    /// can't have one. `binary` is `env!("CARGO_BIN_EXE_ccm")`.
    pub fn new(binary: &str, settings: &str) -> Option<Self> {
        Self::with(Scratch::new, binary, settings)
    }

    /// Returns the same machine in memory.
    pub fn in_memory(binary: &str, settings: &str) -> Option<Self> {
        Self::with(Scratch::in_memory, binary, settings)
    }

    fn with(scratch: fn() -> Scratch, binary: &str, settings: &str) -> Option<Self> {
        if !needs_own_mounts() {
            return None;
        }
        let machine = Self { scratch: scratch(), binary: binary.to_owned() };
        machine.write_policy(settings);
        let made = machine.call(&["audit", "init"]).run();
        assert_eq!(made.code, 0, "{}", made.shown());
        Some(machine)
    }

    /// Writes the policy.
    pub fn write_policy(&self, settings: &str) {
        let workspace = self.scratch.at("work");
        let policy = format!("ccm_policy: 1\nworkspace: {{path: {workspace}, restrict: true}}\n{settings}");
        self.scratch.write("etc/ccm/policy.yaml", policy);
        shell("chmod 755 etc etc/ccm; chmod 644 etc/ccm/policy.yaml", self.scratch.path());
    }

    /// Prepares a call on the machine.
    #[must_use]
    pub fn call(&self, args: &[&str]) -> Ccm {
        Ccm::new(&self.binary, &self.scratch).args(args).after_mounting(OWN_MACHINE)
    }

    /// Calls on the machine, and waits for the end.
    pub fn run(&self, args: &[&str]) -> Called {
        self.call(args).run()
    }

    /// Writes a program that calls on the machine, for programs that start it themselves.
    pub fn launcher(&self, args: &[&str]) -> PathBuf {
        let directory = self.scratch.path().display();
        let binary = std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| self.binary.clone());
        let script = format!(
            "#!/bin/sh\nset -e\ncd '{directory}'\nexec unshare --mount /bin/sh -ec '{OWN_MACHINE}\nexec \"$0\" \"$@\"' \
             '{binary}' {}\n",
            args.join(" ")
        );
        self.scratch.write_program("launcher", &script)
    }

    /// Returns the lines of the audit log, and checks that the log is whole.
    pub fn audit_log(&self) -> Vec<String> {
        let verified = self.run(&["audit", "verify"]);
        assert_eq!(verified.code, 0, "{}", verified.shown());
        let directory = self.scratch.path().join("lib/ccm/audit");
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        let segments = names.iter().filter(|name| name.starts_with("audit-"));
        let lines: String =
            segments.filter_map(|name| self.scratch.read(&format!("lib/ccm/audit/{name}"))).collect();
        lines.lines().map(str::to_owned).collect()
    }
}
