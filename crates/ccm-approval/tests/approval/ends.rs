//! Several demands, ends of intents, exported statements, and views of a store that write nothing.

use std::path::Path;

use ccm_approval::{
    ApprovalDemand, ApprovalRefusal, ApprovalState, ApprovalStore, ApprovalStoreError, ApproverDecision,
    IntentEnd, SignedStatement,
};
use ccm_sshsig::SignatureRefusal;

use crate::keys::{NAMESPACE, PRESENT, SoftwareSecurityKey, VERIFIED, approvers};
use crate::samples::{PENDING, after, content, machine};
use crate::store::StoreFixture;

fn demand(approvers: Option<&[&str]>, count: u32) -> ApprovalDemand {
    ApprovalDemand {
        text: "a demand".to_owned(),
        count,
        approvers: approvers.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
        four_eyes: false,
        touch: false,
        user_verified: false,
    }
}

#[test]
fn every_demand_has_to_be_met() {
    let fixture = StoreFixture::new();
    let mut content = content();
    // Alice counts for both, and one more has to sign.
    content.requires = vec![demand(Some(&["alice", "bob"]), 1), demand(None, 2)];
    let intent = fixture.request(content);
    fixture.approve("carol", &intent).expect("for the second demand");
    let refused = fixture.use_up(&intent);
    assert!(matches!(refused, Err(ApprovalRefusal::Waiting { found: 1, .. })), "{refused:?}");
    fixture.approve("alice", &intent).expect("for both");
    let used = fixture.use_up(&intent).expect("approved");
    assert_eq!(used.approvals.len(), 2);
}

#[test]
fn no_more_approvals_are_used_than_are_needed() {
    let fixture = StoreFixture::new();
    let mut content = content();
    content.requires = vec![demand(Some(&["alice"]), 1), demand(None, 1)];
    let intent = fixture.request(content);
    for name in ["carol", "bob", "alice"] {
        fixture.approve(name, &intent).expect("approved");
    }
    let used = fixture.use_up(&intent).expect("approved");
    let by: Vec<&str> = used.approvals.iter().map(|record| &*record.principal).collect();
    assert_eq!(by, ["alice"]);
}

#[test]
fn a_touch_may_be_the_demand_of_one_of_two() {
    let fixture = StoreFixture::new();
    let mut content = content();
    content.requires = vec![ApprovalDemand { touch: true, ..demand(Some(&["bob"]), 1) }, demand(None, 1)];
    let intent = fixture.request(content);
    fixture.approve("alice", &intent).expect("for the second demand");
    fixture.approve("bob", &intent).expect("for the second demand");
    let refused = fixture.use_up(&intent);
    assert!(matches!(refused, Err(ApprovalRefusal::Waiting { .. })), "{refused:?}");
}

#[test]
fn a_verified_user_is_a_demand_of_its_own() {
    let mut fixture = StoreFixture::new();
    let key = SoftwareSecurityKey::new(3);
    let lines = format!("alice {}\nbob {}\n", fixture.keys.public("alice"), key.public());
    fixture.approvers = approvers(&lines);
    let content = || {
        let mut content = content();
        content.requires = vec![ApprovalDemand { user_verified: true, ..demand(None, 1) }];
        content
    };
    let intent = fixture.request(content());
    let refused = fixture.approve("alice", &intent).expect_err("no security key").to_string();
    assert!(refused.contains("is not a security key"), "{refused}");
    let sign = |flags: u8| {
        let text = fixture.statement(&intent, ApproverDecision::Approve).text().expect("a statement");
        let signature = key.sign(NAMESPACE, &text, flags);
        SignedStatement { text, signature }
    };
    for (flags, expected) in [
        (PRESENT, "has not verified its user by PIN or fingerprint"),
        (VERIFIED, "was not touched"),
        (0, "was not touched"),
    ] {
        let refused = fixture.import(&sign(flags)).expect_err("refused").to_string();
        assert!(refused.contains(expected), "{flags}: {refused}");
    }
    // The flag is covered by the signature: it can't be set afterwards.
    let mut forged = sign(PRESENT);
    let body: String = forged.signature.lines().filter(|line| !line.starts_with('-')).collect();
    let mut bytes = ccm_model::decode_base64(&body).expect("base64");
    let flags = bytes.len() - 5;
    bytes[flags] |= VERIFIED;
    let body = ccm_model::encode_base64(&bytes);
    forged.signature = format!("-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n");
    let refused = fixture.import(&forged).expect_err("forged").to_string();
    assert!(refused.contains("not that of this text"), "{refused}");
    assert!(matches!(fixture.use_up(&intent), Err(ApprovalRefusal::Waiting { found: 0, .. })));
    fixture.import(&sign(PRESENT | VERIFIED)).expect("verified");
    fixture.use_up(&intent).expect("approved");
}

