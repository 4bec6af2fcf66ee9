//! Forged, replayed and swapped approvals in the inbox of a machine, with a run after each: every one is refused by its
//! own name, recorded, and nothing is run.

#![allow(clippy::panic, reason = "a test ends with its first error")]

use std::process::Command;
use std::sync::Barrier;
use std::time::{Duration, SystemTime};

use ccm_approval::{ApprovalStatement, ApprovalStore, ApproverDecision, IntentDocument};
use ccm_model::display_timestamp;
use ccm_runtime::approval::ApprovalState;

use crate::approval_site::Site;
use crate::approvals::recorded;

/// Signed statement, before it is put into the inbox.
struct Forgery {
    statement: ApprovalStatement,
    signer: &'static str,
    namespace: &'static str,
    /// Changes the text after it was signed.
    change: fn(String) -> String,
    /// Changes the signature.
    signature: fn(String) -> String,
}

impl Forgery {
    fn of(intent: &IntentDocument) -> Self {
        let until = SystemTime::now() + Duration::from_secs(600);
        let made = ApprovalStore::statement(intent, ApproverDecision::Approve, None, (1, None), until);
        Self {
            statement: made.expect("a statement"),
            signer: "alice",
            namespace: "ccm-approval@v1",
            change: |text| text,
            signature: |signature| signature,
        }
    }

    /// Changes the intent in the statement.
    fn with_intent(mut self, change: impl FnOnce(&mut IntentDocument)) -> Self {
        let mut intent = IntentDocument::parse(&self.statement.intent).expect("an intent");
        change(&mut intent);
        self.statement.intent = intent.text();
        self
    }

    fn submit(self, site: &Site) {
        let text = self.statement.text().expect("a statement");
        let signature = (self.signature)(site.sign(self.signer, self.namespace, &text));
        site.put_into_inbox(&format!("{}{signature}", (self.change)(text)));
    }
}

/// Forgery, and the reason of its refusal in the audit log.
type Row = (&'static str, fn(Forgery) -> Forgery, &'static str);

const ROWS: &[Row] = &[
    ("no signature", |made| Forgery { signature: |_| "nothing\n".into(), ..made }, "not a signature of"),
    ("the key of a stranger", |made| Forgery { signer: "stranger", ..made }, "is not in"),
    ("another namespace", |made| Forgery { namespace: "git", ..made }, "the signature is for namespace"),
    (
        "the name of another approver",
        |mut made| {
            made.statement.approver = Some("bob".to_owned());
            made
        },
        "is not that of \"bob\"",
    ),
    (
        "an end that was not signed",
        |made| Forgery { change: |text| text.replace("\"not_after\":\"20", "\"not_after\":\"21"), ..made },
        "the signature is not that of this text",
    ),
    (
        "another user in the intent",
        |made| made.with_intent(|intent| intent.content.caller.uid += 1),
        "is not about intent",
    ),
    (
        "another program in the intent",
        |made| made.with_intent(|intent| intent.content.programs[0].sha256 = "ab".repeat(32)),
        "is not about intent",
    ),
    (
        "an intent that was never made",
        |made| made.with_intent(|intent| intent.id.replace_range(20.., "000000")),
        "waits for an approval",
    ),
    (
        "an intent of another machine",
        |made| made.with_intent(|intent| intent.machine = "m-other".into()),
        "the intent is that of machine \"m-other\"",
    ),
    (
        "an intent of another boot",
        |made| made.with_intent(|intent| intent.boot = "other".into()),
        "ended when the machine was rebooted",
    ),
    (
        "an intent of another policy",
        |made| made.with_intent(|intent| intent.content.policy = "sha256:0".into()),
        "ended when the policy was changed",
    ),
    (
        "a statement that holds no longer",
        |mut made| {
            made.statement.not_after = display_timestamp(SystemTime::now() - Duration::from_secs(60), 0);
            made
        },
        "the statement ended at",
    ),
    (
        "an approver of another group",
        |made| Forgery { signer: "carol", ..made },
        "is not one of the approvers",
    ),
    (
        "more uses than the policy allows",
        |mut made| {
            (made.statement.decision, made.statement.uses) = (ApproverDecision::GrantAction, 9);
            made
        },
        "can only be approved once",
    ),
    ("a key that was revoked", |made| Forgery { signer: "revoked", ..made }, "is revoked"),
];

#[test]
fn each_forgery_is_refused_by_its_own_name_and_nothing_runs() {
    let site = Site::new(&["alice", "bob", "carol", "revoked"]);
    site.make_key("stranger");
    site.revoke(&["revoked"]);
    // As another user than root, the test itself puts statements into the inbox of its own request.
    site.policy(
        "audit: {required: true}\napproval: {four_eyes: false, groups: {ops: [alice, bob, revoked]}}\n\
         rules: [{name: touches, match: {program: touch}, ask: {approvers: ops}}]\n",
    );
    site.session().governance().init_audit().expect("a log");
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    let intent = site.requests().remove(0).intent;
    for (name, forge, expected) in ROWS {
        forge(Forgery::of(&intent)).submit(&site);
        assert_eq!(site.waits(&manifest).0, code, "{name}");
        let refused: Vec<_> = recorded(&site).into_iter().filter(|event| event.0 == "refused").collect();
        let (_, _, reason) = refused.last().unwrap_or_else(|| panic!("{name}: not recorded"));
        assert!(reason.contains(expected), "{name}: {reason}");
        assert!(site.inbox().is_empty(), "{name}");
        assert!(site.scratch.read("made").is_none(), "{name}");
    }
    // What can't be read stays, because it may still be being written.
    Forgery { change: |text| text.replace("\"uses\":1", "\"uses\":2"), ..Forgery::of(&intent) }.submit(&site);
    assert_eq!(site.waits(&manifest).0, code);
    assert_eq!(site.inbox().len(), 1);
    // The true one counts, once, and not again.
    let made = Forgery::of(&intent);
    let statement = made.statement.clone();
    made.submit(&site);
    assert_eq!(site.apply(&manifest), Ok(()));
    Forgery { statement, ..Forgery::of(&intent) }.submit(&site);
    site.waits(&manifest);
    let last = recorded(&site).into_iter().rfind(|event| event.0 == "refused").expect("an event");
    assert!(last.2.contains("used before"), "{last:?}");
}

