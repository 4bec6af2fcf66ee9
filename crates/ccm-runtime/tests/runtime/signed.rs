//! Manifests that an approver has signed, with keys made by `ssh-keygen`.

#![allow(clippy::panic, reason = "a test ends with its first error")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ccm_model::{FailureKind, Outcome};
use ccm_runtime::approval::MANIFEST_NAMESPACE;
use ccm_runtime::{
    BeginError, Config, GivenData, GivenValues, MAX_MANIFEST_SIZE, ManifestSource, PolicySource, RunMode,
    Session, SigningKey, error_layers,
};
use ccm_testkit::Scratch;

use crate::{block_on, config, manifest_of, outcomes, read, run};

/// Makes a key, and the file of approvers with it.
fn approver(scratch: &Scratch, options: &str) -> PathBuf {
    approver_with(scratch, options, "ed25519")
}

/// Makes a key of a type, and writes the approver with it.
fn approver_with(scratch: &Scratch, options: &str, kind: &str) -> PathBuf {
    let key = scratch.path().join("key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", kind, "-N", "", "-C", "test", "-f"])
        .arg(&key)
        .status()
        .expect("ssh-keygen");
    assert!(made.success());
    let public = std::fs::read_to_string(key.with_extension("pub")).expect("a key");
    scratch.write("etc/approvers", format!("alice {options} {public}"));
    key
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
}

/// Returns a session under a policy of these sections, which asks before `touch`.
fn governed(scratch: &Scratch, sections: &str) -> Session {
    let rules = "rules: [{name: touches, match: {program: touch}, ask: true}]\n";
    scratch.write("etc/policy.yaml", format!("ccm_policy: 1\n{sections}{rules}"));
    for (name, mode) in [("etc/policy.yaml", 0o644), ("etc/approvers", 0o644), ("etc", 0o755)] {
        let path = scratch.path().join(name);
        if path.exists() {
            set_mode(&path, mode);
        }
    }
    let directory = scratch.path().canonicalize().expect("a path").join("etc");
    Session::open(Config { policy: PolicySource::Directory(directory), ..config(scratch) })
}

/// Signs a manifest.
fn sign(session: &Session, manifest: &Path, key: &Path, values: &GivenValues, valid: Duration) {
    let source = ManifestSource::File(manifest.to_owned());
    let input = session.read_to_sign(source, values, MAX_MANIFEST_SIZE).expect("a manifest");
    let loaded = session.load(&input).expect("a valid manifest");
    let statement = loaded.statement(valid, &[]).expect("a statement").bytes().expect("JSON");
    let key = SigningKey::File(key.to_owned());
    let (signature, _) =
        session.governance().sign(&key, MANIFEST_NAMESPACE, &statement, None).expect("a signature");
    loaded.write_statement(&statement, Some(&signature)).expect("files");
}

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Returns a manifest of a command that asks, a template, a source and a tree.
fn manifest(scratch: &Scratch) -> PathBuf {
    scratch.write("motd.j2", "hello\n");
    scratch.write("plain.txt", "plain\n");
    scratch.write("tree/one", "one\n");
    scratch.write("hosts/common.yaml", "data: {port: 80}\n");
    let [made, motd, plain, tree] =
        ["made", "out-motd", "out-plain", "out-tree"].map(|name| scratch.at(name));
    manifest_of(
        scratch,
        &format!(
            "    - exec: [{{'touch {made}': {{cwd: /}}}}]\n    - file:\n        - {motd}: {{source: motd.j2}}\n        \
             - {plain}: {{source: plain.txt}}\n        - {tree}: {{ensure: directory, source: tree}}\n"
        ),
    )
}

fn signature_error(session: &Session, manifest: &Path) -> String {
    let input = read(session, manifest);
    let loaded = session.load(&input).expect("a valid manifest");
    match loaded.signature() {
        Ok(signature) => panic!("{signature:?}"),
        Err(error) => error_layers(&*error).join(": "),
    }
}

