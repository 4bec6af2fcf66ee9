//! Grants: approvals with a budget of uses, for one action or for what a rule alone asks.

use std::time::Duration;

use ccm_approval::{
    ApprovalRefusal, ApprovalState, ApprovalStatement, ApprovalStore, ApprovalTime, ApproverDecision,
    IntentContent, UsedApproval,
};
use ccm_model::display_timestamp;

use crate::samples::{after, content, machine};
use crate::store::StoreFixture;

impl StoreFixture {
    fn use_grant(&self, asked: &IntentContent) -> Result<Option<UsedApproval>, ApprovalRefusal> {
        let digest = |path: &str| (path == "/usr/bin/systemctl").then(|| "ab".repeat(32));
        self.with(|context| self.store.use_grant(asked, &digest, context))
    }
}

/// Returns another action that the same rule asks for.
fn restart(service: &str) -> IntentContent {
    let mut content = content();
    service.clone_into(&mut content.action.argv[2]);
    content
}

fn granted(fixture: &StoreFixture, uses: u32) -> ccm_approval::IntentDocument {
    let intent = fixture.request(content());
    let rule = ApproverDecision::GrantRule("restarts".to_owned());
    let grant = ApprovalStatement { uses, ..fixture.statement(&intent, rule) };
    fixture.import(&fixture.sign("alice", &grant)).expect("granted");
    intent
}

#[test]
fn a_grant_holds_for_its_action_until_its_budget_is_spent() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    let mut grant = fixture.statement(&intent, ApproverDecision::GrantAction);
    grant.uses = 2;
    fixture.import(&fixture.sign("alice", &grant)).expect("granted");
    fixture.use_up(&intent).expect("the first use");
    fixture.now.set(after(30));
    let again = fixture.request(content());
    assert_ne!(again.id, intent.id);
    fixture.use_up(&again).expect("the second use");
    let third = fixture.request(content());
    let refused = fixture.use_up(&third);
    assert!(matches!(refused, Err(ApprovalRefusal::Waiting { found: 0, .. })), "{refused:?}");
}

#[test]
fn a_grant_for_a_rule_holds_for_what_that_rule_alone_asks() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    let mut grant = fixture.statement(&intent, ApproverDecision::GrantRule("restarts".to_owned()));
    grant.uses = 10;
    fixture.import(&fixture.sign("alice", &grant)).expect("granted");
    let changed = |change: &dyn Fn(&mut IntentContent)| {
        let mut content = content();
        content.action.argv[2] = "app".to_owned();
        change(&mut content);
        let intent = fixture.request(content);
        fixture.use_up(&intent).is_ok()
    };
    assert!(changed(&|_| {}), "another action of the rule");
    assert!(!changed(&|content| content.rules.push("other".to_owned())));
    assert!(!changed(&|content| content.unknown.push("$X".to_owned())));
    assert!(!changed(&|content| content.caller.uid = 1002));
    assert!(!changed(&|content| content.sandbox.profile = None));
    assert!(!changed(&|content| content.action.user = Some("root".to_owned())));
    fixture.now.set(after(601));
    assert!(!changed(&|_| {}), "the grant has ended");
}

