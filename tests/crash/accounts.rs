//! Users and keys whose run is killed at any call.

use std::collections::HashSet;
use std::fs::{read_dir, read_to_string, remove_dir_all, remove_file, write};
use std::path::Path;

use ccm_testkit::{Ccm, Fault, OwnMounts, Scratch, needs_faults, needs_own_mounts, sweep};

use crate::points::selected;

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

/// Machine with its own accounts and homes.
const OWN_MACHINE: OwnMounts<'_> = OwnMounts {
    namespaces: "",
    etc: &["pam.d", "security", "login.defs"],
    empty: &["/home", "/var/mail"],
    script: r"
mkdir /etc/default /etc/skel
echo hello > /etc/skel/.profile
echo > /etc/own-accounts
printf 'passwd: files\ngroup: files\n' > /etc/nsswitch.conf
",
};

/// Files with accounts: name, number of fields, and text before a run.
const FILES: [(&str, usize, &str); 4] = [
    ("passwd", 7, "root:x:0:0:root:/root:/bin/sh\ncrash-old:x:54000:100::/:/bin/sh\n"),
    ("shadow", 9, "root:*:19000:0:99999:7:::\ncrash-old:!:19000:0:99999:7:::\n"),
    ("group", 4, "root:x:0:\nusers:x:100:crash-old\n"),
    ("gshadow", 4, "root:*::\nusers:!::crash-old\n"),
];

/// Machine with the accounts of the test. The process has one at a time.
struct Machine(Scratch);

impl Machine {
    fn new() -> Self {
        assert!(Path::new("/etc/own-accounts").exists(), "these are the accounts of the machine itself");
        let scratch = Scratch::in_memory();
        scratch.write("manifest.yaml", MANIFEST);
        if Path::new("/home/crash-ada").exists() {
            remove_dir_all("/home/crash-ada").expect("a home");
        }
        for entry in read_dir("/etc").expect("a directory").flatten() {
            let name = entry.file_name().into_string().expect("UTF-8");
            let is_left = FILES
                .iter()
                .any(|(file, ..)| name.starts_with(&format!("{file}.")) || name == format!("{file}-"));
            if is_left || name == ".pwd.lock" {
                remove_file(entry.path()).expect("a file");
            }
        }
        for (name, _, text) in FILES {
            write(format!("/etc/{name}"), text).expect("a file");
        }
        Self(scratch)
    }

    fn apply(&self, options: &[&str]) -> Ccm {
        Ccm::new(env!("CARGO_BIN_EXE_ccm"), &self.0).args(&["apply", "manifest.yaml"]).args(options)
    }

    /// Each line of each file is whole, and root is in all of them.
    fn check_consistent() -> Result<(), String> {
        for (name, fields, _) in FILES {
            let text = read(&format!("/etc/{name}")).unwrap_or_default();
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
        let keys = read("/home/crash-ada/.ssh/authorized_keys");
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
        Self::check_consistent()?;
        let third = self.apply(&["--detailed-exitcodes"]).run();
        if third.code != 0 {
            return Err(format!("the run after the next had something to do: {}", third.shown()));
        }
        let passwd = read("/etc/passwd").unwrap_or_default();
        let shadow = read("/etc/shadow").unwrap_or_default();
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
    if !needs_faults() || !needs_own_mounts() {
        return;
    }
    OWN_MACHINE.isolate(|| {
        let whole = Machine::new();
        let calls = whole.apply(&[]).run_with(Fault::None);
        assert_eq!(calls.called.code, 0, "{}", calls.called.shown());
        Machine::check_consistent().and_then(|()| whole.check_converges()).expect("a run that is not killed");
        for point in selected(&calls.calls, 4) {
            let machine = Machine::new();
            let killed = machine.apply(&[]).run_with(Fault::KillBefore(point));
            sweep();
            let Some(call) = killed.struck else { continue };
            let checked = Machine::check_consistent().and_then(|()| machine.check_converges());
            if let Err(wrong) = checked {
                panic!("killed at {point}, {call}: {wrong}");
            }
        }
    });
}

fn read(path: &str) -> Option<String> {
    read_to_string(path).ok()
}
