//! `ccm audit`, and runs in the audit log of the machine.

use std::path::Path;
use std::process::Command;

use ccm_testkit::{Called, Ccm, Scratch, needs_own_mounts, repository, shell, skipped};
use serde_json::Value;

use crate::ccm;
use crate::expect::expect_output;

/// Shell commands that give a call its own `/etc` and `/var/lib`, in the directory of the test.
const OWN_MACHINE: &str = "mkdir -p lib etc
cp -a /etc/passwd /etc/group /etc/nsswitch.conf etc/
mount --bind lib /var/lib
mount --bind etc /etc";

const MANIFEST: &str = "
ccm:
  resources:
    - exec:
        - touch:
            command: touch made
            cwd: [dir]
            onlyif: 'true'
        - private: {command: echo of-the-command, cwd: /, sensitive: true}
    - file:
        - [dir]/file: {content: of-the-file}
";

/// Checks that a call failed with these parts of its message.
#[track_caller]
fn expect_error(called: &Called, code: i32, parts: &[&str]) {
    assert_eq!(called.code, code, "{}", called.shown());
    for part in parts {
        assert!(called.stderr.contains(part), "{part}: {}", called.shown());
    }
}

/// Machine with an audit log of its own.
struct Machine(Scratch);

impl Machine {
    /// `None` where tests can't have one.
    fn new() -> Option<Self> {
        if !needs_own_mounts() {
            return None;
        }
        let machine = Self(Scratch::new());
        machine.0.write("manifest.yaml", crate::in_place(&machine.0, MANIFEST));
        Some(machine)
    }

    fn call(&self, args: &[&str]) -> Ccm {
        self.call_after("", args)
    }

    /// Prepares a call behind further shell commands.
    fn call_after(&self, script: &str, args: &[&str]) -> Ccm {
        ccm(&self.0, args).after_mounting(&format!("{OWN_MACHINE}\n{script}"))
    }

    fn audit(&self, args: &[&str]) -> Called {
        self.call(&[&["audit"], args].concat()).run()
    }

    fn apply(&self) -> Called {
        self.call(&["apply", "manifest.yaml"]).run()
    }

    /// Makes the log, and returns the file with its key.
    fn init(&self) -> String {
        let made = self.audit(&["init"]);
        assert_eq!(made.code, 0, "{}", made.shown());
        self.0.write("first.pub", &made.stdout);
        self.0.at("first.pub")
    }

    fn set_policy(&self, sections: &str) {
        self.0.write("etc/ccm/policy.yaml", format!("ccm_policy: 1\n{sections}"));
        shell("chmod 755 etc etc/ccm; chmod 644 etc/ccm/policy.yaml", self.0.path());
    }

    fn log(&self) -> String {
        self.0.read("lib/ccm/audit/audit-000001.jsonl").unwrap_or_default()
    }

    fn write_log(&self, content: &str) {
        self.0.write("lib/ccm/audit/audit-000001.jsonl", content);
    }
}