#[test]
fn one_of_two_demands_may_need_a_verified_user() {
    let mut fixture = StoreFixture::new();
    let key = SoftwareSecurityKey::new(3);
    let lines = format!("alice {}\nbob {}\n", fixture.keys.public("alice"), key.public());
    fixture.approvers = approvers(&lines);
    let mut content = content();
    content.requires =
        vec![ApprovalDemand { user_verified: true, ..demand(Some(&["bob"]), 1) }, demand(None, 1)];
    let intent = fixture.request(content);
    fixture.approve("alice", &intent).expect("for the second demand");
    let text = fixture.statement(&intent, ApproverDecision::Approve).text().expect("a statement");
    let signature = key.sign(NAMESPACE, &text, PRESENT | VERIFIED);
    fixture.import(&SignedStatement { text, signature }).expect("for both");
    fixture.use_up(&intent).expect("approved");
}

#[test]
fn the_owner_of_the_store_rejects_without_a_signature() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    fixture.approve("alice", &intent).expect("approved");
    fixture.store.reject(&intent, "root", "not\u{1b} today", fixture.now.get()).expect("rejected");
    let refused = fixture.use_up(&intent);
    let Err(ApprovalRefusal::Rejected { approver, reason, .. }) = refused else { panic!("{refused:?}") };
    assert_eq!((&*approver, &*reason), ("root", "not\\u{1b} today"));
    let listed = fixture.list().intents;
    assert!(matches!(&listed[0].state, ApprovalState::Rejected { by, .. } if by == "root"), "{listed:?}");
    assert_eq!(fixture.store.rejected(fixture.now.get()).expect("a list").len(), 1);
    // The approval went with its intent, and another one has to be given.
    let again = fixture.request(content());
    let refused = fixture.use_up(&again);
    assert!(matches!(refused, Err(ApprovalRefusal::Waiting { found: 0, .. })), "{refused:?}");
    // Its time is over.
    fixture.now.set(after(1000));
    assert!(fixture.store.rejected(fixture.now.get()).expect("a list").is_empty());
}

#[test]
fn each_end_has_its_own_name() {
    for (end, is_expected) in [
        (IntentEnd::Void, (|refusal| matches!(refusal, ApprovalRefusal::Void { .. })) as fn(&_) -> bool),
        (IntentEnd::Withdrawn, |refusal| matches!(refusal, ApprovalRefusal::Withdrawn { .. })),
        (IntentEnd::Expired, |refusal| matches!(refusal, ApprovalRefusal::IntentExpired { .. })),
    ] {
        let fixture = StoreFixture::new();
        let intent = fixture.request(content());
        fixture.store.keep_call(&intent, "{\"input\":1}").expect("kept");
        assert_eq!(fixture.store.kept_call(&intent).as_deref(), Some("{\"input\":1}"));
        fixture.approve("alice", &intent).expect("approved");
        let (reason, now) = (Some("a reason".to_owned()), fixture.now.get());
        fixture.store.end(&intent, end, reason.clone(), now).expect("ended");
        for refusal in [
            fixture.use_up(&intent).map(drop).expect_err("ended"),
            fixture.approve("bob", &intent).map(drop).expect_err("ended"),
            fixture.store.find(&intent.code).map(drop).expect_err("ended"),
            fixture.store.end(&intent, end, reason, now).expect_err("ended"),
        ] {
            assert!(is_expected(&refusal), "{end:?}: {refusal:?}");
        }
        assert_eq!(fixture.store.kept_call(&intent), None);
        assert_ne!(fixture.request(content()).id, intent.id);
    }
}

#[test]
fn a_signature_of_the_exported_statement_is_an_approval() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    let import = |signature: String| {
        fixture.with(|context| fixture.store.import_signature(&intent, signature, context)).map(drop)
    };
    let refused = import(fixture.keys.sign("alice", NAMESPACE, "x"));
    assert!(matches!(refused, Err(ApprovalRefusal::NotExported { .. })), "{refused:?}");
    let statement = fixture.store.export(&intent, fixture.now.get()).expect("a statement");
    assert_eq!(fixture.store.export(&intent, after(5)).expect("the same"), statement);
    let refused = import(fixture.keys.sign("alice", NAMESPACE, "x"));
    assert!(matches!(refused, Err(ApprovalRefusal::Signature(SignatureRefusal::Wrong))), "{refused:?}");
    // The time of the approval begins when it comes in.
    fixture.now.set(after(800));
    import(fixture.keys.sign("alice", NAMESPACE, &statement)).expect("approved");
    let refused = import(fixture.keys.sign("bob", NAMESPACE, &statement));
    assert!(matches!(refused, Err(ApprovalRefusal::Replayed { .. })), "{refused:?}");
    fixture.now.set(after(1090));
    fixture.use_up(&intent).expect("approved");
}

