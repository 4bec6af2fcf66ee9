//! Grants of an approver, and a store of requests that is full.

use std::time::{Duration, SystemTime};

use ccm_approval::{ApprovalMachine, ApprovalTime, IntentDocument};
use ccm_model::parse_timestamp;
use ccm_runtime::SigningKey;
use ccm_runtime::approval::{ApprovalLimits, ApprovalState, ApproveError, ApprovedIntent, approval_terms};
use ccm_runtime::audit::AuditEntry;

use crate::approval_site::Site;

const RULE: &str = "rules: [{name: touches, match: {program: touch}, ask: {grant: {uses: 3, for: 2h}}}]\n";

#[test]
fn a_grant_has_as_many_uses_as_were_signed() {
    let site = Site::new(&["alice"]);
    site.policy("rules: [{match: {program: touch}, ask: {grant: {uses: 3, for: 1h}}}]\n");
    let manifest = site.manifest("");
    let (code, _) = site.waits(&manifest);
    let key = SigningKey::File(site.scratch.path().join("alice"));
    let limits = |uses| ApprovalLimits { uses: Some(uses), ..ApprovalLimits::default() };
    let session = site.session();
    assert!(matches!(
        session.governance().approve_request(&code, &key, &limits(4)),
        Err(ApproveError::Uses(3))
    ));
    session.governance().approve_request(&code, &key, &limits(2)).expect("an approval");
    assert_eq!((site.apply(&manifest), site.apply(&manifest)), (Ok(()), Ok(())));
    assert_ne!(site.waits(&manifest).0, code);
}

/// Grants uses of the rule to whoever asked, as alice.
fn grant(
    site: &Site,
    code: &str,
    uses: u32,
    valid: Option<Duration>,
) -> Result<ApprovedIntent, ApproveError> {
    let key = SigningKey::File(site.scratch.path().join("alice"));
    let limits = ApprovalLimits { uses: Some(uses), valid, rule: Some("touches".to_owned()) };
    site.session().governance().approve_request(code, &key, &limits)
}

/// Returns a manifest that touches a file of this name.
fn touching(site: &Site, name: &str) -> std::path::PathBuf {
    site.exec(&format!("touch {}", site.scratch.at(name)))
}

/// Returns what the audit log says about approvals.
fn recorded(site: &Site) -> Vec<(String, Option<String>)> {
    let mut found = Vec::new();
    let lines = site.session().governance().read_audit(None, &mut |line| {
        if let ccm_runtime::audit::AuditLine::Line(_, line) = line
            && let AuditEntry::Approval { event, reason, .. } = &line.entry
        {
            found.push((event.clone(), reason.clone()));
        }
    });
    lines.expect("the log");
    found
}

#[test]
fn a_grant_for_a_rule_is_for_whatever_the_rule_alone_asks() {
    let site = Site::new(&["alice"]);
    site.policy(&format!("audit: {{required: true}}\n{RULE}"));
    site.session().governance().init_audit().expect("a log");
    let (code, _) = site.waits(&touching(&site, "first"));
    let session = site.session();
    let listed = session.governance().approval_request(&code).expect("the request");
    let limits = ApprovalLimits { uses: Some(2), rule: Some("touches".to_owned()), ..Default::default() };
    let terms = approval_terms(&listed.intent, &limits).expect("terms");
    assert_eq!((terms.uses, terms.valid, terms.is_grant()), (2, Duration::from_secs(7200), true));
    let rule = session.governance().granted_rule(&listed.intent, &terms).expect("a policy").expect("a rule");
    assert_eq!(rule.label, "rule \"touches\"");
    assert_eq!(
        rule.lines,
        ["name: \"touches\"", "match: {program: \"touch\"}", "ask: {grant: {uses: 3, for: \"2h\"}}"]
    );
    let approved = grant(&site, &code, 2, None).expect("a grant");
    assert!(matches!(approved.state, Some(ApprovalState::Approved { uses: 2, .. })));
    assert_eq!(site.apply(&touching(&site, "second")), Ok(()));
    assert_eq!(site.apply(&touching(&site, "first")), Ok(()));
    let (_, text) = site.waits(&touching(&site, "third"));
    assert!(text.contains("needs an approval"), "{text}");
    assert!(!site.scratch.path().join("third").exists());
    let events = recorded(&site);
    let reasons: Vec<String> = events
        .into_iter()
        .filter(|(event, _)| event == "used" || event == "approved")
        .map(|(_, reason)| reason.unwrap_or_default())
        .collect();
    assert!(
        reasons[0].starts_with("grants 2 uses of whatever rule \"touches\" alone asks for until"),
        "{reasons:?}"
    );
    for (number, reason) in (1..).zip(&reasons[1..]) {
        let expected = format!("use {number} of 2 of the grant {code}-");
        assert!(reason.starts_with(&expected) && reason.ends_with("for rule \"touches\""), "{reason}");
    }
    assert_eq!(reasons.len(), 3);
}