#[test]
fn a_log_is_made_used_and_verified() {
    let Some(machine) = Machine::new() else { return };
    expect_error(&machine.audit(&["verify"]), 1, &["there is no audit log", "ccm audit init"]);
    for (directory, message) in [("nowhere", "there is no directory"), ("empty", "there is no audit log in")]
    {
        shell("mkdir -p empty", machine.0.path());
        let found = machine.audit(&["verify", "--directory", directory]);
        expect_error(&found, 1, &[message, directory, "name the directory of a log"]);
        assert!(!found.stderr.contains("ccm audit init"), "{}", found.shown());
    }
    let made = machine.audit(&["init"]);
    expect_error(&machine.audit(&["log", "--run", "last"]), 1, &["no line of any run"]);
    expect_output(&made, 0, &["ssh-ed25519 AAAA", " ccm-audit@m-"]);
    assert!(made.stderr.contains("/var/lib/ccm/audit") && made.stderr.contains("--key"), "{}", made.shown());
    machine.0.write("first.pub", &made.stdout);
    expect_error(&machine.audit(&["init"]), 1, &["there is an audit log in", "already"]);
    let ran = machine.apply();
    assert_eq!(ran.code, 0, "{}", ran.shown());
    let verified = machine.audit(&["verify"]);
    expect_output(&verified, 0, &["nobody has changed the audit log: ", " in 1 file, 2 seals\n"]);
    assert!(
        verified.stderr.contains("the whole log written anew or an end that was cut off"),
        "{}",
        verified.shown()
    );
    let checkpoint = machine.audit(&["checkpoint"]);
    machine.0.write("checkpoint", &checkpoint.stdout);
    let all = machine.audit(&["verify", "--key", "first.pub", "--against", "checkpoint"]);
    assert!(all.code == 0 && all.stderr.is_empty(), "{}", all.shown());
    let document: Value =
        serde_json::from_str(&machine.audit(&["verify", "--json"]).stdout).expect("a document");
    assert_eq!((&document["intact"], &document["seals"]), (&true.into(), &2.into()));
    assert_eq!(format!("{}\n", document["end"]), checkpoint.stdout);
    let against = machine.call(&["audit", "verify", "--against", "-"]).input(checkpoint.stdout).run();
    assert_eq!(against.code, 0, "{}", against.shown());
}

#[test]
fn a_log_that_was_changed_is_an_error_with_the_place() {
    let Some(machine) = Machine::new() else { return };
    let key = machine.init();
    machine.apply();
    machine.0.write("checkpoint", machine.audit(&["checkpoint"]).stdout);
    let log = machine.log();
    machine.write_log(&log.replace("echo", "test"));
    let found = machine.audit(&["verify", "--key", &key]);
    expect_error(&found, 1, &["the audit log was changed; lines 1 to 2 are covered by valid seals"]);
    assert!(found.stderr.contains("audit-000001.jsonl:") && found.stderr.contains("one of them was changed"));
    assert_eq!(machine.audit(&["checkpoint"]).code, 1);
    let document: Value =
        serde_json::from_str(&machine.audit(&["verify", "--json"]).stdout).expect("a document");
    assert!(document["intact"] == false && document["findings"][0]["row"].is_number(), "{document}");
    // The end is cut off.
    let first: String = log.split_inclusive('\n').take(2).collect();
    machine.write_log(&first);
    let cut = machine.audit(&["verify", "--against", "checkpoint"]);
    expect_error(&cut, 1, &["its end was cut off", "the log ends before its key"]);
    let ran = machine.apply();
    assert!(ran.code == 4 && ran.stderr.contains("it was cut back"), "{}", ran.shown());
    assert_eq!(machine.log(), first);
    machine.set_policy("audit: {required: true}\n");
    let refused = machine.apply();
    expect_error(
        &refused,
        1,
        &["requires a record", "it was cut back", "nothing was run", "ccm audit verify"],
    );
}

