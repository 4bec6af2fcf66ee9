//! An auditor verifies seals with OpenSSH alone.

use std::fs::{self, File};
use std::process::{Command, Stdio};
use std::time::{Duration, UNIX_EPOCH};

use ccm_audit::{AuditEntry, AuditLog, AuditedMachine, SEAL_NAMESPACE, SEAL_PRINCIPAL};
use ccm_host::state::Directory;
use ccm_testkit::{Scratch, skipped};

fn verifies(scratch: &Scratch, key: &str, statement: &str, signature: &str) -> bool {
    scratch.write("signers", format!("{SEAL_PRINCIPAL} namespaces=\"{SEAL_NAMESPACE}\" {key}\n"));
    scratch.write("statement", statement);
    scratch.write("statement.sig", signature);
    let statement = File::open(scratch.path().join("statement")).expect("the statement");
    let status = Command::new("ssh-keygen")
        .args(["-Y", "verify", "-f", "signers", "-I", SEAL_PRINCIPAL, "-n", SEAL_NAMESPACE])
        .args(["-s", "statement.sig"])
        .current_dir(scratch.path())
        .stdin(statement)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn openssh_verifies_each_seal_with_the_key_that_the_seal_before_names() {
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        return skipped("ssh-keygen is not installed");
    }
    let scratch = Scratch::new();
    let path = scratch.path().join("audit");
    let directory = Directory::open_private(&path).expect("a directory");
    let machine = AuditedMachine { id: "m".to_owned(), boot: "b".to_owned() };
    let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let (mut log, first) = AuditLog::create(directory, machine, now).expect("a log");
    for run in ["1", "2"] {
        let ended = AuditEntry::RunEnded { run: run.to_owned(), exit_code: 0, changed: 0, failed: 0 };
        log.append_and_seal(ended, now).expect("a seal");
    }
    let text = fs::read_to_string(path.join("audit-000001.jsonl")).expect("the log");
    let mut key = first.to_string();
    let mut seals = 0;
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line");
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        if text("type") != "seal" {
            continue;
        }
        let (statement, signature) = (text("statement"), text("signature"));
        assert!(verifies(&scratch, &key, &statement, &signature), "{statement}");
        let other = statement.replace("seal ", "seal 1");
        assert!(!verifies(&scratch, &key, &other, &signature), "{other}");
        let next = statement.lines().find_map(|line| line.strip_prefix("next "));
        key = next.expect("the next key").to_owned();
        assert!(!verifies(&scratch, &key, &statement, &signature), "by a later key");
        seals += 1;
    }
    assert_eq!(seals, 3);
}