#[test]
fn grants_keep_to_the_limits_of_the_policy() {
    let fixture = StoreFixture::new();
    let import = |change: &dyn Fn(&mut IntentContent), decision: ApproverDecision, uses| {
        let mut content = content();
        change(&mut content);
        let intent = fixture.request(content);
        let statement = ApprovalStatement { uses, ..fixture.statement(&intent, decision) };
        fixture.import(&fixture.sign("alice", &statement)).expect_err("refused").to_string()
    };
    let action = || ApproverDecision::GrantAction;
    let rule = |name: &str| ApproverDecision::GrantRule(name.to_owned());
    for (refused, expected) in [
        (import(&|_| {}, action(), 11), "a grant of 11 uses"),
        (import(&|content| content.grant = None, action(), 2), "the policy allows no grant"),
        (import(&|content| content.unknown.push("$X".into()), action(), 2), "a part of it is not known"),
        (import(&|_| {}, rule("other"), 2), "not the only one"),
        (import(&|content| content.rules.push("other".into()), rule("restarts"), 2), "not the only one"),
        (
            import(&|content| content.grant.as_mut().expect("limits").for_ms = 8 * 3_600_001, action(), 2),
            "more than 8 hours",
        ),
    ] {
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn each_use_of_a_grant_is_counted_and_names_the_grant() {
    let fixture = StoreFixture::new();
    let intent = granted(&fixture, 3);
    for number in 1..=3 {
        let used = fixture.use_grant(&restart(&format!("app{number}"))).expect("a store").expect("granted");
        let [grant] = &used.grants[..] else { panic!("{used:?}") };
        assert_eq!((grant.number, grant.uses), (number, 3));
        assert_eq!((&grant.granted, grant.rule.as_deref()), (&intent, Some("restarts")));
    }
    assert!(fixture.use_grant(&restart("app4")).expect("a store").is_none());
    // The uses have intents of their own, which are no grants.
    let live = fixture.live();
    assert!(live.iter().all(|listed| listed.intent == intent), "{live:?}");
    let single = fixture.request(restart("single"));
    fixture.approve("alice", &single).expect("approved");
    assert_eq!(fixture.use_up(&single).expect("used").grants, []);
}

#[test]
fn a_budget_is_shared_by_programs_that_use_it_at_once() {
    let fixture = StoreFixture::new();
    granted(&fixture, 5);
    let path = fixture.keys.path("store");
    let (now, approvers) = (fixture.now.get(), &fixture.approvers);
    let used: usize = std::thread::scope(|scope| {
        let programs: Vec<_> = (0..4)
            .map(|program| {
                let path = &path;
                scope.spawn(move || {
                    let store = ApprovalStore::open(path, machine(), None).expect("a store");
                    let digest = |_: &str| Some("ab".repeat(32));
                    let context = ccm_approval::ApprovalContext {
                        approvers,
                        verifier: &crate::keys::KeygenVerifier,
                        accounts: &|_| None,
                        policy: crate::store::POLICY,
                        now,
                        record: &|_| Ok(()),
                    };
                    let uses = (0..4).map(|use_| restart(&format!("app{program}-{use_}")));
                    uses.filter(|asked| store.use_grant(asked, &digest, &context).expect("a store").is_some())
                        .count()
                })
            })
            .collect();
        programs.into_iter().map(|program| program.join().expect("an end")).sum()
    });
    assert_eq!(used, 5);
}

#[test]
fn a_grant_that_was_used_is_taken_back() {
    let fixture = StoreFixture::new();
    let intent = granted(&fixture, 5);
    assert_eq!(fixture.store.used_grant("ZZZZ").expect("a store"), None);
    fixture.use_up(&intent).expect("the first use");
    assert!(fixture.use_grant(&restart("app")).expect("a store").is_some());
    assert_eq!(fixture.store.used_grant(&intent.code.to_lowercase()).expect("a store"), Some(intent.clone()));
    let live = fixture.live();
    assert!(matches!(&live[..], [listed] if matches!(listed.state, ApprovalState::Approved { uses: 3, .. })));
    fixture.store.take_back(&intent, "root", "enough", fixture.now.get()).expect("taken back");
    assert!(fixture.use_grant(&restart("app")).expect("a store").is_none());
    assert_eq!(fixture.store.used_grant(&intent.code).expect("a store"), None);
    let refused = fixture.store.find(&intent.code);
    assert!(
        matches!(&refused, Err(ApprovalRefusal::Rejected { reason, .. }) if reason == "enough"),
        "{refused:?}"
    );
    // The statement of the approver does not come back.
    assert!(fixture.live().is_empty());
}

#[test]
fn a_shorter_time_that_was_signed_ends_by_both_clocks() {
    let moment = |wall: i64, boot: u64| {
        let base = after(0);
        let wall = match u64::try_from(wall) {
            Ok(wall) => base.wall + Duration::from_secs(wall),
            Err(_) => base.wall - Duration::from_secs(wall.unsigned_abs()),
        };
        ApprovalTime { wall, since_boot: base.since_boot + Duration::from_secs(boot) }
    };
    // Accepted at second 1, and signed until second 61, while the policy allows 300 seconds, or an hour for a grant.
    for (at, expected) in [
        (moment(60, 60), true),
        (moment(62, 62), false),
        (moment(62, 20), false),
        // The clock was set back.
        (moment(2, 60), true),
        (moment(2, 61), false),
        (moment(-5000, 61), false),
        (moment(-5000, 200), false),
    ] {
        for decision in [ApproverDecision::Approve, ApproverDecision::GrantRule("restarts".to_owned())] {
            let fixture = StoreFixture::new();
            let intent = fixture.request(content());
            let not_after = display_timestamp(after(61).wall, 1);
            let statement = ApprovalStatement { not_after, ..fixture.statement(&intent, decision.clone()) };
            fixture.import(&fixture.sign("alice", &statement)).expect("accepted");
            fixture.now.set(at);
            let used = fixture.use_up(&intent);
            assert_eq!(used.is_ok(), expected, "{decision:?} at {at:?}: {used:?}");
        }
    }
}
