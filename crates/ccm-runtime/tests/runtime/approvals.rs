//! Approvals of what a policy asks for, with keys made by `ssh-keygen`.

#![allow(clippy::panic, reason = "a test ends with its first error")]

use std::cell::Cell;
use std::process::Command;
use std::rc::Rc;

use ccm_model::FailureKind;
use ccm_runtime::RunMode;
use ccm_runtime::approval::{APPROVAL_NAMESPACE, ApprovalState, ApproveError};
use ccm_runtime::audit::{AuditEntry, AuditLine, Trust};

use crate::approval_site::{Site, failure, set_mode};
use crate::{manifest_of, run};

#[test]
fn an_approval_is_used_once() {
    let site = Site::new(&["alice"]);
    let manifest = site.manifest("");
    // Noop stores nothing.
    let (code, text) = site.run(&manifest, RunMode::Plan).expect_err("a question");
    assert!(code.is_none() && site.requests().is_empty(), "{text}");
    let (code, text) = site.waits(&manifest);
    assert!(text.contains(&format!("ccm approve {code}")), "{text}");
    // The same question is asked once.
    assert_eq!(site.waits(&manifest).0, code);
    site.approved(&code);
    assert!(site.run(&manifest, RunMode::Plan).is_ok());
    assert_eq!(site.apply(&manifest), Ok(()));
    assert!(site.scratch.read("made").is_some());
    let (next, _) = site.waits(&manifest);
    assert_ne!(next, code);
    assert!(matches!(site.approve(&code, "alice"), Err(ApproveError::Ended { .. })));
    assert!(matches!(site.approve("ZZZZ", "alice"), Err(ApproveError::Unknown(_))));
}

#[test]
fn a_command_that_is_tried_again_uses_one_approval() {
    let site = Site::new(&["alice"]);
    let made = site.scratch.at("there/made");
    let exec = format!("    - exec: [{{'touch {made}': {{cwd: /, tries: 2, try_sleep: 1ms}}}}]\n");
    let manifest = manifest_of(&site.scratch, &exec);
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    let (outcomes, _) = run(&site.session(), &manifest, RunMode::Apply);
    let failure = failure(&outcomes[0]).expect("a failure");
    assert_ne!(failure.kind, FailureKind::ApprovalRequired, "{failure:?}");
}

