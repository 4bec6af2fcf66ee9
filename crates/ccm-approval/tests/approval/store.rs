//! The store: intents that wait, statements that come in, approvals that are used up.

use std::cell::Cell;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use ccm_approval::{
    ApprovalContext, ApprovalRefusal, ApprovalState, ApprovalStatement, ApprovalStore, ApprovalTime,
    ApproverDecision, Approvers, ImportedStatement, IntentContent, IntentDocument, ListedIntent,
    ListedIntents, SignedStatement, UsedApproval,
};
use ccm_sshsig::SignatureRefusal;

use crate::keys::{KeyDirectory, KeygenVerifier, NAMESPACE, approvers};
use crate::samples::{PENDING, after, content, machine, statement};

pub(crate) const POLICY: &str = "sha256:11";

/// Store with keys of approvers.
pub(crate) struct StoreFixture {
    pub(crate) keys: KeyDirectory,
    pub(crate) store: ApprovalStore,
    pub(crate) approvers: Approvers,
    pub(crate) policy: String,
    pub(crate) now: Cell<ApprovalTime>,
    nonce: Cell<u8>,
}

impl StoreFixture {
    pub(crate) fn new() -> Self {
        let keys = KeyDirectory::new();
        let lines = ["alice", "bob", "carol", "agent"]
            .map(|name| format!("{name} {}\n", keys.make(name, &["ed25519"])));
        keys.make("stranger", &["ed25519"]);
        let store = ApprovalStore::open(&keys.path("store"), machine(), None).expect("a store");
        let approvers = approvers(&lines.concat());
        Self {
            keys,
            store,
            approvers,
            policy: POLICY.to_owned(),
            now: Cell::new(after(1)),
            nonce: Cell::new(0),
        }
    }

    pub(crate) fn request(&self, content: IntentContent) -> IntentDocument {
        self.store.request(content, PENDING, self.now.get()).expect("an intent")
    }

    pub(crate) fn statement(&self, intent: &IntentDocument, decision: ApproverDecision) -> ApprovalStatement {
        self.nonce.set(self.nonce.get() + 1);
        statement(&intent.text(), decision, self.nonce.get())
    }

    pub(crate) fn sign(&self, name: &str, statement: &ApprovalStatement) -> SignedStatement {
        let text = statement.text().expect("a statement");
        let signature = self.keys.sign(name, NAMESPACE, &text);
        SignedStatement { text, signature }
    }