#[test]
fn a_grant_keeps_to_the_policy_and_ends_by_both_clocks() {
    let site = Site::new(&["alice"]);
    let (code, _) = site.waits(&touching(&site, "first"));
    assert!(matches!(grant(&site, &code, 2, None), Err(ApproveError::NoGrant(_))));
    site.policy(RULE);
    let (code, _) = site.waits(&touching(&site, "first"));
    assert!(matches!(grant(&site, &code, 4, None), Err(ApproveError::Uses(3))));
    let long = Some(Duration::from_secs(7201));
    assert!(matches!(grant(&site, &code, 3, long), Err(ApproveError::Time(7200))));
    let key = SigningKey::File(site.scratch.path().join("alice"));
    let limits = ApprovalLimits { uses: Some(2), rule: Some("other".to_owned()), ..Default::default() };
    let refused = site
        .session()
        .governance()
        .approve_request(&code, &key, &limits)
        .expect_err("another rule")
        .to_string();
    assert!(
        refused.contains("other is not the only rule that asks for") && refused.contains("touches"),
        "{refused}"
    );
    grant(&site, &code, 3, Some(Duration::from_secs(600))).expect("a grant");
    assert_eq!(site.apply(&touching(&site, "second")), Ok(()));
    // The clock is set back, and the time since the boot goes on.
    site.wait(-3600);
    site.pass(500);
    assert_eq!(site.apply(&touching(&site, "third")), Ok(()));
    site.pass(101);
    site.waits(&touching(&site, "fourth"));
}

#[test]
fn a_policy_that_changed_shows_no_rule_of_a_grant() {
    let site = Site::new(&["alice"]);
    site.policy(RULE);
    let (code, _) = site.waits(&touching(&site, "first"));
    let listed = site.session().governance().approval_request(&code).expect("the request");
    let limits = ApprovalLimits { uses: Some(2), rule: Some("touches".to_owned()), ..Default::default() };
    let terms = approval_terms(&listed.intent, &limits).expect("terms");
    site.policy(&RULE.replace("program: touch", "program: [touch, rm]"));
    let refused = site.session().governance().granted_rule(&listed.intent, &terms);
    assert!(matches!(refused, Err(ApproveError::OtherPolicy(_))), "{refused:?}");
}

#[test]
fn a_grant_is_taken_back_by_a_rejection() {
    let site = Site::new(&["alice"]);
    site.policy(RULE);
    let (code, _) = site.waits(&touching(&site, "first"));
    grant(&site, &code, 3, None).expect("a grant");
    assert_eq!(site.apply(&touching(&site, "first")), Ok(()));
    site.session().governance().reject_request(&code, "enough", None).expect("taken back");
    site.waits(&touching(&site, "second"));
    let again = site.session().governance().reject_request(&code, "enough", None);
    assert!(matches!(again, Err(ApproveError::Ended { .. })), "{again:?}");
}

#[test]
fn a_full_store_is_an_error_with_a_hint_and_nothing_runs() {
    let site = Site::new(&["alice"]);
    site.policy("audit: {required: true}\nrules: [{name: touches, match: {program: touch}, ask: true}]\n");
    site.session().governance().init_audit().expect("a log");
    site.waits(&touching(&site, "first"));
    let first = site.requests().remove(0).intent;
    let session = site.session();
    let intents = session.governance().intents().expect("a store");
    let machine =
        ApprovalMachine { id: first.machine.clone(), boot: first.boot.clone(), name: first.host.clone() };
    let wall = parse_timestamp(&first.created).unwrap_or(SystemTime::UNIX_EPOCH);
    let now = ApprovalTime { wall, since_boot: Duration::from_millis(first.uptime_ms) };
    for number in 1..1000 {
        let mut content = first.content.clone();
        content.resource = Some(format!("exec#other {number}"));
        let (id, code) = (format!("{}{number:016}", &first.id[..10]), format!("{number:04}"));
        let made = IntentDocument::new(id, code, content, first.pending(), &machine, now).expect("an intent");
        let signature = intents.store().key().sign(&made.text()).expect("a signature");
        site.scratch.write(&format!("approvals/pending/{}.sig", made.id), signature);
        site.scratch.write(&format!("approvals/pending/{}.json", made.id), made.text());
    }
    let (code, text) = site.apply(&touching(&site, "second")).expect_err("a full store");
    assert_eq!(code, None);
    assert!(text.contains("the store of approvals is full: 1000 requests wait already"), "{text}");
    assert!(text.contains("approve or reject what waits: `ccm approvals`"), "{text}");
    assert!(!site.scratch.path().join("second").exists());
    let log = site.scratch.read("audit/audit-000001.jsonl").expect("the log");
    assert!(log.lines().any(|line| line.contains("\"refused\"") && line.contains("is full: 1000")), "{log}");
}