#[test]
fn a_rejection_reaches_the_next_run_with_its_reason() {
    let site = Site::new(&["alice"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.session().governance().reject_request(&code, "not on a Friday", None).expect("a rejection");
    let (again, text) = site.apply(&manifest).expect_err("a question");
    assert!(text.contains(&format!("{code} was rejected: not on a Friday")), "{text}");
    assert_eq!(again, None, "nothing waits for an approval");
    let error = site.approve(&code, "alice").expect_err("no approval");
    assert!(error.to_string().contains("not on a Friday"), "{error}");
}

#[test]
fn a_request_and_an_approval_end() {
    let site = Site::new(&["alice"]);
    site.policy(
        "rules: [{match: {program: touch}, ask: {pending: 90s, valid: 30s}}]\ncallers: {apply: {pending: 1h}}\n",
    );
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.wait(91);
    let error = site.approve(&code, "alice").expect_err("no approval");
    assert!(error.to_string().contains("its time is over"), "{error}");
    let (next, _) = site.waits(&manifest);
    assert_ne!(code, next);
    site.approved(&next);
    site.wait(31);
    let (later, _) = site.waits(&manifest);
    // The approval is over, and the request still waits.
    assert_eq!(later, next);
    site.approved(&next);
    assert_eq!(site.apply(&manifest), Ok(()));
}

/// Name of a change, the change, and the text of the refusal that follows.
type VoidingChange<'c> = (&'c str, Box<dyn Fn() + 'c>, &'c str);

#[test]
fn what_differs_from_the_approved_is_named() {
    let site = Site::new(&["alice"]);
    let program = site.scratch.path().join("tool");
    let tool = |text: &str| {
        std::fs::write(&program, format!("#!/bin/sh\n# {text}\nexit 0\n")).expect("a program");
        set_mode(&program, 0o755);
    };
    tool("one");
    let rule = "rules: [{match: {program: tool}, ask: true}]\n";
    site.policy(rule);
    let manifest = |properties: &str| {
        let program = program.display();
        manifest_of(&site.scratch, &format!("    - exec: [{{it: {{command: {program} a, {properties}}}}}]\n"))
    };
    let base = "cwd: /, environment: {MODE: a}";
    let nothing = || Box::new(|| {}) as Box<dyn Fn()>;
    let changes: Vec<VoidingChange<'_>> = vec![
        ("cwd: /, environment: {MODE: b}", nothing(), "the variable MODE has changed"),
        ("cwd: /, environment: {MODE: a, MORE: b}", nothing(), "the variable MORE has changed"),
        ("cwd: /tmp, environment: {MODE: a}", nothing(), "the working directory has changed"),
        ("cwd: /, environment: {MODE: a}, stdin: x", nothing(), "standard input has changed"),
        ("cwd: /, environment: {MODE: a}, timeout: 1s", nothing(), "the time limit has changed"),
        ("cwd: /, environment: {MODE: a}, umask: '000'", nothing(), "the property umask has changed"),
        ("cwd: /, environment: {MODE: a}, tries: 5", nothing(), "the property tries has changed"),
        ("cwd: /, environment: {MODE: a}, try_sleep: 2s", nothing(), "the property try_sleep has changed"),
        ("cwd: /, environment: {MODE: a}, returns: [1]", nothing(), "the property returns has changed"),
        ("cwd: /, environment: {MODE: a}, unless: 'false'", nothing(), "the property unless has changed"),
        ("cwd: /, environment: {MODE: a}, onlyif: 'true'", nothing(), "the property onlyif has changed"),
        ("cwd: /, environment: {MODE: a}, creates: /none", nothing(), "the property creates has changed"),
        (base, Box::new(|| tool("two")), "tool has changed"),
        (base, Box::new(|| site.policy(&format!("{rule}guard: {{eval: ask}}\n"))), "the policy has changed"),
    ];
    for (properties, change, expected) in changes {
        let (code, _) = site.waits(&manifest(base));
        site.approved(&code);
        change();
        let (next, text) = site.waits(&manifest(properties));
        assert!(next != code && text.contains(&format!("the approval {code} does not count")), "{text}");
        assert!(text.contains(expected), "{expected}: {text}");
        site.session().governance().reject_request(&next, "test", None).expect("a rejection");
        std::fs::remove_dir_all(site.scratch.path().join("approvals")).expect("the store");
        tool("one");
        site.policy(rule);
    }
    // Another command is another request.
    let (code, _) = site.waits(&manifest(base));
    site.approved(&code);
    let other = format!("    - exec: [{{it: {{command: {} b, {base}}}}}]\n", program.display());
    let (next, _) = site.waits(&manifest_of(&site.scratch, &other));
    assert_ne!(next, code);
}

#[test]
fn several_approvers_sign_for_themselves() {
    let site = Site::new(&["alice", "bob", "carol"]);
    let sections = "approval: {groups: {ops: [alice, bob]}}\nrules: [{match: {program: touch}, ask: {approvers: ops, count: 2}}]\n";
    site.policy(sections);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    assert_eq!(site.approve(&code, "alice").expect("one"), ApprovalState::Waiting(vec!["alice".to_owned()]));
    let error = site.approve(&code, "alice").expect_err("the same person");
    assert!(error.to_string().contains("has approved intent"), "{error}");
    let error = site.approve(&code, "carol").expect_err("no approver");
    assert!(error.to_string().contains("is not one of the approvers: alice, bob"), "{error}");
    assert_eq!(site.waits(&manifest).0, code);
    assert!(matches!(site.approve(&code, "bob").expect("two"), ApprovalState::Approved { .. }));
    assert_eq!(site.apply(&manifest), Ok(()));
}