#[test]
fn a_log_without_its_key_is_verified_only_as_a_chain() {
    let Some(machine) = Machine::new() else { return };
    machine.init();
    machine.apply();
    let copy = machine.0.at("copy");
    expect_output(&machine.audit(&["export", &copy]), 0, &["copied to "]);
    shell("cp -a lib/ccm/audit/key kept; rm lib/ccm/audit/key", machine.0.path());
    let found = machine.audit(&["verify"]);
    let parts = ["can't be verified to its end", "key:1: the key of the next seal is missing", "--chain"];
    expect_error(&found, 1, &parts);
    assert!(found.stdout.is_empty(), "{}", found.shown());
    let document: Value =
        serde_json::from_str(&machine.audit(&["verify", "--json"]).stdout).expect("a document");
    assert_eq!((&document["intact"], &document["next_key_compared"]), (&false.into(), &false.into()));
    expect_error(&machine.audit(&["checkpoint"]), 1, &["the key of the next seal is missing"]);
    let exported = machine.audit(&["export", &machine.0.at("second")]);
    expect_error(&exported, 1, &["the key of the next seal is missing", "the copy in ", "is as the log is"]);
    let of_copy = machine.audit(&["export", &machine.0.at("third"), "--directory", &copy]);
    assert!(
        of_copy.code == 0 && of_copy.stderr.contains("only the chain was verified"),
        "{}",
        of_copy.shown()
    );
    machine.0.write("lib/ccm/audit/key", "no key");
    expect_error(&machine.audit(&["verify"]), 1, &["the key of the next seal can't be compared"]);
    let chain = machine.audit(&["verify", "--chain"]);
    expect_output(&chain, 0, &["nobody has changed the audit log"]);
    assert!(chain.stderr.contains("only the chain was verified"), "{}", chain.shown());
    let document: Value =
        serde_json::from_str(&machine.audit(&["verify", "--chain", "--json"]).stdout).expect("a document");
    assert_eq!((&document["intact"], &document["next_key_compared"]), (&true.into(), &false.into()));
    let copied = machine.audit(&["verify", "--directory", &copy]);
    expect_output(&copied, 0, &["nobody has changed the audit log"]);
    assert!(copied.stderr.contains("is not in the copy: only the chain"), "{}", copied.shown());
    shell("cp -a kept lib/ccm/audit/key", machine.0.path());
    let whole = machine.audit(&["verify"]);
    assert!(whole.code == 0 && !whole.stderr.contains("chain"), "{}", whole.shown());
}

#[test]
fn bad_keys_and_checkpoints_are_refused_by_name() {
    let Some(machine) = Machine::new() else { return };
    machine.init();
    machine.0.write("no-key", "hello\n");
    expect_error(
        &machine.audit(&["verify", "--key", "no-key"]),
        1,
        &["no-key holds no key", "ccm audit init"],
    );
    expect_error(&machine.audit(&["verify", "--key", "missing"]), 1, &["key missing can't be read"]);
    expect_error(&machine.audit(&["verify", "--against", "no-key"]), 1, &["line 1 is not a checkpoint"]);
    let other = Machine::new().expect("another machine");
    let key = other.init();
    expect_error(&machine.audit(&["verify", "--key", &key]), 1, &["the log begins with the key SHA256:"]);
    machine.0.write("other", other.audit(&["checkpoint"]).stdout);
    expect_error(&machine.audit(&["verify", "--against", "other"]), 1, &["not that of the checkpoint"]);
}

#[test]
fn entries_are_listed_by_run_user_resource_and_time() {
    let Some(machine) = Machine::new() else { return };
    machine.init();
    machine.apply();
    machine.apply();
    let whole = machine.audit(&["log"]);
    let parts = [
        "log of m-",
        " began: ",
        "/manifest.yaml, by root\n",
        "exec#touch, guard as root: ",
        "/true: exit code 0 after ",
        "exec#touch, command as root: ",
        "touch made: exit code 0 after ",
        "exec#private, command as root: ",
        "echo [redacted]: exit code 0",
        "/file changed\n",
        " ended: exit code 0, 3 changed, 0 failed\n",
    ];
    expect_output(&whole, 0, &parts);
    assert!(!whole.stdout.contains("of-the-command") && !whole.stdout.contains("seal"), "{}", whole.stdout);
    let list = |args: &[&str]| machine.audit(&[&["log"], args].concat()).stdout;
    let newest = list(&["--run", "last"]);
    assert_eq!(newest.matches("began").count(), 1, "{newest}");
    for format in [&[][..], &["--json"]] {
        let unknown = machine.audit(&[&["log", "--run", "nothing"], format].concat());
        let message = "no line of the audit log is of a run whose id begins with `nothing`";
        expect_error(&unknown, 1, &[message, "`last`"]);
    }
    let of_file = list(&["--resource", &machine.0.at("file")]);
    assert!(of_file.contains(", change\n") && of_file.lines().count() == 2, "{of_file}");
    assert_eq!(
        list(&["--resource", "exec#touch"]).lines().count(),
        list(&["--resource", "touch"]).lines().count()
    );
    assert_eq!(list(&["--user", "root"]).matches("began").count(), 2);
    assert_eq!(list(&["--user", "ada"]), "");
    assert_eq!((list(&["--since", "1h"]), &*list(&["--since", "0s"])), (whole.stdout.clone(), ""));
    let short = machine.audit(&["log", "-n", "2"]);
    assert_eq!(
        short.stdout,
        whole
            .stdout
            .split_inclusive('\n')
            .rev()
            .take(2)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
            .collect::<String>()
    );
    assert!(short.stderr.contains("earlier entries are left out"), "{}", short.shown());
    let log = machine.log().replace(&*machine.0.path().to_string_lossy(), "[dir]");
    assert_eq!(list(&["--json"]), log);
    let intents = list(&["--json", "--resource", "exec#touch"]);
    let types: Vec<Value> = intents.lines().map(|line| serde_json::from_str(line).expect("a line")).collect();
    assert!(types.iter().any(|line| line["type"] == "finished"), "{intents}");
}

