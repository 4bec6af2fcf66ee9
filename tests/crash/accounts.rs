//! Users and keys whose run is killed at any call.

use std::collections::HashSet;

use ccm_testkit::{Ccm, Fault, Scratch, can_mount, is_root, no_faults, skipped, sweep};

use crate::points::{check_each, selected};

const MANIFEST: &str = "
ccm:
  resources:
    - group:
        - crash-team: {gid: 54300}
    - user:
        - crash-ada:
            uid: 54321
            gid: crash-team
            home: /home/crash-ada
            manage_home: true
            password_hash: $6$saltsalt$abcdefgh
        - crash-old: {ensure: absent}
    - authorized_key:
        - crash@example.com:
            user: crash-ada
            key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGAbLmuMIVT/jf24lgRRDjCBFZWm9GBlBgxHGGCvm3kG
";

/// Mounts the files with accounts of the test in place of those of the machine.
const MOUNTS: &str = "
mount --bind etc /etc
mount --bind home /home
mount -t tmpfs tmpfs /var/mail
";

const FILES: [(&str, usize); 4] = [("passwd", 7), ("shadow", 9), ("group", 4), ("gshadow", 4)];

struct Machine(Scratch);

impl Machine {
    fn new() -> Self {
        let scratch = Scratch::in_memory();
        scratch.write("manifest.yaml", MANIFEST);
        ccm_testkit::shell(
            "chmod 755 . && mkdir -p etc/default etc/skel home && cp -a /etc/pam.d /etc/security /etc/login.defs etc/",
            scratch.path(),
        );
        for (name, text) in [
            ("passwd", "root:x:0:0:root:/root:/bin/sh\ncrash-old:x:54000:100::/:/bin/sh\n"),
            ("shadow", "root:*:19000:0:99999:7:::\ncrash-old:!:19000:0:99999:7:::\n"),
            ("group", "root:x:0:\nusers:x:100:crash-old\n"),
            ("gshadow", "root:*::\nusers:!::crash-old\n"),
            ("nsswitch.conf", "passwd: files\ngroup: files\n"),
            ("skel/.profile", "hello\n"),
        ] {
            scratch.write(&format!("etc/{name}"), text);
        }
        Self(scratch)
    }

    fn apply(&self, options: &[&str]) -> Ccm {
        let ccm = Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.0).args(&["apply", "manifest.yaml"]);
        ccm.args(options).after_mounting(MOUNTS)
    }

    /// Each line of each file is whole, and root is in all of them.
    fn check_consistent(&self) -> Result<(), String> {
        for (name, fields) in FILES {
            let text = self.0.read(&format!("etc/{name}")).unwrap_or_default();
            let mut seen = HashSet::new();
            for line in text.lines() {
                let is_whole = line.split(':').count() == fields && seen.insert(line.split(':').next());
                if !is_whole {
                    return Err(format!("{name} is damaged: {text}"));
                }
            }
            if !text.ends_with('\n') || !seen.contains(&Some("root")) {
                return Err(format!("{name} is damaged: {text}"));
            }
        }
        let keys = self.0.read("home/crash-ada/.ssh/authorized_keys");
        if keys.is_none_or(|keys| keys.ends_with("vm3kG crash@example.com\n")) {
            Ok(())
        } else {
            Err("the keys are half written".to_owned())
        }
    }

    fn check_converges(&self) -> Result<(), String> {
        let second = self.apply(&[]).run();
        if second.code != 0 {
            return Err(format!("the next run failed: {}", second.shown()));
        }
        self.check_consistent()?;
        let third = self.apply(&["--detailed-exitcodes"]).run();
        if third.code != 0 {
            return Err(format!("the run after the next had something to do: {}", third.shown()));
        }
        let passwd = self.0.read("etc/passwd").unwrap_or_default();
        let shadow = self.0.read("etc/shadow").unwrap_or_default();
        let is_done = passwd.contains("crash-ada:x:54321:54300:") && !passwd.contains("crash-old");
        if is_done && shadow.contains("crash-ada:$6$saltsalt$abcdefgh:") {
            Ok(())
        } else {
            Err(format!("not as desired: {passwd}"))
        }
    }
}

#[test]
fn accounts_of_a_killed_run_are_whole_and_completed_by_the_next() {
    if let Some(reason) = no_faults() {
        return skipped(&reason);
    }
    if !is_root() || !can_mount() {
        return skipped("it needs root and mounts of its own");
    }
    let whole = Machine::new();
    let calls = whole.apply(&[]).run_with(Fault::None);
    assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
    whole.check_consistent().and_then(|()| whole.check_converges()).expect("a run that is not killed");
    check_each(selected(&calls.calls, 4).into_iter().map(Fault::KillBefore), |fault| {
        let machine = Machine::new();
        let killed = machine.apply(&[]).run_with(fault);
        sweep();
        let Some(call) = killed.struck else { return Ok(()) };
        let at = |wrong: String| format!("{fault:?}, {call}: {wrong}");
        machine.check_consistent().and_then(|()| machine.check_converges()).map_err(at)
    });
}