#[test]
fn a_touch_is_asked_of_security_keys() {
    let site = Site::new(&["alice"]);
    site.policy("rules: [{match: {program: touch}, ask: {touch: true}}]\n");
    let (code, _) = site.waits(&site.manifest(""));
    let error = site.approve(&code, "alice").expect_err("no security key");
    assert!(error.to_string().contains("security key"), "{error}");
}

#[test]
fn a_statement_is_signed_on_another_machine() {
    let site = Site::new(&["alice", "bob"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    let session = site.session();
    let sign = |text: &[u8], namespace: &str, name: &str| {
        site.sign(name, namespace, str::from_utf8(text).expect("text"))
    };
    let refused = session.governance().import_approval(&code, sign(b"x", APPROVAL_NAMESPACE, "alice"));
    assert!(matches!(refused, Err(ApproveError::NotExported(_))));
    let statement = session.governance().export_request(&code).expect("a statement");
    assert_eq!(session.governance().export_request(&code).expect("a statement"), statement);
    let statement = statement.into_bytes();
    for (text, namespace, reason) in [
        (&b"x"[..], APPROVAL_NAMESPACE, "not that of this text"),
        (&statement, "ccm-manifest@v1", "namespace"),
    ] {
        let error = session
            .governance()
            .import_approval(&code, sign(text, namespace, "alice"))
            .expect_err("no approval");
        let causes = ccm_model::error_layers(&error).join(": ");
        assert!(causes.contains(reason), "{causes}");
    }
    assert!(session.governance().import_approval(&code, "nonsense".to_owned()).is_err());
    let signature = sign(&statement, APPROVAL_NAMESPACE, "bob");
    let approved = session.governance().import_approval(&code, signature).expect("bob");
    assert_eq!(approved.by.principal, "bob");
    assert_eq!(site.apply(&manifest), Ok(()));
}

#[test]
fn two_runs_share_no_approval() {
    let site = Site::new(&["alice"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    let results: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| site.apply(&manifest).is_ok())).collect();
        runs.into_iter().map(|run| run.join().expect("a run")).collect()
    });
    assert_eq!(results.iter().filter(|is_done| **is_done).count(), 1, "{results:?}");
}

