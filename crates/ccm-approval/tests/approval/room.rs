//! A store that is filled to its limits.

use ccm_approval::{
    ApprovalRefusal, ApprovalStatement, ApprovalStoreError, ApproverDecision, IntentContent, IntentDocument,
    IntentEnd,
};
use ccm_model::display_timestamp;

use crate::samples::{PENDING, after, content, machine};
use crate::store::StoreFixture;

/// Returns the content of a numbered request by a user of tools, or of an apply.
fn numbered(number: usize, kind: &str, uid: u32) -> IntentContent {
    let mut content = content();
    content.action.argv[2] = format!("service-{number}");
    (content.caller.kind, content.caller.uid) = (kind.to_owned(), uid);
    content
}

impl StoreFixture {
    /// Adds requests as the store itself writes them, without reading those that are there each time.
    fn fill(&self, count: usize, kind: &str, uid: u32) -> Vec<IntentDocument> {
        let pending = self.keys.path("store/pending");
        let add = |number: usize| {
            let id = format!("01JD{uid:06}{:016}", number + if kind == "apply" { 100_000 } else { 0 });
            let code = format!("{:04}", number % 10_000);
            let (content, now) = (numbered(number, kind, uid), self.now.get());
            let intent = IntentDocument::new(id, code, content, PENDING, &machine(), now).expect("an intent");
            let signature = self.store.key().sign(&intent.text()).expect("a signature");
            std::fs::write(pending.join(format!("{}.sig", intent.id)), signature).expect("a file");
            std::fs::write(pending.join(format!("{}.json", intent.id)), intent.text()).expect("a file");
            intent
        };
        (0..count).map(add).collect()
    }

    fn ask(&self, content: IntentContent) -> Result<IntentDocument, ApprovalStoreError> {
        self.store.request(content, PENDING, self.now.get())
    }
}

#[test]
fn one_user_of_tools_does_not_fill_the_store_for_others() {
    let fixture = StoreFixture::new();
    let filled = fixture.fill(200, "mcp", 1001);
    assert_eq!(fixture.store.pending().expect("a store").len(), 200);
    let refused = fixture.ask(numbered(500, "cli", 1001)).expect_err("full");
    assert_eq!(
        refused.to_string(),
        "the store of approvals is full for agent: 200 requests of this user wait already"
    );
    assert!(refused.is_full());
    // Nothing was stored, what waits already is found, and others have room.
    assert_eq!(fixture.store.pending().expect("a store").len(), 200);
    assert_eq!(fixture.ask(numbered(7, "mcp", 1001)).expect("the one that waits"), filled[7]);
    fixture.ask(numbered(500, "mcp", 1002)).expect("another user");
    fixture.ask(numbered(500, "apply", 1001)).expect("a run");
    // A withdrawn request makes room for one.
    fixture.store.end(&filled[0], IntentEnd::Withdrawn, None, fixture.now.get()).expect("withdrawn");
    fixture.ask(numbered(501, "mcp", 1001)).expect("room");
    fixture.ask(numbered(502, "mcp", 1001)).expect_err("full again");
}

#[test]
fn a_full_store_refuses_by_name_and_ends_first_what_is_over() {
    let mut fixture = StoreFixture::new();
    let filled = fixture.fill(999, "apply", 0);
    fixture.ask(numbered(2000, "apply", 0)).expect("room up to the limit");
    let refused = fixture.ask(numbered(3000, "mcp", 1001)).expect_err("full");
    assert_eq!(refused.to_string(), "the store of approvals is full: 1000 requests wait already");
    assert!(fixture.ask(numbered(3000, "apply", 0)).expect_err("full").is_full());
    assert_eq!(fixture.store.pending().expect("a store").len(), 1000);
    // An approved request counts until its approval is over, and is not ended before.
    fixture.now.set(after(850));
    let not_after = display_timestamp(after(2000).wall, 1);
    let statement = fixture.statement(&filled[0], ApproverDecision::Approve);
    let statement = ApprovalStatement { not_after, ..statement };
    fixture.import(&fixture.sign("alice", &statement)).expect("approved");
    fixture.now.set(after(950));
    let made = fixture.ask(numbered(3001, "mcp", 1001)).expect("room");
    let waiting = fixture.store.pending().expect("a store");
    assert_eq!(waiting.len(), 2);
    assert!(waiting.contains(&made) && waiting.contains(&filled[0]));
    fixture.use_up(&filled[0]).expect("still approved");
    let refused = fixture.store.find(&filled[5].id).expect_err("over");
    assert!(matches!(refused, ApprovalRefusal::IntentExpired { .. }), "{refused:?}");
    assert_eq!(fixture.store.ended().expect("a store").len(), 1000);
    // A policy that has changed ends them as well.
    fixture.fill(200, "mcp", 1001);
    fixture.policy = "sha256:12".to_owned();
    let mut content = numbered(1, "mcp", 1001);
    content.policy.clone_from(&fixture.policy);
    fixture.ask(content).expect("room");
    assert_eq!(fixture.store.pending().expect("a store").len(), 1);
}

#[test]
fn what_has_ended_does_not_grow_without_end() {
    let fixture = StoreFixture::new();
    let rejected = fixture.request(numbered(1, "apply", 0));
    fixture.store.reject(&rejected, "root", "no", fixture.now.get()).expect("rejected");
    let first = fixture.request(numbered(2, "apply", 0));
    fixture.store.end(&first, IntentEnd::Withdrawn, None, fixture.now.get()).expect("withdrawn");
    // Copies of an end, each with the id of a later one.
    let ended = fixture.keys.path("store/ended");
    let text = std::fs::read_to_string(ended.join(format!("{}.json", first.id))).expect("an end");
    for number in 0..2100 {
        let id = format!("7{number:025}");
        std::fs::write(ended.join(format!("{id}.json")), text.replace(&first.id, &id)).expect("a file");
    }
    fixture.request(numbered(3, "apply", 0));
    let left = fixture.store.ended().expect("a store");
    // The rejection still counts.
    assert_eq!(left.len(), 2001);
    assert!(left.iter().any(|ended| ended.intent == rejected));
    assert!(left.iter().all(|ended| ended.intent.id != first.id));
}