fn files(path: &Path) -> Vec<(std::path::PathBuf, Option<std::time::SystemTime>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        }
        let modified = std::fs::metadata(&path).and_then(|found| found.modified()).ok();
        found.push((path, modified));
    }
    found.sort();
    found
}

#[test]
fn a_view_writes_nothing() {
    let fixture = StoreFixture::new();
    let path = fixture.keys.path("store");
    let none = fixture.keys.path("none");
    assert!(ApprovalStore::open_existing(&none, machine()).expect("no error").is_none() && !none.exists());
    let intent = fixture.request(content());
    let mut grant = fixture.statement(&intent, ApproverDecision::GrantAction);
    grant.uses = 3;
    fixture.import(&fixture.sign("alice", &grant)).expect("granted");
    fixture.use_up(&intent).expect("one use");
    let before = files(&path);
    let view = ApprovalStore::open_existing(&path, machine()).expect("no error").expect("a store");
    let listed = fixture.with(|context| view.list(context)).expect("a list").intents;
    let ApprovalState::Approved { uses, .. } = &listed[0].state else { panic!("{listed:?}") };
    assert_eq!((&listed[0].intent, *uses), (&intent, 2));
    assert!(fixture.with(|context| view.is_granted(&content(), context)).expect("no error").is_some());
    let mut other = content();
    other.action.cwd = "/elsewhere".to_owned();
    assert!(fixture.with(|context| view.is_granted(&other, context)).expect("no error").is_none());
    assert_eq!(files(&path), before);
    // A grant needs no intent of its own.
    let digest = |_: &str| Some("ab".repeat(32));
    let used = fixture.with(|context| fixture.store.use_grant(&content(), &digest, context));
    assert!(used.expect("no error").is_some());
}

#[test]
fn what_can_not_be_recorded_is_not_accepted() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    let signed = fixture.sign("alice", &fixture.statement(&intent, ApproverDecision::Approve));
    let refused = fixture.with(|context| {
        let record = |_: &ccm_approval::ImportedStatement| Err("the disk is full".into());
        let context = ccm_approval::ApprovalContext { record: &record, ..*context };
        fixture.store.import(&signed.content(), None, &context)
    });
    assert!(matches!(refused, Err(ApprovalRefusal::Unrecorded(_))), "{refused:?}");
    assert!(matches!(fixture.use_up(&intent), Err(ApprovalRefusal::Waiting { found: 0, .. })));
    fixture.import(&signed).expect("approved");
}

#[test]
fn nobody_is_asked_to_approve_what_can_not_be_shown() {
    let fixture = StoreFixture::new();
    let mut hidden = content();
    hidden.commands[0].text = format!("a{}b", " ".repeat(200));
    let refused = fixture.store.request(hidden, PENDING, fixture.now.get());
    assert!(matches!(refused, Err(ApprovalStoreError::Unshowable(_))), "{refused:?}");
    assert!(fixture.store.pending().expect("a list").is_empty());
}

#[test]
fn what_differs_is_named() {
    type Change = fn(&mut ccm_approval::IntentContent);
    let changes: [(Change, &str); 9] = [
        (|content| content.policy.push('x'), "the policy has changed"),
        (|content| content.action.cwd.push('x'), "the working directory has changed"),
        (|content| drop(content.action.env.insert("A".into(), "b".into())), "the variable A has changed"),
        (|content| content.programs[0].sha256.push('x'), "the program /usr/bin/systemctl has changed"),
        (|content| content.action.timeout_ms = None, "the time limit has changed"),
        (|content| content.action.properties.clear(), "the property umask has changed"),
        (|content| content.sandbox.digest = None, "the sandbox has changed"),
        (|content| content.caller.uid += 1, "another user runs ccm"),
        (|content| content.requires[0].count += 1, "other approvals are needed"),
    ];
    for (change, expected) in changes {
        let mut other = content();
        change(&mut other);
        assert_eq!(content().difference(&other).as_deref(), Some(expected));
        assert!(content().has_subject_of(&other));
    }
    // Another client of the same user asks for the same.
    let mut same = content();
    (same.caller.pid, same.caller.client, same.reason) = (None, None, None);
    assert_eq!(content().difference(&same), None);
}