#[test]
fn a_signed_manifest_needs_no_further_approval() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let session = governed(&scratch, "");
    let manifest = manifest(&scratch);
    let (outcomes, _) = run(&session, &manifest, RunMode::Apply);
    let Outcome::Failed(failure) = &outcomes[0] else { panic!("{outcomes:?}") };
    assert_eq!(failure.kind, FailureKind::ApprovalRequired);
    let session = governed(&scratch, "");
    sign(&session, &manifest, &key, &GivenValues::default(), DAY);
    let statement = std::fs::read_to_string(format!("{}.approval", manifest.display())).expect("a statement");
    for name in ["manifest.yaml", "motd.j2", "plain.txt", "tree/one"] {
        assert!(statement.contains(&format!("\"name\": \"{name}\"")), "{name}: {statement}");
    }
    let (outcomes, report) = run(&session, &manifest, RunMode::Apply);
    assert!(outcomes.iter().all(|outcome| !matches!(outcome, Outcome::Failed(_))), "{outcomes:?}");
    assert!(scratch.read("made").is_some() && report.summary.counts.failed == 0);
    // An auditor needs nothing but OpenSSH.
    let statement = std::fs::File::open(format!("{}.approval", manifest.display())).expect("a statement");
    let verified = Command::new("ssh-keygen")
        .args(["-Y", "verify", "-I", "alice", "-n", MANIFEST_NAMESPACE, "-f"])
        .arg(scratch.path().join("etc/approvers"))
        .args(["-s", &format!("{}.approval.sig", manifest.display())])
        .stdin(statement)
        .output()
        .expect("ssh-keygen");
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_denial_is_not_lifted_by_a_signature() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let session = governed(&scratch, "");
    let manifest = manifest(&scratch);
    sign(&session, &manifest, &key, &GivenValues::default(), DAY);
    let session = governed(&scratch, "guard: {}\npatterns: {deny: ['^touch ']}\n");
    let input = read(&session, &manifest);
    let Ok(loaded) = session.load(&input) else { return };
    let report =
        block_on(loaded.apply(ccm_runtime::RunOptions::default(), &mut |_: ccm_runtime::Emitted<'_>| {}));
    assert_eq!(report.expect("a run").summary.counts.failed, 1);
    assert!(scratch.read("made").is_none());
}

#[test]
fn every_change_of_what_was_signed_is_refused_by_name() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let session = governed(&scratch, "");
    let manifest = manifest(&scratch);
    sign(&session, &manifest, &key, &GivenValues::default(), DAY);
    let good = |name: &str| std::fs::read(scratch.path().join(name)).expect("a file");
    for (name, reason) in [
        ("motd.j2", "motd.j2 is not the file that was signed"),
        ("plain.txt", "plain.txt is not the file that was signed"),
        ("tree/one", "tree/one is not the file that was signed"),
        ("manifest.yaml", "manifest.yaml is not the file that was signed"),
        ("manifest.yaml.approval", "the signature is not that of this text"),
    ] {
        let before = good(name);
        let mut changed = before.clone();
        changed.extend_from_slice(b"\n");
        std::fs::write(scratch.path().join(name), changed).expect("a file");
        let error = signature_error(&session, &manifest);
        assert!(error.contains(reason), "{name}: {error}");
        std::fs::write(scratch.path().join(name), before).expect("a file");
    }
    scratch.write("tree/two", "two\n");
    assert!(signature_error(&session, &manifest).contains("tree/two is not among the files"));
    std::fs::remove_file(scratch.path().join("tree/two")).expect("a file");
    set_mode(&scratch.path().join("tree/one"), 0o755);
    assert!(signature_error(&session, &manifest).contains("tree/one is executable"));
    std::fs::remove_file(scratch.path().join("tree/one")).expect("a file");
    assert!(signature_error(&session, &manifest).contains("tree/one does not exist, but was signed"));
    // The run goes on without the signature, and the question stays one.
    scratch.write("tree/one", "other\n");
    let (outcomes, _) = run(&session, &manifest, RunMode::Apply);
    let Outcome::Failed(failure) = &outcomes[0] else { panic!("{outcomes:?}") };
    assert_eq!(failure.kind, FailureKind::ApprovalRequired);
}