    pub(crate) fn with<T>(&self, run: impl FnOnce(&ApprovalContext<'_>) -> T) -> T {
        let accounts = |name: &str| (name == "carol").then_some(1001);
        run(&ApprovalContext {
            approvers: &self.approvers,
            verifier: &KeygenVerifier,
            accounts: &accounts,
            policy: &self.policy,
            now: self.now.get(),
            record: &|_| Ok(()),
        })
    }

    pub(crate) fn list(&self) -> ListedIntents {
        self.with(|context| self.store.list(context)).expect("a list")
    }

    /// Returns the intents that were not ended.
    pub(crate) fn live(&self) -> Vec<ListedIntent> {
        let mut intents = self.list().intents;
        intents.retain(|listed| listed.state.is_live());
        intents
    }

    pub(crate) fn import(&self, signed: &SignedStatement) -> Result<ImportedStatement, ApprovalRefusal> {
        self.with(|context| self.store.import(&signed.content(), Some(0), context))
    }

    pub(crate) fn approve(
        &self,
        name: &str,
        intent: &IntentDocument,
    ) -> Result<ImportedStatement, ApprovalRefusal> {
        self.import(&self.sign(name, &self.statement(intent, ApproverDecision::Approve)))
    }

    pub(crate) fn use_up(&self, intent: &IntentDocument) -> Result<UsedApproval, ApprovalRefusal> {
        let digest = |path: &str| (path == "/usr/bin/systemctl").then(|| "ab".repeat(32));
        self.with(|context| self.store.use_up(&intent.id, &digest, context))
    }
}

#[test]
fn an_approval_is_used_once() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    assert_eq!(fixture.store.find(&intent.code.to_lowercase()).expect("found"), intent);
    let refused = fixture.use_up(&intent);
    assert!(matches!(refused, Err(ApprovalRefusal::Waiting { found: 0, needed: 1, .. })), "{refused:?}");
    // Asking again is no second intent.
    assert_eq!(fixture.request(content()), intent);
    let imported = fixture.approve("alice", &intent).expect("approved");
    assert_eq!((&*imported.verified.principal, imported.found), ("alice", 1));
    assert_eq!(fixture.request(content()), intent);
    let listed = fixture.live();
    let ApprovalState::Approved { by, uses, .. } = &listed[0].state else { panic!("{listed:?}") };
    assert_eq!((&by[..], *uses), (&["alice".to_owned()][..], 1));
    assert_eq!(listed[0].left, Some(PENDING));
    let used = fixture.use_up(&intent).expect("approved");
    assert_eq!((used.intent, used.approvals.len()), (intent.clone(), 1));
    let refused = fixture.use_up(&intent);
    assert!(matches!(refused, Err(ApprovalRefusal::AlreadyUsed { .. })), "{refused:?}");
    assert!(matches!(fixture.store.find(&intent.code), Err(ApprovalRefusal::AlreadyUsed { .. })));
    assert!(matches!(fixture.store.find("ZZZZ"), Err(ApprovalRefusal::NotPending { .. })));
    assert_ne!(fixture.request(content()).id, intent.id);
}

#[test]
fn several_people_with_several_keys_approve() {
    let fixture = StoreFixture::new();
    let mut content = content();
    content.requires[0].count = 2;
    let intent = fixture.request(content);
    assert_eq!(fixture.approve("alice", &intent).expect("the first").found, 1);
    let refused = fixture.approve("alice", &intent);
    assert!(matches!(refused, Err(ApprovalRefusal::SameApprover { .. })), "{refused:?}");
    let refused = fixture.use_up(&intent);
    assert!(matches!(refused, Err(ApprovalRefusal::Waiting { found: 1, needed: 2, .. })), "{refused:?}");
    assert_eq!(fixture.approve("bob", &intent).expect("the second").found, 2);
    assert_eq!(fixture.use_up(&intent).expect("both").approvals.len(), 2);
}

#[test]
fn programs_that_looked_at_the_clock_earlier_keep_what_others_accepted() {
    let fixture = StoreFixture::new();
    let mut content = content();
    content.requires[0].count = 2;
    fixture.now.set(after(3));
    let intent = fixture.request(content);
    fixture.approve("alice", &intent).expect("the first");
    // Such a program had to wait for the lock of the store.
    fixture.now.set(after(2));
    let refused = fixture.approve("alice", &intent);
    assert!(matches!(refused, Err(ApprovalRefusal::SameApprover { .. })), "{refused:?}");
    assert_eq!(fixture.approve("bob", &intent).expect("the second").found, 2);
    assert_eq!(fixture.use_up(&intent).expect("both").approvals.len(), 2);
}

#[test]
fn a_rejection_has_a_reason_and_ends_the_intent() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    fixture.approve("alice", &intent).expect("approved");
    let mut rejected = fixture.statement(&intent, ApproverDecision::Reject);
    rejected.reason = Some("not\u{1b}[31m today".to_owned());
    fixture.import(&fixture.sign("bob", &rejected)).expect("rejected");
    for refused in [fixture.use_up(&intent).map(|_| ()), fixture.approve("alice", &intent).map(|_| ())] {
        let Err(ApprovalRefusal::Rejected { approver, reason, .. }) = refused else { panic!("{refused:?}") };
        assert_eq!((&*approver, &*reason), ("bob", "not\\u{1b}[31m today"));
    }
    assert!(fixture.live().is_empty());
}