#[test]
fn an_intent_or_a_record_that_was_changed_on_the_disk_does_not_count() {
    let site = Site::new(&["alice"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    let intent = site.requests().remove(0).intent;
    let store = site.scratch.path().join("approvals");
    let path = store.join(format!("pending/{}.json", intent.id));
    let text = std::fs::read_to_string(&path).expect("an intent");
    // Another end, so that the intent would never end.
    let until = text.replacen("\"expires\":\"20", "\"expires\":\"21", 1);
    assert_ne!(until, text);
    std::fs::write(&path, until).expect("a file");
    let (next, _) = site.waits(&manifest);
    assert_ne!(next, code);
    std::fs::write(&path, text).expect("a file");
    let record =
        std::fs::read_dir(store.join("approved")).expect("records").next().expect("one").expect("one");
    let accepted = std::fs::read_to_string(record.path()).expect("a record");
    std::fs::write(record.path(), accepted.replace("\"not_after\":\"20", "\"not_after\":\"21"))
        .expect("a file");
    let error = site.apply(&manifest).expect_err("no approval").1;
    assert!(error.contains("the approval of alice does not count any more"), "{error}");
    assert!(site.scratch.read("made").is_none());
}

#[test]
fn a_clock_that_is_set_back_prolongs_nothing() {
    let site = Site::new(&["alice"]);
    site.policy("rules: [{match: {program: touch}, ask: {pending: 90s, valid: 60s}}]\n");
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    // An hour back by the clock, and more than its time by the time since the boot.
    site.wait(-3600);
    site.pass(61);
    let (again, text) = site.waits(&manifest);
    assert!(again == code && text.contains("the approval of alice has expired"), "{text}");
    site.pass(60);
    let (next, text) = site.waits(&manifest);
    assert!(next != code && text.contains(&format!("{code} has ended: its time is over")), "{text}");
    // Within its time the approval counts, and the record says that the clock was set back.
    site.approved(&next);
    site.wait(-60);
    assert_eq!(site.apply(&manifest), Ok(()));
}

#[test]
fn another_boot_ends_intents_and_approvals() {
    let site = Site::new(&["alice"]);
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    site.boot("another-boot");
    let (next, text) = site.waits(&manifest);
    assert!(next != code && text.contains("the machine was started again"), "{text}");
    let error = site.approve(&code, "alice").expect_err("no approval");
    assert!(
        error.to_string().contains("its time is over") || error.to_string().contains("started again"),
        "{error}"
    );
    site.approved(&next);
    assert_eq!(site.apply(&manifest), Ok(()));
}

#[test]
fn an_approval_that_arrives_while_the_run_ends_is_used_once() {
    let site = Site::new(&["alice"]);
    let manifest = site.manifest("");
    for _ in 0..4 {
        let (code, _) = site.waits(&manifest);
        let start = Barrier::new(2);
        let is_applied = std::thread::scope(|scope| {
            let run = scope.spawn(|| {
                start.wait();
                site.apply(&manifest).is_ok()
            });
            start.wait();
            site.approved(&code);
            run.join().expect("a run")
        });
        if !is_applied {
            assert_eq!(site.apply(&manifest), Ok(()), "the next run uses it");
        }
        assert_ne!(site.waits(&manifest).0, code);
        site.session().governance().reject_request(&site.waits(&manifest).0, "next", None).expect("rejected");
        std::fs::remove_dir_all(site.scratch.path().join("approvals")).expect("the store");
    }
}

#[test]
fn two_people_approve_at_once() {
    let site = Site::new(&["alice", "bob"]);
    site.policy("rules: [{match: {program: touch}, ask: {count: 2}}]\n");
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    std::thread::scope(|scope| {
        let threads: Vec<_> = ["alice", "bob", "alice", "bob"]
            .map(|name| scope.spawn(|| site.approve(&code, name).is_ok()))
            .into_iter()
            .collect();
        let accepted = threads.into_iter().map(|thread| thread.join().expect("an end"));
        assert_eq!(accepted.filter(|is_accepted| *is_accepted).count(), 2, "each counts once");
    });
    let state = site.requests().remove(0).state;
    assert!(matches!(&state, ApprovalState::Approved { by, .. } if by.len() == 2), "{state:?}");
    assert_eq!(site.apply(&manifest), Ok(()));
    assert!(site.apply(&manifest).is_err());
}

#[test]
fn a_program_that_is_replaced_after_the_approval_is_not_started() {
    let site = Site::new(&["alice"]);
    let tool = site.scratch.path().join("tool");
    let write = |text: &str| {
        std::fs::write(&tool, format!("#!/bin/sh\n{text}\n")).expect("a program");
        let made = Command::new("chmod").arg("755").arg(&tool).status();
        assert!(made.expect("chmod").success());
    };
    write("exit 0");
    site.policy("rules: [{match: {program: tool}, ask: true}]\n");
    let manifest = site.exec(&format!("{} a", tool.display()));
    let (code, _) = site.waits(&manifest);
    site.approved(&code);
    write(&format!("touch {}", site.scratch.at("made")));
    let (next, text) = site.waits(&manifest);
    assert!(next != code && text.contains("tool has changed"), "{text}");
    assert!(site.scratch.read("made").is_none());
}