#[test]
fn values_and_names_belong_to_the_signature() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let session = governed(&scratch, "");
    let made = scratch.at("made");
    let path = scratch.path().join("manifest.yaml");
    scratch.write(
        "manifest.yaml",
        format!("data: {{port: 1}}\nccm:\n  resources:\n    - exec: [{{'touch {made}': {{cwd: /}}}}]\n"),
    );
    let given = |assignment: &str| {
        let data = GivenData { assignments: vec![assignment.to_owned()], ..GivenData::default() };
        GivenValues { data, ..GivenValues::default() }
    };
    sign(&session, &path, &key, &given("port=2"), DAY);
    let of = |values: &GivenValues| {
        let input = session.read(ManifestSource::File(path.clone()), values, MAX_MANIFEST_SIZE);
        let input = input.expect("a manifest");
        let loaded = session.load(&input).expect("a valid manifest");
        loaded
            .signature()
            .map(|signature| signature.signer.principal.clone())
            .map_err(|error| error.to_string())
    };
    assert_eq!(of(&given("port=2")), Ok("alice".to_owned()));
    assert!(of(&given("port=3")).is_err_and(|error| error.contains("--data")));
    assert!(of(&GivenValues::default()).is_err_and(|error| error.contains("--data")));
    // The same statement beside another name.
    for ending in ["", ".approval", ".approval.sig"] {
        let from = scratch.path().join(format!("manifest.yaml{ending}"));
        std::fs::copy(from, scratch.path().join(format!("other.yaml{ending}"))).expect("a copy");
    }
    let error = signature_error(&session, &scratch.path().join("other.yaml"));
    assert!(error.contains("about `manifest.yaml`"), "{error}");
}

#[test]
fn a_manifest_may_be_signed_in_one_place_and_applied_in_another() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let session = governed(&scratch, "");
    let made = manifest(&scratch);
    sign(&session, &made, &key, &GivenValues::default(), DAY);
    let moved = Scratch::new();
    let all = scratch.path().join(".");
    assert!(Command::new("cp").arg("-r").args([&all, moved.path()]).status().expect("cp").success());
    let input = read(&session, &moved.path().join("manifest.yaml"));
    let loaded = session.load(&input).expect("a valid manifest");
    assert!(loaded.signature().is_ok(), "{:?}", loaded.signature());
}

#[test]
fn a_statement_ends_and_a_key_is_only_for_its_namespaces() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let session = governed(&scratch, "");
    let manifest = manifest(&scratch);
    sign(&session, &manifest, &key, &GivenValues::default(), Duration::from_nanos(1));
    assert!(signature_error(&session, &manifest).contains("the statement ended at"));
    sign(&session, &manifest, &key, &GivenValues::default(), DAY);
    let public = std::fs::read_to_string(key.with_extension("pub")).expect("a key");
    for (line, reason) in [
        (format!("alice namespaces=\"ccm-approval@v1\" {public}"), "may not sign for namespace"),
        (format!("alice valid-before=\"20200101Z\" {public}"), "has expired"),
        (format!("alice valid-after=\"20900101Z\" {public}"), "is not valid yet"),
        ("\n".to_owned(), "has no key"),
        ("alice nonsense\n".to_owned(), "line 1: "),
    ] {
        scratch.write("etc/approvers", line);
        let error = signature_error(&governed(&scratch, ""), &manifest);
        assert!(error.contains(reason), "{error}");
    }
    scratch.write("etc/approvers", format!("alice {public}"));
    set_mode(&scratch.path().join("etc/approvers"), 0o666);
    let session = Session::open(Config {
        policy: PolicySource::Directory(scratch.path().canonicalize().expect("a path").join("etc")),
        ..config(&scratch)
    });
    let error = signature_error(&session, &manifest);
    assert!(error.contains("can be written by others"), "{error}");
}

#[test]
fn an_unsigned_manifest_is_refused_where_signatures_are_required() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let manifest = manifest(&scratch);
    let required = "callers: {apply: {signed: required}}\n";
    let refused = |session: &Session| {
        let input = read(session, &manifest);
        let loaded = session.load(&input).expect("a valid manifest");
        for mode in [RunMode::Apply, RunMode::Plan] {
            match block_on(loaded.begin(mode, ccm_runtime::RunOptions::default())) {
                Err(BeginError::NotSigned { .. }) => {}
                other => panic!("{:?}", other.err()),
            }
        }
    };
    refused(&governed(&scratch, required));
    let unsigned = Session::open(Config { requires_signed: true, ..config(&scratch) });
    refused(&unsigned);
    let session = governed(&scratch, required);
    assert!(session.validate(&read(&session, &manifest), ccm_runtime::ValidationExtent::Everything).is_err());
    sign(&session, &manifest, &key, &GivenValues::default(), DAY);
    let (outcomes, _) = run(&session, &manifest, RunMode::Apply);
    assert!(outcomes.iter().all(|outcome| !matches!(outcome, Outcome::Failed(_))), "{outcomes:?}");
}