#[test]
fn rubbish_in_the_store_is_named_and_ignored() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    for (name, text) in [
        ("pending/README", ""),
        ("pending/01JD0000000000000000000009.json", "{}"),
        ("pending/..json", "\0"),
        ("pending/x.json", "x"),
        ("approved/x", "rubbish"),
        ("uses", "rubbish\n{\"boot\":1}\n\0\n"),
        ("inbox/rubbish", "{}\n"),
    ] {
        fixture.keys.write(&format!("store/{name}"), text);
    }
    std::fs::create_dir(fixture.keys.path("store/pending/directory.json")).expect("a directory");
    std::os::unix::fs::symlink("/etc/passwd", fixture.keys.path("store/inbox/link")).expect("a link");
    let long = "x".repeat(65 << 10);
    fixture.keys.write("store/inbox/long", long);
    let statement = fixture.statement(&intent, ApproverDecision::Approve);
    fixture.keys.write("store/inbox/signed", fixture.sign("alice", &statement).content());
    let waiting = fixture.list();
    assert_eq!(waiting.intents.len(), 1);
    assert_eq!(waiting.rubbish, ["01JD0000000000000000000009.json", "README", "directory.json", "x.json"]);
    let entries = fixture.with(|context| fixture.store.import_inbox(context)).expect("an inbox");
    let results: Vec<_> = entries.iter().map(|entry| (&*entry.name, entry.result.is_ok())).collect();
    assert_eq!(results, [("link", false), ("long", false), ("rubbish", false), ("signed", true)]);
    assert!(!fixture.keys.path("store/inbox/signed").exists());
    assert!(fixture.keys.path("store/inbox/rubbish").exists());
    fixture.use_up(&intent).expect("approved");
}

#[test]
fn a_use_is_never_lost_whatever_kills_the_program() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    fixture.approve("alice", &intent).expect("approved");
    let copy = |from: &str| {
        let directory = fixture.keys.path(from);
        std::fs::read_dir(&directory)
            .expect("a directory")
            .map(|entry| entry.expect("an entry").path())
            .map(|path| (path.clone(), std::fs::read(&path).expect("a file")))
            .collect::<Vec<_>>()
    };
    let before = [copy("store/pending"), copy("store/approved")].concat();
    fixture.use_up(&intent).expect("approved");
    let ledger = std::fs::read(fixture.keys.path("store/uses")).expect("a ledger");
    // A power cut undoes any step behind the sync of the line: then the line alone is there.
    for (length, is_used) in
        [(ledger.len(), true), (ledger.len() - 1, false), (ledger.len() / 2, false), (0, false)]
    {
        let put_back = || {
            for (path, bytes) in &before {
                std::fs::write(path, bytes).expect("a file");
            }
            let _moved = std::fs::remove_file(fixture.keys.path(&format!("store/ended/{}.json", intent.id)));
        };
        put_back();
        fixture.keys.write("store/uses", &ledger[..length]);
        let first = fixture.use_up(&intent);
        if is_used {
            assert!(matches!(first, Err(ApprovalRefusal::AlreadyUsed { .. })), "{length}: {first:?}");
            assert!(fixture.live().is_empty());
            assert_ne!(fixture.request(content()).id, intent.id);
            continue;
        }
        // No line was complete, so that nothing was started: the approval still holds, once.
        first.expect("not used");
        put_back();
        let second = fixture.use_up(&intent);
        assert!(matches!(second, Err(ApprovalRefusal::AlreadyUsed { .. })), "{length}: {second:?}");
    }
}