#[test]
fn rubbish_in_the_store_is_left_alone() {
    let site = Site::new(&["alice"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    let store = site.scratch.path().join("approvals");
    let intent = site.requests().remove(0).intent;
    // Another id, whatever the last digit of this one is.
    let last = if intent.id.ends_with('9') { '8' } else { '9' };
    let other = format!("{}{last}", &intent.id[..25]);
    for (name, text) in [
        ("pending/00000000000000000000000000.json", "{}"),
        ("pending/x.json", "no json"),
        (&*format!("pending/{other}.json"), &*intent.text()),
        (&*format!("pending/{other}.sig"), "no signature"),
        ("pending/junk", "x"),
        ("approved/junk.approved", "no signature"),
        ("ended/junk.json", "{}"),
        ("inbox/junk", "{}"),
        ("exported/junk", "x"),
        ("junk", "x"),
        ("uses", "x\n{}\n"),
    ] {
        std::fs::create_dir_all(store.join("exported")).expect("a directory");
        std::fs::write(store.join(name), text).expect("a file");
    }
    std::fs::create_dir(store.join("pending/4444.json")).expect("a directory");
    std::os::unix::fs::symlink("/etc/passwd", store.join("inbox/link")).expect("a link");
    assert_eq!(site.waits(&manifest).0, code);
    assert_eq!(site.requests().len(), 1);
    site.approved(&code);
    assert_eq!(site.apply(&manifest), Ok(()));
}

#[test]
fn an_approval_of_a_key_that_is_revoked_counts_no_more() {
    let site = Site::new(&["alice", "bob"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    let bob = std::fs::read_to_string(site.scratch.path().join("bob.pub")).expect("a key");
    site.scratch.write("etc/approvers", format!("bob {bob}"));
    assert_eq!(site.waits(&manifest).0, code);
}

#[test]
fn keys_that_ssh_keygen_verifies_approve_as_well() {
    let site = Site::new(&["ecdsa-alice", "rsa-bob", "carol"]);
    let manifest = site.manifest("");
    for name in ["ecdsa-alice", "rsa-bob"] {
        let (code, _) = site.waits(&manifest);
        let state = site.approve(&code, name).expect("an approval");
        assert!(matches!(state, ApprovalState::Approved { ref by, .. } if *by == [name]), "{state:?}");
        // The run verifies it again, within its own runtime.
        assert_eq!(site.apply(&manifest), Ok(()), "{name}");
    }
}

#[test]
fn a_key_in_the_file_of_revoked_keys_counts_no_more() {
    let site = Site::new(&["alice", "ecdsa-bob", "carol"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    let public = |name: &str| {
        std::fs::read_to_string(site.scratch.path().join(name).with_extension("pub")).expect("a key")
    };
    let path = "etc/approvers.revoked";
    let revoke = |text: &str| {
        site.scratch.write(path, text);
        set_mode(&site.scratch.path().join(path), 0o644);
    };
    revoke(&format!("{}{}", public("alice"), public("ecdsa-bob")));
    assert_eq!(site.waits(&manifest).0, code);
    for name in ["alice", "ecdsa-bob"] {
        let error = site.approve(&code, name).expect_err("a revoked key");
        let causes = ccm_model::error_layers(&error).join(": ");
        assert!(causes.contains("is revoked"), "{name}: {causes}");
    }
    // Without a list that can be read, no key counts.
    revoke("nonsense\n");
    assert!(site.approve(&code, "carol").is_err());
    set_mode(&site.scratch.path().join(path), 0o666);
    let error = site.approve(&code, "carol").expect_err("a list that others can write");
    let causes = ccm_model::error_layers(&error).join(": ");
    assert!(causes.contains("can be written by others"), "{causes}");
    revoke(&public("alice"));
    assert!(matches!(site.approve(&code, "carol").expect("an approval"), ApprovalState::Approved { .. }));
    assert_eq!(site.apply(&manifest), Ok(()));
}

#[test]
fn what_can_not_be_shown_whole_can_not_be_approved() {
    let site = Site::new(&["alice"]);
    for exec in [
        "{hidden: {command: touch /nonexistent/x, cwd: /, sensitive: true}}".to_owned(),
        format!("{{long: {{command: touch /nonexistent/{}, cwd: /}}}}", "x".repeat(20_000)),
    ] {
        let manifest = manifest_of(&site.scratch, &format!("    - exec: [{exec}]\n"));
        let (code, text) = site.apply(&manifest).expect_err("a question");
        assert!(code.is_none() && text.contains("can't be shown whole"), "{text}");
    }
    assert!(site.requests().is_empty());
}

#[test]
fn changes_of_resources_are_approved_too() {
    let site = Site::new(&["alice"]);
    site.policy("rules: [{match: {effect: write, path: '/**'}, ask: true}]\n");
    let path = site.scratch.at("motd");
    let manifest = |content: &str| {
        manifest_of(&site.scratch, &format!("    - file: [{{{path}: {{content: \"{content}\"}}}}]\n"))
    };
    let (code, _) = site.waits(&manifest("hello"));
    site.approved(&code);
    let (next, text) = site.waits(&manifest("evil"));
    assert!(text.contains("the change is another one") && next != code, "{text}");
    site.approved(&next);
    assert_eq!(site.apply(&manifest("evil")), Ok(()));
    assert_eq!(site.scratch.read("motd").as_deref(), Some("evil"));
}

#[test]
fn noop_runs_no_guard_for_an_approval() {
    let site = Site::new(&["alice"]);
    site.policy("rules: [{match: {program: 'true'}, ask: true}]\n");
    let manifest = site.manifest("onlyif: 'true'");
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    // The guard counts as unknown, and the approval is still there.
    let _planned = site.run(&manifest, RunMode::Plan);
    assert_eq!(site.apply(&manifest), Ok(()));
    let used = Rc::new(Cell::new(false));
    used.set(site.apply(&manifest).is_err());
    assert!(used.get());
}

#[test]
fn four_eyes_are_two_people() {
    let user = ccm_runtime::process::variable("SUDO_USER").and_then(|user| user.into_string().ok());
    let user = user.unwrap_or_else(|| {
        let name = Command::new("id").arg("-un").output().expect("id");
        String::from_utf8(name.stdout).expect("a name").trim().to_owned()
    });
    let site = Site::new(&[&user, "alice"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    let error = site.approve(&code, &user).expect_err("the same person");
    assert!(error.to_string().contains("somebody else has to approve"), "{error}");
    site.approved(&code);
}

/// Returns the events of approvals in the audit log: what happened, by whom, and why.
pub(crate) fn recorded(site: &Site) -> Vec<(String, String, String)> {
    let mut found = Vec::new();
    site.session()
        .governance()
        .read_audit(None, &mut |line| {
            if let AuditLine::Line(_, line) = line
                && let AuditEntry::Approval { event, approver, reason, .. } = &line.entry
            {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                found.push((event.clone(), text(approver), text(reason)));
            }
        })
        .expect("the log");
    found
}

fn event(event: &str, approver: &str, reason: &str) -> (String, String, String) {
    (event.to_owned(), approver.to_owned(), reason.to_owned())
}

#[test]
fn what_happens_to_approvals_is_in_the_audit_log() {
    let site = Site::new(&["alice", "bob"]);
    let rules = "rules: [{name: touches, match: {program: touch}, ask: {count: 2}}]\n";
    site.policy(&format!("audit: {{required: true}}\n{rules}"));
    site.session().governance().init_audit().expect("a log");
    let made = format!("exec#touch {}", site.scratch.at("made"));
    let requested = event("requested", "", &format!("command of {made}"));
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.waits(&manifest);
    assert_eq!(recorded(&site), std::slice::from_ref(&requested));
    site.approve(&code, "alice").expect("one");
    site.approve(&code, "bob").expect("two");
    assert!(site.run(&manifest, RunMode::Plan).is_ok());
    assert_eq!(site.apply(&manifest), Ok(()));
    let approved = [event("approved", "alice", ""), event("approved", "bob", "")];
    let used = &recorded(&site)[3..];
    assert_eq!(recorded(&site)[1..3], approved);
    assert!(
        used == [event("used", "alice, bob", "")] || used == [event("used", "bob, alice", "")],
        "{used:?}"
    );
    // The command names its approval.
    let text =
        std::fs::read_to_string(site.scratch.path().join("audit/audit-000001.jsonl")).expect("the log");
    let named = text.lines().filter(|line| line.contains(&format!("\"approval\":\"{code}-"))).count();
    assert_eq!(named, 1, "{text}");
    let (next, _) = site.waits(&manifest);
    let (later, _) = site.waits(&site.manifest("timeout: 1s"));
    assert_ne!(next, later);
    site.session().governance().reject_request(&later, "not on a Friday", None).expect("a rejection");
    let expected = [
        requested.clone(),
        event("void", "", "the time limit has changed"),
        requested,
        event("rejected", "", "not on a Friday"),
    ];
    assert_eq!(recorded(&site)[4..], expected);
    assert!(site.session().governance().verify_audit(None, &Trust::default()).expect("a log").is_intact());
}

#[test]
fn nothing_is_approved_without_a_required_record() {
    let site = Site::new(&["alice"]);
    let rules = "rules: [{match: {program: touch}, ask: true}]\n";
    site.policy(&format!("audit: {{required: true}}\n{rules}"));
    site.session().governance().init_audit().expect("a log");
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    std::fs::rename(site.scratch.path().join("audit"), site.scratch.path().join("away")).expect("a name");
    assert!(matches!(site.approve(&code, "alice"), Err(ApproveError::Audit(_))));
    assert!(matches!(
        site.session().governance().reject_request(&code, "no", None),
        Err(ApproveError::Audit(_))
    ));
    std::fs::rename(site.scratch.path().join("away"), site.scratch.path().join("audit")).expect("a name");
    site.approved(&code);
    assert_eq!(site.apply(&manifest), Ok(()));
}