#[test]
fn a_source_that_changes_after_the_check_is_not_applied() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let session = governed(&scratch, "");
    let path = manifest(&scratch);
    sign(&session, &path, &key, &GivenValues::default(), DAY);
    let input = read(&session, &path);
    let loaded = session.load(&input).expect("a valid manifest");
    loaded.signature().expect("a signature");
    for name in ["plain.txt", "tree/one"] {
        scratch.write(name, "evil\n");
    }
    let applied = outcomes(&loaded, RunMode::Apply, ccm_runtime::RunOptions::default());
    let (outcomes, _) = block_on(applied).expect("a run");
    let failed = outcomes.iter().filter(|outcome| matches!(outcome, Outcome::Failed(_))).count();
    assert_eq!(failed, 2, "{outcomes:?}");
    assert!(scratch.read("out-plain").is_none() && scratch.read("out-tree/one").is_none());
    assert!(scratch.read("out-motd").is_some());
}

#[test]
fn a_signature_beside_the_policy_has_to_be_one_of_an_approver() {
    let scratch = Scratch::new();
    let key = approver(&scratch, "");
    let session = governed(&scratch, "");
    assert!(session.governance().policy().is_ok());
    let sign = |namespace: &str| {
        let signed = Command::new("ssh-keygen")
            .args(["-q", "-Y", "sign", "-n", namespace, "-f"])
            .arg(&key)
            .stdin(std::fs::File::open(scratch.path().join("etc/policy.yaml")).expect("a policy"))
            .output()
            .expect("ssh-keygen");
        scratch.write("etc/policy.yaml.sig", String::from_utf8(signed.stdout).expect("text"));
        set_mode(&scratch.path().join("etc/policy.yaml.sig"), 0o644);
    };
    let error =
        |session: &Session| error_layers(&*session.governance().policy().expect_err("no policy")).join(": ");
    sign("ccm-policy@v1");
    assert!(governed(&scratch, "").governance().policy().is_ok());
    assert!(error(&governed(&scratch, "guard: {}\n")).contains("is not that of this text"));
    sign("ccm-manifest@v1");
    assert!(error(&governed(&scratch, "")).contains("namespace"));
    scratch.write("etc/policy.yaml.sig", "no signature");
    assert!(error(&governed(&scratch, "")).contains("not a signature of `ssh-keygen -Y sign`"));
    let other = Scratch::new();
    let stranger = approver(&other, "");
    let public = std::fs::read_to_string(stranger.with_extension("pub")).expect("a key");
    sign("ccm-policy@v1");
    scratch.write("etc/approvers", format!("bob {public}"));
    assert!(error(&governed(&scratch, "")).contains("etc/approvers\""));
}

#[test]
fn keys_that_ssh_keygen_verifies_sign_manifests_and_policies() {
    let scratch = Scratch::new();
    let key = approver_with(&scratch, "", "ecdsa");
    let session = governed(&scratch, "");
    let manifest = manifest(&scratch);
    sign(&session, &manifest, &key, &GivenValues::default(), DAY);
    let signed = Command::new("ssh-keygen")
        .args(["-q", "-Y", "sign", "-n", "ccm-policy@v1", "-f"])
        .args([&key, &scratch.path().join("etc/policy.yaml")])
        .status();
    assert!(signed.expect("ssh-keygen").success());
    set_mode(&scratch.path().join("etc/policy.yaml.sig"), 0o644);
    let session = governed(&scratch, "");
    assert!(session.governance().policy().is_ok(), "{:?}", session.governance().policy().err());
    session.governance().init_audit().expect("a log");
    let (outcomes, _) = run(&session, &manifest, RunMode::Apply);
    assert!(outcomes.iter().all(|outcome| !matches!(outcome, Outcome::Failed(_))), "{outcomes:?}");
    let log = scratch.read("audit/audit-000001.jsonl").expect("the log");
    assert_eq!(log.matches("\"event\":\"used\",\"approver\":\"alice\"").count(), 1, "{log}");
    assert!(log.contains("\"approval\":\"sha256:"), "{log}");
    assert!(governed(&scratch, "guard: {}\n").governance().policy().is_err());
}