#[test]
fn two_programs_use_an_approval_once() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    fixture.approve("alice", &intent).expect("approved");
    let path = fixture.keys.path("store");
    let approvers = &fixture.approvers;
    let now = fixture.now.get();
    let used: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                let (path, id) = (&path, &intent.id);
                scope.spawn(move || {
                    let store = ApprovalStore::open(path, machine(), None).expect("a store");
                    let (accounts, digest) = (|_: &str| None, |_: &str| Some("ab".repeat(32)));
                    let (verifier, accounts) = (&KeygenVerifier, &accounts);
                    let record = &|_: &ImportedStatement| Ok(());
                    let context =
                        ApprovalContext { approvers, verifier, accounts, policy: POLICY, now, record };
                    usize::from(store.use_up(id, &digest, &context).is_ok())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("an end")).sum()
    });
    assert_eq!(used, 1);
}

#[test]
fn an_approval_ends_by_the_clock_that_ends_first() {
    let moment = |wall: i64, boot: u64| {
        let base = after(0);
        let wall = if wall < 0 {
            base.wall - Duration::from_secs(wall.unsigned_abs())
        } else {
            base.wall + Duration::from_secs(wall.unsigned_abs())
        };
        ApprovalTime { wall, since_boot: base.since_boot + Duration::from_secs(boot) }
    };
    // The approval is given at second 1, and holds for 300 seconds.
    for (at, expected) in [
        (moment(300, 300), true),
        (moment(301, 301), false),
        (moment(10, 301), false),
        (moment(302, 10), false),
        (moment(-5000, 10), true),
        (moment(-5000, 301), false),
    ] {
        let fixture = StoreFixture::new();
        let intent = fixture.request(content());
        fixture.approve("alice", &intent).expect("approved");
        fixture.now.set(at);
        let set_back = fixture.list().intents[0].clock_set_back;
        assert_eq!(set_back, at.wall < after(1).wall);
        let used = fixture.use_up(&intent);
        assert_eq!(used.is_ok(), expected, "{at:?}: {used:?}");
        assert!(used.is_err() || used.expect("used").clock_set_back == set_back);
    }
}

#[test]
fn an_approval_that_expired_can_be_given_again() {
    let fixture = StoreFixture::new();
    let intent = fixture.request(content());
    fixture.approve("alice", &intent).expect("approved");
    fixture.now.set(after(400));
    let refused = fixture.use_up(&intent);
    assert!(matches!(refused, Err(ApprovalRefusal::ApprovalExpired { .. })), "{refused:?}");
    assert_eq!(fixture.approve("alice", &intent).expect("again").found, 1);
    fixture.use_up(&intent).expect("approved");
}

#[test]
fn a_key_that_was_removed_after_the_approval_does_not_count() {
    let mut fixture = StoreFixture::new();
    let intent = fixture.request(content());
    fixture.approve("alice", &intent).expect("approved");
    fixture.approvers = approvers(&format!("bob {}\n", fixture.keys.public("bob")));
    let refused = fixture.use_up(&intent);
    let is_refused = matches!(refused, Err(ApprovalRefusal::Signature(SignatureRefusal::NotListed { .. })));
    assert!(is_refused, "{refused:?}");
}

#[test]
fn only_its_owner_reads_keys_and_the_group_puts_into_the_inbox() {
    let fixture = StoreFixture::new();
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o7777;
    let at = |name: &str| fixture.keys.path("store").join(name);
    for (name, expected) in
        [("", 0o700), ("key", 0o600), ("salt", 0o600), ("pending", 0o700), ("inbox", 0o700)]
    {
        assert_eq!(mode(&at(name)), expected, "{name}");
    }
    if ccm_host::current_user() != 0 {
        return ccm_testkit::skipped("only root can use any group");
    }
    let path = fixture.keys.path("shared");
    let store = ApprovalStore::open(&path, machine(), Some(54_321)).expect("a store");
    let intent = store.request(content(), PENDING, after(1)).expect("an intent");
    let file = format!("pending/{}.json", intent.id);
    for (name, expected) in [
        ("", 0o750),
        ("key", 0o600),
        ("salt", 0o600),
        ("pending", 0o750),
        ("approved", 0o700),
        ("inbox", 0o1730),
        (&*file, 0o640),
    ] {
        assert_eq!(mode(&path.join(name)), expected, "{name}");
    }
}