#[test]
fn an_unrecorded_run_leaves_nothing_and_noop_neither() {
    let Some(machine) = Machine::new() else { return };
    assert_eq!(machine.apply().code, 0);
    assert!(!machine.0.has("lib/ccm/audit"));
    machine.init();
    let before = machine.log();
    assert_eq!(machine.call(&["apply", "--noop", "manifest.yaml"]).run().code, 0);
    assert_eq!(machine.log(), before);
}

#[test]
fn without_a_record_nothing_starts() {
    let Some(machine) = Machine::new() else { return };
    machine.set_policy("audit: {required: true}\n");
    expect_error(&machine.apply(), 1, &["requires a record", "there is no audit log", "ccm audit init"]);
    machine.init();
    let ran = machine.apply();
    assert!(ran.code == 0 && machine.0.has("made"), "{}", ran.shown());
    // The key of the log is gone.
    shell("mv lib/ccm/audit/key key; rm made file", machine.0.path());
    expect_error(&machine.apply(), 1, &["requires a record", "key", "is missing", "nothing was run"]);
    assert!(!machine.0.has("made") && !machine.0.has("file"));
    // Where no record is required, the run goes on.
    machine.set_policy("");
    let ran = machine.apply();
    assert!(ran.code == 4 && machine.0.has("made") && machine.0.has("file"), "{}", ran.shown());
    assert!(ran.stderr.contains("the audit log has not all of this run"), "{}", ran.shown());
}

#[test]
fn an_auditor_verifies_an_export_with_the_script_of_the_documentation() {
    let Some(machine) = Machine::new() else { return };
    if Command::new("ssh-keygen").arg("-?").output().is_err() {
        return skipped("ssh-keygen is not installed");
    }
    let key = machine.init();
    machine.apply();
    machine.apply();
    let copy = machine.0.at("copy");
    expect_output(&machine.audit(&["export", &copy]), 0, &["copied to ", "3 seals"]);
    expect_error(&machine.audit(&["export", &copy]), 1, &["is not empty"]);
    let page = std::fs::read_to_string(repository("docs/use/audit-verify.md")).expect("the page");
    let script = page.split("```sh\n").find(|block| block.starts_with("#!/bin/sh")).expect("a script");
    let script = script.split("```").next().expect("a script");
    machine.0.write("verify-audit", script);
    assert!(script.lines().count() <= 10, "it is to be read by an auditor");
    let verify = |key: &str| {
        let run = format!("sh verify-audit copy '{key}' 2>&1; echo \"code $?\"");
        shell(&run, machine.0.path())
    };
    let lines = machine.log().lines().count();
    assert_eq!(verify(&key), format!("lines 1 to {lines} are as they were sealed\ncode 0\n"));
    // ccm reads the copy too.
    assert_eq!(machine.audit(&["verify", "--directory", &copy, "--key", &key]).code, 0);
    // Another key, each line changed, a line removed, a seal of the past.
    let other = Machine::new().expect("another machine");
    let of_other = verify(&other.init());
    assert!(of_other.ends_with("code 255\n"), "{of_other}");
    let file = Path::new(&copy).join("audit-000001.jsonl");
    let log = std::fs::read_to_string(&file).expect("the copy");
    for at in 0..lines {
        let mut changed: Vec<String> = log.lines().map(str::to_owned).collect();
        changed[at] = changed[at].replacen("\"time\":\"20", "\"time\":\"19", 1);
        std::fs::write(&file, changed.join("\n") + "\n").expect("a file");
        // No later line has the hash of the last one, which is the seal itself.
        assert_eq!(verify(&key).ends_with("code 0\n"), at + 1 == lines, "line {at}");
        changed.remove(at);
        std::fs::write(&file, changed.join("\n") + "\n").expect("a file");
        assert!(!verify(&key).ends_with("code 0\n"), "without line {at}");
    }
    std::fs::write(&file, log).expect("a file");
    shell("cp copy/seals/00000001 copy/seals/00000002", machine.0.path());
    assert!(!verify(&key).ends_with("code 0\n"));
}

#[test]
fn seals_leave_the_machine_as_the_policy_says() {
    let Some(machine) = Machine::new() else { return };
    machine.init();
    let file = machine.0.at("seals");
    machine.set_policy(&format!("audit: {{required: true, forward: [journald, {{file: {file}}}]}}\n"));
    let ran = machine.apply();
    assert_eq!(ran.code, 0, "{}", ran.shown());
    expect_output(&machine.audit(&["verify", "--against", &file]), 0, &["nobody has changed"]);
    // A machine without a journal, such as a container, warns of the missing seal.
    if !Path::new("/run/systemd/journal/socket").exists() {
        assert!(ran.stderr.contains("could not be forwarded to journald"), "{}", ran.shown());
        assert!(machine.audit(&["log"]).stdout.contains("seal 2 was not forwarded to journald"));
    }
}

#[test]
fn a_run_of_a_signed_branch_satisfies_the_policy_and_is_recorded_with_its_commit() {
    let Some(machine) = Machine::new() else { return };
    machine.init();
    machine.set_policy("callers:\n  apply: {signed: required}\n");
    let head = shell(
        "ssh-keygen -q -t ed25519 -N '' -C ops -f key; echo \"ops namespaces=\\\"git\\\" $(cat key.pub)\" > signers
        export GIT_CONFIG_GLOBAL=/dev/null; key=$PWD/key; git init -q -b main site
        printf 'ccm:\\n  resources: []\\n' > site/site.yaml; cd site; git add -A
        git -c user.name=a -c user.email=a@b -c gpg.format=ssh -c user.signingkey=$key commit -q -S -m one
        git rev-parse HEAD",
        machine.0.path(),
    );
    let address = format!("git+file://{}#main", machine.0.at("site"));
    let apply = |signers| machine.call(&["apply", "--from", &*address, "--signers", signers]).run();
    let unsigned = apply("none");
    expect_error(&unsigned, 1, &["nobody has to sign the versions of its source"]);
    let signed = apply("signers");
    assert_eq!(signed.code, 0, "{}", signed.shown());
    let log = machine.log();
    let begun = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let begun = begun.rev().find(|line| line["type"] == "run_begun").expect("a run");
    assert_eq!(begun["source"]["version"], head.trim(), "{begun}");
    assert!(begun["source"]["name"].as_str().is_some_and(|name| name.starts_with("site-")), "{begun}");
    assert!(begun["source"]["digest"].as_str().is_some_and(|digest| digest.len() == 64), "{begun}");
    let shown = machine.audit(&["log"]);
    expect_output(&shown, 0, &[&format!(", commit {}, by ", &head[..12])]);
}
